//! The cells of a metric in the order of its scores, and the pairs of cells whose differences lie in a window.

use std::ops::Range;

use crate::error::Result;
use crate::memory::reserved;
use crate::meta::{Cell, Grouping, Matrices, pairs_of};
use crate::pool::{self, Stop};

/// Groups with equally many pairs, which therefore have the same weight.
pub(super) struct Class {
    pub groups: Range<usize>,
    /// The weight of each pair: one by the number of pairs, as a fixed-point number.
    pub weight: i128,
}

/// The cells of a metric, by group, in ascending order of the metric's scores.
pub(super) struct Sorted {
    pub metric: Vec<f64>,
    pub human: Vec<f64>,
    /// Where the groups with at least one pair lie; those with fewer cells come first.
    pub groups: Vec<Range<usize>>,
    pub classes: Vec<Class>,
    pub pairs: u64,
}

/// The bits of a positive difference, which have the same order as the differences; 0 if it is not positive.
#[inline(always)]
pub(super) fn key(difference: f64) -> u64 {
    if difference > 0.0 { difference.to_bits() } else { 0 }
}

/// Differences after the first key up to the second.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub after: u64,
    pub to: u64,
}

impl Sorted {
    pub fn new(matrices: &Matrices<'_>, metric: usize, grouping: Grouping, stop: &Stop<'_>) -> Result<Self> {
        let mut of_groups: Vec<Range<usize>> = Vec::new();
        let (mut all, mut cells): (Vec<Cell>, Vec<Cell>) = (reserved(matrices.human.len())?, Vec::new());
        for group in 0..matrices.groups(grouping) {
            cells.clear();
            cells.extend(matrices.cells(metric, grouping, group));
            stop.charge(16 * (cells.len() + 1))?;
            if cells.len() > 1 {
                pool::sort(&mut cells, |a, b| a.metric.total_cmp(&b.metric), stop)?;
                of_groups.push(all.len()..all.len() + cells.len());
                all.extend(&cells);
            }
        }
        of_groups.sort_by_key(ExactSizeIterator::len);
        // Sums over groups are at most their number: with this many binary places they fit.
        let one = 1_i128 << (125 - of_groups.len().max(1).ilog2());
        let mut classes = Vec::new();
        let mut pairs = 0;
        for same in of_groups.chunk_by(|a, b| a.len() == b.len()) {
            let first = classes.last().map_or(0, |class: &Class| class.groups.end);
            let of_group = pairs_of(same[0].len());
            pairs += of_group * same.len() as u64;
            classes.push(Class { groups: first..first + same.len(), weight: one / i128::from(of_group) });
        }
        let metric = all.iter().map(|cell| cell.metric).collect();
        let human = all.iter().map(|cell| cell.human).collect();
        Ok(Sorted { metric, human, groups: of_groups, classes, pairs })
    }

    /// All differences.
    pub fn window(&self) -> Window {
        let largest = self.groups.iter().map(|group| key(self.metric[group.end - 1] - self.metric[group.start]));
        Window { after: 0, to: largest.max().unwrap_or(0) }
    }

    /// Calls `visit` for some of the cells of a group with those cells above it whose differences lie in the window.
    #[inline(always)]
    pub fn visit(
        &self,
        group: &Range<usize>,
        rows: Range<usize>,
        window: Window,
        mut visit: impl FnMut(usize, Range<usize>),
    ) {
        let metric = &self.metric[..group.end];
        let (mut from, mut to) = (rows.start, rows.start);
        for row in rows {
            let score = metric[row];
            from = from.max(row + 1);
            while from < metric.len() && key(metric[from] - score) <= window.after {
                from += 1;
            }
            to = to.max(from);
            if key(metric[metric.len() - 1] - score) <= window.to {
                to = metric.len();
            }
            while to < metric.len() && key(metric[to] - score) <= window.to {
                to += 1;
            }
            visit(row, from..to);
        }
    }
}
