//! Ranges of replicates that reductions have processed. What two of them keep of adjacent ranges can be merged.

use std::ops::Range;

use super::state::{Field, Reader, foreign};
use crate::error::{Error, Result};
use crate::memory::extend;
use crate::pool::Stop;
use crate::resample::length;

/// More replicates than a process can make, and few enough for floats and sums.
const MOST_REPLICATES: u64 = 1 << 53;

/// What a reduction keeps of a range of replicates. That of the next range can be added.
pub trait Ranged {
    /// The range, if the reduction has been run.
    fn span(&self) -> &Span;

    /// Adds what a reduction with the same specification has kept of the replicates that follow these.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if they do not follow, or the specification is another one.
    fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()>;

    /// The replicates that were processed.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] before a run.
    fn replicates(&self) -> Result<Range<u64>> {
        self.span().get()
    }
}

/// The range of replicates that a reduction has processed, if it has been run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span(pub(super) Option<Range<u64>>);

impl Span {
    /// The range.
    pub(super) fn get(&self) -> Result<Range<u64>> {
        let never = || {
            Error::invalid(
                "a reduction whose result is read",
                "one that Resampler.run returned",
                "one that has not been run",
            )
        };
        self.0.clone().ok_or_else(never)
    }

    /// The union of this range and the one that follows.
    pub(super) fn with(&self, later: &Span) -> Result<Range<u64>> {
        let (first, second) = (self.get()?, later.get()?);
        if first.end == second.start {
            return Ok(first.start..second.end);
        }
        let expected = format_args!("{}, where this one ends", first.end);
        Err(Error::invalid("the first replicate of a reduction to merge", expected, second.start))
    }

    /// The number of replicates; 0 before a run.
    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, length)
    }
}

impl Field for Span {
    fn save(&self, out: &mut Vec<u64>) -> Result<()> {
        let Range { start, end } = self.get()?;
        extend(out, [start, end])
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        let (start, end) = (from.word()?, from.word()?);
        if start >= end || end - start > MOST_REPLICATES {
            return Err(foreign());
        }
        self.0 = Some(start..end);
        Ok(())
    }
}
