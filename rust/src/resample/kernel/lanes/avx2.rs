//! AVX2: 32 bytes are looked up in 16, which stand in either half of a register.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{COLUMNS, LANES, Line, LookUp, REGISTERS, Runs, Sums, fit};
use crate::simd::Avx2;

/// Tables for the units of a word.
const OF_WORD: usize = 16;

/// The bytes of a table.
const SIZE: usize = 16;

/// Replicates to a register, and registers for as many as come together.
const HALF: usize = 32;
const HALVES: usize = LANES / HALF;

impl LookUp<4> for Avx2 {
    fn codes(self, words: &[u64], lanes: usize, codes: &mut [u8]) {
        assert!(lanes.is_multiple_of(HALF) && words.len() * OF_WORD == codes.len());
        for (words, codes) in words.chunks_exact(lanes).zip(codes.chunks_exact_mut(OF_WORD * lanes)) {
            for (half, words) in words.as_chunks::<HALF>().0.iter().enumerate() {
                // SAFETY: the processor has the instructions.
                let rows = unsafe { rows_of_codes(words) };
                for (row, codes) in rows.iter().zip(codes.chunks_exact_mut(lanes)) {
                    codes[half * HALF..][..HALF].copy_from_slice(row);
                }
            }
        }
    }

    fn sums(
        self,
        tables: &[&[Line]; COLUMNS],
        runs: &Runs,
        codes: &[u8],
        (lanes, register): (usize, usize),
        sums: &mut Sums,
    ) {
        assert!(fit::<SIZE>(tables, runs, codes, (lanes, register)));
        for (i, place) in (register * LANES..lanes).step_by(LANES).take(REGISTERS).enumerate() {
            let of_columns = sums.each_mut().map(|sums| &mut sums[i]);
            // SAFETY: the processor has the instructions, and what the function asks for was just looked at.
            unsafe { sums_of_lanes(tables, runs, codes, (lanes, place), of_columns) };
        }
    }
}

/// The sixteen codes of each word, four bits each.
#[target_feature(enable = "avx2")]
fn rows_of_codes(words: &[u64; HALF]) -> [[u8; HALF]; OF_WORD] {
    // The bytes of two words by turns.
    let turns = _mm256_setr_epi8(
        0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,
    );
    // Words 2i and 2i + 1 in one half of a register, and as many from the sixteenth on in the other. Then each half is
    // eight pairs of bytes, and eight registers are transposed.
    let (first, second) = words.split_at(HALF / 2);
    let pairs: [__m256i; 8] = std::array::from_fn(|i| {
        let pair = |words: &[u64]| {
            let pair: &[u64; 2] = &[words[2 * i], words[2 * i + 1]];
            // SAFETY: two words are as long as half a register, and need no alignment here.
            unsafe { _mm_loadu_si128(pair.as_ptr().cast()) }
        };
        _mm256_shuffle_epi8(_mm256_set_m128i(pair(second), pair(first)), turns)
    });
    let four = _mm256_set1_epi8(15);
    let mut rows = [[0; HALF]; OF_WORD];
    for (rows, bytes) in rows.as_chunks_mut::<2>().0.iter_mut().zip(transposed(pairs)) {
        let codes = [_mm256_and_si256(bytes, four), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), four)];
        for (row, codes) in rows.iter_mut().zip(codes) {
            // SAFETY: 32 bytes are as long as a register, and need no alignment here.
            unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), codes) };
        }
    }
    rows
}

/// In either half of the registers: pair i of register j becomes pair j of register i.
#[target_feature(enable = "avx2")]
fn transposed(rows: [__m256i; 8]) -> [__m256i; 8] {
    let [a, b, c, d, e, f, g, h] = rows;
    // Pairs of two registers by turns, 0 to 3 and 4 to 7; then those of four registers, 0 and 1, 2 and 3 …; then of all.
    let two = [
        [
            _mm256_unpacklo_epi16(a, b),
            _mm256_unpacklo_epi16(c, d),
            _mm256_unpacklo_epi16(e, f),
            _mm256_unpacklo_epi16(g, h),
        ],
        [
            _mm256_unpackhi_epi16(a, b),
            _mm256_unpackhi_epi16(c, d),
            _mm256_unpackhi_epi16(e, f),
            _mm256_unpackhi_epi16(g, h),
        ],
    ];
    let mut out = rows;
    for (out, [a, b, c, d]) in out.as_chunks_mut::<4>().0.iter_mut().zip(two) {
        let low = [_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d)];
        let high = [_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d)];
        *out = [
            _mm256_unpacklo_epi64(low[0], low[1]),
            _mm256_unpackhi_epi64(low[0], low[1]),
            _mm256_unpacklo_epi64(high[0], high[1]),
            _mm256_unpackhi_epi64(high[0], high[1]),
        ];
    }
    out
}

/// # Safety
/// `codes` has `lanes` bytes for each of as many groups as each of `tables` has tables, no group of `runs` is beyond these,
/// and [`LANES`] places from `place` on are below `lanes`.
#[target_feature(enable = "avx2")]
unsafe fn sums_of_lanes(
    tables: &[&[Line]; COLUMNS],
    runs: &Runs,
    codes: &[u8],
    (lanes, place): (usize, usize),
    sums: [&mut [u16; LANES]; COLUMNS],
) {
    let zeros = [[_mm256_setzero_si256(); HALVES]; COLUMNS];
    // Of each two bytes: both as one number of 16 bits, as far as it goes, and the odd one.
    let (mut both, mut odd) = (zeros, zeros);
    for run in runs.iter() {
        let mut bytes = zeros;
        for &group in run {
            // SAFETY: the caller's promise; a register is as long as half of the places.
            let codes: [_; HALVES] = std::array::from_fn(|half| unsafe {
                _mm256_loadu_si256(codes.as_ptr().add(group * lanes + place + half * HALF).cast())
            });
            for (bytes, tables) in bytes.iter_mut().zip(tables) {
                // SAFETY: the caller's promise; a table is as long as half a register.
                let table = unsafe { _mm_load_si128(tables.as_ptr().cast::<u8>().add(group * SIZE).cast()) };
                let table = _mm256_broadcastsi128_si256(table);
                for (bytes, codes) in bytes.iter_mut().zip(codes) {
                    *bytes = _mm256_add_epi8(*bytes, _mm256_shuffle_epi8(table, codes));
                }
            }
        }
        for ((both, odd), bytes) in
            both.as_flattened_mut().iter_mut().zip(odd.as_flattened_mut()).zip(bytes.as_flattened())
        {
            *both = _mm256_add_epi16(*both, *bytes);
            *odd = _mm256_add_epi16(*odd, _mm256_srli_epi16::<8>(*bytes));
        }
    }
    for ((both, odd), sums) in both.into_iter().zip(odd).zip(sums) {
        for ((both, odd), sums) in both.into_iter().zip(odd).zip(sums.as_chunks_mut::<HALF>().0) {
            let even = _mm256_sub_epi16(both, _mm256_slli_epi16::<8>(odd));
            // By turns: of either half of the registers the first eight, and the last eight.
            let (low, high) = (_mm256_unpacklo_epi16(even, odd), _mm256_unpackhi_epi16(even, odd));
            let in_order = [_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high)];
            for (sums, register) in sums.as_chunks_mut::<16>().0.iter_mut().zip(in_order) {
                // SAFETY: sixteen numbers of 16 bits are as long as a register, and need no alignment here.
                unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), register) };
            }
        }
    }
}
