//! chrF (Popović 2015, W15-3049) and chrF++ (Popović 2017, W17-4770), with sacreBLEU's options and counts.

mod characters;

use super::pairs::PairBased;
use super::text::{LOWERCASE, case, cased, yes};
use super::{
    Counter, Counters, Formula, Kind, Metric, MetricSpec, OptionSpec, Options, Texts, Value, gradients_by_row,
};
use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
use crate::simd::{Simd, dispatch};
use crate::text::ngram::Ngrams;
use crate::text::tokenize::{self, is_space};
use characters::Characters;

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

    // The order of operations is that of sacreBLEU: the reference with the best score is chosen, so scores that differ
    // only in the last digit have to differ in the same direction.
    fn score(&self, totals: &[i64]) -> f64 {
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
                let score = chrf.score(row);
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
