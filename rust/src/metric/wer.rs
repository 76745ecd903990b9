//! Word error rate: Levenshtein distance in words, without shifts and without a beam.
//!
//! The formula for one and several references, and PER, are those of Popović & Ney 2007 (W07-0707), section 2;
//! "multi-reference WER" was introduced by Nießen et al. 2000 (LREC). They divide by the length of the nearest
//! reference. Here, as in TER, the divisor is the mean length of all references, so that all three rates have the same
//! denominator.

use super::MetricSpec;
use super::error_rate::{Edits, ErrorRate, Numbered, OPTIONS};
use crate::error::Result;
use crate::pool::Stop;
use crate::text::edit::Levenshtein;
use crate::text::ngram::Token;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "wer",
    about: "word error rate: insertions, deletions and substitutions per word of the reference",
    source: "W07-0707",
    reads_parses: false,
    options: OPTIONS,
    build: |options| ErrorRate::of_words::<Levenshtein>("WER", options),
};

impl Edits for Levenshtein {
    fn edits(&mut self, hypothesis: &[Token], reference: Numbered<'_>, stop: &Stop<'_>) -> Result<usize> {
        self.distance(hypothesis, reference.words, reference.distinct, stop)
    }
}
