//! Sums over flipped units with replicates side by side, for processors that look bytes up in a register.
//!
//! The sums of all subsets of a few units are a table. If they fit bytes, and the table a register, one instruction looks
//! up the flips of as many replicates as a register has bytes: AVX-512 VBMI those of 64 in a table of six units, AVX2
//! those of 32 in one of four. Sums that do not fit are cut into digits of eight bits, a table for each. Bytes are added
//! up as long as they cannot overflow, then 16-bit numbers are.

mod avx2;
mod avx512;

use super::STRIDE as LANES;
use crate::error::Result;
use crate::pool::{Stop, WorkMeter};
use crate::resample::design::packed::Packed;
use crate::resample::reserved;
use crate::simd::{Simd, dispatch};

/// Columns whose sums are made together, of so many times [`LANES`] replicates.
const COLUMNS: usize = 4;
const REGISTERS: usize = 2;

/// The sums of each column in each replicate.
type Sums = [[[u16; LANES]; REGISTERS]; COLUMNS];

/// Some tables, one after the other, in a line of the cache: loads that cross lines take twice as long.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(in crate::resample) struct Line([u8; 64]);

/// Instructions that look bytes up in the tables of so many units.
pub(in crate::resample) trait LookUp<const UNITS: usize>: Copy {
    /// Cuts words into codes of `UNITS` bits: of each word as many rows of codes as it has tables, `lanes` codes to a row.
    fn codes(self, words: &[u64], lanes: usize, codes: &mut [u8]);

    /// The sums of what the codes of some replicates point at in each column's tables. The tables are taken in runs, in
    /// which bytes hold the sums. `place` is the length of a row of codes, and which [`LANES`] of it the replicates begin
    /// at. Of replicates beyond its end there may be anything.
    fn sums(self, tables: &[&[Line]; COLUMNS], runs: &Runs, codes: &[u8], place: (usize, usize), sums: &mut Sums);
}

/// A digit of a column.
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
        let mut tables = reserved(lines)?;
        tables.resize(lines, Line([0; 64]));
        let mut largest = reserved(groups)?;
        largest.resize(groups, 0);
        Ok(Digit { column, shift, tables, largest })
    }

    /// The `group`-th table.
    fn table<const UNITS: usize>(&mut self, group: usize) -> &mut [u8] {
        let Line(line) = &mut self.tables[(group << UNITS) / 64];
        &mut line[(group << UNITS) % 64..][..1 << UNITS]
    }
}

/// The tables of all columns, each of so many units, one at the end of a word perhaps of fewer.
pub(in crate::resample) struct Tables<const UNITS: usize> {
    digits: Vec<Digit>,
    /// What tables leave out, so that their entries are not negative: for each chunk of words and column.
    below: Vec<Vec<i64>>,
    /// In what runs the tables of up to [`COLUMNS`] digits are added up: for each chunk of words, and these digits.
    runs: Vec<Vec<Runs>>,
}

/// Tables that are not zero, in runs whose bytes hold the sums of their entries.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::resample) struct Runs {
    tables: Vec<usize>,
    /// Where each run ends among the tables.
    ends: Vec<usize>,
}

impl Runs {
    /// From the largest entry of each table.
    ///
    /// # Errors
    /// [`crate::Error::Memory`].
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
    /// The bytes of a table.
    const SIZE: usize = 1 << UNITS;

    /// Tables for the units of a word.
    const OF_WORD: usize = 64_usize.div_ceil(UNITS);

    /// The lines that they fill.
    const LINES: usize = Self::OF_WORD * Self::SIZE / 64;

    /// Words of flips looked at together, an even number: so many tables that their bytes fit 16 bits.
    pub const WORDS: usize = u16::MAX as usize / u8::MAX as usize / Self::OF_WORD / 2 * 2;

    /// # Errors
    /// [`crate::Error::Memory`], and [`crate::Error::Interrupted`] if the call is cancelled.
    pub fn new(columns: &Packed, simd: Simd, stop: &Stop<'_>) -> Result<Self> {
        const { assert!(LANES.is_multiple_of(Self::SIZE) && (Self::OF_WORD * Self::SIZE).is_multiple_of(64)) };
        let mut meter = WorkMeter::default();
        let words = columns.units().div_ceil(64);
        let (groups, lines) = (words * Self::OF_WORD, words * Self::LINES);
        let mut below = vec![vec![0i64; columns.len()]; words.div_ceil(Self::WORDS)];
        let mut digits: Vec<Digit> = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let first_digit = digits.len();
            for (word, units) in columns.pieces(64).enumerate() {
                meter.charge(Self::OF_WORD * Self::SIZE / 8, stop)?;
                // Behind the last ones a table may ask for a few more.
                let mut values = [0; 64 + 8];
                column.copy(units.start, &mut values[..units.len()]);
                let of_chunk = &mut below[word / Self::WORDS][index];
                let (values, _) = values[..Self::OF_WORD * UNITS].as_chunks::<UNITS>();
                if digits.len() == first_digit {
                    digits.push(Digit::zeros(index, 0, lines, groups)?);
                }
                let Digit { tables, largest, .. } = &mut digits[first_digit];
                let tables = &mut tables[word * Self::LINES..][..Self::LINES];
                let largest = &mut largest[word * Self::OF_WORD..][..Self::OF_WORD];
                if let Some(negative) = fill_bytes(simd, values, tables, largest) {
                    *of_chunk = of_chunk.wrapping_add(negative);
                    continue;
                }
                for (of_word, values) in values.iter().enumerate() {
                    let group = word * Self::OF_WORD + of_word;
                    let (negative, range) = spread(values);
                    *of_chunk = of_chunk.wrapping_add(negative);
                    let used = (u64::BITS - range.leading_zeros()).div_ceil(8).max(1) as usize;
                    for digit in digits.len()..first_digit + used {
                        // Zeros stay for the groups before, and for those that will not have this digit.
                        digits.push(Digit::zeros(index, 8 * (digit - first_digit) as u32, lines, groups)?);
                    }
                    let sums = subset_sums(negative.wrapping_neg().cast_unsigned(), values.map(i64::cast_unsigned));
                    for (digit, of_digit) in digits[first_digit..first_digit + used].iter_mut().enumerate() {
                        let table = of_digit.table::<UNITS>(group);
                        table.iter_mut().zip(sums).for_each(|(entry, sum)| *entry = (sum >> (8 * digit)) as u8);
                        of_digit.largest[group] = table.iter().copied().max().unwrap_or(0);
                    }
                }
            }
        }
        // High digits are zero nearly everywhere; among themselves they keep nobody waiting.
        digits.sort_by_key(|digit| digit.shift);
        let mut all_runs = reserved(below.len())?;
        for first in (0..groups).step_by(Self::WORDS * Self::OF_WORD) {
            let of_chunk = first..groups.min(first + Self::WORDS * Self::OF_WORD);
            meter.charge(of_chunk.len() * digits.len(), stop)?;
            let largest = |digits: &[Digit], group: usize| digits.iter().map(|d| d.largest[group]).max().unwrap_or(0);
            let of_digits = |digits: &[Digit]| Runs::new(of_chunk.clone().map(|group| largest(digits, group)));
            all_runs.push(digits.chunks(COLUMNS).map(of_digits).collect::<Result<_>>()?);
        }
        Ok(Tables { digits, below, runs: all_runs })
    }

    /// Adds the flipped units of up to [`Tables::WORDS`] words, the `chunk`-th, to each column's sums: of each column the
    /// front of its `stride` places in `out`. `words` are word by word, the replicates' side by side, in whole
    /// registers. `codes` is for scribbling.
    pub fn add(
        &self,
        (look_up, simd): (impl LookUp<UNITS>, Simd),
        chunk: usize,
        words: &[u64],
        registers: usize,
        codes: &mut Vec<u8>,
        (out, stride): (&mut [i64], usize),
    ) {
        let lanes = registers * LANES;
        let words_here = words.len() / lanes;
        codes.resize(words_here * Self::OF_WORD * lanes, 0);
        look_up.codes(words, lanes, codes);
        for (out, &below) in out.chunks_exact_mut(stride).zip(&self.below[chunk]) {
            out[..lanes].iter_mut().for_each(|out| *out = out.wrapping_add(below));
        }
        let first = chunk * Self::WORDS * Self::OF_WORD;
        let groups = first..first + words_here * Self::OF_WORD;
        let lines = groups.start * Self::SIZE / 64..groups.end * Self::SIZE / 64;
        let mut sums = [[[0; LANES]; REGISTERS]; COLUMNS];
        for (digits, runs) in self.digits.chunks(COLUMNS).zip(&self.runs[chunk]) {
            // Fewer than four: the first once more, for nothing.
            let of = |i: usize| digits.get(i).unwrap_or(&digits[0]);
            let tables: [&[Line]; COLUMNS] = std::array::from_fn(|i| &of(i).tables[lines.clone()]);
            for register in (0..registers).step_by(REGISTERS) {
                look_up.sums(&tables, runs, codes, (lanes, register), &mut sums);
                for (Digit { column, shift, .. }, sums) in digits.iter().zip(&sums) {
                    let out = &mut out[column * stride + register * LANES..][..lanes - register * LANES];
                    widen(simd, sums.as_flattened(), *shift, out);
                }
            }
        }
    }
}

dispatch! {
    /// Adds the sums of a digit to those of its column, as many as there are places for.
    fn widen(sums: &[u16], shift: u32, out: &mut [i64]) = widen_inline;
}

#[inline(always)]
fn widen_inline(sums: &[u16], shift: u32, out: &mut [i64]) {
    for (out, &sum) in out.iter_mut().zip(sums) {
        *out = out.wrapping_add(i64::from(sum) << shift);
    }
}

dispatch! {
    /// Fills the tables of a word if the sums of each fit bytes, as they nearly always do, and tells what they leave out.
    fn fill_bytes[const UNITS: usize](values: &[[i64; UNITS]], tables: &mut [Line], largest: &mut [u8]) -> Option<i64>
        = fill_bytes_inline;
}

#[inline(always)]
fn fill_bytes_inline<const UNITS: usize>(
    values: &[[i64; UNITS]],
    tables: &mut [Line],
    largest: &mut [u8],
) -> Option<i64> {
    let mut below = 0i64;
    let places = tables.iter_mut().flat_map(|Line(line)| line.chunks_exact_mut(1 << UNITS));
    for ((values, table), largest) in values.iter().zip(places).zip(largest) {
        let (negative, range) = spread(values);
        *largest = u8::try_from(range).ok()?;
        below = below.wrapping_add(negative);
        let sums = subset_sums(negative.wrapping_neg() as u8, values.map(|value| value as u8));
        table.copy_from_slice(&sums[..1 << UNITS]);
    }
    Some(below)
}

/// The sum of the negative values, and that of all magnitudes.
#[inline(always)]
fn spread(values: &[i64]) -> (i64, u64) {
    let negative = values.iter().fold(0, |sum: i64, value| sum.wrapping_add(*value.min(&0)));
    (negative, values.iter().fold(0, |sum: u64, value| sum.wrapping_add(value.unsigned_abs())))
}

/// The sums of all subsets of the values, and `base` on top of each; then nothing of use.
#[inline(always)]
fn subset_sums<T: Wrapping, const UNITS: usize>(base: T, values: [T; UNITS]) -> [T; 64] {
    let mut sums = [base; 64];
    for (bit, value) in values.into_iter().enumerate() {
        let (without, with) = sums.split_at_mut(1 << bit);
        with.iter_mut().zip(without).for_each(|(with, without)| *with = without.plus(value));
    }
    sums
}

/// An integer of which only the lowest bits of a sum are wanted.
trait Wrapping: Copy {
    fn plus(self, other: Self) -> Self;
}

impl Wrapping for u8 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Wrapping for u64 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

/// For the instructions: is there what [`LookUp::sums`] reads, with tables of `SIZE` bytes?
fn fit<const SIZE: usize>(
    tables: &[&[Line]; COLUMNS],
    runs: &Runs,
    codes: &[u8],
    (lanes, register): (usize, usize),
) -> bool {
    let groups = codes.len() / lanes;
    tables.iter().all(|tables| size_of_val(*tables) == groups * SIZE)
        && register * LANES < lanes
        && lanes.is_multiple_of(LANES)
        && runs.tables.iter().all(|&group| group < groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_wider_before_they_overflow() {
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
    fn sixteen_bits_hold_the_bytes_of_a_chunk() {
        assert_eq!((11, 22), (Tables::<6>::OF_WORD, Tables::<6>::WORDS));
        assert_eq!((16, 16), (Tables::<4>::OF_WORD, Tables::<4>::WORDS));
    }
}
