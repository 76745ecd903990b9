//! Which cells of two metrics are swapped in which replicate.

use std::ops::Range;

use super::super::Unit;
use super::Material;
use crate::error::Result;
use crate::memory::zeros;
use crate::resample::{BATCH, length};
use crate::simd::Simd;
use crate::stream::{Purpose, Stream, fill_by_replicate};

/// The swaps of some replicates, in blocks of 64.
pub(super) struct Flips {
    cells: usize,
    /// For each block and cell, bit r is set if the cell is swapped in replicate r of the block.
    words: Vec<u64>,
    /// The same as bytes: −1 or 0.
    bytes: Vec<[i8; BATCH]>,
}

/// Bytes of flips that are held at once, roughly.
const BYTES_AT_ONCE: usize = 1 << 25;

impl Flips {
    /// The replicates in parts that are held at once, and where each part begins among them.
    pub fn batches(material: &Material, replicates: &Range<u64>) -> impl Iterator<Item = (usize, Range<u64>)> + use<> {
        let Range { start, end } = *replicates;
        let batch = BATCH * (BYTES_AT_ONCE / (BATCH * material.cells.len().max(1))).clamp(1, 64);
        let parts = (start..end).step_by(batch).map(move |first| first..end.min(first + batch as u64));
        parts.map(move |part| ((part.start - start) as usize, part))
    }

    /// The swaps with this seed, of these units.
    pub fn new(material: &Material, (seed, unit): (u64, Unit), replicates: Range<u64>) -> Result<Self> {
        let cells = material.cells.len();
        let blocks = length(&replicates).div_ceil(BATCH);
        let mut words: Vec<u64> = zeros(&[blocks, cells])?;
        let mut random: Vec<u64> = zeros(&[unit.bits(material.shape).div_ceil(64), BATCH])?;
        for (block, words) in words.chunks_exact_mut(cells.max(1)).enumerate() {
            let first = replicates.start + (block * BATCH) as u64;
            fill_by_replicate(Simd::best(), Stream::new(seed, Purpose::Shuffle, first), BATCH, 0, &mut random);
            random.as_chunks_mut().0.iter_mut().for_each(transpose);
            for (word, &position) in words.iter_mut().zip(&material.cells) {
                *word = random[unit.bit(position as usize, material.shape[1])];
            }
        }
        let mut bytes: Vec<[i8; BATCH]> = zeros(&[words.len()])?;
        for (bytes, &word) in bytes.iter_mut().zip(&words) {
            bytes.iter_mut().zip(0..).for_each(|(byte, lane)| *byte = -((word >> lane & 1) as i8));
        }
        Ok(Flips { cells, words, bytes })
    }

    /// The words of all cells in a block of replicates.
    pub fn words(&self, block: usize) -> &[u64] {
        &self.words[block * self.cells..][..self.cells]
    }

    /// The bytes of all cells in a block of replicates.
    pub fn bytes(&self, block: usize) -> &[[i8; BATCH]] {
        &self.bytes[block * self.cells..][..self.cells]
    }
}

/// Swaps rows and columns of a matrix of bits, the lowest bit of a word being its first column.
fn transpose(words: &mut [u64; 64]) {
    let (mut step, mut mask) = (32, 0xFFFF_FFFF_u64);
    while step > 0 {
        let mut row = 0;
        while row < 64 {
            let swapped = (words[row] >> step ^ words[row + step]) & mask;
            words[row] ^= swapped << step;
            words[row + step] ^= swapped;
            row = (row + step + 1) & !step;
        }
        step /= 2;
        mask ^= mask << step;
    }
}
