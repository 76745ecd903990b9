//! The bootstrap: draw units with replacement, the same draw for every system and metric.

use std::ops::Range;

use super::product::{Digits, Path, TOGETHER};
use super::weights::Law;
use super::{Design, Kernel, Plan, STRIDE, Scored, Sums, all_sums, replicates, zeros};

pub use super::weights::draw_weights;
use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
use crate::stats::SuffStats;

/// The score of every system on every draw: metric by metric, system by system, replicate by replicate.
///
/// # Errors
/// [`Error::LengthMismatch`] if the metrics' counts differ in segments or a given plan is too short,
/// [`Error::OutOfRange`] if a given index is, and what the pool returns.
pub fn scores(scored: &[Scored<'_>], (plan, n): (Plan<'_, u32>, usize), run: &mut Run<'_>) -> Result<Vec<f64>> {
    let all: Vec<_> = scored.iter().map(|s| s.stats).collect();
    let design = Design::new(&all, false)?;
    let kernel = Draws::new(&design, plan, n, Path::best())?;
    let series: usize = all.iter().map(SuffStats::systems).sum();
    let mut out: Vec<f64> = zeros(&[series, n])?;
    let finish = |sums: &Sums<'_>| {
        let mut block = vec![0.0; series * sums.replicates];
        let mut series = block.chunks_exact_mut(sums.replicates);
        for (of, Scored { metric, stats }) in scored.iter().enumerate() {
            let columns = stats.columns();
            let mut totals = vec![0; columns * BATCH];
            for (system, series) in series.by_ref().take(stats.systems()).enumerate() {
                for (first, scores) in (0..).step_by(BATCH).zip(series.chunks_mut(BATCH)) {
                    let totals = &mut totals[..columns * scores.len()];
                    for (column, totals) in totals.chunks_exact_mut(scores.len()).enumerate() {
                        sums.copy(design.offsets[of] + system * columns + column, first, totals);
                    }
                    metric.scores(totals, scores);
                }
            }
        }
        block
    };
    replicates((&design, &kernel), n, 40 * series as u64, run, finish, |range, block| {
        for (out, block) in out.chunks_exact_mut(n).zip(block.chunks_exact(range.len())) {
            out[range.clone()].copy_from_slice(block);
        }
    })?;
    Ok(out)
}

/// The summed counts of every draw: replicate by replicate, then k × K for each of `all`.
///
/// # Errors
/// As [`scores`].
pub fn sums(all: &[SuffStats<'_>], (plan, n): (Plan<'_, u32>, usize), run: &mut Run<'_>) -> Result<Vec<i64>> {
    let design = Design::new(all, false)?;
    all_sums((&design, &Draws::new(&design, plan, n, Path::best())?), n, run)
}

/// Replicates scored at a time: their totals stay in the first-level cache.
const BATCH: usize = 64;

/// The units drawn by replicates, and the sums over them.
struct Draws<'a> {
    design: &'a Design<'a>,
    plan: Plan<'a, u32>,
    law: Law,
    digits: Digits,
    path: Path,
}

/// Bytes of weights that a block of replicates makes, more or less: they stay in the second-level cache.
const WEIGHTS: usize = 1 << 18;

impl<'a> Draws<'a> {
    fn new(design: &'a Design<'a>, plan: Plan<'a, u32>, n: usize, path: Path) -> Result<Self> {
        let units = design.units();
        if u32::try_from(units).is_err() {
            return Err(Error::OutOfRange { what: "unit".into(), index: units, len: u32::MAX as usize });
        }
        if let Plan::Given(given) = plan {
            if given.len() != n * units {
                return Err(Error::LengthMismatch { what: "indices".into(), expected: n * units, got: given.len() });
            }
            if let Some(&index) = given.iter().find(|&&i| i as usize >= units) {
                return Err(Error::OutOfRange { what: "unit".into(), index: index as usize, len: units });
            }
        }
        let digits = Digits::new(&design.cells, &design.columns);
        Ok(Draws { design, plan, law: Law::new(units), digits, path })
    }

    /// The bytes of a row of weights: whole quads of units.
    fn padded(&self) -> usize {
        self.design.units().next_multiple_of(8)
    }

    /// Adds the rows that a seed draws in as many replicates as `weights` has rows, the first of them being the
    /// `place`-th of the block.
    fn add_drawn(
        &self,
        (seed, first): (u64, u64),
        weights: &mut [u8],
        place: usize,
        (out, stride): (&mut [i64], usize),
    ) {
        for (replicate, weights) in (0..).zip(weights.chunks_exact_mut(self.padded())) {
            self.law.draw(seed, first.wrapping_add(replicate), weights);
        }
        let (dense, exceptional) = out.split_at_mut(self.design.columns.dense.len() * stride);
        self.digits.sums(self.path, weights, self.padded(), (dense, stride, place));
        for (exceptions, out) in self.design.columns.exceptions.iter().zip(exceptional.chunks_exact_mut(stride)) {
            for (out, weights) in out[place..].iter_mut().zip(weights.chunks_exact(self.padded())) {
                *out = exceptions.iter().map(|&(unit, value)| value * i64::from(weights[unit])).sum();
            }
        }
    }

    /// Adds the rows of given units, one by one, in the `place`-th replicate of a block.
    fn add_given(&self, units: &[u32], place: usize, (out, stride): (&mut [i64], usize)) {
        let Design { cells, columns, .. } = self.design;
        let (dense, exceptional) = out.split_at_mut(columns.dense.len() * stride);
        for (&cell, out) in columns.dense.iter().zip(dense.chunks_exact_mut(stride)) {
            out[place] = units.iter().map(|&unit| cells.value(cell, unit as usize)).sum();
        }
        for (exceptions, out) in columns.exceptions.iter().zip(exceptional.chunks_exact_mut(stride)) {
            let times = |unit: usize| units.iter().filter(|&&u| u as usize == unit).count() as i64;
            out[place] = exceptions.iter().map(|&(unit, value)| value * times(unit)).sum();
        }
    }
}

impl Kernel for Draws<'_> {
    fn block(&self) -> usize {
        (WEIGHTS / self.padded()).next_multiple_of(STRIDE).clamp(STRIDE, 4 * STRIDE)
    }

    fn cost(&self) -> u64 {
        (self.design.units() * (2 + self.digits.tiles()) / 4) as u64
    }

    fn rows(&self) -> i64 {
        self.design.units() as i64
    }

    fn sums(&self, range: Range<usize>, stop: &Stop<'_>, (out, stride): (&mut [i64], usize)) -> Option<()> {
        let replicates = range.len();
        let mut weights = vec![0; TOGETHER.min(replicates) * self.padded()];
        for place in (0..replicates).step_by(TOGETHER) {
            let here = TOGETHER.min(replicates - place);
            if stop.requested() {
                return None;
            }
            match self.plan {
                Plan::Seeded { seed, first } => {
                    let first = first.wrapping_add((range.start + place) as u64);
                    self.add_drawn((seed, first), &mut weights[..here * self.padded()], place, (out, stride));
                }
                Plan::Given(given) => {
                    let units = self.design.units();
                    for place in place..place + here {
                        self.add_given(&given[(range.start + place) * units..][..units], place, (out, stride));
                    }
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
