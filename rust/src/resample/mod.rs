//! Replicates: rows of counts chosen by a random stream, added up exactly, scored and reduced.
//!
//! A [`Resampler`] is prepared once: it checks and packs the counts, and drops columns that follow from others
//! (`design/`). Then it runs ranges of replicates, each of which is a pure function of the seed and its number. A
//! kernel (`kernel/`) fills blocks of replicates with sums of integer rows, the formulas score the sums, and
//! [reductions](Reduction) (`reduce/`) keep what was asked for, all in one pass while a block is in the cache. Results
//! do not depend on threads or blocks, and memory is the packed counts, a block per thread, and what the caller asked
//! to keep.

pub mod bins;
pub(crate) mod design;
pub mod exact;
pub(crate) mod kernel;
pub mod many;
pub mod reduce;
mod resampler;
mod score;
pub mod studentize;

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::metric::Formula;
use crate::stats::SuffStats;

pub use kernel::exchange::Exchange;
pub use kernel::permute::permutations;
pub use kernel::subgroup::random_codes;
pub use kernel::weights::draw_weights;
pub use reduce::{Alternative, Alternatives, Pair, Reduction};
pub(crate) use resampler::Workers;
pub use resampler::{Kind, Plan, Resampler, replicates};

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
    /// [`Error::LengthMismatch`] if the counts and the formula differ in their number of columns.
    pub fn new(formula: Arc<dyn Formula>, stats: SuffStats<'a>) -> Result<Self> {
        let (expected, got) = (formula.columns().len(), stats.columns());
        if expected != got {
            return Err(Error::LengthMismatch { what: format!("columns of {}", formula.name()), expected, got });
        }
        Ok(Sample { formula: Some(formula), stats })
    }

    /// Counts without a formula. Only [`reduce::Sums`] can be computed from them.
    pub fn without_formula(stats: SuffStats<'a>) -> Self {
        Sample { formula: None, stats }
    }
}

/// The number of replicates in a range.
pub(crate) fn length(range: &Range<u64>) -> usize {
    (range.end - range.start) as usize
}

/// Zeros for results whose size the caller chose: an error, not an abort, if there is no room.
///
/// The operating system provides zeroed pages when they are first written to, so this takes no time even for gigabytes,
/// during which a call could not be interrupted.
pub(crate) fn zeros<T: Zero>(factors: &[usize]) -> Result<Vec<T>> {
    let numbers = factors.iter().fold(1, |product: u128, &factor| product.saturating_mul(factor as u128));
    let length = usize::try_from(numbers).map_err(|_| Error::Memory { numbers })?;
    zeroed::vector(length).ok_or(Error::Memory { numbers })
}

pub(crate) use zeroed::Zero;

#[allow(unsafe_code)]
mod zeroed {
    use std::alloc::{Layout, alloc_zeroed};

    /// A type that is 0 if all of its bits are 0.
    ///
    /// # Safety
    /// All bits 0 must be a valid value.
    pub unsafe trait Zero: Copy {}

    macro_rules! zero {
        ($($number:ty),*) => {$(
            // SAFETY: all bits 0 are the number 0.
            unsafe impl Zero for $number {}
        )*};
    }

    zero!(u8, u16, u32, u64, i8, i16, i32, i64, i128, f64);

    // SAFETY: all bits 0 are an array of zeros.
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
        // SAFETY: the global allocator returned it for this layout, and all bits 0 are a valid value of every element.
        (!memory.is_null()).then(|| unsafe { Vec::from_raw_parts(memory.cast(), length, length) })
    }
}

/// An empty vector with capacity: an error, not an abort, if there is no room.
pub(crate) fn reserved<T>(length: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    out.try_reserve_exact(length).map_err(|_| Error::Memory { numbers: length as u128 })?;
    Ok(out)
}

/// Resizes a reused buffer; new elements are 0.
pub(crate) fn resize<T: Zero + Default>(buffer: &mut Vec<T>, length: usize) -> Result<()> {
    let more = length.saturating_sub(buffer.len());
    buffer.try_reserve(more).map_err(|_| Error::Memory { numbers: length as u128 })?;
    buffer.resize(length, T::default());
    Ok(())
}

#[cfg(test)]
mod tests;
