//! Tests of shuffles.

use super::*;
use crate::metric::metric;
use crate::pool::Stop;
use crate::resample::design::Design;
use crate::resample::kernel::few::FewFlips;
use crate::resample::kernel::flips::{Adder, Flips};
use crate::resample::kernel::source::{Source, Supplied};
use crate::simd::Simd;
use crate::stream::{Purpose, Stream};
use proptest::prelude::*;

fn bit(words: &[u64], unit: usize) -> bool {
    words[unit / 64] >> (unit % 64) & 1 == 1
}

/// The design of one sample, relative to its first system.
fn designed(stats: SuffStats<'_>) -> Design {
    with_run(1, |run| Design::new(Simd::best(), &[Sample::without_formula(stats)], true, run)).unwrap()
}

fn flips_of(seed: u64, replicate: u64) -> impl Fn(usize) -> bool {
    let words: Vec<u64> = Stream::new(seed, Purpose::Shuffle, replicate).values().take(50).collect();
    move |unit| bit(&words, unit)
}

/// Counts as of a BLEU system, and larger ones that need wider lanes.
fn counts(segments: usize, systems: usize, scale: i64) -> Vec<i64> {
    let mut words = Stream::new(99, Purpose::Draw, scale as u64).values();
    (0..systems * segments * 10)
        .map(|i| {
            let word = words.next().unwrap();
            let small = (word % 30) as i64;
            if i % 7 == 3 { small * scale } else { small }
        })
        .collect()
}

#[test]
fn all_paths_give_the_same_sums() {
    for segments in [1, 6, 63, 64, 65, 1023, 1024, 1025, 1407, 1408, 1409, 3004] {
        // Columns of all widths, some of them equal in both systems except in a few units.
        let mut words = Stream::new(96, Purpose::Draw, segments as u64).values();
        let row = |_| {
            let word = words.next().unwrap();
            [
                (word % 30) as i64 - 9,
                word as i64 >> 30,
                (word % 900) as i64,
                i64::from(word.is_multiple_of(199)) << 50,
                5,
            ]
        };
        let counts: Vec<i64> = (0..2 * segments).flat_map(row).collect();
        let stats = [SuffStats::new(&counts, 2, segments, 5).unwrap()];
        let design = designed(stats[0].clone());
        let computed = |simd, n, blocks| {
            let adder = Adder::new(&design.packed, simd, &Stop::never()).unwrap();
            let flips = Flips::new(&design, &adder, Source::Seeded(8));
            all_sums(&design, &flips, 3..3 + n as u64, blocks)
        };
        // More than a block, where it is cheap.
        for n in if segments == 65 { [1, 64, 600] } else { [1, 64, 70] } {
            let expected = computed(Simd::Portable, n, 512);
            Simd::tested().into_iter().for_each(|simd| {
                assert_eq!(expected, computed(simd, n, 64), "{simd:?}");
                // Without tables.
                let few = FewFlips::new(&design, 8, simd);
                assert_eq!(expected, all_sums(&design, &few, 3..3 + n as u64, 64), "{simd:?}");
            });
            for (replicate, sums) in expected.chunks(10).enumerate().step_by(23) {
                let flip = flips_of(8, 3 + replicate as u64);
                let sum = |column: usize| -> i64 {
                    let units = (0..segments).filter(|&unit| flip(unit));
                    units.map(|unit| stats[0].row(1, unit)[column] - stats[0].row(0, unit)[column]).sum()
                };
                assert_eq!([0; 5], sums[..5]);
                assert_eq!((0..5).map(sum).collect::<Vec<_>>(), sums[5..]);
            }
        }
    }
}

#[test]
fn sums_as_large_as_lanes_hold_are_exact_when_every_unit_is_flipped() {
    // The largest sums that lanes hold: subsets of six or of four units that reach 255 fill the 16 bits in which a
    // chunk's tables are added up, and sixteen units of 2,047, 2,048 or 2^27 fill the lanes of 16, 16 and 32 bits of
    // tiles.
    let segments = 5 * 1408 + 70;
    let row = |unit: usize| {
        let of_word = unit % 64;
        let of_six = if of_word < 60 { [43, 43, 43, 42, 42, 42][of_word % 6] } else { [64, 64, 64, 63][of_word % 4] };
        [of_six, [64, 64, 64, 63][of_word % 4], 2047 + (unit % 2) as i64, 255 << 8, (1 << 27) - (unit % 3) as i64]
    };
    let zeros = vec![0; 5 * segments];
    for sign in [1, -1] {
        let rows = (0..segments).flat_map(row).map(|count| sign * count);
        let counts: Vec<i64> = zeros.iter().copied().chain(rows).collect();
        let stats = [SuffStats::new(&counts, 2, segments, 5).unwrap()];
        let design = designed(stats[0].clone());
        let words = segments.div_ceil(64);
        let all = vec![u64::MAX; words];
        for simd in Simd::tested() {
            let adder = Adder::new(&design.packed, simd, &Stop::never()).unwrap();
            let masks = Supplied::new("flip masks", &all, words, &(0..1)).unwrap();
            let flips = Flips::new(&design, &adder, Source::Supplied(masks));
            let sums = all_sums(&design, &flips, 0..1, 64);
            assert_eq!(stats[0].totals()[5..], sums[5..], "{simd:?} {sign}");
        }
    }
}

/// Two systems that differ by 3 in the first unit and by 1 in the second, under a mean: statistics are ±4 and ±2 over 2.
const TIED: [i64; 8] = [3, 1, 1, 1, 0, 1, 0, 1];

#[test]
fn a_statistic_equal_to_its_threshold_counts_under_any_scheme() {
    let mean = crate::metric::Mean::new("x".into(), 1.0, true);
    let scored = [sample(Arc::new(mean), &TIED, 2)];
    // Flips none, the first, the second, both.
    let (masks, codes) = ([0b00, 0b01, 0b10, 0b11], [0b01, 0b10]);
    let statistics = statistics(&scored, &[(0, 1)], flips(&masks, 4), 1).unwrap();
    assert_eq!(vec![2.0, -1.0, 1.0, -2.0], statistics);
    for (alternative, threshold, expected) in [
        (Alternative::TwoSided, 2.0, 2),
        (Alternative::TwoSided, 1.0, 4),
        (Alternative::Greater, 2.0, 1),
        (Alternative::Greater, 1.0, 2),
        (Alternative::Greater, -1.0, 3),
        (Alternative::Less, -2.0, 1),
        (Alternative::Less, 1.0, 3),
    ] {
        let criterion = (alternative, [threshold]);
        let schemes = [flips(&masks, 4), coded(&codes, 0, 4)];
        for scheme in schemes {
            let label = format!("{alternative:?} {threshold} {scheme:?}");
            let got = tally(&scored, &[(0, 1)], (criterion.0, &criterion.1), scheme, 1);
            assert_eq!(vec![expected], got.unwrap(), "{label}");
        }
    }
}

#[test]
fn pairs_and_masks_that_do_not_fit_are_refused() {
    let bleu = metric("bleu", &[]).unwrap();
    let counts = counts(70, 2, 1);
    let scored = [sample(bleu.clone(), &counts, 2)];
    let error = statistics(&scored, &[(0, 2)], seeded(0, 0, 1), 1).unwrap_err();
    assert_eq!(Error::OutOfRange { what: "system".into(), index: 2, len: 2 }, error);
    let error = statistics(&scored, &[(0, 1)], flips(&[0; 3], 2), 1).unwrap_err();
    assert_eq!(Error::LengthMismatch { what: "flip masks".into(), expected: 4, got: 3 }, error);
    assert!(Sample::new(metric("bleu", &[]).unwrap(), SuffStats::new(&[1], 1, 1, 1).unwrap()).is_err());
}

proptest! {
    #![proptest_config(crate::testing::cases(24))]
    #[test]
    fn any_flips_of_any_counts_give_the_same_sums_on_all_paths(
        segments in 1..400usize,
        sizes in prop::collection::vec(prop::sample::select(vec![1i64, 60, 300, 1 << 20, 1 << 45]), 1..10),
        n in 1..150usize,
        seed in any::<u64>(),
    ) {
        let (columns, mut random) = (sizes.len(), Stream::new(seed, Purpose::Draw, 0).values());
        let counts: Vec<i64> = sizes
            .iter()
            .cycle()
            .take(2 * segments * columns)
            .map(|size| random.next().unwrap() as i64 % (size + 1))
            .collect();
        let stats = SuffStats::new(&counts, 2, segments, columns).unwrap();
        let words: Vec<u64> = random.take(n * segments.div_ceil(64)).collect();
        let design = designed(stats.clone());
        let mut expected = Vec::new();
        for mask in words.chunks(segments.div_ceil(64)) {
            let flipped = (0..segments).filter(|&unit| bit(mask, unit));
            let mut sums = vec![0; 2 * columns];
            for unit in flipped {
                let rows = stats.row(1, unit).into_iter().zip(stats.row(0, unit));
                sums[columns..].iter_mut().zip(rows).for_each(|(sum, (other, first))| *sum += other - first);
            }
            expected.extend(sums);
        }
        for simd in Simd::tested() {
            let adder = Adder::new(&design.packed, simd, &Stop::never()).unwrap();
            let masks = Supplied::new("flip masks", &words, segments.div_ceil(64), &(0..n as u64)).unwrap();
            let flips = Flips::new(&design, &adder, Source::Supplied(masks));
            prop_assert_eq!(&expected, &all_sums(&design, &flips, 0..n as u64, 64), "{:?}", simd);
        }
    }
}
