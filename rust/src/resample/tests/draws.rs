//! Tests of bootstrap draws.

use super::*;
use crate::error::Error;
use crate::metric::metric;
use crate::pool::Stop;
use crate::resample::design::Design;
use crate::resample::kernel::draw::{Digits, Draws};
use crate::resample::kernel::source::{Source, Supplied};
use crate::resample::kernel::weights::Strata;
use crate::simd::Simd;
use crate::stream::{Purpose, Stream};
use proptest::prelude::*;

fn draw_weights(seed: u64, replicate: u64, units: u32, strata: &[usize]) -> Result<Vec<u32>> {
    crate::resample::draw_weights((seed, replicate), units, strata, &Stop::never())
}

fn counts(cells: usize, scale: i64) -> Vec<i64> {
    let words = Stream::new(98, Purpose::Draw, scale as u64).values();
    words.take(cells).enumerate().map(|(i, w)| (w % 30) as i64 * if i % 7 == 3 { scale } else { 1 }).collect()
}

/// The slow, obvious way: adds row by row.
fn added(stats: &SuffStats<'_>, system: usize, indices: &[u32]) -> Vec<i64> {
    let column = |c| indices.iter().map(|&unit| stats.row(system, unit as usize)[c]).sum();
    (0..stats.columns()).map(column).collect()
}

/// The drawn indices, from the weights of a draw.
fn indices_of(seed: u64, replicate: u64, units: usize) -> Vec<u32> {
    let weights = draw_weights(seed, replicate, units as u32, &[]).unwrap();
    (0..).zip(weights).flat_map(|(unit, weight)| std::iter::repeat_n(unit, weight as usize)).collect()
}

#[test]
fn sums_within_strata_are_those_of_their_weights() {
    let (segments, strata, n) = (1000, [3, 700, 290, 7], 100);
    let counts = awkward(segments);
    let stats = [SuffStats::new(&counts, 1, segments, 7).unwrap()];
    let computed = |threads| sums(&stats, Kind::Draws(&strata), seeded(5, 2, n), threads).unwrap();
    let got = computed(1);
    assert_eq!(got, computed(3));
    for replicate in 0..n {
        let weights = draw_weights(5, 2 + replicate as u64, segments as u32, &strata).unwrap();
        let indices: Vec<u32> = (0..).zip(weights).flat_map(|(unit, w)| vec![unit; w as usize]).collect();
        assert_eq!(added(&stats[0], 0, &indices), got[7 * replicate..][..7]);
    }
}

#[test]
fn summaries_equal_those_of_the_stored_scores() {
    let metrics = ["bleu", "length"].map(|name| metric(name, &[]).unwrap());
    let (segments, k, n) = (300, 4, 900);
    // The third system equals the first.
    let mut of_bleu = counts(k * segments * 10, 1);
    of_bleu.copy_within(0..segments * 10, 2 * segments * 10);
    let lengths: Vec<i64> = of_bleu.chunks(10).flat_map(|row| [row[0], row[1]]).collect();
    let scored = [sample(metrics[0].clone(), &of_bleu, k), sample(metrics[1].clone(), &lengths, k)];
    let plan = || seeded(4, 0, n);
    let summary = |threads| {
        let moments = reduced((&scored, Kind::Draws(&[])), reduce::Moments::default(), plan(), threads).unwrap();
        (moments.means(), moments.deviations())
    };
    let got = summary(1);
    for threads in [2, 3, 8] {
        assert_eq!(got, summary(threads));
    }
    let (means, deviations) = got;
    let kept = scores(&scored, &[], plan(), 1).unwrap();
    for (series, scores) in kept.chunks(n).enumerate() {
        let mean = scores.iter().sum::<f64>() / n as f64;
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        let deviation = (squares / (n - 1) as f64).sqrt();
        assert!((mean - means[series]).abs() < 1e-12 * mean);
        assert!((deviation - deviations[series]).abs() < 1e-9 * deviation);
    }
}

#[test]
fn supplied_indices_must_fit() {
    let counts = counts(5 * 2, 1);
    let stats = [SuffStats::new(&counts, 1, 5, 2).unwrap()];
    let computed = |indices: &[u32], n| sums(&stats, Kind::Draws(&[]), (Plan::Indices(indices, 5), 0..n), 1);
    assert_eq!(Err(Error::LengthMismatch { what: "indices".into(), expected: 10, got: 5 }), computed(&[0; 5], 2));
    assert_eq!(Err(Error::OutOfRange { what: "segment".into(), index: 5, len: 5 }), computed(&[0, 1, 2, 3, 5], 1));
    assert_eq!(added(&stats[0], 0, &[4, 4, 0, 1, 1]), computed(&[4, 4, 0, 1, 1], 1).unwrap());
}

proptest! {
    #![proptest_config(crate::testing::cases(24))]
    #[test]
    fn any_indices_give_what_adding_gives(
        // A segment that is drawn more than 127 or 255 times exceeds the signed or unsigned bytes of the fast path.
        (segments, width, indices) in (1..60usize, 1..400usize).prop_flat_map(|(s, w)| {
            (Just(s), Just(w), prop::collection::vec(prop_oneof![0..s as u32, Just(0)], 20 * w))
        }),
        scale in prop::sample::select(vec![1i64, 1000, 1 << 20, 1 << 40]),
        threads in 1..3usize,
    ) {
        let counts = counts(segments * 5, scale);
        let stats = SuffStats::new(&counts, 1, segments, 5).unwrap();
        let plan = (Plan::Indices(&indices, width), 7..27);
        let got = sums(std::slice::from_ref(&stats), Kind::Draws(&[]), plan, threads).unwrap();
        let expected: Vec<i64> = indices.chunks(width).flat_map(|indices| added(&stats, 0, indices)).collect();
        prop_assert_eq!(expected, got);
    }

    #[test]
    fn all_paths_sum_any_indices_and_exceptions(
        indices in prop::collection::vec(prop_oneof![8 => 0..70u32, 1 => Just(5)], 3 * 300),
    ) {
        let counts = awkward(70);
        let stats = SuffStats::new(&counts, 1, 70, 7).unwrap();
        let samples = [Sample::without_formula(stats.clone())];
        let design = with_run(1, |run| Design::new(Simd::best(), &samples, false, run)).unwrap();
        let expected: Vec<i64> = indices.chunks(300).flat_map(|indices| added(&stats, 0, indices)).collect();
        for simd in Simd::tested() {
            let strata = Strata::new(70, &[], simd).unwrap();
            let digits = Digits::new(&design.packed, simd, &Stop::never()).unwrap();
            let supplied = Source::Supplied(Supplied::new("indices", &indices, 300, &(4..7)).unwrap());
            let draws = Draws::new(&design, (&strata, &digits), supplied, &Stop::never()).unwrap();
            prop_assert_eq!(&expected, &all_sums(&design, &draws, 4..7, 64), "{:?}", simd);
        }
    }
}

/// Counts with a column for each width of digits, one that follows another except in a few units, and a constant one.
fn awkward(segments: usize) -> Vec<i64> {
    let mut words = Stream::new(97, Purpose::Draw, segments as u64).values();
    let row = |unit: usize| {
        let word = words.next().unwrap();
        let small = (word % 30) as i64;
        let follows = if unit % 97 == 5 { -1000 } else { small - 4 };
        [
            small,
            -small,
            follows,
            7,
            word as i64 >> 24,
            (word % 300) as i64 - 150,
            if unit % 200 == 3 { 1 << 50 } else { 0 },
        ]
    };
    (0..segments).flat_map(row).collect()
}

#[test]
fn all_paths_give_the_same_sums() {
    for segments in [1, 2, 63, 64, 65, 257, 1000] {
        let counts = awkward(segments);
        let stats = [SuffStats::new(&counts, 1, segments, 7).unwrap()];
        let samples = [Sample::without_formula(stats[0].clone())];
        let design = with_run(1, |run| Design::new(Simd::best(), &samples, false, run)).unwrap();
        let computed = |simd, n: usize, length: usize| {
            let strata = Strata::new(segments, &[], simd).unwrap();
            let digits = Digits::new(&design.packed, simd, &Stop::never()).unwrap();
            let draws = Draws::new(&design, (&strata, &digits), Source::Seeded(8), &Stop::never()).unwrap();
            all_sums(&design, &draws, 3..3 + n as u64, length)
        };
        for n in [1, 17, 70] {
            let expected = computed(Simd::Portable, n, 50);
            Simd::tested().into_iter().for_each(|simd| assert_eq!(expected, computed(simd, n, 64), "{simd:?}"));
            for replicate in (0..n).step_by(16) {
                let indices = indices_of(8, 3 + replicate as u64, segments);
                assert_eq!(added(&stats[0], 0, &indices), expected[7 * replicate..][..7]);
            }
        }
    }
}
