//! Sums over flipped units with replicates side by side, for processors that look bytes up in a register (AVX-512 VBMI).
//!
//! The sums of all subsets of six units are a table of 64. If they fit bytes, the table is one register, and one
//! instruction looks up the flips of 64 replicates. Sums that do not fit are cut into digits of eight bits, a table for
//! each. Bytes are added up as long as they cannot overflow, then 16-bit numbers are.

use crate::error::Result;
use crate::pool::{Patience, Stop};
use crate::resample::design::packed::Packed;
use crate::resample::reserved;

/// Replicates to a register.
pub(in crate::resample) const LANES: usize = 64;

/// Units whose subsets have a table.
const SIX: usize = 6;

/// Tables for the units of a word: ten of six units, and one of the four that are left.
pub(in crate::resample) const TABLES: usize = 11;

/// Words of flips looked at together: then 242 tables are, and so many bytes fit 16 bits.
pub(in crate::resample) const WORDS: usize = 22;

/// Columns, and registers of replicates, whose sums are made together.
const COLUMNS: usize = 4;
const REGISTERS: usize = 2;

type Table = [u8; LANES];

/// A digit of a column.
struct Digit {
    column: usize,
    shift: u32,
    /// One for every six units.
    tables: Vec<Table>,
    /// The largest entry of each.
    largest: Vec<u8>,
}

/// The tables of all columns.
pub(in crate::resample) struct Tables {
    digits: Vec<Digit>,
    /// What tables leave out, so that their entries are not negative: for each chunk of words and column.
    below: Vec<Vec<i64>>,
}

impl Tables {
    /// # Errors
    /// [`crate::Error::Memory`], and [`crate::Error::Interrupted`] if told to stop.
    pub fn new(columns: &Packed, stop: &Stop<'_>) -> Result<Self> {
        let mut patience = Patience::default();
        let words = columns.units().div_ceil(64);
        let mut below = vec![vec![0i64; columns.len()]; words.div_ceil(WORDS)];
        let mut digits: Vec<Digit> = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            let first_digit = digits.len();
            for (word, units) in columns.pieces(64).enumerate() {
                patience.spend(TABLES * LANES / 8, stop)?;
                let mut values = [0; 64 + SIX];
                column.copy(units.start, &mut values[..units.len()]);
                let of_chunk = &mut below[word / WORDS][index];
                for of_word in 0..TABLES {
                    let group = word * TABLES + of_word;
                    let six: [i64; SIX] = std::array::from_fn(|i| values[of_word * SIX + i]);
                    let negative = six.iter().fold(0, |sum: i64, value| sum.wrapping_add(*value.min(&0)));
                    let range = six.iter().fold(0, |sum: u64, value| sum.wrapping_add(value.unsigned_abs()));
                    *of_chunk = of_chunk.wrapping_add(negative);
                    let used = (u64::BITS - range.leading_zeros()).div_ceil(8).max(1) as usize;
                    for digit in digits.len()..first_digit + used {
                        let shift = 8 * (digit - first_digit) as u32;
                        let (tables, largest) = (reserved(words * TABLES)?, reserved(words * TABLES)?);
                        digits.push(Digit { column: index, shift, tables, largest });
                    }
                    let of_column = &mut digits[first_digit..first_digit + used];
                    for digit in &mut *of_column {
                        // Tables of zeros for the groups before.
                        digit.tables.resize(group, [0; LANES]);
                        digit.largest.resize(group, 0);
                    }
                    if let [low] = of_column {
                        // Nearly always: then bytes hold all sums, and the largest one is all that the six can make.
                        low.tables.push(subset_sums(negative.wrapping_neg() as u8, six.map(|value| value as u8)));
                        low.largest.push(range as u8);
                        continue;
                    }
                    let sums = subset_sums(negative.wrapping_neg().cast_unsigned(), six.map(i64::cast_unsigned));
                    for (digit, of_digit) in of_column.iter_mut().enumerate() {
                        let table = sums.map(|sum| (sum >> (8 * digit)) as u8);
                        of_digit.largest.push(table.into_iter().max().unwrap_or(0));
                        of_digit.tables.push(table);
                    }
                }
            }
            for digit in &mut digits[first_digit..] {
                digit.tables.resize(words * TABLES, [0; LANES]);
                digit.largest.resize(words * TABLES, 0);
            }
        }
        // High digits are zero nearly everywhere; among themselves they keep nobody waiting.
        digits.sort_by_key(|digit| digit.shift);
        Ok(Tables { digits, below })
    }

    /// Adds the flipped units of up to [`WORDS`] words, the `chunk`-th, to each column's sums: of each column the front
    /// of its `stride` places in `out`. `words` are word by word, the replicates' side by side, in whole registers.
    /// `codes` is for scribbling.
    pub fn add(
        &self,
        chunk: usize,
        words: &[u64],
        registers: usize,
        codes: &mut Vec<u8>,
        (out, stride): (&mut [i64], usize),
    ) {
        let lanes = registers * LANES;
        let words_here = words.len() / lanes;
        codes.resize(words_here * TABLES * lanes, 0);
        vbmi::codes(words, lanes, codes);
        for (out, &below) in out.chunks_exact_mut(stride).zip(&self.below[chunk]) {
            out[..lanes].iter_mut().for_each(|out| *out = out.wrapping_add(below));
        }
        let first = chunk * WORDS * TABLES;
        let groups = first..first + words_here * TABLES;
        let mut sums = [[[0; LANES]; REGISTERS]; COLUMNS];
        for digits in self.digits.chunks(COLUMNS) {
            // Fewer than four: the first once more, for nothing.
            let of = |i: usize| digits.get(i).unwrap_or(&digits[0]);
            let tables: [&[Table]; COLUMNS] = std::array::from_fn(|i| &of(i).tables[groups.clone()]);
            let runs = runs(groups.clone().map(|g| digits.iter().map(|d| d.largest[g]).max().unwrap_or(0)));
            for register in (0..registers).step_by(REGISTERS) {
                vbmi::sums(&tables, &runs, codes, (lanes, register), &mut sums);
                for (Digit { column, shift, .. }, sums) in digits.iter().zip(&sums) {
                    let out = &mut out[column * stride + register * LANES..];
                    for (out, &sum) in out[..lanes - register * LANES].iter_mut().zip(sums.as_flattened()) {
                        *out = out.wrapping_add(i64::from(sum) << shift);
                    }
                }
            }
        }
    }
}

/// The sums of all subsets of six values, and `base` on top of each.
#[inline(always)]
fn subset_sums<T: Wrapping>(base: T, values: [T; SIX]) -> [T; LANES] {
    let mut sums = [base; LANES];
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

/// Tables that are not zero, in runs whose largest entries fit a byte together.
fn runs(largest: impl Iterator<Item = u8>) -> Vec<Vec<usize>> {
    let mut runs = vec![Vec::new()];
    let mut sum = 0;
    for (i, largest) in largest.enumerate().filter(|(_, largest)| *largest > 0) {
        sum += u32::from(largest);
        if sum > u32::from(u8::MAX) {
            runs.push(Vec::new());
            sum = largest.into();
        }
        runs.last_mut().expect("there is a first one").push(i);
    }
    runs
}

/// Are the instructions there?
pub(in crate::resample) fn available() -> bool {
    vbmi::available()
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod vbmi {
    use std::arch::x86_64::*;

    use super::{COLUMNS, LANES, REGISTERS, TABLES, Table};

    pub fn available() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
    }

    /// Cuts words into codes of six bits: of each word eleven rows of codes, the replicates' side by side.
    pub fn codes(words: &[u64], lanes: usize, codes: &mut [u8]) {
        assert!(available() && lanes.is_multiple_of(LANES) && words.len() * TABLES == codes.len());
        for (words, codes) in words.chunks_exact(lanes).zip(codes.chunks_exact_mut(TABLES * lanes)) {
            for (register, words) in words.as_chunks::<LANES>().0.iter().enumerate() {
                // SAFETY: the processor has the instructions.
                let (first, second) = unsafe { (rows_of_codes(words, 0), rows_of_codes(words, 48)) };
                let rows = first.iter().chain(&second);
                for (row, codes) in rows.zip(codes.chunks_exact_mut(lanes)) {
                    codes[register * LANES..][..LANES].copy_from_slice(row);
                }
            }
        }
    }

    /// Eight codes of each word, six bits each from bit `from` on; beyond the word there is nothing of use.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn rows_of_codes(words: &[u64; LANES], from: u8) -> [Table; 8] {
        let starts: [u8; 8] = std::array::from_fn(|i| (from + 6 * i as u8).min(60));
        let starts = _mm512_set1_epi64(i64::from_le_bytes(starts));
        let six = _mm512_set1_epi8(63);
        // Byte j of the i-th word goes to place 8·j + i: the eight words' first codes, then their second ones …
        let order: [u8; LANES] = std::array::from_fn(|place| (place % 8 * 8 + place / 8) as u8);
        // SAFETY: an array of 64 bytes is as long as a register, and needs no alignment here.
        let order = unsafe { _mm512_loadu_si512(order.as_ptr().cast()) };
        let mut eights = [_mm512_setzero_si512(); 8];
        for (codes, words) in eights.iter_mut().zip(words.as_chunks::<8>().0) {
            // SAFETY: as above; eight words have 64 bytes.
            let words = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
            *codes = _mm512_permutexvar_epi8(order, _mm512_and_si512(_mm512_multishift_epi64_epi8(starts, words), six));
        }
        let mut rows = [[0; LANES]; 8];
        for (row, register) in rows.iter_mut().zip(transposed(eights)) {
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), register) };
        }
        rows
    }

    /// Word i of register j becomes word j of register i.
    #[target_feature(enable = "avx512f")]
    fn transposed(rows: [__m512i; 8]) -> [__m512i; 8] {
        let mut out = rows;
        for odd in 0..2 {
            // Of two registers each: the even words side by side, or the odd ones.
            let [a, b, c, d] = std::array::from_fn(|i| {
                let (one, other) = (rows[2 * i], rows[2 * i + 1]);
                if odd == 0 { _mm512_unpacklo_epi64(one, other) } else { _mm512_unpackhi_epi64(one, other) }
            });
            // Quarters 0 and 2 of both, then quarters 1 and 3.
            let even_quarters = [_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0x88>(c, d)];
            let odd_quarters = [_mm512_shuffle_i64x2::<0xdd>(a, b), _mm512_shuffle_i64x2::<0xdd>(c, d)];
            out[odd] = _mm512_shuffle_i64x2::<0x88>(even_quarters[0], even_quarters[1]);
            out[2 + odd] = _mm512_shuffle_i64x2::<0x88>(odd_quarters[0], odd_quarters[1]);
            out[4 + odd] = _mm512_shuffle_i64x2::<0xdd>(even_quarters[0], even_quarters[1]);
            out[6 + odd] = _mm512_shuffle_i64x2::<0xdd>(odd_quarters[0], odd_quarters[1]);
        }
        out
    }

    /// The sums of what the codes point at in each column's tables, for two registers of replicates from `register` on.
    /// Within a run, bytes hold the sums.
    pub fn sums(
        tables: &[&[Table]; COLUMNS],
        runs: &[Vec<usize>],
        codes: &[u8],
        (lanes, register): (usize, usize),
        sums: &mut [[[u16; LANES]; REGISTERS]; COLUMNS],
    ) {
        let groups = codes.len() / lanes;
        assert!(available() && tables.iter().all(|tables| tables.len() == groups));
        assert!(register * LANES < lanes && lanes.is_multiple_of(LANES));
        assert!(runs.iter().flatten().all(|&group| group < groups));
        // An odd last register is looked up twice.
        let second = if (register + 1) * LANES < lanes { register + 1 } else { register };
        // SAFETY: the processor has the instructions, and what the function asks for was just looked at.
        unsafe { sums_of_two(tables, runs, codes, lanes, [register, second], sums) };
    }

    /// # Safety
    /// `codes` has `lanes` bytes for each of as many groups as each of `tables` has, no group of `runs` is beyond these,
    /// and `lanes` is more than the places that `registers` stand for.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn sums_of_two(
        tables: &[&[Table]; COLUMNS],
        runs: &[Vec<usize>],
        codes: &[u8],
        lanes: usize,
        registers: [usize; REGISTERS],
        sums: &mut [[[u16; LANES]; REGISTERS]; COLUMNS],
    ) {
        let zeros = [[_mm512_setzero_si512(); REGISTERS]; COLUMNS];
        let low = _mm512_set1_epi16(0xff);
        let (mut even, mut odd) = (zeros, zeros);
        for run in runs {
            let mut bytes = zeros;
            for &group in run {
                // SAFETY: the caller's promise; a register and a table are 64 bytes, and need no alignment here.
                let codes = registers
                    .map(|r| unsafe { _mm512_loadu_si512(codes.as_ptr().add(group * lanes + r * LANES).cast()) });
                for (bytes, tables) in bytes.iter_mut().zip(tables) {
                    // SAFETY: as above.
                    let table = unsafe { _mm512_loadu_si512(tables.as_ptr().add(group).cast()) };
                    for (bytes, codes) in bytes.iter_mut().zip(codes) {
                        *bytes = _mm512_add_epi8(*bytes, _mm512_permutexvar_epi8(codes, table));
                    }
                }
            }
            for ((even, odd), bytes) in even.iter_mut().zip(&mut odd).zip(bytes) {
                for ((even, odd), bytes) in even.iter_mut().zip(odd).zip(bytes) {
                    *even = _mm512_add_epi16(*even, _mm512_and_si512(bytes, low));
                    *odd = _mm512_add_epi16(*odd, _mm512_srli_epi16::<8>(bytes));
                }
            }
        }
        for ((even, odd), sums) in even.iter().zip(&odd).zip(sums) {
            for ((even, odd), sums) in even.iter().zip(odd).zip(sums) {
                let mut halves = [[0u16; LANES / 2]; 2];
                for (half, register) in halves.iter_mut().zip([even, odd]) {
                    // SAFETY: 32 numbers of 16 bits are as long as a register.
                    unsafe { _mm512_storeu_si512(half.as_mut_ptr().cast(), *register) };
                }
                for (i, pair) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    *pair = [halves[0][i], halves[1][i]];
                }
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod vbmi {
    use super::{COLUMNS, LANES, REGISTERS, Table};

    pub fn available() -> bool {
        false
    }

    pub fn codes(_: &[u64], _: usize, _: &mut [u8]) {
        unreachable!("the instructions are not there");
    }

    pub fn sums(
        _: &[&[Table]; COLUMNS],
        _: &[Vec<usize>],
        _: &[u8],
        _: (usize, usize),
        _: &mut [[[u16; LANES]; REGISTERS]; COLUMNS],
    ) {
        unreachable!("the instructions are not there");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_wider_before_they_overflow() {
        assert_eq!(vec![vec![0, 1, 2]], runs([100, 100, 55].into_iter()));
        assert_eq!(vec![vec![0, 1], vec![3]], runs([100, 100, 0, 56].into_iter()));
        assert_eq!(vec![vec![0], vec![1], vec![2]], runs([255, 255, 255, 0, 0].into_iter()));
        assert_eq!(vec![Vec::<usize>::new()], runs(std::iter::empty()));
    }
}
