//! What TER, WER and PER share: a row `[edits, ref_len]`, whose score is their ratio in percent.
//!
//! Of several references a segment has the fewest edits to any of them and their mean length. To stay with integers both
//! counts are in units of 1/L ([`References::common_multiple`]).

use super::Counter;
use super::text::Words;
use crate::edit::{Reference, Word};
use crate::error::Result;
use crate::ngram::Vocabulary;

/// The columns of a row.
pub(super) fn columns() -> Vec<String> {
    vec!["edits".into(), "ref_len".into()]
}

/// 100 · edits / ref_len. Without any word in the references it is 100 if there are edits, as in sacreBLEU.
pub(super) fn score(totals: &[i64]) -> f64 {
    match (totals[0], totals[1]) {
        (0, 0) => 0.0,
        (_, 0) => 100.0,
        (edits, length) => 100.0 * (edits as f64 / length as f64),
    }
}

/// Cuts lines into words.
pub(super) trait Cut {
    /// Calls `emit` with every word of the line.
    fn words(&mut self, line: &str, emit: &mut dyn FnMut(&str));

    /// The same of a reference.
    fn reference_words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        self.words(line, emit);
    }
}

impl Cut for Words {
    fn words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        self.tokens(line, emit);
    }
}

/// Counts the edits between two sequences of words.
pub(super) trait Edits {
    /// The edits that turn `hypothesis` into the reference. Words are numbered below `vocabulary`, which itself stands
    /// for all words that no reference has.
    fn edits(&mut self, hypothesis: &[Word], reference: &Reference, vocabulary: usize) -> usize;
}

/// Counts segments.
pub(super) struct RowCounter<W, E> {
    pub(super) units: i64,
    pub(super) words: W,
    pub(super) edits: E,
    pub(super) space: Space,
}

/// What a counter keeps between segments so as not to allocate.
#[derive(Default)]
pub(super) struct Space {
    vocabulary: Vocabulary,
    references: Vec<Reference>,
    numbers: Vec<Word>,
    ends: Vec<usize>,
}

impl<W: Cut, E: Edits> Counter for RowCounter<W, E> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64]) -> Result<()> {
        let Space { vocabulary, references: prepared, numbers, ends } = &mut self.space;
        vocabulary.clear();
        numbers.clear();
        ends.clear();
        for line in references {
            self.words.reference_words(line, &mut |word| numbers.push(vocabulary.intern(word)));
            ends.push(numbers.len());
        }
        let n_words = vocabulary.len();
        prepared.resize_with(prepared.len().max(references.len()), Reference::default);
        let prepared = &mut prepared[..references.len()];
        let mut start = 0;
        for (reference, &end) in prepared.iter_mut().zip(&*ends) {
            reference.set(&numbers[start..end], n_words);
            start = end;
        }
        let length = numbers.len() as i64 * (self.units / references.len() as i64);
        for (line, row) in hypotheses.iter().zip(rows.chunks_exact_mut(2)) {
            numbers.clear();
            self.words.words(line, &mut |word| numbers.push(vocabulary.find(word).min(n_words as Word)));
            let edits = prepared.iter().map(|reference| self.edits.edits(numbers, reference, n_words)).min();
            row[0] = edits.expect("a segment has at least one reference") as i64 * self.units;
            row[1] = length;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{count, count_segment, metric};
    use crate::pool::Run;

    #[test]
    fn scores_are_ratios_with_a_convention_for_no_words() {
        assert_eq!([0.0, 100.0, 250.0, 25.0], [[0, 0], [3, 0], [5, 2], [1, 4]].map(|row| score(&row)));
    }

    #[test]
    fn of_several_references_the_nearest_counts_and_the_mean_length() {
        for name in ["ter", "wer", "per"] {
            let metric = metric(name, &[]).unwrap();
            // Edits 1 and 0; mean length 3.5; L = 2.
            assert_eq!(vec![0, 7], count_segment(metric.as_ref(), &["a b c d", "a b c"], "a b c"), "{name}");
        }
    }

    #[test]
    fn all_segments_are_in_the_same_units() {
        let references = [vec![Some("a b"), Some("a")], vec![None, Some("b c")], vec![None, Some("c")]];
        for name in ["ter", "wer", "per"] {
            let metric = metric(name, &[]).unwrap();
            let mut run = Run { threads: 1, watch: &mut |_| Ok(()) };
            let rows = count(metric.as_ref(), &[vec!["b", "d e"]], &references, &mut run).unwrap();
            // One reference and three: L = 3, and the second segment has 4 words in three references.
            assert_eq!(vec![3, 6, 6, 4], rows, "{name}");
        }
    }

    #[test]
    fn numbers_of_references_with_too_large_a_multiple_are_refused() {
        // Segment s has s + 1 references, and 23 or more of them have no small multiple.
        let corpus = |most: usize| -> Vec<Vec<Option<&str>>> {
            (0..most).map(|r| (0..most).map(|s| (r <= s).then_some("a")).collect()).collect()
        };
        let ter = metric("ter", &[]).unwrap();
        let mut run = Run { threads: 1, watch: &mut |_| Ok(()) };
        assert!(count(ter.as_ref(), &[vec!["a"; 22]], &corpus(22), &mut run).is_ok());
        let error = count(ter.as_ref(), &[vec!["a"; 23]], &corpus(23), &mut run).unwrap_err();
        assert!(error.to_string().starts_with("the numbers of references of the segments"), "{error}");
    }
}
