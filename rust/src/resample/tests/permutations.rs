//! Tests of permutations.

use super::*;
use crate::error::Error;
use crate::metric::metric;
use crate::resample::permutations;
use crate::simd::Simd;
use crate::stream::{Purpose, Stream};
use proptest::prelude::*;

/// Random counts of up to `size` in absolute value.
fn counts(seed: u64, length: usize, size: i64) -> Vec<i64> {
    let values = Stream::new(seed, Purpose::Draw, 0).values();
    values.take(length).map(|value| (value % (2 * size as u64 + 1)) as i64 - size).collect()
}

/// The slow, obvious way: adds up the row of the system that each position gets.
fn permuted_sums(stats: &SuffStats<'_>, seed: u64, replicate: u64) -> Vec<i64> {
    let (systems, units) = (stats.systems(), stats.segments());
    let labels = permutations((seed, replicate), systems, units, &Stop::never()).unwrap();
    let mut sums = vec![0; systems * stats.columns()];
    for (unit, labels) in labels.chunks_exact(systems).enumerate() {
        for (sums, &label) in sums.chunks_exact_mut(stats.columns()).zip(labels) {
            sums.iter_mut().zip(stats.row(label.into(), unit)).for_each(|(sum, count)| *sum += count);
        }
    }
    sums
}

#[test]
fn a_permutation_has_every_label_once() {
    for (systems, units) in [(1, 3), (2, 64), (127, 65), (128, 65), (300, 2)] {
        let labels = permutations((5, 1 << 40), systems, units, &Stop::never()).unwrap();
        for labels in labels.chunks_exact(systems) {
            let mut sorted = labels.to_vec();
            sorted.sort_unstable();
            assert_eq!((0..systems as u16).collect::<Vec<_>>(), sorted);
        }
    }
}

#[test]
fn all_paths_make_the_same_sums() {
    // From 128 systems on, units are permuted one by one.
    for (systems, units, size) in [(2, 1, 3), (5, 130, 40), (7, 64, 1 << 20), (3, 70, 1 << 50), (130, 66, 100)] {
        let counts = counts(1, systems * units * 3, size);
        let stats = SuffStats::new(&counts, systems, units, 3).unwrap();
        let samples = [Sample::without_formula(stats.clone())];
        let mut sums = Vec::new();
        for simd in Simd::tested() {
            let made = with_run(1, |run| {
                let mut reduction = reduce::Sums::default();
                let resampler = Resampler::prepare_on(simd, &samples, Kind::Permutations, run)?;
                resampler.run(seeded(9, 60, 10), &mut [&mut reduction], run)?;
                Ok::<_, Error>(reduction.sums().to_vec())
            });
            sums.push(made.unwrap());
        }
        for (r, got) in sums[0].chunks_exact(systems * 3).enumerate() {
            assert_eq!(permuted_sums(&stats, 9, 60 + r as u64), got);
        }
        assert!(sums.iter().all(|other| *other == sums[0]));
    }
}

#[test]
fn tallies_count_the_scores_of_the_sums_and_merge() {
    let bleu = metric("bleu", &[]).unwrap();
    let (systems, units, n) = (4, 100, 300);
    let counts: Vec<i64> = counts(3, systems * units * 10, 20).iter().map(|count| count.abs()).collect();
    let stats = SuffStats::new(&counts, systems, units, 10).unwrap();
    let samples = vec![Sample::new(bleu.clone(), stats.clone()).unwrap(); 2];
    let (pairs, thresholds) = ([(1, 0), (3, 2), (3, 0)], [0.5, 0.1, -1.0, 2.0, 0.3, 0.7]);
    let tally = |first, n, threads| {
        let tally = reduce::PermutedTally::new(pairs.to_vec(), thresholds.to_vec());
        reduced((&samples, Kind::Permutations), tally, seeded(2, first, n), threads).unwrap()
    };
    let scores: Vec<Vec<f64>> = (0..n as u64)
        .map(|r| permuted_sums(&stats, 2, r).chunks_exact(10).map(|totals| bleu.score(totals)).collect())
        .collect();
    let count = |reached: &dyn Fn(&[f64]) -> bool| scores.iter().filter(|scores| reached(scores)).count() as u64;
    let range = |scores: &[f64]| {
        scores.iter().copied().fold(f64::NEG_INFINITY, f64::max) - scores.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let tests = || thresholds.iter().zip(pairs.iter().cycle());
    let expected: Vec<u64> = tests().map(|(t, &(x, y))| count(&|s| (s[x] - s[y]).abs() >= *t)).collect();
    let expected_ranges: Vec<u64> = tests().map(|(t, _)| count(&|s| range(s) >= *t)).collect();
    for threads in [1, 3] {
        let got = tally(0, n, threads);
        assert_eq!((expected.as_slice(), expected_ranges.as_slice()), (got.counts(), got.range_counts()));
        assert_eq!([2, 3], got.shape());
    }
    let mut parts = tally(0, 64, 1);
    parts.merge(&tally(64, n - 64, 2), &Stop::never()).unwrap();
    assert_eq!((expected.as_slice(), expected_ranges.as_slice()), (parts.counts(), parts.range_counts()));
    assert!(parts.merge(&tally(0, 64, 1), &Stop::never()).is_err());
}

#[test]
fn a_cancelled_call_stops() {
    let counts = counts(1, 8 * 5000 * 2, 9);
    let samples = [Sample::without_formula(SuffStats::new(&counts, 8, 5000, 2).unwrap())];
    assert_cancelled(&samples, Kind::Permutations, Plan::Seeded(1));
}

proptest! {
    #![proptest_config(crate::testing::cases(12))]
    #[test]
    fn sums_are_those_of_adding_rows_one_by_one(
        (systems, units) in (1..7usize, 1..200usize),
        // The sums of 64 units just fit a lane or just do not.
        sizes in prop::collection::vec(
            prop::sample::select(vec![0, 9, 255, 256, (1 << 24) - 1, 1 << 24, 1 << 50]),
            1..12,
        ),
        (seed, first) in (any::<u64>(), 0..1_u64 << 40),
    ) {
        let columns = sizes.len();
        let mut all = counts(seed, systems * units * columns, 1);
        all.iter_mut().zip(sizes.iter().cycle()).for_each(|(count, size)| *count *= size);
        let stats = SuffStats::new(&all, systems, units, columns).unwrap();
        let got = sums(std::slice::from_ref(&stats), Kind::Permutations, seeded(seed, first, 70), 2).unwrap();
        for (r, got) in got.chunks_exact(systems * columns).enumerate().step_by(23) {
            prop_assert_eq!(permuted_sums(&stats, seed, first + r as u64), got);
        }
    }
}
