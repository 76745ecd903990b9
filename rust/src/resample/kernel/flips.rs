//! The kernel of shuffles: the flips of replicates, and the sums over the flipped units.

use std::ops::Range;

use super::Kernel;
use super::tiles::Tiles;
#[cfg(target_arch = "x86_64")]
use super::{STRIDE, lanes::Tables};
use crate::error::{Error, Result};
use crate::pool::Stop;
use crate::resample::Plan;
use crate::resample::design::Design;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Simd, dispatch};
use crate::stream::{Purpose, Stream, words_by_replicate};

/// The flips of replicates, and what is added for them.
pub(in crate::resample) struct Flips<'a> {
    design: &'a Design<'a>,
    plan: Plan<'a, u64>,
    words: usize,
    adder: Adder,
    simd: Simd,
}

/// The ways to add up; all give the same sums.
enum Adder {
    /// Columns side by side.
    Tiles(Tiles),
    /// Replicates side by side.
    #[cfg(target_arch = "x86_64")]
    Fours(Avx2, Tables<4>),
    #[cfg(target_arch = "x86_64")]
    Sixes(Avx512, Tables<6>),
}

impl Adder {
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
    pub fn new(design: &'a Design<'a>, plan: Plan<'a, u64>, n: usize, simd: Simd, stop: &Stop<'_>) -> Result<Self> {
        let words = design.units().div_ceil(64);
        if let Plan::Given(given) = plan
            && Some(given.len()) != n.checked_mul(words)
        {
            let expected = n.saturating_mul(words);
            return Err(Error::LengthMismatch { what: "words of flips".into(), expected, got: given.len() });
        }
        let (cells, columns) = (&design.cells, &design.columns);
        let adder = match simd {
            Simd::Portable => Adder::Tiles(Tiles::new(cells, columns, stop)?),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2(token) => Adder::Fours(token, Tables::new(cells, columns, stop)?),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512(token) => Adder::Sixes(token, Tables::new(cells, columns, stop)?),
        };
        Ok(Flips { design, plan, words, adder, simd })
    }

    /// Writes the flips of the words `from`… word by word, `stride` apart: all replicates' first, then all replicates'
    /// second …
    fn fill(&self, replicates: Range<usize>, from: usize, (out, stride): (&mut [u64], usize)) {
        match self.plan {
            Plan::Seeded { seed, first } => {
                let first = Stream::new(seed, Purpose::Shuffle, first.wrapping_add(replicates.start as u64));
                words_by_replicate(self.simd, first, stride, (from / 2) as u32, out);
            }
            Plan::Given(given) => {
                for (words, i) in
                    given[replicates.start * self.words..].chunks_exact(self.words).zip(0..replicates.len())
                {
                    out[i..].iter_mut().step_by(stride).zip(&words[from..]).for_each(|(out, word)| *out = *word);
                }
            }
        }
    }

    /// Adds what the units of some words have on top of their cells' rules.
    fn add_exceptions(&self, from: usize, words: &[u64], (out, stride): (&mut [i64], usize)) {
        let units = 64 * from..64 * (from + words.len() / stride);
        for (exceptions, out) in self.design.columns.exceptions.iter().zip(out.chunks_exact_mut(stride)) {
            let start = exceptions.partition_point(|(unit, _)| *unit < units.start);
            for (unit, value) in exceptions[start..].iter().take_while(|(unit, _)| *unit < units.end) {
                let words = &words[(unit / 64 - from) * stride..][..stride];
                add_flipped(self.simd, *value, words, unit % 64, out);
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
        (self.words * (2 + 3 * self.design.columns.dense.len())) as u64
    }

    fn sums(&self, range: Range<usize>, stop: &Stop<'_>, (out, stride): (&mut [i64], usize)) -> Result<()> {
        #[cfg(target_arch = "x86_64")]
        let mut codes = Vec::new();
        let at_once = self.adder.chunk();
        let mut words = vec![0; at_once.min(self.words) * stride];
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
        for (chunk, from) in (0..self.words).step_by(at_once).enumerate() {
            let words = &mut words[..at_once.min(self.words - from) * stride];
            self.fill(range.clone(), from, (words, stride));
            let (dense, exceptional) = out.split_at_mut(self.design.columns.dense.len() * stride);
            match &self.adder {
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
                    tables.add((*token, self.simd), chunk, words, stride / STRIDE, &mut codes, (dense, stride));
                }
                #[cfg(target_arch = "x86_64")]
                Adder::Sixes(token, tables) => {
                    tables.add((*token, self.simd), chunk, words, stride / STRIDE, &mut codes, (dense, stride));
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
