//! Counts of pairs that a metric and people order alike, differently, or not at all.

use std::ops::Range;

use super::tree::{visit_after, visit_before};
use super::{Cell, Grouping, Matrices, pairs_of};
use crate::error::{Error, Result, check_length};
use crate::memory::{reserved, resize, zeros};
use crate::pool::{self, Blocks, Run, Stop};
use crate::simd::{Simd, dispatch};

/// Groups of at most this many cells are counted pair by pair.
const FEW: usize = 40;

/// Work per block, in additions, roughly.
const WORK_PER_BLOCK: u64 = 1 << 17;

/// The pairs of cells of a group, by how a metric and people order them: concordant, discordant, tied only in the metric,
/// tied only by people, tied in both.
pub const COLUMNS: usize = 5;

/// The sizes of a group: its cells, and how many different scores the metric and people gave.
pub const SIZES: usize = 3;

/// The pairs and the sizes of a group.
type Group = ([i64; COLUMNS], [i64; SIZES]);

/// Buffers for the counts of one group after the other.
#[derive(Debug, Default)]
struct Counter {
    cells: Vec<Cell>,
    /// The rank of each cell's human score among the different ones.
    ranks: Vec<u32>,
    /// The scores of the metric with their ranks by human scores.
    ordered: Vec<(f64, u32)>,
    tree: Vec<u32>,
}

impl Counter {
    /// Counts the pairs of a group.
    fn count(&mut self, cells: impl Iterator<Item = Cell>, epsilon: f64, stop: &Stop<'_>) -> Result<Group> {
        self.cells.clear();
        self.cells.extend(cells);
        stop.charge(self.cells.len() * self.cells.len().min(FEW))?;
        if self.cells.len() <= FEW { Ok(few(&self.cells, epsilon)) } else { self.many(epsilon, stop) }
    }

    /// In O(n log n): from lower to higher scores of the metric, each cell is compared with all that lie more than ε
    /// below it, which are in a tree of counts by human rank.
    fn many(&mut self, epsilon: f64, stop: &Stop<'_>) -> Result<Group> {
        let n = self.cells.len();
        self.rank(stop)?;
        let ranks = self.tree.len();
        let tied_by_people: u64 = self.tree.iter().map(|&cells| pairs_of(cells as usize)).sum();
        self.ordered.clear();
        self.ordered.extend(self.cells.iter().zip(&self.ranks).map(|(cell, &rank)| (cell.metric, rank)));
        pool::sort(&mut self.ordered, |a, b| a.0.total_cmp(&b.0), stop)?;
        resize(&mut self.tree, ranks + 1)?;
        self.tree.fill(0);
        let (mut below, mut apart, mut concordant, mut discordant) = (0, 0, 0, 0);
        for &(score, rank) in &self.ordered {
            stop.charge(64)?;
            while score - self.ordered[below].0 > epsilon {
                visit_after(self.ordered[below].1 as usize, ranks, |node| self.tree[node] += 1);
                below += 1;
            }
            concordant += sum(&self.tree, rank);
            discordant += below as u64 - sum(&self.tree, rank + 1);
            apart += below as u64;
        }
        let tied_human = apart - concordant - discordant;
        let tied_both = tied_by_people - tied_human;
        let changes = self.ordered.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
        let counts = [concordant, discordant, pairs_of(n) - apart - tied_both, tied_human, tied_both];
        Ok((counts.map(|count| count as i64), [n, changes + 1, ranks].map(|size| size as i64)))
    }

    /// Ranks the human scores. On return, `tree` has the number of cells of each rank.
    fn rank(&mut self, stop: &Stop<'_>) -> Result<()> {
        pool::sort(&mut self.cells, |a, b| a.human.total_cmp(&b.human), stop)?;
        self.ranks.clear();
        self.tree.clear();
        let mut last = None;
        for cell in &self.cells {
            if last != Some(cell.human) {
                self.tree.push(0);
            }
            last = Some(cell.human);
            let rank = self.tree.len() - 1;
            self.tree[rank] += 1;
            self.ranks.push(rank as u32);
        }
        Ok(())
    }
}

/// The sum below a rank.
#[inline(always)]
fn sum(tree: &[u32], rank: u32) -> u64 {
    let mut sum = 0;
    visit_before(rank as usize, |node| sum += tree[node]);
    u64::from(sum)
}

/// Counts pair by pair.
fn few(cells: &[Cell], epsilon: f64) -> Group {
    let (mut kinds, mut sizes) = ([0_u32; 9], [cells.len() as i64, 0, 0]);
    for (i, one) in cells.iter().enumerate() {
        let mut seen = (false, false);
        for other in &cells[..i] {
            let (metric, human) = (one.metric - other.metric, one.human - other.human);
            let metric = 1 + usize::from(metric > epsilon) - usize::from(-metric > epsilon);
            let human = 1 + usize::from(human > 0.0) - usize::from(-human > 0.0);
            kinds[3 * metric + human] += 1;
            seen.0 |= one.metric == other.metric;
            seen.1 |= one.human == other.human;
        }
        sizes[1] += i64::from(!seen.0);
        sizes[2] += i64::from(!seen.1);
    }
    let [a, b, c, d, both, e, f, g, h] = kinds.map(i64::from);
    ([a + h, c + f, d + e, b + g, both], sizes)
}

/// No threshold of ties is negative or NaN.
fn check_epsilons(epsilons: &[f64]) -> Result<()> {
    match epsilons.iter().find(|epsilon| epsilon.is_nan() || **epsilon < 0.0) {
        Some(&epsilon) => Err(Error::invalid("epsilon", "at least 0", epsilon)),
        None => Ok(()),
    }
}

/// Counts of pairs, (metrics, groups, 5), and sizes of groups, (metrics, groups, 3).
pub type Counts = (Vec<i64>, Vec<i64>);

/// Counts the pairs of all metrics and groups. There is one `epsilon` per metric; None for 0.
pub fn count(
    matrices: Matrices<'_>,
    grouping: Grouping,
    epsilons: Option<&[f64]>,
    run: &mut Run<'_>,
) -> Result<Counts> {
    let (metrics, groups) = (matrices.metrics(), matrices.groups(grouping));
    let given = epsilons.map_or(metrics, <[f64]>::len);
    check_length("epsilons", metrics, given)?;
    check_epsilons(epsilons.unwrap_or_default())?;
    let cells = matrices.largest(grouping) as u64;
    let cost = (cells * cells).min(cells.saturating_mul(200)).max(8);
    let mut counts = zeros(&[metrics, groups, COLUMNS])?;
    let mut sizes = zeros(&[metrics, groups, SIZES])?;
    let blocks = Blocks { items: metrics * groups, size: (WORK_PER_BLOCK / cost).max(1) as usize, cost, lead: 0 };
    let work = |counter: &mut Counter, items: Range<usize>, stop: &Stop<'_>| {
        let count = |item| {
            let (metric, group) = (item / groups, item % groups);
            let epsilon = epsilons.map_or(0.0, |epsilons| epsilons[metric]);
            counter.count(matrices.cells(metric, grouping, group), epsilon, stop)
        };
        items.map(count).collect::<Result<Vec<Group>>>()
    };
    pool::try_run(blocks, run, Default::default, work, |items, found, _| {
        let rows = counts[items.start * COLUMNS..].chunks_exact_mut(COLUMNS);
        for ((found, row), size) in found.iter().zip(rows).zip(sizes[items.start * SIZES..].chunks_exact_mut(SIZES)) {
            row.copy_from_slice(&found.0);
            size.copy_from_slice(&found.1);
        }
        Ok(())
    })?;
    Ok((counts, sizes))
}

/// So many cells of a group are counted as one item, so that one large group keeps all threads busy.
const CELLS_AT_ONCE: usize = 256;

/// Counts, for each cell, the pairs that it forms with the others of its group: (metrics, systems, segments, 5). There is
/// one `epsilon` per metric. Cells that the metric or people have not scored have none.
///
/// Takes n² comparisons for a group of n cells.
pub fn count_by_cell(
    matrices: Matrices<'_>,
    grouping: Grouping,
    epsilons: &[f64],
    run: &mut Run<'_>,
) -> Result<Vec<i64>> {
    let (metrics, groups, all) = (matrices.metrics(), matrices.groups(grouping), matrices.human.len());
    check_length("epsilons", metrics, epsilons.len())?;
    check_epsilons(epsilons)?;
    let mut counts: Vec<i64> = zeros(&[metrics, all, COLUMNS])?;
    let largest = matrices.largest(grouping);
    let parts = largest.div_ceil(CELLS_AT_ONCE).max(1);
    let cost = (largest.min(CELLS_AT_ONCE) * largest) as u64;
    let blocks = Blocks {
        items: metrics * groups * parts,
        size: (WORK_PER_BLOCK / cost.max(1)).max(1) as usize,
        cost: cost.max(8),
        lead: 0,
    };
    let place = |item: usize| (item / parts / groups, item / parts % groups, item % parts * CELLS_AT_ONCE);
    let work = |(): &mut (), items: Range<usize>, stop: &Stop<'_>| {
        let count = |item: usize| {
            let (metric, group, first) = place(item);
            let cells = matrices.cells(metric, grouping, group).map(|cell| (cell.metric, cell.human));
            let (x, y): (Vec<f64>, Vec<f64>) = cells.unzip();
            let range = first.min(x.len())..(first + CELLS_AT_ONCE).min(x.len());
            let mut rows: Vec<[i64; COLUMNS]> = reserved(range.len())?;
            for i in range {
                stop.charge(x.len())?;
                let mut row = [0; COLUMNS];
                by_cell(Simd::best(), [&x, &y], i, epsilons[metric], &mut row);
                rows.push(row);
            }
            Ok(rows)
        };
        items.map(count).collect::<Result<Vec<_>>>()
    };
    let keep = |items: Range<usize>, found: Vec<Vec<[i64; COLUMNS]>>, _: &Stop<'_>| {
        for (item, rows) in items.zip(found) {
            let (metric, group, first) = place(item);
            let scores = matrices.of(metric);
            let cells = grouping.cells(matrices.shape, group);
            let scored = cells.filter(|&cell| !scores[cell].is_nan() && !matrices.human[cell].is_nan());
            for (cell, row) in scored.skip(first).zip(rows) {
                counts[(metric * all + cell) * COLUMNS..][..COLUMNS].copy_from_slice(&row);
            }
        }
        Ok(())
    };
    let finished = |items| items * metrics as u64 / blocks.items as u64;
    run.reporting(finished, |run| pool::try_run(blocks, run, || (), work, keep))?;
    Ok(counts)
}

dispatch! {
    /// The pairs of one cell, which is no pair with itself.
    fn by_cell(scores: [&[f64]; 2], i: usize, epsilon: f64, out: &mut [i64; COLUMNS]) {
        let [x, y] = scores;
        let (own_x, own_y) = (x[i], y[i]);
        let (mut untied, mut order, mut apart, mut people) = (0_i64, 0_i64, 0_i64, 0_i64);
        for (&x, &y) in x.iter().zip(y) {
            let metric = i64::from(own_x - x > epsilon) - i64::from(x - own_x > epsilon);
            let human = i64::from(own_y > y) - i64::from(own_y < y);
            order += metric * human;
            untied += metric * metric * human * human;
            apart += metric * metric;
            people += human * human;
        }
        let others = x.len() as i64 - 1;
        let tied_in_both = others - people - apart + untied;
        *out = [(untied + order) / 2, (untied - order) / 2, people - untied, apart - untied, tied_in_both];
    }
}
