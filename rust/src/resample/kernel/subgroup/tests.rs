use std::sync::Arc;

use super::*;
use crate::metric::{Metric, metric};
use crate::resample::tests::{coded, flips, sample, statistics, sums as sums_of, tally};
use crate::resample::{Alternative, Kind};
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

fn bleu() -> Arc<dyn Metric> {
    metric("bleu", &[]).unwrap()
}

#[test]
fn statistics_equal_those_of_the_same_flips_one_by_one() {
    let bleu = bleu();
    let pairs = [(0, 1), (1, 0), (2, 1), (1, 1)];
    // Small and wide sums; several pieces; and so many units that pieces are longer than the shortest.
    for (units, scale, n, first) in [
        (1, 1, 2, 0),
        (5, 1, 32, 0),
        (300, 1, 1, 0),
        (300, 1 << 40, 1000, 5),
        (300, 1 << 22, 17_000, 8000),
        (400, 1, 1 << 14, 0),
        (9000, 1, 16_500, 16_300),
    ] {
        let counts = counts(3, units, scale);
        let scored = [sample(bleu.clone(), &counts, 3)];
        let codes = random_codes(7, units);
        let got = statistics(&scored, &pairs, coded(&codes, first, n), 3).unwrap();
        let looked_at: Vec<usize> = (0..n).step_by(n.div_ceil(60)).chain([n - 1]).collect();
        let masks: Vec<u64> = looked_at.iter().flat_map(|&g| mask(&codes, first + g as u64)).collect();
        let plan = flips(&masks, looked_at.len());
        let expected = statistics(&scored, &pairs, plan, 1).unwrap();
        for (expected, got) in expected.chunks(looked_at.len()).zip(got.chunks(n)) {
            assert_eq!(expected, looked_at.iter().map(|&g| got[g]).collect::<Vec<_>>(), "{units} {scale} {n}");
        }
    }
}

#[test]
fn codes_of_one_bit_each_give_all_patterns() {
    // The slow twin uses Gray's code: one unit is swapped, or swapped back, from one pattern to the next.
    let bleu = bleu();
    for units in 1..=12_usize {
        let counts = counts(2, units, 1);
        let scored = [sample(bleu.clone(), &counts, 2)];
        let stats = &scored[0].stats;
        let codes: Vec<u64> = (0..units).map(|unit| 1 << unit).collect();
        let totals = stats.totals();
        let (mut x, mut y) = (totals[..10].to_vec(), totals[10..].to_vec());
        let observed = bleu.score(&x) - bleu.score(&y);
        let mut swapped = vec![false; units];
        let (mut expected, mut visited) = (0, 0);
        for step in 1..=1_u64 << units {
            visited += 1;
            expected += u64::from((bleu.score(&x) - bleu.score(&y)).abs() >= observed.abs());
            let unit = step.trailing_zeros() as usize % units;
            swapped[unit] ^= true;
            for column in 0..10 {
                let difference = stats.row(0, unit)[column] - stats.row(1, unit)[column];
                let moved = if swapped[unit] { difference } else { -difference };
                (x[column], y[column]) = (x[column] - moved, y[column] + moved);
            }
        }
        assert_eq!(1 << units, visited);
        let criterion = (Alternative::TwoSided, [observed.abs()]);
        let tally = |n| {
            let criterion = (criterion.0, criterion.1.as_slice());
            tally(&scored, &[(0, 1)], criterion, coded(&codes, 0, n), 2).unwrap()
        };
        assert_eq!(vec![expected], tally(1 << units));
        // The patterns without the last unit and their complements are all patterns, so half of them suffice.
        assert_eq!(expected, 2 * tally(1 << (units - 1))[0]);
    }
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
fn the_flips_are_a_group_and_pairwise_independent() {
    let codes = random_codes(3, 500);
    let flips = |g| mask(&codes, g);
    assert_eq!(vec![0; 8], flips(0));
    for (g, h) in [(1, 2), (77, 1000), (4095, 4094)] {
        let both: Vec<u64> = flips(g).iter().zip(flips(h)).map(|(a, b)| a ^ b).collect();
        assert_eq!(flips(g ^ h), both);
        let ones: u32 = both.iter().map(|word| word.count_ones()).sum();
        assert!((150..350).contains(&ones), "{ones}"); // 500 fair flips: more than eight standard deviations
    }
    let sixteen = random_codes(3, 16);
    assert_eq!(sixteen, codes[..16]);
    assert_ne!(sixteen, random_codes(4, 16));
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
