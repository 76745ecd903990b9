//! Coefficients of a few weighted points, by comparing all pairs.

use super::{Coefficient, constant};

/// The coefficient of weighted points, NaN where it is undefined. Points of weight 0 are left out.
///
/// A weight is a number of copies. Copies of one point are not compared with each other.
pub(super) fn value(coefficient: Coefficient, x: &[f64], y: &[f64], weights: &[u32]) -> f64 {
    match coefficient {
        Coefficient::Pearson => pearson(x, y, weights),
        Coefficient::Spearman => pearson(&ranks(x, weights), &ranks(y, weights), weights),
        _ => pairs(coefficient, x, y, weights),
    }
}

/// Pearson's r from deviations from the means.
pub(super) fn pearson(x: &[f64], y: &[f64], weights: &[u32]) -> f64 {
    let points = || x.iter().zip(y).zip(weights).filter(|(_, weight)| **weight > 0);
    let Some(((x0, y0), _)) = points().next() else { return f64::NAN };
    if points().all(|((x, _), _)| x == x0) || points().all(|((_, y), _)| y == y0) {
        return f64::NAN;
    }
    let (mut n, mut sum_x, mut sum_y) = (0.0, 0.0, 0.0);
    for ((x, y), &weight) in points() {
        let weight = f64::from(weight);
        n += weight;
        sum_x += weight * x;
        sum_y += weight * y;
    }
    let (mean_x, mean_y) = (sum_x / n, sum_y / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for ((x, y), &weight) in points() {
        let (x, y, weight) = (x - mean_x, y - mean_y, f64::from(weight));
        xx += weight * x * x;
        yy += weight * y * y;
        xy += weight * x * y;
    }
    let denominator = xx.sqrt() * yy.sqrt();
    if denominator > 0.0 { (xy / denominator).clamp(-1.0, 1.0) } else { f64::NAN }
}

/// Ranks of the copies, doubled; equal values have the mean of their ranks.
fn ranks(values: &[f64], weights: &[u32]) -> Vec<f64> {
    let rank = |value: &f64| {
        let rank = values.iter().zip(weights).map(|(other, &weight)| match other < value {
            true => 2 * u64::from(weight),
            false => u64::from(other == value) * u64::from(weight),
        });
        rank.sum::<u64>() as f64
    };
    values.iter().map(rank).collect()
}

fn pairs(coefficient: Coefficient, x: &[f64], y: &[f64], weights: &[u32]) -> f64 {
    let mut counts = PairCounts::default();
    for i in 0..x.len() {
        for j in 0..i {
            let weight = u64::from(weights[i]) * u64::from(weights[j]);
            let (tied_x, tied_y) = (x[i] == x[j], y[i] == y[j]);
            counts.pairs += weight;
            counts.tied_x += weight * u64::from(tied_x);
            counts.tied_y += weight * u64::from(tied_y);
            let concordant = (x[i] > x[j]) == (y[i] > y[j]);
            let concordant = u64::from(!tied_x && !tied_y) * if concordant { weight } else { 0 };
            counts.concordant += concordant;
            counts.discordant += if tied_x || tied_y { 0 } else { weight - concordant };
        }
    }
    if coefficient == Coefficient::KendallC {
        counts.points = weights.iter().map(|&weight| u64::from(weight)).sum();
        counts.classes = distinct(x, weights).min(distinct(y, weights));
    }
    counts.value(coefficient)
}

fn distinct(values: &[f64], weights: &[u32]) -> u64 {
    let first = |i: &usize| weights[*i] > 0 && !(0..*i).any(|j| weights[j] > 0 && values[i.to_owned()] == values[j]);
    (0..values.len()).filter(first).count() as u64
}

/// Counts of pairs of points.
#[derive(Default)]
pub(super) struct PairCounts {
    pub pairs: u64,
    pub concordant: u64,
    pub discordant: u64,
    /// Tied in the metric, whether or not in people's scores.
    pub tied_x: u64,
    /// Tied in people's scores, whether or not in the metric.
    pub tied_y: u64,
    /// The number of points, copies included (for variant c).
    pub points: u64,
    /// The smaller number of different values (for variant c).
    pub classes: u64,
}

impl PairCounts {
    /// Kendall's τ or the accuracy; NaN where it is undefined.
    pub fn value(&self, coefficient: Coefficient) -> f64 {
        let difference = self.concordant as f64 - self.discordant as f64;
        let untied = [self.pairs - self.tied_x, self.pairs - self.tied_y].map(|count| count as f64);
        if untied[1] == 0.0 || (coefficient != Coefficient::Accuracy && untied[0] == 0.0) {
            return f64::NAN;
        }
        match coefficient {
            Coefficient::Accuracy => self.concordant as f64 / untied[1],
            Coefficient::KendallC => {
                let (points, classes) = (self.points as f64, self.classes as f64);
                2.0 * difference / (points * points * ((classes - 1.0) / classes))
            }
            _ => difference / (untied[0] * untied[1]).sqrt(),
        }
    }
}

/// As [`value`] with all weights 1.
pub(super) fn unweighted(coefficient: Coefficient, x: &[f64], y: &[f64], ones: &[u32]) -> f64 {
    if x.len() < 2 || constant(y) {
        return f64::NAN;
    }
    value(coefficient, x, y, &ones[..x.len()])
}
