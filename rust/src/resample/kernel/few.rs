//! The kernel of a few shuffles: adds up the flipped units one by one. Tables pay off only from about ten shuffles on.

use std::ops::Range;

use super::flips::masks_of;
use super::{Kernel, Out, Scratch};
use crate::error::Result;
use crate::memory::resize;
use crate::pool::Stop;
use crate::resample::BATCH;
use crate::resample::design::Design;
use crate::resample::design::packed::Integer;
use crate::simd::{Simd, dispatch};
use crate::stats::with_numbers;
use crate::stream::{Purpose, Stream};

/// Fewer shuffles than this are made without tables.
pub(in crate::resample) const FEW_SHUFFLES: usize = 10;

/// The kernel for a few shuffles.
pub(in crate::resample) struct FewFlips<'a> {
    design: &'a Design,
    seed: u64,
    simd: Simd,
}

impl<'a> FewFlips<'a> {
    pub fn new(design: &'a Design, seed: u64, simd: Simd) -> Self {
        FewFlips { design, seed, simd }
    }
}

impl Kernel for FewFlips<'_> {
    fn block(&self) -> usize {
        BATCH
    }

    fn cost(&self) -> u64 {
        (self.design.units * (1 + self.design.packed.len())) as u64 / 4
    }

    fn sums(&self, range: Range<u64>, scratch: &mut Scratch, mut out: Out<'_>, stop: &Stop<'_>) -> Result<()> {
        let drawn = &mut scratch.masks;
        resize(drawn, masks_of(self.design))?;
        for (place, replicate) in range.enumerate() {
            stop.check()?;
            for (block, masks) in (0..).step_by(PIECE / 2).zip(drawn.chunks_mut(PIECE)) {
                stop.charge(2 * masks.len())?;
                fill(self.simd, Stream::new(self.seed, Purpose::Shuffle, replicate), block, masks);
            }
            let masks = &*drawn;
            for (first, &mask) in (0..self.design.units).step_by(64).zip(masks) {
                stop.charge(64 * (1 + self.design.packed.len()))?;
                let units = first..self.design.units.min(first + 64);
                // All bits or none, so that a bitwise and replaces the product.
                let selected = std::array::from_fn(|bit| -((mask >> bit & 1) as i64));
                for (column, out) in self.design.packed.iter().zip(out.columns_mut()) {
                    let sum = with_numbers!(column, values => sum_of(self.simd, &values[units.clone()], &selected));
                    out[place] = out[place].wrapping_add(sum);
                }
            }
            let [_, mut exceptional] = out.split_at(self.design.packed.len());
            for (exceptions, out) in self.design.exceptions.iter().zip(exceptional.columns_mut()) {
                stop.charge(exceptions.units.len())?;
                let flipped = exceptions.units.iter().filter(|(unit, _)| masks[unit / 64] >> (unit % 64) & 1 == 1);
                out[place] = flipped.map(|(_, value)| value).sum();
            }
        }
        Ok(())
    }
}

/// Flip masks that are drawn between two checks whether to stop.
const PIECE: usize = crate::pool::PIECE;

dispatch! {
    fn fill(stream: Stream, block: u32, out: &mut [u64]) {
        stream.fill(block, out);
    }
}

dispatch! {
    /// The sum of the values that are selected, by −1; the others have 0.
    fn sum_of<T: Integer>(values: &[T], selected: &[i64; 64]) -> i64 {
        let values = values.iter().zip(selected);
        values.fold(0, |sum: i64, (value, selected)| sum.wrapping_add(value.to_i64() & selected))
    }
}
