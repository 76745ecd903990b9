//! Kernels: fill blocks of replicates with the sums of the rows that the replicates choose.

pub(super) mod draw;
pub(super) mod exchange;
pub(super) mod few;
pub(super) mod flips;
#[cfg(target_arch = "x86_64")]
mod lanes;
pub(super) mod permute;
mod product;
pub(crate) mod scatter;
pub(super) mod source;
pub(super) mod subgroup;
mod tiles;
pub(super) mod weights;

use std::ops::Range;

use super::design::Design;
use crate::error::Result;
use crate::pool::Stop;
use crate::resample::{BATCH, Strided, length};

/// Columns to which a kernel adds the sums of replicates.
pub(crate) type Out<'a> = Strided<&'a mut [i64]>;

/// Fills blocks of replicates with sums.
pub(crate) trait Kernel: Sync {
    /// The largest number of replicates per block, a multiple of [`BATCH`].
    fn block(&self) -> usize;

    /// The smallest number of replicates per block that is worth the overhead, a multiple of [`BATCH`].
    fn least(&self) -> usize {
        BATCH
    }

    /// The cost of a replicate, in additions of a row, roughly.
    fn cost(&self) -> u64;

    /// How often the constant of a rule is added to the sums of a replicate. Rules of shuffles have none; those of draws
    /// have one for each row.
    fn constants(&self) -> i64 {
        0
    }

    /// Adds the chosen rows of each replicate in `range` to the columns of `out`, and then the exceptional values. `out`
    /// holds zeros, and has room for more replicates than asked for, to fill registers.
    fn sums(&self, range: Range<u64>, scratch: &mut Scratch, out: Out<'_>, stop: &Stop<'_>) -> Result<()>;
}

/// Buffers for a kernel, reused by a thread from block to block.
#[derive(Default)]
pub(crate) struct Scratch {
    masks: Vec<u64>,
    bytes: Vec<u8>,
    table: Vec<scatter::Sums>,
    exchanged: exchange::GroupMasks,
}

/// The sums of a block of replicates.
pub struct Block<'a> {
    pub(super) design: &'a Design,
    pub(super) columns: Strided<&'a [i64]>,
    /// The numbers of the replicates.
    pub(super) replicates: Range<u64>,
    /// As [`Kernel::constants`].
    pub(super) constants: i64,
}

impl Block<'_> {
    /// The number of replicates.
    pub(super) fn len(&self) -> usize {
        length(&self.replicates)
    }

    /// Writes the sums of a cell in the replicates from the `first`-th of the block on.
    pub(super) fn copy(&self, cell: usize, first: usize, out: &mut [i64]) {
        self.design.copy(cell, self.columns.rows_from(first), self.constants, out);
    }
}
