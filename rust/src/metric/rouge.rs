//! ROUGE (Lin 2004), as the Python package `rouge_score` 0.1.2 computes it: the mean over the texts of F = 2PR/(P + R).
//!
//! A text is split into runs of a–z and 0–9 after lower-casing, so letters of other scripts vanish. With `stemmer`, words
//! of more than three letters are stemmed.
//!
//! - `rouge1` and `rouge2`: P and R are the clipped matches of words or bigrams divided by those of the hypothesis and of
//!   the reference;
//! - `rougeL`: they are the longest common subsequence divided by both lengths;
//! - `rougeLsum`: texts are split into lines. The words of a line of the reference that are in the longest common
//!   subsequence with any line of the hypothesis count, each at most as often as the hypothesis has it.
//!
//! Of several references, the one with the best F counts. F is 0 if there is nothing to divide by.

use std::ops::Range;

use super::text::case;
use super::{Counter, Counters, Formula, Metric, MetricSpec, OptionSpec, Options, Texts};
use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
use crate::simd::Simd;
use crate::stats::fixed;
use crate::text::joined::Joined;
use crate::text::lcs::Lcs;
use crate::text::ngram::{Ngrams, Token, UNSEEN, Vocabulary, each_token};
use crate::text::porter::stem;

const OPTIONS: &[OptionSpec] =
    &[OptionSpec::flag("stemmer", "compare words of more than three letters by their stems (Porter's, as in NLTK)")];

const fn spec(name: &'static str, about: &'static str, build: fn(&Options) -> Result<Box<dyn Metric>>) -> MetricSpec {
    MetricSpec { name, about, source: "W04-1013", reads_parses: false, options: OPTIONS, build }
}

pub(super) const ROUGE_1: MetricSpec =
    spec("rouge1", "mean of the F-score of words that a text and its reference have in common", |options| {
        Rouge::boxed("ROUGE-1", Common::Ngrams(1), options)
    });

pub(super) const ROUGE_2: MetricSpec = spec(
    "rouge2",
    "mean of the F-score of pairs of adjacent words that a text and its reference have in common",
    |options| Rouge::boxed("ROUGE-2", Common::Ngrams(2), options),
);

pub(super) const ROUGE_L: MetricSpec =
    spec("rougeL", "mean of the F-score of the longest common subsequence of words", |options| {
        Rouge::boxed("ROUGE-L", Common::Subsequence, options)
    });

pub(super) const ROUGE_LSUM: MetricSpec = spec(
    "rougeLsum",
    "mean of the F-score of the longest common subsequences of lines, for summaries of several sentences",
    |options| Rouge::boxed("ROUGE-Lsum", Common::SubsequencesOfLines, options),
);

/// What a hypothesis and a reference have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Common {
    Ngrams(usize),
    Subsequence,
    SubsequencesOfLines,
}

/// F, P and R are in multiples of 2^-40: twelve digits, and room for four million texts.
const BITS: u32 = 40;

/// ROUGE. A row is `[f, segments, precision, recall]`: 1, and the others as fractions in multiples of 2^-40. Precision and
/// recall do not enter the score.
pub struct Rouge {
    name: &'static str,
    common: Common,
    stemmer: bool,
}

impl Rouge {
    fn boxed(name: &'static str, common: Common, options: &Options) -> Result<Box<dyn Metric>> {
        Ok(Box::new(Rouge { name, common, stemmer: options.flag("stemmer") }))
    }
}

/// The mean of a column, in percent.
fn mean(totals: &[i64], column: usize) -> f64 {
    if totals[1] == 0 { 0.0 } else { 100.0 * fixed::to_real(totals[column], BITS) / totals[1] as f64 }
}

/// The derivative of a mean by its sum, if there were one text.
fn factor() -> f64 {
    100.0 * fixed::to_real(1, BITS)
}

impl Formula for Rouge {
    fn name(&self) -> &str {
        self.name
    }

    fn columns(&self) -> Vec<String> {
        ["f", "segments", "precision", "recall"].map(Into::into).into()
    }

    fn width(&self) -> usize {
        4
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        vec![case(true), ("tok", "rouge".into()), ("stem", if self.stemmer { "porter" } else { "no" }.into())]
    }

    fn score(&self, totals: &[i64]) -> f64 {
        mean(totals, 0)
    }

    fn decimals(&self) -> Option<u32> {
        Some(fixed::decimals(100.0, BITS))
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        vec![("precision".into(), mean(totals, 2)), ("recall".into(), mean(totals, 3))]
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        out[2..].fill(0.0);
        super::ratio_gradient(factor(), totals, &mut out[..2]);
    }

    fn gradients(&self, totals: &[i64], scores: &[f64], out: &mut [f64]) {
        let (mean, others) = out.split_at_mut(2 * scores.len());
        super::ratio_gradients(Simd::best(), factor(), &totals[..mean.len()], mean);
        others.fill(0.0);
    }
}

impl Metric for Rouge {
    fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        Ok(Box::new(|| Box::new(RougeCounter::new(self))))
    }
}

/// The matches of a hypothesis with a reference, and what both could match.
#[derive(Debug, Clone, Copy)]
struct Matched {
    common: usize,
    hypothesis: usize,
    reference: usize,
}

impl Matched {
    fn precision(self) -> f64 {
        self.common as f64 / self.hypothesis.max(1) as f64
    }

    fn recall(self) -> f64 {
        self.common as f64 / self.reference.max(1) as f64
    }

    /// F by the same operations as in `rouge_score`: its last bit decides between references that are equally good.
    fn for_choice(self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
    }

    /// The same, rounded once, so that equal fractions are equal.
    fn f(self) -> f64 {
        2.0 * self.common as f64 / (self.hypothesis + self.reference).max(1) as f64
    }

    fn fill(self, row: &mut [i64]) -> Result<()> {
        let fraction = |x, column| fixed::from_real(x, BITS).ok_or(Error::Overflow { column });
        row.copy_from_slice(&[fraction(self.f(), 0)?, 1, fraction(self.precision(), 2)?, fraction(self.recall(), 3)?]);
        Ok(())
    }
}

/// The words of all texts of a segment as numbers.
#[derive(Default)]
struct Numbered {
    words: Vec<Token>,
    /// Where the lines of each text are. Lines without words are left out.
    lines: Joined<Range<usize>>,
}

impl Numbered {
    fn clear(&mut self) {
        self.words.clear();
        self.lines.clear();
    }

    fn end_line(&mut self) {
        let start = self.lines.values().last().map_or(0, |line| line.end);
        if start < self.words.len() {
            self.lines.push(start..self.words.len());
        }
    }

    fn lines(&self, text: usize) -> impl Iterator<Item = &[Token]> {
        self.lines.get(text).iter().map(|line| &self.words[line.clone()])
    }

    /// All words of a text.
    fn text(&self, text: usize) -> &[Token] {
        match self.lines.get(text) {
            [] => &[],
            [only] => &self.words[only.clone()],
            [first, .., last] => &self.words[first.start..last.end],
        }
    }
}

struct RougeCounter<'a> {
    metric: &'a Rouge,
    vocabulary: Vocabulary,
    numbered: Numbered,
    matcher: Matcher,
}

impl<'a> RougeCounter<'a> {
    fn new(metric: &'a Rouge) -> Self {
        RougeCounter {
            metric,
            vocabulary: Vocabulary::default(),
            numbered: Numbered::default(),
            matcher: Matcher::default(),
        }
    }

    /// Numbers the words of all texts of the segment. Words that no reference has are [`UNSEEN`].
    fn read(&mut self, references: &[&str], hypotheses: &[&str], stop: &Stop<'_>) -> Result<()> {
        let RougeCounter { metric, vocabulary, numbered, .. } = self;
        vocabulary.clear();
        numbered.clear();
        let in_lines = metric.common == Common::SubsequencesOfLines;
        for (at, text) in references.iter().chain(hypotheses).enumerate() {
            let mut number = |word: &str| match at < references.len() {
                true => vocabulary.intern(word),
                false => vocabulary.find(word),
            };
            for line in text.split(|c| in_lines && c == '\n') {
                let words = |emit: &mut dyn FnMut(&str)| each_word(line, metric.stemmer, emit);
                each_token(words, stop, |word| numbered.words.push(number(word)))?;
                numbered.end_line();
            }
            numbered.lines.end();
        }
        Ok(())
    }
}

impl Counter for RougeCounter<'_> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        self.read(references, hypotheses, stop)?;
        let RougeCounter { metric, vocabulary, numbered, matcher, .. } = self;
        let mut best: Vec<Option<Matched>> = vec![None; hypotheses.len()];
        for reference in 0..references.len() {
            matcher.prepare(metric.common, numbered, reference, vocabulary.len(), stop)?;
            for (best, hypothesis) in best.iter_mut().zip(references.len()..) {
                let matched = matcher.matched(metric.common, numbered, [hypothesis, reference], stop)?;
                if best.is_none_or(|best| matched.for_choice() > best.for_choice()) {
                    *best = Some(matched);
                }
            }
        }
        let rows = rows.chunks_exact_mut(metric.width());
        best.into_iter().flatten().zip(rows).try_for_each(|(matched, row)| matched.fill(row))
    }
}

/// Matches hypotheses with one reference after another.
#[derive(Default)]
struct Matcher {
    ngrams: Ngrams,
    lcs: Lcs,
    /// How often the hypothesis has each word of the references, less what has been matched.
    left: Vec<usize>,
    union: Vec<u64>,
}

impl Matcher {
    fn prepare(
        &mut self,
        common: Common,
        numbered: &Numbered,
        reference: usize,
        distinct: usize,
        stop: &Stop<'_>,
    ) -> Result<()> {
        match common {
            Common::Ngrams(order) => {
                self.ngrams.clear();
                self.ngrams.add_numbered(numbered.text(reference), distinct);
                self.ngrams.count(order, stop)
            }
            Common::Subsequence => self.lcs.set(numbered.text(reference), stop),
            Common::SubsequencesOfLines => {
                self.left.clear();
                self.left.resize(distinct, 0);
                Ok(())
            }
        }
    }

    fn matched(
        &mut self,
        common: Common,
        numbered: &Numbered,
        [hypothesis, reference]: [usize; 2],
        stop: &Stop<'_>,
    ) -> Result<Matched> {
        let words = numbered.text(hypothesis);
        let [hypothesis_length, reference_length] = [hypothesis, reference].map(|text| numbered.text(text).len());
        Ok(match common {
            Common::Ngrams(order) => {
                let mut matches = vec![0; order];
                self.ngrams.overlap_numbered(words, &mut matches, stop)?;
                let possible = |length: usize| (length + 1).saturating_sub(order);
                let [hypothesis, reference] = [hypothesis_length, reference_length].map(possible);
                Matched { common: matches[order - 1] as usize, hypothesis, reference }
            }
            Common::Subsequence => Matched {
                common: self.lcs.length(words, stop)?,
                hypothesis: hypothesis_length,
                reference: reference_length,
            },
            Common::SubsequencesOfLines => Matched {
                common: self.of_lines(numbered, [hypothesis, reference], stop)?,
                hypothesis: hypothesis_length,
                reference: reference_length,
            },
        })
    }

    /// The matches of `rougeLsum`.
    fn of_lines(&mut self, numbered: &Numbered, [hypothesis, reference]: [usize; 2], stop: &Stop<'_>) -> Result<usize> {
        let Matcher { lcs, left, union, .. } = self;
        left.fill(0);
        numbered.text(hypothesis).iter().filter(|&&word| word != UNSEEN).for_each(|&word| left[word as usize] += 1);
        let mut common = 0;
        for line in numbered.lines(reference) {
            lcs.set(line, stop)?;
            union.clear();
            union.resize(line.len().div_ceil(64), 0);
            numbered.lines(hypothesis).try_for_each(|other| lcs.unite(other, line, union, stop))?;
            for (at, &word) in line.iter().enumerate() {
                let left = &mut left[word as usize];
                if union[at / 64] >> (at % 64) & 1 == 1 && *left > 0 {
                    *left -= 1;
                    common += 1;
                }
            }
        }
        Ok(common)
    }
}

/// Calls `emit` with every word of a line.
fn each_word(line: &str, stemmer: bool, emit: &mut dyn FnMut(&str)) {
    let mut word = Vec::new();
    let mut end = |word: &mut Vec<u8>| {
        if stemmer && word.len() > 3 {
            stem(word);
        }
        if let Ok(word) = std::str::from_utf8(word)
            && !word.is_empty()
        {
            emit(word);
        }
        word.clear();
    };
    for c in line.chars() {
        match lower(c) {
            Some(letter) => {
                word.push(letter);
                // The lower case of this one is an i and a combining dot.
                if c == 'İ' {
                    end(&mut word);
                }
            }
            None => end(&mut word),
        }
    }
    end(&mut word);
}

/// The lower case of a character, if that is or begins with a letter or a digit of ASCII.
fn lower(c: char) -> Option<u8> {
    match c {
        'A'..='Z' | 'a'..='z' | '0'..='9' => Some(c.to_ascii_lowercase() as u8),
        'İ' => Some(b'i'),
        '\u{212A}' => Some(b'k'), // the sign for kelvin
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::lower;

    #[test]
    fn lower_case_is_that_of_the_standard_library() {
        for c in (0..0x11_0000).filter_map(char::from_u32) {
            let known = |c: &char| c.is_ascii_alphanumeric();
            let expected: String = c.to_lowercase().take_while(known).collect();
            assert_eq!(expected, lower(c).map(char::from).into_iter().collect::<String>(), "{c:?}");
            assert!(c.to_lowercase().skip(1).all(|c| !known(&c)));
        }
    }
}
