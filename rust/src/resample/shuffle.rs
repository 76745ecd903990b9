//! Approximate randomization: flip units between systems, all pairs and metrics on the same flips.
//!
//! With F_x the sum of system x's rows over the flipped units, swapping x and y there gives the totals
//! T_x − F_x + F_y and T_y − F_y + F_x. So one sum per system serves every pair, and since only differences of the F
//! enter, rows are taken relative to the first system: k − 1 sums, of small numbers.

use std::ops::Range;

use super::tiles::{AnyTile, Group, LANES, Lane, Row, RunningSums, Tile, add};
use super::{Design, Kernel, Plan, Scored, Sums, all_sums, replicates, zeros};
use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
use crate::stats::SuffStats;
use crate::stream::{Purpose, Stream};

/// Which replicates count as at least as extreme as what was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// |t| ≥ threshold.
    TwoSided,
    /// t ≥ threshold.
    Greater,
    /// t ≤ threshold.
    Less,
}

impl Alternative {
    #[inline(always)]
    fn reached(self, statistic: f64, threshold: f64) -> bool {
        match self {
            Alternative::TwoSided => statistic.abs() >= threshold,
            Alternative::Greater => statistic >= threshold,
            Alternative::Less => statistic <= threshold,
        }
    }
}

/// A pair of systems (x, y); its statistic is score(x) − score(y).
pub type Pair = (usize, usize);

/// How many shuffles reach each threshold: metric by metric, pair by pair.
///
/// # Errors
/// [`Error::OutOfRange`] for a pair of systems that are not there, [`Error::LengthMismatch`] if `thresholds` does not
/// hold a number for every metric and pair or a given plan is too short, and what the pool returns.
pub fn tally(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (alternative, thresholds): (Alternative, &[f64]),
    (plan, n): (Plan<'_, u64>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<u64>> {
    let expected = scored.len() * pairs.len();
    if thresholds.len() != expected {
        return Err(Error::LengthMismatch { what: "thresholds".into(), expected, got: thresholds.len() });
    }
    let mut counts = vec![0; expected];
    for_each_block(
        scored,
        pairs,
        (plan, n),
        run,
        |pairs, sums| {
            let mut counts = vec![0; expected];
            pairs.statistics(sums, |series, _, statistics| {
                let reached = |t: &&f64| alternative.reached(**t, thresholds[series]);
                counts[series] += statistics.iter().filter(reached).count() as u64;
            });
            counts
        },
        |_, block: Vec<u64>| counts.iter_mut().zip(block).for_each(|(count, more)| *count += more),
    )?;
    Ok(counts)
}

/// The statistic of every shuffle: metric by metric, pair by pair, replicate by replicate.
///
/// # Errors
/// As [`tally`].
pub fn statistics(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (plan, n): (Plan<'_, u64>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    let mut out: Vec<f64> = zeros(&[scored.len(), pairs.len(), n])?;
    for_each_block(
        scored,
        pairs,
        (plan, n),
        run,
        |pairs, sums| {
            let mut block = vec![0.0; pairs.series() * sums.replicates];
            pairs.statistics(sums, |series, first, statistics| {
                let start = series * sums.replicates + first;
                block[start..start + statistics.len()].copy_from_slice(statistics);
            });
            block
        },
        |range, block: Vec<f64>| {
            for (out, block) in out.chunks_exact_mut(n).zip(block.chunks_exact(range.len())) {
                out[range.clone()].copy_from_slice(block);
            }
        },
    )?;
    Ok(out)
}

/// The sums F_x − F_first of every shuffle: replicate by replicate, then k × K for each of `all`.
///
/// # Errors
/// As [`tally`].
pub fn sums(all: &[SuffStats<'_>], (plan, n): (Plan<'_, u64>, usize), run: &mut Run<'_>) -> Result<Vec<i64>> {
    let design = design(all)?;
    all_sums((&design, &Flips::new(&design, plan, n)?), n, run)
}

fn design(all: &[SuffStats<'_>]) -> Result<Design> {
    let group = Group { rows: GROUP, times: 1 };
    Design::new(all, group, false, |stats, x, unit, out| {
        let rows = stats.row(x, unit).iter().zip(stats.row(0, unit));
        out.iter_mut().zip(rows).for_each(|(out, (count, of_first))| *out = count - of_first);
    })
}

fn for_each_block<T: Send>(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (plan, n): (Plan<'_, u64>, usize),
    run: &mut Run<'_>,
    finish: impl Fn(&Pairs<'_>, &Sums<'_>) -> T + Sync,
    sink: impl FnMut(Range<usize>, T),
) -> Result<()> {
    let all: Vec<_> = scored.iter().map(|s| s.stats).collect();
    for stats in &all {
        let len = stats.systems();
        if let Some(index) = pairs.iter().flat_map(|&(x, y)| [x, y]).find(|&x| x >= len) {
            return Err(Error::OutOfRange { what: "system".into(), index, len });
        }
    }
    let design = design(&all)?;
    let kernel = Flips::new(&design, plan, n)?;
    let pairs = Pairs { scored, pairs, totals: all.iter().map(SuffStats::totals).collect() };
    let cost = 40 * pairs.series() as u64;
    replicates((&design, &kernel), n, cost, run, |sums| finish(&pairs, sums), sink)
}

/// Turns sums into the statistics of pairs.
struct Pairs<'a> {
    scored: &'a [Scored<'a>],
    pairs: &'a [Pair],
    /// For each metric, k × K.
    totals: Vec<Vec<i64>>,
}

/// Replicates scored at a time: their totals stay in the first-level cache.
const BATCH: usize = 32;

impl Pairs<'_> {
    fn series(&self) -> usize {
        self.scored.len() * self.pairs.len()
    }

    /// Calls `each` with a series (metric × pair), a replicate of the block, and the statistics from there on.
    fn statistics(&self, sums: &Sums<'_>, mut each: impl FnMut(usize, usize, &[f64])) {
        let mut scores = [[0.0; BATCH]; 2];
        for (of, (scored, totals)) in self.scored.iter().zip(&self.totals).enumerate() {
            let (columns, cells) = (scored.stats.columns(), totals.len());
            let mut flipped = vec![0; BATCH * cells];
            let mut shuffled = [vec![0; BATCH * columns], vec![0; BATCH * columns]];
            for first in (0..sums.replicates).step_by(BATCH) {
                let batch = BATCH.min(sums.replicates - first);
                for (i, flipped) in flipped.chunks_exact_mut(cells).take(batch).enumerate() {
                    sums.copy(of, first + i, flipped);
                }
                for (p, &(x, y)) in self.pairs.iter().enumerate() {
                    let [to_x, to_y] = &mut shuffled;
                    for (i, flipped) in flipped.chunks_exact(cells).take(batch).enumerate() {
                        let of = |totals: &'_ [i64], system: usize, column| totals[system * columns + column];
                        for c in 0..columns {
                            let moved = of(flipped, x, c) - of(flipped, y, c);
                            to_x[i * columns + c] = of(totals, x, c) - moved;
                            to_y[i * columns + c] = of(totals, y, c) + moved;
                        }
                    }
                    for (scores, totals) in scores.iter_mut().zip(&shuffled) {
                        scored.metric.scores(&totals[..batch * columns], &mut scores[..batch]);
                    }
                    let [of_x, of_y] = &mut scores;
                    of_x.iter_mut().zip(of_y.iter()).for_each(|(x, y)| *x -= y);
                    each(of * self.pairs.len() + p, first, &of_x[..batch]);
                }
            }
        }
    }
}

/// Units that are added at a time, by two tables of eight.
const GROUP: usize = 16;

/// Words of flips looked at together: 4,096 units. The words of a block of replicates then fit the second-level
/// cache, and memory does not grow with the number of units.
const CHUNK: usize = 64;

/// The flips of replicates, and the sums over the flipped units.
struct Flips<'a> {
    design: &'a Design,
    plan: Plan<'a, u64>,
    /// Words of flips per replicate.
    words: usize,
}

impl<'a> Flips<'a> {
    fn new(design: &'a Design, plan: Plan<'a, u64>, n: usize) -> Result<Self> {
        let words = design.units.div_ceil(64);
        if let Plan::Given(given) = plan
            && given.len() != n * words
        {
            return Err(Error::LengthMismatch { what: "words of flips".into(), expected: n * words, got: given.len() });
        }
        Ok(Flips { design, plan, words })
    }

    /// Writes the flips of the words `from`… word by word: all replicates' first, then all replicates' second …
    fn fill(&self, replicates: Range<usize>, from: usize, out: &mut [u64]) {
        let stride = replicates.len();
        match self.plan {
            Plan::Seeded { seed, first } => {
                let stream = |r| Stream::new(seed, Purpose::Shuffle, first.wrapping_add(r as u64));
                draw_words(&replicates.map(stream).collect::<Vec<_>>(), from, out);
            }
            Plan::Given(given) => {
                for (words, i) in given[replicates.start * self.words..].chunks_exact(self.words).zip(0..stride) {
                    out[i..].iter_mut().step_by(stride).zip(&words[from..]).for_each(|(out, word)| *out = *word);
                }
            }
        }
    }
}

/// Writes the words `from`… of each stream, word by word.
#[multiversion::multiversion(targets("x86_64+avx2+bmi2"))]
fn draw_words(streams: &[Stream], from: usize, out: &mut [u64]) {
    for (block, out) in (from as u64 / 4..).zip(out.chunks_mut(4 * streams.len())) {
        let mut rows: Vec<_> = out.chunks_exact_mut(streams.len()).collect();
        for (i, stream) in streams.iter().enumerate() {
            for (row, word) in rows.iter_mut().zip(stream.block(block)) {
                row[i] = word;
            }
        }
    }
}

impl Kernel for Flips<'_> {
    /// The tables of partial sums cost 512 additions per sixteen units, whatever the block; a block's running sums
    /// and two tables fill the first-level cache.
    const BLOCK: usize = 512;

    fn cost(&self) -> u64 {
        let groups = self.design.units.div_ceil(GROUP);
        (groups * (2 * self.design.tiles.tiles.len() + 2)) as u64
    }

    fn sums(&self, range: Range<usize>, stop: &Stop<'_>, out: &mut [i64]) -> Option<()> {
        let replicates = range.len();
        let mut words = vec![0; CHUNK.min(self.words) * replicates];
        for from in (0..self.words).step_by(CHUNK) {
            let count = CHUNK.min(self.words - from);
            self.fill(range.clone(), from, &mut words[..count * replicates]);
            let units = from * 64..(from + count) * 64;
            for (t, tile) in self.design.tiles.tiles.iter().enumerate() {
                if stop.requested() {
                    return None;
                }
                let lanes = (t * LANES, self.design.tiles.width());
                match tile {
                    AnyTile::Narrow(tile) => add_flipped(tile, units.clone(), &words, replicates, lanes, out),
                    AnyTile::Middle(tile) => add_flipped(tile, units.clone(), &words, replicates, lanes, out),
                    AnyTile::Wide(tile) => add_flipped(tile, units.clone(), &words, replicates, lanes, out),
                }
            }
        }
        Some(())
    }
}

/// Adds a tile's flipped rows among `units` to each replicate's sums.
///
/// The sums of all subsets of eight rows stand in a table, so that a byte of flips costs one addition.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn add_flipped<T: Lane>(
    tile: &Tile<T>,
    units: Range<usize>,
    words: &[u64],
    replicates: usize,
    lanes: (usize, usize),
    out: &mut [i64],
) {
    let mut tables = [[T::default(); LANES]; 512];
    let mut sums = RunningSums::<T>::new(replicates, lanes);
    let groups = units.start / GROUP..units.end.min(tile.rows.len()) / GROUP;
    for (i, group) in groups.enumerate() {
        if tile.bounds[group] == 0 {
            continue;
        }
        sums.make_room(tile.bounds[group], out);
        let (low, high) = tile.rows[group * GROUP..(group + 1) * GROUP].split_at(8);
        let (low_table, high_table) = tables.split_at_mut(256);
        subset_sums(low, low_table);
        subset_sums(high, high_table);
        let low_table: &[Row<T>; 256] = (&*low_table).try_into().expect("256 entries");
        let high_table: &[Row<T>; 256] = (&*high_table).try_into().expect("256 entries");
        let words = &words[i / 4 * replicates..][..replicates];
        for (sums, word) in sums.rows.iter_mut().zip(words) {
            let flips = (word >> (i % 4 * 16)) as u16;
            *sums = add(sums, &add(&low_table[usize::from(flips as u8)], &high_table[usize::from(flips >> 8)]));
        }
    }
    sums.flush(out);
}

/// `table[b]` becomes the sum of the rows whose bits are set in b.
#[inline(always)]
fn subset_sums<T: Lane>(rows: &[Row<T>], table: &mut [Row<T>]) {
    table[0] = [T::default(); LANES];
    for (bit, row) in rows.iter().enumerate() {
        let (without, with) = table.split_at_mut(1 << bit);
        for (without, with) in without.iter().zip(with) {
            *with = add(without, row);
        }
    }
}

#[cfg(test)]
mod tests;
