//! Agreement of metrics with people: counts of pairs that both order alike, and the ties of metrics.
//!
//! Coefficients of rank correlation (Kendall's τ in all its forms, accuracy over pairs) are ratios of counts of pairs. The
//! counts are made here, per group, and the ratios in Python. [`votes`] compares a metric with people's votes between two
//! outputs, [`pairs`] with scores that people gave, and [`calibrate`] chooses below which difference two scores of a
//! metric are called tied. Counts are integers, so results do not depend on threads.

pub mod calibrate;
pub mod pairs;
pub mod resampled;
pub mod soft;
mod tree;
pub mod votes;

use crate::error::{Error, Result, check_length, named};
use crate::memory::filled;
use crate::pool::Stop;
use crate::resample::draw_weights;
use crate::stream::{Purpose, Stream};

/// Which cells of a matrix of systems × segments are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// All cells.
    None,
    /// The segments of a system.
    System,
    /// The systems on a segment.
    Item,
}

impl Grouping {
    /// All groupings by their names in Python.
    const NAMED: [(&'static str, Grouping); 3] =
        [("none", Grouping::None), ("sys", Grouping::System), ("item", Grouping::Item)];

    pub fn named(name: &str) -> Result<Self> {
        named("grouping", name, &Self::NAMED)
    }

    /// The number of groups of a matrix of (systems, segments).
    pub fn groups(self, (systems, segments): (usize, usize)) -> usize {
        match self {
            Grouping::None => 1,
            Grouping::System => systems,
            Grouping::Item => segments,
        }
    }

    /// The cells of a group.
    fn cells(self, (systems, segments): (usize, usize), group: usize) -> impl ExactSizeIterator<Item = usize> {
        let (first, step, length) = match self {
            Grouping::None => (0, 1, systems * segments),
            Grouping::System => (group * segments, 1, segments),
            Grouping::Item => (group, segments, systems),
        };
        (0..length).map(move |i| first + i * step)
    }
}

/// What is swapped between two metrics, or drawn, at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Each cell on its own. Cell s of system i of S segments has bit i·S + s of the replicate's stream.
    Both,
    /// A segment for all systems. Segment s has bit s.
    Inputs,
    /// A system on all segments. System i has bit i.
    Systems,
}

impl Unit {
    pub fn named(name: &str) -> Result<Self> {
        named("unit", name, &[("both", Unit::Both), ("inputs", Unit::Inputs), ("systems", Unit::Systems)])
    }

    /// The bit of a position in a matrix with this many segments.
    fn bit(self, position: usize, segments: usize) -> usize {
        match self {
            Unit::Both => position,
            Unit::Inputs => position % segments,
            Unit::Systems => position / segments,
        }
    }

    /// How often a replicate takes each system: as often as it is drawn, or once if systems are not drawn.
    fn copies_of_systems(self, seed: u64, replicate: u64, copies: &mut [u32]) {
        if self == Unit::Inputs {
            return copies.fill(1);
        }
        let mut indices = Stream::new(seed, Purpose::Selection, replicate).indices(copies.len() as u32);
        (0..copies.len()).for_each(|_| copies[indices.draw() as usize] += 1);
    }

    /// How often a replicate takes each segment, likewise.
    fn copies_of_segments(self, seed: u64, replicate: u64, segments: usize, stop: &Stop<'_>) -> Result<Vec<u32>> {
        match self {
            Unit::Systems => filled(segments, 1),
            Unit::Both | Unit::Inputs => draw_weights((seed, replicate), segments as u32, &[], stop),
        }
    }

    fn bits(self, [systems, segments]: [usize; 2]) -> usize {
        match self {
            Unit::Both => systems * segments,
            Unit::Inputs => segments,
            Unit::Systems => systems,
        }
    }
}

/// Scores of some metrics, and of people, for the same outputs. NaN is a gap.
#[derive(Debug, Clone, Copy)]
pub struct Matrices<'a> {
    scores: &'a [f64],
    human: &'a [f64],
    metrics: usize,
    shape: (usize, usize),
}

/// A cell that a metric and people have scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cell {
    pub metric: f64,
    pub human: f64,
}

impl<'a> Matrices<'a> {
    /// Scores of shape (metrics, systems, segments) and people's of shape (systems, segments).
    pub fn new(scores: &'a [f64], human: &'a [f64], [metrics, systems, segments]: [usize; 3]) -> Result<Self> {
        let cells = systems.checked_mul(segments).and_then(|cells| Some((cells, cells.checked_mul(metrics)?)));
        let (cells, all) = cells.ok_or(Error::Memory { numbers: u128::MAX })?;
        check_length("scores of people", cells, human.len())?;
        check_length("scores of metrics", all, scores.len())?;
        Ok(Matrices { scores, human, metrics, shape: (systems, segments) })
    }

    pub fn metrics(&self) -> usize {
        self.metrics
    }

    pub fn groups(&self, grouping: Grouping) -> usize {
        grouping.groups(self.shape)
    }

    /// The scores of a metric.
    fn of(&self, metric: usize) -> &'a [f64] {
        &self.scores[metric * self.human.len()..][..self.human.len()]
    }

    /// The most cells that a group can have.
    fn largest(&self, grouping: Grouping) -> usize {
        grouping.cells(self.shape, 0).len()
    }

    /// The cells of a group that this metric and people have scored.
    fn cells(&self, metric: usize, grouping: Grouping, group: usize) -> impl Iterator<Item = Cell> {
        let scores = self.of(metric);
        let cells = grouping.cells(self.shape, group);
        let cells = cells.map(|cell| Cell { metric: scores[cell], human: self.human[cell] });
        cells.filter(|cell| !cell.metric.is_nan() && !cell.human.is_nan())
    }
}

/// Checks that all metrics of pairs exist.
fn check_pairs(pairs: &[[usize; 2]], len: usize) -> Result<()> {
    match pairs.iter().flatten().find(|metric| **metric >= len) {
        Some(&index) => Err(Error::OutOfRange { what: "metric".into(), index, len }),
        None => Ok(()),
    }
}

/// The number of pairs of that many cells.
fn pairs_of(cells: usize) -> u64 {
    cells as u64 * (cells as u64).saturating_sub(1) / 2
}
