//! Sufficient statistics: the counts that all later steps work on.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::resample::zeros;
use crate::simd::{Simd, dispatch};

/// Rows that are added up between two checks whether to stop.
const ROWS: usize = 1 << 12;

/// The largest sum of counts, in absolute value. A difference of two such sums fits in 64 bits.
pub const LARGEST_SUM: i64 = 1 << 62;

/// Real numbers among the counts are in fixed point: multiples of 2^-`bits`. Their sums are exact and do not depend on
/// the order of summation.
pub mod fixed {
    /// The multiple of 2^-`bits` nearest to `x`. None if `x` is NaN or too large for a count.
    pub fn from_real(x: f64, bits: u32) -> Option<i64> {
        let count = (x * (1_u64 << bits) as f64).round_ties_even();
        (count.abs() <= super::LARGEST_SUM as f64).then_some(count as i64)
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

/// The counts of k systems on S segments under one metric, checked, and their sums.
#[derive(Debug, Clone)]
pub struct SuffStats<'a> {
    /// For each system S × K integers, segment by segment.
    systems: Vec<&'a [i64]>,
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
    /// length, [`Error::Overflow`] if S times the largest count of a column exceeds [`LARGEST_SUM`].
    pub fn new(counts: &'a [i64], systems: usize, segments: usize, columns: usize) -> Result<Self> {
        let expected = systems.saturating_mul(segments).saturating_mul(columns);
        if counts.len() != expected {
            return Err(Error::LengthMismatch { what: "counts".into(), expected, got: counts.len() });
        }
        check_shape([systems, segments, columns])?;
        Self::watched(counts.chunks_exact(segments * columns).collect(), [segments, columns], |_| Ok(()))
    }

    /// Wraps the S × K counts of each system. `spend` is called with the number of operations to come, and its error
    /// ends the check.
    ///
    /// # Errors
    /// As [`SuffStats::new`], [`Error::Memory`], and whatever `spend` returned.
    pub(crate) fn watched(
        systems: Vec<&'a [i64]>,
        [segments, columns]: [usize; 2],
        mut spend: impl FnMut(usize) -> Result<()>,
    ) -> Result<Self> {
        check_shape([systems.len(), segments, columns])?;
        let simd = Simd::best();
        let mut totals: Vec<i64> = zeros(&[systems.len(), columns])?;
        // Eight rows side by side fill vector registers, however few columns there are.
        let (mut sums, mut bits): (Vec<i64>, Vec<i64>) =
            (zeros(&[ROWS_SIDE_BY_SIDE, columns])?, zeros(&[ROWS_SIDE_BY_SIDE, columns])?);
        for (counts, totals) in systems.iter().zip(totals.chunks_exact_mut(columns)) {
            for counts in counts.chunks(ROWS * columns) {
                spend(counts.len() / 2)?;
                add_rows(simd, counts, &mut sums, &mut bits);
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
        systems: Vec<&'a [i64]>,
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

    /// The counts of a range of segments, row by row.
    pub(crate) fn rows(&self, system: usize, segments: Range<usize>) -> &'a [i64] {
        &self.systems[system][segments.start * self.columns..segments.end * self.columns]
    }

    /// The counts of one segment.
    #[inline]
    pub fn row(&self, system: usize, segment: usize) -> &'a [i64] {
        self.rows(system, segment..segment + 1)
    }

    /// The sums over all segments: k × K.
    pub fn totals(&self) -> &[i64] {
        &self.totals
    }
}

/// Checks that no dimension is 0.
///
/// # Errors
/// [`Error::Empty`] if a dimension is 0.
pub(crate) fn check_shape([systems, segments, columns]: [usize; 3]) -> Result<()> {
    let empty = [("systems", systems), ("segments", segments), ("columns", columns)].into_iter().find(|(_, n)| *n == 0);
    empty.map_or(Ok(()), |(what, _)| Err(Error::Empty { what: what.into() }))
}

/// Rows that are added up side by side.
const ROWS_SIDE_BY_SIDE: usize = 8;

dispatch! {
    /// Adds rows to eight rows of sums, and collects the bits of the magnitudes of all counts.
    fn add_rows(rows: &[i64], sums: &mut [i64], bits: &mut [i64]) = add_rows_inline;
}

#[inline(always)]
fn add_rows_inline(rows: &[i64], sums: &mut [i64], bits: &mut [i64]) {
    for rows in rows.chunks(sums.len()) {
        for ((sum, bits), count) in sums.iter_mut().zip(&mut *bits).zip(rows) {
            *sum = sum.wrapping_add(*count);
            *bits |= count ^ (count >> 63);
        }
    }
}

/// The largest count, after checking that S times the largest count of each column can be summed.
fn largest_of_columns(
    systems: &[&[i64]],
    [segments, columns]: [usize; 2],
    mut spend: impl FnMut(usize) -> Result<()>,
) -> Result<u64> {
    let mut largest = vec![0; columns];
    for rows in systems.iter().flat_map(|counts| counts.chunks(columns * ROWS)) {
        spend(rows.len())?;
        for row in rows.chunks_exact(columns) {
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
        assert_eq!([30, 40], stats.row(1, 1));
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
