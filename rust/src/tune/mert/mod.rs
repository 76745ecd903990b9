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

use super::candidates::{Candidates, Counts, Offsets, heights};
use crate::error::{Error, Result, check_length};
use crate::memory::reserved;
use crate::metric::Formula;
use crate::pool::Stop;
use crate::simd::Simd;
use envelope::{Corner, Envelope};

pub use search::{Preset, Settings, tune};
pub use sweep::{Found, Rules, line_search};

/// Features and weights must not be larger, so that no product of two of them overflows.
pub const LARGEST: f64 = 1e100;

/// k-best lists, prepared for line searches.
pub struct Lists<'a> {
    offsets: Offsets<'a>,
    /// For each list the values of the first feature of all entries, then those of the second one, and so on.
    features: Vec<f64>,
    width: usize,
    /// For each list and feature an entry of its smallest and one of its largest value.
    outer: Vec<[u32; 2]>,
    counts: Counts<'a>,
    simd: Simd,
}

impl<'a> Lists<'a> {
    /// Wraps lists of which number i has the entries `offsets[i]` to `offsets[i + 1]` − 1. `features` has a row of `width`
    /// numbers for every entry, `counts` a row for the formula.
    pub fn new(
        offsets: &'a [i64],
        (features, width): (&'a [f64], usize),
        counts: &'a [i64],
        formula: Arc<dyn Formula>,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        if width == 0 {
            return Err(Error::Empty { what: "features".into() });
        }
        let candidates = Candidates::new(offsets, (features, width), None, stop)?;
        check_size("features", features)?;
        let (offsets, features, simd) = (candidates.offsets(), candidates.columns(stop)?, Simd::best());
        let mut outer = reserved(offsets.len().saturating_mul(width))?;
        for list in offsets.iter() {
            stop.charge(list.len() * width)?;
            let columns = features[list.start * width..list.end * width].chunks_exact(list.len());
            outer.extend(columns.map(|column| envelope::outer(simd, column).map(|entry| entry as u32)));
        }
        let counts = Counts::new(counts, formula, offsets, stop)?;
        Ok(Lists { offsets, features, width, outer, counts, simd })
    }

    /// The features of a list, feature by feature, and the number of its first entry.
    fn list(&self, i: usize) -> (&[f64], usize) {
        let list = self.offsets.list(i);
        (&self.features[list.start * self.width..list.end * self.width], list.start)
    }

    /// Weights of the right number and size.
    fn check_weights(&self, what: &str, weights: &[f64]) -> Result<()> {
        check_length(what, self.width, weights.len())?;
        check_size(what, weights)
    }

    /// The summed counts of the best entries under `weights`. The first of several best entries wins.
    fn totals(&self, weights: &[f64], buffers: &mut Buffers, stop: &Stop<'_>) -> Result<Vec<i64>> {
        let mut totals = self.counts.zeros();
        for i in 0..self.offsets.len() {
            let (features, first) = self.list(i);
            stop.charge(features.len() / 4)?;
            let best = envelope::best(self.simd, features, weights, &mut buffers.heights);
            self.counts.add(first + best, &mut totals);
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
        let mut here = self.counts.zeros();
        buffers.lines.resize_with(directions.len().max(buffers.lines.len()), Line::default);
        for line in &mut buffers.lines {
            line.corners.clear();
            line.leftmost.clear();
            line.leftmost.resize(self.counts.width(), 0);
        }
        for i in 0..self.offsets.len() {
            let (features, first) = self.list(i);
            let n = features.len() / self.width;
            stop.charge(n * (self.width + directions.len()) / 4)?;
            let best = envelope::best(self.simd, features, weights, &mut buffers.heights);
            self.counts.add(first + best, &mut here);
            for (direction, line) in directions.iter().zip(&mut buffers.lines) {
                let (slopes, outer) = match direction {
                    Direction::Axis(axis) => {
                        (&features[axis * n..][..n], self.outer[i * self.width + axis].map(|entry| entry as usize))
                    }
                    Direction::Vector(vector) => {
                        heights(self.simd, features, vector, n, &mut buffers.slopes);
                        (&buffers.slopes[..], envelope::outer(self.simd, &buffers.slopes))
                    }
                };
                let lines = (&buffers.heights[..], slopes);
                let leftmost = buffers.envelope.corners(self.simd, lines, (best, outer), first, &mut line.corners);
                self.counts.add(first + leftmost, &mut line.leftmost);
            }
        }
        Ok(self.counts.formula().score(&here))
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
}

/// Checks that no number is NaN or too large.
fn check_size(what: &str, numbers: &[f64]) -> Result<()> {
    let wrong = numbers.iter().find(|number| number.is_nan() || number.abs() > LARGEST);
    let expected = format_args!("finite numbers of at most {LARGEST:e} in absolute value");
    wrong.map_or(Ok(()), |wrong| Err(Error::invalid(what, expected, format_args!("{wrong:?}"))))
}

#[cfg(test)]
mod tests;
