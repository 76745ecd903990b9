//! Sums over the candidates of a list, and the places of the largest.

use crate::simd::dispatch;

/// Candidates whose scores are summed together, in registers.
const SUMMED: usize = 32;

dispatch! {
    /// The scores of the n candidates of a list under these weights, from features that lie feature by feature.
    pub(in crate::tune) fn heights(features: &[f64], weights: &[f64], n: usize, out: &mut Vec<f64>) {
        out.clear();
        out.resize(n, 0.0);
        let (whole, rest) = out.as_chunks_mut::<SUMMED>();
        let last = n - rest.len();
        for (block, out) in whole.iter_mut().enumerate() {
            let mut sums = [0.0; SUMMED];
            for (values, weight) in features.chunks_exact(n).zip(weights) {
                let values = &values[block * SUMMED..][..SUMMED];
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
            }
            *out = sums;
        }
        for (values, weight) in features.chunks_exact(n).zip(weights) {
            rest.iter_mut().zip(&values[last..]).for_each(|(sum, value)| *sum += weight * value);
        }
    }
}

dispatch! {
    /// The place of the first of the largest sums of `a` times the first and `b` times the second number.
    pub(in crate::tune) fn largest_sum(first: &[f64], a: f64, second: &[f64], b: f64) -> usize {
        const LANES: usize = 16;
        let mut best = [f64::NEG_INFINITY; LANES];
        let ((whole, rest), (other_whole, other_rest)) = (first.as_chunks::<LANES>(), second.as_chunks::<LANES>());
        for (first, second) in whole.iter().zip(other_whole) {
            for ((best, x), y) in best.iter_mut().zip(first).zip(second) {
                let sum = a * x + b * y;
                *best = if sum > *best { sum } else { *best };
            }
        }
        for ((best, x), y) in best.iter_mut().zip(rest).zip(other_rest) {
            let sum = a * x + b * y;
            *best = if sum > *best { sum } else { *best };
        }
        let largest = best.iter().fold(f64::NEG_INFINITY, |best, &sum| if sum > best { sum } else { best });
        first.iter().zip(second).position(|(x, y)| a * x + b * y == largest).unwrap_or(0)
    }
}
