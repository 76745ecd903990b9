//! The design of a resampling run: the columns of counts that have to be added up, checked and packed.
//!
//! Metrics count much that is redundant. All systems have the same references; in every segment that is not empty, the
//! number of bigrams is the number of words less one; two systems may even agree in a count everywhere. A column that
//! equals another one plus a constant, except in a few units, is not added up: its sums are computed from the other's.

mod find;
pub(crate) mod packed;
pub(super) mod permuted;

use super::kernel::permute::PermutedRows;
use super::{Sample, Strided};
use crate::error::{Error, Result, check_length};
use crate::memory::reserved;
use crate::pool::{Run, Stop};
use crate::simd::Simd;
use find::{Base, Found};
use packed::{Column, Packed};
use permuted::DifferingColumns;

/// Up to one exception per this many units costs no more than adding up the column would.
pub(crate) const UNITS_PER_EXCEPTION: usize = 64;

/// How the sums of a cell are computed from what is added up: a column, plus a constant, plus exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rule {
    /// The packed column, or None for 0.
    pub dense: Option<usize>,
    /// What every unit adds to the column. For permutations it is added only once: the total of the first system.
    pub constant: i64,
    /// The index of its exceptions in [`Design::exceptions`], or None.
    pub exceptions: Option<usize>,
}

/// A unit, and what the cell has there in addition to its rule.
pub(crate) type Exception = (usize, i64);

/// The units in which a cell does not follow its rule.
pub(crate) struct Exceptions {
    /// In ascending order.
    pub units: Vec<Exception>,
    /// The cell's column in its metric, for errors.
    pub column: usize,
}

/// Where a sample's cells and systems begin among those of all samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub systems: usize,
    pub columns: usize,
    /// Its first cell. Cells are in the order system, column.
    pub cell: usize,
    /// Its first system.
    pub system: usize,
}

/// What has to be added up for all systems under all metrics. A *cell* is one column of counts of one system under one
/// metric.
pub(crate) struct Design {
    pub units: usize,
    pub places: Vec<Place>,
    /// The rule of each cell.
    pub rules: Vec<Rule>,
    /// The sum of each cell over all units.
    pub totals: Vec<i64>,
    /// The number of sums of columns that a kernel computes. The sums of exceptions follow them.
    pub dense: usize,
    /// The columns to add up; none for permutations, whose kernel has its own.
    pub packed: Packed,
    /// The column within its metric of each packed column, for errors.
    pub columns: Vec<usize>,
    /// The exceptions of the rules that have any.
    pub exceptions: Vec<Exceptions>,
}

impl Design {
    /// Builds the design of shuffles or draws. If `relative`, rows are taken relative to the first system.
    pub fn new(simd: Simd, samples: &[Sample<'_>], relative: bool, run: &mut Run<'_>) -> Result<Self> {
        let mut design = Design::without_cells(samples)?;
        for sample in samples {
            let first = design.rules.len();
            for found in find::cells_of(simd, &sample.stats, relative, run)? {
                design.append(found, first);
            }
        }
        Ok(design)
    }

    /// Builds the design of permutations, and packs the rows that they add up. Cells are those of positions instead of
    /// systems.
    pub(in crate::resample) fn of_permutations(
        samples: &[Sample<'_>],
        stop: &Stop<'_>,
    ) -> Result<(Self, PermutedRows)> {
        let mut design = Design::without_cells(samples)?;
        let (differing, places) = DifferingColumns::find(samples, stop)?;
        let systems = differing.systems();
        design.dense = differing.len() * systems;
        let mut places = places.as_slice();
        for Sample { stats, .. } in samples {
            let (own, others) = places.split_at(stats.columns());
            let (first, _) = stats.totals().split_at(stats.columns());
            for position in 0..systems {
                let dense = |place: usize| place * systems + position;
                let rules = own.iter().zip(first);
                design.rules.extend(rules.map(|(place, &constant)| Rule {
                    dense: place.map(dense),
                    constant,
                    exceptions: None,
                }));
            }
            design.totals.extend_from_slice(stats.totals());
            places = others;
        }
        let rows = PermutedRows::new(&differing, stop)?;
        Ok((design, rows))
    }

    /// A design with the shape of the samples only.
    fn without_cells(samples: &[Sample<'_>]) -> Result<Self> {
        let units = samples.first().ok_or_else(|| Error::Empty { what: "metrics".into() })?.stats.segments();
        for sample in samples {
            check_length("segments", units, sample.stats.segments())?;
        }
        let mut places = reserved(samples.len())?;
        let (mut cell, mut system) = (0, 0);
        for Sample { stats, .. } in samples {
            let (systems, columns) = (stats.systems(), stats.columns());
            places.push(Place { systems, columns, cell, system });
            (cell, system) = (cell + systems * columns, system + systems);
        }
        Ok(Design {
            units,
            places,
            rules: reserved(cell)?,
            totals: reserved(cell)?,
            dense: 0,
            packed: Packed::new(units),
            columns: Vec::new(),
            exceptions: Vec::new(),
        })
    }

    pub fn cells(&self) -> usize {
        self.rules.len()
    }

    /// The number of sums that a kernel computes: for the packed columns, then for the exceptions.
    pub fn width(&self) -> usize {
        self.dense + self.exceptions.len()
    }

    /// Appends the cells of a system whose sample begins at cell `first`.
    fn append(&mut self, found: Found<Column>, first: usize) {
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
                    self.dense += 1;
                    Some(self.dense - 1)
                }
            };
            let exceptions = (!cell.exceptions.is_empty()).then(|| {
                self.exceptions.push(Exceptions { units: cell.exceptions, column });
                self.exceptions.len() - 1
            });
            self.rules.push(Rule { dense, constant: cell.constant, exceptions });
        }
    }

    /// Computes the sums of a cell in the first `out.len()` replicates from the sums of a kernel, which adds up
    /// `constants` rows in each of them.
    pub fn copy(&self, cell: usize, sums: Strided<&[i64]>, constants: i64, out: &mut [i64]) {
        let Rule { dense, constant, exceptions } = self.rules[cell];
        let column = |column: usize| &sums.column(column)[..out.len()];
        let extra = exceptions.map(|exceptions| column(self.dense + exceptions));
        match dense {
            Some(dense) => {
                let dense = column(dense);
                out.copy_from_slice(dense);
            }
            None => out.fill(0),
        }
        if constant != 0 {
            let constant = constant.wrapping_mul(constants);
            out.iter_mut().for_each(|out| *out = out.wrapping_add(constant));
        }
        if let Some(extra) = extra {
            out.iter_mut().zip(extra).for_each(|(out, extra)| *out = out.wrapping_add(*extra));
        }
    }
}
