use super::*;
use crate::resample::Kind;
use crate::resample::tests::{coded, flips, sums as sums_of};
use crate::stats::SuffStats;
use proptest::prelude::*;

/// The slow, obvious way: the flip masks of replicate g, bit by bit.
fn mask(codes: &[u64], g: u64) -> Vec<u64> {
    let mut words = vec![0; codes.len().div_ceil(64)];
    for (unit, code) in codes.iter().enumerate() {
        words[unit / 64] |= u64::from((code & g).count_ones() % 2 == 1) << (unit % 64);
    }
    words
}

/// Counts of k systems under a metric of ten columns: small, large, equal in all systems, equal but for a few units,
/// and equal to another column.
fn counts(systems: usize, units: usize, scale: i64) -> Vec<i64> {
    let mut words = Stream::new(95, Purpose::Draw, units as u64).values();
    let row = |i: usize| {
        let (system, unit) = (i / units, i % units);
        let mut row: [i64; 10] = std::array::from_fn(|_| (words.next().unwrap() % 30) as i64);
        row[3] *= scale;
        row[5] = unit as i64 % 7;
        row[6] = unit as i64 % 5 + i64::from(unit % 150 == 9) * system as i64;
        row[8] = row[2];
        row
    };
    (0..systems * units).flat_map(row).collect()
}

#[test]
fn sums_are_those_of_flipped_units_for_any_first_replicate_and_number() {
    let counts = counts(3, 70, 1 << 33);
    let stats = SuffStats::new(&counts, 3, 70, 10).unwrap();
    let codes = random_codes(1, 70);
    let computed = |first: u64, n: usize, threads| {
        sums_of(std::slice::from_ref(&stats), Kind::Shuffles, coded(&codes, first, n), threads).unwrap()
    };
    let all = computed(0, 20_000, 1);
    for (first, n) in [(0, 1), (3, 5), (15, 2), (16, 16), (8190, 5), (4096, 9000), (77, 12_345)] {
        for threads in [1, 3] {
            assert_eq!(all[30 * first..30 * (first + n)], computed(first as u64, n, threads), "{first} {n}");
        }
    }
    for g in [0, 1, 999, 16_385] {
        let flips = mask(&codes, g);
        let flipped: Vec<usize> = (0..70).filter(|unit| flips[unit / 64] >> (unit % 64) & 1 == 1).collect();
        for (cell, &sum) in all[30 * g as usize..][..30].iter().enumerate() {
            let row = |system: usize, unit: usize| stats.row(system, unit)[cell % 10];
            assert_eq!(flipped.iter().map(|&unit| row(cell / 10, unit) - row(0, unit)).sum::<i64>(), sum);
        }
    }
}

#[test]
fn sums_that_just_fit_32_bits_and_that_just_do_not_are_exact() {
    for total in [(1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32] {
        for sign in [1, -1] {
            let counts = [0, 0, sign * (total - 5), sign * 5];
            let stats = [SuffStats::new(&counts, 2, 2, 1).unwrap()];
            let sums = sums_of(&stats, Kind::Shuffles, coded(&[1, 2], 0, 4), 1).unwrap();
            let of_second: Vec<_> = sums.chunks(2).map(|sums| sign * sums[1]).collect();
            assert_eq!(vec![0, total - 5, 5, total], of_second);
        }
    }
}

#[test]
fn codes_and_counts_that_do_not_fit_are_refused() {
    let counts = [1 << 60, 0, 0, 1 << 60, 1, 1, 1, 1];
    let stats = SuffStats::new(&counts, 2, 4, 1).unwrap();
    let computed = |stats, codes: &[u64]| sums_of(&[stats], Kind::Shuffles, coded(codes, 0, 4), 1);
    assert!(computed(stats.clone(), &[1, 2, 3, 4]).is_ok());
    let error = computed(stats, &[1, 2, 3]).unwrap_err();
    assert_eq!(Error::LengthMismatch { what: "codes".into(), expected: 4, got: 3 }, error);
    let counts = [1 << 60, 1 << 60, 1 << 60, 1 << 60, 0, 0, 0, 0];
    let stats = SuffStats::new(&counts, 2, 4, 1).unwrap();
    assert_eq!(Err(Error::Overflow { column: 0 }), computed(stats.clone(), &[1, 2, 3, 4]));
}

proptest! {
    #![proptest_config(crate::testing::cases(32))]
    #[test]
    fn any_codes_give_what_their_flips_give(
        codes in prop::collection::vec(0..1u64 << 12, 1..150),
        scale in prop::sample::select(vec![1i64, 1 << 22, 1 << 45]),
        first in 0..5000u64,
        n in 1..300usize,
    ) {
        let counts = counts(2, codes.len(), scale);
        let stats = [SuffStats::new(&counts, 2, codes.len(), 10).unwrap()];
        let masks: Vec<u64> = (first..first + n as u64).flat_map(|g| mask(&codes, g)).collect();
        let expected = sums_of(&stats, Kind::Shuffles, flips(&masks, n), 1).unwrap();
        let got = sums_of(&stats, Kind::Shuffles, coded(&codes, first, n), 1).unwrap();
        prop_assert_eq!(expected, got);
    }
}

#[test]
fn all_paths_transform_the_same() {
    let codes = random_codes(4, 300);
    let values: Vec<i64> = Stream::new(4, Purpose::Draw, 0).values().take(300).map(|w| w as i64 >> 50).collect();
    let total = values.iter().sum();
    let replicates = 3..3 + 1000;
    let flipped =
        |g: u64| codes.iter().zip(&values).filter(|(code, _)| (*code & g).count_ones() % 2 == 1).map(|(_, v)| v).sum();
    let expected: Vec<i64> = replicates.clone().map(flipped).collect();
    let wide = Column { codes: codes.clone(), values: values.clone(), total };
    let narrow = Column { codes: codes.clone(), values: values.iter().map(|&v| v as i32).collect(), total };
    for simd in Simd::tested() {
        let mut got = vec![0; 1000];
        sums(simd, &narrow, replicates.clone(), LEAST, &mut got, &Stop::never()).unwrap();
        assert_eq!(expected, got, "{simd:?}");
        let mut got = vec![0; 1000];
        sums(simd, &wide, replicates.clone(), LEAST, &mut got, &Stop::never()).unwrap();
        assert_eq!(expected, got, "{simd:?}");
    }
}
