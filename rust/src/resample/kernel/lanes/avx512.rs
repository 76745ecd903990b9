//! AVX-512 VBMI: looks up 64 bytes in a table of 64.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{COLUMNS, LookUp, REGISTERS, Selected, Sums};
use crate::resample::{BATCH, Strided};
use crate::simd::Avx512;

/// Tables per mask: ten of six units, and one of the remaining four.
const PER_MASK: usize = 11;

impl LookUp<6> for Avx512 {
    fn codes(self, masks: Strided<&[u64]>, codes: &mut [u8]) {
        let lanes = masks.rows();
        assert!(lanes.is_multiple_of(BATCH) && masks.width() * PER_MASK * lanes == codes.len());
        for (masks, codes) in masks.columns().zip(codes.chunks_exact_mut(PER_MASK * lanes)) {
            for (register, masks) in masks.as_chunks::<BATCH>().0.iter().enumerate() {
                // SAFETY: the processor has the instructions.
                let (first, second) = unsafe { (rows_of_codes(masks, 0), rows_of_codes(masks, 48)) };
                let rows = first.iter().chain(&second);
                for (row, codes) in rows.zip(codes.chunks_exact_mut(lanes)) {
                    codes[register * BATCH..][..BATCH].copy_from_slice(row);
                }
            }
        }
    }

    fn sums(self, selected: &Selected<'_>, register: usize, sums: &mut Sums) {
        assert!(selected.fit::<64>(register));
        // An odd last register is looked up twice.
        let second = if (register + 1) * BATCH < selected.lanes { register + 1 } else { register };
        // SAFETY: the processor has the instructions, and `fit` checked what the function requires.
        unsafe { sums_of_two(selected, [register, second], sums) };
    }
}

/// Eight 6-bit codes of each mask, from bit `from` on. Codes beyond the end of the mask are garbage.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn rows_of_codes(masks: &[u64; BATCH], from: u8) -> [[u8; BATCH]; 8] {
    let starts: [u8; 8] = std::array::from_fn(|i| (from + 6 * i as u8).min(60));
    let starts = _mm512_set1_epi64(i64::from_le_bytes(starts));
    let six = _mm512_set1_epi8(63);
    // Moves byte j of mask i to place 8·j + i: the first codes of the eight masks side by side, then the second ones …
    let order: [u8; BATCH] = std::array::from_fn(|place| (place % 8 * 8 + place / 8) as u8);
    // SAFETY: an array of 64 bytes is as long as a register, and needs no alignment here.
    let order = unsafe { _mm512_loadu_si512(order.as_ptr().cast()) };
    let mut eights = [_mm512_setzero_si512(); 8];
    for (codes, masks) in eights.iter_mut().zip(masks.as_chunks::<8>().0) {
        // SAFETY: as above; eight masks have 64 bytes.
        let masks = unsafe { _mm512_loadu_si512(masks.as_ptr().cast()) };
        *codes = _mm512_permutexvar_epi8(order, _mm512_and_si512(_mm512_multishift_epi64_epi8(starts, masks), six));
    }
    let mut rows = [[0; BATCH]; 8];
    for (row, register) in rows.iter_mut().zip(transposed(eights)) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), register) };
    }
    rows
}

/// Transposes: 64-bit number i of register j becomes number j of register i.
#[target_feature(enable = "avx512f")]
fn transposed(rows: [__m512i; 8]) -> [__m512i; 8] {
    let mut out = rows;
    for odd in 0..2 {
        // The even numbers of two registers side by side, or the odd ones.
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

/// # Safety
/// `codes` has `lanes` bytes for each of as many groups as each of `tables` has tables, every group of `runs` is one of
/// them, and each of `registers` begins below `lanes`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn sums_of_two(selected: &Selected<'_>, registers: [usize; REGISTERS], sums: &mut Sums) {
    let &Selected { ref tables, runs, codes, lanes } = selected;
    let zeros = [[_mm512_setzero_si512(); REGISTERS]; COLUMNS];
    let low = _mm512_set1_epi16(0xff);
    let (mut even, mut odd) = (zeros, zeros);
    for run in runs.iter() {
        let mut bytes = zeros;
        for &group in run {
            // SAFETY: guaranteed by the caller; a register and a table are 64 bytes, and a table is a line.
            let codes =
                registers.map(|r| unsafe { _mm512_loadu_si512(codes.as_ptr().add(group * lanes + r * BATCH).cast()) });
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
            let mut halves = [[0u16; BATCH / 2]; 2];
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
