//! The bootstrap: draw units with replacement, the same draw for every system and metric.

use std::ops::Range;

use super::tiles::{AnyTile, LANES, Lane, Row, Tile, add, widen_into};
use super::{Design, Kernel, Plan, Scored, Sums, replicates};
use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
use crate::stats::SuffStats;
use crate::stream::{Purpose, Stream};

/// The score of every system on every draw: metric by metric, system by system, replicate by replicate.
///
/// # Errors
/// [`Error::LengthMismatch`] if the metrics' counts differ in segments or a given plan is too short,
/// [`Error::OutOfRange`] if a given index is, and what the pool returns.
pub fn scores(scored: &[Scored<'_>], (plan, n): (Plan<'_, u32>, usize), run: &mut Run<'_>) -> Result<Vec<f64>> {
    let all: Vec<_> = scored.iter().map(|s| s.stats).collect();
    let design = design(&all)?;
    let kernel = Draws::new(&design, plan, n)?;
    let series: usize = all.iter().map(SuffStats::systems).sum();
    let mut out = vec![0.0; series * n];
    let finish = |sums: &Sums<'_>| {
        let mut block = vec![0.0; series * sums.replicates];
        let mut series = block.chunks_exact_mut(sums.replicates);
        for (of, Scored { metric, stats }) in scored.iter().enumerate() {
            let (systems, columns) = (stats.systems(), stats.columns());
            let mut totals = vec![0; systems * columns];
            let mut scores = vec![0.0; systems];
            let mut series: Vec<_> = series.by_ref().take(systems).collect();
            for replicate in 0..sums.replicates {
                sums.copy(of, replicate, &mut totals);
                metric.scores(&totals, &mut scores);
                series.iter_mut().zip(&scores).for_each(|(series, score)| series[replicate] = *score);
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
    let design = design(all)?;
    let kernel = Draws::new(&design, plan, n)?;
    let mut out = Vec::with_capacity(n * design.tiles.slots.len());
    replicates((&design, &kernel), n, 0, run, |sums| sums.to_vec(), |_, block| out.extend(block))?;
    Ok(out)
}

fn design(all: &[SuffStats<'_>]) -> Result<Design> {
    let design = Design::new(all, |stats, system, unit, column| stats.get(system, unit, column))?;
    match u32::try_from(design.units) {
        Ok(_) => Ok(design),
        Err(_) => Err(Error::OutOfRange { what: "unit".into(), index: design.units, len: u32::MAX as usize }),
    }
}

/// Indices handled together: all tiles add the same few rows' worth of indices while those are in cache.
const CHUNK: usize = 4096;

/// The units drawn by replicates, and the sums over them.
struct Draws<'a> {
    design: &'a Design,
    plan: Plan<'a, u32>,
}

impl<'a> Draws<'a> {
    fn new(design: &'a Design, plan: Plan<'a, u32>, n: usize) -> Result<Self> {
        let units = design.units;
        if let Plan::Given(given) = plan {
            if given.len() != n * units {
                return Err(Error::LengthMismatch { what: "indices".into(), expected: n * units, got: given.len() });
            }
            if let Some(&index) = given.iter().find(|&&i| i as usize >= units) {
                return Err(Error::OutOfRange { what: "unit".into(), index: index as usize, len: units });
            }
        }
        Ok(Draws { design, plan })
    }
}

impl Kernel for Draws<'_> {
    /// Draws share nothing, so a block is only what is worth handing over at once.
    const BLOCK: usize = 64;

    fn cost(&self) -> u64 {
        (self.design.units * (self.design.tiles.tiles.len() + 2)) as u64
    }

    fn sums(&self, range: Range<usize>, stop: &Stop, out: &mut [i64]) -> Option<()> {
        let units = self.design.units;
        let mut buffer = vec![0; CHUNK.min(units)];
        let width = self.design.tiles.width().max(1);
        for (replicate, out) in range.zip(out.chunks_exact_mut(width)) {
            let mut seeded = match self.plan {
                Plan::Seeded { seed, first } => {
                    let stream = Stream::new(seed, Purpose::Draw, first.wrapping_add(replicate as u64));
                    Some(stream.indices(units as u32))
                }
                Plan::Given(_) => None,
            };
            for from in (0..units).step_by(CHUNK) {
                if stop.requested() {
                    return None;
                }
                let indices = &mut buffer[..CHUNK.min(units - from)];
                match (&mut seeded, self.plan) {
                    (Some(seeded), _) => seeded.fill(indices),
                    (None, Plan::Given(given)) => {
                        indices.copy_from_slice(&given[replicate * units + from..][..indices.len()]);
                    }
                    (None, Plan::Seeded { .. }) => unreachable!("a seeded plan has a stream"),
                }
                for (tile, out) in self.design.tiles.tiles.iter().zip(out.chunks_exact_mut(LANES)) {
                    match tile {
                        AnyTile::Narrow(tile) => add_drawn(tile, indices, out),
                        AnyTile::Middle(tile) => add_drawn(tile, indices, out),
                        AnyTile::Wide(tile) => add_drawn(tile, indices, out),
                    }
                }
            }
        }
        Some(())
    }
}

/// Adds a tile's drawn rows to the sums, widening before a lane could overflow.
fn add_drawn<T: Lane>(tile: &Tile<T>, indices: &[u32], out: &mut [i64]) {
    let fitting = usize::try_from(T::LARGEST / tile.largest).unwrap_or(usize::MAX);
    for indices in indices.chunks(fitting) {
        widen_into(out, &sum_rows(&tile.rows, indices));
    }
}

/// Not inlined: seen together with the widening, the compiler cuts the sixteen lanes into pairs (three times slower).
#[inline(never)]
fn sum_rows<T: Lane>(rows: &[Row<T>], indices: &[u32]) -> Row<T> {
    indices.iter().fold([T::default(); LANES], |sum, &index| add(&sum, &rows[index as usize]))
}

#[cfg(test)]
mod tests;
