//! Differences of the coefficients of two metrics whose cells are swapped.

use std::ops::Range;

use super::few::Counted;
use super::flips::Flips;
use super::mean::Mean;
use super::points::{Points, Scratch};
use super::sums::{PearsonSums, SystemMeans};
use super::sweep::{self, Sweep};
use super::ties::{GroupPairs, Steps};
use super::{Coefficient, Compared, Material, Statistic, at, constant};
use crate::error::Result;
use crate::memory::zeros;
use crate::meta::{Unit, check_pairs};
use crate::pool::{self, Blocks, Run, Stop};
use crate::resample::{BATCH, length};

/// The most cells of a group whose pairs are counted one by one.
const FEW: usize = 64;

/// The most patterns of swaps in a group for which all values are tabulated, as a power of two.
const MOST_SWITCHES: usize = 10;

/// Pieces of work that there are at least, where replicates suffice, so that any number of threads is busy.
const PIECES: usize = 32;

/// How a statistic is computed.
enum Method {
    Pearson(PearsonSums),
    System(SystemMeans),
    /// And what the differences of accuracies are multiplied by.
    Ties(GroupPairs, f64),
    /// Each group by itself.
    Groups(Coefficient, Vec<Vec<u32>>),
}

impl Method {
    fn new(material: &Material, statistic: Statistic, unit: Unit) -> Result<Self> {
        let Statistic { compared, coefficient } = statistic;
        let Compared::Outputs(grouping) = compared else {
            return Ok(Method::System(SystemMeans::new(material, coefficient)));
        };
        let groups = material.groups(grouping, 2);
        Ok(match coefficient {
            Coefficient::Pearson => Method::Pearson(PearsonSums::new(material, &groups)),
            Coefficient::Acc23 => Method::Ties(GroupPairs::new(material, &groups, unit)?, 1.0),
            Coefficient::Tau23 => Method::Ties(GroupPairs::new(material, &groups, unit)?, 2.0),
            _ => {
                let groups = groups.into_iter().map(|(_, cells)| cells);
                let groups = groups.filter(|cells| !constant(&at(&material.human, cells))).collect();
                Method::Groups(coefficient, groups)
            }
        })
    }
}

/// The differences value(A') − value(B') of the given pairs of metrics (A, B), where A' and B' are A and B with cells
/// swapped with a seed, in the order statistic, pair, replicate. NaN where a value is undefined.
pub fn permuted(
    material: &Material,
    statistics: &[Statistic],
    pairs: &[[usize; 2]],
    (seed, unit): (u64, Unit),
    replicates: Range<u64>,
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    check_pairs(pairs, material.scores.len())?;
    let n = length(&replicates);
    let mut out: Vec<f64> = zeros(&[statistics.len(), pairs.len(), n])?;
    if n == 0 || pairs.is_empty() {
        return Ok(out);
    }
    let methods =
        statistics.iter().map(|&statistic| Method::new(material, statistic, unit)).collect::<Result<Vec<_>>>()?;
    let mut done = 0;
    for (first, part) in Flips::batches(material, &replicates) {
        let (flips, length) = (Flips::new(material, (seed, unit), part.clone())?, length(&part));
        for (method, out) in methods.iter().zip(out.chunks_exact_mut(pairs.len() * n)) {
            let task = Task { material, method, pairs, unit, flips: &flips, length };
            let keep = |pair: usize, at: usize, values: &[f64]| {
                out[pair * n + first + at..][..values.len()].copy_from_slice(values);
            };
            run.reporting(|finished| done + finished, |run| task.run(run, keep))?;
            done += (length * pairs.len()) as u64;
        }
    }
    Ok(out)
}

/// A statistic on some replicates.
struct Task<'a> {
    material: &'a Material,
    method: &'a Method,
    pairs: &'a [[usize; 2]],
    unit: Unit,
    flips: &'a Flips,
    length: usize,
}

impl Task<'_> {
    /// Calls `keep` with the pair, the first replicate and the differences of some replicates.
    fn run(&self, run: &mut Run<'_>, mut keep: impl FnMut(usize, usize, &[f64])) -> Result<()> {
        let Task { material, pairs, flips, .. } = *self;
        let cost = material.cells.len() * BATCH * 16;
        let scores = |pair: usize| pairs[pair].map(|metric| material.scores[metric].as_slice());
        match self.method {
            Method::Pearson(sums) => {
                self.run_blocks(|block, stop| sums.differences(material, pairs, (flips, block), stop), run, keep)
            }
            Method::System(means) => {
                self.run_blocks(|block, stop| means.differences(material, pairs, (flips, block), stop), run, keep)
            }
            Method::Ties(ties, factor) if pairs.len() < PIECES => self.run_ties((ties, *factor), run, keep),
            Method::Ties(ties, factor) => run_pairs(
                [pairs.len(), self.length],
                cost,
                run,
                |pair, blocks, stop| self.ties((ties, *factor), &ties.steps(scores(pair), stop)?, blocks, stop),
                &mut keep,
            ),
            Method::Groups(coefficient, groups) => run_pairs(
                [pairs.len(), self.length],
                cost,
                run,
                |pair, blocks, stop| self.groups(scores(pair), (*coefficient, groups), blocks, stop),
                &mut keep,
            ),
        }
    }

    /// All pairs of a block of replicates at once.
    fn run_blocks(
        &self,
        differences: impl Fn(usize, &Stop<'_>) -> Result<Vec<f64>> + Sync,
        run: &mut Run<'_>,
        mut keep: impl FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        let cost = (self.material.cells.len() * self.material.scores.len() + self.pairs.len()) * BATCH;
        let blocks = Blocks { items: self.length.div_ceil(BATCH), size: 1, cost: cost as u64, lead: 0 };
        let sink = |range: Range<usize>, values: Vec<f64>, _: &Stop<'_>| {
            let at = range.start * BATCH;
            let kept = BATCH.min(self.length - at);
            values.chunks_exact(BATCH).enumerate().for_each(|(pair, values)| keep(pair, at, &values[..kept]));
            Ok(())
        };
        let work = |(): &mut (), range: Range<usize>, stop: &Stop<'_>| differences(range.start, stop);
        let finished = |blocks| blocks * (BATCH * self.pairs.len()) as u64;
        run.reporting(finished, |run| pool::try_run(blocks, run, || (), work, sink))
    }

    /// One pair after the other: its steps are made once, and its blocks shared among threads.
    fn run_ties(
        &self,
        (ties, factor): (&GroupPairs, f64),
        run: &mut Run<'_>,
        mut keep: impl FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        let mut done = 0;
        for (pair, metrics) in self.pairs.iter().enumerate() {
            let scores = metrics.map(|metric| self.material.scores[metric].as_slice());
            let mut keep = |_: usize, at: usize, values: &[f64]| keep(pair, at, values);
            let work = |run: &mut Run<'_>| {
                let steps = run.prepare(|stop| ties.steps(scores, stop))?;
                let ties_of = |_: usize, blocks, stop: &Stop<'_>| self.ties((ties, factor), &steps, blocks, stop);
                run_pairs([1, self.length], ties.cost(), run, ties_of, &mut keep)
            };
            run.reporting(|finished| done + finished, work)?;
            done += self.length as u64;
        }
        Ok(())
    }

    /// The differences of the accuracies of a pair in some blocks.
    fn ties(
        &self,
        (ties, factor): (&GroupPairs, f64),
        steps: &Steps,
        blocks: Range<usize>,
        stop: &Stop<'_>,
    ) -> Result<Vec<f64>> {
        let mut differences = ties.differences(steps, (self.flips, blocks), stop)?;
        differences.iter_mut().for_each(|difference| *difference *= factor);
        Ok(differences)
    }

    fn groups(
        &self,
        scores: [&[f64]; 2],
        (coefficient, groups): (Coefficient, &[Vec<u32>]),
        blocks: Range<usize>,
        stop: &Stop<'_>,
    ) -> Result<Vec<f64>> {
        let mut means = vec![Mean::default(); blocks.len()];
        let mut memory = sweep::Memory::default();
        // If no group can be undefined, only the difference of the sums matters.
        let certain = !groups.iter().any(|cells| can_be_constant(scores, cells));
        for cells in groups {
            let human = at(&self.material.human, cells);
            let scores = scores.map(|scores| at(scores, cells));
            let switches = self.switches(cells);
            let by_pairs = matches!(coefficient, Coefficient::KendallB | Coefficient::Accuracy) && cells.len() <= FEW;
            let few = switches.iter().max().is_none_or(|last| *last < MOST_SWITCHES);
            if by_pairs {
                let counted = Counted::new(coefficient, &scores, &human);
                for (mean, block) in means.iter_mut().zip(blocks.clone()) {
                    stop.charge(cells.len() * cells.len() * 16)?;
                    counted.add(self.flips.bytes(block), cells, certain, mean);
                }
                continue;
            }
            let patterns = 1 << switches.iter().max().map_or(0, |last| last + 1).min(32);
            let tabulated = few && patterns <= BATCH * blocks.len();
            let kendall = matches!(coefficient, Coefficient::KendallB | Coefficient::KendallC);
            if kendall && cells.len() < sweep::MOST_CELLS && (cells.len() > FEW || !tabulated) {
                let sweep = Sweep::new([&scores[0], &scores[1]], &human, cells);
                for (mean, block) in means.iter_mut().zip(blocks.clone()) {
                    stop.charge(cells.len() * BATCH * 8)?;
                    mean.add_lanes(&sweep.values(coefficient, self.flips.bytes(block), &mut memory));
                }
                continue;
            }
            let both = Points::of_swaps([&scores[0], &scores[1]], &human);
            let evaluate = Evaluation { points: &both, coefficient };
            if tabulated {
                let table = evaluate.table(&switches, patterns, stop)?;
                for (mean, block) in means.iter_mut().zip(blocks.clone()) {
                    stop.charge(BATCH * cells.len())?;
                    let words = self.flips.words(block);
                    for (lane, pattern) in pattern_of(&switches, cells, words).into_iter().enumerate() {
                        mean.add(lane, [table[pattern], table[patterns - 1 - pattern]]);
                    }
                }
                continue;
            }
            let mut scratch = Scratch::default();
            for (mean, block) in means.iter_mut().zip(blocks.clone()) {
                let words = self.flips.words(block);
                let words: Vec<_> = cells.iter().map(|&cell| words[cell as usize]).collect();
                for lane in 0..BATCH {
                    stop.charge(cells.len() * 64)?;
                    mean.add(lane, evaluate.both(|i| words[i] >> lane & 1 == 1, cells.len(), &mut scratch));
                }
            }
        }
        Ok(means.iter().flat_map(Mean::differences).collect())
    }

    /// For each cell of a group, the number of its switch: cells that are always swapped together share one.
    fn switches(&self, cells: &[u32]) -> Vec<usize> {
        let mut leaders: Vec<u32> = Vec::new();
        let mut switches = Vec::with_capacity(cells.len());
        for &cell in cells {
            let known = leaders.iter().position(|&leader| self.material.together(self.unit, leader, cell));
            switches.push(known.unwrap_or(leaders.len()));
            if known.is_none() {
                leaders.push(cell);
                if leaders.len() > MOST_SWITCHES {
                    break;
                }
            }
        }
        switches
    }
}

/// Runs `work` for all pairs and pieces of the replicates, and passes the results to `keep`.
pub(super) fn run_pairs(
    [pairs, length]: [usize; 2],
    cost: usize,
    run: &mut Run<'_>,
    work: impl Fn(usize, Range<usize>, &Stop<'_>) -> Result<Vec<f64>> + Sync,
    keep: &mut impl FnMut(usize, usize, &[f64]),
) -> Result<()> {
    let blocks = length.div_ceil(BATCH);
    let per_piece = blocks.div_ceil(PIECES.div_ceil(pairs));
    let pieces = blocks.div_ceil(per_piece);
    let items = Blocks { items: pairs * pieces, size: 1, cost: (cost * per_piece) as u64, lead: 0 };
    let piece = |item: usize| (item / pieces, item % pieces * per_piece);
    let work = |(): &mut (), range: Range<usize>, stop: &Stop<'_>| {
        let (pair, first) = piece(range.start);
        work(pair, first..blocks.min(first + per_piece), stop)
    };
    let sink = |range: Range<usize>, values: Vec<f64>, _: &Stop<'_>| {
        let (pair, first) = piece(range.start);
        keep(pair, first * BATCH, &values[..values.len().min(length - first * BATCH)]);
        Ok(())
    };
    let finished = |pieces| pieces * (pairs * length) as u64 / items.items as u64;
    run.reporting(finished, |run| pool::try_run(items, run, || (), work, sink))
}

/// Whether some swaps could make all scores equal.
fn can_be_constant([a, b]: [&[f64]; 2], cells: &[u32]) -> bool {
    let first = cells[0] as usize;
    let reaches = |value: f64| cells.iter().all(|&cell| a[cell as usize] == value || b[cell as usize] == value);
    reaches(a[first]) || reaches(b[first])
}

/// For each replicate of a block, the number whose bits are the swaps of the switches.
fn pattern_of(switches: &[usize], cells: &[u32], words: &[u64]) -> [usize; BATCH] {
    let mut patterns = [0; BATCH];
    let mut next = 0;
    for (&switch, &cell) in switches.iter().zip(cells) {
        if switch < next {
            continue;
        }
        next = switch + 1;
        let word = words[cell as usize];
        patterns
            .iter_mut()
            .zip(0..)
            .for_each(|(pattern, lane)| *pattern |= (word >> lane & 1) as usize * (1 << switch));
    }
    patterns
}

/// A coefficient of both metrics after swaps: the points of A and then of B have weight 0 or 1.
struct Evaluation<'a> {
    points: &'a Points,
    coefficient: Coefficient,
}

impl Evaluation<'_> {
    fn both(&self, swapped: impl Fn(usize) -> bool, cells: usize, scratch: &mut Scratch) -> [f64; 2] {
        let mut weights = vec![0; 2 * cells];
        [false, true].map(|side| {
            for i in 0..cells {
                let from_b = swapped(i) != side;
                (weights[i], weights[cells + i]) = (u32::from(!from_b), u32::from(from_b));
            }
            self.points.value(self.coefficient, &weights, scratch)
        })
    }

    /// The value of the first metric for each pattern of swaps. The second has the value of the opposite pattern.
    fn table(&self, switches: &[usize], patterns: usize, stop: &Stop<'_>) -> Result<Vec<f64>> {
        let cells = switches.len();
        let (mut weights, mut scratch) = (vec![0; 2 * cells], Scratch::default());
        let mut table = Vec::with_capacity(patterns);
        for pattern in 0..patterns {
            stop.charge(cells * 64)?;
            for (i, switch) in switches.iter().enumerate() {
                let swapped = (pattern >> switch & 1) as u32;
                (weights[i], weights[cells + i]) = (1 - swapped, swapped);
            }
            table.push(self.points.value(self.coefficient, &weights, &mut scratch));
        }
        Ok(table)
    }
}
