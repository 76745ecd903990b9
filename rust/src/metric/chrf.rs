//! chrF (Popović 2015, W15-3049) and chrF++ (Popović 2017, W17-4770), with sacreBLEU's options and counts.
//!
//! Counting is bound by the n-grams of the hypotheses: six for each character. They are not made one by one. The
//! characters of a segment's references get small numbers, so that the six characters that begin at a position fit one
//! 64-bit word. The words are sorted; n-grams of every order are then runs of neighbours with a common prefix, and one
//! walk over the two sorted lists finds the overlaps of all orders. A character that no reference has ends a word
//! early: what holds it cannot match.

use super::text::{LOWERCASE, case, cased, yes};
use super::{Counter, Counters, Formula, Kind, Metric, MetricSpec, OptionSpec, Options, References, Value};
use crate::error::{Error, Result};
use crate::pool::{self, PIECE, Run, Stop};
use crate::text::ngram::Ngrams;
use crate::text::tokenize::{self, is_space};

pub(super) const CHRF: MetricSpec = MetricSpec {
    name: "chrf",
    about: "F-score over character n-grams",
    source: "W15-3049",
    reads_parses: false,
    options: OPTIONS,
    build: |options| Ok(Box::new(Chrf::new(options)?)),
};

pub(super) const CHRF_PLUS_PLUS: MetricSpec = MetricSpec {
    name: "chrf++",
    about: "F-score over character n-grams, words and word pairs",
    source: "W17-4770",
    reads_parses: false,
    options: PLUS_PLUS_OPTIONS,
    build: |options| Ok(Box::new(Chrf::new(options)?)),
};

const OPTIONS: &[OptionSpec] = &options(|| Value::Integer(0));
const PLUS_PLUS_OPTIONS: &[OptionSpec] = &options(|| Value::Integer(2));

const fn options(word_order: fn() -> Value) -> [OptionSpec; 6] {
    [
        OptionSpec {
            name: "char_order",
            kind: Kind::Integer(0, MAX_ORDER as i64),
            default: || Value::Integer(6),
            about: "the longest character n-gram",
        },
        OptionSpec {
            name: "word_order",
            kind: Kind::Integer(0, MAX_ORDER as i64),
            default: word_order,
            about: "the longest word n-gram",
        },
        OptionSpec {
            name: "beta",
            kind: Kind::Real(0.0, 1e6),
            default: || Value::Real(2.0),
            about: "how many times as important recall is as precision",
        },
        LOWERCASE,
        OptionSpec {
            name: "whitespace",
            kind: Kind::Flag,
            default: || Value::Flag(false),
            about: "count white space among the characters",
        },
        OptionSpec {
            name: "eps_smoothing",
            kind: Kind::Flag,
            default: || Value::Flag(false),
            about: "average F over all orders, as chrF++.py, Moses and NLTK's sentence_chrf do",
        },
    ]
}

const MAX_ORDER: usize = 16;

/// What chrF++.py puts in the place of a precision, recall or F that is not defined.
const EPSILON: f64 = 1e-16;

/// chrF. A row is `[hyp, ref, match]` for each order, characters first.
pub struct Chrf {
    name: String,
    char_order: usize,
    word_order: usize,
    beta: f64,
    lowercase: bool,
    whitespace: bool,
    eps_smoothing: bool,
}

impl Chrf {
    /// # Errors
    /// [`Error::InvalidMetricOption`] if both orders are 0.
    pub fn new(options: &Options) -> Result<Self> {
        let (char_order, word_order) = (options.integer("char_order"), options.integer("word_order"));
        if char_order + word_order == 0 {
            return Err(Error::InvalidMetricOption {
                metric: "chrf".into(),
                option: "char_order".into(),
                expected: "at least 1 when {other} is 0".into(),
                other: Some("word_order"),
                got: "0".into(),
            });
        }
        let beta = options.real("beta").expect("beta has a default");
        Ok(Chrf {
            name: format!("chrF{beta}{}", "+".repeat(word_order)),
            char_order,
            word_order,
            beta,
            lowercase: options.flag(LOWERCASE.name),
            whitespace: options.flag("whitespace"),
            eps_smoothing: options.flag("eps_smoothing"),
        })
    }

    fn order(&self) -> usize {
        self.char_order + self.word_order
    }

    /// Precision and recall of one order.
    fn precision_recall(counts: &[i64]) -> (f64, f64) {
        let ratio = |total: i64| if total > 0 { counts[2] as f64 / total as f64 } else { EPSILON };
        (ratio(counts[0]), ratio(counts[1]))
    }

    /// The means of precision and recall over the orders that both sides have.
    fn mean_precision_recall(&self, totals: &[i64]) -> (f64, f64) {
        let (mut precisions, mut recalls, mut orders) = (0.0, 0.0, 0);
        for counts in totals.chunks_exact(3).filter(|c| c[0] > 0 && c[1] > 0) {
            let (precision, recall) = Self::precision_recall(counts);
            precisions += precision;
            recalls += recall;
            orders += 1;
        }
        if orders == 0 { (0.0, 0.0) } else { (precisions / f64::from(orders), recalls / f64::from(orders)) }
    }

    // The order of the operations is sacreBLEU's: of several references the one with the best score is taken, and two
    // that differ in the last digit only must differ in the same direction.
    fn f_score(&self, totals: &[i64]) -> f64 {
        let factor = self.beta * self.beta;
        if self.eps_smoothing {
            let of_order = |counts| {
                let (precision, recall) = Self::precision_recall(counts);
                let denominator = factor * precision + recall;
                if denominator > 0.0 { (1.0 + factor) * precision * recall / denominator } else { EPSILON }
            };
            // Not `sum`, which begins at -0.
            let sum = totals.chunks_exact(3).map(of_order).fold(0.0, |sum, f| sum + f);
            return 100.0 * sum / self.order() as f64;
        }
        let (precision, recall) = self.mean_precision_recall(totals);
        if precision + recall == 0.0 {
            return 0.0;
        }
        100.0 * ((1.0 + factor) * precision * recall / (factor * precision + recall))
    }
}

impl Formula for Chrf {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> Vec<String> {
        let orders = (1..=self.char_order).map(|n| format!("char_{n}"));
        let orders = orders.chain((1..=self.word_order).map(|n| format!("word_{n}")));
        orders.flat_map(|order| ["hyp", "ref", "match"].map(|what| format!("{what}_{order}"))).collect()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        vec![
            case(self.lowercase),
            ("eff", yes(!self.eps_smoothing)),
            ("nc", self.char_order.to_string()),
            ("nw", self.word_order.to_string()),
            ("space", yes(self.whitespace)),
        ]
    }

    fn score(&self, totals: &[i64]) -> f64 {
        self.f_score(totals)
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        let (precision, recall) = self.mean_precision_recall(totals);
        vec![("precision".into(), 100.0 * precision), ("recall".into(), 100.0 * recall)]
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        out.fill(0.0);
        // With P = m/h and R = m/r of one order, the derivatives of F by P and R make those by h, r and m.
        let chain = |counts: &[i64], out: &mut [f64], (by_precision, by_recall): (f64, f64)| {
            let [hypothesis, reference, matched] = [counts[0], counts[1], counts[2]].map(|count| count as f64);
            for (side, length, by_ratio) in [(0, hypothesis, by_precision), (1, reference, by_recall)] {
                if length > 0.0 {
                    out[side] = -by_ratio * (matched / length) / length;
                    out[2] += by_ratio / length;
                }
            }
        };
        let orders = totals.chunks_exact(3).zip(out.chunks_exact_mut(3));
        if self.eps_smoothing {
            let share = 100.0 / self.order() as f64;
            return orders.for_each(|(counts, out)| {
                let (by_precision, by_recall) = self.f_slopes(Self::precision_recall(counts));
                chain(counts, out, (share * by_precision, share * by_recall));
            });
        }
        let effective = totals.chunks_exact(3).filter(|c| c[0] > 0 && c[1] > 0).count();
        let (by_precision, by_recall) = self.f_slopes(self.mean_precision_recall(totals));
        let share = 100.0 / effective.max(1) as f64;
        for (counts, out) in orders.filter(|(c, _)| c[0] > 0 && c[1] > 0) {
            chain(counts, out, (share * by_precision, share * by_recall));
        }
    }
}

impl Metric for Chrf {
    fn counters<'a>(&'a self, _: &References<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        Ok(Box::new(|| Box::new(ChrfCounter::new(self))))
    }
}

impl Chrf {
    /// The derivatives of F = (1 + β²)·P·R/(β²·P + R) by P and R; 0 where both are 0.
    fn f_slopes(&self, (precision, recall): (f64, f64)) -> (f64, f64) {
        let factor = self.beta * self.beta;
        let denominator = factor * precision + recall;
        if denominator <= 0.0 {
            return (0.0, 0.0);
        }
        let (of_precision, of_recall) = (precision / denominator, recall / denominator);
        ((1.0 + factor) * of_recall * of_recall, (1.0 + factor) * factor * of_precision * of_precision)
    }
}

struct ChrfCounter<'a> {
    chrf: &'a Chrf,
    characters: Characters,
    /// The word n-grams of each reference by itself: a hypothesis is compared with one at a time.
    words: Vec<Ngrams>,
    word_counts: Vec<usize>,
    row: Vec<i64>,
    /// A line in lower case.
    lower: String,
}

impl<'a> ChrfCounter<'a> {
    fn new(chrf: &'a Chrf) -> Self {
        let (characters, row) = (Characters::new(chrf.char_order), vec![0; 3 * chrf.order()]);
        ChrfCounter { chrf, characters, words: Vec::new(), word_counts: Vec::new(), row, lower: String::new() }
    }
}

impl Counter for ChrfCounter<'_> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let ChrfCounter { chrf, characters, words, word_counts, row, lower } = self;
        let Chrf { char_order, word_order, lowercase, whitespace, .. } = **chrf;
        characters.clear();
        word_counts.clear();
        words.resize_with(references.len().max(words.len()), Ngrams::default);
        for (reference, words) in references.iter().zip(words.iter_mut()) {
            let line = cased(reference, lowercase, lower);
            characters.add_reference(line.chars().filter(|&c| whitespace || !is_space(c)), stop)?;
            if word_order > 0 {
                words.clear();
                let mut count = 0;
                words.add(|emit| split(line, &mut |word| (emit(word), count += 1).0), stop)?;
                words.count(word_order, stop)?;
                word_counts.push(count);
            }
        }
        for (hypothesis, best_row) in hypotheses.iter().zip(rows.chunks_exact_mut(row.len())) {
            let line = cased(hypothesis, lowercase, lower);
            characters.set_hypothesis(line.chars().filter(|&c| whitespace || !is_space(c)), stop)?;
            let mut best = -1.0;
            for reference in 0..references.len() {
                row.fill(0);
                let (of_characters, of_words) = row.split_at_mut(3 * char_order);
                characters.overlap(reference, of_characters, stop)?;
                if word_order > 0 {
                    let mut matches = [0; MAX_ORDER];
                    let matches = &mut matches[..word_order];
                    let length = words[reference].overlap(|emit| split(line, emit), matches, stop)?;
                    fill(of_words, length, word_counts[reference], matches);
                }
                let score = chrf.f_score(row);
                if score > best {
                    best = score;
                    best_row.copy_from_slice(row);
                }
            }
        }
        Ok(())
    }
}

/// Fills `[hyp, ref, match]` of every order from the lengths of both sides and the matches.
fn fill(row: &mut [i64], hypothesis: usize, reference: usize, matches: &[i64]) {
    for (n, (counts, &matched)) in row.chunks_exact_mut(3).zip(matches).enumerate() {
        let (of_hypothesis, of_reference) = (hypothesis.saturating_sub(n), reference.saturating_sub(n));
        // Where the reference is too short to have any, those of the hypothesis do not count as wrong.
        let of_hypothesis = if of_reference > 0 { of_hypothesis } else { 0 };
        counts.copy_from_slice(&[of_hypothesis as i64, of_reference as i64, matched]);
    }
}

/// The words of chrF++: white space separates them, and one ASCII punctuation mark at the end, or else at the
/// beginning, is a word of its own.
fn split(line: &str, emit: &mut dyn FnMut(&str)) {
    tokenize::split(line, &mut |word| {
        let is_mark = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_punctuation);
        let bytes = word.as_bytes();
        let cut = match bytes.len() {
            1 => 0,
            length if is_mark(bytes.last()) => length - 1,
            _ if is_mark(bytes.first()) => 1,
            _ => 0,
        };
        let (left, right) = word.split_at(cut);
        if !left.is_empty() {
            emit(left);
        }
        emit(right);
    });
}

/// The character n-grams of a segment: sorted words as described above, or, for what does not fit a word, a trie.
struct Characters {
    order: usize,
    /// How many bits a character gets.
    bits: u32,
    /// The numbers of the references' characters, from 1; 0 for all others.
    numbers: Vec<u16>,
    known: Vec<char>,
    references: Vec<Vec<char>>,
    sorted_references: Vec<Vec<u64>>,
    hypothesis: Vec<char>,
    sorted_hypothesis: Vec<u64>,
    /// Do the segment's characters have no numbers that fit? Then the tries count, one for each reference.
    overflow: bool,
    tries: Vec<Ngrams>,
}

impl Characters {
    fn new(order: usize) -> Self {
        Characters {
            order,
            bits: (u64::BITS / order.max(1) as u32).min(u16::BITS),
            numbers: vec![0; char::MAX as usize + 1],
            known: Vec::new(),
            references: Vec::new(),
            sorted_references: Vec::new(),
            hypothesis: Vec::new(),
            sorted_hypothesis: Vec::new(),
            overflow: false,
            tries: Vec::new(),
        }
    }

    /// Forgets the segment.
    fn clear(&mut self) {
        for c in self.known.drain(..) {
            self.numbers[c as usize] = 0;
        }
        self.references.clear();
        self.overflow = false;
    }

    fn add_reference(&mut self, characters: impl Iterator<Item = char>, stop: &Stop<'_>) -> Result<()> {
        let reference: Vec<char> = characters.collect();
        // 0 stands for no character, so one number less is left than the bits could tell apart.
        let room = (1 << self.bits) - 1;
        for (number, piece) in reference.chunks(PIECE).enumerate() {
            if number > 0 && stop.requested() {
                return Err(Error::Interrupted);
            }
            for &c in piece {
                let number = &mut self.numbers[c as usize];
                if *number == 0 && self.known.len() < room {
                    self.known.push(c);
                    *number = self.known.len() as u16;
                }
                self.overflow |= *number == 0;
            }
        }
        let index = self.references.len();
        if index == self.sorted_references.len() {
            self.sorted_references.push(Vec::new());
        }
        sort_windows(&reference, &self.numbers, (self.order, self.bits), &mut self.sorted_references[index], stop)?;
        self.references.push(reference);
        Ok(())
    }

    fn set_hypothesis(&mut self, characters: impl Iterator<Item = char>, stop: &Stop<'_>) -> Result<()> {
        self.hypothesis.clear();
        self.hypothesis.extend(characters);
        if !self.overflow {
            let shape = (self.order, self.bits);
            sort_windows(&self.hypothesis, &self.numbers, shape, &mut self.sorted_hypothesis, stop)?;
        }
        Ok(())
    }

    /// Fills `[hyp, ref, match]` of every order for the hypothesis and one of the references.
    fn overlap(&mut self, reference: usize, row: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let mut matches = [0; MAX_ORDER];
        let matches = &mut matches[..self.order];
        if self.overflow {
            self.overlap_of_tries(reference, matches, stop)?;
        } else {
            let (hypothesis, reference) = (&self.sorted_hypothesis, &self.sorted_references[reference]);
            overlap_of_sorted(hypothesis, reference, self.bits, matches, stop)?;
        }
        fill(row, self.hypothesis.len(), self.references[reference].len(), matches);
        Ok(())
    }

    fn overlap_of_tries(&mut self, reference: usize, matches: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        self.tries.resize_with(self.references.len().max(self.tries.len()), Ngrams::default);
        let trie = &mut self.tries[reference];
        trie.clear();
        let mut buffer = [0; 4];
        trie.add(|emit| self.references[reference].iter().for_each(|c| emit(c.encode_utf8(&mut buffer))), stop)?;
        trie.count(self.order, stop)?;
        trie.overlap(|emit| self.hypothesis.iter().for_each(|c| emit(c.encode_utf8(&mut buffer))), matches, stop)?;
        Ok(())
    }
}

/// For every position the numbers of the next `order` characters in one word, the first in the highest bits, cut before
/// the first character without a number; sorted.
fn sort_windows(
    text: &[char],
    numbers: &[u16],
    (order, bits): (usize, u32),
    out: &mut Vec<u64>,
    stop: &Stop<'_>,
) -> Result<()> {
    out.clear();
    if order == 0 {
        return Ok(());
    }
    let top = u64::BITS - bits;
    // The bits of `order` characters; what is shifted out below them has left the window.
    let window = u64::MAX << (u64::BITS - bits * order as u32);
    let mut word = 0;
    for (number, piece) in text.rchunks(PIECE).enumerate() {
        if number > 0 && stop.requested() {
            return Err(Error::Interrupted);
        }
        for &c in piece.iter().rev() {
            let number = numbers[c as usize];
            word = if number == 0 { 0 } else { u64::from(number) << top | (word >> bits & window) };
            if word != 0 {
                out.push(word);
            }
        }
    }
    pool::sort(out, u64::cmp, stop)
}

/// Adds to `matches[n - 1]` the clipped overlap of the n-grams of two sorted lists of words.
fn overlap_of_sorted(
    hypothesis: &[u64],
    reference: &[u64],
    bits: u32,
    matches: &mut [i64],
    stop: &Stop<'_>,
) -> Result<()> {
    let mut piece_end = PIECE;
    // How often the n-gram at hand has been seen on each side; index 0 stands for no character at all.
    let mut seen = [[0_u32; 2]; MAX_ORDER + 1];
    let order = matches.len();
    let (mut h, mut r) = (0, 0);
    let mut open = 0; // the longest order that has something in `seen`
    let next = |h: usize, r: usize| match (hypothesis.get(h), reference.get(r)) {
        (Some(&x), Some(&y)) => Some(x.min(y)),
        (x, y) => x.or(y).copied(),
    };
    let mut word = next(h, r);
    while let Some(at) = word {
        let (begin_h, begin_r) = (h, r);
        if h + r >= piece_end {
            piece_end = h + r + PIECE;
            if stop.requested() {
                return Err(Error::Interrupted);
            }
        }
        while hypothesis.get(h) == Some(&at) {
            h += 1;
        }
        while reference.get(r) == Some(&at) {
            r += 1;
        }
        // The number of characters: none of them is 0, so trailing zeros tell how many are missing.
        let length = order - ((at.trailing_zeros() - (u64::BITS - bits * order as u32)) / bits) as usize;
        seen[length][0] += (h - begin_h) as u32;
        seen[length][1] += (r - begin_r) as u32;
        open = length.max(open);
        word = next(h, r);
        // N-grams longer than what the next word has in common with this one are complete.
        let shared = word.map_or(0, |next| ((at ^ next).leading_zeros() / bits) as usize);
        while open > shared {
            let [of_hypothesis, of_reference] = std::mem::take(&mut seen[open]);
            matches[open - 1] += i64::from(of_hypothesis.min(of_reference));
            open -= 1;
            seen[open][0] += of_hypothesis;
            seen[open][1] += of_reference;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{count_segment, metric};
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn chrf(options: &[(&str, Value)]) -> std::sync::Arc<dyn Metric> {
        let options: Vec<_> = options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        metric("chrf", &options).unwrap()
    }

    fn multiset<T: std::hash::Hash + Eq>(items: &[T], n: usize) -> HashMap<&[T], i64> {
        let mut counts = HashMap::new();
        for ngram in items.windows(n) {
            *counts.entry(ngram).or_default() += 1;
        }
        counts
    }

    /// The definition: `[hyp, ref, match]` of every order from multisets.
    fn by_multisets<T: std::hash::Hash + Eq>(hypothesis: &[T], reference: &[T], order: usize) -> Vec<i64> {
        let of_order = |n| {
            let (hypothesis, reference) = (multiset(hypothesis, n), multiset(reference, n));
            let size = |counts: &HashMap<_, i64>| counts.values().sum();
            let matched = hypothesis.iter().map(|(ngram, &c)| c.min(reference.get(ngram).copied().unwrap_or(0))).sum();
            [if reference.is_empty() { 0 } else { size(&hypothesis) }, size(&reference), matched]
        };
        (1..=order).flat_map(of_order).collect()
    }

    #[test]
    fn punctuation_is_cut_off_once_and_rather_at_the_end() {
        let words = |line| {
            let mut words = Vec::new();
            split(line, &mut |word| words.push(word.to_owned()));
            words
        };
        assert_eq!(["(hi", ")"], words("(hi)").as_slice());
        assert_eq!(["(", "hi", "é", "wait..", ".", "!", "!"], words(" (hi é wait... ! !").as_slice()[..7]);
        assert_eq!(["!", "!"], words("!!").as_slice());
    }

    #[test]
    fn names_and_signatures_are_those_of_sacrebleu() {
        let plus = metric("chrf++", &[]).unwrap();
        let signature: Vec<_> = plus.signature().into_iter().map(|(k, v)| format!("{k}:{v}")).collect();
        assert_eq!(("chrF2++", "case:mixed|eff:yes|nc:6|nw:2|space:no"), (plus.name(), &*signature.join("|")));
        assert_eq!("chrF3", chrf(&[("beta", Value::Integer(3))]).name());
    }

    #[test]
    fn the_best_reference_is_taken_and_of_equals_the_first() {
        let chrf = chrf(&[("char_order", Value::Integer(1))]);
        assert_eq!([2, 2, 2], count_segment(chrf.as_ref(), &["ab", "axyz", "abc"], "ab").as_slice());
        assert_eq!([2, 4, 1], count_segment(chrf.as_ref(), &["axyz", "bxyz"], "ab").as_slice());
        assert_eq!([2, 3, 0], count_segment(chrf.as_ref(), &["xyz", "uvwxyz"], "ab").as_slice());
    }

    #[test]
    fn without_any_order_there_is_nothing_to_count() {
        let error = metric("chrf", &[("char_order".into(), Value::Integer(0))]).err().unwrap();
        assert_eq!("chrf: char_order must be at least 1 when word_order is 0, got 0", error.to_string());
    }

    #[test]
    fn more_characters_than_a_word_has_numbers_for_are_counted_too() {
        let every: String = ('\u{4e00}'..'\u{5300}').collect();
        let row = count_segment(chrf(&[]).as_ref(), &[&every, "b"], &format!("{every}x"));
        assert_eq!([1281, 1280, 1280, 1280, 1279, 1279], row[..6]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn sorted_words_count_what_multisets_count(
            hypothesis in "[abcé ]{0,20}|\\PC{0,20}",
            reference in "[abcé ]{0,20}|\\PC{0,20}",
            char_order in 0..=MAX_ORDER as i64,
            whitespace in any::<bool>(),
        ) {
            let options = [
                ("char_order", Value::Integer(char_order)),
                ("word_order", Value::Integer(2)),
                ("whitespace", Value::Flag(whitespace)),
            ];
            let characters = |line: &str| line.chars().filter(|&c| whitespace || !is_space(c)).collect::<Vec<_>>();
            let words = |line: &str| {
                let mut words = Vec::new();
                split(line, &mut |word| words.push(word.to_owned()));
                words
            };
            let mut expected = by_multisets(&characters(&hypothesis), &characters(&reference), char_order as usize);
            expected.extend(by_multisets(&words(&hypothesis), &words(&reference), 2));
            prop_assert_eq!(expected, count_segment(chrf(&options).as_ref(), &[&reference], &hypothesis));
        }
    }
}
