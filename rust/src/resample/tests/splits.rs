//! Tests that ranges run in parts and merged give the same bytes as one run.

use super::*;
use crate::metric::metric;
use crate::pool::Stop;
use crate::resample::bins::{Bins, Histogram};
use crate::resample::reduce::{
    AnyReduction, Draws, Histograms, MaxT, Moments, PermutedTally, SequentialTally, Series, Spread, Statistics, Sums,
    Tally, run_all,
};
use crate::simd::Simd;
use crate::stream::{Purpose, Stream};
use proptest::prelude::*;

const PAIRS: [Pair; 3] = [(0, 1), (2, 0), (1, 2)];

/// Three systems under two metrics.
fn prepared(simd: Simd, kind: Kind<'_>) -> Resampler {
    let words = || Stream::new(93, Purpose::Draw, 0).values().map(|word| (word % 30) as i64);
    let (of_bleu, of_length): (Vec<i64>, Vec<i64>) =
        (words().take(3 * 70 * 10).collect(), words().take(3 * 70 * 2).collect());
    let samples = [("bleu", &of_bleu), ("length", &of_length)]
        .map(|(name, counts)| sample(metric(name, &[]).unwrap(), counts, 3));
    with_run(1, |run| Resampler::prepare_on(simd, &samples, kind, run)).unwrap()
}

/// Thresholds of all tests.
const THRESHOLDS: [f64; 6] = [0.5, 0.1, 1.0, 0.02, 0.03, 0.0];

/// The reductions of shuffles whose state can be sent, except histograms.
fn of_shuffles() -> Vec<AnyReduction> {
    let (pairs, thresholds) = (|| PAIRS.to_vec(), || THRESHOLDS.to_vec());
    let max_t = |families| {
        let scales = vec![1.0, 0.5, 0.7, 1.0, 2.0, 0.1];
        AnyReduction::MaxT(MaxT::new(pairs(), Alternative::Greater, scales, thresholds(), families))
    };
    vec![
        AnyReduction::Tally(Tally::new(pairs(), Alternative::TwoSided, thresholds())),
        max_t(vec![0, 1]),
        max_t(vec![0, 0]),
        AnyReduction::Spread(Spread::new(pairs())),
        AnyReduction::Series(Series::new(pairs())),
        AnyReduction::Sums(Sums::default()),
    ]
}

fn of_draws() -> [AnyReduction; 3] {
    [
        AnyReduction::Draws(Draws::default()),
        AnyReduction::Sums(Sums::default()),
        AnyReduction::Moments(Moments::default()),
    ]
}

fn histograms(of: Statistics) -> AnyReduction {
    AnyReduction::Histograms(Histograms::new(PAIRS.to_vec(), of))
}

fn sequential(rule: Rule) -> AnyReduction {
    let tally = SequentialTally::new(PAIRS.to_vec(), Alternative::TwoSided, THRESHOLDS.to_vec(), rule);
    AnyReduction::SequentialTally(tally.unwrap())
}

/// Runs reductions in one pass.
fn computed(
    resampler: &Resampler,
    mut reductions: Vec<AnyReduction>,
    replicates: Replicates<'_>,
    threads: usize,
) -> Vec<AnyReduction> {
    with_run(threads, |run| run_all(resampler, replicates, &mut reductions, run)).unwrap();
    reductions
}

/// What a reduction has found: its histograms or outcomes, or its state.
fn found(reduction: &AnyReduction) -> String {
    match reduction {
        // The bins of a histogram do not depend on the order of the values, but those from which they are made do.
        AnyReduction::Histograms(histograms) => format!("{:?}", histograms.histograms()),
        AnyReduction::SequentialTally(tally) => format!("{:?}", tally.outcomes()),
        _ => format!("{:?}", reduction.state().unwrap()),
    }
}

/// Lengths for [`cut`], some of which are more than a block.
fn lengths() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![4 => 1..4_u64, 1 => Just(9)], 1..4)
}

/// Consecutive ranges from `first` on, in whole blocks except for the first and the last end.
fn cut(first: u64, lengths: &[u64], rest: u64) -> Vec<Range<u64>> {
    let mut begin = first;
    let mut ranges: Vec<_> = lengths
        .iter()
        .map(|length| {
            let end = (begin / BATCH as u64 + length) * BATCH as u64;
            let range = begin..end;
            begin = end;
            range
        })
        .collect();
    if rest > 0 {
        ranges.push(begin..begin + rest);
    }
    ranges
}

/// The histograms of the statistics of all shuffles.
fn of_series((resampler, seed): (&Resampler, u64), parts: &[Range<u64>], of: Statistics) -> Vec<Option<Histogram>> {
    let mut series = Series::new(PAIRS.to_vec());
    let plan = (Plan::Seeded(seed), parts[0].start..parts[parts.len() - 1].end);
    with_run(1, |run| resampler.run(plan, &mut [&mut series], run)).unwrap();
    let tests = series.shape().iter().product();
    let n = series.statistics().len() / tests;
    let mut bins = Bins::new(tests, Simd::best()).unwrap();
    bins.make_room(2 * n).unwrap();
    for (test, statistics) in series.statistics().chunks(n).enumerate() {
        bins.add(test, statistics);
        if of == Statistics::HalfOfShuffles {
            bins.add(test, &statistics.iter().map(|t| -t).collect::<Vec<_>>());
        }
    }
    bins.count();
    bins.histograms().unwrap()
}

/// Runs a reduction on the whole range and on each part, merges the parts from the left and from the right, and checks
/// that all three find the same. Where it can be, each part is sent to another process. Returns the reduction.
fn merged((resampler, seed): (&Resampler, u64), reduction: &AnyReduction, parts: &[Range<u64>]) -> AnyReduction {
    let run = |range: Range<u64>, threads| {
        computed(resampler, vec![reduction.clone()], (Plan::Seeded(seed), range), threads).remove(0)
    };
    let sent = |computed: AnyReduction| match (&computed, computed.state()) {
        (AnyReduction::SequentialTally(_), Err(_)) => computed,
        (_, state) => {
            let mut received = reduction.clone();
            received.set_state(&state.unwrap()).unwrap();
            received
        }
    };
    let made: Vec<_> =
        parts.iter().zip((1..4).cycle()).map(|(part, threads)| sent(run(part.clone(), threads))).collect();
    let mut from_the_left = made[0].clone();
    made[1..].iter().for_each(|later| from_the_left.merge(later, &Stop::never()).unwrap());
    let mut from_the_right = made[made.len() - 1].clone();
    for earlier in made[..made.len() - 1].iter().rev() {
        let mut both = earlier.clone();
        both.merge(&from_the_right, &Stop::never()).unwrap();
        from_the_right = both;
    }
    let whole = run(parts[0].start..parts[parts.len() - 1].end, 2);
    assert_eq!([found(&whole), found(&whole)], [found(&from_the_left), found(&from_the_right)]);
    whole
}

proptest! {
    #![proptest_config(crate::testing::cases(6))]
    #[test]
    fn any_split_of_shuffles_equals_one_run_on_every_path(
        simd in prop::sample::select(Simd::tested()),
        first in prop::sample::select(vec![0u64, 0, 5, 64, 512, 700]),
        lengths in lengths(),
        rest in 0..BATCH as u64,
        seed in any::<u64>(),
    ) {
        let parts = cut(first, &lengths, rest);
        let resampler = prepared(simd, Kind::Shuffles);
        let setup = (&resampler, seed);
        for reduction in of_shuffles() {
            merged(setup, &reduction, &parts);
        }
        for of in [Statistics::Shuffles, Statistics::HalfOfShuffles] {
            let whole = merged(setup, &histograms(of), &parts);
            prop_assert_eq!(format!("{:?}", Ok::<_, Error>(of_series(setup, &parts, of))), found(&whole));
        }
        if first == 0 {
            for rule in [Rule::BesagClifford { exceedances: 20 }, Rule::Gandy { level: 0.05, risk: 0.001 }] {
                merged(setup, &sequential(rule), &parts);
            }
        }
    }

    #[test]
    fn any_split_of_draws_equals_one_run_on_every_path(
        simd in prop::sample::select(Simd::tested()),
        first in prop::sample::select(vec![0u64, 5, 64, 700]),
        lengths in lengths(),
        rest in 0..BATCH as u64,
        seed in any::<u64>(),
        strata in prop::sample::select(vec![vec![], vec![30, 40]]),
    ) {
        let resampler = prepared(simd, Kind::Draws(&strata));
        for reduction in of_draws() {
            merged((&resampler, seed), &reduction, &cut(first, &lengths, rest));
        }
    }

    #[test]
    fn any_split_of_permutations_gives_the_same_histograms(
        simd in prop::sample::select(Simd::tested()),
        first in prop::sample::select(vec![0u64, 5, 64, 700]),
        lengths in lengths(),
        rest in 0..BATCH as u64,
        seed in any::<u64>(),
    ) {
        let parts = cut(first, &lengths, rest);
        let resampler = prepared(simd, Kind::Permutations);
        let whole = merged((&resampler, seed), &histograms(Statistics::Permutations), &parts);
        let AnyReduction::Histograms(whole) = whole else { unreachable!("it is of this class") };
        let n = parts[parts.len() - 1].end - first;
        let total = |histogram: &Option<Histogram>| histogram.unwrap().counts.iter().sum::<u64>();
        prop_assert!(whole.histograms().unwrap().iter().all(|histogram| total(histogram) == n));
    }
}

/// What happens to a word of a state.
#[derive(Debug, Clone)]
enum Damage {
    Set(u64),
    Flip(u32),
    Remove,
    Insert(u64),
}

fn some_damage() -> impl Strategy<Value = Vec<(usize, Damage)>> {
    let floats = [0.0, -0.0, 1.0, -1.0, 3.0, 1e300, -1e300, 5e-324, f64::NAN, f64::INFINITY].map(f64::to_bits);
    let large = [1 << 31, 1 << 32, 1 << 53, 1 << 62, 1 << 63, (1 << 63) + 1, u64::MAX];
    let special: Vec<u64> = (0..12).chain([64, 263, 264, 320]).chain(floats).chain(large).collect();
    let word = prop_oneof![prop::sample::select(special), any::<u64>()].boxed();
    let damage = prop_oneof![
        4 => word.clone().prop_map(Damage::Set),
        2 => (0..64u32).prop_map(Damage::Flip),
        1 => Just(Damage::Remove),
        1 => word.prop_map(Damage::Insert),
    ];
    // Most often one of the first words, which say how many others there are.
    let place = prop_oneof![0..8usize, any::<usize>()];
    prop::collection::vec((place, damage), 1..4)
}

/// Checks that the results of a reduction have the size that its range and shape imply, and that counts are possible.
fn read(reduction: &AnyReduction) {
    let range = reduction.replicates().unwrap();
    let n = (range.end - range.start) as usize;
    let tests = |[metrics, pairs]: [usize; 2]| metrics * pairs;
    let counts_fit = |counts: &[u64]| assert!(counts.iter().all(|count| *count <= n as u64));
    match reduction {
        AnyReduction::Tally(tally) => counts_fit(tally.counts()),
        AnyReduction::MaxT(max_t) => counts_fit(max_t.counts()),
        AnyReduction::PermutedTally(tally) => {
            counts_fit(tally.counts());
            counts_fit(tally.range_counts());
        }
        AnyReduction::Spread(spread) => assert_eq!(tests(spread.shape()), spread.values().len()),
        AnyReduction::Series(series) => assert_eq!(tests(series.shape()) * n, series.statistics().len()),
        AnyReduction::Sums(sums) => assert_eq!(sums.cells() * n, sums.sums().len()),
        AnyReduction::Draws(draws) => assert_eq!(draws.systems() * n, draws.scores().len()),
        AnyReduction::Moments(moments) => assert_eq!(moments.means().len(), moments.deviations().len()),
        AnyReduction::Histograms(histograms) => {
            for histogram in histograms.histograms().unwrap().into_iter().flatten() {
                assert!(histogram.counts.iter().sum::<u64>() <= 2 * n as u64);
            }
        }
        AnyReduction::SequentialTally(_) | AnyReduction::MinP(_) => unreachable!("they have no state"),
    }
}

proptest! {
    #![proptest_config(crate::testing::cases(64))]
    #[test]
    fn a_damaged_state_is_refused_or_can_be_used(of in any::<prop::sample::Index>(), damage in some_damage()) {
        let permuted = PermutedTally::new(PAIRS.to_vec(), THRESHOLDS.to_vec());
        let mut cases: Vec<_> = of_shuffles().into_iter().map(|reduction| (Kind::Shuffles, reduction)).collect();
        cases.extend(of_draws().map(|reduction| (Kind::Draws(&[]), reduction)));
        cases.extend([
            (Kind::Shuffles, histograms(Statistics::HalfOfShuffles)),
            (Kind::Permutations, histograms(Statistics::Permutations)),
            (Kind::Permutations, AnyReduction::PermutedTally(permuted)),
        ]);
        let (kind, reduction) = of.get(&cases);
        let computed = computed(&prepared(Simd::best(), *kind), vec![reduction.clone()], seeded(7, 70, 200), 1).remove(0);
        let mut words = computed.state().unwrap();
        for (place, damage) in damage {
            let at = place % words.len().max(1);
            match damage {
                Damage::Insert(word) => words.insert(at, word),
                _ if words.is_empty() => {}
                Damage::Set(word) => words[at] = word,
                Damage::Flip(bit) => words[at] ^= 1 << bit,
                Damage::Remove => drop(words.remove(at)),
            }
        }
        let mut received = reduction.clone();
        if received.set_state(&words).is_ok() {
            received.state().unwrap();
            read(&received);
            // A merger may be refused, because the ranges do not follow each other.
            for (earlier, later) in [(&received, &computed), (&computed, &received)] {
                let mut both = earlier.clone();
                if both.merge(later, &Stop::never()).is_ok() {
                    read(&both);
                    both.state().unwrap();
                }
            }
        }
    }
}

#[test]
fn reductions_that_do_not_follow_or_differ_are_not_merged() {
    let resampler = &prepared(Simd::best(), Kind::Shuffles);
    let run = |mut tally: Tally, range: Range<u64>| {
        with_run(1, |run| resampler.run((Plan::Seeded(1), range), &mut [&mut tally], run)).unwrap();
        tally
    };
    let new = |threshold| Tally::new(vec![(0, 1)], Alternative::TwoSided, vec![threshold; 2]);
    let error = |later: &Tally| run(new(1.0), 0..64).merge(later, &Stop::never()).unwrap_err().to_string();
    let message = "the first replicate of a reduction to merge must be 64, where this one ends, got 128";
    assert_eq!(message, error(&run(new(1.0), 128..192)));
    assert!(error(&run(new(2.0), 64..128)).starts_with("a reduction to merge must be one with the same pairs"));
    assert!(error(&new(1.0)).starts_with("a reduction whose result is read must be one that Resampler.run"));
    let observed = (vec![0.0; 2], vec![0.0; 2]);
    let mut min_p = reduce::MinP::new(vec![(0, 1)], Alternative::TwoSided, observed, vec![1; 2], vec![0, 0]);
    with_run(1, |run| min_p.run(resampler, seeded(1, 0, 10), run)).unwrap();
    let message = min_p.clone().merge(&min_p, &Stop::never()).unwrap_err().to_string();
    assert!(message.contains("run all shuffles at once"), "{message}");
    let late = computed(resampler, vec![sequential(Rule::BesagClifford { exceedances: 1 })], seeded(1, 64, 10), 1);
    assert!(found(&late[0]).contains("0 (merge it with the shuffles before it)"), "{}", found(&late[0]));
}

#[test]
fn reductions_and_plans_of_the_wrong_kind_are_refused() {
    let refused = |resampler: &Resampler, plan: Plan<'_>, reduction: &mut dyn Reduction| {
        with_run(1, |run| resampler.run((plan, 0..1), &mut [reduction], run)).unwrap_err().to_string()
    };
    let [shuffles, draws] = [Kind::Shuffles, Kind::Draws(&[])].map(|kind| prepared(Simd::best(), kind));
    let seeded = Plan::Seeded(1);
    let (sums, spread) = (&mut Sums::default(), &mut Spread::new(vec![]));
    for (expected, message) in [
        ("a reduction must be one for shuffles, got one for draws", refused(&shuffles, seeded, &mut Draws::default())),
        (
            "the replicates must be shuffles (a seed, masks, codes or an exchange of runs), got indices",
            refused(&shuffles, Plan::Indices(&[0; 70], 70), sums),
        ),
        ("a reduction must be one for draws, got one for shuffles", refused(&draws, seeded, spread)),
        ("the replicates must be draws (a seed or indices), got masks", refused(&draws, Plan::Flips(&[0, 0]), sums)),
        ("the replicates must be draws (a seed or indices), got codes", refused(&draws, Plan::Codes(&[0; 70]), sums)),
    ] {
        assert_eq!(expected, message);
    }
    let samples = [Sample::without_formula(SuffStats::new(&[1, 2], 2, 1, 1).unwrap())];
    let resampler = with_run(1, |run| Resampler::prepare(&samples, Kind::Shuffles, run)).unwrap();
    let message = refused(&resampler, seeded, &mut Spread::new(vec![(0, 1)]));
    assert_eq!("a reduction must be Sums, because a sample has no metric, got one that reads scores", message);
    assert_eq!(None, resampler.scores());
}
