//! Tests that ranges run in parts and merged give the same bytes as one run.

use super::*;
use crate::metric::metric;
use crate::pool::Stop;
use crate::resample::bins::{Bins, Histogram};
use crate::resample::reduce::{
    Draws, Histograms, MaxT, Moments, PermutedTally, SequentialTally, Series, Spread, State, Statistics, Sums, Tally,
};
use crate::simd::Simd;
use crate::stream::{Purpose, Stream};
use proptest::prelude::*;

const PAIRS: [Pair; 3] = [(0, 1), (2, 0), (1, 2)];

/// Three systems under two metrics.
fn with_samples<T>(kind: Kind<'_>, body: impl FnOnce(&Resampler) -> T) -> T {
    with_samples_on(Simd::best(), kind, body)
}

fn with_samples_on<T>(simd: Simd, kind: Kind<'_>, body: impl FnOnce(&Resampler) -> T) -> T {
    let words = || Stream::new(93, Purpose::Draw, 0).values().map(|word| (word % 30) as i64);
    let (of_bleu, of_length): (Vec<i64>, Vec<i64>) =
        (words().take(3 * 70 * 10).collect(), words().take(3 * 70 * 2).collect());
    let samples = [("bleu", &of_bleu), ("length", &of_length)]
        .map(|(name, counts)| sample(metric(name, &[]).unwrap(), counts, 3));
    body(&with_run(1, |run| Resampler::prepare_on(simd, &samples, kind, run)).unwrap())
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

/// As [`merged_as`], where each part is sent to another process.
fn merged<R: Reduction + Ranged + State + Clone, T>(
    setup: (&Resampler, u64),
    reduction: &R,
    parts: &[Range<u64>],
    get: impl Fn(&R) -> T,
) -> [T; 3] {
    let sent = |computed: R| {
        let mut received = reduction.clone();
        received.set_state(&computed.state().unwrap()).unwrap();
        received
    };
    merged_as(setup, reduction, parts, sent, get)
}

/// Runs a reduction on the whole range and on each part, merges the parts from the left and from the right, and returns
/// the result of all three.
fn merged_as<R: Reduction + Ranged + Clone, T>(
    (resampler, seed): (&Resampler, u64),
    reduction: &R,
    parts: &[Range<u64>],
    sent: impl Fn(R) -> R,
    get: impl Fn(&R) -> T,
) -> [T; 3] {
    let computed = |range: Range<u64>, threads| {
        let mut reduction = reduction.clone();
        let plan = (Plan::Seeded(seed), range);
        with_run(threads, |run| resampler.run(plan, &mut [&mut reduction], run)).unwrap();
        reduction
    };
    let made: Vec<R> =
        parts.iter().zip((1..4).cycle()).map(|(part, threads)| sent(computed(part.clone(), threads))).collect();
    let mut from_the_left = made[0].clone();
    made[1..].iter().for_each(|later| from_the_left.merge(later, &Stop::never()).unwrap());
    let mut from_the_right = made[made.len() - 1].clone();
    for earlier in made[..made.len() - 1].iter().rev() {
        let mut both = earlier.clone();
        both.merge(&from_the_right, &Stop::never()).unwrap();
        from_the_right = both;
    }
    let whole = computed(parts[0].start..parts[parts.len() - 1].end, 2);
    [get(&whole), get(&from_the_left), get(&from_the_right)]
}

macro_rules! same {
    ($all:expr) => {{
        let [whole, from_the_left, from_the_right] = $all;
        prop_assert_eq!(&whole, &from_the_left);
        prop_assert_eq!(&whole, &from_the_right);
    }};
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_split_of_shuffles_equals_one_run_on_every_path(
        simd in prop::sample::select(Simd::tested()),
        first in prop::sample::select(vec![0u64, 0, 5, 64, 512, 700]),
        lengths in prop::collection::vec(1..12u64, 1..5),
        rest in 0..BATCH as u64,
        seed in any::<u64>(),
    ) {
        let parts = cut(first, &lengths, rest);
        with_samples_on(simd, Kind::Shuffles, |resampler| {
            let (pairs, setup) = (PAIRS.to_vec(), (resampler, seed));
            let thresholds = vec![0.5, 0.1, 1.0, 0.02, 0.03, 0.0];
            let tally = Tally::new(pairs.clone(), Alternative::TwoSided, thresholds.clone());
            same!(merged(setup, &tally, &parts, |tally| tally.counts().to_vec()));
            for families in [vec![0, 1], vec![0, 0]] {
                let scales = vec![1.0, 0.5, 0.7, 1.0, 2.0, 0.1];
                let max_t = MaxT::new(pairs.clone(), Alternative::Greater, scales, thresholds.clone(), families);
                same!(merged(setup, &max_t, &parts, |max_t| max_t.counts().to_vec()));
            }
            let spread = Spread::new(pairs.clone());
            same!(merged(setup, &spread, &parts, Spread::values));
            let series = Series::new(pairs.clone());
            same!(merged(setup, &series, &parts, |series| series.statistics().to_vec()));
            let sums = Sums::default();
            same!(merged(setup, &sums, &parts, |sums| sums.sums().to_vec()));
            for of in [Statistics::Shuffles, Statistics::HalfOfShuffles] {
                let histograms = Histograms::new(pairs.clone(), of);
                let get = |histograms: &Histograms| histograms.histograms().unwrap();
                let all = merged(setup, &histograms, &parts, get);
                prop_assert_eq!(&of_series(setup, &parts, of), &all[0]);
                same!(all);
            }
            if first == 0 {
                for rule in [Rule::BesagClifford { exceedances: 20 }, Rule::Gandy { level: 0.05, risk: 0.001 }] {
                    let tally = SequentialTally::new(pairs.clone(), Alternative::TwoSided, thresholds.clone(), rule).unwrap();
                    same!(merged_as(setup, &tally, &parts, |part| part, |tally| tally.outcomes().unwrap().to_vec()));
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn any_split_of_draws_equals_one_run_on_every_path(
        simd in prop::sample::select(Simd::tested()),
        first in prop::sample::select(vec![0u64, 5, 64, 700]),
        lengths in prop::collection::vec(1..8u64, 1..5),
        rest in 0..BATCH as u64,
        seed in any::<u64>(),
        strata in prop::sample::select(vec![vec![], vec![30, 40]]),
    ) {
        let parts = cut(first, &lengths, rest);
        with_samples_on(simd, Kind::Draws(&strata), |resampler| {
            let setup = (resampler, seed);
            same!(merged(setup, &Draws::default(), &parts, |draws| draws.scores().to_vec()));
            same!(merged(setup, &Sums::default(), &parts, |sums| sums.sums().to_vec()));
            let moments = |moments: &Moments| {
                let both = [moments.means(), moments.deviations()];
                both.map(|numbers| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            };
            same!(merged(setup, &Moments::default(), &parts, moments));
            Ok(())
        })?;
    }

    #[test]
    fn any_split_of_permutations_gives_the_same_histograms(
        simd in prop::sample::select(Simd::tested()),
        first in prop::sample::select(vec![0u64, 5, 64, 700]),
        lengths in prop::collection::vec(1..8u64, 1..5),
        rest in 0..BATCH as u64,
        seed in any::<u64>(),
    ) {
        let parts = cut(first, &lengths, rest);
        with_samples_on(simd, Kind::Permutations, |resampler| {
            let histograms = Histograms::new(PAIRS.to_vec(), Statistics::Permutations);
            let get = |histograms: &Histograms| histograms.histograms().unwrap();
            let all = merged((resampler, seed), &histograms, &parts, get);
            let n = parts[parts.len() - 1].end - first;
            let total = |histogram: &Option<Histogram>| histogram.unwrap().counts.iter().sum::<u64>();
            prop_assert!(all[0].iter().all(|histogram| total(histogram) == n));
            same!(all);
            Ok(())
        })?;
    }

    #[test]
    fn several_reductions_in_one_pass_equal_separate_runs(
        first in 0..700u64,
        n in 1..900usize,
        seed in any::<u64>(),
    ) {
        with_samples(Kind::Shuffles, |resampler| {
            let alone = |reduction: &mut dyn Reduction| {
                with_run(1, |run| resampler.run(seeded(seed, first, n), &mut [reduction], run)).unwrap();
            };
            let thresholds = vec![0.5, 0.1, 1.0, 0.02, 0.03, 0.0];
            let tally = || Tally::new(PAIRS.to_vec(), Alternative::Less, thresholds.clone());
            // Reductions with other pairs, which are scored separately.
            let (series, spread) = (|| Series::new(vec![(2, 1)]), || Spread::new(PAIRS.to_vec()));
            let rule = Rule::BesagClifford { exceedances: 3 };
            let sequential = || SequentialTally::new(PAIRS.to_vec(), Alternative::Less, thresholds.clone(), rule).unwrap();
            let mut together = (tally(), series(), spread(), Sums::default(), sequential());
            let (a, b, c, d, e) = (&mut together.0, &mut together.1, &mut together.2, &mut together.3, &mut together.4);
            with_run(2, |run| resampler.run(seeded(seed, first, n), &mut [a, b, c, d, e], run)).unwrap();
            let mut each = (tally(), series(), spread(), Sums::default(), sequential());
            alone(&mut each.0);
            alone(&mut each.1);
            alone(&mut each.2);
            alone(&mut each.3);
            alone(&mut each.4);
            prop_assert_eq!(each.0.counts(), together.0.counts());
            prop_assert_eq!(each.1.statistics(), together.1.statistics());
            prop_assert_eq!(each.2.values(), together.2.values());
            prop_assert_eq!(each.3.sums(), together.3.sums());
            prop_assert_eq!(each.4.outcomes().ok(), together.4.outcomes().ok());
            prop_assert_eq!(first == 0, each.4.outcomes().is_ok());
            Ok(())
        })?;
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

/// A state whose words are damaged is refused, or belongs to a reduction that can be saved, merged and read.
fn refused_or_used<R: Reduction + Ranged + State + Clone>(
    resampler: &Resampler,
    reduction: &R,
    damage: &[(usize, Damage)],
    read: impl Fn(&R),
) {
    let mut computed = reduction.clone();
    with_run(1, |run| resampler.run(seeded(7, 70, 200), &mut [&mut computed], run)).unwrap();
    let mut words = computed.state().unwrap();
    for (place, damage) in damage {
        let at = place % words.len().max(1);
        match *damage {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_damaged_state_is_refused_or_can_be_used(of in 0..10usize, damage in some_damage()) {
        let (pairs, thresholds) = (PAIRS.to_vec(), vec![0.5, 0.1, 1.0, 0.02, 0.03, 0.0]);
        let kind = match of {
            0..6 => Kind::Shuffles,
            6..8 => Kind::Draws(&[]),
            _ => Kind::Permutations,
        };
        let counts_fit = |counts: &[u64], replicates: Range<u64>| {
            assert!(counts.iter().all(|count| *count <= replicates.end - replicates.start));
        };
        with_samples(kind, |resampler| match of {
            0 => {
                let tally = Tally::new(pairs, Alternative::TwoSided, thresholds);
                let read = |tally: &Tally| counts_fit(tally.counts(), tally.replicates().unwrap());
                refused_or_used(resampler, &tally, &damage, read)
            }
            1 => {
                let max_t = MaxT::new(pairs, Alternative::Greater, vec![1.0; 6], thresholds, vec![0, 0]);
                let read = |max_t: &MaxT| counts_fit(max_t.counts(), max_t.replicates().unwrap());
                refused_or_used(resampler, &max_t, &damage, read)
            }
            2 => {
                let read = |spread: &Spread| assert_eq!(spread.shape().iter().product::<usize>(), spread.values().len());
                refused_or_used(resampler, &Spread::new(pairs), &damage, read)
            }
            3 => {
                let read = |series: &Series| {
                    let (tests, range) = (series.shape().iter().product::<usize>(), series.replicates().unwrap());
                    assert_eq!(tests * (range.end - range.start) as usize, series.statistics().len());
                };
                refused_or_used(resampler, &Series::new(pairs), &damage, read)
            }
            4 => {
                let read = |sums: &Sums| {
                    let range = sums.replicates().unwrap();
                    assert_eq!(sums.cells() * (range.end - range.start) as usize, sums.sums().len());
                };
                refused_or_used(resampler, &Sums::default(), &damage, read)
            }
            5 | 8 => {
                let of = if of == 8 { Statistics::Permutations } else { Statistics::HalfOfShuffles };
                let read = |histograms: &Histograms| {
                    let range = histograms.replicates().unwrap();
                    for histogram in histograms.histograms().unwrap().into_iter().flatten() {
                        assert!(histogram.counts.iter().sum::<u64>() <= 2 * (range.end - range.start));
                    }
                };
                refused_or_used(resampler, &Histograms::new(pairs, of), &damage, read)
            }
            6 => {
                let read = |draws: &Draws| {
                    let range = draws.replicates().unwrap();
                    assert_eq!(draws.systems() * (range.end - range.start) as usize, draws.scores().len());
                };
                refused_or_used(resampler, &Draws::default(), &damage, read)
            }
            7 => {
                let read = |moments: &Moments| assert_eq!(moments.means().len(), moments.deviations().len());
                refused_or_used(resampler, &Moments::default(), &damage, read)
            }
            _ => {
                let read = |tally: &PermutedTally| {
                    counts_fit(tally.counts(), tally.replicates().unwrap());
                    counts_fit(tally.range_counts(), tally.replicates().unwrap());
                };
                let tally = PermutedTally::new(pairs, thresholds);
                refused_or_used(resampler, &tally, &damage, read)
            }
        });
    }
}

#[test]
fn reductions_that_do_not_follow_or_differ_are_not_merged() {
    with_samples(Kind::Shuffles, |resampler| {
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
        let mut min_p = reduce::MinP::new(
            vec![(0, 1)],
            Alternative::TwoSided,
            (vec![0.0; 2], vec![0.0; 2]),
            vec![1; 2],
            vec![0, 0],
        );
        with_run(1, |run| min_p.run(resampler, seeded(1, 0, 10), run)).unwrap();
        let message = min_p.clone().merge(&min_p, &Stop::never()).unwrap_err().to_string();
        assert!(message.contains("run all shuffles at once"), "{message}");
        let late =
            SequentialTally::new(vec![(0, 1)], Alternative::Less, vec![0.0; 2], Rule::BesagClifford { exceedances: 1 });
        let mut late = late.unwrap();
        with_run(1, |run| resampler.run(seeded(1, 64, 10), &mut [&mut late], run)).unwrap();
        let message = late.outcomes().unwrap_err().to_string();
        assert!(message.ends_with("must be 0 (merge it with the shuffles before it), got 64"), "{message}");
    });
}

#[test]
fn reductions_and_plans_of_the_wrong_kind_are_refused() {
    let refused = |resampler: &Resampler, plan: Plan<'_>, reduction: &mut dyn Reduction| {
        with_run(1, |run| resampler.run((plan, 0..1), &mut [reduction], run)).unwrap_err().to_string()
    };
    with_samples(Kind::Shuffles, |resampler| {
        let message = refused(resampler, Plan::Seeded(1), &mut Draws::default());
        assert_eq!("a reduction must be one for shuffles, got one for draws", message);
        let message = refused(resampler, Plan::Indices(&[0; 70], 70), &mut Sums::default());
        assert_eq!(
            "the replicates must be shuffles (a seed, masks, codes or an exchange of runs), got indices",
            message
        );
    });
    with_samples(Kind::Draws(&[]), |resampler| {
        let message = refused(resampler, Plan::Seeded(1), &mut Spread::new(vec![]));
        assert_eq!("a reduction must be one for draws, got one for shuffles", message);
        assert_eq!(
            "the replicates must be draws (a seed or indices), got masks",
            refused(resampler, Plan::Flips(&[0, 0]), &mut Sums::default())
        );
        let codes = Plan::Codes(&[0; 70]);
        assert_eq!(
            "the replicates must be draws (a seed or indices), got codes",
            refused(resampler, codes, &mut Sums::default())
        );
    });
    let counts = [1, 2];
    let samples = [Sample::without_formula(SuffStats::new(&counts, 2, 1, 1).unwrap())];
    let resampler = with_run(1, |run| Resampler::prepare(&samples, Kind::Shuffles, run)).unwrap();
    let message = refused(&resampler, Plan::Seeded(1), &mut Spread::new(vec![(0, 1)]));
    assert_eq!("a reduction must be Sums, because a sample has no metric, got one that reads scores", message);
    assert_eq!(None, resampler.scores());
}
