//! The contributions of units to the difference: their counts' differences along one or two directions.

use super::sums::{add, all_widened};
use super::{Both, Weights, moments};
use crate::error::Result;
use crate::memory::{copied, reserved, zeros};
use crate::pool::Stop;
use crate::simd::Simd;

/// Contributions are rounded to integers, so that their products can be summed exactly. This is the root mean square of
/// the rounded contributions: their rounding errors change the variance by about 1/10,000.
const CONTRIBUTION_SCALE: f64 = 64.0;

/// A second direction is used if ḡ turns by more than this share of its size.
const CHANGE: f64 = 0.05;

/// The gradient near the mean totals.
pub(super) struct Linear {
    /// The power of 2 by which differences are multiplied: see [`Terms`](crate::metric::Terms).
    pub scale: f64,
    /// Which derivatives change between shuffles.
    pub changing: Vec<bool>,
    /// Fixed directions, with the elements of the differing columns only, multiplied by the scale.
    directions: Vec<Vec<f64>>,
    /// The columns in which the systems differ, and their differences.
    differing: Vec<usize>,
    differences: Vec<Vec<f64>>,
    /// Σ δ·δ' over the differing columns.
    moments: Vec<f64>,
    columns: usize,
}

impl Linear {
    /// Finds the directions: the gradient at the mean totals; and, if ḡ changes its direction between shuffles, that of
    /// the largest change.
    pub fn new(simd: Simd, both: &Both, differing: &[usize], gradients: &[f64], stop: &Stop<'_>) -> Result<Self> {
        let (n, columns) = (differing.len(), both.columns);
        let differences = all_widened(differing.iter().map(|&column| both.difference(column)))?;
        let moments = moments(simd, &differences, stop)?;
        // The largest contribution of one column to the standard deviation of the difference.
        let sizes =
            differing.iter().enumerate().map(|(i, &column)| gradients[column].abs() * moments[i * n + i].sqrt());
        let scale = scale_of(sizes.fold(0.0, f64::max));
        let mut rows = gradients.chunks_exact(columns);
        let here: Vec<f64> = rows.next().unwrap_or_default().iter().map(|slope| slope * scale).collect();
        let others: Vec<Vec<f64>> = rows.map(|row| row.iter().map(|slope| slope * scale).collect()).collect();
        let changing = match others.is_empty() && n > 0 {
            // A function that is undefined where only one of its counts has moved.
            true => vec![true; columns],
            false => (0..columns).map(|k| others.iter().any(|row| row[k] != here[k])).collect(),
        };
        let own = |row: &[f64]| differing.iter().map(|&column| row[column]).collect::<Vec<_>>();
        let mut linear = Linear {
            scale,
            changing,
            directions: vec![own(&here)],
            differing: differing.to_vec(),
            differences,
            moments,
            columns,
        };
        let others: Vec<_> = others.iter().map(|row| own(row)).collect();
        linear.directions.extend(linear.turn(&others));
        Ok(linear)
    }

    /// The direction of the largest change of ḡ, if it is large: where one system is at the upper end and the other one
    /// at the lower.
    fn turn(&self, others: &[Vec<f64>]) -> Option<Vec<f64>> {
        let here = &self.directions[0];
        let along = self.times_moments(here);
        let squared = inner(&along, here);
        if squared.is_nan() || squared <= 0.0 {
            return None;
        }
        let (up, down) = others.split_at(others.len() / 2);
        let mut largest = (CHANGE * CHANGE * squared, None);
        for (up, down) in up.iter().zip(down) {
            let mut change: Vec<f64> =
                up.iter().zip(down).zip(here).map(|((up, down), here)| (up + down) / 2.0 - here).collect();
            // The part of it along the first direction needs no second one.
            let share = inner(&change, &along) / squared;
            change.iter_mut().zip(here).for_each(|(change, here)| *change -= share * here);
            let size = inner(&self.times_moments(&change), &change);
            if size > largest.0 {
                largest = (size, Some(change));
            }
        }
        largest.1
    }

    /// The product of a direction and the moments.
    fn times_moments(&self, direction: &[f64]) -> Vec<f64> {
        self.moments.chunks_exact(direction.len().max(1)).map(|row| inner(row, direction)).collect()
    }

    /// The differences of the only column that differs as contributions, and the projection: no rounding.
    pub fn integers(&self, both: &Both, common: f64) -> Result<(Vec<Vec<i64>>, Vec<f64>)> {
        let column = self.differing.first().copied().unwrap_or(0);
        let mut projection = vec![0.0; self.columns];
        projection[column] = common;
        Ok((vec![copied(both.difference(column))?], projection))
    }

    /// The rounded contributions along the directions, and the projection.
    pub fn rounded(
        &self,
        simd: Simd,
        both: &Both,
        weights: &Weights,
        stop: &Stop<'_>,
    ) -> Result<(Vec<Vec<i64>>, Vec<f64>)> {
        let mut contributions = reserved(self.directions.len())?;
        let mut projection = vec![0.0; self.directions.len() * self.columns];
        for (direction, projection) in self.directions.iter().zip(projection.chunks_exact_mut(self.columns)) {
            let mut values: Vec<f64> = zeros(&[both.units])?;
            // Column by column: the order of additions, and so the rounding, does not depend on signs.
            for (&slope, difference) in direction.iter().zip(&self.differences) {
                stop.charge(both.units)?;
                add(simd, slope, difference, &mut values);
            }
            let along = self.times_moments(direction);
            let size = inner(&along, direction);
            if size > 0.0 {
                let used = values.iter().filter(|&&value| value != 0.0).count();
                let scale = CONTRIBUTION_SCALE * (used as f64 / size).sqrt();
                contributions.push(weights.rounded(simd, &values, scale)?);
                let factor = weights.common / size / scale;
                self.differing.iter().zip(&along).for_each(|(&column, along)| projection[column] = along * factor);
            } else {
                contributions.push(zeros(&[both.units])?);
            }
        }
        Ok((contributions, projection))
    }
}

fn inner(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// About 1 divided by a positive size, as a power of 2; 1 for other sizes.
fn scale_of(size: f64) -> f64 {
    if size.is_nan() || size <= 0.0 {
        return 1.0;
    }
    // The exponent of the next power of two. That of subnormal numbers does not matter: it is limited.
    let exponent = (size.to_bits() >> 52) as i32 - 1022;
    f64::from_bits(((1023 - exponent.clamp(-1000, 1000)) as u64) << 52)
}
