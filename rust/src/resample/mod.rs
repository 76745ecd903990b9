//! Replicates: rows chosen by a stream, added up exactly, scored, tallied.
//!
//! A kernel ([`shuffle`], [`draw`]) fills a block of replicates with sums of integer rows. What is made of the sums (an
//! exceedance count, a score, the sums themselves) is a function from a block to a result, run by the same thread
//! while the block is warm; results meet in replicate order. So nothing depends on threads or block sizes, and memory
//! is the packed counts, a block per thread, and what the caller asked to keep.

pub mod draw;
mod multinomial;
pub mod shuffle;
mod tiles;

use std::ops::Range;

use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::pool::{self, Blocks, Run, Stop};
use crate::stats::SuffStats;
use tiles::{Group, Tiles};

/// Where the choices of the replicates come from.
#[derive(Debug, Clone, Copy)]
pub enum Plan<'a, T> {
    /// Replicates `first`, `first` + 1 … of a seed.
    Seeded {
        /// The seed.
        seed: u64,
        /// The number of the first replicate.
        first: u64,
    },
    /// Choices given by the caller, replicate by replicate: words of flips (bit u % 64 of word u / 64 swaps unit u)
    /// or indices of units.
    Given(&'a [T]),
}

/// The counts of some systems and the metric that scores their sums.
#[derive(Clone, Copy)]
pub struct Scored<'a> {
    /// The metric.
    pub metric: &'a dyn Metric,
    /// The counts.
    pub stats: SuffStats<'a>,
}

impl<'a> Scored<'a> {
    /// Pairs a metric with counts of its width.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the counts have not as many columns as the metric.
    pub fn new(metric: &'a dyn Metric, stats: SuffStats<'a>) -> Result<Self> {
        let (expected, got) = (metric.columns().len(), stats.columns());
        if expected != got {
            return Err(Error::LengthMismatch { what: format!("columns of {}", metric.name()), expected, got });
        }
        Ok(Scored { metric, stats })
    }
}

/// The rows to add, for all systems under all metrics side by side.
struct Design {
    tiles: Tiles,
    units: usize,
    /// Where each metric's k × K columns begin.
    offsets: Vec<usize>,
    /// How many columns there are under all metrics.
    cells: usize,
    /// Where the number of rows added is found among the sums, if they are counted.
    ones: Option<usize>,
}

impl Design {
    /// `row(stats, system, unit, out)` writes what a kernel adds, by the group, for that system and unit. If the rows are
    /// to be counted, a column of ones stands behind all others.
    fn new(
        all: &[SuffStats<'_>],
        group: Group,
        counted: bool,
        row: impl Fn(&SuffStats<'_>, usize, usize, &mut [i64]),
    ) -> Result<Self> {
        let units = all.first().ok_or_else(|| Error::Empty { what: "counts".into() })?.segments();
        let mut offsets = Vec::new();
        let mut cells = 0;
        for stats in all {
            if stats.segments() != units {
                return Err(Error::LengthMismatch { what: "segments".into(), expected: units, got: stats.segments() });
            }
            offsets.push(cells);
            cells += stats.systems() * stats.columns();
        }
        let tiles = Tiles::new(units, cells + usize::from(counted), group, |unit, mut out| {
            for stats in all {
                let (of_stats, rest) = std::mem::take(&mut out).split_at_mut(stats.systems() * stats.columns());
                for (system, out) in of_stats.chunks_exact_mut(stats.columns()).enumerate() {
                    row(stats, system, unit, out);
                }
                out = rest;
            }
            out.fill(1);
        });
        let ones = tiles.slots.get(cells).copied().flatten();
        Ok(Design { tiles, units, offsets, cells, ones })
    }
}

/// The sums of a block of replicates, as a kernel left them.
struct Sums<'a> {
    design: &'a Design,
    packed: &'a [i64],
    replicates: usize,
}

impl Sums<'_> {
    /// Copies the k × K sums of one replicate under the `of`-th metric.
    fn copy(&self, of: usize, replicate: usize, out: &mut [i64]) {
        let width = self.design.tiles.width();
        let packed = &self.packed[replicate * width..(replicate + 1) * width];
        let slots = &self.design.tiles.slots[self.design.offsets[of]..];
        for (out, slot) in out.iter_mut().zip(slots) {
            *out = slot.map_or(0, |slot| packed[slot]);
        }
    }

    /// All sums under all metrics, replicate by replicate, metric by metric.
    fn to_vec(&self) -> Vec<i64> {
        let cells = self.design.cells;
        let mut out = vec![0; self.replicates * cells];
        for (replicate, out) in out.chunks_exact_mut(cells).enumerate() {
            self.copy(0, replicate, out);
        }
        out
    }
}

/// Zeros for results of the size that a caller asked for: an error, not an abort, if there is no room.
fn zeros<T: Copy + Default>(factors: &[usize]) -> Result<Vec<T>> {
    let numbers = factors.iter().map(|&f| f as u128).product::<u128>();
    let mut out = Vec::new();
    let reserved = usize::try_from(numbers).is_ok_and(|numbers| out.try_reserve_exact(numbers).is_ok());
    if !reserved {
        return Err(Error::Memory { numbers });
    }
    out.resize(numbers as usize, T::default());
    Ok(out)
}

/// Fills blocks of replicates with sums.
trait Kernel: Sync {
    /// Replicates per block, at most.
    const BLOCK: usize;

    /// What a replicate costs, in additions of a row, roughly.
    fn cost(&self) -> u64;

    /// Adds the chosen rows of each replicate in `range` to `out`, which holds zeros. `None` if told to stop.
    fn sums(&self, range: Range<usize>, stop: &Stop<'_>, out: &mut [i64]) -> Option<()>;
}

/// Runs a kernel over `n` replicates; `finish` makes of a block what `sink` then gets in replicate order.
fn replicates<K: Kernel, T: Send>(
    (design, kernel): (&Design, &K),
    n: usize,
    extra_cost: u64,
    run: &mut Run<'_>,
    finish: impl Fn(&Sums<'_>) -> T + Sync,
    sink: impl FnMut(Range<usize>, T),
) -> Result<()> {
    let size = n.div_ceil(pool::resolve(run.threads)).clamp(1, K::BLOCK);
    let width = design.tiles.width();
    pool::run(
        Blocks { items: n, size, cost: kernel.cost() + extra_cost },
        run,
        |range, stop| {
            let replicates = range.len();
            let mut packed = vec![0; replicates * width];
            kernel.sums(range, stop, &mut packed)?;
            Some(finish(&Sums { design, packed: &packed, replicates }))
        },
        sink,
    )
}

/// The sums of all replicates, for a caller who scores them.
fn all_sums<K: Kernel>((design, kernel): (&Design, &K), n: usize, run: &mut Run<'_>) -> Result<Vec<i64>> {
    let mut out = zeros(&[n, design.cells])?;
    let keep = |range: Range<usize>, block: Vec<i64>| {
        out[range.start * design.cells..range.end * design.cells].copy_from_slice(&block);
    };
    replicates((design, kernel), n, 0, run, |sums| sums.to_vec(), keep)?;
    Ok(out)
}
