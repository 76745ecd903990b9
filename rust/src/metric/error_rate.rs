//! What TER, WER and PER have in common: a row `[edits, ref_len]`, whose score is their ratio in percent.
//!
//! With several references, a segment counts the fewest edits to any of them, and their mean length. Both counts are
//! integers, in steps of 1/L ([`super::References::resolution`]).

use super::text::{LOWERCASE, TOKENIZE, Words};
use super::{Counter, Counters, Formula, Metric, OptionSpec, Options, Resolution, Texts};
use crate::error::Result;
use crate::pool::{Run, Stop};
use crate::simd::Simd;
use crate::text::edit::UNKNOWN_WORD;
use crate::text::joined::Joined;
use crate::text::ngram::{Token, Vocabulary, each_token};

/// A metric with rows `[edits, ref_len]`, whose score is 100 · edits / ref_len. If the references have no words, the score
/// is 100 if there are edits and 0 if there are none, as in sacreBLEU. No details are shown beside the score: the counts are
/// multiples of numbers of edits and words, by a factor that depends on the numbers of references.
pub(super) struct ErrorRate {
    name: &'static str,
    signature: Vec<(&'static str, String)>,
    counter: Box<dyn Fn(Resolution) -> Box<dyn Counter> + Send + Sync>,
}

impl ErrorRate {
    /// Counts the edits `E` between texts that `words` splits.
    pub(super) fn new<E: Edits + 'static>(
        name: &'static str,
        signature: Vec<(&'static str, String)>,
        words: impl Splitter + Clone + Send + Sync + 'static,
    ) -> Self {
        let counter =
            move |resolution| -> Box<dyn Counter> { Box::new(RowCounter::<_, E>::new(resolution, words.clone())) };
        ErrorRate { name, signature, counter: Box::new(counter) }
    }

    /// Counts the edits `E` between texts that are split as the [`OPTIONS`] say.
    pub(super) fn of_words<E: Edits + 'static>(name: &'static str, options: &Options) -> Result<Box<dyn Metric>> {
        let words = Words::new(options)?;
        Ok(Box::new(Self::new::<E>(name, vec![words.case(), words.tok()], words)))
    }
}

/// The options of [`ErrorRate::of_words`].
pub(super) const OPTIONS: &[OptionSpec] = &[TOKENIZE, LOWERCASE];

impl Formula for ErrorRate {
    fn name(&self) -> &str {
        self.name
    }

    fn columns(&self) -> Vec<String> {
        vec!["edits".into(), "ref_len".into()]
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        self.signature.clone()
    }

    fn score(&self, totals: &[i64]) -> f64 {
        match (totals[0], totals[1]) {
            (0, 0) => 0.0,
            (_, 0) => 100.0,
            (edits, length) => 100.0 * (edits as f64 / length as f64),
        }
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        super::ratio_gradient(100.0, totals, out);
    }

    fn gradients(&self, totals: &[i64], _: &[f64], out: &mut [f64]) {
        super::ratio_gradients(Simd::best(), 100.0, totals, out);
    }
}

/// Splits lines into words.
pub(super) trait Splitter {
    /// Calls `emit` with every word of the line.
    fn words(&mut self, line: &str, emit: &mut dyn FnMut(&str));

    /// Calls `emit` with every word of a reference.
    fn reference_words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        self.words(line, emit);
    }
}

impl Splitter for Words {
    fn words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        self.tokens(line, emit);
    }
}

/// A reference whose words are numbered from 1 to `distinct` in the order of first appearance.
#[derive(Clone, Copy)]
pub(super) struct Numbered<'a> {
    pub(super) words: &'a [Token],
    pub(super) distinct: usize,
}

/// Counts the edits between two sequences of words.
pub(super) trait Edits: Default {
    /// Prepares for hypotheses of this reference, if necessary.
    fn prepare(&mut self, _: Numbered<'_>, _: &Stop<'_>) -> Result<()> {
        Ok(())
    }

    /// The number of edits that turn `hypothesis` into the reference. [`UNKNOWN_WORD`] is any word that is not in it.
    fn edits(&mut self, hypothesis: &[Token], reference: Numbered<'_>, stop: &Stop<'_>) -> Result<usize>;
}

impl Metric for ErrorRate {
    fn counters<'a>(&'a self, texts: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        let resolution = texts.references.resolution();
        Ok(Box::new(move || (self.counter)(resolution)))
    }
}

/// Counts segments, with buffers that are reused from segment to segment.
struct RowCounter<W, E> {
    resolution: Resolution,
    words: W,
    edits: E,
    vocabulary: Vocabulary,
    /// The words of all texts of the segment, references first, as numbers in `vocabulary` plus 1, or [`UNKNOWN_WORD`].
    texts: Joined<Token>,
    /// The number of each word within the current reference, if there are several references. Numbering each reference
    /// separately keeps tables proportional to its own vocabulary.
    own: Vec<Token>,
    reference: Vec<Token>,
    hypothesis: Vec<Token>,
}

impl<W: Splitter, E: Edits> RowCounter<W, E> {
    fn new(resolution: Resolution, words: W) -> Self {
        RowCounter {
            resolution,
            words,
            edits: E::default(),
            vocabulary: Vocabulary::default(),
            texts: Joined::default(),
            own: Vec::new(),
            reference: Vec::new(),
            hypothesis: Vec::new(),
        }
    }

    /// Numbers the words of all texts of the segment.
    fn read(&mut self, references: &[&str], hypotheses: &[&str], stop: &Stop<'_>) -> Result<()> {
        let RowCounter { words, vocabulary, texts, own, .. } = self;
        vocabulary.clear();
        texts.clear();
        for line in references {
            let emit_words = |emit: &mut dyn FnMut(&str)| words.reference_words(line, emit);
            each_token(emit_words, stop, |word| texts.push(vocabulary.intern(word) + 1))?;
            texts.end();
        }
        for line in hypotheses {
            // Unknown words have the largest number; adding 1 wraps it to UNKNOWN_WORD, 0.
            let emit_words = |emit: &mut dyn FnMut(&str)| words.words(line, emit);
            each_token(emit_words, stop, |word| texts.push(vocabulary.find(word).wrapping_add(1)))?;
            texts.end();
        }
        own.clear();
        own.resize(vocabulary.len() + 1, UNKNOWN_WORD);
        Ok(())
    }
}

impl<W: Splitter, E: Edits> Counter for RowCounter<W, E> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        self.read(references, hypotheses, stop)?;
        let RowCounter { resolution, edits, vocabulary, texts, own, reference, hypothesis, .. } = self;
        let words_of_references = (0..references.len()).map(|i| texts.get(i).len()).sum();
        let length = resolution.mean(words_of_references, references.len());
        for number in 0..references.len() {
            let is_only = references.len() == 1; // the words of an only reference are already numbered
            let words = texts.get(number);
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
                let mut words = texts.get(i);
                if !is_only {
                    hypothesis.clear();
                    hypothesis.extend(words.iter().map(|&word| own[word as usize]));
                    words = hypothesis;
                }
                let edits = resolution.steps(edits.edits(words, numbered, stop)?);
                row[0] = if number == 0 { edits } else { edits.min(row[0]) };
                row[1] = length;
            }
            words.iter().for_each(|&word| own[word as usize] = UNKNOWN_WORD);
        }
        Ok(())
    }
}
