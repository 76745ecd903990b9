use proptest::prelude::*;

use super::super::Unit;
use super::flips::transpose;
use super::points::{Points, Scratch};
use super::small::value;
use super::*;
use crate::pool::Run;

const COEFFICIENTS: [Coefficient; 5] =
    [Coefficient::Pearson, Coefficient::Spearman, Coefficient::KendallB, Coefficient::KendallC, Coefficient::Accuracy];

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan())
}

#[test]
fn rows_and_columns_of_bits_are_swapped() {
    let words: [u64; 64] =
        std::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32));
    let mut swapped = words;
    transpose(&mut swapped);
    for (row, word) in words.iter().enumerate() {
        for (column, swapped) in swapped.iter().enumerate() {
            assert_eq!(word >> column & 1, swapped >> row & 1);
        }
    }
}

#[test]
fn a_stopped_call_is_an_error() {
    let scores: Vec<f64> = (0..2 * 20 * 30).map(|i| f64::from(i * 7919 % 1013)).collect();
    let material = Material::new(&scores, Some(&scores[..600]), [2, 20, 30]).unwrap();
    for (grouping, coefficient) in
        [("none", "kendall-b"), ("item", "acc23"), ("none", "pearson"), ("system", "pearson")]
    {
        let statistics = [Statistic::named(grouping, coefficient).unwrap()];
        let mut run = Run { threads: 2, watch: &mut |_| Err(Error::Interrupted) };
        let swaps = (Plan::Seeded(1, Unit::Both), 0..100_000);
        assert_eq!(Err(Error::Interrupted), permuted(&material, &statistics, &[[0, 1]], swaps, &mut run));
        let draws = (Drawn::Seeded(1, Unit::Both), 0..100_000);
        let materials = std::slice::from_ref(&material);
        assert_eq!(Err(Error::Interrupted), drawn(materials, &statistics, draws, &mut run));
    }
}

fn points() -> impl Strategy<Value = Vec<(u16, u16, u32)>> {
    prop_oneof![
        4 => prop::collection::vec((0..4_u16, 0..4_u16, 0..4_u32), 1..40),
        4 => prop::collection::vec((any::<u16>(), any::<u16>(), 0..2_u32), 1..80),
        1 => prop::collection::vec((any::<u16>(), any::<u16>(), 0..3_u32), 260..300),
    ]
}

proptest! {
    #![proptest_config(crate::testing::cases(64))]
    #[test]
    fn points_in_order_have_the_values_of_all_pairs(points in points()) {
        let x: Vec<f64> = points.iter().map(|point| f64::from(point.0)).collect();
        let y: Vec<f64> = points.iter().map(|point| f64::from(point.1)).collect();
        let weights: Vec<u32> = points.iter().map(|point| point.2).collect();
        let sorted = Points::new(x.clone(), y.clone());
        for coefficient in COEFFICIENTS {
            let expected = value(coefficient, &x, &y, &weights);
            let got = sorted.value(coefficient, &weights, &mut Scratch::default());
            prop_assert!(same(expected, got), "{:?}: {} {}", coefficient, expected, got);
        }
    }
}
