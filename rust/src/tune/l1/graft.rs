//! Grafting: features are selected by the gradient, then their weights are optimized, and so on.

use super::active::Active;
use super::newton::minimise;
use super::{Lists, pass, violation};
use crate::error::{Error, Result};
use crate::memory::{reserved, zeros};
use crate::pool::Run;

/// How to select features.
#[derive(Debug, Clone)]
pub struct Settings {
    /// γ, the factor of ‖w‖₁.
    pub penalty: f64,
    /// The most features that each step adds; the last number holds for all later steps.
    pub per_step: Vec<usize>,
    /// The most features that are selected.
    pub limit: Option<usize>,
    /// By how much the conditions of an optimum may be violated.
    pub tolerance: f64,
}

/// A step: features were added, and all weights optimized.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// How many features have been selected so far.
    pub selected: usize,
    /// How many weights are not zero.
    pub nonzero: usize,
    /// The largest absolute derivative among the features that were added.
    pub steepest: f64,
    /// The loss, without the penalty.
    pub loss: f64,
    /// The loss with the penalty.
    pub objective: f64,
    /// How many Newton steps it took.
    pub iterations: usize,
}

/// The result of [`graft`].
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// A weight for each feature.
    pub weights: Vec<f64>,
    /// The features in the order of their selection.
    pub selected: Vec<usize>,
    pub steps: Vec<Step>,
    /// The largest violation of the conditions among selected features, |g + γ·sign w| or |g| − γ.
    pub violation: f64,
    /// The largest violation among the others, |g| − γ: more than the tolerance if the limit ended the selection.
    pub violation_outside: f64,
}

impl Settings {
    fn check(&self) -> Result<()> {
        for (name, value) in [("gamma", self.penalty), ("tolerance", self.tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::invalid(name, "a positive number", value));
            }
        }
        if self.per_step.is_empty() || self.per_step.contains(&0) {
            return Err(Error::invalid("per_step", "at least 1 in each step", format!("{:?}", self.per_step)));
        }
        Ok(())
    }
}

/// The features with the steepest descent that are not selected, at most `n`; of equals, the first.
fn steepest(gradient: &[f64], chosen: &[u8], threshold: f64, n: usize) -> Result<Vec<usize>> {
    let wanted = |i: &usize| chosen[*i] == 0 && gradient[*i].abs() > threshold;
    let mut found = reserved((0..gradient.len()).filter(wanted).count())?;
    found.extend((0..gradient.len()).filter(wanted));
    let order = |a: &usize, b: &usize| gradient[*b].abs().total_cmp(&gradient[*a].abs()).then(a.cmp(b));
    if found.len() > n {
        found.select_nth_unstable_by(n, order);
        found.truncate(n);
    }
    found.sort_unstable_by(order);
    Ok(found)
}

/// Selects features and optimizes their weights.
pub fn graft(lists: &Lists<'_>, settings: &Settings, run: &mut Run<'_>) -> Result<Fit> {
    settings.check()?;
    let (penalty, within) = (settings.penalty, 0.5 * settings.tolerance);
    let mut fit = Fit {
        weights: zeros(&[lists.candidates.width()])?,
        selected: Vec::new(),
        steps: Vec::new(),
        violation: 0.0,
        violation_outside: 0.0,
    };
    let mut chosen: Vec<u8> = zeros(&[lists.candidates.width()])?;
    loop {
        let (_, gradient) = pass(lists, &fit.weights, run)?;
        let (mut inside, mut outside) = (0.0_f64, 0.0_f64);
        for ((&weight, &slope), &chosen) in fit.weights.iter().zip(&gradient).zip(&chosen) {
            let worst = if chosen == 1 { &mut inside } else { &mut outside };
            *worst = worst.max(violation(weight, slope, penalty));
        }
        (fit.violation, fit.violation_outside) = (inside, outside);
        let step = fit.steps.len().min(settings.per_step.len() - 1);
        let room = settings.limit.unwrap_or(usize::MAX).saturating_sub(fit.selected.len());
        let added = steepest(&gradient, &chosen, penalty + within, settings.per_step[step].min(room))?;
        let Some(&first) = added.first() else { return Ok(fit) };
        added.iter().for_each(|&feature| chosen[feature] = 1);
        fit.selected.extend(added);
        let start = fit.selected.iter().map(|&feature| fit.weights[feature]).collect();
        let active = Active::new(lists, &fit.selected, run)?;
        let optimum = minimise(&active, start, (penalty, within), run)?;
        for (&feature, &weight) in fit.selected.iter().zip(&optimum.weights) {
            fit.weights[feature] = weight;
        }
        fit.steps.push(Step {
            selected: fit.selected.len(),
            nonzero: optimum.weights.iter().filter(|weight| **weight != 0.0).count(),
            steepest: gradient[first].abs(),
            loss: optimum.loss,
            objective: optimum.loss + penalty * optimum.weights.iter().map(|weight| weight.abs()).sum::<f64>(),
            iterations: optimum.steps,
        });
    }
}
