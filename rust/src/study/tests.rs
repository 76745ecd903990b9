//! All paths give the same results. `tests/python/test_study_engine.py` compares them with tests of one test set.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Experiment, Population, Sampling, Selection, Shuffling};
use crate::error::{Error, Result};
use crate::metric::{Formula, Mean, metric};
use crate::pool::{stopped, with_run};
use crate::resample::reduce::Rule;
use crate::resample::tests::sample;
use crate::resample::{Alternative, Kind, Resampler, Sample, Shuffles};
use crate::simd::Simd;
use crate::stats::SuffStats;
use crate::stream::{Purpose, Stream};

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

fn sampling() -> impl Strategy<Value = Sampling> {
    prop_oneof![Just(Sampling::Replace), Just(Sampling::Subset), Just(Sampling::Fixed)]
}

proptest! {
    #![proptest_config(crate::testing::cases(3))]
    #[test]
    fn vector_instructions_and_threads_give_the_same_bytes(
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
        let results = |simd: Simd, threads: usize| {
            with_run(threads, |run| {
                let population = Population::new(&samples, None, run)?;
                let experiment = Experiment::on(simd, vec![population], selection, seed)?;
                let range = first..first + 3;
                let scores = experiment.scores(range.clone(), run)?;
                let thresholds: Vec<f64> = scores.chunks_exact(2).map(|both| (both[0] - both[1]).abs()).collect();
                let criterion = (Alternative::TwoSided, thresholds.as_slice());
                let (mut counts, mut outcomes) = (Vec::new(), Vec::new());
                for studentized in [false, true] {
                    for (shuffles, n) in [(Shuffles::Independent, 70), (Shuffles::Subgroup, 1 << bits)] {
                        let shuffling = Shuffling { shuffles, studentized, n };
                        counts.push(experiment.exceedances(shuffling, criterion, range.clone(), run)?);
                    }
                    let rule = Rule::BesagClifford { exceedances };
                    outcomes.push(experiment.sequential(rule, (studentized, 300), criterion, range.clone(), run)?);
                }
                let parts = experiment.error_parts(range.clone(), run)?;
                let draws = [None, Some(2)].map(|sets| experiment.draws(70, sets, range.clone(), run).unwrap());
                Ok::<_, Error>((scores, counts, outcomes, parts, draws))
            })
        };
        let expected = results(Simd::Portable, 1).unwrap();
        for simd in Simd::tested() {
            prop_assert_eq!(&expected, &results(simd, threads).unwrap(), "{:?}", simd);
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
        let shuffling = Shuffling { shuffles, studentized: false, n: 64 };
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
            let shuffling = Shuffling { shuffles: Shuffles::Independent, studentized: false, n };
            experiment.exceedances(shuffling, criterion, 0..1, run)
        })
    };
    assert!(matches!(run(9, &[0.0]), Err(Error::LengthMismatch { expected: 3, got: 1, .. })));
    assert!(matches!(run(0, &[0.0; 3]), Err(Error::Empty { .. })));
    assert!(matches!(run(9, &[0.0, 0.0, f64::NAN]), Err(Error::InvalidOption { .. })));
    let criterion = (Alternative::TwoSided, [0.0; 3].as_slice());
    let never = Rule::BesagClifford { exceedances: 0 };
    let sequential = with_run(1, |run| experiment.sequential(never, (false, 9), criterion, 0..1, run));
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
