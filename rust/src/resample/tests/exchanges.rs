//! Tests of exchanges between systems with several runs each.

use super::*;
use crate::resample::design::Design;
use crate::resample::kernel::exchange::Exchanges;
use crate::resample::kernel::flips::{Adder, Flips};
use crate::resample::{Exchange, permutations};
use crate::simd::Simd;
use crate::stream::{Purpose, Stream};
use proptest::prelude::*;

/// The slow, obvious way: which rows of a segment are swapped, from its labels and coins.
fn swapped(exchange: Exchange, labels: &[u16], coin: impl Fn(usize) -> bool) -> Vec<bool> {
    let labels = || labels.iter().map(|&label| usize::from(label));
    match exchange {
        Exchange::Pooled(first, _) => {
            labels().enumerate().map(|(row, label)| (row < first) != (label < first)).collect()
        }
        Exchange::MultEval(runs) => {
            let place_of = |row: usize| labels().position(|label| label == row).unwrap();
            (0..runs).map(|row| coin(place_of(row))).chain(labels().map(&coin)).collect()
        }
    }
}

/// The sums of the swapped rows of the second system, whose counts are in the order of units.
fn obvious_sums(stats: &SuffStats<'_>, exchange: Exchange, (seed, replicate): (u64, u64)) -> Vec<i64> {
    let (rows, segments) = (exchange.rows(), stats.segments() / exchange.rows());
    let systems = match exchange {
        Exchange::Pooled(..) => rows,
        Exchange::MultEval(runs) => runs,
    };
    let labels = permutations((seed, replicate), systems, segments, &Stop::never()).unwrap();
    let stream = Stream::new(seed, Purpose::Shuffle, replicate);
    let mut sums = vec![0; stats.columns()];
    for (segment, labels) in labels.chunks_exact(systems).enumerate() {
        let coin = |run: usize| stream.value((segment / 64 * systems + run) as u64) >> (segment % 64) & 1 == 1;
        for (row, _) in swapped(exchange, labels, coin).iter().enumerate().filter(|(_, swapped)| **swapped) {
            let counts = stats.row(1, 64 * (segment / 64 * rows + row) + segment % 64);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    sums
}

/// Zeros for the first system, and random counts for the second.
fn counts(seed: u64, units: usize, sizes: &[i64]) -> Vec<i64> {
    let values = Stream::new(seed, Purpose::Draw, 0).values();
    let random = values.zip(sizes.iter().cycle()).map(|(value, size)| (value >> 8) as i64 % (2 * size + 1) - size);
    std::iter::repeat_n(0, units * sizes.len()).chain(random.take(units * sizes.len())).collect()
}

fn exchanges() -> impl Strategy<Value = Exchange> {
    prop_oneof![
        (1..7usize, 1..7usize).prop_map(|(first, second)| Exchange::Pooled(first, second)),
        (1..7usize).prop_map(Exchange::MultEval),
        Just(Exchange::Pooled(20, 9)),
        Just(Exchange::MultEval(17)),
    ]
}

proptest! {
    #![proptest_config(crate::testing::cases(10))]
    #[test]
    fn sums_are_those_of_swapping_rows_one_by_one_on_all_paths_in_any_blocks(
        exchange in exchanges(),
        groups in 1..4usize,
        sizes in prop::collection::vec(prop::sample::select(vec![1i64, 60, 1 << 20, 1 << 45]), 1..5),
        (seed, first) in (any::<u64>(), 0..1_u64 << 40),
        length in prop::sample::select(vec![64, 40, 512]),
    ) {
        let units = 64 * groups * exchange.rows();
        let all = counts(seed, units, &sizes);
        let stats = SuffStats::new(&all, 2, units, sizes.len()).unwrap();
        let range = first..first + 70;
        let mut expected = Vec::new();
        let samples = [Sample::without_formula(stats.clone())];
        let design = with_run(1, |run| Design::new(Simd::best(), &samples, true, run)).unwrap();
        let exchanges = Exchanges::new(exchange, seed, units).unwrap();
        for simd in Simd::tested() {
            let adder = Adder::new(&design.packed, simd, &Stop::never()).unwrap();
            let flips = Flips::exchanging(&design, &adder, exchanges);
            let sums = all_sums(&design, &flips, range.clone(), length);
            if expected.is_empty() {
                expected = sums;
                continue;
            }
            prop_assert_eq!(&expected, &sums, "{:?}", simd);
        }
        for threads in [1, 3] {
            let plan = (Plan::Exchanged(seed, exchange), range.clone());
            prop_assert_eq!(&expected, &sums(std::slice::from_ref(&stats), Kind::Shuffles, plan, threads).unwrap());
        }
        for (replicate, sums) in (first..).zip(expected.chunks_exact(2 * sizes.len())).step_by(43) {
            let (zeros, own) = sums.split_at(sizes.len());
            prop_assert!(zeros.iter().all(|sum| *sum == 0));
            prop_assert_eq!(obvious_sums(&stats, exchange, (seed, replicate)), own);
        }
    }
}

#[test]
fn runs_and_segments_that_do_not_fit_are_refused() {
    let refused = |exchange, units| Exchanges::new(exchange, 1, units).unwrap_err().to_string();
    assert_eq!(
        "the number of segments for the exchange pooled of 2 and 3 runs must be a multiple of 320, 64 segments of 5 rows \
         each, got 321",
        refused(Exchange::Pooled(2, 3), 321)
    );
    assert_eq!(
        "the number of segments for the exchange multeval of 3 and 3 runs must be a multiple of 384, 64 segments of 6 \
         rows each, got 192",
        refused(Exchange::MultEval(3), 192)
    );
    for none in [Exchange::Pooled(0, 3), Exchange::Pooled(3, 0), Exchange::MultEval(0)] {
        assert_eq!("the number of runs of a system must be at least 1, got 0", refused(none, 64));
    }
    for many in [Exchange::Pooled(usize::MAX, 2), Exchange::MultEval(usize::MAX)] {
        assert!(refused(many, 64).contains("must be a multiple of"));
    }
    let samples = [Sample::without_formula(SuffStats::new(&[1, 2], 2, 1, 1).unwrap())];
    let plan = || (Plan::Exchanged(1, Exchange::MultEval(1)), 0..1);
    let message =
        |kind: Kind<'_>| reduced((&samples, kind), reduce::Sums::default(), plan(), 1).unwrap_err().to_string();
    assert_eq!("the replicates must be draws (a seed or indices), got an exchange of runs", message(Kind::Draws(&[])));
    assert_eq!("the replicates must be permutations (a seed), got an exchange of runs", message(Kind::Permutations));
    assert!(message(Kind::Shuffles).contains("a multiple of 128"));
}

#[test]
fn a_cancelled_call_stops() {
    let exchange = Exchange::Pooled(4, 4);
    let units = 64 * 80 * exchange.rows();
    let counts = counts(1, units, &[9]);
    let samples = [Sample::without_formula(SuffStats::new(&counts, 2, units, 1).unwrap())];
    assert_cancelled(&samples, Kind::Shuffles, Plan::Exchanged(1, exchange));
}
