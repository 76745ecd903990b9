//! Sums of products and rounding, with the same bits on every path.

use crate::error::Result;
use crate::memory::collected;
use crate::simd::dispatch;

/// Partial sums of a product. Their number fixes the order of additions.
const PARTIAL_SUMS: usize = 8;

/// Adding this constant rounds a number below 2^51 to an integer, halves to even, and leaves it in the last bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// Integers as floats.
pub(super) fn widened(values: &[i64]) -> Result<Vec<f64>> {
    collected(values.iter().map(|&value| value as f64))
}

/// Columns of integers as floats.
pub(super) fn all_widened<'a>(columns: impl Iterator<Item = &'a [i64]>) -> Result<Vec<Vec<f64>>> {
    columns.map(widened).collect()
}

dispatch! {
    /// Σ x·y.
    pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
        let mut sums = [0.0; PARTIAL_SUMS];
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<PARTIAL_SUMS>(), y.as_chunks::<PARTIAL_SUMS>());
        for (x, y) in x.iter().zip(y) {
            for lane in 0..PARTIAL_SUMS {
                sums[lane] += x[lane] * y[lane];
            }
        }
        sums.iter_mut().zip(x_rest.iter().zip(y_rest)).for_each(|(sum, (x, y))| *sum += x * y);
        sums.iter().sum()
    }
}

dispatch! {
    /// Adds `factor` times the values.
    pub(super) fn add(factor: f64, values: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(values).for_each(|(out, value)| *out += factor * value);
    }
}

dispatch! {
    /// Values times a scale and, if there are any, weights, rounded to integers. All results have to be below 2^51.
    pub(super) fn rounded(values: &[f64], weights: Option<&[f64]>, scale: f64, out: &mut [i64]) {
        let round = |x: f64| ((x + ROUNDER).to_bits() as i64).wrapping_sub(ROUNDER.to_bits() as i64);
        match weights {
            None => out.iter_mut().zip(values).for_each(|(out, value)| *out = round(value * scale)),
            Some(weights) => out
                .iter_mut()
                .zip(values.iter().zip(weights))
                .for_each(|(out, (value, weight))| *out = round(value * scale * weight)),
        }
    }
}
