//! Where the choices of replicates come from: the stream of a seed, or values that the caller supplied.

use std::ops::Range;

use crate::error::{Result, check_length};
use crate::resample::length;

/// The source of the choices: flip masks for shuffles, unit indices for draws.
#[derive(Debug, Clone, Copy)]
pub(in crate::resample) enum Source<'a, T> {
    /// The streams of a seed.
    Seeded(u64),
    /// Values that the caller supplied.
    Supplied(Supplied<'a, T>),
}

/// User-supplied choices for consecutive replicates.
#[derive(Debug, Clone, Copy)]
pub(in crate::resample) struct Supplied<'a, T> {
    values: &'a [T],
    /// Values per replicate.
    width: usize,
    first: u64,
}

impl<'a, T> Supplied<'a, T> {
    /// Wraps `width` values for each replicate in `range`; `what` names them in the error.
    pub fn new(what: &str, values: &'a [T], width: usize, range: &Range<u64>) -> Result<Self> {
        check_length(what, length(range).saturating_mul(width), values.len())?;
        Ok(Supplied { values, width, first: range.start })
    }

    /// The number of values of a replicate.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The values of all replicates.
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// The values of one replicate.
    pub fn of_replicate(&self, replicate: u64) -> &'a [T] {
        &self.values[(replicate - self.first) as usize * self.width..][..self.width]
    }
}
