use std::sync::Arc;

use super::*;
use crate::resample::tests::{Replicates, flips, reduced, sample, with_run};
use crate::resample::{Alternative, Kind, Sample};

fn max_t(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternative, scales, thresholds, families): (Alternative, &[f64], &[f64], &[usize]),
    replicates: Replicates<'_>,
) -> Result<Vec<u64>> {
    let (scales, thresholds) = (scales.to_vec(), thresholds.to_vec());
    let max_t = MaxT::new(pairs.to_vec(), alternative, scales, thresholds, families.to_vec());
    Ok(reduced((samples, Kind::Shuffles), max_t, replicates, 2)?.counts().to_vec())
}

fn min_p(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternative, thresholds, tolerance): (Alternative, &[f64], f64),
    (ranks, families): (&[u64], &[usize]),
    replicates: Replicates<'_>,
) -> Result<Vec<u64>> {
    let observed = (thresholds.to_vec(), vec![tolerance; thresholds.len()]);
    let mut min_p = MinP::new(pairs.to_vec(), alternative, observed, ranks.to_vec(), families.to_vec());
    with_run(2, |run| min_p.run(&Resampler::prepare(samples, Kind::Shuffles, run)?, replicates, run))?;
    Ok(min_p.counts().to_vec())
}

/// Two systems that differ by 3 in the first unit and by 1 in the second, under a mean, and the pair in both orders:
/// statistics are ±2 and ±1, each in one of the four shuffles.
fn on_ties(body: impl Fn(&[Sample<'_>], Replicates<'_>)) {
    let mean = crate::metric::Mean::new("x".into(), 1.0, true);
    let scored = [sample(Arc::new(mean), &[3, 1, 1, 1, 0, 1, 0, 1], 2)];
    body(&scored, flips(&[0b00, 0b01, 0b10, 0b11], 4));
}

#[test]
fn a_largest_statistic_equal_to_the_threshold_counts() {
    on_ties(|scored, plan| {
        let computed = |alternative, thresholds: [f64; 2]| {
            let criterion = (alternative, [1.0, 1.0].as_slice(), thresholds.as_slice(), [0].as_slice());
            max_t(scored, &[(0, 1), (1, 0)], criterion, plan.clone()).unwrap()
        };
        // The larger of both statistics, which are t and −t, is 2 in two shuffles and 1 in two.
        assert_eq!(vec![2, 4], computed(Alternative::TwoSided, [2.0, 1.0]));
        // The less extreme test has t ≥ 1 in two of four shuffles; the other test is the larger of both.
        assert_eq!(vec![2, 2], computed(Alternative::Greater, [2.0, 1.0]));
        assert_eq!(vec![2, 2], computed(Alternative::Greater, [1.0, 2.0]));
    });
}

#[test]
fn tied_statistics_share_the_worse_rank_and_a_rank_equal_to_the_observed_one_counts() {
    on_ties(|scored, plan| {
        // The statistics of the shuffles are 2, 1, 1, 2 in size. With the observed 2 among them, 2 has rank 3 and 1 has
        // rank 5.
        for (rank, expected) in [(2, 0), (3, 2), (4, 2), (5, 4)] {
            for tolerance in [0.0, 0.25] {
                let thresholds = [2.0 - tolerance];
                let criterion = (Alternative::TwoSided, thresholds.as_slice(), tolerance);
                let ranks = [rank];
                let ranks = (ranks.as_slice(), [0].as_slice());
                let got = min_p(scored, &[(0, 1)], criterion, ranks, plan.clone()).unwrap();
                assert_eq!(vec![expected], got, "{rank} {tolerance}");
            }
        }
    });
    let ranks = |observed| own_ranks(&[2.0, 1.0, 1.0, 2.0], observed, &Stop::never()).unwrap();
    assert_eq!([vec![3, 5, 5, 3], vec![2, 5, 5, 2], vec![2, 4, 4, 2]], [2.0, 1.0, 0.5].map(ranks));
}

#[test]
fn arrays_that_do_not_fit_the_family_are_refused() {
    on_ties(|scored, plan| {
        let (pairs, two_sided) = ([(0, 1), (1, 0)], Alternative::TwoSided);
        let max_t = |scales: &[f64], families: &[usize]| {
            let criterion = (two_sided, scales, [2.0, 1.0].as_slice(), families);
            max_t(scored, &pairs, criterion, plan.clone()).unwrap_err().to_string()
        };
        let min_p = |ranks: &[u64], families: &[usize]| {
            let criterion = (two_sided, [2.0, 1.0].as_slice(), 0.0);
            min_p(scored, &pairs, criterion, (ranks, families), plan.clone()).unwrap_err().to_string()
        };
        assert_eq!("scales: expected 2, got 1", max_t(&[1.0], &[0]));
        assert_eq!("families: expected 1, got 2", max_t(&[1.0; 2], &[0, 1]));
        assert_eq!("families: expected 1, got 3", min_p(&[1; 2], &[0, 1, 2]));
        assert_eq!("ranks: expected 2, got 1", min_p(&[1], &[0]));
    });
}
