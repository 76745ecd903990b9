//! The kernel of shuffles: sums over the flipped units of each replicate.

use std::ops::Range;

use super::exchange::{Exchanges, GroupMasks};
#[cfg(target_arch = "x86_64")]
use super::lanes::Tables;
use super::source::Source;
use super::tiles::Tiles;
use super::{Kernel, Out, Scratch};
use crate::error::Result;
use crate::pool::Stop;
use crate::resample::Strided;
use crate::resample::design::Design;
use crate::resample::design::packed::Packed;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Simd, dispatch};
use crate::stream::{Purpose, Stream, fill_by_replicate};

/// The kernel for shuffles.
pub(in crate::resample) struct Flips<'a> {
    design: &'a Design,
    choices: Choices<'a>,
    adder: &'a Adder,
    /// The number of masks of a replicate.
    per_replicate: usize,
}

/// Where the masks come from.
enum Choices<'a> {
    /// Every unit has a bit of its own.
    Independent(Source<'a, u64>),
    /// The masks of exchanges between systems with several runs.
    Exchanged(Exchanges),
}

/// The number of flip masks of a replicate: bit u % 64 of mask u / 64 swaps unit u.
pub(in crate::resample) fn masks_of(design: &Design) -> usize {
    design.units.div_ceil(64)
}

/// The counts, prepared for one of the code paths. All paths give the same sums.
pub(in crate::resample) enum Adder {
    /// Adds columns side by side.
    Tiles(Tiles),
    /// Looks up the sums of four units in tables, for replicates side by side.
    #[cfg(target_arch = "x86_64")]
    Fours(Avx2, Tables<4>),
    /// The same with six units.
    #[cfg(target_arch = "x86_64")]
    Sixes(Avx512, Tables<6>),
}

impl Adder {
    /// Makes the tables.
    pub fn new(packed: &Packed, simd: Simd, stop: &Stop<'_>) -> Result<Self> {
        Ok(match simd {
            Simd::Portable => Adder::Tiles(Tiles::new(packed, stop)?),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2(token) => Adder::Fours(token, Tables::new(packed, simd, stop)?),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512(token) => Adder::Sixes(token, Tables::new(packed, simd, stop)?),
        })
    }

    /// The vector instructions that the tables are for.
    fn simd(&self) -> Simd {
        match self {
            Adder::Tiles(_) => Simd::Portable,
            #[cfg(target_arch = "x86_64")]
            Adder::Fours(token, _) => (*token).into(),
            #[cfg(target_arch = "x86_64")]
            Adder::Sixes(token, _) => (*token).into(),
        }
    }

    /// The number of masks per replicate that are processed together, an even number. The masks of a block of
    /// replicates then stay in the L2 cache, and memory does not grow with the number of units.
    fn masks_at_once(&self) -> usize {
        match self {
            Adder::Tiles(_) => 22,
            #[cfg(target_arch = "x86_64")]
            Adder::Fours(..) => Tables::<4>::MASKS,
            #[cfg(target_arch = "x86_64")]
            Adder::Sixes(..) => Tables::<6>::MASKS,
        }
    }
}

impl<'a> Flips<'a> {
    /// Shuffles from a source, added up with the tables of `adder`.
    pub fn new(design: &'a Design, adder: &'a Adder, source: Source<'a, u64>) -> Self {
        Flips { design, choices: Choices::Independent(source), adder, per_replicate: masks_of(design) }
    }

    /// Exchanges between systems with several runs, added up with the tables of `adder`.
    pub fn exchanging(design: &'a Design, adder: &'a Adder, exchanges: Exchanges) -> Self {
        Flips { design, choices: Choices::Exchanged(exchanges), adder, per_replicate: masks_of(design) }
    }

    /// Writes flip masks from number `from` on, a column for each.
    fn fill(
        &self,
        (replicates, from): (Range<u64>, usize),
        mut out: Strided<&mut [u64]>,
        held: &mut GroupMasks,
        stop: &Stop<'_>,
    ) -> Result<()> {
        match &self.choices {
            Choices::Exchanged(exchanges) => {
                exchanges.fill(self.adder.simd(), (replicates, from), out, held, stop)?;
            }
            &Choices::Independent(Source::Seeded(seed)) => {
                let first = Stream::new(seed, Purpose::Shuffle, replicates.start);
                fill_by_replicate(self.adder.simd(), first, out.rows(), (from / 2) as u32, out.as_flattened_mut());
            }
            Choices::Independent(Source::Supplied(supplied)) => {
                for (i, replicate) in replicates.enumerate() {
                    let masks = &supplied.of_replicate(replicate)[from..];
                    out.rows_from_mut(i).first_row_mut().zip(masks).for_each(|(out, mask)| *out = *mask);
                }
            }
        }
        Ok(())
    }

    /// Adds the exceptional values of the units that the masks cover.
    fn add_exceptions(&self, from: usize, masks: Strided<&[u64]>, mut out: Strided<&mut [i64]>) {
        let units = 64 * from..64 * (from + masks.width());
        for (exceptions, out) in self.design.exceptions.iter().zip(out.columns_mut()) {
            let exceptions = &exceptions.units;
            let start = exceptions.partition_point(|(unit, _)| *unit < units.start);
            for (unit, value) in exceptions[start..].iter().take_while(|(unit, _)| *unit < units.end) {
                add_flipped(self.adder.simd(), *value, masks.column(unit / 64 - from), unit % 64, out);
            }
        }
    }
}

impl Kernel for Flips<'_> {
    /// Two tables of partial sums cost 512 additions per sixteen units for any block size, so blocks are large: the
    /// tables and a block's running sums fill the L1 cache. The vector paths, too, need several registers of
    /// replicates.
    fn block(&self) -> usize {
        512
    }

    fn cost(&self) -> u64 {
        let masks = match &self.choices {
            Choices::Independent(_) => 0,
            Choices::Exchanged(exchanges) => exchanges.cost(self.design.units),
        };
        masks + (self.per_replicate * (2 + 3 * self.design.packed.len())) as u64
    }

    fn sums(&self, range: Range<u64>, scratch: &mut Scratch, mut out: Out<'_>, stop: &Stop<'_>) -> Result<()> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
        let Scratch { masks, bytes, exchanged, .. } = scratch;
        exchanged.clear();
        let at_once = self.adder.masks_at_once();
        let stride = out.rows();
        masks.resize(at_once.min(self.per_replicate) * stride, 0);
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
        for (chunk, from) in (0..self.per_replicate).step_by(at_once).enumerate() {
            let masks = &mut masks[..at_once.min(self.per_replicate - from) * stride];
            self.fill((range.clone(), from), Strided::new(&mut *masks, stride), exchanged, stop)?;
            let masks = Strided::new(&*masks, stride);
            let [mut dense, exceptional] = out.split_at(self.design.packed.len());
            match self.adder {
                Adder::Tiles(tiles) => {
                    for tile in 0..tiles.len() {
                        stop.check()?;
                        tiles.add(tile, from, masks, dense.reborrow());
                    }
                }
                #[cfg(target_arch = "x86_64")]
                Adder::Fours(token, tables) => tables.add(*token, chunk, masks, bytes, dense),
                #[cfg(target_arch = "x86_64")]
                Adder::Sixes(token, tables) => tables.add(*token, chunk, masks, bytes, dense),
            }
            self.add_exceptions(from, masks, exceptional);
            stop.check()?;
        }
        Ok(())
    }
}

dispatch! {
    /// Adds the value to the sums of replicates whose mask has this bit set.
    fn add_flipped(value: i64, masks: &[u64], bit: usize, out: &mut [i64]) {
        for (out, mask) in out.iter_mut().zip(masks) {
            // A bit mask instead of a product: multiplying vectors of 64-bit numbers is slow.
            *out += value & -((mask >> bit & 1) as i64);
        }
    }
}
