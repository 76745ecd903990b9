//! Histograms of the statistics of pairs.

use std::ops::Range;
use std::sync::Mutex;

use super::state::{Field, Reader, State, foreign};
use super::{Accumulate, Input, Pair, Partial, Ranged, Reduction, Shape, Span, Stages, Tests, check_same, cleared};
use crate::error::Result;
use crate::pool::{Stop, locked};
use crate::resample::BATCH;
use crate::resample::bins::{Bins, Histogram};
use crate::simd::Simd;

/// The replicates whose statistics [`Histograms`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistics {
    /// Shuffles.
    Shuffles,
    /// One of each pair of complementary shuffles: each statistic t also counts as −t.
    HalfOfShuffles,
    /// Permutations of all systems.
    Permutations,
}

impl Statistics {
    /// How often each replicate counts.
    fn copies(self) -> usize {
        if self == Statistics::HalfOfShuffles { 2 } else { 1 }
    }
}

/// A histogram of the statistics of every pair under every metric.
///
/// Which block a thread adds to which bins does not matter, so every thread keeps its bins until the end.
#[derive(Debug)]
pub struct Histograms {
    tests: Tests,
    of: Statistics,
    span: Span,
    systems: usize,
    threads: Mutex<Vec<Bins>>,
}

impl Clone for Histograms {
    fn clone(&self) -> Self {
        let Histograms { tests, of, span, systems, .. } = self;
        let (tests, span, threads) = (tests.clone(), span.clone(), locked(&self.threads).clone());
        Histograms { tests, of: *of, span, systems: *systems, threads: Mutex::new(threads) }
    }
}

impl Histograms {
    /// For these pairs.
    pub fn new(pairs: Vec<Pair>, of: Statistics) -> Self {
        Histograms { tests: Tests::new(pairs), of, span: Span::default(), systems: 0, threads: Mutex::default() }
    }

    /// The bins of all threads together: metric by metric, pair by pair.
    fn total(&self) -> Result<Bins> {
        let mut total = Bins::new(self.tests.count(), Simd::best())?;
        locked(&self.threads).iter().try_for_each(|bins| total.merge(bins))?;
        Ok(total)
    }

    /// The histograms: metric by metric, pair by pair. None for a test without finite statistics.
    pub fn histograms(&self) -> Result<Vec<Option<Histogram>>> {
        self.total()?.histograms()
    }
}

impl Ranged for Histograms {
    fn span(&self) -> &Span {
        &self.span
    }

    fn merge(&mut self, later: &Self, _stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        check_same(self.tests == later.tests && self.of == later.of)?;
        let mut total = self.total()?;
        total.merge(&later.total()?)?;
        self.threads = Mutex::new(vec![total]);
        self.span = Span(Some(both));
        Ok(())
    }
}

impl State for Histograms {
    fn state(&self) -> Result<Vec<u64>> {
        let mut out = vec![10];
        self.span.save(&mut out)?;
        self.tests.save(&mut out)?;
        self.total()?.save(&mut out)?;
        Ok(out)
    }

    fn set_state(&mut self, words: &[u64]) -> Result<()> {
        let mut from = Reader::new(words);
        if from.word()? != 10 {
            return Err(foreign());
        }
        let mut loaded = Histograms::new(self.tests.pairs.clone(), self.of);
        loaded.span.load(&mut from)?;
        loaded.tests.load(&mut from)?;
        let most = (self.of.copies() * loaded.span.len()) as u64;
        loaded.threads = Mutex::new(vec![Bins::loaded((loaded.tests.count(), most), Simd::best(), &mut from)?]);
        from.end()?;
        *self = loaded;
        Ok(())
    }
}

impl Reduction for Histograms {
    fn input(&self) -> Input {
        match self.of {
            Statistics::Permutations => Input::Permuted,
            Statistics::Shuffles | Statistics::HalfOfShuffles => Input::Pairs(self.tests.pairs.clone()),
        }
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.tests.begin(shape)?;
        // All metrics of permutations have the same number of systems.
        self.systems = shape.systems.first().copied().unwrap_or(0);
        self.threads = Mutex::default();
        self.span = Span(Some(replicates));
        Ok(())
    }

    fn stages(&mut self) -> Stages<'_> {
        let simd = Simd::best();
        (Box::new(Binned { all: self, simd }), Box::new(|_: &Partial| Ok(true)))
    }
}

/// Adds the values of a block to the bins of a thread.
struct Binned<'a> {
    all: &'a Histograms,
    simd: Simd,
}

impl Accumulate for Binned<'_> {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        let free = locked(&self.all.threads).pop();
        let mut bins = free.map_or_else(|| Bins::new(self.all.tests.count(), self.simd), Ok)?;
        bins.make_room(self.all.of.copies() * partial.len())?;
        partial.bins = Some(bins);
        match self.all.of {
            Statistics::Permutations => cleared(&mut partial.numbers, self.all.systems * BATCH),
            Statistics::Shuffles | Statistics::HalfOfShuffles => Ok(()),
        }
    }

    fn add_values(&self, partial: &mut Partial, series: usize, _: usize, values: &[f64]) {
        let Partial { bins: Some(bins), numbers, .. } = partial else { unreachable!("the block has begun") };
        match self.all.of {
            Statistics::Shuffles => bins.add(series, values),
            Statistics::HalfOfShuffles => {
                bins.add(series, values);
                let mut mirrored = [0.0; BATCH];
                mirrored.iter_mut().zip(values).for_each(|(mirrored, value)| *mirrored = -value);
                bins.add(series, &mirrored[..values.len()]);
            }
            Statistics::Permutations => {
                numbers[series % self.all.systems * BATCH..][..values.len()].copy_from_slice(values);
            }
        }
    }

    fn metric_done(&self, partial: &mut Partial, metric: usize, _: usize, replicates: usize) {
        if self.all.of != Statistics::Permutations {
            return;
        }
        let Partial { bins: Some(bins), numbers, .. } = partial else { unreachable!("the block has begun") };
        let scores = |system: usize| &numbers[system * BATCH..][..replicates];
        let pairs = &self.all.tests.pairs;
        for (test, &(x, y)) in (metric * pairs.len()..).zip(pairs) {
            let mut differences = [0.0; BATCH];
            let both = scores(x).iter().zip(scores(y));
            differences.iter_mut().zip(both).for_each(|(difference, (x, y))| *difference = x - y);
            bins.add(test, &differences[..replicates]);
        }
    }

    fn finish(&self, partial: &mut Partial) {
        let mut bins = partial.bins.take();
        if let Some(bins) = &mut bins {
            bins.count();
        }
        locked(&self.all.threads).extend(bins);
    }
}
