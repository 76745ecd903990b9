//! Sentence-level BLEU with the smoothing methods 0 to 7 of Chen & Cherry 2014 (W14-3346). The corpus score is the mean
//! of the sentence scores, weighted by reference length (their Eq. 13).
//!
//! The paper leaves some cases open, which are resolved as follows:
//!
//! - without any match the score is 0, whatever the smoothing;
//! - if a hypothesis is too short for an order, the order counts as one n-gram that does not match;
//! - smoothing 4 replaces zero matches by (ln |T| / K)^i at the i-th order without a match. For |T| = 1 this is 0, and
//!   so is the score. For |T| > e^K it would exceed a match, so it is limited to 1;
//! - smoothing 5 averages counts, not precisions, so that no precision exceeds 1, and needs the matches of order N + 1;
//! - smoothing 6 takes its prior from the smoothed precisions of the lower orders (`smoothing_prior`); after a
//!   precision of 0 the prior is 0;
//! - smoothing 7 applies 4 and then 5, without smoothing the matches of order N + 1 (`smoothing_extra`).
//!
//! `nltk-4` to `nltk-7` are NLTK 3.10's variants. 4 has 2^i K / ln |T| instead of (K / ln |T|)^i, and for |T| = 1
//! ignores orders without a match. 5 and 7 average precisions, which can then exceed 1. 6 raises an error if no trigram
//! matches (the score is 0 here), and for three words its fourth precision is the prior. After the last order, 5 and 7
//! use the matches of order 5, whatever the last order is.

use super::text::{LOWERCASE, TOKENIZE, Words};
use super::weights::{AUTO_REWEIGH, WEIGHTS, Weights};
use super::{Counter, Counters, Formula, Kind, Metric, MetricSpec, OptionSpec, Options, Texts, Value};
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
            about: "smoothing method of Chen & Cherry, or NLTK's variant of it",
        },
        OptionSpec {
            name: "smoothing_epsilon",
            kind: Kind::Real(0.0, 1e6),
            default: || Value::Real(0.1),
            about: "the value that smoothing 1 uses instead of zero matches",
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
            about: "the precisions that form the prior of smoothing 6",
        },
        OptionSpec {
            name: "smoothing_extra",
            kind: Kind::Flag,
            default: || Value::Flag(false),
            about: "let smoothing 7 also smooth the matches of order N + 1",
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
    /// The precision of order n, from 1.
    fn precision(&self, n: usize) -> f64 {
        self.matches[n - 1] / self.possible[n - 1]
    }
}

/// The order whose matches NLTK's smoothings 5 and 7 use after the last order.
const NLTK_ORDER: usize = 5;

type Smoothing = fn(&SentBleu, &Precisions, hypothesis: f64) -> [f64; MAX_ORDER + 1];

/// The smoothing methods: each returns the smoothed precisions of orders 1 to N. To add one, add a line here.
const SMOOTHINGS: [(&str, Smoothing); 12] = [
    ("0", |bleu, p, _| bleu.each(|n| p.precision(n))),
    ("1", |bleu, p, _| {
        bleu.each(|n| if p.precision(n) == 0.0 { bleu.epsilon / p.possible[n - 1] } else { p.precision(n) })
    }),
    ("2", |bleu, p, _| {
        bleu.each(|n| if n == 1 { p.precision(n) } else { (p.matches[n - 1] + 1.0) / (p.possible[n - 1] + 1.0) })
    }),
    ("3", |bleu, p, _| bleu.precisions(&bleu.with_pseudo_matches(p, |i| 0.5_f64.powi(i)), p)),
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
    ("nltk-4", |bleu, p, hypothesis| bleu.nltk_by_length(p, hypothesis)),
    ("nltk-5", |bleu, p, _| {
        let mut precisions = bleu.each(|n| p.precision(n));
        precisions[bleu.order] = p.precision(NLTK_ORDER);
        bleu.neighbours(&precisions)
    }),
    ("nltk-6", |bleu, p, hypothesis| {
        // NLTK's prior uses smoothed precisions, whatever the option says, and is the whole precision of an order for
        // which the hypothesis is too short.
        if bleu.order > 2 && p.matches[2] == 0.0 {
            [0.0; MAX_ORDER + 1]
        } else {
            bleu.interpolated(p, |n| (hypothesis + 1.0 - n as f64).max(0.0))
        }
    }),
    ("nltk-7", |bleu, p, hypothesis| {
        let mut precisions = bleu.nltk_by_length(p, hypothesis);
        precisions[bleu.order] = p.precision(NLTK_ORDER);
        bleu.neighbours(&precisions)
    }),
];

/// The score of a sentence times its reference length is in multiples of 2^-30: nine digits of a score, and room for a
/// million sentences of four thousand words.
const BITS: u32 = 30;

/// Sentence-level BLEU. A row is `[weighted, ref_len, unweighted]`: the score (0 to 1) times the length of the closest
/// reference, in multiples of 2^-30, and that length. If the closest reference is empty the weight is 0; so that the
/// sentence still has a score of its own, `unweighted` is its score in multiples of 2^-30. It is 0 for other sentences.
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
    /// [`crate::Error::UnknownName`] for an unknown tokenizer.
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

    /// A value for each order from 1 to N.
    fn each(&self, value: impl Fn(usize) -> f64) -> [f64; MAX_ORDER + 1] {
        let mut out = [0.0; MAX_ORDER + 1];
        (1..=self.order).for_each(|n| out[n - 1] = value(n));
        out
    }

    /// The highest order of n-grams that are counted.
    fn counted(&self) -> usize {
        (self.order + 1).max(NLTK_ORDER)
    }

    fn precisions(&self, matches: &[f64; MAX_ORDER + 1], p: &Precisions) -> [f64; MAX_ORDER + 1] {
        self.each(|n| matches[n - 1] / p.possible[n - 1])
    }

    /// The matches of orders 1 to N + 1, with `pseudo(i)` for the i-th order without a match.
    fn with_pseudo_matches(&self, p: &Precisions, pseudo: impl Fn(i32) -> f64) -> [f64; MAX_ORDER + 1] {
        let mut nothing = 0;
        let mut out = p.matches;
        for matches in out[..=self.order].iter_mut().filter(|matches| **matches == 0.0) {
            nothing += 1;
            *matches = pseudo(nothing);
        }
        out
    }

    /// The matches under smoothing 4.
    fn by_length(&self, p: &Precisions, hypothesis: f64) -> [f64; MAX_ORDER + 1] {
        self.with_pseudo_matches(p, |i| (hypothesis.ln() / self.k).powi(i).min(1.0))
    }

    /// The precisions under NLTK's variant of smoothing 4.
    fn nltk_by_length(&self, p: &Precisions, hypothesis: f64) -> [f64; MAX_ORDER + 1] {
        let pseudo = |i| if hypothesis > 1.0 { 1.0 / (2.0_f64.powi(i) * self.k / hypothesis.ln()) } else { 0.0 };
        self.precisions(&self.with_pseudo_matches(p, pseudo), p)
    }

    /// Smoothing 5: the mean of each value, the smoothed one below it and the one above; the first has its value plus 1
    /// below it.
    fn neighbours(&self, values: &[f64; MAX_ORDER + 1]) -> [f64; MAX_ORDER + 1] {
        let mut below = values[0] + 1.0;
        let mut out = [0.0; MAX_ORDER + 1];
        for n in 0..self.order {
            below = (below + values[n] + values[n + 1]) / 3.0;
            out[n] = below;
        }
        out
    }

    /// Smoothing 6, where each order has `possible(n)` n-grams.
    fn interpolated(&self, p: &Precisions, possible: impl Fn(usize) -> f64) -> [f64; MAX_ORDER + 1] {
        let mut out = self.each(|n| p.precision(n));
        for n in 2..self.order {
            let prior = |p: &[f64]| if p[n - 2] == 0.0 { 0.0 } else { p[n - 1] * p[n - 1] / p[n - 2] };
            let prior = if self.raw_prior { prior(&self.each(|n| p.precision(n))) } else { prior(&out) };
            let denominator = possible(n + 1) + self.alpha;
            out[n] = if denominator == 0.0 { 0.0 } else { (p.matches[n] + self.alpha * prior) / denominator };
        }
        out
    }

    /// The score of a sentence, from both lengths and the matches of orders 1 to N + 1.
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
        // NLTK averages the logarithms that exist.
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

    /// Scores are percentages, and references of sentences with a weight have at least one word.
    fn decimals(&self) -> Option<u32> {
        Some(fixed::decimals(100.0, BITS))
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        let (ratio_gradient, unweighted_gradient) = out.split_at_mut(2);
        super::ratio_gradient(100.0 * fixed::to_real(1, BITS), totals, ratio_gradient);
        unweighted_gradient.fill(0.0);
    }
}

impl Metric for SentBleu {
    fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
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
            let in_steps = |x: f64, column| fixed::from_real(x, BITS).ok_or(Error::Overflow { column });
            let weighted = in_steps(score * closest as f64, 0)?;
            let unweighted = if closest == 0 { in_steps(score, 2)? } else { 0 };
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
    fn without_a_match_the_score_is_0() {
        for (name, _) in SMOOTHINGS {
            assert_eq!(0.0, score(name, "a b c d", "e f g h"), "{name}");
            assert_eq!(0.0, score(name, "a b c d", ""), "{name}");
            assert_eq!(0.0, score(name, "", "a b"), "{name}");
        }
    }

    #[test]
    fn an_order_that_cannot_occur_counts_as_one_ngram_without_a_match() {
        close((0.1_f64 * 0.1).powf(0.25), score("1", "a b", "a b"));
        close((1.0_f64 * 1.0 * 0.5 * 0.5).powf(0.25), score("2", "a b", "a b"));
        close((0.5_f64 * 0.25).powf(0.25), score("3", "a b", "a b"));
    }

    #[test]
    fn a_single_word_scores_0_when_smoothed_by_length() {
        assert_eq!(0.0, score("4", "a", "a"));
        close(1.0, score("nltk-4", "a", "a"));
    }

    #[test]
    fn orders_that_cannot_occur_have_nltks_prior_as_precision() {
        close((5.0_f64 / 6.0).powf(0.25), score("6", "a b c", "a b c"));
        close(1.0, score("nltk-6", "a b c", "a b c"));
    }

    #[test]
    fn pseudo_matches_do_not_exceed_1() {
        let long = |word: &str, n: usize| vec![word; n].join(" x ");
        let (reference, hypothesis) = (long("a", 100), long("b", 100).replacen('b', "a", 1));
        // One a, every x and one "a x" match. No trigram matches; its pseudo-count ln(199)/5 would exceed 1.
        let p = score("4", &reference, &hypothesis);
        let m = [100.0, 1.0, 1.0, 1.0];
        let expected: f64 = m.iter().zip([199.0, 198.0, 197.0, 196.0]).map(|(m, l)| m / l).product();
        close(expected.powf(0.25), p);
    }

    #[test]
    fn smoothed_counts_do_not_exceed_those_of_a_perfect_match() {
        for text in ["a b", "a b c d e", "a b c d e f g h"] {
            assert!(score("5", text, text) <= 1.0 + 1e-9);
        }
        assert!(score("nltk-5", "a b c d e f", "a b c d e f") > 1.0);
    }

    #[test]
    fn the_corpus_score_weights_sentences_by_reference_length() {
        let bleu = metric("sentbleu", &[("tokenize".into(), Value::Name("none".into()))]).unwrap();
        let rows = [("a b c d", "a b c d"), ("e f", "x y")].map(|(r, h)| count_segment(bleu.as_ref(), &[r], h));
        let total: Vec<i64> = (0..2).map(|i| rows[0][i] + rows[1][i]).collect();
        close(bleu.score(&rows[0]) * 4.0 / 6.0, bleu.score(&total));
    }
}
