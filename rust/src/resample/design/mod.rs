//! What is resampled, as kernels want it: checked, packed, and cut down to the columns that have to be added up.
//!
//! Much of what metrics count is said twice. All systems have the same references; the number of bigrams is the number
//! of words less one, but in segments without any; two systems may even agree in a count everywhere. A column that is
//! another one plus a constant, but for a few units, is not added up again: its sums follow.

mod find;
pub(super) mod packed;

use super::{Sample, reserved};
use crate::error::{Error, Result};
use crate::pool::Run;
use find::{Base, Found};
use packed::{Column, Packed};

/// How the sums of a cell follow from what is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rule {
    /// The column that it is, but for the rest.
    pub dense: Option<usize>,
    /// What every unit has on top.
    pub constant: i64,
    /// The place of the units that have something else on top.
    pub exceptions: Option<usize>,
}

/// A unit and what a cell has there on top of its rule.
pub(super) type Exception = (usize, i64);

/// The units in which a cell is not what its rule says.
pub(super) struct Exceptions {
    /// In ascending order.
    pub units: Vec<Exception>,
    /// The cell's column in its metric, for errors.
    pub column: usize,
}

/// The place of a sample's numbers among those of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub systems: usize,
    pub columns: usize,
    /// Its first cell: system by system, column by column.
    pub cell: usize,
    /// Its first system.
    pub system: usize,
}

/// What is to be added up, for all systems under all metrics. A *cell* is a column of counts of a system under a metric.
pub(super) struct Design {
    pub units: usize,
    pub places: Vec<Place>,
    /// For each cell.
    pub rules: Vec<Rule>,
    /// The sums over all units: for each cell.
    pub totals: Vec<i64>,
    /// The columns to be added up.
    pub packed: Packed,
    /// For each of them the cell's column in its metric, for errors.
    pub columns: Vec<usize>,
    pub exceptions: Vec<Exceptions>,
}

impl Design {
    /// If `relative`, rows are taken relative to the first system.
    ///
    /// # Errors
    /// [`Error::Empty`] without samples, [`Error::LengthMismatch`] if one has more units than another,
    /// [`Error::Memory`], and what the pool returns.
    pub fn new(samples: &[Sample<'_>], relative: bool, run: &mut Run<'_>) -> Result<Self> {
        let units = samples.first().ok_or_else(|| Error::Empty { what: "metrics".into() })?.stats.segments();
        if let Some(other) = samples.iter().find(|sample| sample.stats.segments() != units) {
            let got = other.stats.segments();
            return Err(Error::LengthMismatch { what: "segments".into(), expected: units, got });
        }
        let mut places = reserved(samples.len())?;
        let (mut cell, mut system) = (0, 0);
        for Sample { stats, .. } in samples {
            let (systems, columns) = (stats.systems(), stats.columns());
            places.push(Place { systems, columns, cell, system });
            (cell, system) = (cell + systems * columns, system + systems);
        }
        let mut design = Design {
            units,
            places,
            rules: reserved(cell)?,
            totals: reserved(cell)?,
            packed: Packed::new(units),
            columns: Vec::new(),
            exceptions: Vec::new(),
        };
        for sample in samples {
            let first = design.rules.len();
            for found in find::cells_of(&sample.stats, relative, run)? {
                design.keep(found, first);
            }
        }
        Ok(design)
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.rules.len()
    }

    /// How many sums a kernel makes: of columns, then of exceptions.
    pub fn width(&self) -> usize {
        self.packed.len() + self.exceptions.len()
    }

    /// Puts a system's cells behind those that are there; its metric's begin at `first`.
    fn keep(&mut self, found: Found<Column>, first: usize) {
        let own = self.rules.len();
        for (column, (cell, values)) in found.cells.into_iter().zip(found.values).enumerate() {
            self.totals.push(cell.total);
            let dense = match cell.base {
                Base::Zero => None,
                Base::FirstSystem => self.rules[first + column].dense,
                Base::SameSystem(column) => self.rules[own + column].dense,
                Base::Stored => {
                    self.packed.push(values);
                    self.columns.push(column);
                    Some(self.packed.len() - 1)
                }
            };
            let exceptions = (!cell.exceptions.is_empty()).then(|| {
                self.exceptions.push(Exceptions { units: cell.exceptions, column });
                self.exceptions.len() - 1
            });
            self.rules.push(Rule { dense, constant: cell.constant, exceptions });
        }
    }

    /// The sums of a cell in `out.len()` replicates, from those of a kernel: `columns` are its sums, `stride` apart, and
    /// `rows` says how many rows were added in each replicate.
    pub fn copy(&self, cell: usize, (columns, stride, from): (&[i64], usize, usize), rows: i64, out: &mut [i64]) {
        let Rule { dense, constant, exceptions } = self.rules[cell];
        let column = |column: usize| &columns[column * stride + from..][..out.len()];
        let on_top = exceptions.map(|exceptions| column(self.packed.len() + exceptions));
        match dense {
            Some(dense) => {
                let dense = column(dense);
                out.copy_from_slice(dense);
            }
            None => out.fill(0),
        }
        if constant != 0 {
            let constant = constant.wrapping_mul(rows);
            out.iter_mut().for_each(|out| *out = out.wrapping_add(constant));
        }
        if let Some(on_top) = on_top {
            out.iter_mut().zip(on_top).for_each(|(out, on_top)| *out = out.wrapping_add(*on_top));
        }
    }
}
