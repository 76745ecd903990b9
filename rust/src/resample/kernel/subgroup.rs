//! The kernel of shuffles that form a group: all sums of 2^m replicates by one transform of each column.
//!
//! Every unit has a code, and replicate g flips the units whose code has an odd number of bits in common with g.
//! Applying the flips of g and of h gives those of g ^ h, so the flips of 0…2^m − 1 form a group. The share of them
//! that is at least as extreme as the observed difference (g = 0) is an exact p-value (Hemerik & Goeman 2018,
//! doi:10.1007/s11749-017-0571-1). Random codes give a random group with pairwise independent flips; codes of one bit
//! each give all patterns.
//!
//! With the signs (−1)^⟨g, v_s⟩, where v_s is the code of unit s, the signed sums D(g) of a column are the
//! Walsh–Hadamard transform of the column added up by codes, and (D(0) − D(g))/2 is the sum over the flipped units. The
//! transform is computed piece by piece, for replicates that agree in their upper bits: these bits change the signs of
//! units, and the lower bits are transformed. A piece has about as many replicates as there are units, so all 2^m sums
//! of S units cost O(S + m·2^m), and memory is that of a piece.

use std::ops::Range;

use super::{Kernel, Out, Scratch};
use crate::error::{Error, LARGEST_SUM, Result, check_length};
use crate::memory::{collected, reserved, zeros};
use crate::pool::{PIECE, Stop};
use crate::resample::design::Design;
use crate::resample::design::packed::Integer;
use crate::resample::length;
use crate::simd::{Simd, dispatch};
use crate::stream::{Purpose, Stream, fill};

/// Replicates that are processed side by side. Their lowest bits are not transformed: units are added with all their
/// signs.
const REPLICATES: usize = 16;

/// Replicates per piece: a column of 32-bit sums fills the L1 cache or, with more units, the L2 cache.
const LEAST: usize = 1 << 13;
const MOST: usize = 1 << 16;

type Row<T> = [T; REPLICATES];

/// For each value of a code's lowest bits: 0 for the replicates in which a unit is added, −1 where it is subtracted.
const SIGNS: [Row<i32>; REPLICATES] = {
    let mut signs = [[0; REPLICATES]; REPLICATES];
    let mut i = 0;
    while i < REPLICATES * REPLICATES {
        signs[i / REPLICATES][i % REPLICATES] = -((((i / REPLICATES) & (i % REPLICATES)).count_ones() & 1) as i32);
        i += 1;
    }
    signs
};

/// Random codes, drawn from a stream of their own. With 2^m replicates, the lowest m bits of a code matter.
pub fn random_codes(seed: u64, units: usize) -> Vec<u64> {
    let mut codes = vec![0; units];
    fill(Simd::best(), &Stream::new(seed, Purpose::Code, 0), 0, &mut codes);
    codes
}

/// The units at which a column is not 0.
struct Column<T> {
    codes: Vec<u64>,
    values: Vec<T>,
    total: i64,
}

impl<T: Integer> Column<T> {
    /// Computes D(g) for the replicates of a piece, which begins at a multiple of its length.
    #[inline(always)]
    fn transform(&self, begin: u64, rows: &mut [Row<T>], stop: &Stop<'_>) -> Result<()> {
        let last = rows.len() - 1;
        for (codes, values) in self.codes.chunks(PIECE).zip(self.values.chunks(PIECE)) {
            stop.check()?;
            for (&code, &value) in codes.iter().zip(values) {
                let flipped = T::cut(-i64::from((code & begin).count_ones() & 1));
                let row = &mut rows[(code as usize / REPLICATES) & last];
                for (sum, &sign) in row.iter_mut().zip(&SIGNS[code as usize % REPLICATES]) {
                    let sign = T::cut(sign.into()) ^ flipped;
                    *sum = sum.plus(value ^ sign).minus(sign);
                }
            }
        }
        let mut half = 1;
        while half < rows.len() {
            for both in rows.chunks_exact_mut(2 * half) {
                let (left, right) = both.split_at_mut(half);
                for (left, right) in left.as_flattened_mut().iter_mut().zip(right.as_flattened_mut()) {
                    (*left, *right) = (left.plus(*right), left.minus(*right));
                }
            }
            half *= 2;
        }
        Ok(())
    }
}

/// The length of the longest aligned piece of at most `most` replicates that begins at `next` and lies within the
/// range; at least a row, which may begin before `next` and end after `end`.
fn piece_length(next: u64, end: u64, most: usize) -> usize {
    let mut length = REPLICATES;
    while length < most && next.is_multiple_of(2 * length as u64) && next + length as u64 * 2 <= end {
        length *= 2;
    }
    length
}

dispatch! {
    /// Computes the sums over the flipped units of each replicate, piece by piece.
    fn sums<T: Integer>(
        column: &Column<T>,
        replicates: Range<u64>,
        piece: usize,
        out: &mut [i64],
        stop: &Stop<'_>,
    ) -> Result<()> {
        let mut rows: Vec<Row<T>> = Vec::new();
        let mut next = replicates.start;
        while next < replicates.end {
            let length = piece_length(next, replicates.end, piece);
            let begin = next - next % length as u64;
            rows.clear();
            rows.resize(length / REPLICATES, [T::cut(0); REPLICATES]);
            column.transform(begin, &mut rows, stop)?;
            let sums = &rows.as_flattened()[(next - begin) as usize..];
            for (out, sum) in out[(next - replicates.start) as usize..].iter_mut().zip(sums) {
                *out = (column.total - sum.to_i64()) / 2;
            }
            next = begin + length as u64;
        }
        Ok(())
    }
}

/// A column whose sums fit in 32 bits, or one whose sums need 64.
enum AnyColumn {
    Narrow(Column<i32>),
    Wide(Column<i64>),
}

impl AnyColumn {
    fn new(column: usize, all: impl Iterator<Item = (u64, i64)> + Clone) -> Result<Self> {
        let all = all.filter(|(_, value)| *value != 0);
        let units = all.clone().count();
        let (mut codes, mut values) = (reserved(units)?, reserved(units)?);
        all.for_each(|(code, value)| {
            codes.push(code);
            values.push(value);
        });
        let largest: u128 = values.iter().map(|value: &i64| u128::from(value.unsigned_abs())).sum();
        if largest >= u128::from(LARGEST_SUM.unsigned_abs()) {
            return Err(Error::Overflow { column });
        }
        let total = values.iter().sum();
        Ok(if largest <= i32::MAX as u128 {
            let values = collected(values.into_iter().map(|value| value as i32))?;
            AnyColumn::Narrow(Column { codes, values, total })
        } else {
            AnyColumn::Wide(Column { codes, values, total })
        })
    }
}

/// The columns of a design, with the codes of their units.
pub(in crate::resample) struct Subgroup {
    columns: Vec<AnyColumn>,
    units: usize,
    piece: usize,
    simd: Simd,
}

impl Subgroup {
    /// Shuffles by these codes.
    pub fn new(design: &Design, codes: &[u64], simd: Simd, stop: &Stop<'_>) -> Result<Self> {
        let units = design.units;
        check_length("codes", units, codes.len())?;
        let mut columns = reserved(design.width())?;
        let mut values = zeros(&[units])?;
        for (packed, &column) in design.packed.iter().zip(&design.columns) {
            for piece in design.packed.pieces(PIECE) {
                stop.charge(4 * piece.len())?;
                packed.copy(piece.start, &mut values[piece]);
            }
            columns.push(AnyColumn::new(column, codes.iter().copied().zip(values.iter().copied()))?);
        }
        // Exceptions are a column with few units.
        for exceptions in &design.exceptions {
            let values = exceptions.units.iter().map(|&(unit, value)| (codes[unit], value));
            columns.push(AnyColumn::new(exceptions.column, values)?);
        }
        Ok(Subgroup { columns, units, piece: units.next_power_of_two().clamp(LEAST, MOST), simd })
    }
}

impl Kernel for Subgroup {
    fn block(&self) -> usize {
        self.piece
    }

    fn cost(&self) -> u64 {
        (self.columns.len() * (1 + self.units / self.piece)) as u64
    }

    fn sums(&self, replicates: Range<u64>, _: &mut Scratch, mut out: Out<'_>, stop: &Stop<'_>) -> Result<()> {
        let simd = self.simd;
        for (column, out) in self.columns.iter().zip(out.columns_mut()) {
            let out = &mut out[..length(&replicates)];
            match column {
                AnyColumn::Narrow(column) => sums(simd, column, replicates.clone(), self.piece, out, stop)?,
                AnyColumn::Wide(column) => sums(simd, column, replicates.clone(), self.piece, out, stop)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
