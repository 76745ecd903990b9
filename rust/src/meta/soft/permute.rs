//! Soft pairwise accuracy of two metrics after swaps of their scores.

use std::ops::Range;

use super::super::{Unit, check_pairs};
use super::{Buffers, Signs, check_segments, count, pairs, pvalue};
use crate::error::{Error, Result, check_length};
use crate::memory::{resize, zeros};
use crate::pool::{self, Blocks, Run, Stop};
use crate::resample::length;
use crate::simd::{Simd, dispatch};
use crate::stream::{Purpose, Stream};

/// The largest sum of scores in fixed point, and the most bits of a fraction.
const LARGEST: f64 = (1_u64 << 60) as f64;
const MOST_BITS: i32 = 44;

/// The scores of metrics for all systems on some segments, without gaps, in fixed point.
pub struct Scores {
    metrics: usize,
    systems: usize,
    /// A row of metrics × systems for every segment.
    rows: Vec<i64>,
    /// The segments' numbers in the test set, and how many it has: they choose the random bits.
    segments: Vec<u32>,
    all: usize,
    /// Sums closer than this are equal: what rounding can do to them.
    tolerance: i64,
}

impl Scores {
    /// Takes scores in the order metric, system, segment. Only these `segments` are used.
    pub fn new(scores: &[f64], [metrics, systems, all]: [usize; 3], segments: &[u32]) -> Result<Self> {
        check_length("scores", metrics.saturating_mul(systems).saturating_mul(all), scores.len())?;
        check_segments(segments, all)?;
        let cells = metrics * systems;
        let score = |cell: usize, segment: u32| scores[cell * all + segment as usize];
        let mut largest: f64 = 1.0;
        for cell in 0..cells {
            for &segment in segments {
                let score = score(cell, segment);
                if !score.is_finite() {
                    return Err(Error::invalid("scores", "finite", score));
                }
                largest = largest.max(score.abs());
            }
        }
        let bits = MOST_BITS.min((LARGEST / (largest * segments.len().max(1) as f64)).log2().floor() as i32);
        let scale = 2.0_f64.powi(bits);
        let mut rows: Vec<i64> = zeros(&[segments.len(), cells])?;
        for (row, &segment) in rows.chunks_exact_mut(cells.max(1)).zip(segments) {
            row.iter_mut().enumerate().for_each(|(cell, out)| *out = (score(cell, segment) * scale).round() as i64);
        }
        let tolerance = 2 * segments.len() as i64;
        Ok(Scores { metrics, systems, rows, segments: segments.to_vec(), all, tolerance })
    }

    /// The p-values of all pairs of systems under each metric.
    fn pvalues(&self, sums: &[i64], permutations: usize) -> Vec<f64> {
        let of = |system: usize| &sums[system * permutations..][..permutations];
        // Swapping moves F_x − F_y from x to y, so the difference is as large as before if that is at most 0.
        let reached = |(x, y)| count(Simd::best(), of(x), of(y), self.tolerance);
        pairs(self.systems).map(|pair| pvalue(reached(pair), permutations)).collect()
    }

    /// Sets the scores that replicate `replicate` does not swap to 0.
    fn swapped(
        &self,
        (seed, replicate): (u64, u64),
        unit: Unit,
        bits: &mut Vec<u64>,
        out: &mut Vec<i64>,
    ) -> Result<()> {
        let wanted = unit.bits([self.systems, self.all]);
        resize(bits, wanted.div_ceil(64))?;
        Stream::new(seed, Purpose::Shuffle, replicate).fill(0, &mut bits[..wanted.div_ceil(64)]);
        out.clear();
        out.extend_from_slice(&self.rows);
        let rows = out.chunks_exact_mut(self.systems * self.metrics).zip(&self.segments);
        for (row, &segment) in rows {
            for system in 0..self.systems {
                let bit = unit.bit(system * self.all + segment as usize, self.all);
                if bits[bit / 64] >> (bit % 64) & 1 == 0 {
                    row[system..].iter_mut().step_by(self.systems).for_each(|score| *score = 0);
                }
            }
        }
        Ok(())
    }
}

dispatch! {
    /// The sums of a metric after swaps with another one: its own, without those swapped away, with those swapped in.
    fn exchange(own: &[i64], away: &[i64], into: &[i64], out: &mut [i64]) {
        for ((out, own), (away, into)) in out.iter_mut().zip(own).zip(away.iter().zip(into)) {
            *out = own - away + into;
        }
    }
}

/// 1 − the mean distance of p-values.
fn accuracy(own: &[f64], people: &[f64]) -> f64 {
    1.0 - own.iter().zip(people).map(|(p, q)| (p - q).abs()).sum::<f64>() / people.len() as f64
}

/// The soft pairwise accuracies of all metrics.
pub fn observed(scores: &Scores, people: &[f64], signs: &Signs, run: &mut Run<'_>) -> Result<Vec<f64>> {
    let own = own_sums(scores, people, signs, run)?;
    let length = scores.systems * signs.permutations;
    Ok(own.chunks_exact(length).map(|sums| accuracy(&scores.pvalues(sums, signs.permutations), people)).collect())
}

fn own_sums(scores: &Scores, people: &[f64], signs: &Signs, run: &mut Run<'_>) -> Result<Vec<i64>> {
    check_length("p-values of people", pairs(scores.systems).count(), people.len())?;
    if people.is_empty() || scores.metrics == 0 || scores.segments.is_empty() {
        return Err(Error::Empty { what: "metrics, segments or pairs of systems".into() });
    }
    let mut own = Vec::new();
    run.without_progress(|run| {
        run.serial(|stop| {
            let rows = (scores.rows.as_slice(), scores.metrics * scores.systems);
            signs.sums(rows, &mut Buffers::default(), &mut own, stop)
        })
    })?;
    own.truncate(scores.metrics * scores.systems * signs.permutations);
    Ok(own)
}

/// The differences between the soft pairwise accuracies of pairs of metrics after swaps, in the order pair, replicate.
/// All metrics have the same swaps, and all replicates the same inner permutations. `people` are the p-values of all pairs
/// of systems.
pub fn permuted(
    scores: &Scores,
    people: &[f64],
    compared: &[[usize; 2]],
    (signs, unit): (&Signs, Unit),
    (seed, replicates): (u64, Range<u64>),
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    let n = length(&replicates);
    check_pairs(compared, scores.metrics)?;
    let own = own_sums(scores, people, signs, run)?;
    let mut out: Vec<f64> = zeros(&[compared.len(), n])?;
    let cells = scores.systems * scores.metrics;
    let cost = (signs.permutations + 256) * cells * scores.segments.len() / 8
        + signs.permutations * scores.systems * scores.systems * compared.len();
    let blocks = Blocks { items: n, size: 1, cost: cost as u64, lead: 0 };
    pool::try_run(
        blocks,
        run,
        Scratch::default,
        |scratch, at, stop| {
            let replicate = (seed, replicates.start + at.start as u64);
            differences(scores, (people, &own), compared, (signs, unit), replicate, scratch, stop)
        },
        |at, found, _| {
            found.iter().enumerate().for_each(|(pair, value)| out[pair * n + at.start] = *value);
            Ok(())
        },
    )?;
    Ok(out)
}

/// Memory that a thread reuses.
#[derive(Default)]
struct Scratch {
    buffers: Buffers,
    bits: Vec<u64>,
    rows: Vec<i64>,
    sums: Vec<i64>,
    exchanged: Vec<i64>,
}

fn differences(
    scores: &Scores,
    (people, own): (&[f64], &[i64]),
    compared: &[[usize; 2]],
    (signs, unit): (&Signs, Unit),
    replicate: (u64, u64),
    scratch: &mut Scratch,
    stop: &Stop<'_>,
) -> Result<Vec<f64>> {
    let Scratch { buffers, bits, rows, sums, exchanged } = scratch;
    scores.swapped(replicate, unit, bits, rows)?;
    signs.sums((rows, scores.systems * scores.metrics), buffers, sums, stop)?;
    let length = scores.systems * signs.permutations;
    resize(exchanged, length)?;
    let simd = Simd::best();
    let of = |sums: &[i64], metric: usize| metric * length..(metric * length + length).min(sums.len());
    compared
        .iter()
        .map(|&[a, b]| {
            stop.charge(length * scores.systems)?;
            let mut value = |a: usize, b: usize| {
                let (away, into) = (&sums[of(sums, a)], &sums[of(sums, b)]);
                exchange(simd, &own[of(own, a)], away, into, &mut exchanged[..length]);
                accuracy(&scores.pvalues(&exchanged[..length], signs.permutations), people)
            };
            Ok(value(a, b) - value(b, a))
        })
        .collect()
}
