//! Kendall's τ of two metrics whose cells are swapped, for 64 replicates side by side.
//!
//! The scores of both metrics are sorted once. A replicate takes from each cell one score for A' and the other for B'. Which
//! class of people's scores a point has does not depend on the replicate, so the sums over classes of all replicates are at
//! the same places in a tree of partial sums (Fenwick 1994, doi:10.1002/spe.4380240306), whose nodes are registers. What A'
//! does not have, B' has: its sums are those of all points minus those of A'.

use super::Coefficient;
use crate::meta::tree::{visit_after, visit_before};
use crate::resample::BATCH;
use crate::simd::{Simd, dispatch};

/// The most cells of a group: counts of pairs must fit in 32 bits.
pub(super) const MOST_CELLS: usize = 1 << 16;

#[derive(Clone, Copy)]
struct Point {
    cell: u32,
    /// −1 if A' has the point when the cell is not swapped.
    reversed: i8,
    class: u32,
    /// Of all points of smaller x: those of smaller y minus those of larger y.
    all: i32,
}

/// The points of a group in the order of x.
pub(super) struct Sweep {
    points: Vec<Point>,
    /// Where each run of equal x ends.
    ends: Vec<usize>,
    classes: usize,
    cells: f64,
    /// Pairs of cells, and those that people do not tie.
    pairs: f64,
    untied: f64,
}

/// Reused memory: nodes of the tree, and the points of each class.
#[derive(Default)]
pub(super) struct Memory {
    tree: Vec<[i32; BATCH]>,
    counts: Vec<[i32; BATCH]>,
}

/// For A' and B': concordant minus discordant pairs, tied pairs, and different scores.
type Counts = [[[i32; BATCH]; 3]; 2];

impl Sweep {
    pub fn new([a, b]: [&[f64]; 2], human: &[f64], cells: &[u32]) -> Self {
        let mut classes = human.to_vec();
        classes.sort_unstable_by(f64::total_cmp);
        let n = human.len();
        let below = |i: usize| classes.partition_point(|y| *y < human[i]);
        let up_to = |i: usize| classes.partition_point(|y| *y <= human[i]);
        let tied: usize = (0..n).map(|i| up_to(i) - below(i) - 1).sum();
        let all_pairs = n * (n - 1) / 2;
        let untied = (all_pairs - tied / 2) as f64;
        let mut distinct = classes.clone();
        distinct.dedup_by(|a, b| a == b);
        let class = |i: usize| distinct.partition_point(|y| *y < human[i]) as u32;
        let mut sorted: Vec<(f64, Point)> = Vec::with_capacity(2 * n);
        for (i, &cell) in cells.iter().enumerate() {
            for (x, reversed) in [(a[i], -1), (b[i], 0)] {
                sorted.push((x, Point { cell, reversed, class: class(i), all: 0 }));
            }
        }
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cell.cmp(&b.1.cell)));
        let mut ends: Vec<usize> = (1..sorted.len()).filter(|&i| sorted[i - 1].0 != sorted[i].0).collect();
        ends.push(sorted.len());
        let points = sorted.into_iter().map(|(_, point)| point).collect();
        let mut sweep =
            Sweep { points, ends, classes: distinct.len(), cells: n as f64, pairs: all_pairs as f64, untied };
        sweep.count_all();
        sweep
    }

    /// Fills in the counts of all points.
    fn count_all(&mut self) {
        let (mut tree, mut counts) = (vec![0; self.classes + 1], vec![0; self.classes]);
        let mut first = 0;
        for &end in &self.ends {
            for point in &mut self.points[first..end] {
                let class = point.class as usize;
                point.all = counts[class] - first as i32;
                visit_before(class, |node| point.all += 2 * tree[node]);
            }
            for point in &self.points[first..end] {
                counts[point.class as usize] += 1;
                visit_after(point.class as usize, self.classes, |node| tree[node] += 1);
            }
            first = end;
        }
    }

    /// The values of A' and B' in a block of replicates, given the bytes of swaps of the cells; NaN if undefined.
    pub fn values(&self, coefficient: Coefficient, rows: &[[i8; BATCH]], memory: &mut Memory) -> [[f64; BATCH]; 2] {
        let mut counts = [[[0; BATCH]; 3]; 2];
        count(Simd::best(), self, rows, memory, &mut counts);
        counts.map(|[order, tied, used]| {
            std::array::from_fn(|lane| {
                let (order, untied) = (f64::from(order[lane]), self.pairs - f64::from(tied[lane]));
                if untied == 0.0 || self.untied == 0.0 {
                    return f64::NAN;
                }
                if coefficient == Coefficient::KendallB {
                    return order / (untied * self.untied).sqrt();
                }
                let classes = f64::from(used[lane]).min(self.classes as f64);
                2.0 * order / (self.cells * self.cells * ((classes - 1.0) / classes))
            })
        })
    }
}

dispatch! {
    fn count(sweep: &Sweep, rows: &[[i8; BATCH]], memory: &mut Memory, out: &mut Counts) {
        let Memory { tree, counts } = memory;
        for (nodes, length) in [(&mut *tree, sweep.classes + 1), (&mut *counts, sweep.classes)] {
            nodes.clear();
            nodes.resize(length, [0; BATCH]);
        }
        let mut before = [0; BATCH];
        let mut first = 0;
        for &end in &sweep.ends {
            for point in &sweep.points[first..end] {
                let class = point.class as usize;
                let mut sums = [0; BATCH];
                visit_before(class, |node| add(&mut sums, &tree[node]));
                let row = &rows[point.cell as usize];
                let equal = &counts[class];
                for lane in 0..BATCH {
                    let mask = i32::from(row[lane] ^ point.reversed);
                    let balance = 2 * sums[lane] + equal[lane] - before[lane];
                    out[0][0][lane] += balance & mask;
                    out[1][0][lane] += (point.all - balance) & !mask;
                }
            }
            let mut taken = [0; BATCH];
            for point in &sweep.points[first..end] {
                let class = point.class as usize;
                let row = &rows[point.cell as usize];
                let one: [i32; BATCH] = std::array::from_fn(|lane| -i32::from(row[lane] ^ point.reversed));
                add(&mut taken, &one);
                add(&mut counts[class], &one);
                visit_after(class, sweep.classes, |node| add(&mut tree[node], &one));
            }
            let length = (end - first) as i32;
            for lane in 0..BATCH {
                let (a, b) = (taken[lane], length - taken[lane]);
                before[lane] += a;
                out[0][1][lane] += a * (a - 1) / 2;
                out[1][1][lane] += b * (b - 1) / 2;
                out[0][2][lane] += i32::from(a > 0);
                out[1][2][lane] += i32::from(b > 0);
            }
            first = end;
        }
    }
}

#[inline(always)]
fn add(sums: &mut [i32; BATCH], terms: &[i32; BATCH]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
