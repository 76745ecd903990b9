//! Replicates: rows of counts chosen by a random stream, added up exactly, scored and reduced.
//!
//! A [`Resampler`] is prepared once: it checks and packs the counts, and drops columns that follow from others
//! (`design/`). Then it runs ranges of replicates, each of which is a pure function of the seed and its number. A
//! kernel (`kernel/`) fills blocks of replicates with sums of integer rows, the formulas score the sums, and
//! [reductions](Reduction) (`reduce/`) keep what was asked for, all in one pass while a block is in the cache. Results
//! do not depend on threads or blocks, and memory is the packed counts, a block per thread, and what the caller asked
//! to keep.

pub(crate) mod bins;
pub(crate) mod design;
pub(crate) mod exact;
pub(crate) mod kernel;
pub(crate) mod many;
pub mod reduce;
mod resampler;
mod score;
mod strided;
pub(crate) mod studentize;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::error::{Result, check_length};
use crate::metric::Formula;
use crate::stats::SuffStats;

pub use kernel::exchange::Exchange;
pub use kernel::permute::permutations;
pub use kernel::subgroup::random_codes;
pub use kernel::weights::draw_weights;
pub use reduce::{Alternative, Alternatives, Pair, Reduction};
pub(crate) use resampler::Workers;
pub use resampler::{Kind, Plan, Resampler, Shuffles, replicates};
pub(crate) use strided::Strided;

/// The counts of some systems and the formula that scores their sums.
#[derive(Clone)]
pub struct Sample<'a> {
    pub(crate) formula: Option<Arc<dyn Formula>>,
    pub(crate) stats: SuffStats<'a>,
}

impl<'a> Sample<'a> {
    /// Pairs a formula with counts of its width.
    ///
    /// # Errors
    /// [`crate::Error::LengthMismatch`] if the counts and the formula differ in their number of columns.
    pub fn new(formula: Arc<dyn Formula>, stats: SuffStats<'a>) -> Result<Self> {
        check_length(format_args!("columns of {}", formula.name()), formula.columns().len(), stats.columns())?;
        Ok(Sample { formula: Some(formula), stats })
    }

    /// Counts without a formula. Only [`reduce::Sums`] can be computed from them.
    pub fn without_formula(stats: SuffStats<'a>) -> Self {
        Sample { formula: None, stats }
    }
}

/// Replicates come in batches of this many, as many as a mask has bits. Kernels pad blocks to whole batches. Batches that
/// begin at multiples of this number are scored together, while their totals are in the L1 cache, and sums of floats are
/// sums over these batches.
pub const BATCH: usize = 64;

/// The value of a cell, which is made on first use. Two threads may both make it; one result is kept.
pub(crate) fn made<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    match cell.get() {
        Some(value) => Ok(value),
        None => {
            let value = make()?;
            Ok(cell.get_or_init(|| value))
        }
    }
}

/// The number of replicates in a range.
pub(crate) fn length(range: &Range<u64>) -> usize {
    (range.end - range.start) as usize
}

#[cfg(test)]
pub(crate) mod tests;
