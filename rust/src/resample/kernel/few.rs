//! The kernel of a few shuffles: the flipped units are added up one by one. Tables cost more than they save before some
//! ten shuffles have been made.

use std::ops::Range;

use super::source::Source;
use super::{Kernel, STRIDE, Scratch};
use crate::error::{Error, Result};
use crate::pool::{Stop, WorkMeter};
use crate::resample::design::Design;
use crate::resample::design::packed::{Integer, with_values};
use crate::resample::resize;
use crate::simd::{Simd, dispatch};
use crate::stream::{Purpose, Stream};

/// Fewer shuffles than this are made without tables.
pub(in crate::resample) const FEW_SHUFFLES: usize = 10;

/// The flips of a few replicates.
pub(in crate::resample) struct FewFlips<'a> {
    design: &'a Design,
    source: Source<'a, u64>,
    simd: Simd,
}

impl<'a> FewFlips<'a> {
    /// The flips of replicates; of given ones there are as many words as they need.
    pub fn new(design: &'a Design, source: Source<'a, u64>, simd: Simd) -> Self {
        FewFlips { design, source, simd }
    }
}

impl Kernel for FewFlips<'_> {
    fn block(&self) -> usize {
        STRIDE
    }

    fn cost(&self) -> u64 {
        (self.design.units * (1 + self.design.packed.len())) as u64 / 4
    }

    fn sums(
        &self,
        range: Range<u64>,
        scratch: &mut Scratch,
        (out, stride): (&mut [i64], usize),
        stop: &Stop<'_>,
    ) -> Result<()> {
        let mut meter = WorkMeter::default();
        let words = self.design.units.div_ceil(64);
        let drawn = &mut scratch.words;
        if let Source::Seeded(_) = self.source {
            resize(drawn, words)?;
        }
        for (place, replicate) in range.enumerate() {
            if stop.requested() {
                return Err(Error::Interrupted);
            }
            let flips: &[u64] = match self.source {
                Source::Seeded(seed) => {
                    for (block, words) in (0..).step_by(PIECE / 2).zip(drawn.chunks_mut(PIECE)) {
                        meter.charge(2 * words.len(), stop)?;
                        fill(self.simd, Stream::new(seed, Purpose::Shuffle, replicate), block, words);
                    }
                    drawn
                }
                Source::Supplied(masks) => masks.of_replicate(replicate),
            };
            for (first, &word) in (0..self.design.units).step_by(64).zip(flips) {
                meter.charge(64 * (1 + self.design.packed.len()), stop)?;
                let units = first..self.design.units.min(first + 64);
                let masks = std::array::from_fn(|bit| -((word >> bit & 1) as i64));
                for (column, out) in self.design.packed.iter().zip(out.chunks_exact_mut(stride)) {
                    let sum = with_values!(column, values => sum_of(self.simd, &values[units.clone()], &masks));
                    out[place] = out[place].wrapping_add(sum);
                }
            }
            let (_, exceptional) = out.split_at_mut(self.design.packed.len() * stride);
            for (exceptions, out) in self.design.exceptions.iter().zip(exceptional.chunks_exact_mut(stride)) {
                meter.charge(exceptions.units.len(), stop)?;
                let flipped = exceptions.units.iter().filter(|(unit, _)| flips[unit / 64] >> (unit % 64) & 1 == 1);
                out[place] = flipped.map(|(_, value)| value).sum();
            }
        }
        Ok(())
    }
}

/// Words of flips that are drawn between two questions whether to stop.
const PIECE: usize = crate::pool::PIECE;

dispatch! {
    fn fill(stream: Stream, block: u32, out: &mut [u64]) = fill_inline;
}

#[inline(always)]
fn fill_inline(stream: Stream, block: u32, out: &mut [u64]) {
    stream.fill(block, out);
}

dispatch! {
    /// The sum of those values whose mask is −1, not 0.
    fn sum_of<T: Integer>(values: &[T], masks: &[i64; 64]) -> i64 = sum_of_inline::<T>;
}

#[inline(always)]
fn sum_of_inline<T: Integer>(values: &[T], masks: &[i64; 64]) -> i64 {
    values.iter().zip(masks).fold(0, |sum: i64, (value, mask)| sum.wrapping_add(value.widen() & mask))
}
