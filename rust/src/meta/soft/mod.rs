//! Soft pairwise accuracy: 1 − the mean over pairs of systems of |p of people − p of a metric| (Thompson, Mathur, Deutsch
//! and Khayrallah 2024, doi:10.48550/arXiv.2409.09598).
//!
//! p is that of a one-sided paired permutation test between two systems. All pairs, people and metrics have the same
//! permutations, here called inner ones: [`Signs`]. Replicates draw the segments again ([`drawn`]), or swap the scores of
//! two metrics ([`permuted`]), and compute all p-values anew with the same inner permutations.
//!
//! For an inner permutation every system needs only the sum of its flipped rows, whatever it is compared with. The rows
//! are taken sixteen at a time: the sums of all 256 subsets of the first eight and of the last eight are tabled, and each
//! permutation adds one of either table. Eight columns are summed together, so that both tables fit the fastest memory.

mod draw;
mod permute;

pub use draw::{Scored, drawn, pvalues};
pub use permute::{Scores, observed, permuted};

use crate::error::{Error, Result};
use crate::memory::{resize, room, zeros};
use crate::pool::Stop;
use crate::simd::{Simd, dispatch};
use crate::stream::{Purpose, Stream, fill_by_replicate};

/// Places whose bits are kept together, eight for either table.
const PLACES: usize = 16;

/// Columns that are summed together.
const WIDTH: usize = 8;

/// Numbers of so many columns, in one line of the cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Row([i64; WIDTH]);

/// The sums of all subsets of eight rows. Bit i of a subset's number says whether row i is in it.
type Table = [Row; 1 << (PLACES / 2)];

/// Which places of a list of rows are flipped in which inner permutation. Row s of a matrix has bit s of the
/// permutation's stream.
pub struct Signs {
    permutations: usize,
    /// For each group of sixteen places the bits of every permutation.
    bits: Vec<u16>,
}

impl Signs {
    /// The permutations 0 to `permutations` − 1 of so many places.
    pub fn new(seed: u64, permutations: usize, places: usize) -> Result<Self> {
        if permutations == 0 {
            return Err(Error::Empty { what: "inner permutations".into() });
        }
        let mut bits: Vec<u16> = zeros(&[places.div_ceil(PLACES), permutations])?;
        // The values of two words of every stream: 128 places.
        let mut words: Vec<u64> = zeros(&[2, permutations])?;
        let first = Stream::new(seed, Purpose::Shuffle, 0);
        for (block, bits) in (0..).zip(bits.chunks_mut(128 / PLACES * permutations)) {
            fill_by_replicate(Simd::best(), first, permutations, block, &mut words);
            for (group, bits) in bits.chunks_exact_mut(permutations).enumerate() {
                let (word, shift) = (group * PLACES / 64, group * PLACES % 64);
                let words = &words[word * permutations..][..permutations];
                bits.iter_mut().zip(words).for_each(|(bits, word)| *bits = (word >> shift) as u16);
            }
        }
        Ok(Signs { permutations, bits })
    }

    /// The sums of the flipped rows for every permutation: `out[cell][permutation]`. `rows` has a row of `cells` numbers
    /// for every place.
    fn sums(
        &self,
        (rows, cells): (&[i64], usize),
        buffers: &mut Buffers,
        out: &mut Vec<i64>,
        stop: &Stop<'_>,
    ) -> Result<()> {
        // With registers of 64 bytes the compiler gathers numbers of several permutations, which takes nine times as long.
        let simd = Simd::best().at_most_avx2();
        let Buffers { tables, sums } = buffers;
        sums.clear();
        room(sums, self.permutations)?;
        resize(out, cells * self.permutations)?;
        for (first, out) in (0..cells).step_by(WIDTH).zip(out.chunks_mut(WIDTH * self.permutations)) {
            sums.clear();
            sums.resize(self.permutations, Row::default());
            for (rows, bits) in rows.chunks(cells * PLACES).zip(self.bits.chunks_exact(self.permutations)) {
                stop.charge(2 * (self.permutations + 256))?;
                let mut padded = [Row::default(); PLACES];
                for (padded, row) in padded.iter_mut().zip(rows.chunks_exact(cells)) {
                    let row = &row[first..cells.min(first + WIDTH)];
                    padded.0[..row.len()].copy_from_slice(row);
                }
                let (low, high) = padded.split_at(PLACES / 2);
                fill(simd, low, &mut tables[0]);
                fill(simd, high, &mut tables[1]);
                add(simd, tables, bits, sums);
            }
            columns(simd, sums, out);
        }
        Ok(())
    }
}

/// Memory that a thread reuses.
struct Buffers {
    tables: Box<[Table; 2]>,
    sums: Vec<Row>,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers { tables: Box::new([[Row::default(); 1 << (PLACES / 2)]; 2]), sums: Vec::new() }
    }
}

dispatch! {
    /// Fills a table of eight rows.
    fn fill(rows: &[Row], table: &mut Table) {
        table[0] = Row::default();
        for (place, row) in rows.iter().enumerate() {
            let (known, new) = table.split_at_mut(1 << place);
            for (new, known) in new.iter_mut().zip(known) {
                for ((new, known), own) in new.0.iter_mut().zip(&known.0).zip(&row.0) {
                    *new = known + own;
                }
            }
        }
    }
}

dispatch! {
    /// Adds to the sums of each permutation those of the two subsets that it flips.
    fn add(tables: &[Table; 2], bits: &[u16], sums: &mut [Row]) {
        let [low, high] = tables;
        for (sums, bits) in sums.iter_mut().zip(bits) {
            let subsets = bits.to_le_bytes().map(usize::from);
            let (low, high) = (&low[subsets[0]].0, &high[subsets[1]].0);
            for ((sum, low), high) in sums.0.iter_mut().zip(low).zip(high) {
                *sum += low + high;
            }
        }
    }
}

dispatch! {
    /// Writes the sums column by column.
    fn columns(sums: &[Row], out: &mut [i64]) {
        for (column, out) in out.chunks_exact_mut(sums.len()).enumerate() {
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum.0[column]);
        }
    }
}

dispatch! {
    /// In how many permutations x is at most y, except for rounding.
    fn count(x: &[i64], y: &[i64], tolerance: i64) -> usize {
        x.iter().zip(y).map(|(x, y)| u64::from(x - y <= tolerance)).sum::<u64>() as usize
    }
}

/// (c + 1)/(R + 1).
fn pvalue(exceedances: usize, permutations: usize) -> f64 {
    (exceedances + 1) as f64 / (permutations + 1) as f64
}

/// All pairs x < y of systems.
fn pairs(systems: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..systems).flat_map(move |x| (x + 1..systems).map(move |y| (x, y)))
}

/// Checks that all segments are among `len`.
fn check_segments(segments: &[u32], len: usize) -> Result<()> {
    match segments.iter().find(|segment| **segment as usize >= len) {
        Some(&segment) => Err(Error::OutOfRange { what: "segment".into(), index: segment as usize, len }),
        None => Ok(()),
    }
}
