//! What no swap changes, on every path. tests/python/test_studentized.py compares the values with a slow twin in numpy.

use proptest::prelude::*;

use super::{Both, Cross, UnitStrata};
use crate::error::Error;
use crate::metric::{Formula, Terms, metric};
use crate::pool::Run;
use crate::simd::Simd;

fn with_stop<T>(body: impl FnOnce(&crate::pool::Stop<'_>) -> crate::error::Result<T>) -> crate::error::Result<T> {
    Run { threads: 1, watch: &mut |_| Ok(()) }.serial(body)
}

/// The gradients at all probes.
fn gradients(formula: &dyn Formula, both: &Both) -> Vec<f64> {
    let probes = both.probes();
    let mut out = vec![0.0; probes.len()];
    for (row, out) in probes.chunks_exact(both.columns).zip(out.chunks_exact_mut(both.columns)) {
        formula.gradient(row, out);
    }
    out
}

fn cross_of(simd: Simd, formula: &dyn Formula, [a, b]: [&[i64]; 2], strata: UnitStrata<'_>) -> (Cross, Vec<i64>) {
    with_stop(|stop| {
        let both = Both::from_rows(a, b, formula.width(), stop)?;
        let cross = Cross::on(simd, &both, &gradients(formula, &both), strata, stop)?;
        let mut columns = Vec::new();
        cross.columns(strata.index, |column| {
            columns.extend_from_slice(column);
            Ok(())
        })?;
        Ok((cross, columns))
    })
    .unwrap()
}

fn bits(terms: &Terms) -> Vec<u64> {
    let matrices = [&terms.projection, &terms.basis, &terms.contribution_squares, &terms.term_squares];
    let all = matrices.into_iter().chain([&terms.stratum_terms, &terms.stratum_factors]).flatten();
    all.chain([&terms.scale]).map(|x| x.to_bits()).collect()
}

proptest! {
    #![proptest_config(crate::testing::cases(24))]
    #[test]
    fn swaps_and_paths_change_nothing_but_signs(
        name in prop::sample::select(vec!["bleu", "chrf", "ter", "length"]),
        units in 2..400usize,
        largest in prop_oneof![Just(3i64), Just(60), Just(1 << 14), Just(1 << 40)],
        numbers in prop::collection::vec(0..i64::MAX, 97),
        same in 0..4usize,
        several in any::<bool>(),
    ) {
        let formula = metric(name, &[]).unwrap();
        let width = formula.width();
        let count = |system: usize, place: usize| {
            // The first columns are alike in both systems, and in the next one only a few units differ.
            let (unit, column) = (place / width, place % width);
            let is_shared = column < same || (column == same && unit % 90 != 0);
            let index = (place * 31 + if is_shared { 0 } else { system * 53 }) % 97;
            numbers[index].wrapping_add(place as i64 * 7919).rem_euclid(largest + 1)
        };
        let [a, b] = [0, 1].map(|system| (0..units * width).map(|place| count(system, place)).collect::<Vec<_>>());
        let index: Vec<u32> = (0..units).map(|unit| u32::from(unit >= units / 2) + u32::from(unit == 0) * 2).collect();
        let index = if several && units > 3 { index } else { Vec::new() };
        let sizes: Vec<usize> = match index.is_empty() {
            true => vec![units],
            false => (0..3).map(|stratum| index.iter().filter(|&&of| of == stratum).count()).collect(),
        };
        let strata = UnitStrata { index: &index, sizes: &sizes };
        let (expected, columns) = cross_of(Simd::Portable, formula.as_ref(), [&a, &b], strata);
        prop_assert_eq!(columns.len(), units * expected.constants.columns());
        for simd in Simd::tested() {
            let (got, same_columns) = cross_of(simd, formula.as_ref(), [&a, &b], strata);
            prop_assert_eq!(bits(&expected.constants), bits(&got.constants), "{:?}", simd);
            prop_assert_eq!(&columns, &same_columns, "{:?}", simd);
        }
        let swaps = |unit: usize| numbers[unit % 97] % 2 == 1;
        let swapped = |x: &[i64], y: &[i64]| {
            let row = |unit: usize| if swaps(unit) { &y[unit * width..][..width] } else { &x[unit * width..][..width] };
            (0..units).flat_map(row).copied().collect::<Vec<_>>()
        };
        let (got, others) = cross_of(Simd::best(), formula.as_ref(), [&swapped(&a, &b), &swapped(&b, &a)], strata);
        prop_assert_eq!(bits(&expected.constants), bits(&got.constants));
        prop_assert_eq!(expected.terms, got.terms);
        prop_assert_eq!(expected.follows_difference, got.follows_difference);
        for (place, (one, other)) in columns.iter().zip(&others).enumerate() {
            prop_assert_eq!(if swaps(place % units) { -one } else { *one }, *other);
        }
    }
}

#[test]
fn probes_are_the_mean_totals_and_the_ends_of_those_that_swaps_move() {
    // Totals: 3 and 6 in the first column, 4 and 4 in the second, where the outputs differ, 5 in the third.
    let (a, b) = ([1, 0, 2, 2, 4, 3], [2, 1, 2, 4, 3, 3]);
    let both = with_stop(|stop| Both::from_rows(&a, &b, 3, stop)).unwrap();
    assert_eq!(
        vec![5, 4, 5, 6, 4, 5, 5, 5, 5, 3, 4, 5, 5, 3, 5],
        both.probes(),
        "the middle is rounded up, then come the upper ends, then the lower ones"
    );
    // A sum of 0 is not probed, unless it is the mean.
    let both = with_stop(|stop| Both::from_rows(&[0, 0], &[3, 0], 2, stop)).unwrap();
    assert_eq!(vec![2, 0, 3, 0, 1, 0], both.probes());
    let both = with_stop(|stop| Both::from_rows(&[-4, 0], &[3, 0], 2, stop)).unwrap();
    assert_eq!(vec![0, 0, 3, 0, -4, 0], both.probes());
}

#[test]
fn lengths_and_strata_are_checked() {
    let both = with_stop(|stop| Both::from_rows(&[1, 2, 3, 4], &[4, 3, 2, 1], 2, stop)).unwrap();
    let make = |gradients: usize, index: &[u32], sizes: &[usize]| {
        let strata = UnitStrata { index, sizes };
        with_stop(|stop| Cross::new(&both, &vec![1.0; gradients], strata, stop)).map(|_| ())
    };
    assert!(make(10, &[], &[2]).is_ok() && make(2, &[], &[2]).is_ok() && make(10, &[0, 1], &[1, 1]).is_ok());
    assert!(matches!(make(4, &[], &[2]), Err(Error::LengthMismatch { expected: 10, got: 4, .. })));
    assert!(matches!(make(10, &[], &[1, 1]), Err(Error::LengthMismatch { expected: 2, got: 0, .. })));
    assert!(matches!(make(10, &[0, 0], &[3]), Err(Error::LengthMismatch { expected: 2, got: 3, .. })));
    assert!(matches!(make(10, &[0, 2], &[1, 1]), Err(Error::OutOfRange { index: 2, len: 2, .. })));
    let unequal = with_stop(|stop| Both::from_rows(&[1, 2], &[1], 1, stop)).map(|_| ());
    assert!(matches!(unequal, Err(Error::LengthMismatch { expected: 2, got: 1, .. })));
}
