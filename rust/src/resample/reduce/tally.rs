//! Counts of shuffles that are at least as extreme as the observed difference.

use std::ops::Range;

use super::state::{fields, state};
use super::{
    Accumulate, Alternatives, Combine, Criteria, Input, Pair, Partial, Ranged, Reduction, Shape, Span, Stages,
    check_same, cleared,
};
use crate::error::Result;
use crate::memory::zeros;
use crate::pool::Stop;

/// A count of shuffles for each test.
#[derive(Debug, Clone)]
pub(super) struct TestCounts {
    pub criteria: Criteria,
    pub span: Span,
    pub counts: Vec<u64>,
}

impl TestCounts {
    pub fn new(pairs: Vec<Pair>, alternatives: impl Into<Alternatives>, thresholds: Vec<f64>) -> Self {
        let criteria = Criteria::new(pairs, alternatives, thresholds);
        TestCounts { criteria, span: Span::default(), counts: Vec::new() }
    }

    /// Checks the pairs and thresholds, and sets all counts to 0.
    pub fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.criteria.begin(shape)?;
        self.counts = zeros(&[self.criteria.tests.count()])?;
        self.span = Span(Some(replicates));
        Ok(())
    }

    /// Is there a threshold for every test, and a count of some of the replicates, or one for each of `kinds` kinds?
    pub fn fits(&self, kinds: usize) -> bool {
        let (tests, replicates) = (self.criteria.tests.count(), self.span.len() as u64);
        self.criteria.thresholds.len() == tests
            && self.counts.len() == kinds * tests
            && self.counts.iter().all(|count| *count <= replicates)
    }

    /// Adds the counts of the replicates that follow. `same` is whether the rest of the specification agrees.
    pub fn merge(&mut self, later: &Self, same: bool) -> Result<()> {
        let both = self.span.with(&later.span)?;
        check_same(same && self.criteria == later.criteria)?;
        add_counts(&mut self.counts, &later.counts);
        self.span = Span(Some(both));
        Ok(())
    }
}

fields!(TestCounts: span, criteria.tests, counts);

/// Adds counts element by element.
pub(super) fn add_counts(counts: &mut [u64], more: &[u64]) {
    counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
}

/// Adds the counts of partial results to `counts`.
pub(super) fn combine_counts(counts: &mut [u64]) -> Combine<'_> {
    Box::new(|partial: &Partial| {
        add_counts(counts, &partial.counts);
        Ok(true)
    })
}

/// The accessors of a reduction with a field `counted: TestCounts`.
macro_rules! test_counts {
    ($class:ident) => {
        impl $class {
            /// The counts: metric by metric, pair by pair.
            pub fn counts(&self) -> &[u64] {
                &self.counted.counts
            }

            /// The numbers of metrics and of pairs.
            pub fn shape(&self) -> [usize; 2] {
                self.counted.criteria.tests.shape()
            }
        }
    };
}

pub(super) use test_counts;

/// For every metric and pair, the number of shuffles that reach a threshold.
#[derive(Debug, Clone)]
pub struct Tally {
    counted: TestCounts,
}

test_counts!(Tally);
state!(Tally = 1, [counted], |tally| tally.counted.fits(1));

impl Tally {
    /// A tally for these pairs, with a threshold for every metric and pair.
    pub fn new(pairs: Vec<Pair>, alternatives: impl Into<Alternatives>, thresholds: Vec<f64>) -> Self {
        Tally { counted: TestCounts::new(pairs, alternatives, thresholds) }
    }
}

impl Ranged for Tally {
    fn span(&self) -> &Span {
        &self.counted.span
    }

    fn merge(&mut self, later: &Self, _stop: &Stop<'_>) -> Result<()> {
        self.counted.merge(&later.counted, true)
    }
}

impl Reduction for Tally {
    fn input(&self) -> Input {
        Input::Pairs(self.counted.criteria.tests.pairs.clone())
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.counted.begin(shape, replicates)
    }

    fn stages(&mut self) -> Stages<'_> {
        let TestCounts { criteria, counts, .. } = &mut self.counted;
        (Box::new(Reached(criteria)), combine_counts(counts))
    }
}

struct Reached<'a>(&'a Criteria);

impl Accumulate for Reached<'_> {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        cleared(&mut partial.counts, self.0.thresholds.len())
    }

    fn add_values(&self, partial: &mut Partial, test: usize, _: usize, statistics: &[f64]) {
        let (alternative, threshold) = (self.0.alternative(test), self.0.thresholds[test]);
        let reached = statistics.iter().filter(|&&t| alternative.reached(t, threshold)).count();
        partial.counts[test] += reached as u64;
    }
}
