//! Proximal Newton steps: each minimizes a quadratic model of the loss plus the penalty.

use super::active::Active;
use super::violation;
use crate::error::Result;
use crate::pool::{Run, Stop};

/// The most Newton steps of an optimization.
const MOST_STEPS: usize = 200;

/// The most sweeps over the coordinates within a step.
const MOST_SWEEPS: usize = 2000;

/// The share of the predicted decrease that a step has to reach (Armijo's rule).
const SUFFICIENT: f64 = 1e-4;

/// Weights of the selected features.
pub(super) struct Optimum {
    pub weights: Vec<f64>,
    pub loss: f64,
    /// How many Newton steps it took.
    pub steps: usize,
}

fn norm(weights: &[f64]) -> f64 {
    weights.iter().map(|weight| weight.abs()).sum()
}

/// Minimizes loss + penalty · ‖w‖₁ until no condition is violated by more than `tolerance`.
pub(super) fn minimise(
    active: &Active<'_>,
    start: Vec<f64>,
    (penalty, tolerance): (f64, f64),
    run: &mut Run<'_>,
) -> Result<Optimum> {
    let mut weights = start;
    let mut steps = 0;
    loop {
        let scores = active.scores(&weights, run)?;
        let (loss, gradient) = active.gradient(&scores, run)?;
        let violations: Vec<f64> = weights.iter().zip(&gradient).map(|(&w, &g)| violation(w, g, penalty)).collect();
        let largest = violations.iter().copied().fold(0.0, f64::max);
        let here = Optimum { weights, loss, steps };
        // Also ends if values are too large, so that a sum is not finite.
        if largest.is_nan() || largest <= tolerance || steps == MOST_STEPS || !loss.is_finite() {
            return Ok(here);
        }
        let free: Vec<usize> =
            (0..violations.len()).filter(|&i| here.weights[i] != 0.0 || violations[i] > 0.0).collect();
        let curvature = active.curvature(&scores, &free, run)?;
        let of_free = |all: &[f64]| free.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        let point = (of_free(&here.weights), of_free(&gradient));
        let goal = (largest * 1e-2).min(tolerance * 0.1);
        let direction = run.serial(|stop| minimise_model(point, &curvature, (penalty, goal), stop))?;
        let (mut target, mut along) = (here.weights.clone(), vec![0.0; here.weights.len()]);
        for (&column, &(weight, step)) in free.iter().zip(&direction) {
            (target[column], along[column]) = (weight, step);
        }
        let along_scores = active.scores(&along, run)?;
        let slope: f64 = gradient.iter().zip(&along).map(|(g, d)| g * d).sum();
        let predicted = slope + penalty * (norm(&target) - norm(&here.weights));
        let value = loss + penalty * norm(&here.weights);
        // Differences below this are rounding errors.
        let slack = 8.0 * f64::EPSILON * value.abs();
        let mut length = 1.0;
        weights = loop {
            // A whole step keeps the zeros exact.
            let moved: Vec<f64> = if length == 1.0 {
                target.clone()
            } else {
                here.weights.iter().zip(&along).map(|(w, d)| w + length * d).collect()
            };
            let reached = active.loss(&scores, (length, &along_scores), run)? + penalty * norm(&moved);
            if reached <= value + SUFFICIENT * length * predicted + slack {
                break moved;
            }
            length *= 0.5;
            if length < 1e-12 {
                return Ok(here);
            }
        };
        steps += 1;
    }
}

/// Minimizes a quadratic model of the loss around some weights, plus the penalty. Returns the new weights, and how far
/// each of them has moved: cyclic coordinate descent until no condition of the model's minimum is violated by more than
/// `goal`.
fn minimise_model(
    (weights, mut slopes): (Vec<f64>, Vec<f64>),
    curvature: &[f64],
    (penalty, goal): (f64, f64),
    stop: &Stop<'_>,
) -> Result<Vec<(f64, f64)>> {
    let n = weights.len();
    // Added to the diagonal, so that equal columns have a unique minimum.
    let damping = 1e-10 * (0..n).map(|i| curvature[i * n + i]).fold(0.0, f64::max) + 1e-12;
    let mut moved: Vec<(f64, f64)> = weights.iter().map(|&weight| (weight, 0.0)).collect();
    for _ in 0..MOST_SWEEPS {
        let mut largest: f64 = 0.0;
        for i in 0..n {
            stop.charge(4)?;
            let (weight, step) = moved[i];
            let slope = slopes[i] + damping * step;
            let off = violation(weight, slope, penalty);
            if off == 0.0 {
                continue;
            }
            largest = largest.max(off);
            let row = &curvature[i * n..][..n];
            let steepness = row[i].max(0.0) + damping;
            let free = weight * steepness - slope;
            let next = (free.abs() - penalty).max(0.0).copysign(free) / steepness;
            let next = if next == 0.0 { 0.0 } else { next };
            let change = next - weight;
            stop.charge(n)?;
            slopes.iter_mut().zip(row).for_each(|(slope, h)| *slope += change * h);
            moved[i] = (next, step + change);
        }
        if largest <= goal {
            break;
        }
    }
    moved.iter_mut().zip(&weights).for_each(|(new, old)| new.1 = new.0 - old);
    Ok(moved)
}
