//! Counting n-gram matches, once for all metrics whose counts follow from them.

use super::text::Words;
use super::{Counter, Counters, Formula, Metric, Texts};
use crate::error::Result;
use crate::pool::{Run, Stop};
use crate::text::ngram::Ngrams;

/// What a hypothesis has in common with its references.
pub struct Matches<'a> {
    /// The words of the hypothesis.
    pub length: usize,
    /// Those of the reference that is closest in length.
    pub closest: usize,
    /// The clipped matches of each order, from 1 to at least [`MatchBased::order`].
    pub by_order: &'a [i64],
}

/// A metric whose counts follow from n-gram matches.
pub trait MatchBased: Formula {
    /// How lines are split into words. Metrics with the same words have the same matches.
    fn words(&self) -> Words;

    /// The longest n-gram that the metric needs.
    fn order(&self) -> usize;

    /// Writes the counts of a hypothesis to a row of zeros.
    ///
    /// # Errors
    /// [`crate::Error::Overflow`] for a count that does not fit.
    fn fill(&self, matches: &Matches<'_>, row: &mut [i64]) -> Result<()>;
}

impl<M: MatchBased> Metric for M {
    fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        Ok(counters(vec![self]))
    }

    fn match_based(&self) -> Option<&dyn MatchBased> {
        Some(self)
    }
}

/// Makes counters for metrics over the same words. A row holds the counts of all metrics, one after another.
pub(super) fn counters<'a>(metrics: Vec<&'a dyn MatchBased>) -> Counters<'a> {
    Box::new(move || Box::new(MatchCounter::new(metrics.clone())))
}

struct MatchCounter<'a> {
    metrics: Vec<&'a dyn MatchBased>,
    width: usize,
    references: Ngrams,
    by_order: Vec<i64>,
}

impl<'a> MatchCounter<'a> {
    fn new(metrics: Vec<&'a dyn MatchBased>) -> Self {
        let width = metrics.iter().map(|metric| metric.width()).sum();
        let order = metrics.iter().map(|metric| metric.order()).max().unwrap_or(0);
        MatchCounter { metrics, width, references: Ngrams::default(), by_order: vec![0; order] }
    }
}

impl Counter for MatchCounter<'_> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let MatchCounter { metrics, width, references: ngrams, by_order } = self;
        let words = metrics[0].words();
        ngrams.clear();
        for reference in references {
            ngrams.add(|emit| words.tokens(reference, emit), stop)?;
        }
        ngrams.count(by_order.len(), stop)?;
        for (hypothesis, row) in hypotheses.iter().zip(rows.chunks_exact_mut(*width)) {
            by_order.fill(0);
            let length = ngrams.overlap(|emit| words.tokens(hypothesis, emit), by_order, stop)?;
            let matches = Matches { length, closest: ngrams.closest_length(length), by_order };
            let mut rest = row;
            for metric in &*metrics {
                let (own, others) = rest.split_at_mut(metric.width());
                metric.fill(&matches, own)?;
                rest = others;
            }
        }
        Ok(())
    }
}
