//! Sufficient statistics: the counts that all later steps work on.

use std::ops::Range;

use crate::error::{Error, LARGEST_SUM, Result, check_length};
use crate::memory::zeros;
use crate::simd::{Simd, dispatch};

/// Rows that are added up between two checks whether to stop.
const ROWS: usize = 1 << 12;

/// Real numbers among the counts are in fixed point: multiples of 2^-`bits`. Their sums are exact and do not depend on
/// the order of summation.
pub mod fixed {
    /// The multiple of 2^-`bits` nearest to `x`. None if `x` is NaN or too large for a count.
    pub fn from_real(x: f64, bits: u32) -> Option<i64> {
        let count = (x * (1_u64 << bits) as f64).round_ties_even();
        (count.abs() <= crate::error::LARGEST_SUM as f64).then_some(count as i64)
    }

    /// The number of decimals to which a value with an error of at most `factor` half steps can be rounded so that the
    /// last decimal is off by at most one.
    pub fn decimals(factor: f64, bits: u32) -> u32 {
        -(factor / (1_u64 << bits) as f64).log10().ceil() as u32
    }

    /// The number that `count` stands for.
    pub fn to_real(count: i64, bits: u32) -> f64 {
        count as f64 / (1_u64 << bits) as f64
    }
}

/// Numbers of 8, 16, 32 or 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnyWidth<A, B, C, D> {
    I8(A),
    I16(B),
    I32(C),
    I64(D),
}

/// Counts of one system in the width in which the caller stores them. Whatever reads them gets 64 bits.
pub(crate) type Stored<'a> = AnyWidth<&'a [i8], &'a [i16], &'a [i32], &'a [i64]>;

/// Evaluates an expression for numbers of any width. After `map`, the value is of the same width.
macro_rules! with_numbers {
    ($any:expr, $numbers:ident => $body:expr) => {
        match $any {
            $crate::stats::AnyWidth::I8($numbers) => $body,
            $crate::stats::AnyWidth::I16($numbers) => $body,
            $crate::stats::AnyWidth::I32($numbers) => $body,
            $crate::stats::AnyWidth::I64($numbers) => $body,
        }
    };
    (map $any:expr, $numbers:ident => $body:expr) => {
        match $any {
            $crate::stats::AnyWidth::I8($numbers) => $crate::stats::AnyWidth::I8($body),
            $crate::stats::AnyWidth::I16($numbers) => $crate::stats::AnyWidth::I16($body),
            $crate::stats::AnyWidth::I32($numbers) => $crate::stats::AnyWidth::I32($body),
            $crate::stats::AnyWidth::I64($numbers) => $crate::stats::AnyWidth::I64($body),
        }
    };
}

pub(crate) use with_numbers;

#[inline(always)]
fn wide(number: impl Into<i64>) -> i64 {
    number.into()
}

impl<'a> Stored<'a> {
    /// How many numbers there are.
    pub fn len(self) -> usize {
        with_numbers!(self, numbers => numbers.len())
    }

    /// A range of the numbers.
    pub fn part(self, range: Range<usize>) -> Stored<'a> {
        with_numbers!(map self, numbers => &numbers[range])
    }

    /// The numbers, or a copy of them in `buffer` if they have fewer than 64 bits.
    pub fn widened<'b>(self, buffer: &'b mut Vec<i64>) -> &'b [i64]
    where
        'a: 'b,
    {
        if let Stored::I64(numbers) = self {
            return numbers;
        }
        buffer.clear();
        self.append_to(buffer);
        buffer
    }

    /// Appends the numbers.
    pub fn append_to(self, out: &mut Vec<i64>) {
        with_numbers!(self, numbers => out.extend(numbers.iter().map(|&number| wide(number))));
    }

    /// One of the numbers.
    #[inline]
    pub fn at(self, index: usize) -> i64 {
        with_numbers!(self, numbers => wide(numbers[index]))
    }

    /// The numbers in chunks of this length.
    pub fn chunks(self, length: usize) -> impl Iterator<Item = Stored<'a>> {
        (0..self.len()).step_by(length).map(move |first| self.part(first..self.len().min(first + length)))
    }
}

/// The counts of k systems on S segments under one metric, checked, and their sums.
#[derive(Debug, Clone)]
pub struct SuffStats<'a> {
    /// For each system S × K integers, segment by segment.
    systems: Vec<Stored<'a>>,
    segments: usize,
    columns: usize,
    totals: Vec<i64>,
    /// An upper bound of all counts, in absolute value. It need not be tight.
    largest: u64,
}

impl<'a> SuffStats<'a> {
    /// Wraps counts in the order system, segment, column.
    ///
    /// # Errors
    /// [`Error::Empty`] if a dimension is 0, [`Error::LengthMismatch`] if the dimensions do not multiply to the
    /// length, [`Error::Overflow`] if S times the largest count of a column exceeds 2^62.
    pub fn new(counts: &'a [i64], systems: usize, segments: usize, columns: usize) -> Result<Self> {
        let expected = systems.saturating_mul(segments).saturating_mul(columns);
        check_length("counts", expected, counts.len())?;
        check_shape([systems, segments, columns])?;
        let systems = counts.chunks_exact(segments * columns).map(Stored::I64).collect();
        Self::watched(systems, [segments, columns], |_| Ok(()))
    }

    /// Wraps the S × K counts of each system. `spend` is called with the number of operations to come, and its error
    /// ends the check.
    pub(crate) fn watched(
        systems: Vec<Stored<'a>>,
        [segments, columns]: [usize; 2],
        mut spend: impl FnMut(usize) -> Result<()>,
    ) -> Result<Self> {
        check_shape([systems.len(), segments, columns])?;
        let simd = Simd::best();
        let mut totals: Vec<i64> = zeros(&[systems.len(), columns])?;
        // Eight rows side by side fill vector registers, however few columns there are.
        let (mut sums, mut bits): (Vec<i64>, Vec<i64>) =
            (zeros(&[ROWS_SIDE_BY_SIDE, columns])?, zeros(&[ROWS_SIDE_BY_SIDE, columns])?);
        let mut buffer = Vec::new();
        for (counts, totals) in systems.iter().zip(totals.chunks_exact_mut(columns)) {
            for counts in counts.chunks(ROWS * columns) {
                spend(counts.len() / 2)?;
                add_rows(simd, counts.widened(&mut buffer), &mut sums, &mut bits);
            }
            for sums in sums.chunks_exact_mut(columns) {
                totals.iter_mut().zip(sums).for_each(|(total, sum)| *total = total.wrapping_add(std::mem::take(sum)));
            }
        }
        // The bitwise or of all magnitudes bounds them, and is cheaper to compute than their maximum.
        let bits = bits.iter().fold(0, |all, bits| all | bits);
        let bound = 1_u64 << (u64::BITS - bits.leading_zeros());
        let largest = if u128::from(bound) * segments as u128 <= LARGEST_SUM as u128 {
            bound
        } else {
            largest_of_columns(&systems, [segments, columns], spend)?
        };
        Ok(SuffStats { systems, segments, columns, totals, largest })
    }

    /// As [`SuffStats::watched`], for counts that were checked before, with the sums and the bound found then.
    pub(crate) fn checked_before(
        systems: Vec<Stored<'a>>,
        [segments, columns]: [usize; 2],
        totals: Vec<i64>,
        largest: u64,
    ) -> Self {
        SuffStats { systems, segments, columns, totals, largest }
    }

    /// The counts of some of the systems.
    pub(crate) fn of_systems(&self, systems: Range<usize>) -> Self {
        SuffStats {
            systems: self.systems[systems.clone()].to_vec(),
            totals: self.totals[systems.start * self.columns..systems.end * self.columns].to_vec(),
            ..*self
        }
    }

    /// The number of systems.
    pub fn systems(&self) -> usize {
        self.systems.len()
    }

    /// The number of segments of each system.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// The number of counts of a segment.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// An upper bound of all counts, in absolute value.
    pub(crate) fn largest(&self) -> u64 {
        self.largest
    }

    /// The counts of a range of segments, row by row, as they are stored.
    pub(crate) fn stored(&self, system: usize, segments: Range<usize>) -> Stored<'a> {
        self.systems[system].part(segments.start * self.columns..segments.end * self.columns)
    }

    /// A count of one segment.
    #[inline]
    pub fn count(&self, system: usize, segment: usize, column: usize) -> i64 {
        self.systems[system].at(segment * self.columns + column)
    }

    /// For tests: the counts of one segment.
    #[cfg(test)]
    pub fn row(&self, system: usize, segment: usize) -> Vec<i64> {
        (0..self.columns).map(|column| self.count(system, segment, column)).collect()
    }

    /// The sums over all segments: k × K.
    pub fn totals(&self) -> &[i64] {
        &self.totals
    }
}

/// Checks that no dimension is 0.
pub(crate) fn check_shape([systems, segments, columns]: [usize; 3]) -> Result<()> {
    let empty = [("systems", systems), ("segments", segments), ("columns", columns)].into_iter().find(|(_, n)| *n == 0);
    empty.map_or(Ok(()), |(what, _)| Err(Error::Empty { what: what.into() }))
}

/// Rows that are added up side by side.
const ROWS_SIDE_BY_SIDE: usize = 8;

dispatch! {
    /// Adds rows to eight rows of sums, and collects the bits of the magnitudes of all counts.
    fn add_rows(rows: &[i64], sums: &mut [i64], bits: &mut [i64]) {
        for rows in rows.chunks(sums.len()) {
            for ((sum, bits), count) in sums.iter_mut().zip(&mut *bits).zip(rows) {
                *sum = sum.wrapping_add(*count);
                *bits |= count ^ (count >> 63);
            }
        }
    }
}

/// The largest count, after checking that S times the largest count of each column can be summed.
fn largest_of_columns(
    systems: &[Stored<'_>],
    [segments, columns]: [usize; 2],
    mut spend: impl FnMut(usize) -> Result<()>,
) -> Result<u64> {
    let (mut largest, mut buffer) = (vec![0; columns], Vec::new());
    for rows in systems.iter().flat_map(|counts| counts.chunks(columns * ROWS)) {
        spend(rows.len())?;
        for row in rows.widened(&mut buffer).chunks_exact(columns) {
            largest.iter_mut().zip(row).for_each(|(largest, count)| *largest = count.unsigned_abs().max(*largest));
        }
    }
    let too_large = |largest: &u64| u128::from(*largest) * segments as u128 > LARGEST_SUM as u128;
    match largest.iter().position(too_large) {
        Some(column) => Err(Error::Overflow { column }),
        None => Ok(largest.into_iter().max().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_sums_over_segments() {
        let counts = [1, 2, 3, 4, 10, 20, 30, 40];
        let stats = SuffStats::new(&counts, 2, 2, 2).unwrap();
        assert_eq!([4, 6, 40, 60], stats.totals());
        assert_eq!(vec![30, 40], stats.row(1, 1));
    }

    #[test]
    fn numbers_of_any_width_give_the_same_sums_and_rows() {
        let counts: Vec<i64> = (0..120).map(|i| (i * i) % 255 - 127).collect();
        let narrow: Vec<i8> = counts.iter().map(|&count| count as i8).collect();
        let medium: Vec<i16> = counts.iter().map(|&count| count as i16).collect();
        let wide: Vec<i32> = counts.iter().map(|&count| count as i32).collect();
        let expected = SuffStats::new(&counts, 1, 40, 3).unwrap();
        for stored in [Stored::I8(&narrow), Stored::I16(&medium), Stored::I32(&wide)] {
            let stats = SuffStats::watched(vec![stored], [40, 3], |_| Ok(())).unwrap();
            assert_eq!((expected.totals(), expected.largest()), (stats.totals(), stats.largest()));
            assert!((0..40).all(|segment| expected.row(0, segment) == stats.row(0, segment)));
            let (mut buffer, mut other) = (vec![7], Vec::new());
            assert_eq!(counts[30..60], *stats.stored(0, 10..20).widened(&mut buffer));
            stats.stored(0, 0..40).chunks(7).for_each(|part| part.append_to(&mut other));
            assert_eq!(counts, other);
        }
    }

    #[test]
    fn real_numbers_too_large_for_a_count_give_none() {
        assert_eq!([Some(-6), Some(1 << 62)], [-1.5, 2.0_f64.powi(60)].map(|x| fixed::from_real(x, 2)));
        assert_eq!([None; 3], [2.0_f64.powi(61), f64::NEG_INFINITY, f64::NAN].map(|x| fixed::from_real(x, 2)));
    }

    #[test]
    fn wrong_shapes_and_sums_that_would_overflow_are_refused() {
        assert!(matches!(SuffStats::new(&[], 1, 0, 2), Err(Error::Empty { .. })));
        assert!(matches!(SuffStats::new(&[1, 2, 3], 1, 2, 2), Err(Error::LengthMismatch { expected: 4, got: 3, .. })));
        let counts = [0, i64::MIN, 0, 0];
        assert_eq!(Err(Error::Overflow { column: 1 }), SuffStats::new(&counts, 1, 2, 2).map(|_| ()));
        assert!(SuffStats::new(&[1 << 61, 1 << 61], 1, 2, 1).is_ok());
    }
}
