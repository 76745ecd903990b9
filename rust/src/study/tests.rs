//! Simulations equal resamplers of one simulated test set after another, on every path.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Experiment, Population, Sampling, Selection, Shuffling, Statistic};
use crate::error::{Error, Result};
use crate::metric::{Formula, Mean, Studentized, metric};
use crate::pool::{stopped, with_run};
use crate::resample::reduce::{Outcome, Rule, SequentialTally};
use crate::resample::studentize::{Both, Cross};
use crate::resample::tests::{reduced, sample, scores, seeded, tally};
use crate::resample::{Alternative, Kind, Plan, Resampler, Sample, Shuffles, random_codes};
use crate::simd::Simd;
use crate::stats::SuffStats;
use crate::stream::{Purpose, Stream, derive};

/// The counts of two systems under a metric.
struct Counted {
    formula: Arc<dyn Formula>,
    /// System by system, unit by unit.
    counts: Vec<i64>,
}

impl Counted {
    fn sample(&self, units: usize) -> Sample<'_> {
        let sample = sample(self.formula.clone(), &self.counts, 2);
        assert_eq!(units, sample.stats.segments());
        sample
    }

    /// The counts of a simulated test set.
    fn chosen(&self, (units, swapped): &(Vec<u32>, Vec<bool>)) -> Counted {
        let (width, all) = (self.formula.width(), self.counts.len() / 2);
        let row = |system: bool, unit: u32| &self.counts[usize::from(system) * all + unit as usize * width..][..width];
        let of = |system: bool| units.iter().zip(swapped).flat_map(move |(&unit, &swap)| row(swap ^ system, unit));
        Counted { formula: self.formula.clone(), counts: of(false).chain(of(true)).copied().collect() }
    }
}

/// BLEU counts with many or few short segments, real numbers in fixed point, and many columns, some with large counts.
fn counted(seed: u64, units: usize, largest: u64) -> Vec<Counted> {
    let numbers = |index: u64| Stream::new(seed, Purpose::Shuffle, index).values();
    let references: Vec<i64> = numbers(0).take(units).map(|word| (word % 30) as i64).collect();
    // A cell that equals another one but in one unit of 64 has exceptions: those of few short segments.
    let of_short = if seed.is_multiple_of(2) { 8 } else { 150 };
    let bleu = (1..=2).flat_map(|system| {
        let mut numbers = numbers(system);
        let mut number = move |below: i64| (numbers.next().unwrap() % below.max(1) as u64) as i64;
        let rows = references.iter().flat_map(move |&reference| {
            let length = if number(of_short) == 0 { number(4) } else { 4 + number(20) };
            let possible = [0, 1, 2, 3].map(|less| (length - less).max(0));
            let matches = possible.map(|possible| number(possible + 1));
            [[length, reference].as_slice(), &matches, &possible].concat()
        });
        rows.collect::<Vec<_>>()
    });
    let mean = numbers(3).take(2 * units).flat_map(|word| [word as i64 >> 20, 1]).collect();
    let wide = numbers(4).take(2 * units * 18).map(|word| (word % (largest + 1)) as i64).collect();
    vec![
        Counted { formula: metric("bleu", &[]).unwrap(), counts: bleu.collect() },
        Counted { formula: Arc::new(Mean::new("mean".into(), 1.0, true)), counts: mean },
        Counted { formula: metric("chrf", &[]).unwrap(), counts: wide },
    ]
}

/// The numbers of shuffles that reach the thresholds and the scores on draws of one test set.
fn alone(
    counted: &[Counted],
    units: usize,
    (alternative, thresholds): (Alternative, Vec<f64>),
    (shuffles, plan): (usize, Plan<'_>),
    (draws, seed): (usize, u64),
) -> (Vec<u64>, Vec<f64>) {
    let samples: Vec<_> = counted.iter().map(|counted| counted.sample(units)).collect();
    let tally = tally(&samples, &[(0, 1)], (alternative, &thresholds), (plan, 0..shuffles as u64), 1);
    (tally.unwrap(), scores(&samples, &[], seeded(seed, 0, draws), 1).unwrap())
}

/// The outcomes of the sequential tests of one test set.
fn alone_until_stopped(
    counted: &[Counted],
    units: usize,
    (rule, thresholds): (Rule, Vec<f64>),
    (shuffles, seed): (usize, u64),
) -> Vec<Outcome> {
    let samples: Vec<_> = counted.iter().map(|counted| counted.sample(units)).collect();
    let tally = SequentialTally::new(vec![(0, 1)], Alternative::TwoSided, thresholds, rule).unwrap();
    let tally = reduced((&samples, Kind::Shuffles), tally, seeded(seed, 0, shuffles), 1).unwrap();
    tally.outcomes().unwrap().to_vec()
}

fn sampling() -> impl Strategy<Value = Sampling> {
    prop_oneof![Just(Sampling::Replace), Just(Sampling::Subset), Just(Sampling::Fixed)]
}

proptest! {
    #![proptest_config(crate::testing::cases(3))]
    #[test]
    fn simulations_equal_resamplers_of_their_test_sets(
        (seed, first) in (any::<u64>(), 0..1u64 << 40),
        (units, size) in (2..150usize, 2..135usize),
        (sampling, swapped) in (sampling(), prop_oneof![Just(0), Just(1 << 31), Just(1u64 << 32), Just(1 << 29)]),
        bits in 0..9u32,
        largest in prop_oneof![Just(3u64), Just(300), Just(1 << 15), Just(1 << 40)],
        (threads, exceedances) in (1..4usize, 1..40u64),
    ) {
        let counted = counted(seed, units, largest);
        let samples: Vec<_> = counted.iter().map(|counted| counted.sample(units)).collect();
        let size = (sampling != Sampling::Fixed).then_some(size.min(units));
        let selection = Selection { sampling, size, swapped };
        let (n, draws, shuffles) = (3, 70, 1usize << bits);
        for simd in Simd::tested() {
            let population = with_run(1, |run| Population::new(&samples, None, run)).unwrap();
            let experiment = Experiment::on(simd, vec![population], selection, seed).unwrap();
            let range = first..first + n;
            let observed = with_run(threads, |run| experiment.scores(range.clone(), run)).unwrap();
            let thresholds: Vec<f64> = observed.chunks_exact(2).map(|both| (both[0] - both[1]).abs()).collect();
            let criterion = (Alternative::TwoSided, thresholds.as_slice());
            let count = |shuffles: Shuffles, n: usize| {
                let shuffling = Shuffling { shuffles, statistic: Statistic::Difference, n };
                with_run(threads, |run| experiment.exceedances(shuffling, criterion, range.clone(), run)).unwrap()
            };
            let (independent, group) = (count(Shuffles::Independent, draws), count(Shuffles::Subgroup, shuffles));
            let (rule, most) = (Rule::BesagClifford { exceedances }, 600);
            let stopped =
                with_run(threads, |run| experiment.sequential(rule, Statistic::Difference, most, criterion, range.clone(), run)).unwrap();
            let drawn = with_run(threads, |run| experiment.draws(draws, None, range.clone(), run)).unwrap();
            let shared = with_run(threads, |run| experiment.draws(draws, Some(2), range.clone(), run)).unwrap();
            for (i, simulation) in range.clone().enumerate() {
                let chosen = experiment.chosen(simulation).unwrap();
                let own: Vec<_> = counted.iter().map(|counted| counted.chosen(&chosen)).collect();
                let of = |all: &[u64]| (0..3).map(|metric| all[metric * n as usize + i]).collect::<Vec<_>>();
                let of_draws = |all: &[f64]| {
                    let place = |metric: usize| (metric * n as usize + i) * 2 * draws;
                    (0..3).flat_map(|metric| all[place(metric)..][..2 * draws].to_vec()).collect::<Vec<_>>()
                };
                let thresholds = || (0..3).map(|metric| thresholds[metric * n as usize + i]).collect();
                let units = chosen.0.len();
                let seed_of = |simulation| derive(seed, "simulation", simulation).unwrap();
                let seeded = Plan::Seeded(seed_of(simulation));
                let codes = random_codes(seed_of(simulation), units);
                let expected = alone_until_stopped(&own, units, (rule, thresholds()), (most, seed_of(simulation)));
                let found = (0..3).map(|metric| stopped[metric * n as usize + i]).collect::<Vec<_>>();
                prop_assert_eq!(expected, found, "{:?}", simd);
                let (expected, scores) = alone(
                    &own, units, (Alternative::TwoSided, thresholds()), (draws, seeded), (draws, seed_of(simulation)),
                );
                prop_assert_eq!(expected, of(&independent), "{:?}", simd);
                prop_assert_eq!(scores, of_draws(&drawn), "{:?}", simd);
                let (expected, scores) = alone(
                    &own, units, (Alternative::TwoSided, thresholds()), (shuffles, Plan::Codes(&codes)),
                    (draws, seed_of(simulation % 2)),
                );
                prop_assert_eq!(expected, of(&group), "{:?}", simd);
                prop_assert_eq!(scores, of_draws(&shared), "{:?}", simd);
            }
        }
    }

    #[test]
    fn groups_are_chosen_whole(seed in any::<u64>(), groups in prop::collection::vec(0..6u32, 6..60)) {
        // Groups are numbered without gaps.
        let mut groups = groups;
        groups.extend(0..6);
        let counted = counted(seed, groups.len(), 9);
        let samples = [counted[1].sample(groups.len())];
        let population = with_run(1, |run| Population::new(&samples, Some(&groups), run)).unwrap();
        let selection = Selection { sampling: Sampling::Replace, size: Some(4), swapped: 1 << 31 };
        let experiment = Experiment::new(vec![population], selection, seed).unwrap();
        let (units, swapped) = experiment.chosen(3).unwrap();
        let mut rest = units.iter().zip(&swapped).peekable();
        for _ in 0..4 {
            let &(&first, &swap) = rest.peek().unwrap();
            let group = groups[first as usize];
            for member in (0..groups.len() as u32).filter(|&unit| groups[unit as usize] == group) {
                prop_assert_eq!(Some((&member, &swap)), rest.next());
            }
        }
        prop_assert!(rest.next().is_none());
    }
}

/// Counts with cross columns, the sums of both systems, and whether shuffles follow the difference.
fn with_cross_columns(counted: &Counted, units: usize) -> (Counted, [Vec<i64>; 2], bool, Arc<Studentized>) {
    let width = counted.formula.width();
    let (a, b) = counted.counts.split_at(units * width);
    let cross = with_run(1, |run| {
        run.serial(|stop, _| {
            let both = Both::from_rows(a, b, width, stop)?;
            Cross::of_formula(counted.formula.as_ref(), &both, stop)
        })
    });
    let cross = cross.unwrap();
    let formula = Arc::new(Studentized::new(counted.formula.clone(), cross.constants.clone()).unwrap());
    let mut columns = Vec::new();
    cross
        .columns(&[], |column| {
            columns.push(column.to_vec());
            Ok(())
        })
        .unwrap();
    let rows = |counts: &[i64], sign: i64| -> Vec<i64> {
        let row = |unit: usize| {
            let own = counts[unit * width..][..width].iter().copied();
            own.chain(columns.iter().map(move |column| sign * column[unit])).collect::<Vec<_>>()
        };
        (0..units).flat_map(row).collect()
    };
    let both = [rows(a, 1), rows(b, 0)];
    let all = formula.width();
    let totals = both.each_ref().map(|rows| (0..all).map(|k| rows.iter().skip(k).step_by(all).sum()).collect());
    (Counted { formula: formula.clone(), counts: both.concat() }, totals, cross.follows_difference, formula)
}

proptest! {
    #![proptest_config(crate::testing::cases(3))]
    #[test]
    fn studentized_simulations_equal_resamplers_of_their_test_sets(
        (seed, first) in (any::<u64>(), 0..1u64 << 40),
        (units, size) in (2..150usize, 2..135usize),
        (sampling, swapped) in (sampling(), prop_oneof![Just(0), Just(1 << 31), Just(1u64 << 32)]),
        bits in 0..9u32,
        largest in prop_oneof![Just(3u64), Just(300), Just(1 << 15), Just(1 << 40)],
        (threads, exceedances) in (1..4usize, 1..40u64),
    ) {
        let counted = counted(seed, units, largest);
        let samples: Vec<_> = counted.iter().map(|counted| counted.sample(units)).collect();
        let size = (sampling != Sampling::Fixed).then_some(size.min(units));
        let selection = Selection { sampling, size, swapped };
        let (n, shuffles, group) = (3usize, 70, 1usize << bits);
        let range = first..first + n as u64;
        for simd in Simd::tested() {
            let population = with_run(1, |run| Population::new(&samples, None, run)).unwrap();
            let experiment = Experiment::on(simd, vec![population], selection, seed).unwrap();
            let parts = with_run(threads, |run| experiment.error_parts(range.clone(), run)).unwrap();
            // Each test set alone.
            let alone_of = |simulation: u64| {
                let chosen = experiment.chosen(simulation).unwrap();
                let of = |counted: &Counted| {
                    let own = counted.chosen(&chosen);
                    let (crossed, [x, y], follows, formula) = with_cross_columns(&own, chosen.0.len());
                    let mut statistic = [0.0];
                    formula.statistics(&x, &y, &mut statistic);
                    let parts = formula.parts(&x, &y, 1);
                    let difference = parts.scores[0][0] - parts.scores[1][0];
                    // Where shuffles follow the difference, it is what they are compared by.
                    let (own, threshold) = if follows { (own, difference) } else { (crossed, statistic[0]) };
                    (own, threshold.abs(), (parts.variances[0], parts.sizes[0], follows))
                };
                (counted.iter().map(of).collect::<Vec<_>>(), chosen.0.len())
            };
            let sets: Vec<_> = range.clone().map(alone_of).collect();
            let thresholds: Vec<f64> = (0..3).flat_map(|metric| sets.iter().map(move |(set, _)| set[metric].1)).collect();
            let criterion = (Alternative::TwoSided, thresholds.as_slice());
            let count = |shuffles: Shuffles, n: usize| {
                let shuffling = Shuffling { shuffles, statistic: Statistic::Studentized, n };
                with_run(threads, |run| experiment.exceedances(shuffling, criterion, range.clone(), run)).unwrap()
            };
            let (independent, in_group) = (count(Shuffles::Independent, shuffles), count(Shuffles::Subgroup, group));
            let (rule, most) = (Rule::BesagClifford { exceedances }, 300);
            let stopped = with_run(threads, |run| {
                experiment.sequential(rule, Statistic::Studentized, most, criterion, range.clone(), run)
            }).unwrap();
            for (i, (set, units)) in sets.iter().enumerate() {
                let at = |metric: usize| metric * n + i;
                for (metric, (_, _, expected)) in set.iter().enumerate() {
                    let got = parts[at(metric)];
                    prop_assert_eq!(*expected, (got.variance, got.size, got.follows_difference), "{:?}", simd);
                }
                let own: Vec<_> = set
                    .iter()
                    .map(|(own, ..)| Counted { formula: own.formula.clone(), counts: own.counts.clone() })
                    .collect();
                let thresholds = || set.iter().map(|(_, threshold, _)| *threshold).collect::<Vec<_>>();
                let seed = derive(seed, "simulation", first + i as u64).unwrap();
                let codes = random_codes(seed, *units);
                for (plan, how_many, found) in
                    [(Plan::Seeded(seed), shuffles, &independent), (Plan::Codes(&codes), group, &in_group)]
                {
                    let (expected, _) =
                        alone(&own, *units, (Alternative::TwoSided, thresholds()), (how_many, plan), (1, seed));
                    prop_assert_eq!(expected, (0..3).map(|metric| found[at(metric)]).collect::<Vec<_>>(), "{:?}", simd);
                }
                let expected = alone_until_stopped(&own, *units, (rule, thresholds()), (most, seed));
                prop_assert_eq!(expected, (0..3).map(|metric| stopped[at(metric)]).collect::<Vec<_>>(), "{:?}", simd);
            }
        }
    }
}

#[test]
fn sums_of_small_numbers_do_not_overflow() {
    // 70,000 times 32,767 exceeds 31 bits.
    let units = 70_000;
    let counts = [vec![32_767; 2 * units], vec![-32_768 / 2; 2 * units]].concat();
    let counted = Counted { formula: Arc::new(Mean::new("mean".into(), 1.0, true)), counts };
    let population = with_run(1, |run| Population::new(&[counted.sample(units)], None, run)).unwrap();
    let selection = Selection { sampling: Sampling::Fixed, size: None, swapped: 0 };
    let experiment = Experiment::new(vec![population], selection, 1).unwrap();
    let scores = with_run(1, |run| experiment.scores(0..1, run)).unwrap();
    let alone = with_run(1, |run| Resampler::prepare(&[counted.sample(units)], Kind::Shuffles, run)).unwrap();
    assert_eq!(alone.scores().unwrap()[0], scores);
    let count = |shuffles| {
        let criterion = (Alternative::TwoSided, [0.0].as_slice());
        let shuffling = Shuffling { shuffles, statistic: Statistic::Difference, n: 64 };
        with_run(1, |run| experiment.exceedances(shuffling, criterion, 0..1, run)).unwrap()
    };
    assert_eq!([vec![64], vec![64]], [Shuffles::Independent, Shuffles::Subgroup].map(count));
}

#[test]
fn invalid_experiments_are_refused() {
    let counted = counted(1, 10, 9);
    let samples: Vec<_> = counted.iter().map(|counted| counted.sample(10)).collect();
    let of = |samples: &[Sample<'_>], groups: Option<&[u32]>| {
        with_run(1, |run| Population::new(samples, groups, run)).map(|_| ())
    };
    assert!(matches!(of(&[], None), Err(Error::Empty { .. })));
    assert!(matches!(of(&samples, Some(&[0, 1])), Err(Error::LengthMismatch { expected: 10, got: 2, .. })));
    let stats = SuffStats::new(&counted[1].counts, 4, 5, 2).unwrap();
    let four = Sample::new(counted[1].formula.clone(), stats).unwrap();
    assert!(matches!(of(&[four], None), Err(Error::LengthMismatch { expected: 2, got: 4, .. })));
    let selection = Selection { sampling: Sampling::Fixed, size: None, swapped: 0 };
    assert!(matches!(Experiment::new(Vec::new(), selection, 1), Err(Error::Empty { .. })));
    let population = || with_run(1, |run| Population::new(&samples, None, run)).unwrap();
    let one = with_run(1, |run| Population::new(&samples[..1], None, run)).unwrap();
    let differ = Experiment::new(vec![population(), one], selection, 1);
    assert!(matches!(differ, Err(Error::LengthMismatch { expected: 3, got: 1, .. })));
    let experiment = Experiment::new(vec![population()], selection, 1).unwrap();
    let run = |n: usize, thresholds: &[f64]| {
        let criterion = (Alternative::TwoSided, thresholds);
        with_run(1, |run| {
            let shuffling = Shuffling { shuffles: Shuffles::Independent, statistic: Statistic::Difference, n };
            experiment.exceedances(shuffling, criterion, 0..1, run)
        })
    };
    assert!(matches!(run(9, &[0.0]), Err(Error::LengthMismatch { expected: 3, got: 1, .. })));
    assert!(matches!(run(0, &[0.0; 3]), Err(Error::Empty { .. })));
    assert!(matches!(run(9, &[0.0, 0.0, f64::NAN]), Err(Error::InvalidOption { .. })));
    let criterion = (Alternative::TwoSided, [0.0; 3].as_slice());
    let never = Rule::BesagClifford { exceedances: 0 };
    let sequential = with_run(1, |run| experiment.sequential(never, Statistic::Difference, 9, criterion, 0..1, run));
    assert!(matches!(sequential, Err(Error::InvalidOption { .. })));
    let draws = with_run(1, |run| experiment.draws(9, Some(0), 0..1, run));
    assert!(matches!(draws, Err(Error::InvalidOption { .. })));
    let bare: Vec<_> = counted.iter().map(|counted| Sample::without_formula(counted.sample(10).stats)).collect();
    let population = with_run(1, |run| Population::new(&bare, None, run)).unwrap();
    let experiment = Experiment::new(vec![population], selection, 1).unwrap();
    let scores: Result<_> = with_run(1, |run| experiment.scores(0..1, run));
    assert!(matches!(scores, Err(Error::InvalidOption { .. })));
}

#[test]
fn a_run_can_be_interrupted() {
    let counted = counted(1, 100, 9);
    let samples: Vec<_> = counted.iter().map(|counted| counted.sample(100)).collect();
    let population = with_run(1, |run| Population::new(&samples, None, run)).unwrap();
    let selection = Selection { sampling: Sampling::Replace, size: None, swapped: 1 << 31 };
    let experiment = Experiment::new(vec![population], selection, 1).unwrap();
    for threads in [1, 3] {
        let stopped = stopped(threads, 1, |run| experiment.draws(1000, None, 0..20_000, run));
        assert!(matches!(stopped, Err(Error::Interrupted)), "{threads}");
    }
}
