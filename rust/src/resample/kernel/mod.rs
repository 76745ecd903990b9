//! Kernels: blocks of replicates are filled with the sums of the rows that they choose.

pub(super) mod draw;
pub(super) mod few;
pub(super) mod flips;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod product;
pub(super) mod source;
pub(super) mod subgroup;
mod tiles;
pub(super) mod weights;

use std::ops::Range;

use super::design::Design;
use crate::error::Result;
use crate::pool::Stop;
use crate::resample::length;

/// Fills blocks of replicates with sums.
pub(super) trait Kernel: Sync {
    /// Replicates per block, at most: a multiple of [`STRIDE`].
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
    /// [`crate::Error::Interrupted`] if told to stop, [`crate::Error::Memory`].
    fn sums(&self, range: Range<u64>, scratch: &mut Scratch, out: (&mut [i64], usize), stop: &Stop<'_>) -> Result<()>;
}

/// Replicates come in multiples of this, some of them for nothing.
pub(super) const STRIDE: usize = 64;

/// Room for a kernel to scribble in, which a thread uses for one block after the other.
#[derive(Default)]
pub(super) struct Scratch {
    words: Vec<u64>,
    bytes: Vec<u8>,
}

/// A block of replicates: the sums that a kernel left.
pub struct Block<'a> {
    pub(super) design: &'a Design,
    /// Column by column, the replicates' side by side.
    pub(super) columns: &'a [i64],
    pub(super) stride: usize,
    /// The numbers of the replicates.
    pub(super) replicates: Range<u64>,
    /// How many rows were added in each replicate, for the constants in rules.
    pub(super) rows: i64,
}

impl Block<'_> {
    /// How many replicates there are.
    pub(super) fn len(&self) -> usize {
        length(&self.replicates)
    }

    /// Writes the sums of a cell in the replicates from the `first`-th on.
    pub(super) fn copy(&self, cell: usize, first: usize, out: &mut [i64]) {
        self.design.copy(cell, (self.columns, self.stride, first), self.rows, out);
    }
}
