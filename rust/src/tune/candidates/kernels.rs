//! Sums over the candidates of a list, and the places of the largest.

use crate::simd::dispatch;

dispatch! {
    /// The weighted sums of columns, which lie one after another. `out` holds zeros.
    pub(super) fn weigh(columns: &[f64], weights: &[f64], out: &mut [f64]) {
        let n = out.len();
        let (fours, rest) = weights.as_chunks::<4>();
        for (i, &[w, x, y, z]) in fours.iter().enumerate() {
            let (a, others) = columns[4 * i * n..][..4 * n].split_at(n);
            let (b, others) = others.split_at(n);
            let (c, d) = others.split_at(n);
            for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *out = *out + a * w + b * x + c * y + d * z;
            }
        }
        for (i, weight) in (4 * fours.len()..).zip(rest) {
            out.iter_mut().zip(&columns[i * n..][..n]).for_each(|(out, value)| *out += value * weight);
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
