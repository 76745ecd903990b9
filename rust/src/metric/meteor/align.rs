//! The search for the alignment: the best set of matches that do not overlap.

use super::matches::Match;
use crate::error::Result;
use crate::pool::Stop;

/// Chooses matches among all of a segment, and counts their chunks.
#[derive(Default)]
pub(super) struct Aligner {}

impl Aligner {
    /// The chosen matches, in the order of the reference, and the number of chunks.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`], [`crate::Error::Memory`].
    pub(super) fn align(
        &mut self,
        _matches: &[Match],
        _hypothesis_length: usize,
        _reference_length: usize,
        _stop: &Stop<'_>,
    ) -> Result<(&[Match], usize)> {
        Ok((&[], 0))
    }
}
