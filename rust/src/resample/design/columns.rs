//! The columns that kernels have to add up: those that say something new.
//!
//! Much of what metrics count is said twice. All systems have the same references; the number of bigrams is the number
//! of words less one, but in segments without any; two systems may even agree in a count everywhere. A column that is
//! another one plus a constant, but for a few units, is not added up again: its sums follow.

use crate::error::Result;
use crate::pool::{PIECE, Patience, Stop};
use crate::stats::SuffStats;

/// The counts of all systems under all metrics as a matrix: a row for each unit, a column for each cell.
pub(in crate::resample) struct Cells<'a> {
    all: &'a [SuffStats<'a>],
    /// Are rows taken relative to the first system?
    relative: bool,
    /// For each cell its metric, system and column.
    places: Vec<(usize, usize, usize)>,
}

impl<'a> Cells<'a> {
    pub fn new(all: &'a [SuffStats<'a>], relative: bool) -> Self {
        let mut places = Vec::new();
        for (of, stats) in all.iter().enumerate() {
            for system in 0..stats.systems() {
                places.extend((0..stats.columns()).map(|column| (of, system, column)));
            }
        }
        Cells { all, relative, places }
    }

    pub fn units(&self) -> usize {
        self.all[0].segments()
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Where each metric's k × K cells begin.
    pub fn offsets(&self) -> Vec<usize> {
        let mut end = 0;
        let begin = |stats: &SuffStats<'_>| {
            let begin = end;
            end += stats.systems() * stats.columns();
            begin
        };
        self.all.iter().map(begin).collect()
    }

    #[inline(always)]
    pub fn value(&self, cell: usize, unit: usize) -> i64 {
        let (of, system, column) = self.places[cell];
        let stats = &self.all[of];
        let first = if self.relative { stats.row(0, unit)[column] } else { 0 };
        stats.row(system, unit)[column] - first
    }

    /// Which of its metric's columns a cell is of.
    pub fn column(&self, cell: usize) -> usize {
        self.places[cell].2
    }

    /// The cells that this one may follow from: the same count of the first system, and what else is counted of its own.
    fn candidates(&self, cell: usize) -> impl Iterator<Item = usize> {
        let (of, system, column) = self.places[cell];
        let own = cell - column..cell;
        let of_first = (system > 0).then(|| self.offsets()[of] + column);
        of_first.into_iter().chain(own)
    }
}

/// How the sums of a cell follow from what is added up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::resample) struct Rule {
    /// The column that it is, but for the rest.
    pub dense: Option<usize>,
    /// What every unit has on top.
    pub constant: i64,
    /// The place of the units that have something else on top.
    pub exceptions: Option<usize>,
}

/// A unit and what a cell has there on top of its rule.
pub(in crate::resample) type Exception = (usize, i64);

/// What is to be added up.
pub(in crate::resample) struct Columns {
    /// The cell that each column is.
    pub dense: Vec<usize>,
    pub exceptions: Vec<Vec<Exception>>,
    /// For each cell.
    pub rules: Vec<Rule>,
}

/// An exception for so many units costs no more than the column would.
const UNITS_PER_EXCEPTION: usize = 64;

impl Columns {
    /// Finds out which columns say something new. With relative counts a constant would have to be counted, too, so
    /// only the constant 0 is looked for.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`] if told to stop.
    pub fn new(cells: &Cells<'_>, stop: &Stop<'_>) -> Result<Self> {
        let mut patience = Patience::default();
        let mut columns = Columns { dense: Vec::new(), exceptions: Vec::new(), rules: Vec::with_capacity(cells.len()) };
        for cell in 0..cells.len() {
            let nothing = (None, Rule::default());
            // Only columns that are added up themselves, so that no rule rests on another.
            let others = cells.candidates(cell).filter_map(|other| {
                let rule = &columns.rules[other];
                let is_dense = rule.dense.is_some_and(|dense| columns.dense[dense] == other);
                is_dense.then(|| (Some(other), Rule { dense: rule.dense, ..Rule::default() }))
            });
            let mut found = None;
            for (other, rule) in std::iter::once(nothing).chain(others) {
                if let Some((constant, exceptions)) = difference(cells, cell, other, (&mut patience, stop))? {
                    found = Some((Rule { constant, ..rule }, exceptions));
                    break;
                }
            }
            let rule = match found {
                Some((rule, exceptions)) if exceptions.is_empty() => rule,
                Some((rule, exceptions)) => {
                    columns.exceptions.push(exceptions);
                    Rule { exceptions: Some(columns.exceptions.len() - 1), ..rule }
                }
                None => {
                    columns.dense.push(cell);
                    Rule { dense: Some(columns.dense.len() - 1), ..Rule::default() }
                }
            };
            columns.rules.push(rule);
        }
        Ok(columns)
    }

    /// How many sums a kernel makes: of columns, then of exceptions.
    pub fn width(&self) -> usize {
        self.dense.len() + self.exceptions.len()
    }
}

/// What a cell has on top of another (or of nothing): a constant and a few exceptions, if they are few.
fn difference(
    cells: &Cells<'_>,
    cell: usize,
    other: Option<usize>,
    (patience, stop): (&mut Patience, &Stop<'_>),
) -> Result<Option<(i64, Vec<Exception>)>> {
    let units = cells.units();
    let on_top = |unit| cells.value(cell, unit) - other.map_or(0, |other| cells.value(other, unit));
    let constant = if cells.relative { 0 } else { common(on_top, units) };
    let mut exceptions = Vec::new();
    for first in (0..units).step_by(PIECE) {
        let piece = first..units.min(first + PIECE);
        patience.spend(piece.len(), stop)?;
        for unit in piece {
            let exceptional = on_top(unit) - constant;
            if exceptional != 0 {
                exceptions.push((unit, exceptional));
                if exceptions.len() > units / UNITS_PER_EXCEPTION {
                    return Ok(None);
                }
            }
        }
    }
    Ok(Some((constant, exceptions)))
}

/// What most of nine units spread over all have. If all but a few of all units have the same, these do, or a column is
/// added up that need not be.
fn common(value: impl Fn(usize) -> i64, units: usize) -> i64 {
    let mut seen: Vec<i64> = (0..9).map(|i| value(i * (units - 1) / 8)).collect();
    seen.sort_unstable();
    seen[4]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cell's value by its rule.
    fn by_rule(cells: &Cells<'_>, columns: &Columns, cell: usize, unit: usize) -> i64 {
        let Rule { dense, constant, exceptions } = columns.rules[cell];
        let dense = dense.map_or(0, |dense| cells.value(columns.dense[dense], unit));
        let exceptions = exceptions.map_or(&[][..], |e| &columns.exceptions[e]);
        dense + constant + exceptions.iter().filter(|(u, _)| *u == unit).map(|(_, value)| value).sum::<i64>()
    }

    #[test]
    fn what_follows_from_another_column_is_not_added_up() {
        let units = 200;
        // length, reference, match, bigrams, always 3; two systems.
        let row = |system: usize, unit: usize| {
            let length = (unit * 7 + system * unit) as i64 % 23;
            [length, unit as i64 % 19, length / 2, (length - 1).max(if unit == 9 { 100 } else { -1 }), 3]
        };
        let counts: Vec<i64> = (0..2).flat_map(|s| (0..units).flat_map(move |u| row(s, u))).collect();
        let all = [SuffStats::new(&counts, 2, units, 5).unwrap()];
        for relative in [false, true] {
            let cells = Cells::new(&all, relative);
            let columns = Columns::new(&cells, &Stop::never()).unwrap();
            for (cell, unit) in (0..10).flat_map(|cell| (0..units).map(move |unit| (cell, unit))) {
                assert_eq!(cells.value(cell, unit), by_rule(&cells, &columns, cell, unit), "{cell} {unit}");
            }
            let expected: &[usize] = if relative { &[5, 7] } else { &[0, 1, 2, 5, 7] };
            assert_eq!(expected, columns.dense);
        }
        let columns = Columns::new(&Cells::new(&all, false), &Stop::never()).unwrap();
        assert_eq!(Rule { dense: Some(0), constant: -1, exceptions: Some(0) }, columns.rules[3]);
        assert_eq!(vec![(9, 100 - (63 % 23 - 1))], columns.exceptions[0]);
        assert_eq!(Rule { dense: Some(1), constant: 0, exceptions: None }, columns.rules[6]);
        assert_eq!(Rule { dense: None, constant: 3, exceptions: None }, columns.rules[4]);
    }

    #[test]
    fn of_a_few_units_no_exception_is_made() {
        let counts = [1, 2, 2, 3, 3, 5];
        let all = [SuffStats::new(&counts, 1, 3, 2).unwrap()];
        let columns = Columns::new(&Cells::new(&all, false), &Stop::never()).unwrap();
        assert_eq!((vec![0, 1], 0), (columns.dense, columns.exceptions.len()));
    }
}
