//! The bootstrap: draw units with replacement, the same draw for every system and metric.
//!
//! `strata` are the sizes of groups of units that lie one after the other: of each as many units are drawn as it has.
//! Without any, all units are one. Given plans choose units themselves, and strata have no say.

use std::ops::Range;

use super::product::{Digits, TOGETHER};
use super::weights::Strata;
use super::{Kernel, STRIDE, Sums, all_sums, replicates};

pub use super::weights::draw_weights;
use crate::error::{Error, Result};
use crate::pool::{Patience, Run, Stop};
use crate::resample::design::Design;
use crate::resample::{Plan, Scored, check_replicates, zeros};
use crate::simd::Simd;
use crate::stats::SuffStats;

/// The score of every system on every draw: metric by metric, system by system, replicate by replicate.
///
/// # Errors
/// [`Error::LengthMismatch`] if the metrics' counts differ in segments or a given plan is too short,
/// [`Error::OutOfRange`] if a given index is, as [`draw_weights`] if strata cannot be used, and what the pool returns.
pub fn scores(
    scored: &[Scored<'_>],
    strata: &[usize],
    (plan, n): (Plan<'_, u32>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    let series: usize = scored.iter().map(|s| s.stats.systems()).sum();
    let mut out: Vec<f64> = zeros(&[series, n])?;
    for_each_block(
        (scored, strata),
        (plan, n),
        run,
        |scores, _| scores,
        |range, block| {
            for (out, block) in out.chunks_exact_mut(n).zip(block.chunks_exact(range.len())) {
                out[range.clone()].copy_from_slice(block);
            }
        },
    )?;
    Ok(out)
}

/// What is kept of draws without keeping them, all metric by metric, system by system.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The mean score.
    pub means: Vec<f64>,
    /// The sum of squared deviations from the mean.
    pub squares: Vec<f64>,
    /// How often a system is first, second … of the k systems: k numbers each. Equals share the better rank.
    pub ranks: Vec<u64>,
}

/// Means, spreads and ranks of the systems' scores on all draws.
///
/// # Errors
/// As [`scores`].
pub fn summary(
    scored: &[Scored<'_>],
    strata: &[usize],
    (plan, n): (Plan<'_, u32>, usize),
    run: &mut Run<'_>,
) -> Result<Summary> {
    let systems = || scored.iter().map(|s| s.stats.systems());
    let series: usize = systems().sum();
    let mut out = Summary {
        means: vec![0.0; series],
        squares: vec![0.0; series],
        ranks: vec![0; systems().map(|k| k * k).sum()],
    };
    let mut seen = 0.0;
    // Moments of batches, which do not depend on how blocks are cut, are put together in order (Chan, Golub &
    // LeVeque 1983, doi:10.1080/00031305.1983.10483115).
    for_each_block(
        (scored, strata),
        (plan, n),
        run,
        |scores, replicates| (batch_moments(&scores, replicates), ranks(scored, &scores, replicates), replicates),
        |_, (moments, ranks, replicates)| {
            for (batch, moments) in moments.chunks_exact(series).enumerate() {
                let here = BATCH.min(replicates - batch * BATCH) as f64;
                for ((mean, squares), (of_batch, squares_of_batch)) in
                    out.means.iter_mut().zip(&mut out.squares).zip(moments)
                {
                    let apart = of_batch - *mean;
                    *mean += apart * (here / (seen + here));
                    *squares += squares_of_batch + apart * apart * (seen * here / (seen + here));
                }
                seen += here;
            }
            out.ranks.iter_mut().zip(ranks).for_each(|(count, more)| *count += more);
        },
    )?;
    Ok(out)
}

/// The mean and the sum of squared deviations of every batch: batch by batch, series by series.
fn batch_moments(scores: &[f64], replicates: usize) -> Vec<(f64, f64)> {
    let mut moments = Vec::new();
    for first in (0..replicates).step_by(BATCH) {
        for series in scores.chunks_exact(replicates) {
            let batch = &series[first..replicates.min(first + BATCH)];
            let mean = batch.iter().sum::<f64>() / batch.len() as f64;
            moments.push((mean, batch.iter().map(|score| (score - mean).powi(2)).sum()));
        }
    }
    moments
}

/// How often each system has each rank.
fn ranks(scored: &[Scored<'_>], scores: &[f64], replicates: usize) -> Vec<u64> {
    let mut series = scores.chunks_exact(replicates);
    let mut ranks = Vec::new();
    for Scored { metric, stats } in scored {
        let k = stats.systems();
        let of_systems: Vec<_> = series.by_ref().take(k).collect();
        let mut counts = vec![0; k * k];
        let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
        let mut sorted = Vec::with_capacity(k);
        for replicate in 0..replicates {
            sorted.clear();
            sorted.extend(of_systems.iter().map(|scores| sign * scores[replicate]));
            sorted.sort_unstable_by(|a, b| b.total_cmp(a));
            for (system, scores) in of_systems.iter().enumerate() {
                let better = sorted.partition_point(|&other| other > sign * scores[replicate]);
                counts[system * k + better] += 1;
            }
        }
        ranks.extend(counts);
    }
    ranks
}

/// Makes draws; `finish` makes something of the scores of a block, series by series, and of their number, which `sink`
/// then gets in order.
fn for_each_block<T: Send>(
    (scored, strata): (&[Scored<'_>], &[usize]),
    (plan, n): (Plan<'_, u32>, usize),
    run: &mut Run<'_>,
    finish: impl Fn(Vec<f64>, usize) -> T + Sync,
    sink: impl FnMut(Range<usize>, T),
) -> Result<()> {
    let all: Vec<_> = scored.iter().map(|s| s.stats).collect();
    let design = run.alone(|stop, _| Design::new(&all, false, stop))?;
    let kernel = run.alone(|stop, _| Draws::new(&design, strata, (plan, n), Simd::best(), stop))?;
    let series: usize = all.iter().map(SuffStats::systems).sum();
    let finish = |sums: &Sums<'_>, stop: &Stop<'_>| {
        let mut patience = Patience::default();
        let mut block = zeros(&[series, sums.replicates])?;
        let mut series = block.chunks_exact_mut(sums.replicates);
        for (of, Scored { metric, stats }) in scored.iter().enumerate() {
            let columns = stats.columns();
            let mut totals = vec![0; columns * BATCH];
            for (system, series) in series.by_ref().take(stats.systems()).enumerate() {
                for (first, scores) in (0..).step_by(BATCH).zip(series.chunks_mut(BATCH)) {
                    patience.spend(8 * columns * scores.len(), stop)?;
                    let totals = &mut totals[..columns * scores.len()];
                    for (column, totals) in totals.chunks_exact_mut(scores.len()).enumerate() {
                        sums.copy(design.offsets[of] + system * columns + column, first, totals);
                    }
                    metric.scores(totals, scores);
                }
            }
        }
        Ok(finish(block, sums.replicates))
    };
    replicates((&design, &kernel), n, 40 * series as u64, run, finish, sink)
}

/// The summed counts of every draw: replicate by replicate, then k × K for each of `all`.
///
/// # Errors
/// As [`scores`].
pub fn sums(
    all: &[SuffStats<'_>],
    strata: &[usize],
    (plan, n): (Plan<'_, u32>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<i64>> {
    let design = run.alone(|stop, _| Design::new(all, false, stop))?;
    let kernel = run.alone(|stop, _| Draws::new(&design, strata, (plan, n), Simd::best(), stop))?;
    all_sums((&design, &kernel), n, run)
}

/// Replicates scored at a time: their totals stay in the first-level cache.
const BATCH: usize = 64;

/// The units drawn by replicates, and the sums over them.
struct Draws<'a> {
    design: &'a Design<'a>,
    plan: Plan<'a, u32>,
    strata: Strata,
    digits: Digits,
}

/// Bytes of weights that a block of replicates makes, more or less: they stay in the second-level cache.
const WEIGHTS: usize = 1 << 18;

impl<'a> Draws<'a> {
    fn new(
        design: &'a Design<'a>,
        strata: &[usize],
        (plan, n): (Plan<'a, u32>, usize),
        simd: Simd,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        let units = design.units();
        check_replicates(if let Plan::Seeded { first, .. } = plan { first } else { 0 }, n)?;
        if u32::try_from(units).is_err() {
            return Err(Error::OutOfRange { what: "unit".into(), index: units, len: u32::MAX as usize });
        }
        if let Plan::Given(given) = plan {
            if Some(given.len()) != n.checked_mul(units) {
                let expected = n.saturating_mul(units);
                return Err(Error::LengthMismatch { what: "indices".into(), expected, got: given.len() });
            }
            if let Some(&index) = given.iter().find(|&&i| i as usize >= units) {
                return Err(Error::OutOfRange { what: "unit".into(), index: index as usize, len: units });
            }
        }
        let strata = Strata::new(units, strata, simd)?;
        let digits = Digits::new(&design.cells, &design.columns, simd, stop)?;
        Ok(Draws { design, plan, strata, digits })
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
        stop: &Stop<'_>,
    ) -> Result<()> {
        for (replicate, weights) in (0..).zip(weights.chunks_exact_mut(self.padded())) {
            self.strata.draw(seed, first.wrapping_add(replicate), weights, stop)?;
        }
        let (dense, exceptional) = out.split_at_mut(self.design.columns.dense.len() * stride);
        self.digits.sums(weights, self.padded(), (dense, stride, place), stop)?;
        let mut patience = Patience::default();
        for (exceptions, out) in self.design.columns.exceptions.iter().zip(exceptional.chunks_exact_mut(stride)) {
            for (out, weights) in out[place..].iter_mut().zip(weights.chunks_exact(self.padded())) {
                patience.spend(exceptions.len(), stop)?;
                *out = exceptions.iter().map(|&(unit, value)| value * i64::from(weights[unit])).sum();
            }
        }
        Ok(())
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
        ((2 * self.strata.cost() + self.design.units() * self.digits.tiles()) / 4) as u64
    }

    fn rows(&self) -> i64 {
        self.design.units() as i64
    }

    fn sums(&self, range: Range<usize>, stop: &Stop<'_>, (out, stride): (&mut [i64], usize)) -> Result<()> {
        let replicates = range.len();
        let mut weights = zeros(&[TOGETHER.min(replicates), self.padded()])?;
        for place in (0..replicates).step_by(TOGETHER) {
            let here = TOGETHER.min(replicates - place);
            if stop.requested() {
                return Err(Error::Interrupted);
            }
            match self.plan {
                Plan::Seeded { seed, first } => {
                    let first = first.wrapping_add((range.start + place) as u64);
                    self.add_drawn((seed, first), &mut weights[..here * self.padded()], place, (out, stride), stop)?;
                }
                Plan::Given(given) => {
                    let units = self.design.units();
                    for place in place..place + here {
                        if stop.requested() {
                            return Err(Error::Interrupted);
                        }
                        self.add_given(&given[(range.start + place) * units..][..units], place, (out, stride));
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
