//! Sums of floats that do not depend on how a range of replicates is split.
//!
//! Floating-point additions round, so their order has to be a function of the replicates alone. Here it is a binary
//! tree over the numbers of all replicates: a leaf is a [`BATCH`] of replicates, and the neighbours 2i and 2i + 1 of
//! one level are the children of a node of the next. For a range, the largest complete nodes within it are kept, at
//! most two per level; as soon as both children of a node are complete, they are joined. Parts of a range that are
//! split between leaves therefore make the same nodes as the whole range, however it is split.

use std::ops::Range;

use super::state::fields;
use super::{Combine, Partial, Span, batches};
use crate::error::Result;
use crate::memory::{extend, reserved};
use crate::resample::BATCH;

/// The number of levels of complete nodes: replicates have 64-bit numbers.
const LEVELS: usize = 64 - BATCH.ilog2() as usize;

/// Joins the values of some replicates with those of the replicates that follow them.
pub(super) type Join = fn((&mut [f64], u64), (&[f64], u64));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    level: u32,
    /// Its place among the nodes of its level.
    index: u64,
    /// The number of replicates. An incomplete leaf has fewer than its level implies.
    replicates: u64,
}

impl Node {
    /// The nodes of a range of replicates: the largest complete ones, and the parts of leaves at both ends.
    fn of(range: Range<u64>) -> impl Iterator<Item = Node> {
        let Range { start: mut begin, end } = range;
        std::iter::from_fn(move || {
            let (left, aligned) = (end - begin, begin.trailing_zeros().min(u64::BITS - 1));
            if left == 0 {
                return None;
            }
            let block = BATCH.ilog2();
            let node = if aligned < block || left < BATCH as u64 {
                let replicates = left.min(BATCH as u64 - begin % BATCH as u64);
                Node { level: 0, index: begin / BATCH as u64, replicates }
            } else {
                let level = aligned.min(left.ilog2()) - block;
                Node { level, index: begin >> (block + level), replicates: (BATCH as u64) << level }
            };
            begin += node.replicates;
            Some(node)
        })
    }

    fn is_complete(self) -> bool {
        self.replicates == (BATCH as u64) << self.level
    }
}

/// Joined values of a range of replicates.
#[derive(Debug, Clone)]
pub(super) struct Fold {
    width: usize,
    join: Join,
    nodes: Vec<Node>,
    /// The values of each node, one node after another.
    values: Vec<f64>,
}

// The nodes follow from the range of replicates.
fields!(Fold: values);

impl Fold {
    /// Before a run.
    pub fn empty(join: Join) -> Self {
        Fold { width: 0, join, nodes: Vec::new(), values: Vec::new() }
    }

    /// An empty range, with `width` values for each block.
    pub fn new(width: usize, join: Join) -> Result<Self> {
        Ok(Fold { width, join, nodes: reserved(2 * LEVELS + 1)?, values: Vec::new() })
    }

    /// Adds the values of the next replicates, which begin at `first` and lie within one leaf.
    pub fn push(&mut self, first: u64, replicates: usize, values: &[f64]) -> Result<()> {
        self.append(Node { level: 0, index: first / BATCH as u64, replicates: replicates as u64 }, values)
    }

    /// Adds the values of partial results, which are stored batch by batch.
    pub fn add_batches(&mut self) -> Combine<'_> {
        Box::new(|partial: &Partial| {
            let first = partial.replicates.start;
            let values = partial.numbers.chunks_exact(self.width.max(1));
            for ((at, batch), values) in batches(&partial.replicates).zip(values) {
                self.push(first + at as u64, batch, values)?;
            }
            Ok(true)
        })
    }

    /// Adds the values of the replicates that follow.
    pub fn merge(&mut self, later: &Self) -> Result<()> {
        (0..).zip(&later.nodes).try_for_each(|(i, &node)| self.append(node, later.node_values(i)))
    }

    /// The values of all replicates and their number, or None without replicates.
    pub fn total(&self) -> Option<(Vec<f64>, u64)> {
        let mut nodes = (0..).zip(&self.nodes);
        let (i, first) = nodes.next()?;
        let (mut values, mut replicates) = (self.node_values(i).to_vec(), first.replicates);
        for (i, node) in nodes {
            (self.join)((&mut values, replicates), (self.node_values(i), node.replicates));
            replicates += node.replicates;
        }
        Some((values, replicates))
    }

    /// After values were loaded: finds the nodes of the range, and whether each has `width` values.
    pub fn fits(&mut self, width: usize, range: &Span) -> bool {
        self.width = width;
        self.nodes = Node::of(range.0.clone().unwrap_or_default()).collect();
        self.nodes.len().checked_mul(width) == Some(self.values.len())
    }

    /// The values of all nodes, one node after another.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    fn node_values(&self, node: usize) -> &[f64] {
        &self.values[node * self.width..][..self.width]
    }

    fn append(&mut self, node: Node, values: &[f64]) -> Result<()> {
        extend(&mut self.values, values.iter().copied())?;
        self.nodes.push(node);
        while let [.., left, right] = self.nodes[..] {
            let same_leaf = left.level == 0 && right.level == 0 && left.index == right.index;
            let halves =
                left.is_complete() && right.is_complete() && left.level == right.level && left.index ^ 1 == right.index;
            if !(same_leaf || halves && left.index < right.index) {
                break;
            }
            let (before, right_values) = self.values.split_at_mut((self.nodes.len() - 1) * self.width);
            let left_values = &mut before[(self.nodes.len() - 2) * self.width..];
            (self.join)((left_values, left.replicates), (right_values, right.replicates));
            let joined = if same_leaf { left } else { Node { level: left.level + 1, index: left.index / 2, ..left } };
            self.nodes.truncate(self.nodes.len() - 2);
            self.nodes.push(Node { replicates: left.replicates + right.replicates, ..joined });
            self.values.truncate(self.nodes.len() * self.width);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn add((left, _): (&mut [f64], u64), (right, _): (&[f64], u64)) {
        left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
    }

    /// Values whose sums round differently in almost any other order.
    fn value(block: u64) -> [f64; 2] {
        [0.1 * (block + 1) as f64, 1.0 / (block + 3) as f64]
    }

    fn fold_of(first: u64, last: u64) -> Fold {
        let mut fold = Fold::new(2, add).unwrap();
        for (at, batch) in batches(&(first..last)) {
            let at = first + at as u64;
            fold.push(at, batch, &value(at / BATCH as u64)).unwrap();
        }
        fold
    }

    /// The definition: the largest aligned power-of-two ranges from left to right, each summed by halves.
    fn obvious(first: u64, last: u64) -> Vec<f64> {
        fn node(begin: u64, end: u64) -> [f64; 2] {
            if end - begin == 1 {
                return value(begin);
            }
            let middle = begin.midpoint(end);
            let (left, right) = (node(begin, middle), node(middle, end));
            [left[0] + right[0], left[1] + right[1]]
        }
        let (mut begin, end) = (first / BATCH as u64, last / BATCH as u64);
        let mut sum: Option<[f64; 2]> = None;
        while begin < end {
            let mut size = 1;
            while begin.is_multiple_of(2 * size) && begin + 2 * size <= end {
                size *= 2;
            }
            let more = node(begin, begin + size);
            sum = Some(sum.map_or(more, |sum| [sum[0] + more[0], sum[1] + more[1]]));
            begin += size;
        }
        sum.unwrap().to_vec()
    }

    proptest! {
        #![proptest_config(crate::testing::cases(64))]
        #[test]
        fn any_split_between_blocks_gives_the_same_bytes(
            first in 0..300u64,
            lengths in prop::collection::vec(1..90u64, 1..8),
            at_the_end in 0..BATCH as u64,
        ) {
            let block = BATCH as u64;
            let mut ends: Vec<u64> = lengths.iter().scan(first, |end, length| { *end += length; Some(*end) }).collect();
            let whole = fold_of(first * block, ends[ends.len() - 1] * block);
            prop_assert_eq!(obvious(first * block, ends[ends.len() - 1] * block), whole.total().unwrap().0);
            prop_assert!(whole.nodes.len() <= 2 * LEVELS);
            let with_rest = fold_of(first * block, ends[ends.len() - 1] * block + at_the_end);
            let last = ends.pop().unwrap();
            let mut merged = Fold::new(2, add).unwrap();
            let mut begin = first;
            for end in ends {
                merged.merge(&fold_of(begin * block, end * block)).unwrap();
                begin = end;
            }
            // Merge from the right, too.
            let mut from_the_right = fold_of(begin * block, (begin + 1) * block);
            from_the_right.merge(&fold_of((begin + 1) * block, last * block)).unwrap();
            let mut both = merged.clone();
            both.merge(&from_the_right).unwrap();
            prop_assert_eq!(whole.total(), both.total());
            merged.merge(&fold_of(begin * block, last * block + at_the_end)).unwrap();
            prop_assert_eq!(with_rest.total(), merged.total());
            let replicates = first * block + at_the_end..last * block + at_the_end;
            let mut cut = fold_of(first * block + at_the_end, (first + 1) * block);
            cut.merge(&fold_of((first + 1) * block, replicates.end)).unwrap();
            prop_assert_eq!(Node::of(replicates).collect::<Vec<_>>(), cut.nodes);
        }
    }

    #[test]
    fn a_split_leaf_is_complete_once_both_parts_are_merged() {
        let mut cut = fold_of(0, 3 * 64 + 10);
        cut.merge(&fold_of(3 * 64 + 10, 256)).unwrap();
        assert_eq!(vec![Node { level: 2, index: 0, replicates: 256 }], cut.nodes);
        // The last replicate of all, which no range contains, would complete the last node.
        let nodes: Vec<_> = Node::of(1..u64::MAX).collect();
        assert_eq!(
            (1 + 2 * (LEVELS - 1) + 1, u64::MAX - 1),
            (nodes.len(), nodes.iter().map(|n| n.replicates).sum::<u64>())
        );
        assert_eq!(None, Fold::new(3, add).unwrap().total());
    }
}
