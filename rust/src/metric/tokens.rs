//! Counting texts that are given as tokens instead of lines, so that a token may contain anything, even white space.

use std::ops::Range;

use super::Metric;
use super::matches::{MatchBased, Matches};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::pool::{self, Blocks, Run, Stop};
use crate::text::common::Sentences;
use crate::text::ngram::{Ngrams, Vocabulary};

/// Segments whose tokens are numbered while they are read, so that no text is kept.
///
/// The references of a segment are read before its hypothesis.
#[derive(Default)]
pub struct TokenTexts {
    /// The tokens of the references of the current segment.
    vocabulary: Vocabulary,
    hypotheses: Sentences,
    references: Sentences,
    /// For each segment, the number of references of all segments before it, and that of different tokens in its own.
    first: Vec<usize>,
    words: Vec<usize>,
}

impl TokenTexts {
    /// Begins a segment.
    pub fn begin(&mut self) {
        self.vocabulary.clear();
        self.first.push(self.references.len());
    }

    /// Adds a token to the current reference.
    pub fn reference_token(&mut self, token: &str) {
        self.references.push(self.vocabulary.intern(token));
    }

    /// Ends the current reference.
    pub fn end_reference(&mut self) {
        self.references.end();
    }

    /// Adds a token to the hypothesis.
    pub fn hypothesis_token(&mut self, token: &str) {
        self.hypotheses.push(self.vocabulary.find(token));
    }

    /// Ends the hypothesis and the segment.
    pub fn end(&mut self) {
        self.hypotheses.end();
        self.words.push(self.vocabulary.len());
    }

    /// The number of segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.words.len()
    }

    fn references(&self, segment: usize) -> Range<usize> {
        self.first[segment]..self.first.get(segment + 1).copied().unwrap_or(self.references.len())
    }

    fn check(&self, each_reference: bool) -> Result<()> {
        if self.words.is_empty() {
            return Err(Error::Empty { what: "segments".into() });
        }
        match (0..self.segments()).find(|&segment| self.references(segment).is_empty()) {
            Some(segment) if !each_reference => Err(Error::NoReference { segment: segment + 1 }),
            _ if self.references.len() == 0 => Err(Error::Empty { what: "references".into() }),
            _ => Ok(()),
        }
    }
}

/// Counts S hypotheses, in parallel over segments.
///
/// Returns S × K counts, or with `each_reference` a row for each reference, against which alone the hypothesis is
/// counted.
///
/// # Errors
/// [`Error::InvalidOption`] for a metric whose counts do not follow from n-gram matches, [`Error::Empty`] without
/// segments, [`Error::NoReference`] for a segment without references, unless each is counted alone, and whatever the
/// metric's counts returned.
pub fn count_tokens(
    metric: &dyn Metric,
    texts: &TokenTexts,
    each_reference: bool,
    run: &mut Run<'_>,
) -> Result<Vec<i64>> {
    let Some(metric) = metric.match_based() else {
        return Err(Error::invalid("metric", "one whose counts follow from n-gram matches", metric.name()));
    };
    texts.check(each_reference)?;
    let (segments, width) = (texts.segments(), metric.width());
    let row_of = |segment: usize| match each_reference {
        true => texts.first.get(segment).copied().unwrap_or(texts.references.len()),
        false => segment,
    };
    let mut out = zeros(&[row_of(segments), width])?;
    // A tenth of the cost of lines, whose words have to be found and numbered as well.
    let cost = 200 * (1 + texts.references.len() / segments) as u64;
    pool::try_run(
        Blocks { items: segments, size: 64, cost, lead: 0 },
        run,
        || Counter { metric, ngrams: Ngrams::default(), by_order: vec![0; metric.order()] },
        |counter, range, stop| {
            stop.check()?;
            let mut rows = vec![0; (row_of(range.end) - row_of(range.start)) * width];
            let mut rest = rows.chunks_exact_mut(width);
            for segment in range {
                let mut count = |chosen, row| counter.count(texts, segment, chosen, row, stop);
                let all = texts.references(segment);
                let counted = match each_reference {
                    true => all.zip(&mut rest).try_for_each(|(r, row)| count(r..r + 1, row)),
                    false => rest.by_ref().take(1).try_for_each(|row| count(all.clone(), row)),
                };
                counted.map_err(|error| error.in_segment(segment + 1))?;
            }
            Ok(rows)
        },
        |range, rows, _| {
            out[row_of(range.start) * width..][..rows.len()].copy_from_slice(&rows);
            Ok(())
        },
    )?;
    Ok(out)
}

struct Counter<'a> {
    metric: &'a dyn MatchBased,
    ngrams: Ngrams,
    by_order: Vec<i64>,
}

impl Counter<'_> {
    fn count(
        &mut self,
        texts: &TokenTexts,
        segment: usize,
        references: Range<usize>,
        row: &mut [i64],
        stop: &Stop<'_>,
    ) -> Result<()> {
        let Counter { metric, ngrams, by_order } = self;
        ngrams.clear();
        for reference in references {
            ngrams.add_numbered(texts.references.get(reference), texts.words[segment]);
        }
        ngrams.count(by_order.len(), stop)?;
        by_order.fill(0);
        let length = ngrams.overlap_numbered(texts.hypotheses.get(segment), by_order, stop)?;
        metric.fill(&Matches { length, closest: ngrams.closest_length(length), by_order }, row)
    }
}
