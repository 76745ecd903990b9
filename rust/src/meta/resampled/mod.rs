//! Replicates of coefficients of agreement: cells of two metrics swapped, or systems and segments drawn again.
//!
//! A [`Material`] holds the cells that all metrics and people have scored. [`permuted`] swaps two metrics' scores, in all
//! cells independently, in whole columns or in whole rows, and computes the difference of their coefficients again
//! (Deutsch, Dror and Roth 2021, doi:10.1162/tacl_a_00417). [`drawn`] draws systems, segments or both with replacement.
//! Replicate r is a pure function of the seed and r.

mod draw;
mod drawn_ties;
mod few;
mod flips;
mod form;
mod mean;
mod permute;
mod points;
mod small;
mod sums;
mod sweep;
mod ties;
mod votes;
mod weighing;

pub use draw::{Drawn, drawn};
pub use permute::permuted;
pub use votes::{TieRule, permuted_votes};

use std::ops::Range;

use super::{Grouping, Matrices, Unit};
use crate::error::{Error, Result, named};
use crate::memory::reserved;

/// Which scores are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// Those of outputs, within each group.
    Outputs(Grouping),
    /// The systems' means over their outputs.
    Systems,
}

/// A coefficient of agreement between scores of a metric and of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coefficient {
    Pearson,
    Spearman,
    KendallB,
    KendallC,
    /// The share of pairs that the metric orders, or calls tied, as people do; ties of the metric are calibrated.
    Acc23,
    /// 2 · acc23 − 1.
    Tau23,
    /// The share of the pairs that people order which the metric orders alike.
    Accuracy,
}

impl Coefficient {
    /// Whether ties of the metric are calibrated.
    fn is_calibrated(self) -> bool {
        matches!(self, Coefficient::Acc23 | Coefficient::Tau23)
    }
}

/// A coefficient and what it is computed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistic {
    compared: Compared,
    coefficient: Coefficient,
}

const COMPARED: [(&str, Compared); 4] = [
    ("none", Compared::Outputs(Grouping::None)),
    ("sys", Compared::Outputs(Grouping::System)),
    ("item", Compared::Outputs(Grouping::Item)),
    ("system", Compared::Systems),
];

const COEFFICIENTS: [(&str, Coefficient); 7] = [
    ("pearson", Coefficient::Pearson),
    ("spearman", Coefficient::Spearman),
    ("kendall-b", Coefficient::KendallB),
    ("kendall-c", Coefficient::KendallC),
    ("acc23", Coefficient::Acc23),
    ("tau23", Coefficient::Tau23),
    ("accuracy", Coefficient::Accuracy),
];

impl Statistic {
    /// The coefficient of that name in that grouping.
    pub fn named(grouping: &str, coefficient: &str) -> Result<Self> {
        let compared = named("grouping", grouping, &COMPARED)?;
        let statistic = Statistic { compared, coefficient: named("coefficient", coefficient, &COEFFICIENTS)? };
        if compared == Compared::Systems && statistic.coefficient.is_calibrated() {
            return Err(Error::invalid(
                "the coefficient of system scores",
                "pearson, spearman, kendall-b, kendall-c or accuracy",
                coefficient,
            ));
        }
        Ok(statistic)
    }
}

/// The cells that some metrics and people have scored.
pub struct Material {
    /// The numbers of systems and segments.
    shape: [usize; 2],
    /// The positions of the cells in a matrix of systems × segments, ascending.
    cells: Vec<u32>,
    /// The scores of each metric in these cells.
    scores: Vec<Vec<f64>>,
    /// The scores of people in these cells.
    human: Vec<f64>,
}

impl Material {
    /// The cells that these metrics and people have scored.
    pub fn new(matrices: &Matrices<'_>, metrics: Range<usize>) -> Result<Self> {
        let (systems, segments) = matrices.shape;
        // What follows needs memory for every row and column, which arrays without cells do not bound.
        for (what, n) in [("systems", systems), ("segments", segments)] {
            if n == 0 {
                return Err(Error::Empty { what: what.into() });
            }
        }
        let all = matrices.human.len();
        if all >= 1 << 31 {
            return Err(Error::invalid("the number of cells", "below 2^31", all));
        }
        let present = |cell: &usize| {
            let mut scores = metrics.clone().map(|metric| matrices.of(metric)[*cell]);
            !matrices.human[*cell].is_nan() && scores.all(|score| !score.is_nan())
        };
        let mut cells = reserved(all)?;
        cells.extend((0..all).filter(present).map(|cell| cell as u32));
        let scores = metrics.clone().map(|metric| at(matrices.of(metric), &cells)).collect();
        Ok(Material { shape: [systems, segments], scores, human: at(matrices.human, &cells), cells })
    }

    /// Whether two cells are always swapped together.
    fn together(&self, unit: Unit, a: u32, b: u32) -> bool {
        match unit {
            Unit::Both => a == b,
            Unit::Inputs => self.segment(a) == self.segment(b),
            Unit::Systems => self.system(a) == self.system(b),
        }
    }

    fn system(&self, cell: u32) -> u32 {
        self.cells[cell as usize] / self.shape[1] as u32
    }

    fn segment(&self, cell: u32) -> u32 {
        self.cells[cell as usize] % self.shape[1] as u32
    }

    /// The groups of at least `least` cells: the number of the row or column, and the cells by their place in `cells`.
    fn groups(&self, grouping: Grouping, least: usize) -> Vec<(usize, Vec<u32>)> {
        let [systems, segments] = self.shape;
        let mut groups = vec![Vec::new(); grouping.groups((systems, segments))];
        for cell in 0..self.cells.len() as u32 {
            let group = match grouping {
                Grouping::None => 0,
                Grouping::System => self.system(cell),
                Grouping::Item => self.segment(cell),
            };
            groups[group as usize].push(cell);
        }
        groups.into_iter().enumerate().filter(|(_, cells)| cells.len() >= least).collect()
    }
}

/// The values of the given cells.
fn at(values: &[f64], cells: &[u32]) -> Vec<f64> {
    cells.iter().map(|&cell| values[cell as usize]).collect()
}

/// Whether all values are equal.
fn constant(values: &[f64]) -> bool {
    values.iter().all(|value| *value == values[0])
}
