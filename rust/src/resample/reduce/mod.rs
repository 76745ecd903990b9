//! What is kept of replicates.
//!
//! A [`Reduction`] is given replicates in blocks. Any thread makes of a block a [`Partial`]; the calling thread adds the
//! parts up in the order of the replicates. What it makes of two ranges, one directly behind the other, can be merged:
//! if both begin and end at multiples of [`BLOCK`], to the same bytes as what one run makes of both together.

mod draws;
mod family;
mod fold;
mod series;
mod stopping;
mod sums;
mod tally;

pub use draws::{Draws, Moments, Ranks};
pub use family::{MaxT, MinP, Spread};
pub use series::Series;
pub use stopping::{Boundaries, Gandy, Limits, Outcome, Rule, Sequential, SequentialTally};
pub use sums::Sums;
pub use tally::Tally;

use std::ops::Range;

use super::kernel::Block;
use super::{Zero, length, resize};
use crate::error::{Error, Result};
use crate::pool::Stop;

/// Replicates are scored so many at a time, from multiples of this on: their totals stay in the first-level cache. Sums
/// of floats are made of the sums of these.
pub const BLOCK: usize = 64;

/// A pair of systems (x, y); its statistic is score(x) − score(y).
pub type Pair = (usize, usize);

/// Which replicates count as at least as extreme as what was observed.
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

    /// How extreme a statistic is: the larger the number, the more.
    #[inline(always)]
    fn extremeness(self, statistic: f64) -> f64 {
        match self {
            Alternative::TwoSided => statistic.abs(),
            Alternative::Greater => statistic,
            Alternative::Less => -statistic,
        }
    }
}

/// What a reduction is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input<'a> {
    /// The statistics of pairs under every metric. The *series* are metric by metric, pair by pair.
    Pairs(&'a [Pair]),
    /// The scores of all systems. The *series* are metric by metric, system by system.
    Systems,
    /// The sums themselves.
    Sums,
}

/// What a reduction has to know of the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// How many systems each sample has.
    pub systems: Vec<usize>,
    /// Of which of them a larger score is a better one.
    pub higher_is_better: Vec<bool>,
    /// How many sums a replicate has: k × K for each sample.
    pub cells: usize,
}

/// What is kept of replicates.
pub trait Reduction {
    /// What it is made of.
    fn input(&self) -> Input<'_>;

    /// Forgets what it had, and makes room for what is to come.
    ///
    /// # Errors
    /// If its specification does not fit the samples, and [`Error::Memory`].
    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()>;

    /// What any thread does, and what the calling thread does.
    fn stages(&mut self) -> Stages<'_>;
}

/// The two halves of a reduction.
pub type Stages<'a> = (Box<dyn Accumulate + 'a>, Box<dyn Combine + 'a>);

/// What is kept of a block, in buffers that are used for one block after the other.
#[derive(Debug, Default)]
pub struct Partial {
    /// The block.
    pub replicates: Range<u64>,
    /// Whatever is counted.
    pub counts: Vec<u64>,
    /// Whatever is measured.
    pub numbers: Vec<f64>,
    /// Whatever is added up.
    pub sums: Vec<i64>,
}

impl Partial {
    /// How many replicates there are.
    fn len(&self) -> usize {
        length(&self.replicates)
    }

    /// How many times the replicates begin a new [`BLOCK`].
    fn batches(&self) -> usize {
        (self.replicates.end.div_ceil(BLOCK as u64) - self.replicates.start / BLOCK as u64) as usize
    }

    /// Which of them the `at`-th replicate is in.
    fn batch(&self, at: usize) -> usize {
        ((self.replicates.start % BLOCK as u64) as usize + at) / BLOCK
    }
}

/// Makes parts of blocks, on any thread.
pub trait Accumulate: Sync {
    /// Makes room for a block.
    ///
    /// # Errors
    /// [`Error::Memory`].
    fn start(&self, partial: &mut Partial) -> Result<()>;

    /// Are the statistics of this series wanted?
    fn wants(&self, _series: usize) -> bool {
        true
    }

    /// Takes the statistics, or scores, of a series from the `at`-th replicate of the block on, [`BLOCK`] at most.
    fn add_values(&self, _partial: &mut Partial, _series: usize, _at: usize, _values: &[f64]) {}

    /// Has got all series of a metric from the `at`-th replicate on.
    fn metric_done(&self, _partial: &mut Partial, _metric: usize, _at: usize, _replicates: usize) {}

    /// Takes the sums.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if told to stop.
    fn sums(&self, _partial: &mut Partial, _block: &Block<'_>, _stop: &Stop<'_>) -> Result<()> {
        Ok(())
    }
}

/// Adds parts up, in the order of the replicates.
pub trait Combine {
    /// Adds a part to those before. Is more wanted?
    ///
    /// # Errors
    /// [`Error::Memory`].
    fn combine(&mut self, partial: &Partial) -> Result<bool>;
}

impl<F: FnMut(&Partial) -> Result<bool>> Combine for F {
    fn combine(&mut self, partial: &Partial) -> Result<bool> {
        self(partial)
    }
}

/// Fills a buffer that is used again with so many zeros.
fn cleared<T: Zero + Default>(buffer: &mut Vec<T>, length: usize) -> Result<()> {
    buffer.clear();
    resize(buffer, length)
}

/// The replicates that a reduction was made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Span(Option<Range<u64>>);

impl Span {
    /// The replicates.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if there have been none.
    fn get(&self) -> Result<Range<u64>> {
        let never = || Error::InvalidOption {
            option: "a reduction that is asked for its result".into(),
            expected: "what Resampler.run returned".into(),
            got: "its specification".into(),
        };
        self.0.clone().ok_or_else(never)
    }

    /// Both.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if they are not next to one another.
    fn with(&self, later: &Span) -> Result<Range<u64>> {
        let (first, second) = (self.get()?, later.get()?);
        if first.end == second.start {
            return Ok(first.start..second.end);
        }
        let (option, expected) = ("the first of the later replicates", format!("{}, where these end", first.end));
        Err(Error::InvalidOption { option: option.into(), expected, got: second.start.to_string() })
    }
}

/// Are two reductions of the same kind the same but for their replicates?
fn check_same(same: bool) -> Result<()> {
    if same {
        return Ok(());
    }
    Err(Error::InvalidOption {
        option: "a reduction that is merged with another".into(),
        expected: "of the same specification, pairs and thresholds".into(),
        got: "another one".into(),
    })
}

/// What is asked of the statistics of pairs.
#[derive(Debug, Clone, PartialEq)]
struct Tests {
    pairs: Vec<Pair>,
    metrics: usize,
}

impl Tests {
    fn new(pairs: Vec<Pair>) -> Self {
        Tests { pairs, metrics: 0 }
    }

    /// How many statistics a replicate has: metrics times pairs.
    fn count(&self) -> usize {
        self.metrics * self.pairs.len()
    }

    /// The metrics and the pairs.
    fn shape(&self) -> [usize; 2] {
        [self.metrics, self.pairs.len()]
    }

    /// Are the systems there?
    fn begin(&mut self, shape: &Shape) -> Result<()> {
        for &len in &shape.systems {
            if let Some(index) = self.pairs.iter().flat_map(|&(x, y)| [x, y]).find(|&x| x >= len) {
                return Err(Error::OutOfRange { what: "system".into(), index, len });
            }
        }
        self.metrics = shape.systems.len();
        Ok(())
    }

    /// Is there a number for each series? NaN, which nothing reaches, would look like a small p.
    fn check(&self, what: &str, values: &[f64]) -> Result<()> {
        self.check_length(what, values.len())?;
        match values.iter().any(|value| value.is_nan()) {
            true => Err(Error::InvalidOption { option: what.into(), expected: "numbers".into(), got: "NaN".into() }),
            false => Ok(()),
        }
    }

    /// Are there as many as there are series?
    fn check_length(&self, what: &str, got: usize) -> Result<()> {
        let expected = self.count();
        if got == expected { Ok(()) } else { Err(Error::LengthMismatch { what: what.into(), expected, got }) }
    }
}
