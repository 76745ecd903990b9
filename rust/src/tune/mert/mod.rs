//! Minimum error rate training (Och 2003, P03-1021): weights whose best entries have the best corpus score.
//!
//! Along a line w + x·d in the space of weights, each entry of a list is a line b + m·x with b = w·f and m = d·f, and the
//! best entry changes only where the upper `envelope` of these lines has a corner. Going through the corners of all
//! lists from left to right, the `sweep` knows the summed counts of the best entries between any two of them, and so
//! the metric's score on every part of the line exactly. `search` goes from line to line, from several starts
//! (Bertoldi, Haddow and Fouet 2009, doi:10.2478/v10108-009-0003-2).
//!
//! Counts are integers, so the score of a part does not depend on the order of the corners. A start of a run has a stream
//! of random numbers of its own: results are the same bytes for any number of threads.

mod envelope;
mod order;
mod search;
mod sweep;

use std::sync::Arc;

use crate::error::{Error, Place, Result};
use crate::memory::reserved;
use crate::metric::Formula;
use crate::pool::{Stop, WorkMeter};
use crate::simd::Simd;
use crate::stats::LARGEST_SUM;
use envelope::{Corner, Envelope};

pub use search::{Preset, Runs, Settings, tune};
pub use sweep::{Found, Rules, line_search};

/// Features and weights must not be larger, so that no product of two of them overflows.
pub const LARGEST: f64 = 1e100;

/// k-best lists, prepared for line searches.
pub struct Lists<'a> {
    /// Where the entries of each list begin, and where the last one ends.
    offsets: Vec<usize>,
    /// For each list the values of the first feature of all entries, then those of the second one, and so on.
    features: Vec<f64>,
    width: usize,
    /// For each list and feature an entry of its smallest and one of its largest value.
    outer: Vec<[u32; 2]>,
    /// A row for each entry.
    counts: &'a [i64],
    columns: usize,
    formula: Arc<dyn Formula>,
    simd: Simd,
}

impl<'a> Lists<'a> {
    /// Wraps lists of which number i has the entries `offsets[i]` to `offsets[i + 1]` − 1. `features` has a row of `width`
    /// numbers for every entry, `counts` a row for the formula.
    ///
    /// # Errors
    /// [`Error::Empty`] without lists or features, [`Error::Malformed`] for an empty list, [`Error::LengthMismatch`] for
    /// arrays of the wrong length, [`Error::InvalidOption`] for a feature that is not finite or too large,
    /// [`Error::Overflow`] for counts too large to be summed, [`Error::Memory`], [`Error::Interrupted`].
    pub fn new(
        offsets: &[i64],
        (features, width): (&[f64], usize),
        counts: &'a [i64],
        formula: Arc<dyn Formula>,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        let columns = formula.width();
        let offsets = checked_offsets(offsets)?;
        let entries = offsets[offsets.len() - 1];
        if width == 0 {
            return Err(Error::Empty { what: "features".into() });
        }
        let lengths = [("numbers of features", width, features.len()), ("counts of entries", columns, counts.len())];
        for (what, each, got) in lengths {
            let expected = entries.saturating_mul(each);
            if got != expected {
                return Err(Error::LengthMismatch { what: what.into(), expected, got });
            }
        }
        check_finite("features", features)?;
        let simd = Simd::best();
        let mut transposed = reserved(features.len())?;
        let mut outer = reserved((offsets.len() - 1).saturating_mul(width))?;
        let mut meter = WorkMeter::default();
        for ends in offsets.windows(2) {
            let rows = &features[ends[0] * width..ends[1] * width];
            meter.charge(rows.len(), stop)?;
            for feature in 0..width {
                let start = transposed.len();
                transposed.extend(rows[feature..].iter().step_by(width));
                outer.push(envelope::outer(simd, &transposed[start..]).map(|entry| entry as u32));
            }
        }
        check_sums(&offsets, counts, columns)?;
        Ok(Lists { offsets, features: transposed, width, outer, counts, columns, formula, simd })
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of lists.
    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The features of a list, feature by feature, and the number of its first entry.
    fn list(&self, i: usize) -> (&[f64], usize) {
        (&self.features[self.offsets[i] * self.width..self.offsets[i + 1] * self.width], self.offsets[i])
    }

    fn row(&self, entry: usize) -> &[i64] {
        &self.counts[entry * self.columns..][..self.columns]
    }

    /// The score of summed counts, negative if lower scores are better; −∞ if there is none.
    fn gain(&self, score: f64) -> f64 {
        let signed = if self.formula.higher_is_better() { score } else { -score };
        if signed.is_nan() { f64::NEG_INFINITY } else { signed }
    }

    /// Weights of the right number and size.
    fn check_weights(&self, what: &str, weights: &[f64]) -> Result<()> {
        if weights.len() != self.width {
            let (expected, got) = (self.width, weights.len());
            return Err(Error::LengthMismatch { what: what.into(), expected, got });
        }
        check_finite(what, weights)
    }

    /// The summed counts of the best entries under `weights`. The first of several best entries wins.
    fn totals(&self, weights: &[f64], buffers: &mut Buffers, stop: &Stop<'_>) -> Result<Vec<i64>> {
        let mut totals = vec![0; self.columns];
        for i in 0..self.len() {
            let (features, first) = self.list(i);
            buffers.meter.charge(features.len() / 4, stop)?;
            let best = envelope::best(self.simd, features, weights, &mut buffers.heights);
            add(&mut totals, self.row(first + best));
        }
        Ok(totals)
    }

    /// The corners of the lines through `weights` along several directions, and the score at `weights`.
    fn corners(
        &self,
        weights: &[f64],
        directions: &[Direction],
        buffers: &mut Buffers,
        stop: &Stop<'_>,
    ) -> Result<f64> {
        let mut here = vec![0; self.columns];
        buffers.lines.resize_with(directions.len().max(buffers.lines.len()), Line::default);
        for line in &mut buffers.lines {
            line.corners.clear();
            line.leftmost.clear();
            line.leftmost.resize(self.columns, 0);
        }
        for i in 0..self.len() {
            let (features, first) = self.list(i);
            let n = features.len() / self.width;
            buffers.meter.charge(n * (self.width + directions.len()) / 4, stop)?;
            let best = envelope::best(self.simd, features, weights, &mut buffers.heights);
            add(&mut here, self.row(first + best));
            for (direction, line) in directions.iter().zip(&mut buffers.lines) {
                let (slopes, outer) = match direction {
                    Direction::Axis(axis) => {
                        (&features[axis * n..][..n], self.outer[i * self.width + axis].map(|entry| entry as usize))
                    }
                    Direction::Vector(vector) => {
                        envelope::heights(self.simd, features, vector, &mut buffers.slopes);
                        (&buffers.slopes[..], envelope::outer(self.simd, &buffers.slopes))
                    }
                };
                let lines = (&buffers.heights[..], slopes);
                let leftmost = buffers.envelope.corners(self.simd, lines, (best, outer), first, &mut line.corners);
                add(&mut line.leftmost, self.row(first + leftmost));
            }
        }
        Ok(self.formula.score(&here))
    }
}

/// A direction in the space of weights.
#[derive(Debug, Clone, PartialEq)]
enum Direction {
    /// Only this feature's weight changes.
    Axis(usize),
    /// Any other.
    Vector(Vec<f64>),
}

impl Direction {
    /// The direction of a vector. Along an axis the products with all other features would only add zeros.
    fn of(vector: &[f64]) -> Self {
        let mut others = vector.iter().enumerate().filter(|(_, x)| **x != 0.0);
        match (others.next(), others.next()) {
            (Some((axis, 1.0)), None) => Direction::Axis(axis),
            _ => Direction::Vector(vector.to_vec()),
        }
    }

    /// `weights` moved along the direction.
    fn moved(&self, weights: &[f64], by: f64) -> Vec<f64> {
        let mut moved = weights.to_vec();
        match self {
            Direction::Axis(axis) => moved[*axis] += by,
            Direction::Vector(vector) => moved.iter_mut().zip(vector).for_each(|(weight, d)| *weight += by * d),
        }
        moved
    }
}

/// A line through the space of weights: what the sweep starts from.
#[derive(Default)]
struct Line {
    corners: Vec<Corner>,
    /// The summed counts of the best entries far to the left.
    leftmost: Vec<i64>,
}

/// Memory that is used again and again, one for each thread.
#[derive(Default)]
struct Buffers {
    heights: Vec<f64>,
    slopes: Vec<f64>,
    envelope: Envelope,
    lines: Vec<Line>,
    sweep: sweep::Sweep,
    meter: WorkMeter,
}

pub(super) fn add(totals: &mut [i64], row: &[i64]) {
    totals.iter_mut().zip(row).for_each(|(total, count)| *total += count);
}

pub(super) fn checked_offsets(offsets: &[i64]) -> Result<Vec<usize>> {
    if offsets.len() < 2 {
        return Err(Error::Empty { what: "lists".into() });
    }
    if offsets[0] != 0 {
        let (option, expected) = ("offsets".into(), "numbers from 0 on".into());
        return Err(Error::InvalidOption { option, expected, got: offsets[0].to_string() });
    }
    if let Some(i) = offsets.windows(2).position(|ends| ends[0] >= ends[1]) {
        let place = Place { segment: Some(i + 1), ..Place::default() };
        let (expected, got) = ("a list of at least one entry".into(), "an empty list".into());
        return Err(Error::Malformed { place, expected, got });
    }
    let entries = offsets[offsets.len() - 1];
    if entries > i64::from(u32::MAX) {
        return Err(Error::Memory { numbers: entries as u128 });
    }
    Ok(offsets.iter().map(|&offset| offset as usize).collect())
}

fn check_finite(what: &str, numbers: &[f64]) -> Result<()> {
    match numbers.iter().find(|number| number.is_nan() || number.abs() > LARGEST) {
        None => Ok(()),
        Some(number) => {
            let (option, expected) = (what.into(), format!("finite numbers of at most {LARGEST:e} in absolute value"));
            Err(Error::InvalidOption { option, expected, got: number.to_string() })
        }
    }
}

/// Checks that no sum of one row per list overflows.
pub(super) fn check_sums(offsets: &[usize], counts: &[i64], columns: usize) -> Result<()> {
    let mut bounds = vec![0_u128; columns];
    for ends in offsets.windows(2) {
        let rows = &counts[ends[0] * columns..ends[1] * columns];
        for (column, bound) in bounds.iter_mut().enumerate() {
            let largest = rows[column..].iter().step_by(columns).map(|count| count.unsigned_abs()).max();
            *bound += u128::from(largest.unwrap_or(0));
        }
    }
    match bounds.iter().position(|&bound| bound > LARGEST_SUM as u128) {
        None => Ok(()),
        Some(column) => Err(Error::Overflow { column }),
    }
}

#[cfg(test)]
mod tests;
