use super::*;
use crate::stream::{Purpose, Stream};
use proptest::prelude::*;

proptest! {
    #![proptest_config(crate::testing::cases(128))]
    #[test]
    fn vector_instructions_give_the_same_sums_and_places(
        weights in proptest::collection::vec(-2.0..2.0, 0..10), n in 1_usize..70, seed: u64, b in -2..2_i32,
    ) {
        let values: Vec<f64> = Stream::new(seed, Purpose::Draw, 0)
            .values()
            .map(|value| (value % 7) as f64 - 3.0)
            .take(n * (1 + weights.len()))
            .collect();
        let (others, columns) = values.split_at(n);
        let sum = |k: usize| weights.iter().enumerate().fold(0.0, |sum, (i, w)| sum + columns[i * n + k] * w);
        let sums: Vec<f64> = (0..n).map(sum).collect();
        let both = sums.iter().zip(others).map(|(x, y)| x + f64::from(b) * y);
        let (expected, _) = both.enumerate().fold((0, f64::NEG_INFINITY), |best, (k, sum)| {
            if sum > best.1 { (k, sum) } else { best }
        });
        for simd in Simd::available() {
            let mut out = Vec::new();
            heights(simd, columns, &weights, n, &mut out);
            prop_assert_eq!(&sums, &out);
            prop_assert_eq!(expected, largest_sum(simd, &sums, 1.0, others, b.into()));
        }
    }
}

#[test]
fn the_check_of_candidates_can_be_stopped() {
    let (offsets, dense) = ([0, 1 << 20], vec![0.0; 1 << 20]);
    assert_eq!(Some(Error::Interrupted), Candidates::new(&offsets, (&dense, 1), None, &Stop::at_once()).err());
}
