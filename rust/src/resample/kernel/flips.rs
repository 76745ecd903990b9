//! The kernel of shuffles: the flips of replicates, and the sums over the flipped units.

use std::ops::Range;

use super::source::Source;
use super::tiles::Tiles;
use super::{Kernel, Scratch};
#[cfg(target_arch = "x86_64")]
use super::{STRIDE, lanes::Tables};
use crate::error::{Error, Result};
use crate::pool::Stop;
use crate::resample::design::Design;
use crate::resample::design::packed::Packed;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Simd, dispatch};
use crate::stream::{Purpose, Stream, fill_by_replicate};

/// The flips of replicates, and what is added for them.
pub(in crate::resample) struct Flips<'a> {
    design: &'a Design,
    source: Source<'a, u64>,
    adder: &'a Adder,
    masks: usize,
}

/// The number of flip masks of a replicate: bit u % 64 of mask u / 64 swaps unit u.
pub(in crate::resample) fn masks_of(design: &Design) -> usize {
    design.units.div_ceil(64)
}

/// What is to be added up, for one of the paths. All give the same sums.
pub(in crate::resample) enum Adder {
    /// Columns side by side.
    Tiles(Tiles),
    /// Replicates side by side.
    #[cfg(target_arch = "x86_64")]
    Fours(Avx2, Tables<4>),
    #[cfg(target_arch = "x86_64")]
    Sixes(Avx512, Tables<6>),
}

impl Adder {
    /// Makes the tables.
    ///
    /// # Errors
    /// [`Error::Memory`], and [`Error::Interrupted`] if told to stop.
    pub fn new(packed: &Packed, simd: Simd, stop: &Stop<'_>) -> Result<Self> {
        Ok(match simd {
            Simd::Portable => Adder::Tiles(Tiles::new(packed, stop)?),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2(token) => Adder::Fours(token, Tables::new(packed, simd, stop)?),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512(token) => Adder::Sixes(token, Tables::new(packed, simd, stop)?),
        })
    }

    /// The path that it is for.
    fn simd(&self) -> Simd {
        match self {
            Adder::Tiles(_) => Simd::Portable,
            #[cfg(target_arch = "x86_64")]
            Adder::Fours(token, _) => Simd::Avx2(*token),
            #[cfg(target_arch = "x86_64")]
            Adder::Sixes(token, _) => Simd::Avx512(*token),
        }
    }

    /// Words of flips looked at together, an even number: the words of a block of replicates stay in the second-level
    /// cache, and memory does not grow with the number of units.
    fn chunk(&self) -> usize {
        match self {
            Adder::Tiles(_) => 22,
            #[cfg(target_arch = "x86_64")]
            Adder::Fours(..) => Tables::<4>::WORDS,
            #[cfg(target_arch = "x86_64")]
            Adder::Sixes(..) => Tables::<6>::WORDS,
        }
    }
}

impl<'a> Flips<'a> {
    /// Shuffles from a source, added up with the tables of `adder`.
    pub fn new(design: &'a Design, adder: &'a Adder, source: Source<'a, u64>) -> Self {
        Flips { design, source, adder, masks: masks_of(design) }
    }

    /// Writes the flips of the words `from`… word by word, `stride` apart: all replicates' first, then all replicates'
    /// second …
    fn fill(&self, replicates: Range<u64>, from: usize, (out, stride): (&mut [u64], usize)) {
        match self.source {
            Source::Seeded(seed) => {
                let first = Stream::new(seed, Purpose::Shuffle, replicates.start);
                fill_by_replicate(self.adder.simd(), first, stride, (from / 2) as u32, out);
            }
            Source::Supplied(supplied) => {
                for (i, replicate) in replicates.enumerate() {
                    let masks = &supplied.of_replicate(replicate)[from..];
                    out[i..].iter_mut().step_by(stride).zip(masks).for_each(|(out, mask)| *out = *mask);
                }
            }
        }
    }

    /// Adds what the units of some words have on top of their cells' rules.
    fn add_exceptions(&self, from: usize, words: &[u64], (out, stride): (&mut [i64], usize)) {
        let units = 64 * from..64 * (from + words.len() / stride);
        for (exceptions, out) in self.design.exceptions.iter().zip(out.chunks_exact_mut(stride)) {
            let exceptions = &exceptions.units;
            let start = exceptions.partition_point(|(unit, _)| *unit < units.start);
            for (unit, value) in exceptions[start..].iter().take_while(|(unit, _)| *unit < units.end) {
                let words = &words[(unit / 64 - from) * stride..][..stride];
                add_flipped(self.adder.simd(), *value, words, unit % 64, out);
            }
        }
    }
}

impl Kernel for Flips<'_> {
    /// Two tables of partial sums cost 512 additions per sixteen units, whatever the block; a block's running sums and
    /// the tables fill the first-level cache. Registers side by side want a few of them, too.
    fn block(&self) -> usize {
        512
    }

    fn cost(&self) -> u64 {
        (self.masks * (2 + 3 * self.design.packed.len())) as u64
    }

    fn sums(
        &self,
        range: Range<u64>,
        scratch: &mut Scratch,
        (out, stride): (&mut [i64], usize),
        stop: &Stop<'_>,
    ) -> Result<()> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
        let Scratch { words, bytes } = scratch;
        let at_once = self.adder.chunk();
        words.resize(at_once.min(self.masks) * stride, 0);
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
        for (chunk, from) in (0..self.masks).step_by(at_once).enumerate() {
            let words = &mut words[..at_once.min(self.masks - from) * stride];
            self.fill(range.clone(), from, (words, stride));
            let (dense, exceptional) = out.split_at_mut(self.design.packed.len() * stride);
            match self.adder {
                Adder::Tiles(tiles) => {
                    for tile in 0..tiles.len() {
                        if stop.requested() {
                            return Err(Error::Interrupted);
                        }
                        tiles.add(tile, from, words, stride, (dense, stride));
                    }
                }
                #[cfg(target_arch = "x86_64")]
                Adder::Fours(token, tables) => {
                    let paths = (*token, Simd::Avx2(*token));
                    tables.add(paths, chunk, words, stride / STRIDE, bytes, (dense, stride));
                }
                #[cfg(target_arch = "x86_64")]
                Adder::Sixes(token, tables) => {
                    let paths = (*token, Simd::Avx512(*token));
                    tables.add(paths, chunk, words, stride / STRIDE, bytes, (dense, stride));
                }
            }
            self.add_exceptions(from, words, (exceptional, stride));
            if stop.requested() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }
}

dispatch! {
    /// Adds the value where a bit of the word is set.
    fn add_flipped(value: i64, words: &[u64], bit: usize, out: &mut [i64]) = add_flipped_inline;
}

#[inline(always)]
fn add_flipped_inline(value: i64, words: &[u64], bit: usize, out: &mut [i64]) {
    for (out, word) in out.iter_mut().zip(words) {
        // All bits or none: vectors of 64-bit numbers are slow to multiply.
        *out += value & -((word >> bit & 1) as i64);
    }
}
