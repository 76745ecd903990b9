//! Sums over flipped units with replicates side by side, by instructions that look up bytes in a register.
//!
//! The sums of all subsets of a few units form a table. If the sums fit in bytes and the table fits in a register, one
//! instruction looks up the flips of as many replicates as a register has bytes: 64 in a table of six units with
//! AVX-512 VBMI, 32 in a table of four units with AVX2. Sums that do not fit are split into 8-bit digits with a table
//! each. Looked-up bytes are added as bytes as long as they cannot overflow, then as 16-bit numbers.

mod avx2;
mod avx512;

use super::Out;
use crate::error::Result;
use crate::memory::{filled, reserved, zeros};
use crate::pool::Stop;
use crate::resample::design::packed::{Integer, Packed};
use crate::resample::{BATCH, Strided};
use crate::simd::{Simd, dispatch};

/// Columns that are summed together, and registers of [`BATCH`] replicates that are processed together.
const COLUMNS: usize = 4;
const REGISTERS: usize = 2;

/// The sums of each column in each replicate.
type Sums = [[[u16; BATCH]; REGISTERS]; COLUMNS];

/// Consecutive tables that fill a cache line: loads that cross cache lines take twice as long.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(in crate::resample) struct Line([u8; 64]);

/// Instructions that look up bytes in tables of `UNITS` units.
pub(in crate::resample) trait LookUp<const UNITS: usize>: Copy + Into<Simd> {
    /// Splits masks into codes of `UNITS` bits: a column of codes for each table of a mask, as long as that of masks.
    fn codes(self, masks: Strided<&[u64]>, codes: &mut [u8]);

    /// Adds up the entries that are selected, run by run, so that bytes hold the sums. `register` are the [`BATCH`] codes
    /// of each column to begin at. Sums beyond the end are garbage.
    fn sums(self, selected: &Selected<'_>, register: usize, sums: &mut Sums);
}

/// The entries that codes select from the tables of each column.
pub(in crate::resample) struct Selected<'a> {
    tables: [&'a [Line]; COLUMNS],
    runs: &'a Runs,
    codes: &'a [u8],
    /// The length of a column of codes.
    lanes: usize,
}

impl Selected<'_> {
    /// Checks what [`LookUp::sums`] requires, for tables of `SIZE` bytes.
    fn fit<const SIZE: usize>(&self, register: usize) -> bool {
        let groups = self.codes.len() / self.lanes;
        self.tables.iter().all(|tables| size_of_val(*tables) == groups * SIZE)
            && register * BATCH < self.lanes
            && self.lanes.is_multiple_of(BATCH)
            && self.runs.tables.iter().all(|&group| group < groups)
    }
}

/// One digit of a column.
struct Digit {
    column: usize,
    shift: u32,
    tables: Vec<Line>,
    /// The largest entry of each table.
    largest: Vec<u8>,
}

impl Digit {
    /// Tables of zeros.
    fn zeros(column: usize, shift: u32, lines: usize, groups: usize) -> Result<Self> {
        Ok(Digit { column, shift, tables: filled(lines, Line([0; 64]))?, largest: zeros(&[groups])? })
    }

    /// The `group`-th table.
    fn table<const UNITS: usize>(&mut self, group: usize) -> &mut [u8] {
        let Line(line) = &mut self.tables[(group << UNITS) / 64];
        &mut line[(group << UNITS) % 64..][..1 << UNITS]
    }
}

/// The tables of all columns, with `UNITS` units each; the last table of a mask may have fewer.
pub(in crate::resample) struct Tables<const UNITS: usize> {
    digits: Vec<Digit>,
    /// What to add to the sums of entries, which are shifted to be non-negative: for each chunk of masks and column.
    below: Vec<Vec<i64>>,
    /// The runs in which the tables of up to [`COLUMNS`] digits are added up: for each chunk of masks and these digits.
    runs: Vec<Vec<Runs>>,
}

/// The tables that are not all zeros, in runs whose sums fit in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::resample) struct Runs {
    tables: Vec<usize>,
    /// The end of each run.
    ends: Vec<usize>,
}

impl Runs {
    /// Divides tables into runs by their largest entries.
    fn new(largest: impl ExactSizeIterator<Item = u8>) -> Result<Self> {
        let (mut tables, mut ends) = (reserved(largest.len())?, reserved(largest.len())?);
        let mut sum = 0;
        for (table, largest) in largest.enumerate().filter(|(_, largest)| *largest > 0) {
            sum += u32::from(largest);
            if sum > u32::from(u8::MAX) {
                ends.push(tables.len());
                sum = largest.into();
            }
            tables.push(table);
        }
        ends.push(tables.len());
        Ok(Runs { tables, ends })
    }

    fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.tables[std::mem::replace(&mut start, end)..end])
    }
}

impl<const UNITS: usize> Tables<UNITS> {
    /// The size of a table in bytes.
    const SIZE: usize = 1 << UNITS;

    /// Tables per mask.
    const PER_MASK: usize = 64_usize.div_ceil(UNITS);

    /// Cache lines per mask.
    const LINES: usize = Self::PER_MASK * Self::SIZE / 64;

    /// The number of masks per replicate that are processed together, an even number: sums of their bytes fit in 16
    /// bits.
    pub const MASKS: usize = u16::MAX as usize / u8::MAX as usize / Self::PER_MASK / 2 * 2;

    pub fn new(columns: &Packed, simd: Simd, stop: &Stop<'_>) -> Result<Self> {
        const { assert!(BATCH.is_multiple_of(Self::SIZE) && (Self::PER_MASK * Self::SIZE).is_multiple_of(64)) };
        let masks = columns.units().div_ceil(64);
        let (groups, lines) = (masks * Self::PER_MASK, masks * Self::LINES);
        let mut below = vec![vec![0i64; columns.len()]; masks.div_ceil(Self::MASKS)];
        let mut digits: Vec<Digit> = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let first_digit = digits.len();
            for (mask, units) in columns.pieces(64).enumerate() {
                stop.charge(Self::PER_MASK * Self::SIZE / 8)?;
                // The last table of a mask may reach beyond its end.
                let mut values = [0; 64 + 8];
                column.copy(units.start, &mut values[..units.len()]);
                let offset = &mut below[mask / Self::MASKS][index];
                let (values, _) = values[..Self::PER_MASK * UNITS].as_chunks::<UNITS>();
                if digits.len() == first_digit {
                    digits.push(Digit::zeros(index, 0, lines, groups)?);
                }
                let Digit { tables, largest, .. } = &mut digits[first_digit];
                let tables = &mut tables[mask * Self::LINES..][..Self::LINES];
                let largest = &mut largest[mask * Self::PER_MASK..][..Self::PER_MASK];
                if let Some(negative) = fill_bytes(simd, values, tables, largest) {
                    *offset = offset.wrapping_add(negative);
                    continue;
                }
                for (table_of_mask, values) in values.iter().enumerate() {
                    let group = mask * Self::PER_MASK + table_of_mask;
                    let (negative, range) = spread(values);
                    *offset = offset.wrapping_add(negative);
                    let used = (u64::BITS - range.leading_zeros()).div_ceil(8).max(1) as usize;
                    for digit in digits.len()..first_digit + used {
                        // Filled with zeros, for the groups before and for those that do not have this digit.
                        digits.push(Digit::zeros(index, 8 * (digit - first_digit) as u32, lines, groups)?);
                    }
                    let sums = subset_sums(negative.wrapping_neg(), *values);
                    for (digit, digit_tables) in digits[first_digit..first_digit + used].iter_mut().enumerate() {
                        let table = digit_tables.table::<UNITS>(group);
                        table.iter_mut().zip(sums).for_each(|(entry, sum)| *entry = (sum >> (8 * digit)) as u8);
                        digit_tables.largest[group] = table.iter().copied().max().unwrap_or(0);
                    }
                }
            }
        }
        // High digits are zero nearly everywhere; sorted together they form few runs.
        digits.sort_by_key(|digit| digit.shift);
        let mut all_runs = reserved(below.len())?;
        for first in (0..groups).step_by(Self::MASKS * Self::PER_MASK) {
            let chunk = first..groups.min(first + Self::MASKS * Self::PER_MASK);
            stop.charge(chunk.len() * digits.len())?;
            let largest = |digits: &[Digit], group: usize| digits.iter().map(|d| d.largest[group]).max().unwrap_or(0);
            let to_runs = |digits: &[Digit]| Runs::new(chunk.clone().map(|group| largest(digits, group)));
            all_runs.push(digits.chunks(COLUMNS).map(to_runs).collect::<Result<_>>()?);
        }
        Ok(Tables { digits, below, runs: all_runs })
    }

    /// Adds the units that the masks of a chunk, up to [`Tables::MASKS`] of them, flip to the sums of each column in
    /// `out`. Masks are of whole registers of replicates. `codes` is a buffer.
    pub fn add(
        &self,
        look_up: impl LookUp<UNITS>,
        chunk: usize,
        masks: Strided<&[u64]>,
        codes: &mut Vec<u8>,
        mut out: Out<'_>,
    ) {
        let (lanes, masks_here) = (masks.rows(), masks.width());
        codes.resize(masks_here * Self::PER_MASK * lanes, 0);
        look_up.codes(masks, codes);
        for (out, &below) in out.columns_mut().zip(&self.below[chunk]) {
            out[..lanes].iter_mut().for_each(|out| *out = out.wrapping_add(below));
        }
        let first = chunk * Self::MASKS * Self::PER_MASK;
        let groups = first..first + masks_here * Self::PER_MASK;
        let lines = groups.start * Self::SIZE / 64..groups.end * Self::SIZE / 64;
        let mut sums = [[[0; BATCH]; REGISTERS]; COLUMNS];
        for (digits, runs) in self.digits.chunks(COLUMNS).zip(&self.runs[chunk]) {
            // Fewer than four digits: repeats the first one, whose sums are dropped.
            let digit = |i: usize| digits.get(i).unwrap_or(&digits[0]);
            let tables = std::array::from_fn(|i| &digit(i).tables[lines.clone()]);
            let selected = Selected { tables, runs, codes: &*codes, lanes };
            for register in (0..lanes / BATCH).step_by(REGISTERS) {
                look_up.sums(&selected, register, &mut sums);
                for (Digit { column, shift, .. }, sums) in digits.iter().zip(&sums) {
                    let out = &mut out.column_mut(*column)[register * BATCH..lanes];
                    widen(look_up.into(), sums.as_flattened(), *shift, out);
                }
            }
        }
    }
}

dispatch! {
    /// Adds the sums of a digit to those of its column.
    fn widen(sums: &[u16], shift: u32, out: &mut [i64]) {
        for (out, &sum) in out.iter_mut().zip(sums) {
            *out = out.wrapping_add(i64::from(sum) << shift);
        }
    }
}

dispatch! {
    /// Fills the tables of a mask if all sums fit in bytes, as they nearly always do, and returns their offset.
    fn fill_bytes[const UNITS: usize](values: &[[i64; UNITS]], tables: &mut [Line], largest: &mut [u8]) -> Option<i64> {
        let mut below = 0i64;
        let places = tables.iter_mut().flat_map(|Line(line)| line.chunks_exact_mut(1 << UNITS));
        for ((values, table), largest) in values.iter().zip(places).zip(largest) {
            let (negative, range) = spread(values);
            *largest = u8::try_from(range).ok()?;
            below = below.wrapping_add(negative);
            let sums = subset_sums(negative.wrapping_neg() as i8, values.map(|value| value as i8));
            table.iter_mut().zip(sums).for_each(|(entry, sum)| *entry = sum as u8);
        }
        Some(below)
    }
}

/// The sum of the negative values, and the sum of all magnitudes.
#[inline(always)]
fn spread(values: &[i64]) -> (i64, u64) {
    let negative = values.iter().fold(0, |sum: i64, value| sum.wrapping_add(*value.min(&0)));
    (negative, values.iter().fold(0, |sum: u64, value| sum.wrapping_add(value.unsigned_abs())))
}

/// The sums of `base` and every subset of the values, followed by garbage.
#[inline(always)]
fn subset_sums<T: Integer, const UNITS: usize>(base: T, values: [T; UNITS]) -> [T; 64] {
    let mut sums = [base; 64];
    for (bit, value) in values.into_iter().enumerate() {
        let (without, with) = sums.split_at_mut(1 << bit);
        with.iter_mut().zip(without).for_each(|(with, without)| *with = without.plus(value));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_widened_before_they_overflow() {
        let runs = |largest: &[u8]| {
            let runs = Runs::new(largest.iter().copied()).unwrap();
            runs.iter().map(<[usize]>::to_vec).collect::<Vec<_>>()
        };
        assert_eq!(vec![vec![0, 1, 2]], runs(&[100, 100, 55]));
        assert_eq!(vec![vec![0, 1], vec![3]], runs(&[100, 100, 0, 56]));
        assert_eq!(vec![vec![0], vec![1], vec![2]], runs(&[255, 255, 255, 0, 0]));
        assert_eq!(vec![Vec::<usize>::new()], runs(&[]));
    }

    #[test]
    fn sixteen_bits_hold_the_sums_of_a_chunk() {
        assert_eq!((11, 22), (Tables::<6>::PER_MASK, Tables::<6>::MASKS));
        assert_eq!((16, 16), (Tables::<4>::PER_MASK, Tables::<4>::MASKS));
    }
}
