//! Replicates: rows chosen by a stream, added up exactly, scored, tallied.
//!
//! A kernel (`kernel/`) adds up the columns of a design (`design/`) and fills a block of replicates with sums of integer rows. What is made of the
//! sums (an exceedance count, a score, the sums themselves) is a function from a block to a result, run by the same
//! thread while the block is warm; results meet in replicate order. So nothing depends on threads or block sizes, and
//! memory is the packed counts, a block per thread, and what the caller asked to keep.

mod design;
pub mod exact;
mod kernel;
mod reduce;
pub mod shuffle;

use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::stats::SuffStats;

pub use kernel::{draw, subgroup};
pub use reduce::{family, stopping};

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
