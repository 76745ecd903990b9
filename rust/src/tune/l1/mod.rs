//! A log-linear reranker with an ℓ1 penalty, whose features are selected while it is trained.
//!
//! The loss is the negative log-likelihood of a target candidate in each list, L(w) = −Σ ln p(target), where p is the
//! softmax of w·f over the list. [`graft`](graft::graft) minimizes L(w) + γ‖w‖₁ by grafting (Perkins, Lacker & Theiler 2003;
//! Riezler & Vasserman 2004): it begins with no feature, adds those whose derivative of L is larger than γ, optimizes the
//! weights of the features that it has (proximal Newton steps), and repeats. At the end no other feature could lower the
//! objective, so the result is the optimum over all features.
//!
//! The lists are read in passes, from borrowed memory, which may be a mapped file. Only the columns of selected features
//! are copied. Sums are over blocks of lists that do not depend on the number of threads.

mod active;
mod graft;
mod newton;
mod pass;

pub use graft::{Settings, graft};
pub use pass::pass;

use std::ops::Range;

use super::candidates::{Candidates, check_option};
use crate::error::{Result, check_length};
use crate::pool::{Blocks, Stop};

/// About how many values of features a block has.
const VALUES_PER_BLOCK: usize = 1 << 15;

/// Lists of candidates with features, and the target of each list.
#[derive(Debug, Clone, Copy)]
pub struct Lists<'a> {
    candidates: Candidates<'a>,
    targets: &'a [i64],
}

impl<'a> Lists<'a> {
    /// Lists whose targets are numbers within the list, from 0.
    pub fn new(candidates: Candidates<'a>, targets: &'a [i64], stop: &Stop<'_>) -> Result<Self> {
        check_length("targets", candidates.sentences(), targets.len())?;
        for (i, (&target, list)) in targets.iter().zip(candidates.offsets().iter()).enumerate() {
            stop.charge(1)?;
            let inside = usize::try_from(target).is_ok_and(|target| target < list.len());
            check_option("targets", format_args!("below {} and at least 0 in list {i}", list.len()), target, inside)?;
        }
        Ok(Lists { candidates, targets })
    }

    /// The candidates of a block of lists.
    fn block(&self, lists: &Range<usize>) -> Range<usize> {
        self.candidates.list(lists.start).start..self.candidates.list(lists.end - 1).end
    }

    fn target(&self, list: usize) -> usize {
        self.targets[list] as usize
    }

    /// Blocks of lists, the same for any number of threads.
    fn blocks(&self) -> Blocks {
        let (lists, candidates) = (self.candidates.sentences(), self.candidates.entries());
        let per_list = (self.candidates.values() + candidates) / lists + 1;
        Blocks { items: lists, size: (VALUES_PER_BLOCK / per_list).max(1), cost: 4 * per_list as u64, lead: 0 }
    }
}

/// Turns the scores of a list into probabilities. Returns the negative logarithm of the target's.
fn softmax(scores: &mut [f64], target: usize) -> f64 {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let below = scores[target] - largest;
    let mut sum = 0.0;
    for score in &mut *scores {
        *score = crate::math::exp_of_negative(*score - largest);
        sum += *score;
    }
    scores.iter_mut().for_each(|score| *score /= sum);
    sum.ln() - below
}

/// How far a weight is from the condition of an optimum: |g + γ·sign w|, or |g| − γ if the weight is 0.
fn violation(weight: f64, gradient: f64, penalty: f64) -> f64 {
    if weight == 0.0 { (gradient.abs() - penalty).max(0.0) } else { (gradient + penalty.copysign(weight)).abs() }
}

#[cfg(test)]
mod tests;
