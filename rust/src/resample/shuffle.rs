//! Approximate randomization: flip units between systems, all pairs and metrics on the same flips.
//!
//! With F_x the sum of system x's rows over the flipped units, swapping x and y there gives the totals
//! T_x − F_x + F_y and T_y − F_y + F_x. So one sum per system serves every pair, and since only differences of the F
//! enter, rows are taken relative to the first system: k − 1 sums, of small numbers.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::design::Design;
use super::kernel::flips::Flips;
use super::kernel::subgroup::Subgroup;
use super::kernel::{Kernel, Sums, all_sums, replicates};
use super::{Plan, Scored, check_replicates, zeros};
use crate::error::{Error, Result};
use crate::pool::{Patience, Run, Stop};
use crate::simd::{Simd, dispatch};
use crate::stats::SuffStats;

/// Which replicates count as at least as extreme as what was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// |t| ≥ threshold.
    TwoSided,
    /// t ≥ threshold.
    Greater,
    /// t ≤ threshold.
    Less,
}

impl Alternative {
    #[inline(always)]
    pub(super) fn reached(self, statistic: f64, threshold: f64) -> bool {
        match self {
            Alternative::TwoSided => statistic.abs() >= threshold,
            Alternative::Greater => statistic >= threshold,
            Alternative::Less => statistic <= threshold,
        }
    }
}

/// A pair of systems (x, y); its statistic is score(x) − score(y).
pub type Pair = (usize, usize);

/// What the replicates of a shuffle flip.
#[derive(Debug, Clone, Copy)]
pub enum Scheme<'a> {
    /// Any unit by a coin of its own, or what the caller says.
    Coins(Plan<'a, u64>),
    /// Replicate g flips the units whose code has an odd number of bits in common with it: see
    /// [`subgroup`](super::subgroup).
    Codes {
        /// A code for every unit.
        codes: &'a [u64],
        /// The number of the first replicate.
        first: u64,
    },
}

impl<'a> From<Plan<'a, u64>> for Scheme<'a> {
    fn from(plan: Plan<'a, u64>) -> Self {
        Scheme::Coins(plan)
    }
}

impl<'a> Scheme<'a> {
    fn kernel(self, design: &'a Design<'a>, n: usize, stop: &Stop<'_>) -> Result<Box<dyn Kernel + 'a>> {
        let first = match self {
            Scheme::Coins(Plan::Seeded { first, .. }) | Scheme::Codes { first, .. } => first,
            Scheme::Coins(Plan::Given(_)) => 0,
        };
        check_replicates(first, n)?;
        Ok(match self {
            Scheme::Coins(plan) => Box::new(Flips::new(design, plan, n, Simd::best(), stop)?),
            Scheme::Codes { codes, first } => Box::new(Subgroup::new(design, codes, first, stop)?),
        })
    }
}

/// How many shuffles reach each threshold: metric by metric, pair by pair.
///
/// # Errors
/// [`Error::OutOfRange`] for a pair of systems that are not there, [`Error::LengthMismatch`] if `thresholds` does not
/// hold a number for every metric and pair or a given plan is too short, [`Error::Empty`] without metrics or replicates,
/// [`Error::InvalidOption`] if a threshold is NaN or the last replicate's number exceeds 64 bits, [`Error::Overflow`] if
/// flips come as codes and the differences between systems would sum up to 2^62, [`Error::Memory`], and what the pool
/// returns.
pub fn tally<'s>(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (alternative, thresholds): (Alternative, &[f64]),
    (scheme, n): (impl Into<Scheme<'s>>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<u64>> {
    let shuffles = Shuffles::new(scored, pairs, run)?;
    let expected = shuffles.series();
    shuffles.check("thresholds", thresholds)?;
    let mut counts = zeros(&[expected])?;
    shuffles.run(
        (scheme, n),
        run,
        |pairs, sums, stop| {
            let mut counts = zeros(&[expected])?;
            pairs.statistics((sums, stop), |series, _, statistics| {
                let reached = |t: &&f64| alternative.reached(**t, thresholds[series]);
                counts[series] += statistics.iter().filter(reached).count() as u64;
            })?;
            Ok(counts)
        },
        |_, block: Vec<u64>| counts.iter_mut().zip(block).for_each(|(count, more)| *count += more),
    )?;
    Ok(counts)
}

/// The statistic of every shuffle: metric by metric, pair by pair, replicate by replicate.
///
/// # Errors
/// As [`tally`].
pub fn statistics<'s>(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (scheme, n): (impl Into<Scheme<'s>>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    let mut out: Vec<f64> = zeros(&[scored.len(), pairs.len(), n])?;
    Shuffles::new(scored, pairs, run)?.run(
        (scheme, n),
        run,
        |pairs, sums, stop| {
            let mut block = zeros(&[pairs.series(), sums.replicates])?;
            pairs.statistics((sums, stop), |series, first, statistics| {
                let start = series * sums.replicates + first;
                block[start..start + statistics.len()].copy_from_slice(statistics);
            })?;
            Ok(block)
        },
        |range, block: Vec<f64>| {
            for (out, block) in out.chunks_exact_mut(n).zip(block.chunks_exact(range.len())) {
                out[range.clone()].copy_from_slice(block);
            }
        },
    )?;
    Ok(out)
}

/// The sums F_x − F_first of every shuffle: replicate by replicate, then k × K for each of `all`.
///
/// # Errors
/// As [`tally`].
pub fn sums<'s>(
    all: &[SuffStats<'_>],
    (scheme, n): (impl Into<Scheme<'s>>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<i64>> {
    let design = run.alone(|stop, _| Design::new(all, true, stop))?;
    let kernel = run.alone(|stop, _| scheme.into().kernel(&design, n, stop))?;
    all_sums((&design, kernel.as_ref()), n, run)
}

/// What shuffles are made of, and made into: the statistics of pairs under all metrics, the *series*.
pub(super) struct Shuffles<'a> {
    scored: &'a [Scored<'a>],
    pairs: &'a [Pair],
    all: Vec<SuffStats<'a>>,
    /// For each metric, k × K.
    totals: Vec<Vec<i64>>,
}

/// Replicates scored at a time: their totals stay in the first-level cache.
const BATCH: usize = 64;

impl<'a> Shuffles<'a> {
    pub fn new(scored: &'a [Scored<'a>], pairs: &'a [Pair], run: &mut Run<'_>) -> Result<Self> {
        if scored.is_empty() {
            return Err(Error::Empty { what: "metrics".into() });
        }
        let all: Vec<_> = scored.iter().map(|s| s.stats).collect();
        for stats in &all {
            let len = stats.systems();
            if let Some(index) = pairs.iter().flat_map(|&(x, y)| [x, y]).find(|&x| x >= len) {
                return Err(Error::OutOfRange { what: "system".into(), index, len });
            }
        }
        let totals = run.alone(|stop, _| {
            let mut patience = Patience::default();
            let mut spend = |cost| patience.spend(cost, stop);
            all.iter().map(|stats| stats.totals_watched(&mut spend)).collect()
        })?;
        Ok(Shuffles { scored, pairs, all, totals })
    }

    /// How many statistics a shuffle has: metrics times pairs.
    pub fn series(&self) -> usize {
        self.scored.len() * self.pairs.len()
    }

    /// Is there a number for each of them? NaN, which nothing reaches, would look like a small p.
    pub fn check(&self, what: &str, values: &[f64]) -> Result<()> {
        self.check_length(what, values.len())?;
        match values.iter().any(|value| value.is_nan()) {
            true => Err(Error::InvalidOption { option: what.into(), expected: "numbers".into(), got: "NaN".into() }),
            false => Ok(()),
        }
    }

    /// Are there as many as there are statistics?
    pub fn check_length(&self, what: &str, got: usize) -> Result<()> {
        let expected = self.series();
        if got == expected { Ok(()) } else { Err(Error::LengthMismatch { what: what.into(), expected, got }) }
    }

    /// Makes `n` shuffles; `finish` makes of a block of them what `sink` then gets in order.
    pub fn run<'s, T: Send>(
        &self,
        (scheme, n): (impl Into<Scheme<'s>>, usize),
        run: &mut Run<'_>,
        finish: impl Fn(&Self, &Sums<'_>, &Stop<'_>) -> Result<T> + Sync,
        sink: impl FnMut(Range<usize>, T),
    ) -> Result<()> {
        self.run_until(&AtomicBool::new(false), (scheme, n), run, finish, sink)
    }

    /// The same, but starts no more blocks once `finished`; what `sink` gets may then end before `n`.
    pub fn run_until<'s, T: Send>(
        &self,
        finished: &AtomicBool,
        (scheme, n): (impl Into<Scheme<'s>>, usize),
        run: &mut Run<'_>,
        finish: impl Fn(&Self, &Sums<'_>, &Stop<'_>) -> Result<T> + Sync,
        sink: impl FnMut(Range<usize>, T),
    ) -> Result<()> {
        let design = run.alone(|stop, _| Design::new(&self.all, true, stop))?;
        let kernel = run.alone(|stop, _| scheme.into().kernel(&design, n, stop))?;
        let kernel = Until { kernel, finished };
        let cost = 40 * self.series() as u64;
        replicates((&design, &kernel), n, cost, run, |sums, stop| finish(self, sums, stop), sink)
    }

    /// Calls `each` with a series (metric × pair), a replicate of the block, and the statistics from there on.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if told to stop.
    pub fn statistics(&self, block: (&Sums<'_>, &Stop<'_>), each: impl FnMut(usize, usize, &[f64])) -> Result<()> {
        self.statistics_of(|_| true, block, each)
    }

    /// The same for those series that are `wanted`.
    pub fn statistics_of(
        &self,
        wanted: impl Fn(usize) -> bool,
        (sums, stop): (&Sums<'_>, &Stop<'_>),
        mut each: impl FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        let mut patience = Patience::default();
        let (mut scores, simd) = ([[0.0; BATCH]; 2], Simd::best());
        for (of, (scored, totals)) in self.scored.iter().zip(&self.totals).enumerate() {
            let (columns, cells) = (scored.stats.columns(), totals.len());
            let mut flipped = vec![0; cells * BATCH];
            let mut shuffled = [vec![0; columns * BATCH], vec![0; columns * BATCH]];
            for first in (0..sums.replicates).step_by(BATCH) {
                let batch = BATCH.min(sums.replicates - first);
                for (cell, flipped) in flipped.chunks_exact_mut(batch).take(cells).enumerate() {
                    sums.copy(sums.design.offsets[of] + cell, first, flipped);
                }
                for (p, &(x, y)) in self.pairs.iter().enumerate() {
                    let series = of * self.pairs.len() + p;
                    if !wanted(series) {
                        continue;
                    }
                    patience.spend(8 * columns * batch, stop)?;
                    let [to_x, to_y] = &mut shuffled;
                    let [x, y] = [x, y].map(|system| {
                        let sums = &flipped[system * columns * batch..][..columns * batch];
                        (&totals[system * columns..][..columns], sums)
                    });
                    swap(simd, x, y, &mut to_x[..columns * batch], &mut to_y[..columns * batch]);
                    for (scores, totals) in scores.iter_mut().zip(&shuffled) {
                        scored.metric.scores(&totals[..columns * batch], &mut scores[..batch]);
                    }
                    let [of_x, of_y] = &mut scores;
                    of_x.iter_mut().zip(of_y.iter()).for_each(|(x, y)| *x -= y);
                    each(series, first, &of_x[..batch]);
                }
            }
        }
        Ok(())
    }
}

/// A kernel that fills no more blocks once it is told that enough are filled.
struct Until<'a> {
    kernel: Box<dyn Kernel + 'a>,
    finished: &'a AtomicBool,
}

impl Kernel for Until<'_> {
    fn block(&self) -> usize {
        self.kernel.block()
    }

    fn cost(&self) -> u64 {
        self.kernel.cost()
    }

    fn rows(&self) -> i64 {
        self.kernel.rows()
    }

    fn sums(&self, range: Range<usize>, stop: &Stop<'_>, out: (&mut [i64], usize)) -> Result<()> {
        if self.finished.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { self.kernel.sums(range, stop, out) }
    }
}

dispatch! {
    /// From two systems' totals, and their sums over the flipped units in a batch of replicates, to the totals of either
    /// after the swaps: column by column, like the sums.
    fn swap(x: (&[i64], &[i64]), y: (&[i64], &[i64]), to_x: &mut [i64], to_y: &mut [i64]) = swap_inline;
}

#[inline(always)]
fn swap_inline(
    (total_x, of_x): (&[i64], &[i64]),
    (total_y, of_y): (&[i64], &[i64]),
    to_x: &mut [i64],
    to_y: &mut [i64],
) {
    let batch = of_x.len() / total_x.len();
    let flipped = of_x.chunks_exact(batch).zip(of_y.chunks_exact(batch));
    let swapped = to_x.chunks_exact_mut(batch).zip(to_y.chunks_exact_mut(batch));
    for (((of_x, of_y), (to_x, to_y)), (total_x, total_y)) in flipped.zip(swapped).zip(total_x.iter().zip(total_y)) {
        for (((of_x, of_y), to_x), to_y) in of_x.iter().zip(of_y).zip(to_x).zip(to_y) {
            let moved = of_x - of_y;
            (*to_x, *to_y) = (total_x - moved, total_y + moved);
        }
    }
}

#[cfg(test)]
mod tests;
