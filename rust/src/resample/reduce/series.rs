//! The statistics of all shuffles.

use std::ops::Range;

use super::{Feed, Halves, Keep, Pair, Pairs, Part, Reduction, Shape, Span, check_same, cleared};
use crate::error::Result;
use crate::pool::{Patience, Stop};
use crate::resample::zeros;

/// Numbers of replicates for each of some series.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    pub span: Span,
    pub series: usize,
    /// Series by series, replicate by replicate.
    pub values: Vec<f64>,
}

impl Kept {
    pub fn begin(&mut self, series: usize, replicates: Range<u64>) -> Result<()> {
        let n = (replicates.end - replicates.start) as usize;
        *self = Kept { series, values: zeros(&[series, n])?, span: Span(Some(replicates)) };
        Ok(())
    }

    pub fn halves(&mut self) -> Halves<'_> {
        let Kept { span: Span(Some(all)), values, series } = self else { unreachable!("it has begun") };
        let n = (all.end - all.start) as usize;
        let (first, series) = (all.start, *series);
        let add = move |part: &Part| {
            let here = (part.replicates.start - first) as usize;
            if n > 0 {
                for (out, part_of) in values.chunks_exact_mut(n).zip(part.numbers.chunks_exact(part.len())) {
                    out[here..here + part.len()].copy_from_slice(part_of);
                }
            }
            Ok(true)
        };
        (Box::new(Whole { series }), Box::new(add))
    }

    /// # Errors
    /// [`crate::Error::InvalidOption`] if the later ones do not follow, [`crate::Error::Memory`], and
    /// [`crate::Error::Interrupted`] if told to stop.
    pub fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        let n = (both.end - both.start) as usize;
        let mut values = zeros(&[self.series, n])?;
        let mut patience = Patience::default();
        for series in 0..self.series {
            let mut out = &mut values[series * n..][..n];
            for of in [&*self, later] {
                let here = of.values.len() / self.series;
                let (front, back) = out.split_at_mut(here);
                for (out, values) in
                    front.chunks_mut(super::BLOCK << 10).zip(of.values[series * here..].chunks(super::BLOCK << 10))
                {
                    patience.spend(out.len(), stop)?;
                    out.copy_from_slice(&values[..out.len()]);
                }
                out = back;
            }
        }
        *self = Kept { span: Span(Some(both)), values, series: self.series };
        Ok(())
    }
}

struct Whole {
    series: usize,
}

impl Keep for Whole {
    fn start(&self, part: &mut Part) -> Result<()> {
        let length = self.series * part.len();
        cleared(&mut part.numbers, length)
    }

    fn take(&self, part: &mut Part, series: usize, at: usize, values: &[f64]) {
        let from = series * part.len() + at;
        part.numbers[from..from + values.len()].copy_from_slice(values);
    }
}

/// The statistic of every shuffle.
#[derive(Debug, Clone)]
pub struct Series {
    of: Pairs,
    kept: Kept,
}

impl Series {
    /// Of these pairs.
    pub fn new(pairs: Vec<Pair>) -> Self {
        Series { of: Pairs::new(pairs), kept: Kept::default() }
    }

    /// The statistics: metric by metric, pair by pair, replicate by replicate.
    pub fn statistics(&self) -> &[f64] {
        &self.kept.values
    }

    /// The same, without a copy.
    pub fn into_statistics(self) -> Vec<f64> {
        self.kept.values
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
        self.kept.span.get()
    }

    /// Puts those of the replicates that follow behind these.
    ///
    /// # Errors
    /// [`crate::Error::InvalidOption`] if they do not follow, or are of other pairs, [`crate::Error::Memory`], and
    /// [`crate::Error::Interrupted`] if told to stop.
    pub fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
        check_same(self.of == later.of)?;
        self.kept.merge(&later.kept, stop)
    }
}

impl Reduction for Series {
    fn feed(&self) -> Feed<'_> {
        Feed::Pairs(&self.of.pairs)
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.of.begin(shape)?;
        self.kept.begin(self.of.series(), replicates)
    }

    fn halves(&mut self) -> Halves<'_> {
        self.kept.halves()
    }
}
