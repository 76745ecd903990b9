//! How many shuffles are at least as extreme as what was observed.

use std::ops::Range;

use super::{Alternative, Input, Stages, Accumulate, Pair, Pairs, Partial, Reduction, Shape, Span, check_same, cleared};
use crate::error::Result;
use crate::resample::zeros;

/// For every metric and pair the number of shuffles that reach a threshold.
#[derive(Debug, Clone)]
pub struct Tally {
    of: Pairs,
    alternative: Alternative,
    thresholds: Vec<f64>,
    span: Span,
    counts: Vec<u64>,
}

impl Tally {
    /// Of these pairs, with a threshold for every metric and pair.
    pub fn new(pairs: Vec<Pair>, alternative: Alternative, thresholds: Vec<f64>) -> Self {
        Tally { of: Pairs::new(pairs), alternative, thresholds, span: Span::default(), counts: Vec::new() }
    }

    /// The counts: metric by metric, pair by pair.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The metrics and the pairs.
    pub fn shape(&self) -> [usize; 2] {
        self.of.shape()
    }

    /// The replicates that it is made of.
    ///
    /// # Errors
    /// [`crate::Error::InvalidOption`] before a run.
    pub fn replicates(&self) -> Result<Range<u64>> {
        self.span.get()
    }

    /// Adds those of the replicates that follow on these.
    ///
    /// # Errors
    /// [`crate::Error::InvalidOption`] if they do not, or were counted otherwise.
    pub fn merge(&mut self, later: &Self) -> Result<()> {
        let both = self.span.with(&later.span)?;
        let same = self.thresholds == later.thresholds && self.alternative == later.alternative;
        check_same(same && self.of == later.of)?;
        self.counts.iter_mut().zip(&later.counts).for_each(|(count, more)| *count += more);
        self.span = Span(Some(both));
        Ok(())
    }
}

impl Reduction for Tally {
    fn input(&self) -> Input<'_> {
        Input::Pairs(&self.of.pairs)
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.of.begin(shape)?;
        self.of.check("thresholds", &self.thresholds)?;
        self.counts = zeros(&[self.of.series()])?;
        self.span = Span(Some(replicates));
        Ok(())
    }

    fn stages(&mut self) -> Stages<'_> {
        let accumulate = Reached { alternative: self.alternative, thresholds: &self.thresholds };
        let counts = &mut self.counts;
        let combine = |partial: &Partial| {
            counts.iter_mut().zip(&partial.counts).for_each(|(count, more)| *count += more);
            Ok(true)
        };
        (Box::new(accumulate), Box::new(combine))
    }
}

struct Reached<'a> {
    alternative: Alternative,
    thresholds: &'a [f64],
}

impl Accumulate for Reached<'_> {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        cleared(&mut partial.counts, self.thresholds.len())
    }

    fn add_values(&self, partial: &mut Partial, series: usize, _: usize, statistics: &[f64]) {
        let (alternative, threshold) = (self.alternative, self.thresholds[series]);
        let reached = statistics.iter().filter(|&&t| alternative.reached(t, threshold)).count();
        partial.counts[series] += reached as u64;
    }
}
