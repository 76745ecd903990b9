//! Sequential stopping: a test is shuffled no longer than its p needs.
//!
//! Shuffles are looked at one by one, in order of their numbers, and a test stops at the first one after which its count
//! of exceedances leaves the limits of a [`Rule`]. Blocks of shuffles are made ahead by any number of threads, but what
//! comes after the one at which a test stopped is not looked at: where it stops depends on the seed alone. Tests that
//! have stopped are no longer scored, and when all have, no more shuffles are made.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::pool::Run;
use crate::resample::shuffle::{Alternative, Pair, Shuffles};
use crate::resample::{Plan, Scored, reserved, zeros};

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// At the `exceedances`-th exceedance (Besag & Clifford 1991, doi:10.1093/biomet/78.2.301).
    BesagClifford {
        /// h, at least 1.
        exceedances: u64,
    },
    /// As soon as it is decided on which side of `level` p lies (Gandy 2009, doi:10.1198/jasa.2009.tm08368). Whatever p
    /// is, the wrong side is decided for with a probability of at most `risk`.
    Gandy {
        /// α, between 0 and 1.
        level: f64,
        /// ε, more than 0, at most ¼.
        risk: f64,
    },
}

/// The shuffle after which half of Gandy's risk may have been spent: his k.
const HALF_SPENT: f64 = 1000.0;

impl Rule {
    /// The rule, if its numbers make one.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if they do not.
    pub fn checked(self) -> Result<Self> {
        let refused = |option: &str, expected: &str, got: String| {
            Err(Error::InvalidOption { option: option.into(), expected: expected.into(), got })
        };
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

    /// The limits after shuffle 1, 2 …
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

/// A test goes on while its count of exceedances lies strictly between these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// At most so many stop it: p is small. −1 for none.
    pub low: i64,
    /// At least so many stop it: p is large.
    pub high: i64,
}

/// The limits of a rule, shuffle by shuffle, without end.
#[derive(Debug, Clone)]
pub enum Boundaries {
    /// The same after every shuffle.
    Constant(Limits),
    /// Gandy's, worked out as they are asked for.
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

/// Gandy's recursion. With S_n the exceedances of n shuffles if p were α, and τ the shuffle that stops them,
///
/// U_n = min{j : P(τ ≥ n, S_n ≥ j) + P(τ < n, S_τ ≥ U_τ) ≤ ε_n},
/// L_n = max{j : P(τ ≥ n, S_n ≤ j) + P(τ < n, S_τ ≤ L_τ) ≤ ε_n}, where ε_n = ε·n/(k + n).
///
/// Only sums and products of numbers that are not negative: no digits are lost. A step costs about √n operations.
#[derive(Debug, Clone)]
pub struct Gandy {
    level: f64,
    risk: f64,
    n: u64,
    /// P(τ > n, S_n = first + i), for all i for which that is not 0.
    running: Vec<f64>,
    first: usize,
    before: Vec<f64>,
    /// P(τ ≤ n, S_τ ≤ L_τ), P(τ ≤ n, S_τ ≥ U_τ).
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

        let may_spend = self.risk * n / (HALF_SPENT + n);
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

/// How far a test came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How many shuffles were looked at.
    pub shuffles: u64,
    /// How many of them are at least as extreme as what was observed.
    pub exceedances: u64,
    /// Did the rule stop it? If not, shuffles were at an end.
    pub stopped: bool,
}

/// Counts exceedances until a rule says that they are enough, for many tests on the same shuffles.
#[derive(Debug, Clone)]
pub struct Sequential {
    boundaries: Boundaries,
    outcomes: Vec<Outcome>,
    running: Vec<usize>,
}

impl Sequential {
    /// Before the first shuffle.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is no room for so many tests.
    pub fn new(rule: Rule, tests: usize) -> Result<Self> {
        let (mut outcomes, mut running) = (reserved(tests)?, reserved(tests)?);
        outcomes.resize(tests, Outcome::default());
        running.extend(0..tests);
        Ok(Sequential { boundaries: rule.limits(), outcomes, running })
    }

    /// How far each test came.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Have all tests stopped?
    pub fn finished(&self) -> bool {
        self.running.is_empty()
    }

    /// Looks at `n` more shuffles. `reached(test, w)` says which of the shuffles 64·w … of these are exceedances, the
    /// first one in the lowest bit.
    pub fn look(&mut self, n: usize, reached: impl Fn(usize, usize) -> u64) {
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
                    outcome.shuffles += limits.len() as u64; // nothing can happen in this word
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

/// Shuffles until a rule stops every test, or `n` times: how far each came, metric by metric, pair by pair.
///
/// # Errors
/// As [`crate::resample::shuffle::tally`], and of [`Rule::checked`].
pub fn tally(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (alternative, thresholds): (Alternative, &[f64]),
    rule: Rule,
    (plan, n): (Plan<'_, u64>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<Outcome>> {
    let shuffles = Shuffles::new(scored, pairs, run)?;
    let tests = shuffles.series();
    shuffles.check("thresholds", thresholds)?;
    let mut sequential = Sequential::new(rule.checked()?, tests)?;
    let stopped: Vec<_> = (0..tests).map(|_| AtomicBool::new(false)).collect();
    let finished = AtomicBool::new(tests == 0);
    shuffles.run_until(
        &finished,
        (plan, n),
        run,
        |shuffles, block, stop| {
            let words = block.replicates.div_ceil(64);
            let mut reached = zeros(&[tests, words])?;
            // What a thread has not yet seen to be stopped is scored for nothing, and not looked at.
            let wanted = |test: usize| !stopped[test].load(Ordering::Relaxed);
            shuffles.statistics_of(wanted, (block, stop), |test, first, statistics| {
                for (word, statistics) in reached[test * words + first / 64..].iter_mut().zip(statistics.chunks(64)) {
                    let exceeds = |t: f64| alternative.reached(t, thresholds[test]);
                    // To count them takes no time, and tests that are still running mostly have none.
                    if statistics.iter().filter(|&&t| exceeds(t)).count() > 0 {
                        *word = statistics.iter().rev().fold(0, |word, &t| word << 1 | u64::from(exceeds(t)));
                    }
                }
            })?;
            Ok(reached)
        },
        |range, reached: Vec<u64>| {
            let words = range.len().div_ceil(64);
            sequential.look(range.len(), |test, word| reached[test * words + word]);
            for (stopped, outcome) in stopped.iter().zip(sequential.outcomes()) {
                stopped.store(outcome.stopped, Ordering::Relaxed);
            }
            finished.store(sequential.finished(), Ordering::Relaxed);
        },
    )?;
    Ok(sequential.outcomes)
}

#[cfg(test)]
mod tests;
