use std::sync::Arc;

use super::*;
use crate::metric::metric;
use crate::resample::tests::{Replicates, reduced, sample, seeded};
use crate::resample::{Alternative, Kind, Sample};
use crate::stream::{Purpose, Stream};
use proptest::prelude::*;

const H: u64 = 20;
const RULES: [Rule; 4] = [
    Rule::BesagClifford { exceedances: H },
    Rule::BesagClifford { exceedances: 1 },
    Rule::Gandy { level: 0.05, risk: 0.001 },
    Rule::Gandy { level: 0.3, risk: 0.25 },
];

/// The slow, obvious way: one test, one shuffle after another.
fn one_by_one(rule: Rule, reached: impl IntoIterator<Item = bool>) -> Outcome {
    let mut outcome = Outcome::default();
    for (reached, limits) in reached.into_iter().zip(rule.limits()) {
        outcome.shuffles += 1;
        outcome.exceedances += u64::from(reached);
        let count = outcome.exceedances as i64;
        if count <= limits.low || count >= limits.high {
            outcome.stopped = true;
            break;
        }
    }
    outcome
}

/// Gandy's definition, literally, over all patterns of `n` shuffles.
fn limits_by_enumeration(level: f64, risk: f64, n: usize) -> Vec<Limits> {
    let mut limits: Vec<Limits> = Vec::new();
    for n in 1..=n {
        let [mut low, mut high] = [0.0; 2];
        let mut running = vec![0.0; n + 1];
        for pattern in 0..1u32 << n {
            let ones = |first: usize| i64::from((pattern & ((1 << first) - 1)).count_ones());
            let count = ones(n) as usize;
            let p = level.powi(count as i32) * (1.0 - level).powi((n - count) as i32);
            let stop = limits.iter().enumerate().find_map(|(i, l)| {
                let count = ones(i + 1);
                (count <= l.low || count >= l.high).then_some(count >= l.high)
            });
            *match stop {
                None => &mut running[count],
                Some(false) => &mut low,
                Some(true) => &mut high,
            } += p;
        }
        let spent = risk * n as f64 / (1000.0 + n as f64);
        let fits = |spent_before: f64, more: &[f64]| spent_before + more.iter().sum::<f64>() <= spent;
        limits.push(Limits {
            low: (-1..=n as i64).rfind(|&j| fits(low, &running[..(j + 1) as usize])).unwrap(),
            high: (0..=n as i64 + 1).find(|&j| fits(high, &running[j as usize..])).unwrap(),
        });
    }
    limits
}

#[test]
fn gandys_limits_follow_his_definition() {
    for (level, risk) in [(0.05, 0.001), (0.3, 0.25), (0.5, 0.25), (0.9, 0.1)] {
        let n = 14;
        let expected = limits_by_enumeration(level, risk, n);
        let got: Vec<_> = Rule::Gandy { level, risk }.limits().take(n).collect();
        assert_eq!(expected, got, "{level} {risk}");
    }
}

#[test]
fn a_wrong_decision_is_no_more_likely_than_the_risk() {
    // Computed exactly, for p on either side of the level and at it, within the first 3,000 shuffles.
    let (level, risk) = (0.05, 0.001);
    let limits: Vec<_> = Rule::Gandy { level, risk }.limits().take(3000).collect();
    for (p, small) in [(0.04, true), (0.05, true), (0.05, false), (0.051, false), (0.07, false)] {
        let (mut running, mut wrong) = (vec![1.0], 0.0);
        for limits in &limits {
            running.push(0.0);
            for count in (0..running.len()).rev() {
                running[count] = running[count] * (1.0 - p) + if count == 0 { 0.0 } else { running[count - 1] * p };
            }
            for (count, probability) in running.iter_mut().enumerate() {
                let (below, above) = (count as i64 <= limits.low, count as i64 >= limits.high);
                if below || above {
                    wrong += if above == small { *probability } else { 0.0 };
                    *probability = 0.0;
                }
            }
        }
        assert!(wrong <= risk * 3000.0 / 4000.0 + 1e-12, "{p}: {wrong}");
        // At the level nearly all of the risk is spent; counts are whole numbers, so some is left.
        assert!(p != level || wrong > 0.6 * risk, "{p}: {wrong}");
    }
}

proptest! {
    #![proptest_config(crate::testing::cases(32))]
    #[test]
    fn examining_64_shuffles_at_a_time_stops_where_examining_each_does(
        seed in any::<u64>(),
        n in 1..3000usize,
        at_a_time in 1..400usize,
        p in 0.0..1.0f64,
        rule in 0..RULES.len(),
    ) {
        let tests = 5;
        // p-values of different size, so that tests stop at different times.
        let computed = |test: usize| {
            let words = Stream::new(seed, Purpose::Shuffle, test as u64).values().take(n);
            words.map(|word| (word as f64) < p.powi(test as i32 + 1) * u64::MAX as f64).collect::<Vec<_>>()
        };
        let reached: Vec<_> = (0..tests).map(computed).collect();
        let mut sequential = Sequential::new(RULES[rule], tests).unwrap();
        for first in (0..n).step_by(at_a_time) {
            let last = n.min(first + at_a_time);
            sequential.update(last - first, |test, word| {
                let from = first + 64 * word;
                let bits = &reached[test][from..last.min(from + 64)];
                bits.iter().enumerate().fold(0, |word, (i, &bit)| word | u64::from(bit) << i)
            });
        }
        let expected: Vec<_> = reached.iter().map(|of| one_by_one(RULES[rule], of.iter().copied())).collect();
        prop_assert_eq!(&expected, sequential.outcomes());
        prop_assert_eq!(expected.iter().all(|outcome| outcome.stopped), sequential.finished());
    }
}

fn tallied(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternative, thresholds): (Alternative, &[f64]),
    rule: Rule,
    replicates: Replicates<'_>,
    threads: usize,
) -> SequentialTally {
    let tally = SequentialTally::new(pairs.to_vec(), alternative, thresholds.to_vec(), rule).unwrap();
    reduced((samples, Kind::Shuffles), tally.with_histograms(), replicates, threads).unwrap()
}

/// BLEU-like counts of systems, the first of which is better.
fn counts(systems: usize, segments: usize) -> Vec<i64> {
    let mut words = Stream::new(7, Purpose::Draw, 0).values();
    let mut of_system = |system: usize| -> Vec<i64> {
        (0..10 * segments).map(|_| (words.next().unwrap() % 30) as i64 + i64::from(system == 0)).collect()
    };
    (0..systems).flat_map(&mut of_system).collect()
}

#[test]
fn a_statistic_equal_to_its_threshold_is_an_exceedance_and_a_count_equal_to_a_limit_stops() {
    // One pair of equal systems: every statistic is 0.
    let mean = crate::metric::Mean::new("x".into(), 1.0, true);
    let scored = [sample(Arc::new(mean), &[3, 1, 1, 1, 3, 1, 1, 1], 2)];
    let computed = |alternative, threshold: f64, exceedances| {
        let (rule, plan) = (Rule::BesagClifford { exceedances }, seeded(1, 0, 50));
        tallied(&scored, &[(0, 1)], (alternative, &[threshold]), rule, plan, 1).outcomes().unwrap()[0]
    };
    let above = f64::MIN_POSITIVE;
    for (alternative, below, beyond) in
        [(Alternative::TwoSided, 0.0, above), (Alternative::Greater, 0.0, above), (Alternative::Less, 0.0, -above)]
    {
        assert_eq!(Outcome { shuffles: 7, exceedances: 7, stopped: true }, computed(alternative, below, 7));
        assert_eq!(Outcome { shuffles: 50, exceedances: 50, stopped: true }, computed(alternative, below, 50));
        assert_eq!(Outcome { shuffles: 50, exceedances: 50, stopped: false }, computed(alternative, below, 51));
        assert_eq!(Outcome { shuffles: 50, exceedances: 0, stopped: false }, computed(alternative, beyond, 1));
    }
}

#[test]
fn only_a_few_blocks_of_shuffles_are_made_ahead() {
    // This many shuffles would take years, but all tests stop within the first block.
    let bleu = metric("bleu", &[]).unwrap();
    let counts = counts(2, 300);
    let scored = [sample(bleu.clone(), &counts, 2)];
    for rule in RULES {
        let criterion = (Alternative::TwoSided, [0.0].as_slice());
        let tally = tallied(&scored, &[(0, 1)], criterion, rule, seeded(3, 0, 1 << 50), 2);
        let got = tally.outcomes().unwrap();
        assert!(got[0].stopped && got[0].shuffles <= H, "{got:?}");
        assert_eq!(got[0].shuffles, got[0].exceedances);
    }
}

#[test]
fn invalid_rules_are_refused() {
    for (rule, message) in [
        (Rule::BesagClifford { exceedances: 0 }, "exceedances must be at least 1, got 0"),
        (Rule::Gandy { level: 1.0, risk: 0.1 }, "level must be strictly between 0 and 1, got 1"),
        (Rule::Gandy { level: f64::NAN, risk: 0.1 }, "level must be strictly between 0 and 1, got NaN"),
        (Rule::Gandy { level: 0.5, risk: 0.3 }, "risk must be more than 0 and at most 0.25, got 0.3"),
        (Rule::Gandy { level: 0.5, risk: 0.0 }, "risk must be more than 0 and at most 0.25, got 0"),
    ] {
        assert_eq!(message, rule.checked().unwrap_err().to_string());
    }
}
