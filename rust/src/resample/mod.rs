//! Replicates: rows chosen by a stream, added up exactly, scored, tallied.
//!
//! A kernel ([`shuffle`], [`subgroup`], [`draw`]) fills a block of replicates with sums of integer rows. What is made of the
//! sums (an exceedance count, a score, the sums themselves) is a function from a block to a result, run by the same
//! thread while the block is warm; results meet in replicate order. So nothing depends on threads or block sizes, and
//! memory is the packed counts, a block per thread, and what the caller asked to keep.

mod columns;
pub mod draw;
pub mod exact;
pub mod family;
mod flips;
mod lanes;
mod product;
pub mod shuffle;
pub mod stopping;
pub mod subgroup;
mod tiles;
mod weights;

use std::ops::Range;
use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::pool::{self, Blocks, Patience, Run, Stop};
use crate::stats::SuffStats;
use columns::{Cells, Columns, Rule};

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

/// What is to be added up, for all systems under all metrics.
struct Design<'a> {
    cells: Cells<'a>,
    columns: Columns,
    /// Where each metric's k × K cells begin.
    offsets: Vec<usize>,
}

impl<'a> Design<'a> {
    /// If `relative`, rows are taken relative to the first system.
    fn new(all: &'a [SuffStats<'a>], relative: bool, stop: &Stop<'_>) -> Result<Self> {
        let units = all.first().ok_or_else(|| Error::Empty { what: "counts".into() })?.segments();
        if let Some(other) = all.iter().find(|stats| stats.segments() != units) {
            let got = other.segments();
            return Err(Error::LengthMismatch { what: "segments".into(), expected: units, got });
        }
        let cells = Cells::new(all, relative);
        let columns = Columns::new(&cells, stop)?;
        let offsets = cells.offsets();
        Ok(Design { cells, columns, offsets })
    }

    fn units(&self) -> usize {
        self.cells.units()
    }
}

/// The sums of a block of replicates, as a kernel left them.
struct Sums<'a> {
    design: &'a Design<'a>,
    /// Column by column, the replicates' side by side.
    columns: Vec<i64>,
    stride: usize,
    replicates: usize,
    /// How many rows were added in each replicate, for the constants in rules.
    rows: i64,
}

impl Sums<'_> {
    /// Writes the sums of a cell in the replicates from `first` on.
    fn copy(&self, cell: usize, first: usize, out: &mut [i64]) {
        let Rule { dense, constant, exceptions } = self.design.columns.rules[cell];
        let column = |column: usize| &self.columns[column * self.stride + first..];
        match dense {
            Some(dense) => out.copy_from_slice(&column(dense)[..out.len()]),
            None => out.fill(0),
        }
        if constant != 0 {
            let constant = constant.wrapping_mul(self.rows);
            out.iter_mut().for_each(|out| *out = out.wrapping_add(constant));
        }
        if let Some(exceptions) = exceptions {
            let on_top = column(self.design.columns.dense.len() + exceptions);
            out.iter_mut().zip(on_top).for_each(|(out, on_top)| *out += on_top);
        }
    }

    /// All sums under all metrics, replicate by replicate, metric by metric.
    fn to_vec(&self, stop: &Stop<'_>) -> Result<Vec<i64>> {
        let cells = self.design.cells.len();
        let mut out = zeros(&[self.replicates, cells])?;
        let mut of_cell = vec![0; self.replicates];
        let mut patience = Patience::default();
        for cell in 0..cells {
            patience.spend(self.replicates, stop)?;
            self.copy(cell, 0, &mut of_cell);
            out[cell..].iter_mut().step_by(cells).zip(&of_cell).for_each(|(out, sum)| *out = *sum);
        }
        Ok(out)
    }
}

/// Zeros for results of the size that a caller asked for: an error, not an abort, if there is no room.
///
/// Memory comes from the system as zeros, page by page when it is first written to: however much it is, this takes no
/// time, during which a call could not be interrupted.
pub(crate) fn zeros<T: Zero>(factors: &[usize]) -> Result<Vec<T>> {
    let numbers = factors.iter().fold(1, |product: u128, &factor| product.saturating_mul(factor as u128));
    let length = usize::try_from(numbers).map_err(|_| Error::Memory { numbers })?;
    zeroed::vector(length).ok_or(Error::Memory { numbers })
}

pub(crate) use zeroed::Zero;

#[allow(unsafe_code)]
mod zeroed {
    use std::alloc::{Layout, alloc_zeroed};

    /// What is 0 if all of its bits are.
    ///
    /// # Safety
    /// All bits 0 have to be a value.
    pub unsafe trait Zero: Copy {}

    macro_rules! zero {
        ($($number:ty),*) => {$(
            // SAFETY: all bits 0 are the number 0.
            unsafe impl Zero for $number {}
        )*};
    }

    zero!(u8, u32, u64, i64, f64);

    // SAFETY: all bits 0 are so many times 0.
    unsafe impl<T: Zero, const N: usize> Zero for [T; N] {}

    /// None if there is no room.
    pub fn vector<T: Zero>(length: usize) -> Option<Vec<T>> {
        const { assert!(size_of::<T>() > 0) };
        if length == 0 {
            return Some(Vec::new());
        }
        let layout = Layout::array::<T>(length).ok()?;
        // SAFETY: neither the length nor the size of a value is 0.
        let memory = unsafe { alloc_zeroed(layout) };
        // SAFETY: the global allocator gave it, for this layout, and all bits 0 are a value of every place.
        (!memory.is_null()).then(|| unsafe { Vec::from_raw_parts(memory.cast(), length, length) })
    }
}

/// An empty vector with room: an error, not an abort, if there is none.
pub(crate) fn reserved<T>(length: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    out.try_reserve_exact(length).map_err(|_| Error::Memory { numbers: length as u128 })?;
    Ok(out)
}

/// Is there at least one replicate, and do the numbers of all fit 64 bits?
fn check_replicates(first: u64, n: usize) -> Result<()> {
    if n == 0 {
        return Err(Error::Empty { what: "replicates".into() });
    }
    if first.checked_add(n as u64).is_none() {
        let expected = format!("at most {} for {n} replicates", u64::MAX - n as u64);
        return Err(Error::InvalidOption { option: "the first replicate".into(), expected, got: first.to_string() });
    }
    Ok(())
}

/// Fills blocks of replicates with sums.
trait Kernel: Sync {
    /// Replicates per block, at most.
    fn block(&self) -> usize;

    /// What a replicate costs, in additions of a row, roughly.
    fn cost(&self) -> u64;

    /// How many rows it adds in each replicate; 0 if that is not known, and no rule has a constant.
    fn rows(&self) -> i64 {
        0
    }

    /// Adds the chosen rows of each replicate in `range` to the columns of `out`, `stride` apart, then what is
    /// exceptional. `out` holds zeros, and has room for more replicates, to fill registers.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if told to stop, [`Error::Memory`].
    fn sums(&self, range: Range<usize>, stop: &Stop<'_>, out: (&mut [i64], usize)) -> Result<()>;
}

/// Replicates come in multiples of this, some of them for nothing.
const STRIDE: usize = lanes::LANES;

/// Runs a kernel over `n` replicates; `finish` makes of a block what `sink` then gets in replicate order.
fn replicates<K: Kernel + ?Sized, T: Send>(
    (design, kernel): (&Design<'_>, &K),
    n: usize,
    extra_cost: u64,
    run: &mut Run<'_>,
    finish: impl Fn(&Sums<'_>, &Stop<'_>) -> Result<T> + Sync,
    mut sink: impl FnMut(Range<usize>, T),
) -> Result<()> {
    let block = kernel.block();
    let size = n.div_ceil(pool::resolve(run.threads)).min(block).next_multiple_of(STRIDE).clamp(1, block);
    let width = design.columns.width();
    let failed = OnceLock::new();
    pool::run(
        Blocks { items: n, size, cost: kernel.cost() + extra_cost },
        run,
        |range, stop| {
            let replicates = range.len();
            let stride = replicates.next_multiple_of(STRIDE);
            let done = zeros(&[width, stride]).and_then(|mut columns| {
                kernel.sums(range, stop, (&mut columns, stride))?;
                finish(&Sums { design, columns, stride, replicates, rows: kernel.rows() }, stop)
            });
            match done {
                // After a failure the other workers stop.
                Ok(done) => failed.get().is_none().then_some(done),
                Err(Error::Interrupted) => None,
                Err(error) => {
                    failed.get_or_init(|| error);
                    None
                }
            }
        },
        |range, done, _| sink(range, done),
    )?;
    failed.into_inner().map_or(Ok(()), Err)
}

/// The sums of all replicates, for a caller who scores them.
fn all_sums<K: Kernel + ?Sized>((design, kernel): (&Design<'_>, &K), n: usize, run: &mut Run<'_>) -> Result<Vec<i64>> {
    let cells = design.cells.len();
    let mut out = zeros(&[n, cells])?;
    let keep = |range: Range<usize>, block: Vec<i64>| {
        out[range.start * cells..range.end * cells].copy_from_slice(&block);
    };
    replicates((design, kernel), n, 0, run, |sums, stop| sums.to_vec(stop), keep)?;
    Ok(out)
}
