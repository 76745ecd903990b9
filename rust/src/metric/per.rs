//! Position-independent error rate: word error rate between bags of words.
//!
//! Introduced by Tillmann et al. 1997 (Eurospeech). The definition is that of Popović & Ney 2007 (W07-0707), section 2:
//! ½ (|N_ref − N_hyp| + Σ_w |n(w, ref) − n(w, hyp)|). This equals max(N_ref, N_hyp) less the size of the intersection
//! of the two multisets of words; Moses' PER is the same. A surplus or missing word is one edit, and so is a replaced
//! word.

use super::MetricSpec;
use super::error_rate::{Edits, ErrorRate, Numbered, OPTIONS};
use crate::error::Result;
use crate::pool::Stop;
use crate::text::edit;
use crate::text::ngram::Token;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "per",
    about: "position-independent error rate: word error rate without regard to the order of words",
    source: "W07-0707",
    reads_parses: false,
    options: OPTIONS,
    build: |options| ErrorRate::of_words::<Bags>("PER", options),
};

#[derive(Default)]
struct Bags {
    counts: Vec<u32>,
}

impl Edits for Bags {
    fn edits(&mut self, hypothesis: &[Token], reference: Numbered<'_>, _: &Stop<'_>) -> Result<usize> {
        Ok(edit::edits_of_bags(hypothesis, reference.words, reference.distinct, &mut self.counts))
    }
}
