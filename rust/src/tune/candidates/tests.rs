use super::kernels::weigh;
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
            let mut out = vec![0.0; n];
            weigh(simd, columns, &weights, &mut out);
            prop_assert_eq!(&sums, &out);
            prop_assert_eq!(expected, largest_sum(simd, &sums, 1.0, others, b.into()));
        }
    }

    #[test]
    fn shuffles_are_permutations(seed: u64, epoch: u64, n in 0_usize..100) {
        let mut order = vec![7; 3];
        shuffle(seed, epoch, &mut order, n);
        order.sort_unstable();
        prop_assert_eq!((0..n as u32).collect::<Vec<_>>(), order);
    }
}

#[test]
fn scores_by_columns_are_those_by_rows() -> Result<()> {
    let dense: Vec<f64> = (0..35).map(|i| f64::from(i * i % 11) - 5.0).collect();
    let sparse = Sparse { starts: &[0, 0, 2, 2, 3, 3, 3, 3], indices: &[1, 0, 1], values: &[0.5, 2.0, -1.0], width: 2 };
    let stop = Stop::never();
    let candidates = Candidates::new(&[0, 3, 4, 7], (&dense, 5), Some(sparse), &stop)?;
    let weights = [0.3, -1.0, 0.25, 2.0, 0.1, 7.0, -3.0];
    let columns = candidates.columns(&stop)?;
    let (mut by_rows, mut by_columns) = (Vec::new(), Vec::new());
    for sentence in 0..candidates.sentences() {
        candidates.scores(sentence, &weights, &mut by_rows);
        candidates.scores_by_columns(&columns, sentence, &weights, &mut by_columns);
        assert_eq!(by_rows, by_columns);
    }
    Ok(())
}

#[test]
fn the_check_of_candidates_can_be_stopped() {
    let (offsets, dense) = ([0, 1 << 20], vec![0.0; 1 << 20]);
    assert_eq!(Some(Error::Interrupted), Candidates::new(&offsets, (&dense, 1), None, &Stop::at_once()).err());
}
