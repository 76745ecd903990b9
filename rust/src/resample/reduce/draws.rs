//! Reductions of the scores of systems on bootstrap draws.

use std::ops::Range;

use super::fold::Fold;
use super::series::SeriesValues;
use super::state::state;
use super::{Accumulate, Input, Partial, Ranged, Reduction, Shape, Span, Stages, check_same, cleared};
use crate::error::Result;
use crate::pool::Stop;

/// The score of every system on every draw.
#[derive(Debug, Clone, Default)]
pub struct Draws {
    all: SeriesValues,
}

impl Draws {
    /// The scores: metric by metric, system by system, replicate by replicate.
    pub fn scores(&self) -> &[f64] {
        &self.all.values
    }

    /// The scores, without a copy.
    pub fn into_scores(self) -> Vec<f64> {
        self.all.values
    }

    /// The number of systems, summed over the metrics.
    pub fn systems(&self) -> usize {
        self.all.series
    }
}

impl Ranged for Draws {
    fn span(&self) -> &Span {
        &self.all.span
    }

    fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
        check_same(self.all.series == later.all.series)?;
        self.all.merge(&later.all, stop)
    }
}

state!(Draws = 5, [all], |draws| draws.all.fits());

impl Reduction for Draws {
    fn input(&self) -> Input {
        Input::Systems
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.all.begin(shape.systems.iter().sum(), replicates)
    }

    fn stages(&mut self) -> Stages<'_> {
        self.all.stages()
    }
}

/// Means and standard deviations of the systems' scores, computed without storing the scores.
#[derive(Debug, Clone)]
pub struct Moments {
    span: Span,
    systems: usize,
    /// The means, then the sums of squared deviations from them.
    fold: Fold,
}

impl Default for Moments {
    fn default() -> Self {
        Moments { span: Span::default(), systems: 0, fold: Fold::empty(join) }
    }
}

/// Combines the moments of two sets of draws (Chan, Golub & LeVeque 1983, doi:10.1080/00031305.1983.10483115).
fn join((these, n): (&mut [f64], u64), (more, m): (&[f64], u64)) {
    let (n, m) = (n as f64, m as f64);
    let (means, squares) = these.split_at_mut(these.len() / 2);
    let (more_means, more_squares) = more.split_at(means.len());
    for ((mean, squares), (more_mean, more_squares)) in
        means.iter_mut().zip(squares).zip(more_means.iter().zip(more_squares))
    {
        let apart = more_mean - *mean;
        *mean += apart * (m / (n + m));
        *squares += more_squares + apart * apart * (n * m / (n + m));
    }
}

impl Moments {
    /// The mean scores: metric by metric, system by system.
    pub fn means(&self) -> Vec<f64> {
        let (mut values, _) = self.total();
        values.truncate(self.systems);
        values
    }

    /// The standard deviations, with the number of draws less one as the divisor.
    pub fn deviations(&self) -> Vec<f64> {
        let (values, n) = self.total();
        values[self.systems.min(values.len())..].iter().map(|squares| (squares / (n as f64 - 1.0)).sqrt()).collect()
    }

    fn total(&self) -> (Vec<f64>, u64) {
        self.fold.total().unwrap_or_default()
    }
}

impl Ranged for Moments {
    fn span(&self) -> &Span {
        &self.span
    }

    fn merge(&mut self, later: &Self, _stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        check_same(self.systems == later.systems)?;
        self.fold.merge(&later.fold)?;
        self.span = Span(Some(both));
        Ok(())
    }
}

state!(Moments = 6, [span, systems, fold], |moments| {
    let Moments { span, systems, fold } = moments;
    systems.checked_mul(2).is_some_and(|width| {
        let mut squares = fold.values().chunks_exact(width.max(1)).flat_map(|values| &values[*systems..]);
        !squares.any(|square| *square < 0.0) && fold.fits(width, span)
    })
});

impl Reduction for Moments {
    fn input(&self) -> Input {
        Input::Systems
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        let systems = shape.systems.iter().sum();
        *self = Moments { systems, fold: Fold::new(2 * systems, join)?, span: Span(Some(replicates)) };
        Ok(())
    }

    fn stages(&mut self) -> Stages<'_> {
        (Box::new(BatchMoments { systems: self.systems }), self.fold.add_batches())
    }
}

struct BatchMoments {
    systems: usize,
}

impl Accumulate for BatchMoments {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        let length = 2 * self.systems * partial.batches();
        cleared(&mut partial.numbers, length)
    }

    fn add_values(&self, partial: &mut Partial, system: usize, at: usize, scores: &[f64]) {
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let place = 2 * self.systems * partial.batch(at) + system;
        partial.numbers[place] = mean;
        partial.numbers[place + self.systems] = scores.iter().map(|score| (score - mean).powi(2)).sum();
    }
}
