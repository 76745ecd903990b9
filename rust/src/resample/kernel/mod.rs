//! Kernels: blocks of replicates are filled with the sums of the rows that they choose.

pub mod draw;
pub(super) mod flips;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod product;
pub mod subgroup;
mod tiles;
mod weights;

use std::ops::Range;
use std::sync::OnceLock;

use super::design::Design;
use super::design::columns::Rule;
use super::zeros;
use crate::error::{Error, Result};
use crate::pool::{self, Blocks, Patience, Run, Stop};

/// The sums of a block of replicates, as a kernel left them.
pub(super) struct Sums<'a> {
    pub design: &'a Design<'a>,
    /// Column by column, the replicates' side by side.
    columns: Vec<i64>,
    stride: usize,
    pub replicates: usize,
    /// How many rows were added in each replicate, for the constants in rules.
    rows: i64,
}

impl Sums<'_> {
    /// Writes the sums of a cell in the replicates from `first` on.
    pub fn copy(&self, cell: usize, first: usize, out: &mut [i64]) {
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

/// Fills blocks of replicates with sums.
pub(super) trait Kernel: Sync {
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
const STRIDE: usize = 64;

/// Runs a kernel over `n` replicates; `finish` makes of a block what `sink` then gets in replicate order.
pub(super) fn replicates<K: Kernel + ?Sized, T: Send>(
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
pub(super) fn all_sums<K: Kernel + ?Sized>(
    (design, kernel): (&Design<'_>, &K),
    n: usize,
    run: &mut Run<'_>,
) -> Result<Vec<i64>> {
    let cells = design.cells.len();
    let mut out = zeros(&[n, cells])?;
    let keep = |range: Range<usize>, block: Vec<i64>| {
        out[range.start * cells..range.end * cells].copy_from_slice(&block);
    };
    replicates((design, kernel), n, 0, run, |sums, stop| sums.to_vec(stop), keep)?;
    Ok(out)
}
