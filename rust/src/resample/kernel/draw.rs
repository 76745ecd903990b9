//! The kernel of the bootstrap: draws units with replacement, the same units for every system and metric.

use std::ops::Range;

pub(in crate::resample) use super::product::Digits;
use super::product::TOGETHER;
use super::source::Source;
use super::weights::Strata;
use super::{Kernel, STRIDE, Scratch};
use crate::error::{Error, Result};
use crate::pool::{PIECE, Stop, WorkMeter};
use crate::resample::design::Design;
use crate::resample::{length, resize};

/// Draws of units, from a seed or as user-supplied indices.
pub(in crate::resample) struct Draws<'a> {
    design: &'a Design,
    source: Source<'a, u32>,
    strata: &'a Strata,
    digits: &'a Digits,
}

/// Approximate size in bytes of the weights of a block of replicates, chosen so that they stay in the L2 cache.
const WEIGHTS: usize = 1 << 18;

impl<'a> Draws<'a> {
    /// Prepares draws from a source.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a user-supplied index is not a unit, [`Error::Interrupted`] if the call is cancelled.
    pub fn new(
        design: &'a Design,
        (strata, digits): (&'a Strata, &'a Digits),
        source: Source<'a, u32>,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        let units = design.units;
        if let Source::Supplied(indices) = source {
            let mut meter = WorkMeter::default();
            for indices in indices.values().chunks(PIECE) {
                meter.charge(indices.len(), stop)?;
                if let Some(&index) = indices.iter().find(|&&index| index as usize >= units) {
                    return Err(Error::OutOfRange { what: "segment".into(), index: index as usize, len: units });
                }
            }
        }
        Ok(Draws { design, source, strata, digits })
    }

    /// The length of a row of weights in bytes: a whole number of quads of units.
    fn padded(&self) -> usize {
        self.design.units.next_multiple_of(8)
    }

    /// Draws one replicate for each row of `weights`, and adds the drawn rows of counts. The first replicate is the
    /// `place`-th of the block.
    fn add_drawn(
        &self,
        (seed, first): (u64, u64),
        weights: &mut [u8],
        place: usize,
        (out, stride): (&mut [i64], usize),
        stop: &Stop<'_>,
    ) -> Result<()> {
        for (i, weights) in (0..).zip(weights.chunks_exact_mut(self.padded())) {
            self.strata.draw(seed, first.wrapping_add(i), weights, stop)?;
        }
        let (dense, exceptional) = out.split_at_mut(self.design.packed.len() * stride);
        self.digits.sums(weights, self.padded(), (dense, stride, place), stop)?;
        let mut meter = WorkMeter::default();
        for (exceptions, out) in self.design.exceptions.iter().zip(exceptional.chunks_exact_mut(stride)) {
            for (out, weights) in out[place..].iter_mut().zip(weights.chunks_exact(self.padded())) {
                meter.charge(exceptions.units.len(), stop)?;
                *out = exceptions.units.iter().map(|&(unit, value)| value * i64::from(weights[unit])).sum();
            }
        }
        Ok(())
    }

    /// Adds the rows of user-supplied units to the sums of the `place`-th replicate of a block.
    fn add_supplied(&self, units: &[u32], place: usize, (out, stride): (&mut [i64], usize)) {
        let (dense, exceptional) = out.split_at_mut(self.design.packed.len() * stride);
        for (column, out) in self.design.packed.iter().zip(dense.chunks_exact_mut(stride)) {
            out[place] = units.iter().map(|&unit| column.value(unit as usize)).sum();
        }
        for (exceptions, out) in self.design.exceptions.iter().zip(exceptional.chunks_exact_mut(stride)) {
            let extra = |unit: usize| {
                let found = exceptions.units.binary_search_by_key(&unit, |(unit, _)| *unit);
                found.map_or(0, |place| exceptions.units[place].1)
            };
            out[place] = units.iter().map(|&unit| extra(unit as usize)).sum();
        }
    }
}

impl Kernel for Draws<'_> {
    fn block(&self) -> usize {
        (WEIGHTS / self.padded()).next_multiple_of(STRIDE).clamp(STRIDE, 4 * STRIDE)
    }

    fn cost(&self) -> u64 {
        ((2 * self.strata.cost() + self.design.units * self.digits.tiles()) / 4) as u64
    }

    fn rows(&self) -> i64 {
        self.design.units as i64
    }

    fn sums(
        &self,
        range: Range<u64>,
        scratch: &mut Scratch,
        (out, stride): (&mut [i64], usize),
        stop: &Stop<'_>,
    ) -> Result<()> {
        let replicates = length(&range);
        let weights = &mut scratch.bytes;
        if let Source::Seeded(_) = self.source {
            resize(weights, TOGETHER.min(replicates) * self.padded())?;
        }
        for place in (0..replicates).step_by(TOGETHER) {
            let here = TOGETHER.min(replicates - place);
            if stop.requested() {
                return Err(Error::Interrupted);
            }
            match self.source {
                Source::Seeded(seed) => {
                    let weights = &mut weights[..here * self.padded()];
                    self.add_drawn((seed, range.start + place as u64), weights, place, (out, stride), stop)?;
                }
                Source::Supplied(indices) => {
                    for place in place..place + here {
                        if stop.requested() {
                            return Err(Error::Interrupted);
                        }
                        let units = indices.of_replicate(range.start + place as u64);
                        self.add_supplied(units, place, (out, stride));
                    }
                }
            }
        }
        Ok(())
    }
}
