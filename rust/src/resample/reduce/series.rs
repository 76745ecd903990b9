//! The statistics of all shuffles.

use std::ops::Range;

use super::state::{fields, state};
use super::{Accumulate, Input, Pair, Partial, Ranged, Reduction, Shape, Span, Stages, Tests, check_same, cleared};
use crate::error::Result;
use crate::memory::zeros;
use crate::pool::Stop;
use crate::resample::BATCH;
use crate::resample::length;

/// A value for every series and replicate.
#[derive(Debug, Clone, Default)]
pub(super) struct SeriesValues {
    pub span: Span,
    pub series: usize,
    /// Series by series, replicate by replicate.
    pub values: Vec<f64>,
}

impl SeriesValues {
    pub fn begin(&mut self, series: usize, replicates: Range<u64>) -> Result<()> {
        let n = length(&replicates);
        *self = SeriesValues { series, values: zeros(&[series, n])?, span: Span(Some(replicates)) };
        Ok(())
    }

    pub fn stages(&mut self) -> Stages<'_> {
        let SeriesValues { span: Span(Some(all)), values, series } = self else { unreachable!("it has begun") };
        let n = length(all);
        let (first, series) = (all.start, *series);
        let combine = move |partial: &Partial| {
            let here = (partial.replicates.start - first) as usize;
            if n > 0 {
                for (out, of_series) in values.chunks_exact_mut(n).zip(partial.numbers.chunks_exact(partial.len())) {
                    out[here..here + partial.len()].copy_from_slice(of_series);
                }
            }
            Ok(true)
        };
        (Box::new(AllReplicates { series }), Box::new(combine))
    }

    /// Appends the values of later replicates.
    ///
    /// # Errors
    /// [`crate::Error::InvalidOption`] if there are replicates between them, or some are in both.
    pub fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        let n = length(&both);
        let mut values = zeros(&[self.series, n])?;
        for series in 0..self.series {
            let mut out = &mut values[series * n..][..n];
            for of in [&*self, later] {
                let here = of.values.len() / self.series;
                let (front, back) = out.split_at_mut(here);
                for (out, values) in front.chunks_mut(BATCH << 10).zip(of.values[series * here..].chunks(BATCH << 10)) {
                    stop.charge(out.len())?;
                    out.copy_from_slice(&values[..out.len()]);
                }
                out = back;
            }
        }
        *self = SeriesValues { span: Span(Some(both)), values, series: self.series };
        Ok(())
    }
}

fields!(SeriesValues: span, series, values);

impl SeriesValues {
    /// Is there a value for every series and replicate?
    pub fn fits(&self) -> bool {
        self.series.checked_mul(self.span.len()) == Some(self.values.len())
    }
}

struct AllReplicates {
    series: usize,
}

impl Accumulate for AllReplicates {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        let length = self.series * partial.len();
        cleared(&mut partial.numbers, length)
    }

    fn add_values(&self, partial: &mut Partial, series: usize, at: usize, values: &[f64]) {
        let from = series * partial.len() + at;
        partial.numbers[from..from + values.len()].copy_from_slice(values);
    }
}

/// The statistic of every test in every shuffle.
#[derive(Debug, Clone)]
pub struct Series {
    tests: Tests,
    all: SeriesValues,
}

impl Series {
    /// For these pairs.
    pub fn new(pairs: Vec<Pair>) -> Self {
        Series { tests: Tests::new(pairs), all: SeriesValues::default() }
    }

    /// The statistics: metric by metric, pair by pair, replicate by replicate.
    pub fn statistics(&self) -> &[f64] {
        &self.all.values
    }

    /// The numbers of metrics and of pairs.
    pub fn shape(&self) -> [usize; 2] {
        self.tests.shape()
    }
}

impl Ranged for Series {
    fn span(&self) -> &Span {
        &self.all.span
    }

    fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
        check_same(self.tests == later.tests)?;
        self.all.merge(&later.all, stop)
    }
}

state!(Series = 4, [tests, all], |series| series.all.fits() && series.tests.count() == series.all.series);

impl Reduction for Series {
    fn input(&self) -> Input {
        Input::Pairs(self.tests.pairs.clone())
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.tests.begin(shape)?;
        self.all.begin(self.tests.count(), replicates)
    }

    fn stages(&mut self) -> Stages<'_> {
        self.all.stages()
    }
}
