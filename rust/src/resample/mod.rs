//! Replicates: rows chosen by a stream, added up exactly, scored, reduced.
//!
//! A [`Resampler`] is prepared once: its counts are checked, packed and cut down to the columns that say something new
//! (`design/`). Then it runs ranges of replicates, which are pure functions of a seed and their number: a kernel
//! (`kernel/`) fills blocks of them with sums of integer rows, the formulas score these, and [reductions](Reduction)
//! (`reduce/`) keep of the scores what was asked for, all in one pass, while a block is warm. So nothing depends on
//! threads or blocks, and memory is the packed counts, a block per thread, and what the caller asked to keep.

mod design;
pub mod exact;
mod kernel;
pub mod many;
pub mod reduce;
mod resampler;
mod score;

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::metric::Formula;
use crate::stats::SuffStats;

pub use kernel::subgroup::random_codes;
pub use kernel::weights::draw_weights;
pub use reduce::{Alternative, Pair, Reduction};
pub use resampler::{Kind, Plan, Resampler, replicates};

/// The counts of some systems and the formula that scores their sums.
#[derive(Clone)]
pub struct Sample<'a> {
    formula: Option<Arc<dyn Formula>>,
    stats: SuffStats<'a>,
}

impl<'a> Sample<'a> {
    /// Pairs a formula with counts of its width.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the counts have not as many columns as the formula.
    pub fn new(formula: Arc<dyn Formula>, stats: SuffStats<'a>) -> Result<Self> {
        let (expected, got) = (formula.columns().len(), stats.columns());
        if expected != got {
            return Err(Error::LengthMismatch { what: format!("columns of {}", formula.name()), expected, got });
        }
        Ok(Sample { formula: Some(formula), stats })
    }

    /// Counts whose sums someone else scores: of them [`reduce::Sums`] can be had.
    pub fn without_formula(stats: SuffStats<'a>) -> Self {
        Sample { formula: None, stats }
    }
}

/// The number of replicates in a range.
pub(crate) fn length(range: &Range<u64>) -> usize {
    (range.end - range.start) as usize
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

    zero!(u8, u32, u64, i8, i16, i32, i64, f64);

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

/// Makes a buffer that is used again so long; what is new are zeros.
pub(crate) fn resize<T: Zero + Default>(buffer: &mut Vec<T>, length: usize) -> Result<()> {
    let more = length.saturating_sub(buffer.len());
    buffer.try_reserve(more).map_err(|_| Error::Memory { numbers: length as u128 })?;
    buffer.resize(length, T::default());
    Ok(())
}

#[cfg(test)]
mod tests;
