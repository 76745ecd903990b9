//! Finds the columns that do not follow from others.

use super::packed::{Column, Integer, narrow};
use super::{Exception, UNITS_PER_EXCEPTION};
use crate::error::Result;
use crate::memory::{reserved, zeros};
use crate::pool::{self, PIECE, Run, Stop};
use crate::simd::{Simd, dispatch};
use crate::stats::SuffStats;

/// Rows that are split into columns at a time. They stay in the L1 cache.
const ROWS: usize = 128;

/// The column that a cell equals, except for a constant and exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// Zero everywhere.
    Zero,
    /// The same column of the first system.
    FirstSystem,
    /// This other column of the same system.
    SameSystem(usize),
    /// No other column: its values are stored and added up.
    Stored,
}

/// A cell, and how it follows from other columns.
pub(super) struct Cell {
    pub total: i64,
    pub base: Base,
    pub constant: i64,
    pub exceptions: Vec<Exception>,
}

/// The cells of a system.
pub(super) struct Found<V> {
    pub cells: Vec<Cell>,
    /// The values of each cell that is added up; empty for the others.
    pub values: Vec<V>,
}

/// Finds which cells of all systems follow from others. A column may follow from another column of its system, or from
/// the same column of the first system, provided that these are themselves added up, so that rules do not form chains.
/// With relative counts only the constant 0 is tried, because the number of flipped units varies.
pub(super) fn cells_of(
    simd: Simd,
    stats: &SuffStats<'_>,
    relative: bool,
    run: &mut Run<'_>,
) -> Result<Vec<Found<Column>>> {
    // The width holds every difference computed below: a count less one of the first system, less another such
    // difference and a constant.
    let largest = stats.largest().saturating_mul(4);
    if largest <= i16::LARGEST as u64 {
        with_width::<i16>(simd, stats, relative, run)
    } else if largest <= i32::LARGEST as u64 {
        with_width::<i32>(simd, stats, relative, run)
    } else {
        with_width::<i64>(simd, stats, relative, run)
    }
}

fn with_width<T: Integer>(
    simd: Simd,
    stats: &SuffStats<'_>,
    relative: bool,
    run: &mut Run<'_>,
) -> Result<Vec<Found<Column>>> {
    let none: Vec<Vec<T>> = (0..stats.columns()).map(|_| Vec::new()).collect();
    run.without_progress(|run| {
        let first = run.serial(|stop| system_cells(simd, stats, (0, relative), &none, stop))?;
        let cells = |(): &mut (), other: usize, stop: &Stop<'_>| {
            narrowed(system_cells(simd, stats, (other + 1, relative), &first.values, stop)?, stop)
        };
        // Reading a count costs several additions.
        let cost = 8 * (stats.segments() * stats.columns()) as u64;
        let mut all = pool::each(stats.systems() - 1, cost, run, || (), cells)?;
        all.insert(0, run.serial(|stop| narrowed(first, stop))?);
        Ok(all)
    })
}

/// Finds the cells of one system. `first` are the columns of the first system that are added up.
fn system_cells<T: Integer>(
    simd: Simd,
    stats: &SuffStats<'_>,
    (system, relative): (usize, bool),
    first: &[Vec<T>],
    stop: &Stop<'_>,
) -> Result<Found<Vec<T>>> {
    let mut columns = split_columns(simd, stats, (system, relative), stop)?;
    let totals = &stats.totals()[system * stats.columns()..][..stats.columns()];
    let mut cells: Vec<Cell> = reserved(totals.len())?;
    for (column, &total) in totals.iter().enumerate() {
        let (before, values) = columns.split_at(column);
        let values = &values[0];
        // Columns that are not added up are empty.
        let own = before.iter().enumerate().map(|(other, values)| (Base::SameSystem(other), Some(values)));
        let first_system = std::iter::once((Base::FirstSystem, Some(&first[column])));
        let others = first_system.chain(own).filter(|(_, values)| values.is_some_and(|values| !values.is_empty()));
        let mut found = None;
        for (base, other) in std::iter::once((Base::Zero, None)).chain(others) {
            let other = other.map(Vec::as_slice);
            if let Some((constant, exceptions)) = difference(simd, values, other, relative, stop)? {
                found = Some(Cell { total, base, constant, exceptions });
                break;
            }
        }
        if found.is_some() {
            columns[column] = Vec::new();
        }
        let stored = Cell { total, base: Base::Stored, constant: 0, exceptions: Vec::new() };
        cells.push(found.unwrap_or(stored));
    }
    Ok(Found { cells, values: columns })
}

/// The counts of a system, column by column. If counts are relative to the first system, its own columns are empty.
fn split_columns<T: Integer>(
    simd: Simd,
    stats: &SuffStats<'_>,
    (system, relative): (usize, bool),
    stop: &Stop<'_>,
) -> Result<Vec<Vec<T>>> {
    let (width, units) = (stats.columns(), stats.segments());
    if relative && system == 0 {
        return Ok((0..width).map(|_| Vec::new()).collect());
    }
    let mut columns: Vec<Vec<T>> = (0..width).map(|_| zeros(&[units])).collect::<Result<_>>()?;
    let mut values: Vec<T> = zeros(&[ROWS.min(units), width])?;
    let (mut rows_buffer, mut base_buffer) = (Vec::new(), Vec::new());
    for from in (0..units).step_by(ROWS) {
        let to = units.min(from + ROWS);
        stop.charge(4 * (to - from) * width)?;
        let rows = stats.stored(system, from..to).widened(&mut rows_buffer);
        let values = &mut values[..rows.len()];
        if relative {
            differences(simd, rows, stats.stored(0, from..to).widened(&mut base_buffer), values);
        } else {
            values.iter_mut().zip(rows).for_each(|(value, count)| *value = T::cut(*count));
        }
        for (column, out) in columns.iter_mut().enumerate() {
            let column_values = values[column..].iter().step_by(width);
            out[from..to].iter_mut().zip(column_values).for_each(|(out, value)| *out = *value);
        }
    }
    Ok(columns)
}

dispatch! {
    fn differences<T: Integer>(rows: &[i64], base: &[i64], out: &mut [T]) {
        for (out, (count, base)) in out.iter_mut().zip(rows.iter().zip(base)) {
            *out = T::cut(count.wrapping_sub(*base));
        }
    }
}

/// Values that are compared between two checks of the number of differences.
const COMPARED: usize = 128;

/// The constant and the exceptions by which a column differs from another one, or from 0. None if there are too many
/// exceptions.
fn difference<T: Integer>(
    simd: Simd,
    values: &[T],
    other: Option<&[T]>,
    relative: bool,
    stop: &Stop<'_>,
) -> Result<Option<(i64, Vec<Exception>)>> {
    let units = values.len();
    let excess = |unit: usize| values[unit].minus(other.map_or(T::cut(0), |other| other[unit]));
    let constant = if relative { T::cut(0) } else { common(excess, units) };
    let mut different = 0;
    for from in (0..units).step_by(COMPARED) {
        stop.charge(COMPARED / 4)?;
        let to = units.min(from + COMPARED);
        let other = other.map_or(&[][..], |other| &other[from..to]);
        different += usize::from(count_others(simd, &values[from..to], other, constant));
        if different > units / UNITS_PER_EXCEPTION {
            return Ok(None);
        }
    }
    let mut exceptions = reserved(different)?;
    if different > 0 {
        for from in (0..units).step_by(PIECE) {
            stop.charge(PIECE)?;
            let differing = (from..units.min(from + PIECE)).filter(|&unit| excess(unit) != constant);
            exceptions.extend(differing.map(|unit| (unit, excess(unit).to_i64().wrapping_sub(constant.to_i64()))));
        }
    }
    Ok(Some((constant.to_i64(), exceptions)))
}

dispatch! {
    /// How many of up to 128 values, less the other ones if there are any, differ from the constant.
    fn count_others<T: Integer>(values: &[T], other: &[T], constant: T) -> u8 {
        if other.is_empty() {
            return values.iter().fold(0, |count, &value| count + u8::from(value != constant));
        }
        let pairs = values.iter().zip(other);
        pairs.fold(0, |count, (value, other)| count + u8::from(value.minus(*other) != constant))
    }
}

/// The median of nine units that are spread over all units. If nearly all units share one value, this is it; if it is not,
/// a column is added up unnecessarily, which is harmless.
fn common<T: Integer>(value: impl Fn(usize) -> T, units: usize) -> T {
    let mut seen: [T; 9] = std::array::from_fn(|i| value(i * (units - 1) / 8));
    seen.sort_unstable();
    seen[4]
}

/// Stores values in as few bits as possible.
fn narrowed<T: Integer>(found: Found<Vec<T>>, stop: &Stop<'_>) -> Result<Found<Column>> {
    let narrowed = |column: Vec<T>| stop.charge(column.len()).and_then(|()| narrow(&column));
    Ok(Found { cells: found.cells, values: found.values.into_iter().map(narrowed).collect::<Result<_>>()? })
}
