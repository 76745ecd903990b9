//! Reductions of the scores of systems on bootstrap draws.

use std::ops::Range;

use super::fold::Fold;
use super::series::SeriesValues;
use super::state::{Field, Reader, State, foreign, state};
use super::tally::{add_counts, combine_counts};
use super::{Accumulate, Input, Partial, Ranged, Reduction, Shape, Span, Stages, check_same, cleared};
use crate::error::Result;
use crate::memory::zeros;
use crate::pool::Stop;
use crate::resample::BATCH;

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
    fn input(&self) -> Input<'_> {
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
#[derive(Debug, Clone, Default)]
pub struct Moments {
    span: Span,
    systems: usize,
    /// The means, then the sums of squared deviations from them.
    fold: Option<Fold>,
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
        self.fold.as_ref().and_then(Fold::total).unwrap_or_default()
    }
}

impl Ranged for Moments {
    fn span(&self) -> &Span {
        &self.span
    }

    fn merge(&mut self, later: &Self, _stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        check_same(self.systems == later.systems)?;
        if let (Some(fold), Some(later)) = (&mut self.fold, &later.fold) {
            fold.merge(later)?;
        }
        self.span = Span(Some(both));
        Ok(())
    }
}

impl State for Moments {
    fn state(&self) -> Result<Vec<u64>> {
        let (mut out, Some(fold)) = (vec![6], &self.fold) else { return self.span.get().map(|_| Vec::new()) };
        self.span.save(&mut out)?;
        self.systems.save(&mut out)?;
        fold.save(&mut out)?;
        Ok(out)
    }

    fn set_state(&mut self, words: &[u64]) -> Result<()> {
        let mut from = Reader::new(words);
        if from.word()? != 6 {
            return Err(foreign());
        }
        let mut loaded = Moments::default();
        loaded.span.load(&mut from)?;
        loaded.systems.load(&mut from)?;
        let width = loaded.systems.checked_mul(2).ok_or_else(foreign)?;
        let fold = Fold::loaded((width, loaded.span.get()?), join, &mut from)?;
        from.end()?;
        let mut squares = fold.values().chunks_exact(width.max(1)).flat_map(|values| &values[loaded.systems..]);
        if squares.any(|square| *square < 0.0) {
            return Err(foreign());
        }
        loaded.fold = Some(fold);
        *self = loaded;
        Ok(())
    }
}

impl Reduction for Moments {
    fn input(&self) -> Input<'_> {
        Input::Systems
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        let systems = shape.systems.iter().sum();
        *self = Moments { systems, fold: Some(Fold::new(2 * systems, join)?), span: Span(Some(replicates)) };
        Ok(())
    }

    fn stages(&mut self) -> Stages<'_> {
        let Moments { systems, fold: Some(fold), .. } = self else { unreachable!("it has begun") };
        (Box::new(BatchMoments { systems: *systems }), fold.add_batches())
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

/// How often each system has each rank among those of its metric.
#[derive(Debug, Clone, Default)]
pub struct Ranks {
    span: Span,
    systems: Vec<usize>,
    higher_is_better: Vec<bool>,
    counts: Vec<u64>,
}

impl Ranks {
    /// How often each of the k systems is first, second, and so on: k counts per system. Tied systems share the better
    /// rank.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of systems of each metric.
    pub fn systems(&self) -> &[usize] {
        &self.systems
    }
}

impl Ranged for Ranks {
    fn span(&self) -> &Span {
        &self.span
    }

    fn merge(&mut self, later: &Self, _stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        check_same(self.systems == later.systems && self.higher_is_better == later.higher_is_better)?;
        add_counts(&mut self.counts, &later.counts);
        self.span = Span(Some(both));
        Ok(())
    }
}

state!(Ranks = 7, [span, systems, higher_is_better, counts], |ranks| {
    let squares = ranks.systems.iter().try_fold(0usize, |sum, &k| sum.checked_add(k.checked_mul(k)?));
    let mut rest = ranks.counts.as_slice();
    // A system has one rank in each replicate.
    let mut adds_up = |&k: &usize| {
        let (counts, behind) = rest.split_at(k * k);
        rest = behind;
        let sum = |row: &[u64]| row.iter().map(|&count| u128::from(count)).sum::<u128>();
        counts.chunks_exact(k.max(1)).all(|row| sum(row) == ranks.span.len() as u128)
    };
    ranks.systems.len() == ranks.higher_is_better.len()
        && squares == Some(ranks.counts.len())
        && ranks.systems.iter().all(&mut adds_up)
});

impl Reduction for Ranks {
    fn input(&self) -> Input<'_> {
        Input::Systems
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        *self = Ranks {
            span: Span(Some(replicates)),
            systems: shape.systems.clone(),
            higher_is_better: shape.higher_is_better.clone(),
            counts: zeros(&[shape.systems.iter().map(|k| k * k).sum()])?,
        };
        Ok(())
    }

    fn stages(&mut self) -> Stages<'_> {
        let (mut first_system, mut first_count) = (0, 0);
        let metric = |(&systems, &higher_is_better)| {
            let layout = Metric { systems, higher_is_better, first_system, first_count };
            first_system += systems;
            first_count += systems * systems;
            layout
        };
        let metrics: Vec<_> = self.systems.iter().zip(&self.higher_is_better).map(metric).collect();
        let accumulate = Ranked { metrics, systems: first_system, counts: first_count };
        (Box::new(accumulate), combine_counts(&mut self.counts))
    }
}

struct Metric {
    systems: usize,
    higher_is_better: bool,
    first_system: usize,
    first_count: usize,
}

struct Ranked {
    metrics: Vec<Metric>,
    systems: usize,
    counts: usize,
}

impl Accumulate for Ranked {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        cleared(&mut partial.counts, self.counts)?;
        // The scores of a batch of replicates, then those of one replicate.
        cleared(&mut partial.numbers, self.systems * BATCH + self.systems)
    }

    fn add_values(&self, partial: &mut Partial, system: usize, _: usize, scores: &[f64]) {
        partial.numbers[system * BATCH..][..scores.len()].copy_from_slice(scores);
    }

    fn metric_done(&self, partial: &mut Partial, metric: usize, _: usize, replicates: usize) {
        let &Metric { systems, higher_is_better, first_system, first_count } = &self.metrics[metric];
        let sign = if higher_is_better { 1.0 } else { -1.0 };
        let counts = &mut partial.counts[first_count..][..systems * systems];
        let (scores, sorted) = partial.numbers.split_at_mut(self.systems * BATCH);
        let (scores, sorted) = (&scores[first_system * BATCH..][..systems * BATCH], &mut sorted[..systems]);
        for replicate in 0..replicates {
            let score = |system: usize| sign * scores[system * BATCH + replicate];
            (0..systems).zip(&mut *sorted).for_each(|(system, sorted)| *sorted = score(system));
            sorted.sort_unstable_by(|a, b| b.total_cmp(a));
            for (system, counts) in counts.chunks_exact_mut(systems).enumerate() {
                counts[sorted.partition_point(|&other| other > score(system))] += 1;
            }
        }
    }
}
