//! Sentence-level BLEU with the smoothing methods 0 to 7 of Chen & Cherry 2014 (W14-3346). The corpus score is the mean
//! of the sentence scores, weighted by reference length (their Eq. 13).
//!
//! The formulas are read literally (`smoothing_reading`):
//!
//! - smoothings 1, 3, 4, 5 and 7 act from n = 1, so a hypothesis without any match has a score above 0. Smoothings 0, 2
//!   and 6 give 0;
//! - if a hypothesis is too short for an order, l_n is 0. Smoothing 2 gives (0 + 1) / (0 + 1) (Eqs. 6 and 7), smoothing 6
//!   its prior (Eq. 10). The other formulas would divide by 0; there the order counts as one n-gram that does not match;
//! - smoothing 4 replaces zero matches by (ln |T| / K)^i at the i-th order without a match. For |T| = 1 this is 0, and
//!   so is the score. For |T| > e^K it exceeds a match;
//! - smoothing 5 averages counts, not precisions, so that no precision exceeds 1, and needs the matches of order N + 1;
//! - smoothing 6 takes its prior from the smoothed precisions of the lower orders (`smoothing_prior`). A precision of 0
//!   would make all later ones 0; it is replaced by a small number (`smoothing_floor`);
//! - smoothing 7 applies 4 and then 5, without smoothing the matches of order N + 1 (`smoothing_extra`).
//!
//! The reading `strict` differs: without any match the score is 0, whatever the smoothing; an order for which the
//! hypothesis is too short always counts as one n-gram that does not match; the replacement in smoothing 4 is at most 1;
//! and smoothing 6 has no floor, so that the prior after a precision of 0 is 0.
//!
//! `nltk-4` to `nltk-7` are NLTK 3.10's variants. 4 has 2^i K / ln |T| instead of (K / ln |T|)^i, and for |T| = 1
//! ignores orders without a match. 5 and 7 average precisions, which can then exceed 1. 6 raises an error if no trigram
//! matches (the score is 0 here), and for three words its fourth precision is the prior. After the last order, 5 and 7
//! use the matches of order 5, whatever the last order is.

use super::matches::{MatchBased, Matches};
use super::text::{LOWERCASE, TOKENIZE, Words};
use super::weights::{AUTO_REWEIGH, WEIGHTS, Weights};
use super::{Formula, Kind, MetricSpec, OptionSpec, Options, Value};
use crate::error::{Error, Result};
use crate::stats::fixed;

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
            kind: Kind::Choice(|| METHODS.iter().map(|method| method.name).collect()),
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
        OptionSpec::flag("smoothing_extra", "let smoothing 7 also smooth the matches of order N + 1"),
        OptionSpec::unset(
            "smoothing_floor",
            Kind::Real(0.0, 1.0),
            "the least precision under smoothing 6: 1e-30 by default, 0 (none) in the strict reading",
        ),
        OptionSpec {
            name: "smoothing_reading",
            kind: Kind::Choice(|| READINGS.to_vec()),
            default: || Value::Name(READINGS[0].into()),
            about: "the paper's formulas to the letter, or a strict reading: no match scores 0 under all smoothings",
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

const READINGS: [&str; 2] = ["paper", "strict"];

/// The default floor of smoothing 6. Portage, the toolkit of the paper's authors, puts it in place of precisions of 0. It is
/// so small that it only orders sentences that share no bigram with the reference.
const FLOOR: f64 = 1e-30;

/// The numerators and denominators of the precisions, order by order.
struct Precisions {
    matches: [f64; MAX_ORDER + 1],
    /// The n-grams of the hypothesis, but at least one.
    possible: [f64; MAX_ORDER + 1],
    /// The n-grams of the hypothesis: 0 for orders longer than it. In the strict reading the same as `possible`.
    ngrams: [f64; MAX_ORDER + 1],
}

impl Precisions {
    /// The precision of order n, from 1.
    fn precision(&self, n: usize) -> f64 {
        self.matches[n - 1] / self.possible[n - 1]
    }
}

/// The order whose matches NLTK's smoothings 5 and 7 use after the last order.
const NLTK_ORDER: usize = 5;

/// Smoothings 0 to 7 of the paper, and NLTK's variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Smoothing {
    None,
    Epsilon,
    AddOne,
    Halves,
    ByLength,
    Neighbours,
    Interpolated,
    LengthAndNeighbours,
    NltkByLength,
    NltkNeighbours,
    NltkInterpolated,
    NltkLengthAndNeighbours,
}

/// The number that a smoothing takes from an option and shows in signatures.
#[derive(Debug, Clone, Copy)]
enum Parameter {
    None,
    Epsilon,
    K,
    Alpha,
}

/// A smoothing and what is known of it.
struct Method {
    name: &'static str,
    smoothing: Smoothing,
    parameter: Parameter,
    readings: Readings,
}

/// How the readings of a method differ, apart from the floor.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Readings {
    /// Not at all.
    Same,
    /// For orders that cannot occur. Without any match there is no score.
    Differ,
    /// Also for sentences without any match, which have a score in the reading `paper` only.
    FromUnigrams,
}

/// The smoothing methods. To add one, add a line here, and its precisions to [`SentBleu::smoothed`].
static METHODS: [Method; 12] = {
    use Readings::*;
    use Smoothing::*;
    const fn method(name: &'static str, smoothing: Smoothing, parameter: Parameter, readings: Readings) -> Method {
        Method { name, smoothing, parameter, readings }
    }
    [
        method("0", None, Parameter::None, Same),
        method("1", Epsilon, Parameter::Epsilon, FromUnigrams),
        method("2", AddOne, Parameter::None, Differ),
        method("3", Halves, Parameter::None, FromUnigrams),
        method("4", ByLength, Parameter::K, FromUnigrams),
        method("5", Neighbours, Parameter::None, FromUnigrams),
        method("6", Interpolated, Parameter::Alpha, Differ),
        method("7", LengthAndNeighbours, Parameter::K, FromUnigrams),
        method("nltk-4", NltkByLength, Parameter::K, Same),
        method("nltk-5", NltkNeighbours, Parameter::None, Same),
        method("nltk-6", NltkInterpolated, Parameter::Alpha, Same),
        method("nltk-7", NltkLengthAndNeighbours, Parameter::K, Same),
    ]
};

/// The score of a sentence times its reference length is in multiples of 2^-30: nine digits of a score, and room for a
/// million sentences of four thousand words.
const BITS: u32 = 30;

/// Scores below this have less than six digits in multiples of 2^-30.
const TINY: f64 = 1.0 / (1 << 10) as f64;

/// Sentence-level BLEU. A row is `[weighted, ref_len, unweighted]`: the score (0 to 1) times the length of the closest
/// reference, in multiples of 2^-30, and that length. `unweighted` does not enter the corpus score. It holds the score of
/// a sentence where the other columns do not, also in multiples of 2^-30: the score if the closest reference is empty, so
/// that the weight is 0; minus the natural logarithm of the score if the score is below 2^-10; and 0 for other sentences.
pub struct SentBleu {
    words: Words,
    order: usize,
    method: &'static Method,
    epsilon: f64,
    k: f64,
    alpha: f64,
    raw_prior: bool,
    extra: bool,
    floor: f64,
    strict: bool,
    weights: Weights,
}

impl SentBleu {
    fn new(options: &Options) -> Result<Self> {
        let name = options.name("smoothing");
        let found = METHODS.iter().find(|method| method.name == name);
        let method =
            found.ok_or_else(|| Error::unknown("smoothing", name, METHODS.iter().map(|method| method.name)))?;
        let strict = options.name("smoothing_reading") == "strict";
        let interpolated = method.smoothing == Smoothing::Interpolated;
        let floor = options.real("smoothing_floor").unwrap_or(default_floor(strict));
        Ok(SentBleu {
            words: Words::new(options)?,
            order: options.integer("max_ngram_order"),
            method,
            epsilon: options.number("smoothing_epsilon"),
            k: options.number("smoothing_k"),
            alpha: options.number("smoothing_alpha"),
            raw_prior: interpolated && options.name("smoothing_prior") == "raw",
            extra: options.flag("smoothing_extra"),
            floor: if interpolated { floor } else { 0.0 },
            strict,
            weights: Weights::new("sentbleu", options)?,
        })
    }

    /// The smoothed precisions of orders 1 to N.
    fn smoothed(&self, p: &Precisions, hypothesis: f64) -> [f64; MAX_ORDER + 1] {
        match self.method.smoothing {
            Smoothing::None => self.each(|n| p.precision(n)),
            Smoothing::Epsilon => {
                self.each(|n| if p.precision(n) == 0.0 { self.epsilon / p.possible[n - 1] } else { p.precision(n) })
            }
            Smoothing::AddOne => {
                self.each(|n| if n == 1 { p.precision(n) } else { (p.matches[n - 1] + 1.0) / (p.ngrams[n - 1] + 1.0) })
            }
            Smoothing::Halves => self.precisions(&self.with_pseudo_matches(p, |i| 0.5_f64.powi(i)), p),
            Smoothing::ByLength => self.precisions(&self.by_length(p, hypothesis), p),
            Smoothing::Neighbours => self.precisions(&self.neighbours(&p.matches), p),
            Smoothing::Interpolated => self.interpolated(p, |n| p.ngrams[n - 1]),
            Smoothing::LengthAndNeighbours => {
                let mut matches = self.by_length(p, hypothesis);
                if !self.extra {
                    matches[self.order] = p.matches[self.order];
                }
                self.precisions(&self.neighbours(&matches), p)
            }
            Smoothing::NltkByLength => self.nltk_by_length(p, hypothesis),
            Smoothing::NltkNeighbours => self.nltk_neighbours(self.each(|n| p.precision(n)), p),
            // NLTK raises an error here.
            Smoothing::NltkInterpolated if self.order > 2 && p.matches[2] == 0.0 => [0.0; MAX_ORDER + 1],
            // If the hypothesis is too short for an order, NLTK's precision is the prior alone.
            Smoothing::NltkInterpolated => self.interpolated(p, |n| (hypothesis + 1.0 - n as f64).max(0.0)),
            Smoothing::NltkLengthAndNeighbours => self.nltk_neighbours(self.nltk_by_length(p, hypothesis), p),
        }
    }

    /// A value for each order from 1 to N.
    fn each(&self, value: impl Fn(usize) -> f64) -> [f64; MAX_ORDER + 1] {
        let mut out = [0.0; MAX_ORDER + 1];
        (1..=self.order).for_each(|n| out[n - 1] = value(n));
        out
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
        let most = if self.strict { 1.0 } else { f64::INFINITY };
        self.with_pseudo_matches(p, |i| (hypothesis.ln() / self.k).powi(i).min(most))
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

    /// NLTK's variant of smoothing 5, of precisions.
    fn nltk_neighbours(&self, mut precisions: [f64; MAX_ORDER + 1], p: &Precisions) -> [f64; MAX_ORDER + 1] {
        precisions[self.order] = p.precision(NLTK_ORDER);
        self.neighbours(&precisions)
    }

    /// Smoothing 6, where each order has `possible(n)` n-grams.
    fn interpolated(&self, p: &Precisions, possible: impl Fn(usize) -> f64) -> [f64; MAX_ORDER + 1] {
        let raw = self.each(|n| p.precision(n).max(self.floor));
        let mut out = raw;
        for n in 2..self.order {
            let prior = |p: &[f64]| if p[n - 2] == 0.0 { 0.0 } else { p[n - 1] * p[n - 1] / p[n - 2] };
            let prior = prior(if self.raw_prior { &raw } else { &out });
            let denominator = possible(n + 1) + self.alpha;
            let smoothed = if denominator == 0.0 { 0.0 } else { (p.matches[n] + self.alpha * prior) / denominator };
            out[n] = smoothed.max(self.floor);
        }
        out
    }

    /// The score of a sentence, from both lengths and the matches of orders 1 to N + 1.
    fn sentence(&self, hypothesis: usize, reference: usize, matches: &[i64]) -> f64 {
        if hypothesis == 0 || matches[0] == 0 && (reference == 0 || !self.scores_without_a_match()) {
            return 0.0;
        }
        let zero = [0.0; MAX_ORDER + 1];
        let mut p = Precisions { matches: zero, possible: [1.0; MAX_ORDER + 1], ngrams: zero };
        for (n, &matched) in matches.iter().enumerate() {
            let ngrams = hypothesis.saturating_sub(n);
            p.matches[n] = matched as f64;
            p.possible[n] = ngrams.max(1) as f64;
            p.ngrams[n] = if self.strict { p.possible[n] } else { ngrams as f64 };
        }
        let precisions = self.smoothed(&p, hypothesis as f64);
        // NLTK averages the logarithms that exist.
        let skip = matches!(self.method.smoothing, Smoothing::NltkByLength | Smoothing::NltkLengthAndNeighbours);
        let factors = precisions[..self.order].iter().map(|&p| if skip && p == 0.0 { 1.0 } else { p });
        let penalty = if hypothesis < reference { (1.0 - reference as f64 / hypothesis as f64).exp() } else { 1.0 };
        if !self.weights.are_equal() {
            return penalty * self.weights.product(factors, hypothesis as i64, self.order);
        }
        let product: f64 = factors.clone().product();
        if product < f64::MIN_POSITIVE {
            // The product of many small precisions may be too small for a number, unlike their mean.
            return penalty * (factors.map(f64::ln).sum::<f64>() / self.order as f64).exp();
        }
        penalty * product.powf(1.0 / self.order as f64)
    }

    /// Does the smoothing give sentences without any match a score above 0?
    fn scores_without_a_match(&self) -> bool {
        !self.strict && self.method.readings == Readings::FromUnigrams
    }

    /// The column `unweighted` of a sentence.
    fn unweighted(score: f64, closest: usize) -> Option<i64> {
        if closest == 0 {
            fixed::from_real(score, BITS)
        } else if 0.0 < score && score < TINY {
            fixed::from_real(-score.ln(), BITS)
        } else {
            Some(0)
        }
    }
}

/// The floor of smoothing 6 unless one is given.
fn default_floor(strict: bool) -> f64 {
    if strict { 0.0 } else { FLOOR }
}

impl Formula for SentBleu {
    fn name(&self) -> &str {
        "sentBLEU"
    }

    fn columns(&self) -> Vec<String> {
        ["weighted", "ref_len", "unweighted"].map(Into::into).into()
    }

    fn width(&self) -> usize {
        3
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        let Method { name, smoothing, readings, .. } = *self.method;
        let smooth = match self.method.parameter {
            Parameter::None => name.into(),
            Parameter::Epsilon => format!("{name}[{}]", self.epsilon),
            Parameter::K => format!("{name}[{}]", self.k),
            Parameter::Alpha => format!("{name}[{}]", self.alpha),
        };
        let mut signature = vec![self.words.case(), self.words.tok(), ("smooth", smooth)];
        if self.raw_prior {
            signature.push(("prior", "raw".into()));
        }
        if smoothing == Smoothing::LengthAndNeighbours && self.extra {
            signature.push(("extra", "yes".into()));
        }
        if smoothing == Smoothing::Interpolated && self.floor != default_floor(self.strict) {
            signature.push(("floor", format!("{:?}", self.floor)));
        }
        if self.strict && readings != Readings::Same {
            signature.push(("reading", READINGS[1].into()));
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
        match row {
            [_, 0, unweighted] => 100.0 * fixed::to_real(*unweighted, BITS),
            [_, _, logarithm] if *logarithm > 0 => 100.0 * (-fixed::to_real(*logarithm, BITS)).exp(),
            _ => self.score(row),
        }
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

impl MatchBased for SentBleu {
    fn words(&self) -> Words {
        self.words
    }

    fn order(&self) -> usize {
        (self.order + 1).max(NLTK_ORDER)
    }

    fn fill(&self, matches: &Matches<'_>, row: &mut [i64]) -> Result<()> {
        let &Matches { length, closest, by_order } = matches;
        let score = self.sentence(length, closest, &by_order[..self.order()]);
        let weighted = fixed::from_real(score * closest as f64, BITS).ok_or(Error::Overflow { column: 0 })?;
        let unweighted = SentBleu::unweighted(score, closest).ok_or(Error::Overflow { column: 2 })?;
        row.copy_from_slice(&[weighted, closest as i64, unweighted]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::metric::testing::{count_segment, made, signature};

    /// The score under a smoothing, after which other options may follow.
    fn score(smoothing: &str, reference: &str, hypothesis: &str) -> f64 {
        let bleu = made(&format!("sentbleu tokenize=none smoothing={smoothing}"));
        bleu.segment_score(&count_segment(bleu.as_ref(), &[reference], hypothesis)) / 100.0
    }

    #[test]
    fn tiny_scores_keep_their_digits() {
        let p = score("1 max_ngram_order=16 smoothing_epsilon=1e-100", "a b", "a c").ln();
        // Of 1/2 and 15 times 1e-100 / 1, whose product is below the smallest number.
        let expected = (0.5_f64.ln() - 1500.0 * 10_f64.ln()) / 16.0;
        assert!((expected - p).abs() < 1e-8, "{expected} {p}");
        assert_eq!(0.0, score("1 smoothing_epsilon=0", "a b", "a c"));
    }

    #[test]
    fn signatures_tell_readings_and_floors_apart() {
        for (options, expected) in [
            ("7", "7[5]"),
            ("7 smoothing_reading=strict", "7[5]|reading:strict"),
            // These are the same in both readings.
            ("0 smoothing_reading=strict", "0"),
            ("nltk-5 smoothing_reading=strict", "nltk-5"),
            ("5 smoothing_floor=0.1", "5"),
            ("6 smoothing_floor=1e-30", "6[5]"),
            ("6 smoothing_floor=0", "6[5]|floor:0.0"),
            ("6 smoothing_floor=0 smoothing_reading=strict", "6[5]|reading:strict"),
            ("6 smoothing_floor=1e-30 smoothing_reading=strict", "6[5]|floor:1e-30|reading:strict"),
        ] {
            let got = signature(&format!("sentbleu smoothing={options}"));
            assert_eq!(format!("case:mixed|tok:13a|smooth:{expected}"), got);
        }
    }
}
