//! Kendall's τ-b and the accuracy in groups of few cells, from counts of pairs that are functions of swaps.

use super::Coefficient;
use super::form::{self, Form};
use super::mean::Mean;
use crate::resample::BATCH;
use crate::simd::Simd;

/// Kendall's τ-b or the accuracy in a group of few cells, from counts of pairs.
pub(super) struct Counted {
    /// Concordant minus discordant pairs, or concordant pairs for the accuracy.
    order: Form,
    /// Pairs that the metric ties.
    ties: Form,
    pairs: f64,
    /// Pairs that people do not tie.
    untied: f64,
    accuracy: bool,
}

impl Counted {
    pub fn new(coefficient: Coefficient, scores: &[Vec<f64>; 2], human: &[f64]) -> Self {
        let accuracy = coefficient == Coefficient::Accuracy;
        let cells = human.len();
        let each = |count: &dyn Fn(f64, f64, i32) -> i32| {
            Form::new(cells, |add| {
                for i in 0..cells {
                    for j in 0..i {
                        let sign = i32::from(human[i] > human[j]) - i32::from(human[i] < human[j]);
                        let of = |f: usize, g: usize| count(scores[f][i], scores[g][j], sign);
                        add(i, j, [of(0, 0), of(1, 0), of(0, 1), of(1, 1)]);
                    }
                }
            })
        };
        let order = each(&|x, y, sign| {
            let order = (i32::from(x > y) - i32::from(x < y)) * sign;
            if accuracy { order.max(0) } else { order }
        });
        let all = (cells * (cells - 1) / 2) as f64;
        let differ = |i: usize| (0..i).filter(|&j| human[i] != human[j]).count();
        Counted {
            order,
            ties: each(&|x, y, _| i32::from(x == y && !accuracy)),
            pairs: all,
            untied: (0..cells).map(differ).sum::<usize>() as f64,
            accuracy,
        }
    }

    /// Adds the values of a block of replicates to the mean. If `certain`, no group can be undefined, and only differences
    /// of both metrics matter.
    pub fn add(&self, rows: &[[i8; BATCH]], cells: &[u32], certain: bool, mean: &mut Mean) {
        let simd = Simd::best();
        let denominator =
            |ties: f64| if self.accuracy { self.untied } else { ((self.pairs - ties) * self.untied).sqrt() };
        if (certain || self.accuracy) && self.ties.is_constant() && self.ties.constants() == [0; 2] {
            let reciprocal = denominator(0.0).recip();
            let mut differences = [0_i16; BATCH];
            form::difference(simd, &self.order, rows, cells, &mut differences);
            mean.sums[0].iter_mut().zip(differences).for_each(|(sum, value)| *sum += f64::from(value) * reciprocal);
            mean.counts.as_flattened_mut().iter_mut().for_each(|count| *count += 1.0);
            return;
        }
        // A group has few pairs: sums fit in 16 bits.
        let (mut order, mut ties) = ([[0_i16; BATCH]; 2], [[0_i16; BATCH]; 2]);
        form::counts(simd, &self.order, rows, cells, &mut order);
        form::counts(simd, &self.ties, rows, cells, &mut ties);
        for side in 0..2 {
            for lane in 0..BATCH {
                let denominator = denominator(f64::from(ties[side][lane]));
                let defined = denominator > 0.0;
                mean.sums[side][lane] += if defined { f64::from(order[side][lane]) / denominator } else { 0.0 };
                mean.counts[side][lane] += f64::from(u8::from(defined));
            }
        }
    }
}
