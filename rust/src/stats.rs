//! Sufficient statistics: what every later step works on.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::resample::zeros;
use crate::simd::{Simd, dispatch};

/// How many rows are added up between two checks whether to stop.
const ROWS: usize = 1 << 12;

/// The largest sum of counts, in absolute value: with room for a difference of two of them in 64 bits.
pub const LARGEST_SUM: i64 = 1 << 62;

/// Real numbers among the counts are fixed-point: whole multiples of 2^-`bits`. Their sums are exact and do not depend
/// on the order, as those of all counts.
pub mod fixed {
    /// The multiple of 2^-`bits` that is nearest to `x`; none if that is too large for a count, or `x` for a number.
    pub fn from_real(x: f64, bits: u32) -> Option<i64> {
        let count = (x * (1_u64 << bits) as f64).round_ties_even();
        (count.abs() <= super::LARGEST_SUM as f64).then_some(count as i64)
    }

    /// The number of decimals to which a number that is off by at most `factor` half units can be rounded and be off by at
    /// most one in the last.
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
    /// S × K integers, segment by segment, for each system.
    systems: Vec<&'a [i64]>,
    segments: usize,
    columns: usize,
    totals: Vec<i64>,
    /// No count is larger than this, in absolute value; some may all be much smaller.
    largest: u64,
}

impl<'a> SuffStats<'a> {
    /// Wraps counts that lie system by system, segment by segment.
    ///
    /// # Errors
    /// [`Error::Empty`] if a dimension is 0, [`Error::LengthMismatch`] if the dimensions do not multiply to the
    /// length, [`Error::Overflow`] if S times the largest count of a column passes [`LARGEST_SUM`].
    pub fn new(counts: &'a [i64], systems: usize, segments: usize, columns: usize) -> Result<Self> {
        let expected = systems.saturating_mul(segments).saturating_mul(columns);
        if counts.len() != expected {
            return Err(Error::LengthMismatch { what: "counts".into(), expected, got: counts.len() });
        }
        check_shape([systems, segments, columns])?;
        Self::watched(counts.chunks_exact(segments * columns).collect(), [segments, columns], |_| Ok(()))
    }

    /// Wraps the counts of each system, S × K of them. `spend` is called with the work that is about to be done, and its
    /// error ends the check.
    ///
    /// # Errors
    /// As [`SuffStats::new`], [`Error::Memory`], and what `spend` returned.
    pub(crate) fn watched(
        systems: Vec<&'a [i64]>,
        [segments, columns]: [usize; 2],
        mut spend: impl FnMut(usize) -> Result<()>,
    ) -> Result<Self> {
        check_shape([systems.len(), segments, columns])?;
        let simd = Simd::best();
        let mut totals: Vec<i64> = zeros(&[systems.len(), columns])?;
        // Eight rows side by side fill vectors, however few columns there are.
        let (mut sums, mut bits): (Vec<i64>, Vec<i64>) = (zeros(&[EIGHT, columns])?, zeros(&[EIGHT, columns])?);
        for (counts, totals) in systems.iter().zip(totals.chunks_exact_mut(columns)) {
            for counts in counts.chunks(ROWS * columns) {
                spend(counts.len() / 2)?;
                add_rows(simd, counts, &mut sums, &mut bits);
            }
            for sums in sums.chunks_exact_mut(columns) {
                totals.iter_mut().zip(sums).for_each(|(total, sum)| *total = total.wrapping_add(std::mem::take(sum)));
            }
        }
        // No count is larger than all the bits that any has.
        let bits = bits.iter().fold(0, |all, bits| all | bits);
        let bound = 1_u64 << (u64::BITS - bits.leading_zeros());
        let largest = if u128::from(bound) * segments as u128 <= LARGEST_SUM as u128 {
            bound
        } else {
            largest_of_columns(&systems, [segments, columns], spend)?
        };
        Ok(SuffStats { systems, segments, columns, totals, largest })
    }

    /// The same of counts that have been checked before, when these were their sums and bound.
    #[cfg(feature = "python")]
    pub(crate) fn checked_before(
        systems: Vec<&'a [i64]>,
        [segments, columns]: [usize; 2],
        totals: Vec<i64>,
        largest: u64,
    ) -> Self {
        SuffStats { systems, segments, columns, totals, largest }
    }

    /// Some of the systems of counts that were checked together.
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

    /// How many segments each system has.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// How many counts a segment has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A number that no count is larger than, in absolute value.
    pub(crate) fn largest(&self) -> u64 {
        self.largest
    }

    /// The counts of some segments, one after the other.
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

/// Is there anything to count?
///
/// # Errors
/// [`Error::Empty`] if a dimension is 0.
pub(crate) fn check_shape([systems, segments, columns]: [usize; 3]) -> Result<()> {
    let empty = [("systems", systems), ("segments", segments), ("columns", columns)].into_iter().find(|(_, n)| *n == 0);
    empty.map_or(Ok(()), |(what, _)| Err(Error::Empty { what: what.into() }))
}

/// Rows that are added up side by side.
const EIGHT: usize = 8;

dispatch! {
    /// Adds rows to the sums of each place among eight of them, and collects the bits of their magnitudes.
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

/// The largest count, if the largest one of each column can be summed.
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
    fn real_numbers_that_no_count_holds_are_none() {
        assert_eq!([Some(-6), Some(1 << 62)], [-1.5, 2.0_f64.powi(60)].map(|x| fixed::from_real(x, 2)));
        assert_eq!([None; 3], [2.0_f64.powi(61), f64::NEG_INFINITY, f64::NAN].map(|x| fixed::from_real(x, 2)));
    }

    #[test]
    fn shapes_that_do_not_fit_and_sums_that_would_overflow_are_refused() {
        assert!(matches!(SuffStats::new(&[], 1, 0, 2), Err(Error::Empty { .. })));
        assert!(matches!(SuffStats::new(&[1, 2, 3], 1, 2, 2), Err(Error::LengthMismatch { expected: 4, got: 3, .. })));
        let counts = [0, i64::MIN, 0, 0];
        assert_eq!(Err(Error::Overflow { column: 1 }), SuffStats::new(&counts, 1, 2, 2).map(|_| ()));
        assert!(SuffStats::new(&[1 << 61, 1 << 61], 1, 2, 1).is_ok());
    }
}
