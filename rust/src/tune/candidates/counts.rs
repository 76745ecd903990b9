//! The counts of candidates, and the corpus scores of those that are chosen.

use std::sync::Arc;

use super::Offsets;
use crate::error::{Error, LARGEST_SUM, Result, check_length};
use crate::metric::Formula;
use crate::pool::Stop;

/// A row of counts for each candidate, and the formula that scores sums of rows.
pub(in crate::tune) struct Counts<'a> {
    rows: &'a [i64],
    width: usize,
    formula: Arc<dyn Formula>,
}

impl<'a> Counts<'a> {
    pub fn new(rows: &'a [i64], formula: Arc<dyn Formula>, offsets: Offsets<'_>, stop: &Stop<'_>) -> Result<Self> {
        let width = formula.width();
        check_length("counts of candidates", offsets.entries().saturating_mul(width), rows.len())?;
        let counts = Counts { rows, width, formula };
        let mut bounds = vec![0_u128; width];
        for list in offsets.iter() {
            stop.charge(list.len() * width)?;
            for (column, bound) in bounds.iter_mut().enumerate() {
                let largest = list.clone().map(|candidate| counts.row(candidate)[column].unsigned_abs()).max();
                *bound += u128::from(largest.unwrap_or(0));
            }
        }
        match bounds.iter().position(|&bound| bound > LARGEST_SUM as u128) {
            None => Ok(counts),
            Some(column) => Err(Error::Overflow { column }),
        }
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    pub fn formula(&self) -> &dyn Formula {
        &*self.formula
    }

    #[inline]
    pub fn row(&self, candidate: usize) -> &'a [i64] {
        &self.rows[candidate * self.width..][..self.width]
    }

    /// Sums to start from.
    pub fn zeros(&self) -> Vec<i64> {
        vec![0; self.width]
    }

    /// Adds the row of a candidate.
    #[inline]
    pub fn add(&self, candidate: usize, totals: &mut [i64]) {
        totals.iter_mut().zip(self.row(candidate)).for_each(|(total, count)| *total += count);
    }

    /// What a score is worth: more if it is better, −∞ if it is NaN.
    pub fn gain(&self, score: f64) -> f64 {
        let signed = if self.formula.higher_is_better() { score } else { -score };
        if signed.is_nan() { f64::NEG_INFINITY } else { signed }
    }
}
