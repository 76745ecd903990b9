//! Coefficients of many points, whose order is found once, under changing weights.

use super::Coefficient;
use super::small::{PairCounts, pearson};

/// Points (x, y), sorted once.
pub(super) struct Points {
    x: Vec<f64>,
    y: Vec<f64>,
    /// The points by x, then by their place.
    order: Vec<u32>,
    /// For each point in that order, the class of its y: equal values are one class, and classes ascend.
    class: Vec<u32>,
    /// Where in the order each run of equal x ends.
    ends: Vec<u32>,
    /// The run of each point in the order.
    run: Vec<u32>,
    classes: usize,
    /// The totals, if they are the same under all weights.
    totals: Option<Totals>,
}

/// What follows from the weights of the classes alone.
#[derive(Clone, Copy)]
struct Totals {
    all: u64,
    /// The sum of squares of the weights of classes.
    squares: u64,
    /// Classes of weight above 0.
    used: u64,
}

/// Reused memory.
#[derive(Default)]
pub(super) struct Scratch {
    chosen: Vec<Chosen>,
    prefix: Prefix,
    class_weights: Vec<u64>,
    class_ranks: Vec<i64>,
}

impl Points {
    pub fn new(x: Vec<f64>, y: Vec<f64>) -> Self {
        let mut order: Vec<u32> = (0..x.len() as u32).collect();
        order.sort_unstable_by(|&i, &j| x[i as usize].total_cmp(&x[j as usize]).then(i.cmp(&j)));
        let mut values = y.clone();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup_by(|a, b| a == b);
        let class_of = |i: &u32| values.partition_point(|value| *value < y[*i as usize]) as u32;
        let class = order.iter().map(class_of).collect();
        let differ = |i: &usize| x[order[*i - 1] as usize] != x[order[*i] as usize];
        let mut ends: Vec<u32> = (1..order.len()).filter(differ).map(|i| i as u32).collect();
        ends.push(order.len() as u32);
        let lengths = ends.iter().scan(0, |first, end| Some(end - std::mem::replace(first, *end)));
        let run = (0..).zip(lengths).flat_map(|(run, length)| std::iter::repeat_n(run, length as usize)).collect();
        Points { x, y, order, class, ends, run, classes: values.len(), totals: None }
    }

    /// The scores of two metrics for the same cells, of which each cell has weight 1 in one and 0 in the other.
    pub fn of_swaps([a, b]: [&[f64]; 2], human: &[f64]) -> Self {
        let mut points = Self::new([a, b].concat(), [human, human].concat());
        let weights: Vec<u32> = (0..2 * human.len()).map(|i| u32::from(i < human.len())).collect();
        points.totals = Some(points.totals(&weights, &mut Scratch::default()));
        points
    }

    fn totals(&self, weights: &[u32], scratch: &mut Scratch) -> Totals {
        let all = self.class_weights(weights, scratch);
        let squares = scratch.class_weights.iter().map(|weight| weight * weight).sum();
        Totals { all, squares, used: scratch.class_weights.iter().filter(|weight| **weight > 0).count() as u64 }
    }

    /// As [`super::small::value`].
    pub fn value(&self, coefficient: Coefficient, weights: &[u32], scratch: &mut Scratch) -> f64 {
        match coefficient {
            Coefficient::Pearson => pearson(&self.x, &self.y, weights),
            Coefficient::Spearman => self.spearman(weights, scratch),
            _ => self.pairs(weights, scratch).value(coefficient),
        }
    }

    /// The weight of each class, and of all points.
    fn class_weights(&self, weights: &[u32], scratch: &mut Scratch) -> u64 {
        scratch.class_weights.clear();
        scratch.class_weights.resize(self.classes, 0);
        for (&point, &class) in self.order.iter().zip(&self.class) {
            scratch.class_weights[class as usize] += u64::from(weights[point as usize]);
        }
        scratch.class_weights.iter().sum()
    }

    fn spearman(&self, weights: &[u32], scratch: &mut Scratch) -> f64 {
        let all = self.class_weights(weights, scratch);
        // Twice the distance of a rank from the mean rank is an integer.
        let (mut before, mut yy) = (0, 0);
        scratch.class_ranks.clear();
        for &weight in &scratch.class_weights {
            let rank = (2 * before + weight) as i64 - all as i64;
            yy += i128::from(weight) * i128::from(rank) * i128::from(rank);
            scratch.class_ranks.push(rank);
            before += weight;
        }
        let (mut first, mut before, mut xx, mut xy) = (0, 0, 0, 0);
        for &end in &self.ends {
            let (mut weight, mut sum) = (0, 0);
            for i in first..end as usize {
                let w = u64::from(weights[self.order[i] as usize]);
                weight += w;
                sum += w as i64 * scratch.class_ranks[self.class[i] as usize];
            }
            let rank = (2 * before + weight) as i64 - all as i64;
            xx += i128::from(weight) * i128::from(rank) * i128::from(rank);
            xy += i128::from(rank) * i128::from(sum);
            (first, before) = (end as usize, before + weight);
        }
        if xx == 0 || yy == 0 { f64::NAN } else { xy as f64 / ((xx as f64).sqrt() * (yy as f64).sqrt()) }
    }

    /// The points of weight above 0, in order. Without branches, because weights are random.
    fn choose(&self, weights: &[u32], scratch: &mut Scratch) {
        scratch.chosen.clear();
        scratch.chosen.resize(self.order.len() + 1, Chosen::default());
        let mut length = 0;
        for ((&point, &class), &run) in self.order.iter().zip(&self.class).zip(&self.run) {
            let weight = weights[point as usize];
            scratch.chosen[length] = Chosen { class, run, weight };
            length += usize::from(weight > 0);
        }
        scratch.chosen.truncate(length);
    }

    fn pairs(&self, weights: &[u32], scratch: &mut Scratch) -> PairCounts {
        let totals = self.totals.unwrap_or_else(|| self.totals(weights, scratch));
        let squares: u64 = weights.iter().map(|&weight| u64::from(weight) * u64::from(weight)).sum();
        // Copies of one point are not compared: half of W² − Σw² pairs among points of weight W.
        let mut counts = PairCounts {
            pairs: (totals.all * totals.all - squares) / 2,
            tied_y: (totals.squares - squares) / 2,
            points: totals.all,
            classes: totals.used,
            ..PairCounts::default()
        };
        self.choose(weights, scratch);
        let Scratch { chosen, prefix, .. } = scratch;
        prefix.reset(self.classes);
        let (mut first, mut before, mut x_classes) = (0, 0, 0);
        while first < chosen.len() {
            let run = chosen[first].run;
            let (mut end, mut weight, mut of_squares) = (first, 0, 0);
            while let Some(point) = chosen.get(end).filter(|point| point.run == run) {
                let (w, class) = (u64::from(point.weight), point.class as usize);
                let (below, equal) = prefix.sums(class);
                counts.concordant += w * u64::from(below);
                counts.discordant += w * (before - u64::from(below) - u64::from(equal));
                weight += w;
                of_squares += w * w;
                end += 1;
            }
            for point in &chosen[first..end] {
                prefix.add(point.class as usize, point.weight);
            }
            counts.tied_x += (weight * weight - of_squares) / 2;
            x_classes += 1;
            (first, before) = (end, before + weight);
        }
        counts.classes = counts.classes.min(x_classes);
        counts
    }
}

/// A point of weight above 0.
#[derive(Clone, Copy, Default)]
struct Chosen {
    class: u32,
    /// Points of equal x are one run.
    run: u32,
    weight: u32,
}

/// Sums of the weights of the first n classes, for all n, while weights are added: a complete binary tree of sums.
///
/// Every class has the same number of ancestors, so no branch depends on the class. Blocks of prefix sums that are added to
/// with vector instructions were slower: single numbers are read again before whole registers are written.
#[derive(Default)]
struct Prefix {
    /// Node i has the children 2·i and 2·i + 1, and the leaves are the second half.
    tree: Vec<u32>,
}

impl Prefix {
    fn reset(&mut self, classes: usize) {
        self.tree.clear();
        self.tree.resize(2 * classes.next_power_of_two(), 0);
    }

    /// The weights of all classes before this one, and of this one.
    #[inline(always)]
    fn sums(&self, class: usize) -> (u32, u32) {
        let mut node = self.tree.len() / 2 + class;
        let (mut before, own) = (0, self.tree[node]);
        while node > 1 {
            let is_right = (node & 1) as u32;
            before += self.tree[node ^ 1] & is_right.wrapping_neg();
            node /= 2;
        }
        (before, own)
    }

    #[inline(always)]
    fn add(&mut self, class: usize, weight: u32) {
        let mut node = self.tree.len() / 2 + class;
        while node > 0 {
            self.tree[node] += weight;
            node /= 2;
        }
    }
}
