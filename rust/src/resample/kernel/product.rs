//! Weights times counts: for every replicate, the sum of each column over the units, as often as they were drawn.
//!
//! Counts, less the smallest of their column, are split into digits of 8 bits or fewer. Weights are bytes. The sums are
//! a product of two small matrices of bytes, for which processors have instructions. Sums of digits are exact in 32
//! bits for a stretch of units, and are combined in 64 bits.

use crate::error::Result;
use crate::memory::zeros;
use crate::pool::{PIECE, Stop};
use crate::resample::Strided;
use crate::resample::design::packed::Packed;
use crate::simd::Simd;

/// Digits that are summed side by side: their 32-bit sums fill the widest register.
const DIGITS: usize = 16;

/// Units whose products are added up by one instruction.
const QUAD: usize = 4;

/// Units after which 32-bit sums are added to 64-bit ones. Weights sum to S at most, and 2^22 times 255 is below 2^31.
pub(super) const STRETCH: usize = 1 << 22;

/// The largest weight: instructions treat weights as signed bytes.
pub(super) const LARGEST_WEIGHT: u8 = 127;

/// Replicates that are summed together, so that a row of digits is loaded once for all of them.
pub(super) const REPLICATES: usize = 16;

/// Four units of sixteen digits, digit by digit.
type Quad = [[u8; QUAD]; DIGITS];

/// One digit of a column.
struct Digit {
    column: usize,
    shift: u32,
}

/// Values of a column that are widened at a time, a multiple of a quad.
const COPIED: usize = 256;

/// All columns, split into digits.
pub(in crate::resample) struct Digits {
    simd: Simd,
    /// The smallest count of each column.
    smallest: Vec<i64>,
    digits: Vec<Digit>,
    /// Tile by tile, quad by quad.
    tiles: Vec<Vec<Quad>>,
}

impl Digits {
    pub fn new(packed: &Packed, simd: Simd, stop: &Stop<'_>) -> Result<Self> {
        let units = packed.units();
        let mut values = [0; COPIED];
        let mut ranges = Vec::new();
        for column in packed.iter() {
            let mut range = (i64::MAX, i64::MIN);
            for piece in packed.pieces(COPIED) {
                stop.charge(piece.len())?;
                let values = &mut values[..piece.len()];
                column.copy(piece.start, values);
                range = values.iter().fold(range, |(low, high), &value| (low.min(value), high.max(value)));
            }
            ranges.push(range);
        }
        let mask = ((1u32 << bits_of_digits(simd)) - 1) as u8;
        let mut digits = Vec::new();
        for (column, (low, high)) in ranges.iter().enumerate() {
            let bits = u64::BITS - high.wrapping_sub(*low).cast_unsigned().leading_zeros();
            digits.extend((0..bits).step_by(bits_of_digits(simd)).map(|shift| Digit { column, shift }));
        }
        let smallest: Vec<_> = ranges.into_iter().map(|(low, _)| low).collect();
        let tile = |digits: &[Digit]| {
            let mut quads: Vec<Quad> = zeros(&[units.div_ceil(QUAD)])?;
            for piece in packed.pieces(COPIED) {
                stop.charge(piece.len() * digits.len())?;
                for (lane, Digit { column, shift }) in digits.iter().enumerate() {
                    let values = &mut values[..piece.len()];
                    packed.column(*column).copy(piece.start, values);
                    for (quad, values) in quads[piece.start / QUAD..].iter_mut().zip(values.chunks(QUAD)) {
                        for (digit, value) in quad[lane].iter_mut().zip(values) {
                            *digit = (value.wrapping_sub(smallest[*column]) >> shift) as u8 & mask;
                        }
                    }
                }
            }
            Ok(quads)
        };
        let tiles = digits.chunks(DIGITS).map(tile).collect::<Result<_>>()?;
        Ok(Digits { simd, smallest, digits, tiles })
    }

    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// Writes the sums of each column in up to sixteen replicates to the first rows of `out`. Weights have a column for
    /// each replicate, of whole quads; they are at most [`LARGEST_WEIGHT`], and those of a replicate sum to `drawn`.
    pub fn sums(
        &self,
        weights: Strided<&[u8]>,
        drawn: usize,
        mut out: Strided<&mut [i64]>,
        stop: &Stop<'_>,
    ) -> Result<()> {
        let replicates = weights.width();
        for (out, smallest) in out.columns_mut().zip(&self.smallest) {
            out[..replicates].fill(smallest.wrapping_mul(drawn as i64));
        }
        for (quads, digits) in self.tiles.iter().zip(self.digits.chunks(DIGITS)) {
            for (from, quads) in (0..).step_by(STRETCH / QUAD).zip(quads.chunks(STRETCH / QUAD)) {
                let mut sums = [[0; DIGITS]; REPLICATES];
                for (more, quads) in (from..).step_by(PIECE).zip(quads.chunks(PIECE)) {
                    stop.check()?;
                    add(self.simd, quads, digits.len(), weights.rows_from(QUAD * more), &mut sums);
                }
                for (lane, Digit { column, shift }) in digits.iter().enumerate() {
                    let out = &mut out.column_mut(*column)[..replicates];
                    for (out, sums) in out.iter_mut().zip(&sums) {
                        *out = out.wrapping_add(i64::from(sums[lane]) << shift);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The number of bits of a digit: as many as the instructions multiply without overflow.
fn bits_of_digits(simd: Simd) -> usize {
    match simd {
        // Two products are added in 16 signed bits, and weights may be 127.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2(_) => 7,
        _ => 8,
    }
}

/// Adds the products of weights and digits for up to sixteen replicates to `sums`. Digits after the first `digits` may
/// be skipped.
fn add(
    simd: Simd,
    quads: &[Quad],
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))] digits: usize,
    weights: Strided<&[u8]>,
    sums: &mut [[i32; DIGITS]; REPLICATES],
) {
    match simd {
        Simd::Portable => portable(quads, weights, sums),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2(token) => avx2::add(token, quads, digits, weights, sums),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512(token) => vnni::add(token, quads, weights, sums),
    }
}

fn portable(quads: &[Quad], weights: Strided<&[u8]>, sums: &mut [[i32; DIGITS]; REPLICATES]) {
    for (sums, weights) in sums.iter_mut().zip(weights.columns()) {
        let mut row_sums = *sums;
        for (quad, weights) in quads.iter().zip(weights.as_chunks::<QUAD>().0) {
            for (sum, digits) in row_sums.iter_mut().zip(quad) {
                let products = digits.iter().zip(weights).map(|(&digit, &weight)| i32::from(digit) * i32::from(weight));
                *sum += products.sum::<i32>();
            }
        }
        *sums = row_sums;
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{DIGITS, QUAD, Quad, REPLICATES, Strided};
    use crate::simd::Avx2;

    /// Digits per register.
    const HALF: usize = DIGITS / 2;

    /// Replicates whose sums stay in registers.
    const ROWS: usize = 4;

    /// As [`super::portable`]. Weights are treated as signed bytes; those above 127 do not occur (see `draw`).
    pub fn add(
        _: Avx2,
        quads: &[Quad],
        digits: usize,
        weights: Strided<&[u8]>,
        sums: &mut [[i32; DIGITS]; REPLICATES],
    ) {
        let batches = sums.as_chunks_mut::<ROWS>().0;
        for (sums, first) in batches.iter_mut().zip((0..weights.width()).step_by(ROWS)) {
            // Missing rows repeat the first one, and their sums are dropped.
            let replicates = ROWS.min(weights.width() - first);
            let row = |i| &weights.column(if i < replicates { first + i } else { first })[..QUAD * quads.len()];
            let rows = std::array::from_fn(row);
            let mut kept = *sums;
            // SAFETY: the processor has the instructions.
            unsafe {
                match digits <= HALF {
                    true => add_all::<1>(quads, &rows, &mut kept),
                    false => add_all::<2>(quads, &rows, &mut kept),
                }
            }
            sums[..replicates].copy_from_slice(&kept[..replicates]);
        }
    }

    /// The first `HALVES` times eight digits.
    #[target_feature(enable = "avx2")]
    fn add_all<const HALVES: usize>(quads: &[Quad], rows: &[&[u8]; ROWS], sums: &mut [[i32; DIGITS]; ROWS]) {
        let rows = rows.map(|row| row.as_chunks::<QUAD>().0);
        assert!(rows.iter().all(|row| row.len() == quads.len()));
        let ones = _mm256_set1_epi16(1);
        let mut registers = [[_mm256_setzero_si256(); HALVES]; ROWS];
        for (i, quad) in quads.iter().enumerate() {
            let halves = quad.as_chunks::<HALF>().0;
            let digits: [_; HALVES] = std::array::from_fn(|half| {
                // SAFETY: eight digits of a quad have 32 bytes, and need no alignment here.
                unsafe { _mm256_loadu_si256(halves[half].as_ptr().cast()) }
            });
            for (registers, row) in registers.iter_mut().zip(&rows) {
                let weights = _mm256_set1_epi32(i32::from_le_bytes(row[i]));
                for (register, digits) in registers.iter_mut().zip(digits) {
                    // The sum of two products of seven-bit numbers fits 16 signed bits.
                    let pairs = _mm256_maddubs_epi16(digits, weights);
                    *register = _mm256_add_epi32(*register, _mm256_madd_epi16(pairs, ones));
                }
            }
        }
        for (sums, registers) in sums.iter_mut().zip(registers) {
            for (sums, register) in sums.as_chunks_mut::<HALF>().0.iter_mut().zip(registers) {
                let mut more = [0; HALF];
                // SAFETY: eight numbers of 32 bits are as long as a register, and need no alignment here.
                unsafe { _mm256_storeu_si256(more.as_mut_ptr().cast(), register) };
                sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod vnni {
    use std::arch::x86_64::{_mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_storeu_si512};

    use super::{DIGITS, QUAD, Quad, REPLICATES, Strided};
    use crate::simd::Avx512;

    /// As [`super::portable`]. Weights are treated as signed bytes; those above 127 do not occur (see `draw`).
    pub fn add(_: Avx512, quads: &[Quad], weights: Strided<&[u8]>, sums: &mut [[i32; DIGITS]; REPLICATES]) {
        // Missing rows repeat the first one, and their sums are dropped.
        let mut rows = [&weights.column(0)[..QUAD * quads.len()]; REPLICATES];
        weights.columns().zip(&mut rows).for_each(|(weights, row)| *row = &weights[..QUAD * quads.len()]);
        let mut kept = *sums;
        // SAFETY: the processor has the instructions.
        unsafe { add_all(quads, &rows, &mut kept) };
        let replicates = weights.width();
        sums[..replicates].copy_from_slice(&kept[..replicates]);
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn add_all(quads: &[Quad], rows: &[&[u8]; REPLICATES], sums: &mut [[i32; DIGITS]; REPLICATES]) {
        let rows = rows.map(|row| row.as_chunks::<QUAD>().0);
        assert!(rows.iter().all(|row| row.len() == quads.len()));
        // SAFETY: an array of sixteen 32-bit numbers is as long as the register, and needs no alignment here.
        let mut registers = sums.map(|sums| unsafe { _mm512_loadu_si512(sums.as_ptr().cast()) });
        for (i, quad) in quads.iter().enumerate() {
            // SAFETY: as above; a quad has 64 bytes.
            let digits = unsafe { _mm512_loadu_si512(quad.as_ptr().cast()) };
            for (register, row) in registers.iter_mut().zip(&rows) {
                *register = _mm512_dpbusd_epi32(*register, digits, _mm512_set1_epi32(i32::from_le_bytes(row[i])));
            }
        }
        for (sums, register) in sums.iter_mut().zip(registers) {
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), register) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    #[ignore = "takes seconds without optimization"]
    fn sums_of_more_than_eight_million_units_do_not_overflow() {
        // 8,421,505 times 255 exceeds 31 bits.
        let units = 8_600_000;
        let weights = vec![1; units];
        for simd in Simd::tested() {
            let largest = ((1 << bits_of_digits(simd)) - 1) as u8;
            let digits = Digits {
                simd,
                smallest: vec![-1],
                digits: vec![Digit { column: 0, shift: 0 }],
                tiles: vec![vec![[[largest; QUAD]; DIGITS]; units / QUAD]],
            };
            let mut out = [0];
            let weights = Strided::new(&weights[..], units);
            digits.sums(weights, units, Strided::new(&mut out[..], 1), &Stop::never()).unwrap();
            assert_eq!([i64::from(largest - 1) * units as i64], out, "{simd:?}");
        }
    }

    /// The definition.
    fn obvious(quads: &[Quad], weights: &[u8], padded: usize, sums: &mut [[i32; DIGITS]; REPLICATES]) {
        for (sums, weights) in sums.iter_mut().zip(weights.chunks(padded)) {
            for (unit, &weight) in weights[..QUAD * quads.len()].iter().enumerate() {
                for (sum, digits) in sums.iter_mut().zip(quads[unit / QUAD]) {
                    *sum += i32::from(digits[unit % QUAD]) * i32::from(weight);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(crate::testing::cases(32))]
        #[test]
        fn all_paths_compute_the_products(
            quads in prop::collection::vec(prop::array::uniform16(any::<[u8; QUAD]>()), 0..40),
            (replicates, digits) in (1..=REPLICATES, 1..=DIGITS),
            more in 0..3usize,
            seed in any::<u64>(),
        ) {
            let padded = QUAD * quads.len() + 8 * more + 8;
            let words = crate::stream::Stream::new(seed, crate::stream::Purpose::Draw, 0).values();
            // Some weights are as large as allowed.
            let weights: Vec<u8> = words.flat_map(u64::to_le_bytes).map(|b| b.min(127)).take(replicates * padded).collect();
            for simd in Simd::tested() {
                let largest = ((1 << bits_of_digits(simd)) - 1) as u8;
                let quads: Vec<Quad> = quads.iter().map(|quad| quad.map(|units| units.map(|digit| digit.min(largest)))).collect();
                let mut expected = [[7; DIGITS]; REPLICATES];
                obvious(&quads, &weights, padded, &mut expected);
                let mut sums = [[7; DIGITS]; REPLICATES];
                add(simd, &quads, digits, Strided::new(&weights, padded), &mut sums);
                // Sums after the last digit may be anything.
                let front = |sums: [[i32; DIGITS]; REPLICATES]| sums.map(|sums| sums[..digits].to_vec());
                prop_assert_eq!(front(expected), front(sums), "{:?}", simd);
            }
        }
    }
}
