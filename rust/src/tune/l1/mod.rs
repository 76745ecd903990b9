//! A log-linear reranker with an ℓ1 penalty, whose features are selected while it is trained.
//!
//! The loss is the negative log-likelihood of a target candidate in each list, L(w) = −Σ ln p(target), where p is the
//! softmax of w·f over the list. [`graft`](graft::graft) minimises L(w) + γ‖w‖₁ by grafting (Perkins, Lacker & Theiler 2003;
//! Riezler & Vasserman 2004): it begins with no feature, adds those whose derivative of L is larger than γ, optimises the
//! weights of the features that it has (proximal Newton steps), and repeats. At the end no other feature could lower the
//! objective, so the result is the optimum over all features.
//!
//! The lists are read in passes, from borrowed memory, which may be a mapped file. Only the columns of selected features
//! are copied. Sums are over blocks of lists that do not depend on the number of threads.

mod active;
mod graft;
mod newton;
mod pass;

pub use graft::{Fit, Settings, Step, graft};
pub use pass::{Pass, pass};

use std::ops::Range;

use crate::error::{Error, Result};
use crate::pool::{self, Blocks, Run, Stop, WorkMeter};

/// About how many values of features a block has.
const VALUES_PER_BLOCK: usize = 1 << 15;

/// Sparse features of candidates, row by row.
#[derive(Debug, Clone, Copy)]
pub struct Sparse<'a> {
    /// Where the row of each candidate begins, and the end of the last one.
    pub starts: &'a [i64],
    /// The features of all rows. Values of the same feature in a row add up.
    pub features: &'a [i32],
    /// Their values.
    pub values: &'a [f64],
    /// The number of features.
    pub count: usize,
}

/// Lists of candidates with features, and the target of each list. Dense features come first.
#[derive(Debug, Clone, Copy)]
pub struct Lists<'a> {
    starts: &'a [i64],
    dense: &'a [f64],
    dense_count: usize,
    sparse: Option<Sparse<'a>>,
    targets: &'a [i64],
}

fn invalid(option: &str, expected: &str, got: impl ToString) -> Error {
    Error::InvalidOption { option: option.into(), expected: expected.into(), got: got.to_string() }
}

fn same_length(what: &str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::LengthMismatch { what: what.into(), expected, got }) }
}

/// Checks that `starts` are the limits of rows of `total` elements.
fn check_starts(what: &str, starts: &[i64], total: usize, smallest: i64, run: &mut Run<'_>) -> Result<()> {
    if starts.first() != Some(&0) {
        return Err(invalid(what, "numbers that begin with 0", starts.first().map_or("none".into(), i64::to_string)));
    }
    let last = starts[starts.len() - 1];
    if i64::try_from(total) != Ok(last) {
        return Err(invalid(what, &format!("numbers that end with {total}"), last));
    }
    run.serial(|stop, _| {
        let mut meter = WorkMeter::default();
        for (row, ends) in starts.windows(2).enumerate() {
            meter.charge(1, stop)?;
            if ends[1].checked_sub(ends[0]).is_none_or(|length| length < smallest) {
                let got = format!("{} after {} at {}", ends[1], ends[0], row + 1);
                let rows =
                    if smallest == 0 { "numbers that do not decrease" } else { "lists of at least one candidate" };
                return Err(invalid(what, rows, got));
            }
        }
        Ok(())
    })
}

#[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]
pub(super) fn range(starts: &[i64], row: usize) -> Range<usize> {
    starts[row] as usize..starts[row + 1] as usize
}

impl<'a> Lists<'a> {
    /// Checked lists. `starts` has where each list begins, and the number of candidates at the end; `dense` has the shape
    /// (candidates, `dense_count`); a target is a number within its list, from 0.
    ///
    /// # Errors
    /// If lengths do not fit, a list is empty, an index is out of range, or a value is not finite.
    pub fn new(
        starts: &'a [i64],
        (dense, dense_count): (&'a [f64], usize),
        sparse: Option<Sparse<'a>>,
        targets: &'a [i64],
        run: &mut Run<'_>,
    ) -> Result<Self> {
        let candidates = match (sparse, dense_count) {
            (Some(sparse), _) => sparse.starts.len().saturating_sub(1),
            (None, 0) => starts.last().and_then(|&end| usize::try_from(end).ok()).unwrap_or(0),
            (None, count) => dense.len() / count,
        };
        same_length("dense features", candidates.saturating_mul(dense_count), dense.len())?;
        if starts.len() < 2 {
            return Err(Error::Empty { what: "lists".into() });
        }
        check_starts("offsets", starts, candidates, 1, run)?;
        same_length("targets", starts.len() - 1, targets.len())?;
        let lists = Lists { starts, dense, dense_count, sparse, targets };
        if let Some(sparse) = sparse {
            same_length("values of sparse features", sparse.features.len(), sparse.values.len())?;
            check_starts("rows of sparse features", sparse.starts, sparse.features.len(), 0, run)?;
        }
        if u32::try_from(lists.features()).is_err() || sparse.is_some_and(|sparse| i32::try_from(sparse.count).is_err())
        {
            return Err(invalid("features", "fewer than 2^31", lists.features()));
        }
        run.serial(|stop, _| lists.check_values(stop))?;
        Ok(lists)
    }

    fn check_values(&self, stop: &Stop<'_>) -> Result<()> {
        let mut meter = WorkMeter::default();
        for (list, &target) in self.targets.iter().enumerate() {
            meter.charge(1, stop)?;
            let length = range(self.starts, list).len();
            if usize::try_from(target).is_ok_and(|target| target < length) {
                continue;
            }
            return Err(invalid("targets", &format!("below {length} and at least 0 in list {list}"), target));
        }
        let no_number = |value: f64| invalid("features", "finite numbers", value);
        for values in [self.dense, self.sparse.map_or(&[][..], |sparse| sparse.values)] {
            for piece in values.chunks(pool::PIECE) {
                meter.charge(piece.len(), stop)?;
                if let Some(&value) = piece.iter().find(|value| !value.is_finite()) {
                    return Err(no_number(value));
                }
            }
        }
        let Some(sparse) = self.sparse else { return Ok(()) };
        for piece in sparse.features.chunks(pool::PIECE) {
            meter.charge(piece.len(), stop)?;
            if let Some(&index) = piece.iter().find(|&&i| usize::try_from(i).map_or(true, |i| i >= sparse.count)) {
                return Err(invalid("sparse features", &format!("from 0 to below {}", sparse.count), index));
            }
        }
        Ok(())
    }

    /// The number of lists.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.dense_count + self.sparse.map_or(0, |sparse| sparse.count)
    }

    /// The number of candidates.
    fn candidates(&self) -> usize {
        range(self.starts, self.len() - 1).end
    }

    /// The candidates of a list.
    fn list(&self, list: usize) -> Range<usize> {
        range(self.starts, list)
    }

    #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]
    fn target(&self, list: usize) -> usize {
        self.targets[list] as usize
    }

    /// All features of a candidate, and their values.
    #[allow(clippy::cast_sign_loss)]
    #[inline]
    fn each(&self, candidate: usize, mut visit: impl FnMut(usize, f64)) {
        let dense = &self.dense[candidate * self.dense_count..][..self.dense_count];
        dense.iter().enumerate().for_each(|(feature, &value)| visit(feature, value));
        if let Some(sparse) = self.sparse {
            let row = range(sparse.starts, candidate);
            let pairs = sparse.features[row.clone()].iter().zip(&sparse.values[row]);
            pairs.for_each(|(&feature, &value)| visit(self.dense_count + feature as usize, value));
        }
    }

    /// Blocks of lists, the same for any number of threads.
    fn blocks(&self) -> Blocks {
        let values = self.dense.len() + self.sparse.map_or(0, |sparse| sparse.values.len());
        let per_list = (values + self.candidates()) / self.len() + 1;
        Blocks { items: self.len(), size: (VALUES_PER_BLOCK / per_list).max(1), cost: 4 * per_list as u64, lead: 0 }
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
