//! Approximate randomization: flip units between systems, all pairs and metrics on the same flips.
//!
//! With F_x the sum of system x's rows over the flipped units, swapping x and y there gives the totals
//! T_x − F_x + F_y and T_y − F_y + F_x. So one sum per system serves every pair, and since only differences of the F
//! enter, rows are taken relative to the first system: k − 1 sums, of small numbers.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::flips::{Flips, Path};
use super::{Design, Kernel, Plan, Scored, Sums, all_sums, replicates, zeros};
use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
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

/// How many shuffles reach each threshold: metric by metric, pair by pair.
///
/// # Errors
/// [`Error::OutOfRange`] for a pair of systems that are not there, [`Error::LengthMismatch`] if `thresholds` does not
/// hold a number for every metric and pair or a given plan is too short, and what the pool returns.
pub fn tally(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (alternative, thresholds): (Alternative, &[f64]),
    (plan, n): (Plan<'_, u64>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<u64>> {
    let shuffles = Shuffles::new(scored, pairs)?;
    let expected = shuffles.series();
    shuffles.check_length("thresholds", thresholds.len())?;
    let mut counts = vec![0; expected];
    shuffles.run(
        (plan, n),
        run,
        |pairs, sums| {
            let mut counts = vec![0; expected];
            pairs.statistics(sums, |series, _, statistics| {
                let reached = |t: &&f64| alternative.reached(**t, thresholds[series]);
                counts[series] += statistics.iter().filter(reached).count() as u64;
            });
            counts
        },
        |_, block: Vec<u64>| counts.iter_mut().zip(block).for_each(|(count, more)| *count += more),
    )?;
    Ok(counts)
}

/// The statistic of every shuffle: metric by metric, pair by pair, replicate by replicate.
///
/// # Errors
/// As [`tally`].
pub fn statistics(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (plan, n): (Plan<'_, u64>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    let mut out: Vec<f64> = zeros(&[scored.len(), pairs.len(), n])?;
    Shuffles::new(scored, pairs)?.run(
        (plan, n),
        run,
        |pairs, sums| {
            let mut block = vec![0.0; pairs.series() * sums.replicates];
            pairs.statistics(sums, |series, first, statistics| {
                let start = series * sums.replicates + first;
                block[start..start + statistics.len()].copy_from_slice(statistics);
            });
            block
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
pub fn sums(all: &[SuffStats<'_>], (plan, n): (Plan<'_, u64>, usize), run: &mut Run<'_>) -> Result<Vec<i64>> {
    let design = Design::new(all, true)?;
    all_sums((&design, &Flips::new(&design, plan, n, Path::best())?), n, run)
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
    pub fn new(scored: &'a [Scored<'a>], pairs: &'a [Pair]) -> Result<Self> {
        let all: Vec<_> = scored.iter().map(|s| s.stats).collect();
        for stats in &all {
            let len = stats.systems();
            if let Some(index) = pairs.iter().flat_map(|&(x, y)| [x, y]).find(|&x| x >= len) {
                return Err(Error::OutOfRange { what: "system".into(), index, len });
            }
        }
        let totals = all.iter().map(SuffStats::totals).collect();
        Ok(Shuffles { scored, pairs, all, totals })
    }

    /// How many statistics a shuffle has: metrics times pairs.
    pub fn series(&self) -> usize {
        self.scored.len() * self.pairs.len()
    }

    /// Is there a number for each of them?
    pub fn check_length(&self, what: &str, got: usize) -> Result<()> {
        let expected = self.series();
        if got == expected { Ok(()) } else { Err(Error::LengthMismatch { what: what.into(), expected, got }) }
    }

    /// Makes `n` shuffles; `finish` makes of a block of them what `sink` then gets in order.
    pub fn run<T: Send>(
        &self,
        (plan, n): (Plan<'_, u64>, usize),
        run: &mut Run<'_>,
        finish: impl Fn(&Self, &Sums<'_>) -> T + Sync,
        sink: impl FnMut(Range<usize>, T),
    ) -> Result<()> {
        self.run_until(&AtomicBool::new(false), (plan, n), run, finish, sink)
    }

    /// The same, but starts no more blocks once `finished`; what `sink` gets may then end before `n`.
    pub fn run_until<T: Send>(
        &self,
        finished: &AtomicBool,
        (plan, n): (Plan<'_, u64>, usize),
        run: &mut Run<'_>,
        finish: impl Fn(&Self, &Sums<'_>) -> T + Sync,
        sink: impl FnMut(Range<usize>, T),
    ) -> Result<()> {
        let design = Design::new(&self.all, true)?;
        let kernel = Until { kernel: Flips::new(&design, plan, n, Path::best())?, finished };
        let cost = 40 * self.series() as u64;
        replicates((&design, &kernel), n, cost, run, |sums| finish(self, sums), sink)
    }

    /// Calls `each` with a series (metric × pair), a replicate of the block, and the statistics from there on.
    pub fn statistics(&self, sums: &Sums<'_>, each: impl FnMut(usize, usize, &[f64])) {
        self.statistics_of(|_| true, sums, each);
    }

    /// The same for those series that are `wanted`.
    pub fn statistics_of(
        &self,
        wanted: impl Fn(usize) -> bool,
        sums: &Sums<'_>,
        mut each: impl FnMut(usize, usize, &[f64]),
    ) {
        let mut scores = [[0.0; BATCH]; 2];
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
                    let [to_x, to_y] =
                        shuffled.each_mut().map(|totals| totals[..columns * batch].chunks_exact_mut(batch));
                    for (column, (to_x, to_y)) in to_x.zip(to_y).enumerate() {
                        let [x, y] = [x, y].map(|system| system * columns + column);
                        let [of_x, of_y] = [x, y].map(|cell| &flipped[cell * batch..][..batch]);
                        let moved = of_x.iter().zip(of_y).map(|(of_x, of_y)| of_x - of_y);
                        for ((to_x, to_y), moved) in to_x.iter_mut().zip(to_y).zip(moved) {
                            *to_x = totals[x] - moved;
                            *to_y = totals[y] + moved;
                        }
                    }
                    for (scores, totals) in scores.iter_mut().zip(&shuffled) {
                        scored.metric.scores(&totals[..columns * batch], &mut scores[..batch]);
                    }
                    let [of_x, of_y] = &mut scores;
                    of_x.iter_mut().zip(of_y.iter()).for_each(|(x, y)| *x -= y);
                    each(series, first, &of_x[..batch]);
                }
            }
        }
    }
}

/// A kernel that fills no more blocks once it is told that enough are filled.
struct Until<'a, K> {
    kernel: K,
    finished: &'a AtomicBool,
}

impl<K: Kernel> Kernel for Until<'_, K> {
    fn block(&self) -> usize {
        self.kernel.block()
    }

    fn cost(&self) -> u64 {
        self.kernel.cost()
    }

    fn rows(&self) -> i64 {
        self.kernel.rows()
    }

    fn sums(&self, range: Range<usize>, stop: &Stop<'_>, out: (&mut [i64], usize)) -> Option<()> {
        if self.finished.load(Ordering::Relaxed) { None } else { self.kernel.sums(range, stop, out) }
    }
}

#[cfg(test)]
mod tests;
