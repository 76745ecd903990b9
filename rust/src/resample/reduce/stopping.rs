//! Sequential stopping: a test takes no more shuffles than its p-value needs.
//!
//! Shuffles are examined one by one, in the order of their numbers. A test stops at the first shuffle after which its
//! number of exceedances leaves the limits of a [`Rule`]. Threads make blocks of shuffles ahead, but shuffles after a
//! stop are ignored, so where a test stops depends on the seed alone. Stopped tests are no longer scored, and when all
//! tests have stopped, no more shuffles are made.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    Accumulate, Alternatives, Criteria, Input, Pair, Partial, Ranged, Reduction, Shape, Span, Stages, check_same,
    cleared,
};
use crate::error::{Error, Result};
use crate::memory::{reserved, resize, zeros};
use crate::pool::{PIECE, Stop};
use crate::resample::bins::{Bins, Histogram};
use crate::resample::length;
use crate::simd::Simd;

/// A rule for when to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// At the `exceedances`-th exceedance (Besag & Clifford 1991, doi:10.1093/biomet/78.2.301).
    BesagClifford {
        /// h, at least 1.
        exceedances: u64,
    },
    /// As soon as it is decided whether p lies above or below `level` (Gandy 2009, doi:10.1198/jasa.2009.tm08368). For
    /// any p, the probability of a wrong decision is at most `risk`.
    Gandy {
        /// α, strictly between 0 and 1.
        level: f64,
        /// ε, above 0, at most ¼.
        risk: f64,
    },
}

/// The number of shuffles after which half of Gandy's risk may have been spent: k in his paper.
const HALF_RISK_SHUFFLES: f64 = 1000.0;

impl Rule {
    /// The rule itself, if its parameters are valid.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if they are not.
    pub fn checked(self) -> Result<Self> {
        let refused = |option: &str, expected: &str, got: String| Err(Error::invalid(option, expected, got));
        match self {
            Rule::BesagClifford { exceedances: 0 } => refused("exceedances", "at least 1", "0".into()),
            Rule::Gandy { level, .. } if !(level > 0.0 && level < 1.0) => {
                refused("level", "strictly between 0 and 1", level.to_string())
            }
            Rule::Gandy { risk, .. } if !(risk > 0.0 && risk <= 0.25) => {
                refused("risk", "more than 0 and at most 0.25", risk.to_string())
            }
            _ => Ok(self),
        }
    }

    /// The limits after shuffles 1, 2 …
    pub fn limits(self) -> Boundaries {
        match self {
            Rule::BesagClifford { exceedances } => {
                Boundaries::Constant(Limits { low: -1, high: i64::try_from(exceedances).unwrap_or(i64::MAX) })
            }
            Rule::Gandy { level, risk } => Boundaries::Gandy(Gandy {
                level,
                risk,
                n: 0,
                first: 0,
                running: vec![1.0],
                before: Vec::new(),
                spent: [0.0; 2],
            }),
        }
    }
}

/// A test continues while its number of exceedances lies strictly between these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A number of exceedances that is this small stops the test: p is small. −1 for no such limit.
    pub low: i64,
    /// A number of exceedances that is this large stops the test: p is large.
    pub high: i64,
}

/// The limits of a rule, shuffle by shuffle, without end.
#[derive(Debug, Clone)]
pub enum Boundaries {
    /// The same after every shuffle.
    Constant(Limits),
    /// Gandy's limits, computed on demand.
    Gandy(Gandy),
}

impl Iterator for Boundaries {
    type Item = Limits;

    fn next(&mut self) -> Option<Limits> {
        Some(match self {
            Boundaries::Constant(limits) => *limits,
            Boundaries::Gandy(gandy) => gandy.step(),
        })
    }
}

/// Gandy's recursion. Let S_n be the number of exceedances in n shuffles if p were α, and τ the shuffle that stops the
/// test. Then
///
/// U_n = min{j : P(τ ≥ n, S_n ≥ j) + P(τ < n, S_τ ≥ U_τ) ≤ ε_n},
/// L_n = max{j : P(τ ≥ n, S_n ≤ j) + P(τ < n, S_τ ≤ L_τ) ≤ ε_n}, where ε_n = ε·n/(k + n).
///
/// Only non-negative numbers are added and multiplied, so no digits cancel. A step costs about √n operations.
#[derive(Debug, Clone)]
pub struct Gandy {
    level: f64,
    risk: f64,
    n: u64,
    /// P(τ > n, S_n = first + i), for all i for which it is not 0.
    running: Vec<f64>,
    first: usize,
    before: Vec<f64>,
    /// P(τ ≤ n, S_τ ≤ L_τ) and P(τ ≤ n, S_τ ≥ U_τ).
    spent: [f64; 2],
}

impl Gandy {
    fn step(&mut self) -> Limits {
        self.n += 1;
        let (alpha, n) = (self.level, self.n as f64);
        std::mem::swap(&mut self.before, &mut self.running);
        let (before, running) = (&self.before, &mut self.running);
        running.clear();
        running.push(before[0] * (1.0 - alpha));
        running.extend(before.windows(2).map(|pair| pair[1] * (1.0 - alpha) + pair[0] * alpha));
        running.push(before[before.len() - 1] * alpha);

        let may_spend = self.risk * n / (HALF_RISK_SHUFFLES + n);
        let [low, high] = &mut self.spent;
        let spend = |spent: &mut f64, more: f64| {
            let fits = *spent + more <= may_spend;
            *spent += if fits { more } else { 0.0 };
            fits
        };
        let above = running.iter().rev().take_while(|more| spend(high, **more)).count();
        running.truncate(running.len() - above);
        let below = running.iter().take_while(|more| spend(low, **more)).count();
        running.drain(..below);
        self.first += below;
        Limits { low: self.first as i64 - 1, high: (self.first + running.len()) as i64 }
    }
}

/// The outcome of a test so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of shuffles that were examined.
    pub shuffles: u64,
    /// How many of them are at least as extreme as the observed difference.
    pub exceedances: u64,
    /// Whether the rule stopped the test. If not, it ran out of shuffles.
    pub stopped: bool,
}

/// Counts exceedances until a rule stops each test, for many tests on the same shuffles.
#[derive(Debug, Clone)]
pub struct Sequential {
    boundaries: Boundaries,
    outcomes: Vec<Outcome>,
    running: Vec<usize>,
}

impl Sequential {
    /// Before the first shuffle.
    pub fn new(rule: Rule, tests: usize) -> Result<Self> {
        let (mut outcomes, mut running) = (reserved(tests)?, reserved(tests)?);
        outcomes.resize(tests, Outcome::default());
        running.extend(0..tests);
        Ok(Sequential { boundaries: rule.limits(), outcomes, running })
    }

    /// The outcome of each test so far.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Have all tests stopped?
    pub fn finished(&self) -> bool {
        self.running.is_empty()
    }

    /// Examines `n` more shuffles. `reached(test, i)` are the exceedances among the shuffles 64·i … 64·i + 63 of these
    /// as bits, the first in the lowest bit.
    pub fn update(&mut self, n: usize, reached: impl Fn(usize, usize) -> u64) {
        let mut limits = Vec::with_capacity(64);
        for first in (0..n).step_by(64) {
            if self.finished() {
                return;
            }
            limits.clear();
            limits.extend(self.boundaries.by_ref().take(64.min(n - first)));
            let low = limits.iter().map(|l| l.low).max().unwrap_or(-1);
            let high = limits.iter().map(|l| l.high).min().unwrap_or(i64::MAX);
            let outcomes = &mut self.outcomes;
            self.running.retain(|&test| {
                let (outcome, reached) = (&mut outcomes[test], reached(test, first / 64));
                let (before, more) = (outcome.exceedances, u64::from(reached.count_ones()));
                if before as i64 > low && ((before + more) as i64) < high {
                    outcome.shuffles += limits.len() as u64; // no limit can be crossed within these 64 shuffles
                    outcome.exceedances += more;
                    return true;
                }
                for (i, limits) in limits.iter().enumerate() {
                    outcome.shuffles += 1;
                    outcome.exceedances += reached >> i & 1;
                    let count = outcome.exceedances as i64;
                    if count <= limits.low || count >= limits.high {
                        outcome.stopped = true;
                        return false;
                    }
                }
                true
            });
        }
    }
}

/// Sequential tests on the same shuffles, each until a rule stops it.
///
/// A range that begins with shuffle 0 examines its shuffles as they come, and ends early once all tests have stopped. A
/// later range cannot know whether its shuffles will be needed, so it keeps a bit for every test and shuffle until it
/// is merged.
#[derive(Debug, Clone)]
pub struct SequentialTally {
    criteria: Criteria,
    rule: Rule,
    span: Span,
    state: State,
    with_histograms: bool,
    bins: Option<Box<Bins>>,
}

#[derive(Debug, Clone)]
enum State {
    Running(Sequential),
    /// Which shuffles are exceedances, test by test, the first shuffle in the lowest bit.
    Deferred(Vec<u64>),
}

impl SequentialTally {
    /// Tests of these pairs, with a threshold for every metric and pair.
    ///
    /// # Errors
    /// As [`Rule::checked`].
    pub fn new(
        pairs: Vec<Pair>,
        alternatives: impl Into<Alternatives>,
        thresholds: Vec<f64>,
        rule: Rule,
    ) -> Result<Self> {
        Ok(SequentialTally {
            criteria: Criteria::new(pairs, alternatives, thresholds),
            rule: rule.checked()?,
            span: Span::default(),
            state: State::Deferred(Vec::new()),
            with_histograms: false,
            bins: None,
        })
    }

    /// The same, with histograms of the shuffles that each test uses.
    #[must_use]
    pub fn with_histograms(self) -> Self {
        SequentialTally { with_histograms: true, ..self }
    }

    /// The histogram of each test, metric by metric, pair by pair; None for a test without finite statistics. None
    /// without [`SequentialTally::with_histograms`].
    ///
    /// # Errors
    /// As [`SequentialTally::outcomes`].
    pub fn histograms(&self) -> Result<Option<Vec<Option<Histogram>>>> {
        self.outcomes()?;
        self.bins.as_ref().map(|bins| bins.histograms()).transpose()
    }

    /// The outcome of each test: metric by metric, pair by pair.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] before a run, or if the range does not begin with shuffle 0.
    pub fn outcomes(&self) -> Result<&[Outcome]> {
        let Range { start, .. } = self.span.get()?;
        match &self.state {
            State::Running(sequential) => Ok(sequential.outcomes()),
            State::Deferred(_) => Err(Error::invalid(
                "the first shuffle of a SequentialTally whose outcomes are read",
                "0 (merge it with the shuffles before it)",
                start,
            )),
        }
    }

    /// The numbers of metrics and of pairs.
    pub fn shape(&self) -> [usize; 2] {
        self.criteria.tests.shape()
    }
}

impl Ranged for SequentialTally {
    fn span(&self) -> &Span {
        &self.span
    }

    /// If the call is cancelled, some of the later shuffles may have been examined.
    fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        check_same(self.criteria == later.criteria && self.rule == later.rule)?;
        if self.with_histograms || later.with_histograms {
            // Merging needs the statistics, which take far more memory than a bit for each shuffle.
            return Err(Error::invalid(
                "a SequentialTally to merge",
                "one without histograms (run all shuffles at once)",
                "one with histograms",
            ));
        }
        let State::Deferred(bits) = &later.state else { return check_same(false) };
        let n = length(&later.span.get()?);
        match &mut self.state {
            State::Running(sequential) => {
                let words = n.div_ceil(64);
                // Pieces are whole multiples of 64 shuffles.
                for first in (0..n).step_by(PIECE) {
                    stop.check()?;
                    sequential.update(PIECE.min(n - first), |test, word| bits[test * words + first / 64 + word]);
                }
            }
            State::Deferred(own) => {
                let before = length(&self.span.get()?);
                let (words, own_words) = (length(&both).div_ceil(64), before.div_ceil(64));
                let tests = self.criteria.tests.count();
                let mut joined = zeros(&[tests, words])?;
                for (test, joined) in joined.chunks_exact_mut(words).enumerate() {
                    stop.check()?;
                    joined[..own_words].copy_from_slice(&own[test * own_words..][..own_words]);
                    put(&bits[test * n.div_ceil(64)..][..n.div_ceil(64)], before, joined);
                }
                *own = joined;
            }
        }
        self.span = Span(Some(both));
        Ok(())
    }
}

/// Copies bits into `out`, beginning at bit `at`.
fn put(bits: &[u64], at: usize, out: &mut [u64]) {
    for (word, bits) in (at / 64..).zip(bits) {
        out[word] |= bits << (at % 64);
        // The last word has no bits to carry.
        if let (Some(next), 1..) = (out.get_mut(word + 1), at % 64) {
            *next |= bits >> (64 - at % 64);
        }
    }
}

impl Reduction for SequentialTally {
    fn input(&self) -> Input {
        Input::Pairs(self.criteria.tests.pairs.clone())
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.criteria.begin(shape)?;
        let tests = self.criteria.tests.count();
        self.state = if replicates.start == 0 {
            State::Running(Sequential::new(self.rule, tests)?)
        } else {
            State::Deferred(zeros(&[tests, length(&replicates).div_ceil(64)])?)
        };
        self.bins = if self.with_histograms { Some(Box::new(Bins::new(tests, Simd::best())?)) } else { None };
        self.span = Span(Some(replicates));
        Ok(())
    }

    fn stages(&mut self) -> Stages<'_> {
        let tests = self.criteria.tests.count();
        let first = self.span.0.as_ref().map_or(0, |all| all.start);
        // Deferred shuffles never stop a test.
        let stopped: Arc<[AtomicBool]> = (0..tests).map(|_| AtomicBool::new(false)).collect();
        let accumulate =
            Exceeding { criteria: &self.criteria, stopped: stopped.clone(), keeps_values: self.bins.is_some() };
        let words = self.span.0.as_ref().map_or(0, length).div_ceil(64);
        let (state, bins) = (&mut self.state, &mut self.bins);
        // The shuffles that each test had used before.
        let mut used: Vec<u64> = Vec::new();
        let combine = move |partial: &Partial| {
            let words_here = partial.len().div_ceil(64);
            match state {
                State::Running(sequential) => {
                    if bins.is_some() {
                        cleared(&mut used, tests)?;
                        used.iter_mut().zip(sequential.outcomes()).for_each(|(used, outcome)| *used = outcome.shuffles);
                    }
                    sequential.update(partial.len(), |test, word| partial.counts[test * words_here + word]);
                    if let Some(bins) = bins {
                        bins.make_room(partial.len())?;
                        for (test, (used, outcome)) in used.iter().zip(sequential.outcomes()).enumerate() {
                            let values = &partial.numbers[test * partial.len()..];
                            bins.add(test, &values[..(outcome.shuffles - used) as usize]);
                        }
                        bins.count();
                    }
                    for (stopped, outcome) in stopped.iter().zip(sequential.outcomes()) {
                        stopped.store(outcome.stopped, Ordering::Relaxed);
                    }
                    Ok(!sequential.finished())
                }
                State::Deferred(bits) => {
                    let at = (partial.replicates.start - first) as usize;
                    for (bits, here) in bits.chunks_exact_mut(words).zip(partial.counts.chunks_exact(words_here)) {
                        put(here, at, bits);
                    }
                    Ok(true)
                }
            }
        };
        (Box::new(accumulate), Box::new(combine))
    }
}

struct Exceeding<'a> {
    criteria: &'a Criteria,
    stopped: Arc<[AtomicBool]>,
    keeps_values: bool,
}

impl Accumulate for Exceeding<'_> {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        if self.keeps_values {
            // The buffer may hold other values for tests that have stopped, which are not read.
            let length = self.criteria.thresholds.len() * partial.len();
            resize(&mut partial.numbers, length)?;
        }
        let length = self.criteria.thresholds.len() * partial.len().div_ceil(64);
        cleared(&mut partial.counts, length)
    }

    /// A thread that has not noticed a stop yet scores the test in vain; the result is ignored.
    fn wants(&self, test: usize) -> bool {
        !self.stopped[test].load(Ordering::Relaxed)
    }

    fn add_values(&self, partial: &mut Partial, test: usize, at: usize, statistics: &[f64]) {
        let (alternative, threshold) = (self.criteria.alternative(test), self.criteria.thresholds[test]);
        let exceeds = |t: f64| alternative.reached(t, threshold);
        // Counting first is cheap, and running tests mostly have no exceedances.
        if statistics.iter().filter(|&&t| exceeds(t)).count() > 0 {
            let word = statistics.iter().rev().fold(0, |word, &t| word << 1 | u64::from(exceeds(t)));
            let words = partial.len().div_ceil(64);
            put(&[word], at, &mut partial.counts[test * words..][..words]);
        }
        if self.keeps_values {
            let from = test * partial.len() + at;
            partial.numbers[from..from + statistics.len()].copy_from_slice(statistics);
        }
    }
}

#[cfg(test)]
mod tests;
