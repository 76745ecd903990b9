//! The kernel of the bootstrap: draws units with replacement, the same units for every system and metric.

use std::ops::Range;

pub(in crate::resample) use super::product::Digits;
use super::product::{LARGEST_WEIGHT, REPLICATES, STRETCH};
use super::source::{Source, Supplied};
use super::weights::Strata;
use super::{Kernel, Out, Scratch};
use crate::error::{Error, Result};
use crate::memory::resize;
use crate::pool::{PIECE, Stop};
use crate::resample::design::Design;
use crate::resample::{BATCH, Strided, length};

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
    pub fn new(
        design: &'a Design,
        (strata, digits): (&'a Strata, &'a Digits),
        source: Source<'a, u32>,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        let units = design.units;
        if let Source::Supplied(indices) = source {
            for indices in indices.values().chunks(PIECE) {
                stop.charge(indices.len() / 8)?;
                let largest = indices.iter().fold(0, |largest, &index| index.max(largest)) as usize;
                if largest >= units {
                    return Err(Error::OutOfRange { what: "segment".into(), index: largest, len: units });
                }
            }
        }
        Ok(Draws { design, source, strata, digits })
    }

    /// The number of units that a replicate draws.
    fn drawn(&self) -> usize {
        match self.source {
            Source::Seeded(_) => self.design.units,
            Source::Supplied(indices) => indices.width(),
        }
    }

    /// The length of a row of weights in bytes: a whole number of quads of units.
    fn padded(&self) -> usize {
        self.design.units.next_multiple_of(8)
    }

    /// Draws a replicate for each row of `weights`, beginning with number `first`, and sums the drawn rows of counts.
    fn add_drawn(
        &self,
        (seed, first): (u64, u64),
        weights: &mut [u8],
        out: Strided<&mut [i64]>,
        stop: &Stop<'_>,
    ) -> Result<()> {
        for (i, weights) in (0..).zip(weights.chunks_exact_mut(self.padded())) {
            self.strata.draw(seed, first.wrapping_add(i), weights, stop)?;
        }
        self.add_weighted(weights, out, stop)
    }

    /// As [`Draws::add_drawn`], for user-supplied units.
    fn add_supplied(
        &self,
        (indices, first): (Supplied<'_, u32>, u64),
        weights: &mut [u8],
        mut out: Strided<&mut [i64]>,
        stop: &Stop<'_>,
    ) -> Result<()> {
        if indices.width() <= STRETCH && self.weigh((indices, first), weights, stop)? {
            return self.add_weighted(weights, out, stop);
        }
        for (place, replicate) in (first..).take(weights.len() / self.padded()).enumerate() {
            self.add_units(indices.of_replicate(replicate), out.rows_from_mut(place), stop)?;
        }
        Ok(())
    }

    /// Sets the weights: how often each replicate has each unit. Returns false if one is too large for the product.
    fn weigh(&self, (indices, first): (Supplied<'_, u32>, u64), weights: &mut [u8], stop: &Stop<'_>) -> Result<bool> {
        let mut largest = 0;
        weights.fill(0);
        for (replicate, weights) in (first..).zip(weights.chunks_exact_mut(self.padded())) {
            for units in indices.of_replicate(replicate).chunks(PIECE) {
                stop.charge(units.len())?;
                for &unit in units {
                    let weight = &mut weights[unit as usize];
                    // A weight that wraps around has been 255, so `largest` shows it.
                    *weight = weight.wrapping_add(1);
                    largest = largest.max(*weight);
                }
            }
        }
        Ok(largest <= LARGEST_WEIGHT)
    }

    /// Sums the rows of counts of replicates with these weights.
    fn add_weighted(&self, weights: &[u8], mut out: Strided<&mut [i64]>, stop: &Stop<'_>) -> Result<()> {
        let weights = Strided::new(weights, self.padded());
        let [dense, mut exceptional] = out.split_at(self.design.packed.len());
        self.digits.sums(weights, self.drawn(), dense, stop)?;
        for (exceptions, out) in self.design.exceptions.iter().zip(exceptional.columns_mut()) {
            for (out, weights) in out.iter_mut().zip(weights.columns()) {
                stop.charge(exceptions.units.len())?;
                let rows = exceptions.units.iter().map(|&(unit, value)| value.wrapping_mul(i64::from(weights[unit])));
                *out = rows.fold(0, i64::wrapping_add);
            }
        }
        Ok(())
    }

    /// Adds the rows of these units, one by one, to the sums of the first replicate.
    fn add_units(&self, units: &[u32], mut out: Strided<&mut [i64]>, stop: &Stop<'_>) -> Result<()> {
        let [mut dense, mut exceptional] = out.split_at(self.design.packed.len());
        for (column, out) in self.design.packed.iter().zip(dense.first_row_mut()) {
            for units in units.chunks(PIECE) {
                stop.charge(units.len())?;
                let rows = units.iter().map(|&unit| column.value(unit as usize));
                *out = rows.fold(*out, i64::wrapping_add);
            }
        }
        for (exceptions, out) in self.design.exceptions.iter().zip(exceptional.first_row_mut()) {
            let extra = |unit: usize| {
                let found = exceptions.units.binary_search_by_key(&unit, |(unit, _)| *unit);
                found.map_or(0, |place| exceptions.units[place].1)
            };
            for units in units.chunks(PIECE) {
                stop.charge(8 * units.len())?;
                let rows = units.iter().map(|&unit| extra(unit as usize));
                *out = rows.fold(*out, i64::wrapping_add);
            }
        }
        Ok(())
    }
}

impl Kernel for Draws<'_> {
    fn block(&self) -> usize {
        (WEIGHTS / self.padded()).next_multiple_of(BATCH).clamp(BATCH, 4 * BATCH)
    }

    fn cost(&self) -> u64 {
        let weights = match self.source {
            Source::Seeded(_) => 2 * self.strata.cost(),
            Source::Supplied(indices) => 4 * indices.width(),
        };
        ((weights + self.design.units * self.digits.tiles()) / 4) as u64
    }

    fn constants(&self) -> i64 {
        self.drawn() as i64
    }

    fn sums(&self, range: Range<u64>, scratch: &mut Scratch, mut out: Out<'_>, stop: &Stop<'_>) -> Result<()> {
        let replicates = length(&range);
        let weights = &mut scratch.bytes;
        resize(weights, REPLICATES.min(replicates) * self.padded())?;
        for place in (0..replicates).step_by(REPLICATES) {
            let here = REPLICATES.min(replicates - place);
            stop.check()?;
            let weights = &mut weights[..here * self.padded()];
            let first = range.start.wrapping_add(place as u64);
            let out = out.rows_from_mut(place);
            match self.source {
                Source::Seeded(seed) => self.add_drawn((seed, first), weights, out, stop)?,
                Source::Supplied(indices) => self.add_supplied((indices, first), weights, out, stop)?,
            }
        }
        Ok(())
    }
}
