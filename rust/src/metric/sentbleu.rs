//! Sentence-level BLEU with the smoothings of Chen & Cherry 2014 (W14-3346), 0 to 7, and the corpus score as the mean
//! of the sentences, each as heavy as its reference is long (their Eq. 13).
//!
//! What the paper leaves open is decided so:
//!
//! - without any match the score is 0, before all smoothing;
//! - a hypothesis too short for an order counts there as one n-gram that does not match;
//! - smoothing 4 puts (ln |T| / K)^i matches in the place of none at the i-th such order. For |T| = 1 that is 0, and so
//!   is the score. For |T| > e^K it would be worth more than a match: it stays at 1 there;
//! - smoothing 5 averages counts, not precisions, so that no precision passes 1, and needs the matches of order N + 1;
//! - smoothing 6 takes its prior from the smoothed precisions of the orders below (`smoothing_prior`); after a
//!   precision of 0 it is 0;
//! - smoothing 7, 4 and then 5, leaves the matches of order N + 1 as they are (`smoothing_extra`).
//!
//! `nltk-4` to `nltk-7` are what NLTK 3.10 makes of them instead: 4 has 2^i K / ln |T| in the place of (K / ln |T|)^i and
//! leaves out orders without a match where |T| = 1; 5 and 7 average precisions and can pass 1; 6 raises an error where
//! no three words match in a row (the score is 0 here), and of three words its fourth precision is the prior. Behind the
//! last order 5 and 7 look at the matches of order 5, whatever the last order is.

use super::text::{LOWERCASE, TOKENIZE, Words};
use super::weights::{AUTO_REWEIGH, WEIGHTS, Weights};
use super::{Counter, Counters, Formula, Kind, Metric, MetricSpec, OptionSpec, Options, References, Value};
use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
use crate::stats::fixed;
use crate::text::ngram::Ngrams;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "sentbleu",
    about: "mean of smoothed sentence-level BLEU, weighted by reference length",
    source: "W14-3346",
    reads_parses: false,
    options: &[
        TOKENIZE,
        LOWERCASE,
        OptionSpec {
            name: "smoothing",
            kind: Kind::Choice(|| SMOOTHINGS.iter().map(|(name, _)| *name).collect()),
            default: || Value::Name("7".into()),
            about: "Chen & Cherry's smoothing, or NLTK's version of it",
        },
        OptionSpec {
            name: "smoothing_epsilon",
            kind: Kind::Real(0.0, 1e6),
            default: || Value::Real(0.1),
            about: "the count that smoothing 1 uses for an order without a match",
        },
        OptionSpec {
            name: "smoothing_k",
            kind: Kind::Real(1e-3, 1e6),
            default: || Value::Real(5.0),
            about: "K of smoothings 4 and 7",
        },
        OptionSpec {
            name: "smoothing_alpha",
            kind: Kind::Real(0.0, 1e6),
            default: || Value::Real(5.0),
            about: "the weight of the prior of smoothing 6, in n-grams",
        },
        OptionSpec {
            name: "smoothing_prior",
            kind: Kind::Choice(|| PRIORS.to_vec()),
            default: || Value::Name(PRIORS[0].into()),
            about: "which precisions the prior of smoothing 6 is made of",
        },
        OptionSpec {
            name: "smoothing_extra",
            kind: Kind::Flag,
            default: || Value::Flag(false),
            about: "let smoothing 7 smooth the matches of order N + 1, too",
        },
        OptionSpec {
            name: "max_ngram_order",
            kind: Kind::Integer(1, MAX_ORDER as i64),
            default: || Value::Integer(4),
            about: "the longest n-gram",
        },
        WEIGHTS,
        AUTO_REWEIGH,
    ],
    build: |options| Ok(Box::new(SentBleu::new(options)?)),
};

const MAX_ORDER: usize = 16;

const PRIORS: [&str; 2] = ["smoothed", "raw"];

/// The numerators and denominators of the precisions, order by order.
struct Precisions {
    matches: [f64; MAX_ORDER + 1],
    possible: [f64; MAX_ORDER + 1],
}

impl Precisions {
    /// Of order n, from 1.
    fn of(&self, n: usize) -> f64 {
        self.matches[n - 1] / self.possible[n - 1]
    }
}

/// The order whose matches NLTK's smoothing 5 uses after the last order.
const NLTK_ORDER: usize = 5;

type Smoothing = fn(&SentBleu, &Precisions, hypothesis: f64) -> [f64; MAX_ORDER + 1];

/// Each gives the smoothed precisions of orders 1 to N. A new one is a line here and a function below.
const SMOOTHINGS: [(&str, Smoothing); 12] = [
    ("0", |bleu, p, _| bleu.each(|n| p.of(n))),
    ("1", |bleu, p, _| bleu.each(|n| if p.of(n) == 0.0 { bleu.epsilon / p.possible[n - 1] } else { p.of(n) })),
    ("2", |bleu, p, _| {
        bleu.each(|n| if n == 1 { p.of(n) } else { (p.matches[n - 1] + 1.0) / (p.possible[n - 1] + 1.0) })
    }),
    ("3", |bleu, p, _| bleu.precisions(&bleu.in_the_place_of_none(p, |i| 0.5_f64.powi(i)), p)),
    ("4", |bleu, p, hypothesis| bleu.precisions(&bleu.by_length(p, hypothesis), p)),
    ("5", |bleu, p, _| bleu.precisions(&bleu.neighbours(&p.matches), p)),
    ("6", |bleu, p, _| bleu.interpolated(p, |n| p.possible[n - 1])),
    ("7", |bleu, p, hypothesis| {
        let mut matches = bleu.by_length(p, hypothesis);
        if !bleu.extra {
            matches[bleu.order] = p.matches[bleu.order];
        }
        bleu.precisions(&bleu.neighbours(&matches), p)
    }),
    ("nltk-4", |bleu, p, hypothesis| bleu.by_length_of_nltk(p, hypothesis)),
    ("nltk-5", |bleu, p, _| {
        let mut precisions = bleu.each(|n| p.of(n));
        precisions[bleu.order] = p.of(NLTK_ORDER);
        bleu.neighbours(&precisions)
    }),
    ("nltk-6", |bleu, p, hypothesis| {
        // Priors are of precisions as smoothed, whatever the option says, and all there is where the hypothesis is too
        // short for an order.
        if bleu.order > 2 && p.matches[2] == 0.0 {
            [0.0; MAX_ORDER + 1]
        } else {
            bleu.interpolated(p, |n| (hypothesis + 1.0 - n as f64).max(0.0))
        }
    }),
    ("nltk-7", |bleu, p, hypothesis| {
        let mut precisions = bleu.by_length_of_nltk(p, hypothesis);
        precisions[bleu.order] = p.of(NLTK_ORDER);
        bleu.neighbours(&precisions)
    }),
];

/// The score of a sentence times the length of its reference, in units of 2^-30: nine digits of a score, and room for a
/// million sentences of four thousand words.
const BITS: u32 = 30;

/// Sentence-level BLEU. A row is `[weighted, ref_len, unweighted]`: the score (0 to 1) times the closest reference length
/// in units of 2^-30, and that length. A sentence whose closest reference is empty weighs nothing: so that it has a score
/// of its own, the last count is that score in the same units, and 0 for all other sentences.
pub struct SentBleu {
    words: Words,
    order: usize,
    name: String,
    smoothing: Smoothing,
    epsilon: f64,
    k: f64,
    alpha: f64,
    raw_prior: bool,
    extra: bool,
    weights: Weights,
}

impl SentBleu {
    /// # Errors
    /// [`crate::Error::UnknownName`] for a tokenizer that does not exist.
    pub fn new(options: &Options) -> Result<Self> {
        let name = options.name("smoothing");
        let found = SMOOTHINGS.iter().find(|(known, _)| *known == name);
        let real = |name| options.real(name).expect("it has a default");
        Ok(SentBleu {
            words: Words::new(options)?,
            order: options.integer("max_ngram_order"),
            name: name.into(),
            smoothing: found.expect("choices are checked").1,
            epsilon: real("smoothing_epsilon"),
            k: real("smoothing_k"),
            alpha: real("smoothing_alpha"),
            raw_prior: options.name("smoothing_prior") == "raw" && !name.starts_with("nltk"),
            extra: options.flag("smoothing_extra"),
            weights: Weights::new("sentbleu", options)?,
        })
    }

    /// A value for every order from 1 to N.
    fn each(&self, value: impl Fn(usize) -> f64) -> [f64; MAX_ORDER + 1] {
        let mut out = [0.0; MAX_ORDER + 1];
        (1..=self.order).for_each(|n| out[n - 1] = value(n));
        out
    }

    /// The longest n-grams that are counted.
    fn counted(&self) -> usize {
        (self.order + 1).max(NLTK_ORDER)
    }

    fn precisions(&self, matches: &[f64; MAX_ORDER + 1], p: &Precisions) -> [f64; MAX_ORDER + 1] {
        self.each(|n| matches[n - 1] / p.possible[n - 1])
    }

    /// The matches of orders 1 to N + 1, with `pseudo(i)` at the i-th order that has none.
    fn in_the_place_of_none(&self, p: &Precisions, pseudo: impl Fn(i32) -> f64) -> [f64; MAX_ORDER + 1] {
        let mut nothing = 0;
        let mut out = p.matches;
        for matches in out[..=self.order].iter_mut().filter(|matches| **matches == 0.0) {
            nothing += 1;
            *matches = pseudo(nothing);
        }
        out
    }

    /// Smoothing 4's counts.
    fn by_length(&self, p: &Precisions, hypothesis: f64) -> [f64; MAX_ORDER + 1] {
        self.in_the_place_of_none(p, |i| (hypothesis.ln() / self.k).powi(i).min(1.0))
    }

    /// What NLTK has for smoothing 4.
    fn by_length_of_nltk(&self, p: &Precisions, hypothesis: f64) -> [f64; MAX_ORDER + 1] {
        let pseudo = |i| if hypothesis > 1.0 { 1.0 / (2.0_f64.powi(i) * self.k / hypothesis.ln()) } else { 0.0 };
        self.precisions(&self.in_the_place_of_none(p, pseudo), p)
    }

    /// Smoothing 5: each value the mean of itself, the smoothed one below and the one above; 1 above the first below.
    fn neighbours(&self, values: &[f64; MAX_ORDER + 1]) -> [f64; MAX_ORDER + 1] {
        let mut below = values[0] + 1.0;
        let mut out = [0.0; MAX_ORDER + 1];
        for n in 0..self.order {
            below = (below + values[n] + values[n + 1]) / 3.0;
            out[n] = below;
        }
        out
    }

    /// Smoothing 6, with so many n-grams of each order.
    fn interpolated(&self, p: &Precisions, possible: impl Fn(usize) -> f64) -> [f64; MAX_ORDER + 1] {
        let mut out = self.each(|n| p.of(n));
        for n in 2..self.order {
            let prior = |p: &[f64]| if p[n - 2] == 0.0 { 0.0 } else { p[n - 1] * p[n - 1] / p[n - 2] };
            let prior = if self.raw_prior { prior(&self.each(|n| p.of(n))) } else { prior(&out) };
            let denominator = possible(n + 1) + self.alpha;
            out[n] = if denominator == 0.0 { 0.0 } else { (p.matches[n] + self.alpha * prior) / denominator };
        }
        out
    }

    /// The score of a sentence, from the lengths and the matches of orders 1 to N + 1.
    fn sentence(&self, hypothesis: usize, reference: usize, matches: &[i64]) -> f64 {
        if matches[0] == 0 {
            return 0.0;
        }
        let mut p = Precisions { matches: [0.0; MAX_ORDER + 1], possible: [1.0; MAX_ORDER + 1] };
        for (n, &matched) in matches.iter().enumerate() {
            p.matches[n] = matched as f64;
            p.possible[n] = hypothesis.saturating_sub(n).max(1) as f64;
        }
        let precisions = (self.smoothing)(self, &p, hypothesis as f64);
        // NLTK takes the mean of the logarithms that exist.
        let skip = self.name == "nltk-4" || self.name == "nltk-7";
        let factors = precisions[..self.order].iter().map(|&p| if skip && p == 0.0 { 1.0 } else { p });
        let penalty = if hypothesis < reference { (1.0 - reference as f64 / hypothesis as f64).exp() } else { 1.0 };
        if !self.weights.are_equal() {
            return penalty * self.weights.product(factors, hypothesis as i64, self.order);
        }
        let product: f64 = factors.product();
        penalty * product.powf(1.0 / self.order as f64)
    }
}

impl Formula for SentBleu {
    fn name(&self) -> &str {
        "sentBLEU"
    }

    fn columns(&self) -> Vec<String> {
        ["weighted", "ref_len", "unweighted"].map(Into::into).into()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        let parameter = match self.name.as_str() {
            "1" => format!("[{}]", self.epsilon),
            "4" | "7" | "nltk-4" | "nltk-7" => format!("[{}]", self.k),
            "6" | "nltk-6" => format!("[{}]", self.alpha),
            _ => String::new(),
        };
        let mut signature = vec![self.words.case(), self.words.tok(), ("smooth", format!("{}{parameter}", self.name))];
        if self.name == "6" && self.raw_prior {
            signature.push(("prior", "raw".into()));
        }
        if self.name == "7" && self.extra {
            signature.push(("extra", "yes".into()));
        }
        if self.order != 4 {
            signature.push(("order", self.order.to_string()));
        }
        signature.extend(self.weights.signature());
        signature
    }

    fn score(&self, totals: &[i64]) -> f64 {
        if totals[1] == 0 { 0.0 } else { 100.0 * fixed::to_real(totals[0], BITS) / totals[1] as f64 }
    }

    fn segment_score(&self, row: &[i64]) -> f64 {
        if row[1] == 0 { 100.0 * fixed::to_real(row[2], BITS) } else { self.score(row) }
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        vec![("ref_len".into(), totals[1] as f64)]
    }

    /// In per cent, and the reference of a sentence that counts has a word at least.
    fn decimals(&self) -> Option<u32> {
        Some(fixed::decimals(100.0, BITS))
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        let (of_ratio, of_unweighted) = out.split_at_mut(2);
        super::ratio_gradient(100.0 * fixed::to_real(1, BITS), totals, of_ratio);
        of_unweighted.fill(0.0);
    }
}

impl Metric for SentBleu {
    fn counters<'a>(&'a self, _: &References<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        Ok(Box::new(|| Box::new(SentBleuCounter { bleu: self, references: Ngrams::default() })))
    }
}

struct SentBleuCounter<'a> {
    bleu: &'a SentBleu,
    references: Ngrams,
}

impl Counter for SentBleuCounter<'_> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let words = self.bleu.words;
        self.references.clear();
        for reference in references {
            self.references.add(|emit| words.tokens(reference, emit), stop)?;
        }
        let counted = self.bleu.counted();
        self.references.count(counted, stop)?;
        for (hypothesis, row) in hypotheses.iter().zip(rows.chunks_exact_mut(3)) {
            let mut matches = [0; MAX_ORDER + 1];
            let matches = &mut matches[..counted];
            let length = self.references.overlap(|emit| words.tokens(hypothesis, emit), matches, stop)?;
            let closest = self.references.closest_length(length);
            let score = self.bleu.sentence(length, closest, matches);
            let in_units = |x: f64, column| fixed::from_real(x, BITS).ok_or(Error::Overflow { column });
            let weighted = in_units(score * closest as f64, 0)?;
            let unweighted = if closest == 0 { in_units(score, 2)? } else { 0 };
            row.copy_from_slice(&[weighted, closest as i64, unweighted]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{count_segment, metric};

    fn score(smoothing: &str, reference: &str, hypothesis: &str) -> f64 {
        let options = [
            ("smoothing".to_owned(), Value::Name(smoothing.into())),
            ("tokenize".to_owned(), Value::Name("none".into())),
        ];
        let bleu = metric("sentbleu", &options).unwrap();
        bleu.score(&count_segment(bleu.as_ref(), &[reference], hypothesis)) / 100.0
    }

    fn close(expected: f64, actual: f64) {
        assert!((expected - actual).abs() < 1e-9, "{expected} {actual}");
    }

    #[test]
    fn without_a_match_nothing_is_smoothed() {
        for (name, _) in SMOOTHINGS {
            assert_eq!(0.0, score(name, "a b c d", "e f g h"), "{name}");
            assert_eq!(0.0, score(name, "a b c d", ""), "{name}");
            assert_eq!(0.0, score(name, "", "a b"), "{name}");
        }
    }

    #[test]
    fn an_order_that_cannot_occur_is_one_ngram_without_a_match() {
        close((0.1_f64 * 0.1).powf(0.25), score("1", "a b", "a b"));
        close((1.0_f64 * 1.0 * 0.5 * 0.5).powf(0.25), score("2", "a b", "a b"));
        close((0.5_f64 * 0.25).powf(0.25), score("3", "a b", "a b"));
    }

    #[test]
    fn a_single_word_scores_nothing_by_its_length() {
        assert_eq!(0.0, score("4", "a", "a"));
        close(1.0, score("nltk-4", "a", "a"));
    }

    #[test]
    fn where_there_is_no_ngram_nltk_has_the_prior_alone() {
        close((5.0_f64 / 6.0).powf(0.25), score("6", "a b c", "a b c"));
        close(1.0, score("nltk-6", "a b c", "a b c"));
    }

    #[test]
    fn what_stands_for_no_match_is_worth_no_more_than_one() {
        let long = |word: &str, n: usize| vec![word; n].join(" x ");
        let (reference, hypothesis) = (long("a", 100), long("b", 100).replacen('b', "a", 1));
        // One a, every x and one "a x" match; no three words in a row, which would be worth ln(199)/5 > 1 matches.
        let p = score("4", &reference, &hypothesis);
        let m = [100.0, 1.0, 1.0, 1.0];
        let expected: f64 = m.iter().zip([199.0, 198.0, 197.0, 196.0]).map(|(m, l)| m / l).product();
        close(expected.powf(0.25), p);
    }

    #[test]
    fn smoothed_counts_of_neighbours_do_not_pass_a_perfect_match() {
        for text in ["a b", "a b c d e", "a b c d e f g h"] {
            assert!(score("5", text, text) <= 1.0 + 1e-9);
        }
        assert!(score("nltk-5", "a b c d e f", "a b c d e f") > 1.0);
    }

    #[test]
    fn the_corpus_score_weighs_sentences_by_reference_length() {
        let bleu = metric("sentbleu", &[("tokenize".into(), Value::Name("none".into()))]).unwrap();
        let rows = [("a b c d", "a b c d"), ("e f", "x y")].map(|(r, h)| count_segment(bleu.as_ref(), &[r], h));
        let total: Vec<i64> = (0..2).map(|i| rows[0][i] + rows[1][i]).collect();
        close(bleu.score(&rows[0]) * 4.0 / 6.0, bleu.score(&total));
    }
}
