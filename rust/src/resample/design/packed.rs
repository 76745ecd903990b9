//! Columns of integers, each stored in as few bits as its values allow.

use std::ops::{BitXor, Range};

use crate::error::Result;
use crate::memory::{Zero, collected};
use crate::stats::{AnyWidth, with_numbers};

/// An integer type, for code that is generic over the width.
pub(crate) trait Integer: Copy + Eq + Ord + BitXor<Output = Self> + Send + Sync + Zero {
    /// The largest value.
    const LARGEST: i64;

    /// The lowest bits of a value: the value itself if it fits.
    fn cut(value: i64) -> Self;

    /// Converts to 64 bits.
    fn to_i64(self) -> i64;

    /// The lowest bits of the sum.
    fn plus(self, other: Self) -> Self;

    /// The lowest bits of the difference.
    fn minus(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Integer for $integer {
            const LARGEST: i64 = <$integer>::MAX as i64;

            #[inline(always)]
            fn cut(value: i64) -> Self {
                value as $integer
            }

            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}

integers!(i8, i16, i32, i64);

/// A value for each unit.
pub(crate) type Column = AnyWidth<Vec<i8>, Vec<i16>, Vec<i32>, Vec<i64>>;

impl Column {
    /// Copies the values of the units from `first` on.
    pub fn copy(&self, first: usize, out: &mut [i64]) {
        fn widen<T: Integer>(values: &[T], out: &mut [i64]) {
            out.iter_mut().zip(values).for_each(|(out, value)| *out = value.to_i64());
        }
        with_numbers!(self, values => widen(&values[first..first + out.len()], out));
    }

    #[inline(always)]
    pub fn value(&self, unit: usize) -> i64 {
        with_numbers!(self, values => values[unit].to_i64())
    }
}

/// The columns that are added up. They own their values, so that a prepared resampler borrows nothing from its caller.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    units: usize,
    columns: Vec<Column>,
}

impl Packed {
    /// No columns yet, for this many units.
    pub fn new(units: usize) -> Self {
        Packed { units, columns: Vec::new() }
    }

    /// For tests: packs columns.
    #[cfg(test)]
    pub fn from_columns(columns: &[Vec<i64>]) -> Self {
        let units = columns[0].len();
        let columns = columns.iter().map(|values| narrow(values).unwrap()).collect();
        Packed { units, columns }
    }

    /// For tests: all columns of the first system.
    #[cfg(test)]
    pub fn from_stats(stats: &crate::stats::SuffStats<'_>) -> Self {
        let column = |column| (0..stats.segments()).map(|unit| stats.row(0, unit)[column]).collect();
        Self::from_columns(&(0..stats.columns()).map(column).collect::<Vec<_>>())
    }

    /// Appends a column.
    pub fn push(&mut self, column: Column) {
        self.columns.push(column);
    }

    pub fn units(&self) -> usize {
        self.units
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    pub fn column(&self, column: usize) -> &Column {
        &self.columns[column]
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Column> {
        self.columns.iter()
    }

    /// The units in pieces of this length, between which a long call can be interrupted.
    pub fn pieces(&self, length: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let units = self.units;
        (0..units).step_by(length).map(move |first| first..units.min(first + length))
    }
}

/// Stores a column in as few bits as hold all of its values.
pub(crate) fn narrow<T: Integer>(values: &[T]) -> Result<Column> {
    let zero = T::cut(0);
    let (low, high) = values.iter().fold((zero, zero), |(low, high), &value| (low.min(value), high.max(value)));
    let fits = |largest: i64| low.to_i64() >= -largest && high.to_i64() <= largest;
    Ok(if fits(i8::LARGEST) {
        Column::I8(cut(values)?)
    } else if fits(i16::LARGEST) {
        Column::I16(cut(values)?)
    } else if fits(i32::LARGEST) {
        Column::I32(cut(values)?)
    } else {
        Column::I64(cut(values)?)
    })
}

fn cut<T: Integer, N: Integer>(values: &[T]) -> Result<Vec<N>> {
    collected(values.iter().map(|value| N::cut(value.to_i64())))
}
