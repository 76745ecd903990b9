//! The bootstrap: draw units with replacement, the same draw for every system and metric.

use std::ops::Range;

use super::multinomial::{CODES, Excess, LARGEST_CODED, Law, TRIPLE, TRIPLES_PER_BLOCK, UNDECIDED};
use super::tiles::{AnyTile, Group, LANES, Lane, Row, RunningSums, Tile, add};
use super::{Design, Kernel, Plan, Scored, Sums, all_sums, replicates, zeros};

pub use super::multinomial::draw_weights;
use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
use crate::stats::SuffStats;
use crate::stream::{Purpose, Stream};

/// The score of every system on every draw: metric by metric, system by system, replicate by replicate.
///
/// # Errors
/// [`Error::LengthMismatch`] if the metrics' counts differ in segments or a given plan is too short,
/// [`Error::OutOfRange`] if a given index is, and what the pool returns.
pub fn scores(scored: &[Scored<'_>], (plan, n): (Plan<'_, u32>, usize), run: &mut Run<'_>) -> Result<Vec<f64>> {
    let all: Vec<_> = scored.iter().map(|s| s.stats).collect();
    let design = design(&all)?;
    let kernel = Draws::new(&design, plan, n)?;
    let series: usize = all.iter().map(SuffStats::systems).sum();
    let mut out: Vec<f64> = zeros(&[series, n])?;
    let finish = |sums: &Sums<'_>| {
        let mut block = vec![0.0; series * sums.replicates];
        let mut series = block.chunks_exact_mut(sums.replicates);
        for (of, Scored { metric, stats }) in scored.iter().enumerate() {
            let (systems, columns) = (stats.systems(), stats.columns());
            let mut totals = vec![0; systems * columns];
            let mut scores = vec![0.0; systems];
            let mut series: Vec<_> = series.by_ref().take(systems).collect();
            for replicate in 0..sums.replicates {
                sums.copy(of, replicate, &mut totals);
                metric.scores(&totals, &mut scores);
                series.iter_mut().zip(&scores).for_each(|(series, score)| series[replicate] = *score);
            }
        }
        block
    };
    replicates((&design, &kernel), n, 40 * series as u64, run, finish, |range, block| {
        for (out, block) in out.chunks_exact_mut(n).zip(block.chunks_exact(range.len())) {
            out[range.clone()].copy_from_slice(block);
        }
    })?;
    Ok(out)
}

/// The summed counts of every draw: replicate by replicate, then k × K for each of `all`.
///
/// # Errors
/// As [`scores`].
pub fn sums(all: &[SuffStats<'_>], (plan, n): (Plan<'_, u32>, usize), run: &mut Run<'_>) -> Result<Vec<i64>> {
    let design = design(all)?;
    all_sums((&design, &Draws::new(&design, plan, n)?), n, run)
}

fn design(all: &[SuffStats<'_>]) -> Result<Design> {
    let group = Group { rows: TRIPLES * TRIPLE, times: LARGEST_CODED.into() };
    let design =
        Design::new(all, group, true, |stats, system, unit, out| out.copy_from_slice(stats.row(system, unit)))?;
    match u32::try_from(design.units) {
        Ok(_) => Ok(design),
        Err(_) => Err(Error::OutOfRange { what: "unit".into(), index: design.units, len: u32::MAX as usize }),
    }
}

/// Triples of units that are added at a time, each by a table of its own: the running sums are loaded half as often.
const TRIPLES: usize = 2;

/// Triples that are drawn before any row is added. The codes of a block of replicates then fit the second-level cache,
/// and memory does not grow with the number of units.
const CHUNK: usize = 1024;

/// The units drawn by replicates, and the sums over them.
struct Draws<'a> {
    design: &'a Design,
    plan: Plan<'a, u32>,
    law: Law,
}

impl<'a> Draws<'a> {
    fn new(design: &'a Design, plan: Plan<'a, u32>, n: usize) -> Result<Self> {
        let units = design.units;
        if let Plan::Given(given) = plan {
            if given.len() != n * units {
                return Err(Error::LengthMismatch { what: "indices".into(), expected: n * units, got: given.len() });
            }
            if let Some(&index) = given.iter().find(|&&i| i as usize >= units) {
                return Err(Error::OutOfRange { what: "unit".into(), index: index as usize, len: units });
            }
        }
        Ok(Draws { design, plan, law: Law::new(units) })
    }

    fn add_seeded(
        &self,
        (seed, first): (u64, u64),
        range: Range<usize>,
        stop: &Stop<'_>,
        out: &mut [i64],
    ) -> Option<()> {
        let Design { tiles, units, ones, .. } = self.design;
        let (triples, width) = (self.law.triples(), tiles.width());
        let replicates: Vec<_> = range.map(|r| first.wrapping_add(r as u64)).collect();
        let mut codes = vec![0; CHUNK.min(triples) * replicates.len()];
        for from in (0..triples).step_by(CHUNK) {
            let count = CHUNK.min(triples - from);
            let codes = &mut codes[..count * replicates.len()];
            draw_codes(&self.law, (seed, &replicates), from, codes, &mut |i, more| {
                let out = &mut out[i * width..(i + 1) * width];
                (0..more.times).for_each(|_| self.add_rows(&[more.unit as u32], 1, out));
            });
            for (t, tile) in tiles.tiles.iter().enumerate() {
                if stop.requested() {
                    return None;
                }
                let lanes = (t * LANES, width);
                match tile {
                    AnyTile::Narrow(tile) => add_coded(tile, from, codes, replicates.len(), lanes, out),
                    AnyTile::Middle(tile) => add_coded(tile, from, codes, replicates.len(), lanes, out),
                    AnyTile::Wide(tile) => add_coded(tile, from, codes, replicates.len(), lanes, out),
                }
            }
        }
        let ones = ones.expect("the rows are counted");
        for (&replicate, out) in replicates.iter().zip(out.chunks_exact_mut(width)) {
            let (more, fewer) = self.law.settle(seed, replicate, out[ones] as usize);
            self.add_rows(&more, 1, out);
            self.add_rows(&fewer, -1, out);
            debug_assert_eq!(*units as i64, out[ones]);
        }
        Some(())
    }

    fn add_rows(&self, indices: &[u32], sign: i64, out: &mut [i64]) {
        for (tile, out) in self.design.tiles.tiles.iter().zip(out.chunks_exact_mut(LANES)) {
            match tile {
                AnyTile::Narrow(tile) => add_drawn(tile, indices, sign, out),
                AnyTile::Middle(tile) => add_drawn(tile, indices, sign, out),
                AnyTile::Wide(tile) => add_drawn(tile, indices, sign, out),
            }
        }
    }
}

impl Kernel for Draws<'_> {
    /// As for shuffles: two tables cost 432 additions per six units, whatever the block.
    const BLOCK: usize = 512;

    fn cost(&self) -> u64 {
        (self.law.triples() * (2 * self.design.tiles.tiles.len() + 2)) as u64
    }

    fn sums(&self, range: Range<usize>, stop: &Stop<'_>, out: &mut [i64]) -> Option<()> {
        match self.plan {
            Plan::Seeded { seed, first } => self.add_seeded((seed, first), range, stop, out),
            Plan::Given(given) => {
                let units = self.design.units;
                for (replicate, out) in range.zip(out.chunks_exact_mut(self.design.tiles.width())) {
                    if stop.requested() {
                        return None;
                    }
                    self.add_rows(&given[replicate * units..(replicate + 1) * units], 1, out);
                }
                Some(())
            }
        }
    }
}

/// Draws the triples `from`… of each replicate, triple by triple: all replicates' first, then all replicates' second …
/// What exceeds a code goes to `excess`, with the replicate's place in the block.
#[multiversion::multiversion(targets("x86_64+avx2+bmi2"))]
fn draw_codes(
    law: &Law,
    (seed, replicates): (u64, &[u64]),
    from: usize,
    codes: &mut [u8],
    excess: &mut dyn FnMut(usize, Excess),
) {
    let stride = replicates.len();
    let streams: Vec<_> = replicates.iter().map(|&r| Stream::new(seed, Purpose::Draw, r)).collect();
    for (b, codes) in codes.chunks_mut(TRIPLES_PER_BLOCK * stride).enumerate() {
        let first = from + TRIPLES_PER_BLOCK * b;
        let mut rows: Vec<_> = codes.chunks_exact_mut(stride).collect();
        for (i, stream) in streams.iter().enumerate() {
            let mut decided = law.decide(stream.block((first / TRIPLES_PER_BLOCK) as u64));
            // All sixteen at once: nearly always none is undecided.
            if decided.iter().fold(0, |most, &code| code.max(most)) == UNDECIDED {
                for (t, code) in decided.iter_mut().enumerate().filter(|(_, code)| **code == UNDECIDED) {
                    *code = law.decide_rest(seed, replicates[i], first + t, |more| excess(i, more));
                }
            }
            for (row, &code) in rows.iter_mut().zip(&decided) {
                row[i] = code;
            }
        }
    }
}

/// Adds a tile's rows, as often as the codes say, to each replicate's sums.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn add_coded<T: Lane>(
    tile: &Tile<T>,
    from: usize,
    codes: &[u8],
    replicates: usize,
    lanes: (usize, usize),
    out: &mut [i64],
) {
    // As long as a byte can count, so that no lookup needs a check.
    let mut tables = [[[T::default(); LANES]; 256]; TRIPLES];
    let rows = tile.rows[from * TRIPLE..].chunks_exact(TRIPLES * TRIPLE);
    let bounds = &tile.bounds[from / TRIPLES..];
    let mut sums = RunningSums::<T>::new(replicates, lanes);
    for ((rows, &bound), codes) in rows.zip(bounds).zip(codes.chunks(TRIPLES * replicates)) {
        sums.make_room(bound, out);
        for (table, rows) in tables.iter_mut().zip(rows.chunks_exact(TRIPLE)) {
            weighted_sums(rows, &mut table[..CODES]);
        }
        let [first_table, second_table] = &tables;
        let (first, second) = codes.split_at(replicates);
        if second.is_empty() {
            for (sums, &code) in sums.rows.iter_mut().zip(first) {
                *sums = add(sums, &first_table[usize::from(code)]);
            }
        } else {
            for ((sums, &c), &d) in sums.rows.iter_mut().zip(first).zip(second) {
                *sums = add(sums, &add(&first_table[usize::from(c)], &second_table[usize::from(d)]));
            }
        }
    }
    sums.flush(out);
}

/// `table[c]` becomes the sum of the three rows, each as often as code c says.
#[inline(always)]
fn weighted_sums<T: Lane>(rows: &[Row<T>], table: &mut [Row<T>]) {
    table[0] = [T::default(); LANES];
    let mut filled = 1;
    for row in rows.iter().rev() {
        // With weights below for the later rows, add this row 1, 2, … times.
        for next in filled..filled * (usize::from(LARGEST_CODED) + 1) {
            table[next] = add(&table[next - filled], row);
        }
        filled *= usize::from(LARGEST_CODED) + 1;
    }
}

/// Adds a tile's rows at the indices to the sums, or subtracts them, widening before a lane could overflow.
fn add_drawn<T: Lane>(tile: &Tile<T>, indices: &[u32], sign: i64, out: &mut [i64]) {
    let fitting = usize::try_from(T::LARGEST / tile.largest).unwrap_or(usize::MAX);
    for indices in indices.chunks(fitting) {
        for (out, sum) in out.iter_mut().zip(sum_rows(&tile.rows, indices)) {
            *out += sign * sum.into();
        }
    }
}

/// Not inlined: seen together with the widening, the compiler cuts the sixteen lanes into pairs (three times slower).
#[inline(never)]
fn sum_rows<T: Lane>(rows: &[Row<T>], indices: &[u32]) -> Row<T> {
    indices.iter().fold([T::default(); LANES], |sum, &index| add(&sum, &rows[index as usize]))
}

#[cfg(test)]
mod tests;
