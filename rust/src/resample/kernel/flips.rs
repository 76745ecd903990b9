//! The kernel of shuffles: the flips of replicates, and the sums over the flipped units.

use std::ops::Range;

use super::tiles::Tiles;
use super::{Kernel, lanes};
use crate::error::{Error, Result};
use crate::pool::Stop;
use crate::resample::Plan;
use crate::resample::design::Design;
use crate::stream::{Purpose, Stream, words_by_replicate};

/// Words of flips looked at together: the words of a block of replicates stay in the second-level cache, and memory does
/// not grow with the number of units.
const CHUNK: usize = lanes::WORDS;

/// The flips of replicates, and what is added for them.
pub(in crate::resample) struct Flips<'a> {
    design: &'a Design<'a>,
    plan: Plan<'a, u64>,
    words: usize,
    adder: Adder,
}

/// The two ways to add up; both give the same sums.
enum Adder {
    /// Columns side by side.
    Tiles(Tiles),
    /// Replicates side by side.
    Lanes(lanes::Tables),
}

/// How to add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::resample) enum Path {
    Tiles,
    Lanes,
}

impl Path {
    /// The fastest one here.
    pub fn best() -> Self {
        if lanes::available() { Path::Lanes } else { Path::Tiles }
    }
}

impl<'a> Flips<'a> {
    pub fn new(design: &'a Design<'a>, plan: Plan<'a, u64>, n: usize, path: Path, stop: &Stop<'_>) -> Result<Self> {
        let words = design.units().div_ceil(64);
        if let Plan::Given(given) = plan
            && Some(given.len()) != n.checked_mul(words)
        {
            let expected = n.saturating_mul(words);
            return Err(Error::LengthMismatch { what: "words of flips".into(), expected, got: given.len() });
        }
        let adder = match path {
            Path::Tiles => Adder::Tiles(Tiles::new(&design.cells, &design.columns, stop)?),
            Path::Lanes => Adder::Lanes(lanes::Tables::new(&design.cells, &design.columns, stop)?),
        };
        Ok(Flips { design, plan, words, adder })
    }

    /// Writes the flips of the words `from`… word by word, `stride` apart: all replicates' first, then all replicates'
    /// second …
    fn fill(&self, replicates: Range<usize>, from: usize, (out, stride): (&mut [u64], usize)) {
        match self.plan {
            Plan::Seeded { seed, first } => {
                let first = Stream::new(seed, Purpose::Shuffle, first.wrapping_add(replicates.start as u64));
                words_by_replicate(first, stride, (from / 2) as u32, out);
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
                for (out, word) in out.iter_mut().zip(words) {
                    *out += value * (word >> (unit % 64) & 1) as i64;
                }
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
        let mut codes = Vec::new();
        let mut words = vec![0; CHUNK.min(self.words) * stride];
        for (chunk, from) in (0..self.words).step_by(CHUNK).enumerate() {
            let words = &mut words[..CHUNK.min(self.words - from) * stride];
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
                Adder::Lanes(tables) => tables.add(chunk, words, stride / lanes::LANES, &mut codes, (dense, stride)),
            }
            self.add_exceptions(from, words, (exceptional, stride));
            if stop.requested() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }
}
