//! Reductions: what is computed from the replicates.
//!
//! A [`Reduction`] reads replicates in blocks. Any thread turns a block into a [`Partial`] result; the calling thread
//! combines the partial results in the order of the replicates. The results of two adjacent ranges can be merged. If
//! both ranges begin and end at multiples of [`BATCH`], the merged result has the same bytes as one run over both
//! ranges.
//!
//! A *block* of replicates is what a kernel sums at a time. Its replicates are scored in *batches* of at most [`BATCH`],
//! aligned to multiples of it.

mod any;
mod draws;
mod family;
mod feed;
mod fold;
mod histograms;
mod permuted;
mod series;
mod span;
pub(super) mod state;
mod stopping;
mod sums;
mod tally;

#[cfg(feature = "python")]
pub(crate) use any::reductions;
pub use any::{AnyReduction, run_all};
pub use draws::{Draws, Moments};
pub use family::{MaxT, MinP, Spread};
pub use feed::Feed;
pub use histograms::{Histograms, Statistics};
pub use permuted::PermutedTally;
pub use series::Series;
pub use span::{Ranged, Span};
pub use state::State;
pub use stopping::{Boundaries, Gandy, Limits, Outcome, Rule, SequentialTally};
pub use sums::Sums;
pub use tally::Tally;

use std::ops::Range;

use self::state::{Field, Reader, foreign};
use super::bins::Bins;
use super::kernel::Block;
use super::length;
use crate::error::{Error, Result, check_length};
use crate::memory::{Zero, resize};
use crate::pool::Stop;
use crate::resample::BATCH;

/// A pair of systems (x, y); its statistic is score(x) − score(y).
pub type Pair = (usize, usize);

/// Which statistics are at least as extreme as the observed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// |t| ≥ threshold.
    TwoSided,
    /// t ≥ threshold.
    Greater,
    /// t ≤ threshold.
    Less,
}

impl Alternative {
    #[inline(always)]
    pub(super) fn reached(self, statistic: f64, threshold: f64) -> bool {
        match self {
            Alternative::TwoSided => statistic.abs() >= threshold,
            Alternative::Greater => statistic >= threshold,
            Alternative::Less => statistic <= threshold,
        }
    }

    /// How extreme a statistic is; larger is more extreme.
    #[inline(always)]
    fn extremeness(self, statistic: f64) -> f64 {
        match self {
            Alternative::TwoSided => statistic.abs(),
            Alternative::Greater => statistic,
            Alternative::Less => -statistic,
        }
    }
}

/// The alternative of each metric, or one for all metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternatives(Vec<Alternative>);

impl From<Alternative> for Alternatives {
    fn from(all: Alternative) -> Self {
        Alternatives(vec![all])
    }
}

impl From<Vec<Alternative>> for Alternatives {
    fn from(each: Vec<Alternative>) -> Self {
        Alternatives(each)
    }
}

impl Alternatives {
    /// Checks that there is one for each metric, or one for all.
    fn check(&self, metrics: usize) -> Result<()> {
        match self.0.len() {
            1 => Ok(()),
            got => check_length("alternatives", metrics, got),
        }
    }

    /// The alternative of a metric.
    fn of(&self, metric: usize) -> Alternative {
        self.0[if self.0.len() == 1 { 0 } else { metric }]
    }
}

/// What a reduction reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The statistics of pairs under every metric. A *series* is one pair under one metric: metric by metric, pair by
    /// pair.
    Pairs(Vec<Pair>),
    /// The scores of all systems on draws. A *series* is one system under one metric: metric by metric, system by system.
    Systems,
    /// As [`Input::Systems`], of permutations.
    Permuted,
    /// The sums of counts.
    Sums,
}

/// What reductions need to know of the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The number of systems of each sample.
    pub systems: Vec<usize>,
    /// The number of sums of a replicate: k × K for each sample, added up.
    pub cells: usize,
}

/// Computes something from replicates.
pub trait Reduction {
    /// What it reads.
    fn input(&self) -> Input;

    /// Resets the reduction, and allocates for the replicates to come.
    ///
    /// # Errors
    /// If its specification does not fit the samples.
    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()>;

    /// The stage that any thread runs, and the stage that only the calling thread runs.
    fn stages(&mut self) -> Stages<'_>;
}

/// The two stages of a reduction.
pub type Stages<'a> = (Box<dyn Accumulate + 'a>, Combine<'a>);

/// The second stage: combines partial results in the order of the replicates. Returns whether more of them are wanted.
pub type Combine<'a> = Box<dyn FnMut(&Partial) -> Result<bool> + 'a>;

/// The partial result of a block. Its buffers are reused from block to block.
#[derive(Debug, Default)]
pub struct Partial {
    /// The replicates of the block.
    pub replicates: Range<u64>,
    /// Counts, if the reduction has any.
    pub counts: Vec<u64>,
    /// Floats, if the reduction has any.
    pub numbers: Vec<f64>,
    /// Sums, if the reduction has any.
    pub sums: Vec<i64>,
    /// If the reduction has histograms, the bins of a thread, lent to it for as long as it processes the block.
    pub bins: Option<Bins>,
}

impl Partial {
    /// The number of replicates.
    fn len(&self) -> usize {
        length(&self.replicates)
    }

    /// The number of aligned batches of [`BATCH`] replicates that the block touches.
    fn batches(&self) -> usize {
        (self.replicates.end.div_ceil(BATCH as u64) - self.replicates.start / BATCH as u64) as usize
    }

    /// The batch of the block's `at`-th replicate; 0 is the first batch that the block touches.
    fn batch(&self, at: usize) -> usize {
        ((self.replicates.start % BATCH as u64) as usize + at) / BATCH
    }
}

/// The first stage: turns blocks into partial results, on any thread.
pub trait Accumulate: Sync {
    /// Prepares the buffers for a block.
    fn start(&self, partial: &mut Partial) -> Result<()>;

    /// Are the statistics of this series wanted?
    fn wants(&self, _series: usize) -> bool {
        true
    }

    /// Adds the statistics or scores of one series in at most [`BATCH`] replicates, from the `at`-th of the block on.
    fn add_values(&self, _partial: &mut Partial, _series: usize, _at: usize, _values: &[f64]) {}

    /// Called for each metric of each batch, once the values of all its series have been added. The batch begins with the
    /// `at`-th replicate of the block.
    fn metric_done(&self, _partial: &mut Partial, _metric: usize, _at: usize, _replicates: usize) {}

    /// Called when the whole block has been added, before another thread combines the partial result.
    fn finish(&self, _partial: &mut Partial) {}

    /// Adds the sums of a block.
    fn sums(&self, _partial: &mut Partial, _block: &Block<'_>, _stop: &Stop<'_>) -> Result<()> {
        Ok(())
    }
}

/// The batches of a block: where each begins in it, and how many replicates it has. They end at the replicates whose
/// numbers are multiples of [`BATCH`], and at the end of the block.
#[inline]
pub(super) fn batches(block: &Range<u64>) -> impl Iterator<Item = (usize, usize)> + use<> {
    let (mut at, length) = (0, length(block));
    let mut room = BATCH - (block.start % BATCH as u64) as usize;
    std::iter::from_fn(move || {
        let (first, here) = (at, room.min(length - at));
        (at, room) = (at + here, BATCH);
        (here > 0).then_some((first, here))
    })
}

/// Fills a reused buffer with `length` zeros.
fn cleared<T: Zero + Default>(buffer: &mut Vec<T>, length: usize) -> Result<()> {
    buffer.clear();
    resize(buffer, length)
}

/// Returns an error unless two reductions of a kind have the same specification.
fn check_same(same: bool) -> Result<()> {
    if same {
        return Ok(());
    }
    Err(Error::invalid(
        "a reduction to merge",
        "one with the same pairs, thresholds and other settings",
        "a different one",
    ))
}

/// The tests of a reduction that reads the statistics of pairs: every pair under every metric.
#[derive(Debug, Clone, PartialEq)]
struct Tests {
    pairs: Vec<Pair>,
    metrics: usize,
}

impl Tests {
    fn new(pairs: Vec<Pair>) -> Self {
        Tests { pairs, metrics: 0 }
    }

    /// The number of tests: metrics times pairs.
    fn count(&self) -> usize {
        self.metrics * self.pairs.len()
    }

    /// The numbers of metrics and of pairs.
    fn shape(&self) -> [usize; 2] {
        [self.metrics, self.pairs.len()]
    }

    /// The metric of a test.
    fn metric(&self, test: usize) -> usize {
        test / self.pairs.len()
    }

    /// Sets the number of metrics, and checks that the systems of all pairs exist.
    fn begin(&mut self, shape: &Shape) -> Result<()> {
        for &len in &shape.systems {
            if let Some(index) = self.pairs.iter().flat_map(|&(x, y)| [x, y]).find(|&x| x >= len) {
                return Err(Error::OutOfRange { what: "system".into(), index, len });
            }
        }
        self.metrics = shape.systems.len();
        Ok(())
    }

    /// Checks that there is a number for each test. NaN, which no statistic reaches, would look like a small p-value.
    fn check(&self, what: &str, values: &[f64]) -> Result<()> {
        self.check_length(what, values.len())?;
        match values.iter().any(|value| value.is_nan()) {
            true => Err(Error::invalid(what, "numbers", "NaN")),
            false => Ok(()),
        }
    }

    /// Checks that there is one element for each test.
    fn check_length(&self, what: &str, got: usize) -> Result<()> {
        check_length(what, self.count(), got)
    }
}

impl Field for Tests {
    fn save(&self, out: &mut Vec<u64>) -> Result<()> {
        self.metrics.save(out)
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        self.metrics.load(from)?;
        self.metrics.checked_mul(self.pairs.len()).map(|_| ()).ok_or_else(foreign)
    }
}

/// Tests, and how extreme a statistic of each has to be in order to count.
#[derive(Debug, Clone, PartialEq)]
struct Criteria {
    tests: Tests,
    alternatives: Alternatives,
    /// For each test.
    thresholds: Vec<f64>,
}

impl Criteria {
    fn new(pairs: Vec<Pair>, alternatives: impl Into<Alternatives>, thresholds: Vec<f64>) -> Self {
        Criteria { tests: Tests::new(pairs), alternatives: alternatives.into(), thresholds }
    }

    /// Sets the number of metrics, and checks that everything fits it.
    fn begin(&mut self, shape: &Shape) -> Result<()> {
        self.tests.begin(shape)?;
        self.tests.check("thresholds", &self.thresholds)?;
        self.alternatives.check(self.tests.metrics)
    }

    fn alternative(&self, test: usize) -> Alternative {
        self.alternatives.of(self.tests.metric(test))
    }
}
