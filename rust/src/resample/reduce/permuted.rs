//! Counts of permutations in which a pair of systems, or the two most distant systems, differ as much as observed.

use std::ops::Range;

use super::state::state;
use super::tally::{TestCounts, combine_counts};
use super::{
    Accumulate, Alternative, Criteria, Input, Pair, Partial, Ranged, Reduction, Shape, Span, Stages, Tests, cleared,
};
use crate::error::Result;
use crate::memory::zeros;
use crate::pool::Stop;
use crate::resample::BATCH;

/// For every metric and pair (x, y), the number of permutations in which |score(x) − score(y)| reaches a threshold, and
/// in which the range of the scores of all systems, max − min, reaches it (Carterette 2012,
/// doi:10.1145/2094072.2094076).
#[derive(Debug, Clone)]
pub struct PermutedTally {
    /// The counts of pairs, then those of ranges.
    counted: TestCounts,
    systems: Vec<usize>,
}

impl PermutedTally {
    /// A tally for these pairs, with a threshold for every metric and pair.
    pub fn new(pairs: Vec<Pair>, thresholds: Vec<f64>) -> Self {
        PermutedTally { counted: TestCounts::new(pairs, Alternative::TwoSided, thresholds), systems: Vec::new() }
    }

    /// The counts of pairs: metric by metric, pair by pair.
    pub fn counts(&self) -> &[u64] {
        self.counted.counts.split_at(self.counted.criteria.tests.count()).0
    }

    /// The counts of ranges: metric by metric, pair by pair.
    pub fn range_counts(&self) -> &[u64] {
        self.counted.counts.split_at(self.counted.criteria.tests.count()).1
    }

    /// The numbers of metrics and of pairs.
    pub fn shape(&self) -> [usize; 2] {
        self.counted.criteria.tests.shape()
    }
}

impl Ranged for PermutedTally {
    fn span(&self) -> &Span {
        &self.counted.span
    }

    fn merge(&mut self, later: &Self, _stop: &Stop<'_>) -> Result<()> {
        self.counted.merge(&later.counted, self.systems == later.systems)
    }
}

state!(PermutedTally = 2, [counted, systems], |tally| {
    tally.counted.fits(2) && tally.systems.len() == tally.counted.criteria.tests.metrics
});

impl Reduction for PermutedTally {
    fn input(&self) -> Input {
        Input::Permuted
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.counted.begin(shape, replicates)?;
        self.counted.counts = zeros(&[2, self.counted.criteria.tests.count()])?;
        self.systems.clone_from(&shape.systems);
        Ok(())
    }

    fn stages(&mut self) -> Stages<'_> {
        let TestCounts { criteria, counts, .. } = &mut self.counted;
        // All metrics have the same number of systems.
        let systems = self.systems.first().copied().unwrap_or(0);
        (Box::new(Differences { criteria, systems }), combine_counts(counts))
    }
}

struct Differences<'a> {
    criteria: &'a Criteria,
    systems: usize,
}

impl Accumulate for Differences<'_> {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        cleared(&mut partial.counts, 2 * self.criteria.thresholds.len())?;
        // The scores of all systems under one metric in a batch of replicates.
        cleared(&mut partial.numbers, self.systems * BATCH)
    }

    fn add_values(&self, partial: &mut Partial, series: usize, _: usize, scores: &[f64]) {
        partial.numbers[series % self.systems * BATCH..][..scores.len()].copy_from_slice(scores);
    }

    fn metric_done(&self, partial: &mut Partial, metric: usize, _: usize, replicates: usize) {
        let scores = |system: usize| &partial.numbers[system * BATCH..][..replicates];
        let (mut highest, mut range) = ([f64::NEG_INFINITY; BATCH], [f64::INFINITY; BATCH]);
        for system in 0..self.systems {
            for ((highest, lowest), &score) in highest.iter_mut().zip(&mut range).zip(scores(system)) {
                (*highest, *lowest) = (highest.max(score), lowest.min(score));
            }
        }
        range.iter_mut().zip(highest).for_each(|(range, highest)| *range = highest - *range);
        let Criteria { tests: Tests { pairs, .. }, thresholds, .. } = self.criteria;
        for (test, &(x, y)) in (metric * pairs.len()..).zip(pairs) {
            let threshold = thresholds[test];
            let differences = scores(x).iter().zip(scores(y)).map(|(x, y)| x - y);
            let reached = differences.filter(|&t| Alternative::TwoSided.reached(t, threshold)).count();
            let ranges = range[..replicates].iter().filter(|&&range| range >= threshold).count();
            partial.counts[test] += reached as u64;
            partial.counts[thresholds.len() + test] += ranges as u64;
        }
    }
}
