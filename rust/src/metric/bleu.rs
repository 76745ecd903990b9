//! BLEU (Papineni et al. 2002, P02-1040), with sacreBLEU's options and counts.

use super::matches::{MatchBased, Matches};
use super::text::{LOWERCASE, TOKENIZE, Words, quirks, yes};
use super::weights::{AUTO_REWEIGH, WEIGHTS, Weights};
use super::{Formula, Kind, MetricSpec, OptionSpec, Options, Value, gradients_by_row, scores_by_row};
use crate::error::{Result, named};
use crate::math::exp_of_negative;
use crate::simd::{Simd, dispatch};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "bleu",
    about: "geometric mean of clipped n-gram precisions times a brevity penalty",
    source: "P02-1040",
    reads_parses: false,
    options: &[
        TOKENIZE,
        LOWERCASE,
        OptionSpec {
            name: "smooth_method",
            kind: Kind::Choice(|| SMOOTHINGS.iter().map(|(name, _)| *name).collect()),
            default: || Value::Name("exp".into()),
            about: "how orders without a match are smoothed",
        },
        OptionSpec::unset(
            "smooth_value",
            Kind::Real(0.0, 1e6),
            "the value for floor (default 0.1) and add-k (default 1)",
        ),
        OptionSpec {
            name: "max_ngram_order",
            kind: Kind::Integer(1, MAX_ORDER as i64),
            default: || Value::Integer(4),
            about: "the longest n-gram",
        },
        OptionSpec::flag("effective_order", "leave out the orders for which the hypotheses are too short"),
        WEIGHTS,
        AUTO_REWEIGH,
        OptionSpec::flag(
            "mteval_quirks",
            "as mteval-v13a.pl: lower-case ASCII only, and leave no order out for short segments",
        ),
        OptionSpec::flag(
            "nltk_quirks",
            "as NLTK: count at least one n-gram of every order in every segment, and leave no order out",
        ),
    ],
    build: |options| Ok(Box::new(Bleu::new(options)?)),
};

/// Larger than any useful order: few segments have more words.
const MAX_ORDER: usize = 100;

/// The most counts whose product is always finite. With more, logarithms are summed.
const MAX_PRODUCT: usize = 16;

/// How the precision of an order without a match is smoothed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Smoothing {
    /// Not at all: the score is 0.
    None,
    /// ε / total.
    Floor(f64),
    /// (matches + k) / (total + k) for every order above 1, with or without matches.
    AddK(f64),
    /// 1 / (2^i · total) for the i-th order without a match, as in mteval-v13a.
    Exp,
    /// As `Exp`, and as mteval-v13a in other respects: an order that cannot occur has precision 1, and segments without
    /// any match are smoothed, too.
    Mteval,
}

/// The smoothing methods by their names, with the default of their value if they have one.
const SMOOTHINGS: [(&str, Smoothing); 5] = [
    ("none", Smoothing::None),
    ("floor", Smoothing::Floor(0.1)),
    ("add-k", Smoothing::AddK(1.0)),
    ("exp", Smoothing::Exp),
    ("mteval", Smoothing::Mteval),
];

/// BLEU. A row is `[hyp_len, ref_len, match_1 … match_N, total_1 … total_N]`.
pub struct Bleu {
    words: Words,
    smoothing: Smoothing,
    smoothing_signature: String,
    order: usize,
    effective_order: bool,
    /// As `mteval-v13a.pl`, which lower-cases ASCII only and does not leave out orders in segment scores.
    mteval: bool,
    /// As NLTK, which counts at least one n-gram of every order in every segment, even if none can occur.
    nltk: bool,
    weights: Weights,
    /// Is the score computed as a root of products? True if the weights are equal and there are few enough orders.
    is_root: bool,
}

impl Bleu {
    /// # Errors
    /// For an unknown tokenizer or smoothing, and for weights that cannot be used.
    pub fn new(options: &Options) -> Result<Self> {
        let method = options.name("smooth_method");
        let value = options.real("smooth_value");
        let (smoothing, amount) = match named("smoothing", method, &SMOOTHINGS)? {
            Smoothing::Floor(default) => {
                let epsilon = value.unwrap_or(default);
                (Smoothing::Floor(epsilon), Some(epsilon))
            }
            Smoothing::AddK(default) => {
                let k = value.unwrap_or(default);
                (Smoothing::AddK(k), Some(k))
            }
            other => (other, None),
        };
        let mteval = options.flag("mteval_quirks");
        let order = options.integer("max_ngram_order");
        let weights = Weights::new("bleu", options)?;
        let is_root = order <= MAX_PRODUCT && weights.are_equal();
        Ok(Bleu {
            words: Words::new(options)?.with_mteval_case(mteval),
            smoothing,
            smoothing_signature: amount
                .map_or(method.to_owned(), |amount| format!("{method}[{}]", format_value(amount))),
            order,
            effective_order: options.flag("effective_order"),
            mteval,
            nltk: options.flag("nltk_quirks"),
            weights,
            is_root,
        })
    }

    /// Does a segment score leave out the orders for which the segment is too short?
    fn effective_order_of_segments(&self) -> bool {
        self.effective_order || !(self.mteval || self.nltk || self.smoothing == Smoothing::Mteval)
    }

    /// Without any match the score is 0 for any smoothing, and precisions are not smoothed (sacreBLEU issue 141).
    #[inline(always)]
    fn has_no_match(&self, totals: &[i64]) -> bool {
        self.smoothing != Smoothing::Mteval && totals[2..2 + self.order].iter().all(|&matches| matches == 0)
    }

    /// The smoothed precisions as matches and totals, and the number of orders to average. Orders that cannot occur are
    /// 0 of 1, or 1 of 1 as mteval has them. `ROOM` is at least the order.
    #[inline(always)]
    fn precisions<const ROOM: usize>(
        &self,
        totals: &[i64],
        effective_order: bool,
    ) -> ([f64; ROOM], [f64; ROOM], usize) {
        let (matches, possible) = totals[2..].split_at(self.order);
        let (mut smoothed_matches, mut smoothed_totals) = ([0.0; ROOM], [1.0; ROOM]);
        let mut effective = self.order;
        let mut halving = 1.0;
        for n in 0..self.order {
            let (mut matched, mut total) = (matches[n] as f64, possible[n] as f64);
            if let (Smoothing::AddK(k), true) = (self.smoothing, n > 0) {
                (matched, total) = (matched + k, total + k);
            }
            if total == 0.0 {
                if self.smoothing == Smoothing::Mteval {
                    smoothed_matches[n] = 1.0;
                    continue;
                }
                break;
            }
            if effective_order {
                effective = n + 1;
            }
            if matched == 0.0 {
                matched = match self.smoothing {
                    Smoothing::Exp | Smoothing::Mteval => {
                        halving *= 0.5;
                        halving
                    }
                    Smoothing::Floor(epsilon) => epsilon,
                    Smoothing::None | Smoothing::AddK(_) => 0.0,
                };
            }
            (smoothed_matches[n], smoothed_totals[n]) = (matched, total);
        }
        (smoothed_matches, smoothed_totals, effective)
    }

    #[inline(always)]
    fn score_with(&self, totals: &[i64], effective_order: bool) -> f64 {
        if self.has_no_match(totals) {
            return 0.0;
        }
        if !self.is_root {
            return self.score_by_logarithms(totals, effective_order);
        }
        // A root of a product instead of a mean of logarithms, and one division for all orders: this is faster, and a
        // perfect score is exactly 100.
        let (matches, possible, effective) = self.precisions::<MAX_PRODUCT>(totals, effective_order);
        let product = |orders: &[f64]| orders[..effective].iter().product::<f64>();
        100.0 * brevity_penalty(totals[0], totals[1]) * root(product(&matches) / product(&possible), effective)
    }

    #[inline(never)]
    fn score_by_logarithms(&self, totals: &[i64], effective_order: bool) -> f64 {
        let (matches, possible, effective) = self.precisions::<MAX_ORDER>(totals, effective_order);
        let precisions = matches.iter().zip(&possible).take(self.order).map(|(matched, total)| {
            let precision = matched / total;
            // NLTK replaces 0 by the smallest normal float; raised to a small weight it is well above 0.
            if self.nltk && precision == 0.0 { f64::MIN_POSITIVE } else { precision }
        });
        100.0 * brevity_penalty(totals[0], totals[1]) * self.weights.product(precisions, totals[0], effective)
    }
}

impl Formula for Bleu {
    fn name(&self) -> &str {
        "BLEU"
    }

    fn columns(&self) -> Vec<String> {
        let numbered = |what: &'static str| (1..=self.order).map(move |n| format!("{what}_{n}"));
        ["hyp_len".into(), "ref_len".into()].into_iter().chain(numbered("match")).chain(numbered("total")).collect()
    }

    fn width(&self) -> usize {
        2 + 2 * self.order
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        let mut signature = vec![
            self.words.case(),
            ("eff", yes(self.effective_order)),
            self.words.tok(),
            ("smooth", self.smoothing_signature.clone()),
        ];
        if self.order != 4 {
            signature.push(("order", self.order.to_string()));
        }
        signature.extend(self.weights.signature());
        signature.extend(quirks(&[("mteval", self.mteval), ("nltk", self.nltk)]));
        signature
    }

    fn score(&self, totals: &[i64]) -> f64 {
        self.score_with(totals, self.effective_order)
    }

    fn scores(&self, totals: &[i64], out: &mut [f64]) {
        let (n, simd) = (out.len(), Simd::best());
        let smoothed = matches!(self.smoothing, Smoothing::AddK(_)) || any_zero(simd, &totals[2 * n..]);
        if !smoothed && self.is_root {
            return plain_scores(simd, self.order, totals, out);
        }
        scores_by_row(|row| self.score(row), totals, out);
    }

    /// Only orders that can occur count, because a segment of three tokens cannot contain a 4-gram. sacreBLEU's
    /// `sentence_bleu` does the same, as it always sets `effective_order`; mteval-v13a does not.
    fn segment_score(&self, row: &[i64]) -> f64 {
        self.score_with(row, self.effective_order_of_segments())
    }

    fn segment_signature(&self) -> Vec<(&'static str, String)> {
        self.signature()
            .into_iter()
            .map(|(key, value)| (key, if key == "eff" { yes(self.effective_order_of_segments()) } else { value }))
            .collect()
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        let (matches, possible, _) = match self.has_no_match(totals) {
            true => ([0.0; MAX_ORDER], [1.0; MAX_ORDER], 0),
            false => self.precisions::<MAX_ORDER>(totals, self.effective_order),
        };
        let precisions = matches[..self.order].iter().zip(&possible).zip(1..);
        let mut details: Vec<_> =
            precisions.map(|((matched, total), n)| (format!("p_{n}"), 100.0 * (matched / total))).collect();
        let (hypothesis, reference) = (totals[0] as f64, totals[1] as f64);
        let ratio = if reference > 0.0 { hypothesis / reference } else { 0.0 };
        details.extend(
            [
                ("bp", brevity_penalty(totals[0], totals[1])),
                ("ratio", ratio),
                ("hyp_len", hypothesis),
                ("ref_len", reference),
            ]
            .map(|(name, value)| (name.into(), value)),
        );
        details
    }

    /// Differentiates ln f = ln 100 + min(0, 1 − r/c) + Σ w_n·(ln m_n − ln t_n): ∂f/∂m_n = w_n·f/m_n, ∂f/∂t_n =
    /// −w_n·f/t_n and, where c < r, ∂f/∂c = f·r/c² and ∂f/∂r = −f/c.
    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        out.fill(0.0);
        let score = self.score(totals);
        if score == 0.0 {
            return;
        }
        let (matched, possible, effective) = self.precisions::<MAX_ORDER>(totals, self.effective_order);
        let (length_gradient, ngram_gradient) = out.split_at_mut(2);
        let (match_gradient, total_gradient) = ngram_gradient.split_at_mut(self.order);
        for (n, weight) in self.weights.powers(totals[0], effective).enumerate() {
            let share = score * weight;
            let has_more = matches!(self.smoothing, Smoothing::AddK(_)) && n > 0;
            // An order that cannot occur is a constant, and so is a smoothed count.
            let is_constant = totals[2 + self.order + n] == 0 || (self.nltk && matched[n] == 0.0);
            if has_more || !is_constant {
                total_gradient[n] = -share / possible[n];
                if has_more || totals[2 + n] != 0 {
                    match_gradient[n] = share / matched[n];
                }
            }
        }
        let (hypothesis, reference) = (totals[0] as f64, totals[1] as f64);
        if totals[0] <= totals[1] && totals[0] > 0 {
            let sides = if totals[0] == totals[1] { 0.5 } else { 1.0 };
            length_gradient[0] = sides * score * reference / hypothesis / hypothesis;
            length_gradient[1] = -sides * score / hypothesis;
        }
    }

    fn gradients(&self, totals: &[i64], scores: &[f64], out: &mut [f64]) {
        let (n, simd) = (scores.len(), Simd::best());
        // External counts may have n-grams but no words; the derivatives divide by the number of words.
        let has_zeros = any_zero(simd, &totals[..n]) || any_zero(simd, &totals[2 * n..]);
        if self.is_root && !has_zeros && !matches!(self.smoothing, Smoothing::AddK(_)) {
            return plain_gradients(simd, self.order, totals, scores, out);
        }
        gradients_by_row(|row, gradient| self.gradient(row, gradient), totals, n, out);
    }
}

impl MatchBased for Bleu {
    fn words(&self) -> Words {
        self.words
    }

    fn order(&self) -> usize {
        self.order
    }

    fn fill(&self, matches: &Matches<'_>, row: &mut [i64]) -> Result<()> {
        let (lengths, ngrams) = row.split_at_mut(2);
        let (matched, totals) = ngrams.split_at_mut(self.order);
        lengths.copy_from_slice(&[matches.length as i64, matches.closest as i64]);
        matched.copy_from_slice(&matches.by_order[..self.order]);
        for (n, total) in totals.iter_mut().enumerate() {
            *total = matches.length.saturating_sub(n).max(usize::from(self.nltk)) as i64;
        }
        Ok(())
    }
}

/// The brevity penalty exp(1 − r/c), or 1 if the hypotheses are at least as long as their references.
#[inline(always)]
fn brevity_penalty(hypothesis: i64, reference: i64) -> f64 {
    // Without hypothesis words, 1 - r/0 is -∞ and the penalty is 0.
    let shorter = exp_of_negative(1.0 - reference as f64 / hypothesis as f64);
    if hypothesis >= reference { 1.0 } else { shorter }
}

dispatch! {
    fn any_zero(counts: &[i64]) -> bool {
        counts.iter().fold(false, |any, &count| any | (count <= 0))
    }
}

dispatch! {
    /// The scores of rows without zeros, which need no smoothing. Matches and totals of every order are stored column
    /// by column. The operations are those of [`Bleu::score_with`], so the scores are the same to the last bit.
    fn plain_scores(order: usize, totals: &[i64], out: &mut [f64]) {
        let n = out.len();
        let (lengths, ngrams) = totals.split_at(2 * n);
        let (matches, possible) = ngrams.split_at(order * n);
        let mut below = vec![1.0; n];
        out.fill(1.0);
        for (matches, possible) in matches.chunks_exact(n).zip(possible.chunks_exact(n)) {
            out.iter_mut().zip(matches).for_each(|(product, matched)| *product *= *matched as f64);
            below.iter_mut().zip(possible).for_each(|(product, total)| *product *= *total as f64);
        }
        out.iter_mut().zip(&below).for_each(|(product, below)| *product /= below);
        match order {
            // A constant order, so that the loop has no branch.
            4 => out.iter_mut().for_each(|product| *product = root(*product, 4)),
            order => out.iter_mut().for_each(|product| *product = root(*product, order)),
        }
        let (hypotheses, references) = lengths.split_at(n);
        for ((score, &hypothesis), &reference) in out.iter_mut().zip(hypotheses).zip(references) {
            *score *= 100.0 * brevity_penalty(hypothesis, reference);
        }
    }
}

dispatch! {
    /// The derivatives at rows without zeros, as in [`plain_scores`]. The operations are those of [`Bleu::gradient`].
    fn plain_gradients(order: usize, totals: &[i64], scores: &[f64], out: &mut [f64]) {
        let n = scores.len();
        let (length_gradients, ngram_gradients) = out.split_at_mut(2 * n);
        let (match_gradients, total_gradients) = ngram_gradients.split_at_mut(order * n);
        let (lengths, ngrams) = totals.split_at(2 * n);
        let (matches, possible) = ngrams.split_at(order * n);
        let weight = 1.0 / order as f64;
        for (counts, gradients, sign) in [(matches, match_gradients, 1.0), (possible, total_gradients, -1.0)] {
            for (counts, gradients) in counts.chunks_exact(n).zip(gradients.chunks_exact_mut(n)) {
                for ((gradient, count), score) in gradients.iter_mut().zip(counts).zip(scores) {
                    *gradient = sign * (score * weight) / *count as f64;
                }
            }
        }
        let (hypotheses, references) = lengths.split_at(n);
        let (by_hypothesis, by_reference) = length_gradients.split_at_mut(n);
        let gradients = by_hypothesis.iter_mut().zip(by_reference).zip(scores);
        for (((by_hypothesis, by_reference), score), (&hypothesis, &reference)) in
            gradients.zip(hypotheses.iter().zip(references))
        {
            let sides = if hypothesis < reference { 1.0 } else { 0.5 * f64::from(u8::from(hypothesis == reference)) };
            let (hypothesis, reference) = (hypothesis as f64, reference as f64);
            *by_hypothesis = sides * score * reference / hypothesis / hypothesis;
            *by_reference = -sides * score / hypothesis;
        }
    }
}

/// Formats a value as sacreBLEU does, with two decimals, or in full if it has more.
fn format_value(amount: f64) -> String {
    let rounded = format!("{amount:.2}");
    if rounded.parse() == Ok(amount) { rounded } else { amount.to_string() }
}

/// The `order`-th root. Square roots are correctly rounded and several times faster than a power.
#[inline(always)]
fn root(product: f64, order: usize) -> f64 {
    match order {
        1 => product,
        2 => product.sqrt(),
        4 => product.sqrt().sqrt(),
        _ => power(product, 1.0 / order as f64),
    }
}

/// A separate function: inlined, the compiler would compute a power for every order to avoid a branch.
#[inline(never)]
fn power(x: f64, exponent: f64) -> f64 {
    x.powf(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::testing::{made, row, signature};
    use proptest::prelude::*;

    const NO_MATCH: [i64; 10] = [4, 4, 0, 0, 0, 0, 4, 3, 2, 1];
    /// Both words match, and longer n-grams cannot occur.
    const TWO_WORDS: [i64; 10] = [2, 2, 2, 1, 0, 0, 2, 1, 0, 0];

    #[test]
    fn some_scores_are_exact() {
        let perfect: [i64; 10] = row("bleu", &["a b c d e"], "a b c d e").try_into().unwrap();
        for (expected, metric, totals) in [
            (100.0, "bleu", perfect),
            // Orders that cannot occur make the score 0 unless they are left out.
            (0.0, "bleu", TWO_WORDS),
            (100.0, "bleu effective_order", TWO_WORDS),
            // mteval takes what cannot occur for perfect.
            (100.0, "bleu smooth_method=mteval", TWO_WORDS),
            (0.0, "bleu smooth_method=mteval", [0, 4, 0, 0, 0, 0, 0, 0, 0, 0]),
            // Without any match the score is 0 before smoothing.
            (0.0, "bleu smooth_method=none", NO_MATCH),
            (0.0, "bleu smooth_method=floor", NO_MATCH),
            (0.0, "bleu smooth_method=add-k", NO_MATCH),
            (0.0, "bleu smooth_method=exp", NO_MATCH),
        ] {
            assert_eq!(expected, made(metric).score(&totals), "{metric} {totals:?}");
        }
    }

    #[test]
    fn long_orders_scored_by_logarithms_agree_with_short_ones() {
        for order in [1, 4, MAX_PRODUCT, MAX_PRODUCT + 1, MAX_ORDER] {
            let options = [("max_ngram_order", Value::Integer(order as i64))];
            let bleu = Bleu::new(&Options::resolve("bleu", SPEC.options, &options).unwrap()).unwrap();
            // Half of 2^40 n-grams of each order match.
            let totals = [[1 << 40; 2].as_slice(), &vec![1 << 39; order], &vec![1 << 40; order]].concat();
            assert!((50.0 - bleu.score(&totals)).abs() < 1e-12);
            assert!((50.0 - bleu.score_by_logarithms(&totals, false)).abs() < 1e-12);
        }
    }

    #[test]
    fn without_any_match_precisions_are_shown_unsmoothed() {
        // As sacreBLEU 2.6.0: `BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 0.607 …`.
        let totals = [4, 6, 0, 0, 0, 0, 4, 3, 2, 1];
        for method in ["none", "floor", "add-k", "exp"] {
            let details = made(&format!("bleu smooth_method={method}")).details(&totals);
            assert_eq!([0.0; 4].to_vec(), details[..4].iter().map(|(_, p)| *p).collect::<Vec<_>>());
            assert_eq!(("bp", (-0.5_f64).exp()), (details[4].0.as_str(), details[4].1));
        }
        assert_eq!(12.5, made("bleu smooth_method=mteval").details(&totals)[0].1);
    }

    #[test]
    fn the_signature_names_what_changes_the_score() {
        assert_eq!("case:mixed|eff:no|tok:13a|smooth:exp", signature("bleu"));
        // Values have two decimals, or as many as they need.
        for amount in ["0.10", "1.00", "0.25", "0.001", "0.004", "0.125"] {
            let metric =
                format!("bleu lowercase tokenize=none smooth_method=floor smooth_value={amount} max_ngram_order=2");
            assert_eq!(format!("case:lc|eff:no|tok:none|smooth:floor[{amount}]|order:2"), signature(&metric));
        }
    }

    #[test]
    fn external_counts_without_words_have_no_derivatives() {
        // Matches without words cannot come from texts, only from users.
        let (columns, mut scores, mut got) = ([0, 3, 1, 1, 1, 1, 1, 1, 1, 1], [0.0], [9.0; 10]);
        made("bleu").scores(&columns, &mut scores);
        made("bleu").gradients(&columns, &scores, &mut got);
        assert_eq!(([0.0], [0.0; 10]), (scores, got));
    }

    proptest! {
        #![proptest_config(crate::testing::cases(64))]
        #[test]
        fn all_paths_detect_zeros(
            (length, changed) in (0..200usize, 0..250usize),
            count in -1..=1i64,
        ) {
            let mut counts = vec![1; length];
            counts.get_mut(changed).into_iter().for_each(|place| *place = count);
            for simd in Simd::tested() {
                prop_assert_eq!(counts.iter().any(|&count| count <= 0), any_zero(simd, &counts), "{:?}", simd);
            }
        }
    }
}
