//! Soft pairwise accuracy on segments, systems or both that are drawn with replacement.

use std::ops::Range;
use std::sync::Arc;

use super::super::Unit;
use super::{Buffers, Signs, check_segments, count, pairs, pvalue};
use crate::error::{Error, Result, check_length};
use crate::memory::{resize, room, zeros};
use crate::metric::{Formula, check_defined};
use crate::pool::{self, Blocks, Run, Stop};
use crate::resample::length;
use crate::simd::Simd;

/// The counts of all systems under a metric, or by people, and the formula that scores their sums.
pub struct Scored {
    formula: Arc<dyn Formula>,
    /// A row of systems × columns for every segment that is used.
    rows: Vec<i64>,
    systems: usize,
    columns: usize,
    /// Whether lower scores are better.
    lower: bool,
    /// Whether the score is the ratio of both columns, not defined where the second is 0.
    ratio: bool,
    /// For ratios whose second column is the same for all systems, as in means of scores without gaps: that column, which
    /// `rows` then lack. Swaps do not change it, so sums can be compared instead of scores.
    shared: Option<Vec<i64>>,
}

impl Scored {
    /// Takes counts in the order system, segment, column. Only these segments are used.
    pub fn new(
        formula: Arc<dyn Formula>,
        counts: &[i64],
        [systems, all]: [usize; 2],
        segments: &[u32],
        (lower, ratio): (bool, bool),
    ) -> Result<Self> {
        let columns = formula.columns().len();
        let expected = systems.saturating_mul(all).saturating_mul(columns);
        check_length(format_args!("counts of {}", formula.name()), expected, counts.len())?;
        check_segments(segments, all)?;
        let segments = segments.iter().map(|segment| *segment as usize);
        let second = |system: usize, segment: usize| counts[(system * all + segment) * columns + 1];
        let even =
            ratio && segments.clone().all(|segment| (1..systems).all(|s| second(s, segment) == second(0, segment)));
        let shared = (even && systems > 0).then(|| segments.clone().map(|segment| second(0, segment)).collect());
        let kept = if shared.is_some() { 1 } else { columns };
        let mut rows: Vec<i64> = zeros(&[segments.clone().count(), systems, kept])?;
        let taken = rows.chunks_exact_mut((systems * kept).max(1)).zip(segments);
        match kept {
            1 => taken.for_each(|(row, segment)| {
                let first = counts[segment * columns..].iter().step_by(all * columns);
                row.iter_mut().zip(first).for_each(|(own, count)| *own = *count);
            }),
            _ => taken.for_each(|(row, segment)| {
                for (system, row) in row.chunks_exact_mut(kept).enumerate() {
                    row.copy_from_slice(&counts[(system * all + segment) * columns..][..kept]);
                }
            }),
        }
        Ok(Scored { formula, rows, systems, columns: kept, lower, ratio, shared })
    }

    fn cells(&self) -> usize {
        self.systems * self.columns
    }

    /// Checks that there are counts of so many systems and segments.
    fn check(&self, [systems, segments]: [usize; 2]) -> Result<()> {
        check_length("systems", systems, self.systems)?;
        check_length("segments", segments * self.cells(), self.rows.len())
    }

    /// The p-values of all pairs on some segments, which may be repeated. None if a system has no score.
    fn pvalues(
        &self,
        segments: &[u32],
        signs: &Signs,
        scratch: &mut Scratch,
        stop: &Stop<'_>,
    ) -> Result<Option<Vec<f64>>> {
        let cells = self.cells();
        let Scratch { buffers, rows, sums, swapped } = scratch;
        rows.clear();
        room(rows, cells * segments.len())?;
        segments.iter().for_each(|&segment| rows.extend_from_slice(&self.rows[segment as usize * cells..][..cells]));
        let mut totals = vec![0; cells];
        rows.chunks_exact(cells).for_each(|row| totals.iter_mut().zip(row).for_each(|(total, own)| *total += own));
        let undefined = match &self.shared {
            Some(shared) => segments.iter().all(|segment| shared[*segment as usize] == 0),
            None => self.ratio && totals.chunks_exact(self.columns).any(|totals| totals[1] == 0),
        };
        if undefined {
            return Ok(None);
        }
        signs.sums((rows, cells), buffers, sums, stop)?;
        let mut found = Vec::with_capacity(self.systems * self.systems / 2);
        for pair in pairs(self.systems) {
            stop.charge(8 * self.columns * signs.permutations)?;
            let reached = match self.shared {
                Some(_) => self.reached_by_sums(pair, &totals, (sums, signs.permutations)),
                None => self.reached(pair, &totals, (sums, signs.permutations), swapped)?,
            };
            found.push(pvalue(reached, signs.permutations));
        }
        Ok(Some(found))
    }

    /// The permutations that reach the observed difference, by sums: swapping moves F_x − F_y from x to y.
    fn reached_by_sums(&self, (x, y): (usize, usize), totals: &[i64], (sums, n): (&[i64], usize)) -> usize {
        let tolerance = 8.0 * spacing(totals[x].unsigned_abs().max(totals[y].unsigned_abs()) as f64);
        let (x, y) = if self.lower { (y, x) } else { (x, y) };
        let of = |system: usize| &sums[system * n..][..n];
        count(Simd::best(), of(x), of(y), tolerance as i64)
    }

    /// The permutations that reach the observed difference, by the formula.
    fn reached(
        &self,
        (x, y): (usize, usize),
        totals: &[i64],
        (sums, n): (&[i64], usize),
        [to_x, to_y]: &mut [Vec<i64>; 2],
    ) -> Result<usize> {
        let columns = self.columns;
        [&mut *to_x, &mut *to_y].into_iter().try_for_each(|swapped| resize(swapped, columns * n))?;
        let [total_x, total_y] = [x, y].map(|system| &totals[system * columns..][..columns]);
        for column in 0..columns {
            let of = |system: usize| &sums[(system * columns + column) * n..][..n];
            let swapped = to_x[column * n..][..n].iter_mut().zip(&mut to_y[column * n..][..n]);
            for ((to_x, to_y), (from_x, from_y)) in swapped.zip(of(x).iter().zip(of(y))) {
                let moved = from_x - from_y;
                (*to_x, *to_y) = (total_x[column] - moved, total_y[column] + moved);
            }
        }
        let mut statistics: Vec<f64> = zeros(&[n])?;
        let (to_x, to_y) = (&to_x[..columns * n], &to_y[..columns * n]);
        self.formula.statistics(to_x, to_y, &mut statistics);
        check_defined(self.formula.as_ref(), &[to_x, to_y], &statistics)?;
        let mut observed = [0.0];
        self.formula.statistics(total_x, total_y, &mut observed);
        let [score_x, score_y] = [total_x, total_y].map(|totals| self.formula.score(totals).abs());
        let tolerance = 16.0 * spacing(score_x.max(score_y));
        Ok(match self.lower {
            true => statistics.iter().filter(|statistic| **statistic <= observed[0] + tolerance).count(),
            false => statistics.iter().filter(|statistic| **statistic >= observed[0] - tolerance).count(),
        })
    }
}

/// The distance from `x` ≥ 0 to the next larger number.
fn spacing(x: f64) -> f64 {
    if x.is_finite() { x.next_up() - x } else { f64::NAN }
}

/// Memory that a thread reuses.
#[derive(Default)]
struct Scratch {
    buffers: Buffers,
    rows: Vec<i64>,
    sums: Vec<i64>,
    swapped: [Vec<i64>; 2],
}

/// The p-values of all pairs of systems under each metric: NaN where a system has no score. The alternative is that the
/// first system of a pair is better. In the order metric, pair.
pub fn pvalues(metrics: &[Scored], segments: usize, signs: &Signs, run: &mut Run<'_>) -> Result<Vec<f64>> {
    let systems = metrics.first().map_or(0, |metric| metric.systems);
    let n = pairs(systems).count();
    let mut cells = 0;
    for each in metrics {
        each.check([systems, segments])?;
        cells = cells.max(each.cells());
    }
    let all: Vec<u32> = (0..segments as u32).collect();
    let work =
        |scratch: &mut Scratch, metric: usize, stop: &Stop<'_>| metrics[metric].pvalues(&all, signs, scratch, stop);
    let found = pool::each(metrics.len(), cost(cells, segments, signs), run, Scratch::default, work)?;
    Ok(found.into_iter().flat_map(|found| found.unwrap_or_else(|| vec![f64::NAN; n])).collect())
}

/// The cost of summing so many columns.
fn cost(cells: usize, segments: usize, signs: &Signs) -> u64 {
    (cells * segments / 8 * (signs.permutations + 256)) as u64
}

/// The soft pairwise accuracy of every metric on draws, in the order metric, replicate. NaN where a system has no score,
/// or all drawn systems are the same. Pairs of copies of one system are left out; other pairs count as often as the
/// product of their copies.
pub fn drawn(
    people: &Scored,
    metrics: &[Scored],
    segments: usize,
    (signs, unit): (&Signs, Unit),
    (seed, replicates): (u64, Range<u64>),
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    let n = length(&replicates);
    if segments == 0 || people.systems == 0 {
        return Err(Error::Empty { what: "segments or systems".into() });
    }
    let mut out: Vec<f64> = zeros(&[metrics.len(), n])?;
    let every: Vec<_> = std::iter::once(people).chain(metrics).collect();
    every.iter().try_for_each(|each| each.check([people.systems, segments]))?;
    let cells: usize = every.iter().map(|each| each.cells()).sum();
    let blocks = Blocks { items: n, size: 1, cost: cost(cells, segments, signs), lead: 0 };
    pool::try_run(
        blocks,
        run,
        Scratch::default,
        |scratch, at, stop| {
            let replicate = replicates.start + at.start as u64;
            let draw = draw((seed, replicate), unit, [people.systems, segments], stop)?;
            values(&every, &draw, signs, scratch, stop)
        },
        |at, values, _| {
            values.iter().enumerate().for_each(|(m, value)| out[m * n + at.start] = *value);
            Ok(())
        },
    )?;
    Ok(out)
}

/// The drawn segments, ascending, and how often each system is drawn.
type Draw = (Vec<u32>, Vec<u32>);

fn draw((seed, replicate): (u64, u64), unit: Unit, [systems, segments]: [usize; 2], stop: &Stop<'_>) -> Result<Draw> {
    let mut copies = vec![0; systems];
    unit.copies_of_systems(seed, replicate, &mut copies);
    let weights = unit.copies_of_segments(seed, replicate, segments, stop)?;
    let mut drawn = Vec::with_capacity(segments);
    for (segment, weight) in (0..).zip(weights) {
        drawn.extend(std::iter::repeat_n(segment, weight as usize));
    }
    Ok((drawn, copies))
}

/// The values of all metrics on a draw. The first of `every` are people.
fn values(
    every: &[&Scored],
    (segments, copies): &Draw,
    signs: &Signs,
    scratch: &mut Scratch,
    stop: &Stop<'_>,
) -> Result<Vec<f64>> {
    let weights: Vec<_> = pairs(copies.len()).map(|(x, y)| f64::from(copies[x]) * f64::from(copies[y])).collect();
    let all: f64 = weights.iter().sum();
    let people = every[0].pvalues(segments, signs, scratch, stop)?;
    let Some(people) = people.filter(|_| all > 0.0) else { return Ok(vec![f64::NAN; every.len() - 1]) };
    let of = |metric: &&Scored| {
        let own = metric.pvalues(segments, signs, scratch, stop)?;
        let distance = |own: Vec<f64>| {
            let apart = weights.iter().zip(own.iter().zip(&people)).map(|(weight, (p, q))| weight * (p - q).abs());
            1.0 - apart.sum::<f64>() / all
        };
        Ok(own.map_or(f64::NAN, distance))
    };
    every[1..].iter().map(of).collect()
}
