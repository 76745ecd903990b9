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

#[cfg(test)]
mod tests {
    use crate::metric::testing::{made, row, signature};

    #[test]
    fn worked_by_hand() {
        for (reference, hypothesis, expected) in [
            // One word is replaced and one is missing; the full stop is a separate word.
            ("the boat leaves at nine.", "the ship leaves nine.", [2, 6]),
            // A shift of one word costs two edits, and the rate may exceed 100.
            ("a b c", "c a b", [2, 3]),
            ("a", "b c d", [3, 1]),
            ("", "a b", [2, 0]),
            ("a b", " ", [2, 2]),
        ] {
            assert_eq!(expected, row("wer", &[reference], hypothesis).as_slice(), "{reference:?} {hypothesis:?}");
        }
        assert_eq!(300.0, made("wer").score(&[3, 1]));
        assert!(!made("wer").higher_is_better());
    }

    #[test]
    fn case_and_tokens_are_options_and_are_in_the_signature() {
        assert_eq!([1, 2], row("wer lowercase tokenize=none", &["It RAINS."], "it rains").as_slice());
        assert_eq!("case:lc|tok:none", signature("wer lowercase tokenize=none"));
    }
}
