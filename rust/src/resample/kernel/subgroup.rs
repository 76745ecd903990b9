//! The kernel of shuffles that are a group: all sums of 2^m replicates by one transform of each column.
//!
//! Every unit has a code of bits, and replicate g flips the units whose code has an odd number of bits in common with g.
//! The flips of g and h one after the other are those of g ^ h, so those of 0…2^m − 1 are a group, and the share of them
//! that is at least as extreme as what was observed (g = 0) is an exact p-value (Hemerik & Goeman 2018,
//! doi:10.1007/s11749-017-0571-1). Random codes make a random group, pairwise independent flips; codes of one bit each
//! make all patterns.
//!
//! With the signs (−1)^⟨g, v_s⟩ the sums D(g) of a column are the Walsh–Hadamard transform of the column added up by
//! codes, and (D(0) − D(g))/2 is the sum over the flipped units. The transform is made piece by piece, for replicates that
//! agree in their upper bits: these bits change the signs of units, and the lower ones are transformed. A piece is as long
//! as there are units, or nearly, so all 2^m sums of S units cost O(S + m·2^m), and memory is that of a piece.

use std::ops::{Add, BitXor, Range, Sub};

use super::{Kernel, Scratch};
use crate::error::{Error, Result};
use crate::pool::{PIECE, Stop, WorkMeter};
use crate::resample::design::Design;
use crate::resample::{length, reserved, zeros};
use crate::simd::{Simd, dispatch};
use crate::stats::LARGEST_SUM;
use crate::stream::{Purpose, Stream};

/// Replicates side by side. Their lowest bits are never transformed: units are added with the signs of all of them.
const LANES: usize = 16;

/// Replicates to a piece: a column of 32-bit sums fills the first-level cache, or, if there are more units, the second.
const LEAST: usize = 1 << 13;
const MOST: usize = 1 << 16;

type Row<T> = [T; LANES];

/// For the lowest bits of a code: 0 for the lanes in which it is added, −1 for those in which it is subtracted.
const SIGNS: [Row<i32>; LANES] = {
    let mut signs = [[0; LANES]; LANES];
    let mut i = 0;
    while i < LANES * LANES {
        signs[i / LANES][i % LANES] = -((((i / LANES) & (i % LANES)).count_ones() & 1) as i32);
        i += 1;
    }
    signs
};

/// Random codes: word s of a stream of their own is that of unit s. With 2^m replicates its lowest m bits count.
pub fn random_codes(seed: u64, units: usize) -> Vec<u64> {
    let mut codes = vec![0; units];
    Stream::new(seed, Purpose::Code, 0).fill(0, &mut codes);
    codes
}

/// An integer that sums are kept in.
trait Number: Copy + Default + Add<Output = Self> + Sub<Output = Self> + BitXor<Output = Self> {
    fn from_sign(sign: i32) -> Self;
    fn to_sum(self) -> i64;
}

impl Number for i32 {
    #[inline(always)]
    fn from_sign(sign: i32) -> Self {
        sign
    }

    #[inline(always)]
    fn to_sum(self) -> i64 {
        self.into()
    }
}

impl Number for i64 {
    #[inline(always)]
    fn from_sign(sign: i32) -> Self {
        sign.into()
    }

    #[inline(always)]
    fn to_sum(self) -> i64 {
        self
    }
}

/// The units that a column has something of.
struct Column<T> {
    codes: Vec<u64>,
    values: Vec<T>,
    total: i64,
}

impl<T: Number> Column<T> {
    /// The sums over the units that replicates flip, piece by piece.
    #[inline(always)]
    fn sums(&self, replicates: Range<u64>, piece: usize, out: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let mut rows: Vec<Row<T>> = Vec::new();
        let mut next = replicates.start;
        while next < replicates.end {
            let length = piece_length(next, replicates.end, piece);
            let begin = next - next % length as u64;
            rows.clear();
            rows.resize(length / LANES, Row::default());
            self.transform(begin, &mut rows, stop)?;
            let sums = &rows.as_flattened()[(next - begin) as usize..];
            for (out, sum) in out[(next - replicates.start) as usize..].iter_mut().zip(sums) {
                *out = (self.total - sum.to_sum()) / 2;
            }
            next = begin + length as u64;
        }
        Ok(())
    }

    /// D(g) for the replicates from `begin` on, which has none of their bits.
    #[inline(always)]
    fn transform(&self, begin: u64, rows: &mut [Row<T>], stop: &Stop<'_>) -> Result<()> {
        let last = rows.len() - 1;
        for (codes, values) in self.codes.chunks(PIECE).zip(self.values.chunks(PIECE)) {
            if stop.requested() {
                return Err(Error::Interrupted);
            }
            for (&code, &value) in codes.iter().zip(values) {
                let flipped = T::from_sign(-(((code & begin).count_ones() & 1) as i32));
                let row = &mut rows[(code as usize / LANES) & last];
                for (sum, &sign) in row.iter_mut().zip(&SIGNS[code as usize % LANES]) {
                    let sign = T::from_sign(sign) ^ flipped;
                    *sum = *sum + (value ^ sign) - sign;
                }
            }
        }
        let mut half = 1;
        while half < rows.len() {
            for both in rows.chunks_exact_mut(2 * half) {
                let (left, right) = both.split_at_mut(half);
                for (left, right) in left.as_flattened_mut().iter_mut().zip(right.as_flattened_mut()) {
                    (*left, *right) = (*left + *right, *left - *right);
                }
            }
            half *= 2;
        }
        Ok(())
    }
}

/// The longest piece of at most `most` replicates that begins at `next`, or just before it, and not far beyond `end`.
fn piece_length(next: u64, end: u64, most: usize) -> usize {
    let mut length = LANES;
    while length < most && next.is_multiple_of(2 * length as u64) && next + length as u64 * 2 <= end {
        length *= 2;
    }
    length
}

dispatch! {
    fn sums<T: Number>(
        column: &Column<T>,
        replicates: Range<u64>,
        piece: usize,
        out: &mut [i64],
        stop: &Stop<'_>,
    ) -> Result<()> = Column::sums;
}

/// A column whose sums fit 32 bits, or one whose do not.
enum AnyColumn {
    Narrow(Column<i32>),
    Wide(Column<i64>),
}

impl AnyColumn {
    /// # Errors
    /// [`Error::Overflow`] if the values, all taken with one sign, reach 2^62: twice that has to fit. [`Error::Memory`].
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
            let mut narrow = reserved(units)?;
            narrow.extend(values.into_iter().map(|value| value as i32));
            AnyColumn::Narrow(Column { codes, values: narrow, total })
        } else {
            AnyColumn::Wide(Column { codes, values, total })
        })
    }
}

/// The columns of a design by the codes of its units.
pub(in crate::resample) struct Subgroup {
    columns: Vec<AnyColumn>,
    units: usize,
    piece: usize,
    simd: Simd,
}

impl Subgroup {
    /// The units with these codes.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if there is not a code for every unit, [`Error::Overflow`] if the differences between
    /// systems would sum up to 2^62, [`Error::Memory`], and [`Error::Interrupted`] if told to stop.
    pub fn new(design: &Design, codes: &[u64], simd: Simd, stop: &Stop<'_>) -> Result<Self> {
        let units = design.units;
        if codes.len() != units {
            return Err(Error::LengthMismatch { what: "codes".into(), expected: units, got: codes.len() });
        }
        let mut columns = reserved(design.width())?;
        let mut values = zeros(&[units])?;
        for (packed, &column) in design.packed.iter().zip(&design.columns) {
            let mut meter = WorkMeter::default();
            for piece in design.packed.pieces(PIECE) {
                meter.charge(4 * piece.len(), stop)?;
                packed.copy(piece.start, &mut values[piece]);
            }
            columns.push(AnyColumn::new(column, codes.iter().copied().zip(values.iter().copied()))?);
        }
        // What is exceptional is a column with few units.
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

    fn sums(
        &self,
        replicates: Range<u64>,
        _: &mut Scratch,
        (out, stride): (&mut [i64], usize),
        stop: &Stop<'_>,
    ) -> Result<()> {
        let simd = self.simd;
        for (column, out) in self.columns.iter().zip(out.chunks_exact_mut(stride)) {
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
