//! AVX2: looks up 32 bytes in a table of 16, which is copied to both halves of a register.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{COLUMNS, LookUp, REGISTERS, Selected, Sums};
use crate::resample::{BATCH, Strided};
use crate::simd::Avx2;

/// Tables per mask.
const PER_MASK: usize = 16;

/// The size of a table in bytes.
const SIZE: usize = 16;

/// Replicates per register, and registers per [`BATCH`] replicates.
const HALF: usize = 32;
const HALVES: usize = BATCH / HALF;

impl LookUp<4> for Avx2 {
    fn codes(self, masks: Strided<&[u64]>, codes: &mut [u8]) {
        let lanes = masks.rows();
        assert!(lanes.is_multiple_of(HALF) && masks.width() * PER_MASK * lanes == codes.len());
        for (masks, codes) in masks.columns().zip(codes.chunks_exact_mut(PER_MASK * lanes)) {
            for (half, masks) in masks.as_chunks::<HALF>().0.iter().enumerate() {
                // SAFETY: the processor has the instructions.
                let rows = unsafe { rows_of_codes(masks) };
                for (row, codes) in rows.iter().zip(codes.chunks_exact_mut(lanes)) {
                    codes[half * HALF..][..HALF].copy_from_slice(row);
                }
            }
        }
    }

    fn sums(self, selected: &Selected<'_>, register: usize, sums: &mut Sums) {
        assert!(selected.fit::<SIZE>(register));
        for (i, place) in (register * BATCH..selected.lanes).step_by(BATCH).take(REGISTERS).enumerate() {
            let of_columns = sums.each_mut().map(|sums| &mut sums[i]);
            // SAFETY: the processor has the instructions, and `fit` checked what the function requires.
            unsafe { sums_of_lanes(selected, place, of_columns) };
        }
    }
}

/// The sixteen 4-bit codes of each mask.
#[target_feature(enable = "avx2")]
fn rows_of_codes(masks: &[u64; HALF]) -> [[u8; HALF]; PER_MASK] {
    // Interleaves the bytes of two masks.
    let turns = _mm256_setr_epi8(
        0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,
    );
    // Masks 2i and 2i + 1 fill one half of a register, and those sixteen further on fill the other. Each half then
    // consists of eight pairs of bytes, and eight registers are transposed.
    let (first, second) = masks.split_at(HALF / 2);
    let pairs: [__m256i; 8] = std::array::from_fn(|i| {
        let pair = |masks: &[u64]| {
            let pair: &[u64; 2] = &[masks[2 * i], masks[2 * i + 1]];
            // SAFETY: two masks are as long as half a register, and need no alignment here.
            unsafe { _mm_loadu_si128(pair.as_ptr().cast()) }
        };
        _mm256_shuffle_epi8(_mm256_set_m128i(pair(second), pair(first)), turns)
    });
    let four = _mm256_set1_epi8(15);
    let mut rows = [[0; HALF]; PER_MASK];
    for (rows, bytes) in rows.as_chunks_mut::<2>().0.iter_mut().zip(transposed(pairs)) {
        let codes = [_mm256_and_si256(bytes, four), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), four)];
        for (row, codes) in rows.iter_mut().zip(codes) {
            // SAFETY: 32 bytes are as long as a register, and need no alignment here.
            unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), codes) };
        }
    }
    rows
}

/// Transposes both halves of the registers: pair i of register j becomes pair j of register i.
#[target_feature(enable = "avx2")]
fn transposed(rows: [__m256i; 8]) -> [__m256i; 8] {
    let [a, b, c, d, e, f, g, h] = rows;
    // Interleaves pairs of two registers, then of four, then of all eight.
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
/// `codes` has `lanes` bytes for each of as many groups as each of `tables` has tables, every group of `runs` is one of
/// them, and `place` + [`BATCH`] does not exceed `lanes`.
#[target_feature(enable = "avx2")]
unsafe fn sums_of_lanes(selected: &Selected<'_>, place: usize, sums: [&mut [u16; BATCH]; COLUMNS]) {
    let &Selected { ref tables, runs, codes, lanes } = selected;
    let zeros = [[_mm256_setzero_si256(); HALVES]; COLUMNS];
    // For each two bytes: their sums as one 16-bit number, modulo 2^16, and the sum of the odd one.
    let (mut both, mut odd) = (zeros, zeros);
    for run in runs.iter() {
        let mut bytes = zeros;
        for &group in run {
            // SAFETY: guaranteed by the caller; a register covers half of the [`BATCH`] places.
            let codes: [_; HALVES] = std::array::from_fn(|half| unsafe {
                _mm256_loadu_si256(codes.as_ptr().add(group * lanes + place + half * HALF).cast())
            });
            for (bytes, tables) in bytes.iter_mut().zip(tables) {
                // SAFETY: guaranteed by the caller; a table is as long as half a register.
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
            // Interleaved: the first eight of each half of the registers, and the last eight.
            let (low, high) = (_mm256_unpacklo_epi16(even, odd), _mm256_unpackhi_epi16(even, odd));
            let in_order = [_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high)];
            for (sums, register) in sums.as_chunks_mut::<16>().0.iter_mut().zip(in_order) {
                // SAFETY: sixteen numbers of 16 bits are as long as a register, and need no alignment here.
                unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), register) };
            }
        }
    }
}
