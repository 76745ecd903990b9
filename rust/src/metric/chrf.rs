//! chrF (Popović 2015, W15-3049) and chrF++ (Popović 2017, W17-4770), with sacreBLEU's options and counts.
//!
//! The cost is that of the n-grams of the hypotheses, six per character. They are not built one by one. The characters
//! of a segment's references get small numbers, so that the six characters from a position on fit in one 64-bit
//! integer. These integers are sorted; n-grams of every order are then runs of neighbours with a common prefix, and one
//! walk over two sorted lists counts the overlaps of all orders. A character that is in no reference ends an integer
//! early, because no n-gram that contains it can match.

use super::pairs::PairBased;
use super::text::{LOWERCASE, case, cased, yes};
use super::{
    Counter, Counters, Formula, Kind, Metric, MetricSpec, OptionSpec, Options, Texts, Value, gradients_by_row,
};
use crate::error::{Error, Result};
use crate::pool::{self, PIECE, Run, Stop};
use crate::simd::{Simd, dispatch};
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
            about: "weight of recall relative to precision",
        },
        LOWERCASE,
        OptionSpec::flag("whitespace", "count white space as characters"),
        OptionSpec::flag(
            "eps_smoothing",
            "average the F-scores of all orders, as chrF++.py, Moses and NLTK's sentence score do",
        ),
    ]
}

const MAX_ORDER: usize = 16;

/// chrF++.py's replacement for an undefined precision, recall or F-score.
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
        let beta = options.number("beta");
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

    /// The precision and recall of one order.
    fn precision_recall(counts: &[i64]) -> (f64, f64) {
        let ratio = |total: i64| if total > 0 { counts[2] as f64 / total as f64 } else { EPSILON };
        (ratio(counts[0]), ratio(counts[1]))
    }

    /// The means of precision and recall over the orders that occur on both sides.
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

    // The order of operations is that of sacreBLEU: the reference with the best score is chosen, so scores that differ
    // only in the last digit have to differ in the same direction.
    fn f_score(&self, totals: &[i64]) -> f64 {
        let factor = self.beta * self.beta;
        if self.eps_smoothing {
            let order_score = |counts| {
                let (precision, recall) = Self::precision_recall(counts);
                let denominator = factor * precision + recall;
                if denominator > 0.0 { (1.0 + factor) * precision * recall / denominator } else { EPSILON }
            };
            // Not `sum`, which begins at -0.0.
            let sum = totals.chunks_exact(3).map(order_score).fold(0.0, |sum, f| sum + f);
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

    fn width(&self) -> usize {
        3 * self.order()
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
        // For one order, P = m/h and R = m/r; this turns derivatives with respect to P and R into those for h, r and m.
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

    fn gradients(&self, totals: &[i64], scores: &[f64], out: &mut [f64]) {
        if self.eps_smoothing {
            return gradients_by_row(|row, gradient| self.gradient(row, gradient), totals, scores.len(), out);
        }
        plain_gradients(Simd::best(), self, totals, scores.len(), out);
    }
}

dispatch! {
    /// The derivatives at `n` rows without smoothing. The operations are those of [`Chrf::gradient`].
    fn plain_gradients(chrf: &Chrf, totals: &[i64], n: usize, out: &mut [f64]) {
        let columns = |counts| {
            let (hypotheses, others) = <[i64]>::split_at(counts, n);
            let (references, matches) = others.split_at(n);
            hypotheses
                .iter()
                .zip(references)
                .zip(matches)
                .map(|((&h, &r), &m)| (h > 0 && r > 0, h as f64, r as f64, m as f64))
        };
        // Sums over the orders that occur on both sides, then the derivatives with respect to precision and recall.
        let (mut orders, mut precisions, mut recalls) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for counts in totals.chunks_exact(3 * n) {
            let sums = orders.iter_mut().zip(&mut precisions).zip(&mut recalls);
            for (((order, precision), recall), (occurs, h, r, m)) in sums.zip(columns(counts)) {
                *order += if occurs { 1.0 } else { 0.0 };
                *precision += if occurs { m / h } else { 0.0 };
                *recall += if occurs { m / r } else { 0.0 };
            }
        }
        for ((order, precision), recall) in orders.iter().zip(&mut precisions).zip(&mut recalls) {
            let n_orders = f64::max(*order, 1.0);
            let (by_precision, by_recall) = chrf.f_slopes((*precision / n_orders, *recall / n_orders));
            let share = 100.0 / n_orders;
            (*precision, *recall) = (share * by_precision, share * by_recall);
        }
        for (counts, out) in totals.chunks_exact(3 * n).zip(out.chunks_exact_mut(3 * n)) {
            let (by_hypotheses, others) = out.split_at_mut(n);
            let (by_references, by_matches) = others.split_at_mut(n);
            let outs = by_hypotheses.iter_mut().zip(by_references).zip(by_matches);
            let slopes = precisions.iter().zip(&recalls);
            for ((((by_h, by_r), by_m), (by_precision, by_recall)), (occurs, h, r, m)) in
                outs.zip(slopes).zip(columns(counts))
            {
                *by_h = if occurs { -by_precision * (m / h) / h } else { 0.0 };
                *by_r = if occurs { -by_recall * (m / r) / r } else { 0.0 };
                *by_m = if occurs { by_precision / h + by_recall / r } else { 0.0 };
            }
        }
    }
}

impl Metric for Chrf {
    fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        Ok(Box::new(|| Box::new(ChrfCounter::new(self))))
    }

    fn pair_based(&self) -> Option<Box<dyn PairBased + '_>> {
        Some(Box::new(self))
    }
}

impl PairBased for &Chrf {
    fn orders(&self) -> [usize; 2] {
        [self.char_order, self.word_order]
    }

    fn units(&self, line: &str, emit: &mut dyn FnMut(usize, &str)) {
        let (mut lower, mut buffer) = (String::new(), [0; 4]);
        let line = cased(line, self.lowercase, &mut lower);
        let characters = line.chars().filter(|&c| self.whitespace || !is_space(c));
        characters.for_each(|c| emit(0, c.encode_utf8(&mut buffer)));
        if self.word_order > 0 {
            split(line, &mut |word| emit(1, word));
        }
    }

    fn fill(&self, hypothesis: [usize; 2], reference: [usize; 2], matches: &[i64], row: &mut [i64]) -> Result<()> {
        let (char_row, word_row) = row.split_at_mut(3 * self.char_order);
        let (char_matches, word_matches) = matches.split_at(self.char_order);
        fill(char_row, hypothesis[0], reference[0], char_matches);
        fill(word_row, hypothesis[1], reference[1], word_matches);
        Ok(())
    }
}

impl Chrf {
    /// The derivatives of F = (1 + β²)·P·R/(β²·P + R) with respect to P and R; 0 where both are 0.
    #[inline(always)]
    fn f_slopes(&self, (precision, recall): (f64, f64)) -> (f64, f64) {
        let factor = self.beta * self.beta;
        let denominator = factor * precision + recall;
        let (precision_share, recall_share) = (precision / denominator, recall / denominator);
        let by_precision = (1.0 + factor) * recall_share * recall_share;
        let by_recall = (1.0 + factor) * factor * precision_share * precision_share;
        if denominator <= 0.0 { (0.0, 0.0) } else { (by_precision, by_recall) }
    }
}

struct ChrfCounter<'a> {
    chrf: &'a Chrf,
    characters: Characters,
    /// The word n-grams of each reference separately: a hypothesis is compared with one reference at a time.
    words: Vec<Ngrams>,
    word_counts: Vec<usize>,
    row: Vec<i64>,
    /// A buffer for a line in lower case.
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
                let (char_row, word_row) = row.split_at_mut(3 * char_order);
                characters.overlap(reference, char_row, stop)?;
                if word_order > 0 {
                    let mut matches = [0; MAX_ORDER];
                    let matches = &mut matches[..word_order];
                    let length = words[reference].overlap(|emit| split(line, emit), matches, stop)?;
                    fill(word_row, length, word_counts[reference], matches);
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

/// Writes `[hyp, ref, match]` of every order, from both lengths in unigrams and the matches.
fn fill(row: &mut [i64], hypothesis: usize, reference: usize, matches: &[i64]) {
    for (n, (counts, &matched)) in row.chunks_exact_mut(3).zip(matches).enumerate() {
        let (hypothesis_ngrams, reference_ngrams) = (hypothesis.saturating_sub(n), reference.saturating_sub(n));
        // If the reference is too short to contain any, the n-grams of the hypothesis do not count as wrong.
        let hypothesis_ngrams = if reference_ngrams > 0 { hypothesis_ngrams } else { 0 };
        counts.copy_from_slice(&[hypothesis_ngrams as i64, reference_ngrams as i64, matched]);
    }
}

/// Splits a line into words as chrF++ does: at white space, and then one ASCII punctuation mark at the end of a word,
/// or otherwise at its beginning, becomes a separate word.
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

/// The character n-grams of a segment: sorted integers as described above or, if they do not fit, tries.
struct Characters {
    order: usize,
    /// The number of bits per character.
    bits: u32,
    /// The numbers of the characters in the references, from 1; 0 for all others. The table grows with the largest
    /// character, because allocating one for all characters takes longer than counting a sentence.
    numbers: Vec<u16>,
    known: Vec<char>,
    references: Vec<Vec<char>>,
    sorted_references: Vec<Vec<u64>>,
    hypothesis: Vec<char>,
    sorted_hypothesis: Vec<u64>,
    /// Do the references have too many distinct characters? Then tries are used, one per reference.
    overflow: bool,
    tries: Vec<Ngrams>,
}

impl Characters {
    fn new(order: usize) -> Self {
        Characters {
            order,
            bits: (u64::BITS / order.max(1) as u32).min(u16::BITS),
            numbers: Vec::new(),
            known: Vec::new(),
            references: Vec::new(),
            sorted_references: Vec::new(),
            hypothesis: Vec::new(),
            sorted_hypothesis: Vec::new(),
            overflow: false,
            tries: Vec::new(),
        }
    }

    /// Empties the tables for the next segment.
    fn clear(&mut self) {
        for c in self.known.drain(..) {
            self.numbers[c as usize] = 0;
        }
        self.references.clear();
        self.overflow = false;
    }

    fn add_reference(&mut self, characters: impl Iterator<Item = char>, stop: &Stop<'_>) -> Result<()> {
        let reference: Vec<char> = characters.collect();
        // 0 means no character, so one number less is available.
        let room = (1 << self.bits) - 1;
        for (number, piece) in reference.chunks(PIECE).enumerate() {
            if number > 0 {
                stop.check()?;
            }
            for &c in piece {
                let position = c as usize;
                if position >= self.numbers.len() {
                    self.numbers.resize((position + 1).next_power_of_two().min(char::MAX as usize + 1), 0);
                }
                let number = &mut self.numbers[position];
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

    /// Writes `[hyp, ref, match]` of every order for the hypothesis and one reference.
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

/// Packs the next `order` characters from every position into one integer, the first character in the highest bits,
/// truncated before the first character without a number; then sorts these windows.
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
    // The bits of `order` characters; bits shifted out below them have left the window.
    let window = u64::MAX << (u64::BITS - bits * order as u32);
    let mut word = 0;
    for (number, piece) in text.rchunks(PIECE).enumerate() {
        if number > 0 {
            stop.check()?;
        }
        for &c in piece.iter().rev() {
            let number = numbers.get(c as usize).copied().unwrap_or(0);
            word = if number == 0 { 0 } else { u64::from(number) << top | (word >> bits & window) };
            if word != 0 {
                out.push(word);
            }
        }
    }
    pool::sort(out, u64::cmp, stop)
}

/// Adds the clipped overlap of order n of two sorted lists of windows to `matches[n - 1]`.
fn overlap_of_sorted(
    hypothesis: &[u64],
    reference: &[u64],
    bits: u32,
    matches: &mut [i64],
    stop: &Stop<'_>,
) -> Result<()> {
    let mut piece_end = PIECE;
    // How often the current n-gram occurs on each side; index 0 is the empty n-gram.
    let mut seen = [[0_u32; 2]; MAX_ORDER + 1];
    let order = matches.len();
    let (mut h, mut r) = (0, 0);
    let mut open = 0; // the longest order with a count in `seen`
    let next = |h: usize, r: usize| match (hypothesis.get(h), reference.get(r)) {
        (Some(&x), Some(&y)) => Some(x.min(y)),
        (x, y) => x.or(y).copied(),
    };
    let mut word = next(h, r);
    while let Some(at) = word {
        let (begin_h, begin_r) = (h, r);
        if h + r >= piece_end {
            piece_end = h + r + PIECE;
            stop.check()?;
        }
        while hypothesis.get(h) == Some(&at) {
            h += 1;
        }
        while reference.get(r) == Some(&at) {
            r += 1;
        }
        // The number of characters in the window: character numbers are not 0, so trailing zeros are missing
        // characters.
        let length = order - ((at.trailing_zeros() - (u64::BITS - bits * order as u32)) / bits) as usize;
        seen[length][0] += (h - begin_h) as u32;
        seen[length][1] += (r - begin_r) as u32;
        open = length.max(open);
        word = next(h, r);
        // N-grams longer than the prefix shared with the next window are complete.
        let shared = word.map_or(0, |next| ((at ^ next).leading_zeros() / bits) as usize);
        while open > shared {
            let [hypothesis_count, reference_count] = std::mem::take(&mut seen[open]);
            matches[open - 1] += i64::from(hypothesis_count.min(reference_count));
            open -= 1;
            seen[open][0] += hypothesis_count;
            seen[open][1] += reference_count;
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
        metric("chrf", options).unwrap()
    }

    fn multiset<T: std::hash::Hash + Eq>(items: &[T], n: usize) -> HashMap<&[T], i64> {
        let mut counts = HashMap::new();
        for ngram in items.windows(n) {
            *counts.entry(ngram).or_default() += 1;
        }
        counts
    }

    /// The definition: `[hyp, ref, match]` of every order by multisets.
    fn by_multisets<T: std::hash::Hash + Eq>(hypothesis: &[T], reference: &[T], order: usize) -> Vec<i64> {
        let of_order = |n| {
            let (hypothesis, reference) = (multiset(hypothesis, n), multiset(reference, n));
            let size = |counts: &HashMap<_, i64>| counts.values().sum();
            let matched = hypothesis.iter().map(|(ngram, &c)| c.min(reference.get(ngram).copied().unwrap_or(0))).sum();
            [if reference.is_empty() { 0 } else { size(&hypothesis) }, size(&reference), matched]
        };
        (1..=order).flat_map(of_order).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn sorted_windows_count_as_multisets_do(
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

        #[test]
        fn all_paths_differentiate_the_same(
            rows in prop::collection::vec(prop::array::uniform18(prop_oneof![9 => 1..300i64, 1 => Just(0)]), 1..80),
            beta in 0..4i64,
        ) {
            let options = Options::resolve("chrf", OPTIONS, &[("beta", Value::Integer(beta))]).unwrap();
            let (chrf, n) = (Chrf::new(&options).unwrap(), rows.len());
            let columns: Vec<i64> = (0..18).flat_map(|column| rows.iter().map(move |row| row[column])).collect();
            let mut expected = vec![9.0; 18 * n];
            gradients_by_row(|row, out| chrf.gradient(row, out), &columns, n, &mut expected);
            for simd in Simd::tested() {
                let mut got = vec![9.0; 18 * n];
                plain_gradients(simd, &chrf, &columns, n, &mut got);
                prop_assert_eq!(&expected, &got, "{:?}", simd);
            }
        }
    }
}
