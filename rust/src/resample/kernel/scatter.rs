//! The kernel of a small group of shuffles, row by row.
//!
//! As in [`subgroup`](super::subgroup), the signed sums of all 2^m shuffles are the Walsh–Hadamard transform of the rows
//! added up by codes. If the table of these sums stays in the cache, it pays to add a whole row of small numbers at a
//! time, and to read rows from where they are: in a simulation, the units of a test set are some of those of a
//! population, and the two systems are swapped in some of them.

use std::ops::Range;

use super::{Kernel, Out, Scratch};
use crate::error::Result;
use crate::memory::{resize, zeros};
use crate::pool::{PIECE, Stop};
use crate::resample::design::Design;
use crate::resample::design::packed::Integer;
use crate::resample::{BATCH, Strided};
use crate::simd::{Simd, dispatch};
use crate::stats::with_numbers;

/// Columns that are added side by side.
const COLUMNS: usize = 8;

/// A table of more shuffles than this would not stay in the L2 cache.
pub(crate) const MOST_SHUFFLES: usize = 1 << 14;

/// The most units of which a single thread adds up all.
const FEW_UNITS: usize = 1 << 16;

/// The sums of some columns that have the same code.
pub(in crate::resample) type Sums = [i32; COLUMNS];

/// The columns of a design, exceptions included, row by row.
pub(crate) struct DifferenceRows {
    /// Tiles of columns, each with a row for every unit.
    tiles: Vec<Vec<[i16; COLUMNS]>>,
    /// The largest magnitude.
    largest: u64,
    width: usize,
}

impl DifferenceRows {
    /// The rows of a design; None if a number needs more than 16 bits.
    pub(crate) fn new(design: &Design) -> Result<Option<Self>> {
        let mut largest = 0;
        let mut tiles: Vec<Vec<[i16; COLUMNS]>> = Vec::new();
        for place in 0..design.width() {
            if place % COLUMNS == 0 {
                tiles.push(zeros(&[design.units])?);
            }
            let tile = &mut tiles[place / COLUMNS];
            let mut put = |unit: usize, value: i64| {
                largest = value.unsigned_abs().max(largest);
                tile[unit][place % COLUMNS] = value as i16;
            };
            match design.exceptions.get(place.wrapping_sub(design.dense)) {
                Some(exceptions) => exceptions.units.iter().for_each(|&(unit, value)| put(unit, value)),
                None => with_numbers!(design.packed.column(place), values => {
                    values.iter().enumerate().for_each(|(unit, value)| put(unit, value.to_i64()));
                }),
            }
        }
        // The negative of every number fits, too.
        Ok((largest <= i16::MAX as u64).then_some(DifferenceRows { tiles, largest, width: design.width() }))
    }

    /// Do sums of this many rows fit in 32 bits, and does a table of this many shuffles fit in the cache?
    pub(crate) fn fit(&self, rows: usize, shuffles: usize) -> bool {
        shuffles <= MOST_SHUFFLES && (rows as u64).saturating_mul(self.largest) <= i32::MAX as u64
    }
}

/// The rows of shuffles outside simulations: every unit once, and none swapped beforehand.
pub(in crate::resample) struct WholeRows {
    rows: DifferenceRows,
    units: Vec<u32>,
    swapped: Vec<u8>,
}

impl WholeRows {
    /// The rows of a design of few units in which every sample has two systems; None for others, for which it pays to
    /// use several threads, or if a number needs more than 16 bits.
    pub fn new(design: &Design) -> Result<Option<Self>> {
        if design.units > FEW_UNITS || design.places.iter().any(|place| place.systems != 2) {
            return Ok(None);
        }
        let whole =
            |rows| WholeRows { rows, units: (0..design.units as u32).collect(), swapped: vec![0; design.units] };
        Ok(DifferenceRows::new(design)?.map(whole))
    }

    /// The kernel of a group of so many shuffles by these codes, if it fits.
    pub fn kernel<'a>(&'a self, codes: &'a [u64], shuffles: usize, simd: Simd) -> Option<Scattered<'a>> {
        let WholeRows { rows, units, swapped } = self;
        let fits = codes.len() == units.len() && shuffles.is_power_of_two() && rows.fit(units.len(), shuffles);
        fits.then_some(Scattered { rows, units, swapped, codes, shuffles, simd })
    }
}

/// The shuffles of a group, whose number is a power of two.
pub(crate) struct Scattered<'a> {
    /// The rows, which [`DifferenceRows::fit`].
    pub(crate) rows: &'a DifferenceRows,
    /// The units to add up, whether the systems are swapped there (1) or not (0), and their codes.
    pub(crate) units: &'a [u32],
    pub(crate) swapped: &'a [u8],
    pub(crate) codes: &'a [u64],
    pub(crate) shuffles: usize,
    pub(crate) simd: Simd,
}

impl Kernel for Scattered<'_> {
    fn block(&self) -> usize {
        self.shuffles.next_multiple_of(BATCH)
    }

    fn least(&self) -> usize {
        // A part of the shuffles would take as long as all of them.
        self.block()
    }

    fn cost(&self) -> u64 {
        (self.rows.width * (2 + self.units.len() / self.shuffles)) as u64
    }

    fn sums(&self, range: Range<u64>, scratch: &mut Scratch, mut out: Out<'_>, stop: &Stop<'_>) -> Result<()> {
        let table = &mut scratch.table;
        for (tile, rows) in self.rows.tiles.iter().enumerate() {
            table.clear();
            resize(table, self.shuffles)?;
            let pieces = self.units.chunks(PIECE).zip(self.swapped.chunks(PIECE)).zip(self.codes.chunks(PIECE));
            for ((units, swapped), codes) in pieces {
                stop.charge(2 * COLUMNS * units.len())?;
                add(self.simd, rows, (units, swapped), codes, table);
            }
            transform(self.simd, table);
            let totals = table[0];
            let [_, out] = out.split_at(tile * COLUMNS);
            flipped(self.simd, &totals, &table[range.start as usize..range.end as usize], out);
        }
        Ok(())
    }
}

dispatch! {
    /// Adds each unit's row to the sums of its code.
    fn add(rows: &[[i16; COLUMNS]], chosen: (&[u32], &[u8]), codes: &[u64], table: &mut [Sums]) {
        let (units, swapped) = chosen;
        let last = table.len() - 1;
        for ((&unit, &swap), &code) in units.iter().zip(swapped).zip(codes) {
            let sign = -i32::from(swap);
            let sums = &mut table[code as usize & last];
            for (sum, &value) in sums.iter_mut().zip(&rows[unit as usize]) {
                *sum += (i32::from(value) ^ sign) - sign;
            }
        }
    }
}

/// The Walsh–Hadamard transform of each column.
fn transform(simd: Simd, table: &mut [Sums]) {
    match simd {
        Simd::Portable => portable(table),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2(_) | Simd::Avx512(_) => avx2::transform(simd, table),
    }
}

fn portable(table: &mut [Sums]) {
    for half in (0..table.len().trailing_zeros()).map(|bit| 1 << bit) {
        for both in table.chunks_exact_mut(2 * half) {
            let (left, right) = both.split_at_mut(half);
            for (left, right) in left.as_flattened_mut().iter_mut().zip(right.as_flattened_mut()) {
                (*left, *right) = (*left + *right, *left - *right);
            }
        }
    }
}

/// The compiler vectorizes steps between neighbouring rows by scattered loads and stores, which take five times as long.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use std::arch::x86_64::*;

    use super::Sums;
    use crate::simd::Simd;

    /// As [`super::portable`].
    pub fn transform(simd: Simd, table: &mut [Sums]) {
        assert!(simd != Simd::Portable && table.len().is_power_of_two());
        // SAFETY: the processor has the instructions, which both other paths need.
        unsafe { steps(table) }
    }

    #[target_feature(enable = "avx2")]
    fn steps(table: &mut [Sums]) {
        let mut half = 1;
        // Two steps at a time, so that the table is read and written half as often.
        while 4 * half <= table.len() {
            for four in table.chunks_exact_mut(4 * half) {
                let (low, high) = four.split_at_mut(2 * half);
                let ((a, b), (c, d)) = (low.split_at_mut(half), high.split_at_mut(half));
                for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                    let (x, y, z, w) = (load(a), load(b), load(c), load(d));
                    let (xy, x_y) = (_mm256_add_epi32(x, y), _mm256_sub_epi32(x, y));
                    let (zw, z_w) = (_mm256_add_epi32(z, w), _mm256_sub_epi32(z, w));
                    store(a, _mm256_add_epi32(xy, zw));
                    store(b, _mm256_add_epi32(x_y, z_w));
                    store(c, _mm256_sub_epi32(xy, zw));
                    store(d, _mm256_sub_epi32(x_y, z_w));
                }
            }
            half *= 4;
        }
        if 2 * half == table.len() {
            let (left, right) = table.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                let (x, y) = (load(left), load(right));
                store(left, _mm256_add_epi32(x, y));
                store(right, _mm256_sub_epi32(x, y));
            }
        }
    }

    #[target_feature(enable = "avx2")]
    fn load(sums: &Sums) -> __m256i {
        // SAFETY: eight numbers of 32 bits are as long as a register, and need no alignment here.
        unsafe { _mm256_loadu_si256(sums.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx2")]
    fn store(sums: &mut Sums, register: __m256i) {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), register) }
    }
}

dispatch! {
    /// Writes, for up to eight columns, the sum over the flipped units: (total − signed sum) / 2.
    fn flipped(totals: &Sums, table: &[Sums], out: Strided<&mut [i64]>) {
        let mut out = out;
        for ((lane, &total), out) in totals.iter().enumerate().zip(out.columns_mut()) {
            let total = i64::from(total);
            for (out, sums) in out.iter_mut().zip(table) {
                *out = (total - i64::from(sums[lane])) >> 1;
            }
        }
    }
}
