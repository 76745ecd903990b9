//! What TER, WER and PER share: a row `[edits, ref_len]`, whose score is their ratio in percent.
//!
//! Of several references a segment has the fewest edits to any of them and their mean length. To stay with integers both
//! counts are in units of 1/L ([`References::units`]).

use super::text::{LOWERCASE, TOKENIZE, Words};
use super::{Counter, Counters, Formula, Metric, OptionSpec, Options, References, Resolution};
use crate::error::Result;
use crate::pool::{Run, Stop, WorkMeter};
use crate::text::edit::UNKNOWN_WORD;
use crate::text::ngram::{Token, Vocabulary, each_token};

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

/// The derivatives of [`score`], which is a constant without any word in the references.
pub(super) fn gradient(totals: &[i64], out: &mut [f64]) {
    super::ratio_gradient(100.0, totals, out);
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

/// A reference whose words are numbered from 1 to `distinct`, in the order of their first appearance.
#[derive(Clone, Copy)]
pub(super) struct Numbered<'a> {
    pub(super) words: &'a [Token],
    pub(super) distinct: usize,
}

/// Counts the edits between two sequences of words.
pub(super) trait Edits: Default {
    /// Prepares for hypotheses of this reference, if there is something to prepare.
    ///
    /// # Errors
    /// [`crate::Error::Memory`] if it is too long, [`crate::Error::Interrupted`] if the call is cancelled.
    fn prepare(&mut self, _: Numbered<'_>, _: &Stop<'_>) -> Result<()> {
        Ok(())
    }

    /// The edits that turn `hypothesis` into the reference. [`UNKNOWN_WORD`] is every word that the reference has not.
    ///
    /// # Errors
    /// [`crate::Error::Memory`] if it is too long, [`crate::Error::Interrupted`] if the call is cancelled.
    fn edits(&mut self, hypothesis: &[Token], reference: Numbered<'_>, stop: &Stop<'_>) -> Result<usize>;
}

/// A metric whose row is `[edits, ref_len]` and that knows no other options than [`OPTIONS`].
pub(super) struct ErrorRate<E> {
    name: &'static str,
    words: Words,
    edits: std::marker::PhantomData<fn() -> E>,
}

/// The options of an [`ErrorRate`].
pub(super) const OPTIONS: &[OptionSpec] = &[TOKENIZE, LOWERCASE];

impl<E: Edits> ErrorRate<E> {
    /// # Errors
    /// [`crate::Error::UnknownName`] for a tokenizer that does not exist.
    pub(super) fn new(name: &'static str, options: &Options) -> Result<Self> {
        Ok(ErrorRate { name, words: Words::new(options)?, edits: std::marker::PhantomData })
    }
}

impl<E: Edits> Formula for ErrorRate<E> {
    fn name(&self) -> &str {
        self.name
    }

    fn columns(&self) -> Vec<String> {
        columns()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        vec![self.words.case(), self.words.tok()]
    }

    fn score(&self, totals: &[i64]) -> f64 {
        score(totals)
    }

    fn details(&self, _: &[i64]) -> Vec<(String, f64)> {
        Vec::new()
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        gradient(totals, out);
    }
}

impl<E: Edits> Metric for ErrorRate<E> {
    fn counters<'a>(&'a self, references: &References<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        let units = references.units();
        Ok(Box::new(move || Box::new(RowCounter::<_, E>::new(units, self.words))))
    }
}

/// Counts segments. What it keeps between them is not allocated again.
pub(super) struct RowCounter<W, E> {
    units: Resolution,
    words: W,
    edits: E,
    vocabulary: Vocabulary,
    /// All texts of the segment, references first: their words by their numbers in `vocabulary`, from 1 and with
    /// [`UNKNOWN_WORD`] for others, and where each text ends.
    numbers: Vec<Token>,
    ends: Vec<usize>,
    /// For each of these numbers the word's number in the reference at hand, if there are several. Every reference has
    /// its own, so that what is kept of a reference grows with its words and not with those of all.
    own: Vec<Token>,
    reference: Vec<Token>,
    hypothesis: Vec<Token>,
    meter: WorkMeter,
}

impl<W: Cut, E: Edits> RowCounter<W, E> {
    pub(super) fn new(units: Resolution, words: W) -> Self {
        RowCounter {
            units,
            words,
            edits: E::default(),
            vocabulary: Vocabulary::default(),
            numbers: Vec::new(),
            ends: Vec::new(),
            own: Vec::new(),
            reference: Vec::new(),
            hypothesis: Vec::new(),
            meter: WorkMeter::default(),
        }
    }

    /// Numbers the words of all texts.
    fn read(&mut self, references: &[&str], hypotheses: &[&str], stop: &Stop<'_>) -> Result<()> {
        let RowCounter { words, vocabulary, numbers, ends, own, meter, .. } = self;
        vocabulary.clear();
        numbers.clear();
        ends.clear();
        for line in references {
            let emit_words = |emit: &mut dyn FnMut(&str)| words.reference_words(line, emit);
            each_token(emit_words, (&mut *meter, stop), |word| numbers.push(vocabulary.intern(word) + 1))?;
            ends.push(numbers.len());
        }
        for line in hypotheses {
            // The number of a word that is not found is the largest, behind which comes UNKNOWN_WORD, 0.
            let emit_words = |emit: &mut dyn FnMut(&str)| words.words(line, emit);
            let take = |word: &str| numbers.push(vocabulary.find(word).wrapping_add(1));
            each_token(emit_words, (&mut *meter, stop), take)?;
            ends.push(numbers.len());
        }
        own.clear();
        own.resize(vocabulary.len() + 1, UNKNOWN_WORD);
        Ok(())
    }
}

impl<W: Cut, E: Edits> Counter for RowCounter<W, E> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        self.read(references, hypotheses, stop)?;
        let RowCounter { units, edits, vocabulary, numbers, ends, own, reference, hypothesis, .. } = self;
        let text = |i: usize| &numbers[if i == 0 { 0 } else { ends[i - 1] }..ends[i]];
        let length = units.mean(ends[references.len() - 1], references.len());
        for number in 0..references.len() {
            let is_only = references.len() == 1; // its words are numbered already
            let words = text(number);
            let mut numbered = Numbered { words, distinct: vocabulary.len() };
            if !is_only {
                numbered.distinct = 0;
                reference.clear();
                reference.extend(words.iter().map(|&word| {
                    let own = &mut own[word as usize];
                    if *own == UNKNOWN_WORD {
                        numbered.distinct += 1;
                        *own = numbered.distinct as Token;
                    }
                    *own
                }));
                numbered.words = reference;
            }
            edits.prepare(numbered, stop)?;
            for (row, i) in rows.chunks_exact_mut(2).zip(references.len()..) {
                let mut words = text(i);
                if !is_only {
                    hypothesis.clear();
                    hypothesis.extend(words.iter().map(|&word| own[word as usize]));
                    words = hypothesis;
                }
                let edits = units.words(edits.edits(words, numbered, stop)?);
                row[0] = if number == 0 { edits } else { edits.min(row[0]) };
                row[1] = length;
            }
            words.iter().for_each(|&word| own[word as usize] = UNKNOWN_WORD);
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
    fn numbers_of_references_without_a_small_multiple_are_scored_to_eleven_digits() {
        // Segment s has s + 1 references, and 23 or more of them have no small multiple. Reference r has r words.
        let words = "a ".repeat(100);
        let corpus = |most: usize| -> Vec<Vec<Option<&str>>> {
            (0..most).map(|r| (0..most).map(|s| (r <= s).then_some(&words[..2 * r])).collect()).collect()
        };
        let ter = metric("ter", &[]).unwrap();
        let mut run = Run { threads: 1, watch: &mut |_| Ok(()) };
        for most in [22, 23, 40, 100] {
            let rows = count(ter.as_ref(), &[vec!["b c d"; most]], &corpus(most), &mut run).unwrap();
            let totals = [rows.iter().step_by(2).sum(), rows.iter().skip(1).step_by(2).sum()];
            // The nearest is the first, without words: three edits. The mean length of 0, 1 … s words is s/2.
            let (edits, length) = (3 * most, most * (most - 1) / 2);
            let expected = 100.0 * (2 * edits) as f64 / length as f64;
            assert!((ter.score(&totals) / expected - 1.0).abs() < 1e-11, "{most}: {}", ter.score(&totals));
        }
    }
}
