//! Tests of permutations.

use super::*;
use crate::error::Error;
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
