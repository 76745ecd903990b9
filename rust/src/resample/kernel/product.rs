//! Weights times counts: for every replicate, each column summed over the units as often as it took them.
//!
//! Counts are cut into digits of eight bits, counted from the smallest of their column, and weights are bytes: the product
//! of two small matrices of bytes, for which processors have instructions. Sums of digits are exact in 32 bits for a
//! stretch of units, and are put together in 64.

use crate::error::{Error, Result};
use crate::pool::{PIECE, Patience, Stop};
use crate::resample::design::packed::Packed;
use crate::resample::zeros;

/// Digits side by side: 32-bit sums that fill the widest register.
const LANES: usize = 16;

/// Units whose products one instruction adds up.
const QUAD: usize = 4;

/// Units after which sums of 32 bits are moved: weights sum to S at most, and 2^22 times 255 is below 2^31.
const STRETCH: usize = 1 << 22;

/// Replicates that are summed together, so that a row of digits is loaded once for all of them.
pub(super) const TOGETHER: usize = 16;

/// Four units of sixteen digits, digit by digit.
type Quad = [[u8; QUAD]; LANES];

/// One digit of a column.
struct Digit {
    column: usize,
    shift: u32,
}

/// Values of a column that are widened at a time: whole quads.
const COPIED: usize = 256;

/// All columns, in digits.
pub(in crate::resample) struct Digits {
    units: usize,
    /// The smallest count of each column.
    smallest: Vec<i64>,
    digits: Vec<Digit>,
    /// Tile by tile, quad by quad.
    tiles: Vec<Vec<Quad>>,
}

impl Digits {
    /// # Errors
    /// [`crate::Error::Memory`], and [`crate::Error::Interrupted`] if told to stop.
    pub fn new(packed: &Packed, stop: &Stop<'_>) -> Result<Self> {
        let mut patience = Patience::default();
        let units = packed.units();
        let mut values = [0; COPIED];
        let mut ranges = Vec::new();
        for column in packed.iter() {
            let mut range = (i64::MAX, i64::MIN);
            for piece in packed.pieces(COPIED) {
                patience.spend(piece.len(), stop)?;
                let values = &mut values[..piece.len()];
                column.copy(piece.start, values);
                range = values.iter().fold(range, |(low, high), &value| (low.min(value), high.max(value)));
            }
            ranges.push(range);
        }
        let mut digits = Vec::new();
        for (column, (low, high)) in ranges.iter().enumerate() {
            let bits = u64::BITS - high.wrapping_sub(*low).cast_unsigned().leading_zeros();
            digits.extend((0..bits).step_by(8).map(|shift| Digit { column, shift }));
        }
        let smallest: Vec<_> = ranges.into_iter().map(|(low, _)| low).collect();
        let tile = |digits: &[Digit]| {
            let mut quads: Vec<Quad> = zeros(&[units.div_ceil(QUAD)])?;
            for piece in packed.pieces(COPIED) {
                patience.spend(piece.len() * digits.len(), stop)?;
                for (lane, Digit { column, shift }) in digits.iter().enumerate() {
                    let values = &mut values[..piece.len()];
                    packed.column(*column).copy(piece.start, values);
                    for (quad, values) in quads[piece.start / QUAD..].iter_mut().zip(values.chunks(QUAD)) {
                        for (digit, value) in quad[lane].iter_mut().zip(values) {
                            *digit = (value.wrapping_sub(smallest[*column]) >> shift) as u8;
                        }
                    }
                }
            }
            Ok(quads)
        };
        let tiles = digits.chunks(LANES).map(tile).collect::<Result<_>>()?;
        Ok(Digits { units, smallest, digits, tiles })
    }

    /// How many tiles there are.
    pub fn tiles(&self) -> usize {
        self.tiles.len()
    }

    /// Writes each column's sums of up to sixteen replicates to the places from `place` on of its `stride` in `out`. Each
    /// replicate's weights sum to S and take `padded` bytes, as many as make whole quads.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if told to stop.
    pub fn sums(
        &self,
        path: Path,
        weights: &[u8],
        padded: usize,
        (out, stride, place): (&mut [i64], usize, usize),
        stop: &Stop<'_>,
    ) -> Result<()> {
        let replicates = weights.len() / padded;
        for (out, smallest) in out.chunks_exact_mut(stride).zip(&self.smallest) {
            out[place..place + replicates].fill(smallest.wrapping_mul(self.units as i64));
        }
        for (quads, digits) in self.tiles.iter().zip(self.digits.chunks(LANES)) {
            for (from, quads) in (0..).step_by(STRETCH / QUAD).zip(quads.chunks(STRETCH / QUAD)) {
                let mut sums = [[0; LANES]; TOGETHER];
                for (more, quads) in (from..).step_by(PIECE).zip(quads.chunks(PIECE)) {
                    if stop.requested() {
                        return Err(Error::Interrupted);
                    }
                    path.add(quads, &weights[QUAD * more..], padded, &mut sums);
                }
                for (lane, Digit { column, shift }) in digits.iter().enumerate() {
                    let out = &mut out[column * stride + place..][..replicates];
                    for (out, sums) in out.iter_mut().zip(&sums) {
                        *out = out.wrapping_add(i64::from(sums[lane]) << shift);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The instructions that make the product. All of them give the same sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::resample) enum Path {
    /// Whatever the compiler makes of it.
    Portable,
    /// AVX-512's products of bytes.
    #[cfg(target_arch = "x86_64")]
    Vnni,
}

impl Path {
    /// The fastest one here.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if vnni::available() {
            return Path::Vnni;
        }
        Path::Portable
    }

    /// Adds the quads, as often as up to sixteen replicates take them, to the sums of these.
    fn add(self, quads: &[Quad], weights: &[u8], padded: usize, sums: &mut [[i32; LANES]; TOGETHER]) {
        match self {
            Path::Portable => portable(quads, weights, padded, sums),
            #[cfg(target_arch = "x86_64")]
            Path::Vnni => vnni::add(quads, weights, padded, sums),
        }
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn portable(quads: &[Quad], weights: &[u8], padded: usize, sums: &mut [[i32; LANES]; TOGETHER]) {
    portable_inline(quads, weights, padded, sums);
}

#[inline(always)]
fn portable_inline(quads: &[Quad], weights: &[u8], padded: usize, sums: &mut [[i32; LANES]; TOGETHER]) {
    for (sums, weights) in sums.iter_mut().zip(weights.chunks(padded)) {
        let mut of_replicate = *sums;
        for (quad, weights) in quads.iter().zip(weights.as_chunks::<QUAD>().0) {
            for (sum, digits) in of_replicate.iter_mut().zip(quad) {
                let products = digits.iter().zip(weights).map(|(&digit, &weight)| i32::from(digit) * i32::from(weight));
                *sum += products.sum::<i32>();
            }
        }
        *sums = of_replicate;
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod vnni {
    use std::arch::x86_64::{_mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_storeu_si512};

    use super::{LANES, QUAD, Quad, TOGETHER};

    pub fn available() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni")
    }

    /// As [`super::portable`]. Weights are taken for signed bytes: those above 127 do not come up (see `draw`).
    pub fn add(quads: &[Quad], weights: &[u8], padded: usize, sums: &mut [[i32; LANES]; TOGETHER]) {
        assert!(available());
        let mut rows = [&weights[..0]; TOGETHER];
        let replicates =
            weights.chunks(padded).zip(&mut rows).map(|(weights, row)| *row = &weights[..QUAD * quads.len()]).count();
        // Rows that are not there: any that is, and what comes of it is dropped.
        let first = rows[0];
        rows[replicates..].fill(first);
        let mut kept = *sums;
        // SAFETY: the processor has the instructions.
        unsafe { add_all(quads, &rows, &mut kept) };
        sums[..replicates].copy_from_slice(&kept[..replicates]);
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn add_all(quads: &[Quad], rows: &[&[u8]; TOGETHER], sums: &mut [[i32; LANES]; TOGETHER]) {
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
    use crate::instructions::{instruction_sets, run_or_say};
    use proptest::prelude::*;

    fn paths() -> Vec<Path> {
        let mut paths = vec![Path::Portable];
        #[cfg(target_arch = "x86_64")]
        run_or_say("AVX-512 VNNI", vnni::available(), || paths.push(Path::Vnni));
        paths
    }

    #[test]
    fn sums_of_more_than_eight_million_units_do_not_overflow() {
        // 8,421,505 times 255 is beyond 31 bits.
        let units = 8_600_000;
        let digits = Digits {
            units,
            smallest: vec![-1],
            digits: vec![Digit { column: 0, shift: 0 }],
            tiles: vec![vec![[[255; QUAD]; LANES]; units / QUAD]],
        };
        let weights = vec![1; units];
        for path in paths() {
            let mut out = [0];
            digits.sums(path, &weights, units, (&mut out, 1, 0), &Stop::never()).unwrap();
            assert_eq!([254 * units as i64], out, "{path:?}");
        }
    }

    /// As the definition says.
    fn obvious(quads: &[Quad], weights: &[u8], padded: usize, sums: &mut [[i32; LANES]; TOGETHER]) {
        for (sums, weights) in sums.iter_mut().zip(weights.chunks(padded)) {
            for (unit, &weight) in weights[..QUAD * quads.len()].iter().enumerate() {
                for (sum, digits) in sums.iter_mut().zip(quads[unit / QUAD]) {
                    *sum += i32::from(digits[unit % QUAD]) * i32::from(weight);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn all_paths_make_the_products(
            quads in prop::collection::vec(prop::array::uniform16(any::<[u8; QUAD]>()), 0..40),
            replicates in 1..=TOGETHER,
            more in 0..3usize,
            seed in any::<u64>(),
        ) {
            let padded = QUAD * quads.len() + 8 * more + 8;
            let words = crate::stream::Stream::new(seed, crate::stream::Purpose::Draw, 0).words();
            let weights: Vec<u8> = words.flat_map(u64::to_le_bytes).map(|b| b & 127).take(replicates * padded).collect();
            let mut expected = [[7; LANES]; TOGETHER];
            obvious(&quads, &weights, padded, &mut expected);
            for path in paths() {
                let mut sums = [[7; LANES]; TOGETHER];
                path.add(&quads, &weights, padded, &mut sums);
                prop_assert_eq!(expected, sums, "{:?}", path);
            }
            let sets = instruction_sets!(
                portable_inline,
                fn(quads: &[Quad], weights: &[u8], padded: usize, sums: &mut [[i32; LANES]; TOGETHER])
            );
            for (set, add) in sets {
                let mut sums = [[7; LANES]; TOGETHER];
                add(&quads, &weights, padded, &mut sums);
                prop_assert_eq!(expected, sums, "{}", set);
            }
        }
    }
}
