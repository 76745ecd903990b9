//! What is resampled, as kernels want it: the columns that have to be added up.

pub(super) mod columns;

use crate::error::{Error, Result};
use crate::pool::Stop;
use crate::stats::SuffStats;
use columns::{Cells, Columns};

/// What is to be added up, for all systems under all metrics.
pub(super) struct Design<'a> {
    pub cells: Cells<'a>,
    pub columns: Columns,
    /// Where each metric's k × K cells begin.
    pub offsets: Vec<usize>,
}

impl<'a> Design<'a> {
    /// If `relative`, rows are taken relative to the first system.
    pub fn new(all: &'a [SuffStats<'a>], relative: bool, stop: &Stop<'_>) -> Result<Self> {
        let units = all.first().ok_or_else(|| Error::Empty { what: "counts".into() })?.segments();
        if let Some(other) = all.iter().find(|stats| stats.segments() != units) {
            let got = other.segments();
            return Err(Error::LengthMismatch { what: "segments".into(), expected: units, got });
        }
        let cells = Cells::new(all, relative);
        let columns = Columns::new(&cells, stop)?;
        let offsets = cells.offsets();
        Ok(Design { cells, columns, offsets })
    }

    pub fn units(&self) -> usize {
        self.cells.units()
    }
}
