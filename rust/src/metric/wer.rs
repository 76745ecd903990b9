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
    build: |options| Ok(Box::new(ErrorRate::<Levenshtein>::new("WER", options)?)),
};

impl Edits for Levenshtein {
    fn edits(&mut self, hypothesis: &[Token], reference: Numbered<'_>, stop: &Stop<'_>) -> Result<usize> {
        self.distance(hypothesis, reference.words, reference.distinct, stop)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Value;
    use crate::metric::{count_segment, metric};

    #[test]
    fn worked_by_hand() {
        let wer = metric("wer", &[]).unwrap();
        let row = |reference: &str, hypothesis: &str| count_segment(wer.as_ref(), &[reference], hypothesis);
        // One word is replaced and one is missing; the full stop is a separate word.
        assert_eq!(vec![2, 6], row("the boat leaves at nine.", "the ship leaves nine."));
        // A shift of one word costs two edits, and the rate may exceed 100.
        assert_eq!(vec![2, 3], row("a b c", "c a b"));
        assert_eq!(300.0, wer.score(&row("a", "b c d")));
        assert_eq!(vec![2, 0], row("", "a b"));
        assert_eq!(vec![2, 2], row("a b", " "));
    }

    #[test]
    fn case_and_tokens_are_options_and_are_in_the_signature() {
        let given = [("lowercase", Value::Flag(true)), ("tokenize", Value::Name("none".into()))];
        let wer = metric("wer", &given).unwrap();
        assert_eq!(vec![1, 2], count_segment(wer.as_ref(), &["It RAINS."], "it rains"));
        assert_eq!(vec![("case", "lc".to_owned()), ("tok", "none".into())], wer.signature());
        assert!(!wer.higher_is_better());
    }
}
