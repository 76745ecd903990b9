//! Metrics. To add one, write a file here and add an entry to [`METRICS`]. Command line, help, documentation,
//! signature, shuffles, draws, intervals and reports follow from the entry.

mod bleu;
mod chrf;
mod counting;
mod depf;
mod distinct;
mod error_rate;
mod expression;
mod files;
mod gtm;
mod length;
mod lists;
mod matches;
mod mean;
mod meteor;
mod nist;
mod options;
mod pairs;
mod per;
mod rouge;
mod sari;
mod sentbleu;
mod speech;
mod studentized;
mod ter;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod texts;
mod tokens;
mod weights;
mod wer;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
use crate::simd::dispatch;
use matches::MatchBased;
use pairs::{FromMatches, PairBased};

pub use counting::count;
pub use expression::Expression;
pub use files::{Contents, File, Resource};
pub use lists::{Lists, count_lists};
pub use mean::Mean;
pub use options::{Kind, OptionSpec, Options, Value};
pub use pairs::{Expected, expected_utilities, pieces};
pub use studentized::{Studentized, Terms};
pub use texts::{References, Resolution, Texts};
pub use tokens::{TokenTexts, count_tokens};

/// Computes a score from summed counts.
pub trait Formula: Send + Sync {
    /// The name in tables and signatures.
    fn name(&self) -> &str;

    /// The names of the K counts of a row.
    fn columns(&self) -> Vec<String>;

    /// K, the number of columns. Metrics override this, because creating the names takes as long as counting a short
    /// sentence.
    fn width(&self) -> usize {
        self.columns().len()
    }

    /// Is a larger score better?
    fn higher_is_better(&self) -> bool {
        true
    }

    /// The options that change a score, as keys and values in sacreBLEU's order and spelling.
    fn signature(&self) -> Vec<(&'static str, String)>;

    /// The corpus score of summed counts.
    fn score(&self, totals: &[i64]) -> f64;

    /// The score of a single segment. The corpus formula, unless segments are conventionally scored by another one.
    fn segment_score(&self, row: &[i64]) -> f64 {
        self.score(row)
    }

    /// [`Formula::signature`] for segment scores.
    fn segment_signature(&self) -> Vec<(&'static str, String)> {
        self.signature()
    }

    /// The scores of many rows of summed counts, which are stored column by column. Same values as [`Formula::score`].
    fn scores(&self, totals: &[i64], out: &mut [f64]) {
        scores_by_row(|row| self.score(row), totals, out);
    }

    /// The test statistics of many pairs of systems, whose summed counts are stored as for [`Formula::scores`]:
    /// score(x) − score(y), unless the formula is [`Studentized`]. Swapping x and y has to change only the sign.
    fn statistics(&self, x: &[i64], y: &[i64], out: &mut [f64]) {
        self.scores(x, out);
        let mut subtracted = vec![0.0; out.len()];
        self.scores(y, &mut subtracted);
        out.iter_mut().zip(&subtracted).for_each(|(x, y)| *x -= y);
    }

    /// May a score be NaN, because it is not defined for some sums? Whoever resamples then calls `check_defined`, and
    /// [`Formula::details`] are the sums.
    fn may_be_undefined(&self) -> bool {
        false
    }

    /// Does a score come from a division by 0 that a user wrote? It counts as 0.
    fn divides_by_zero(&self, _totals: &[i64]) -> bool {
        false
    }

    /// The number of exact decimals of a score if counts are real numbers in fixed point; None if scores are exact.
    fn decimals(&self) -> Option<u32> {
        None
    }

    /// Components of the score, for reports, if it has any.
    fn details(&self, _totals: &[i64]) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// Writes the derivative of [`Formula::score`] with respect to each of the K summed counts, in closed form, to
    /// `out`.
    ///
    /// At a kink the derivative is the mean of both one-sided derivatives. Where a sum is 0 and the score is not
    /// differentiable (an order that is smoothed because nothing matches) it is 0. Its value does not matter there: all
    /// segments have a count of 0, by which it is multiplied. Sums of 0 that decide the form of the formula (which orders
    /// are smoothed or left out) are taken to stay 0.
    fn gradient(&self, totals: &[i64], out: &mut [f64]);

    /// The derivatives at many rows of summed counts with these `scores`: the same values as [`Formula::gradient`].
    /// Rows and derivatives are stored column by column.
    fn gradients(&self, totals: &[i64], scores: &[f64], out: &mut [f64]) {
        gradients_by_row(|row, gradient| self.gradient(row, gradient), totals, scores.len(), out);
    }
}

/// Checks scores, or statistics of pairs: a comparison with NaN would be false, and p too small. `sides` are the sums
/// that they were computed from: those of one system, or of both.
pub(crate) fn check_defined(formula: &dyn Formula, sides: &[&[i64]], values: &[f64]) -> Result<()> {
    if !formula.may_be_undefined() {
        return Ok(());
    }
    let n = values.len();
    // A studentized difference of defined scores may be infinite.
    for (row, value) in values.iter().enumerate().filter(|(_, value)| !value.is_finite()) {
        let of_row = sides.iter().map(|totals| totals[row..].iter().step_by(n).copied().collect::<Vec<_>>());
        let undefined = of_row.clone().find(|totals| formula.score(totals).is_nan());
        if let Some(totals) = undefined.or_else(|| of_row.clone().next().filter(|_| value.is_nan())) {
            let named = formula.details(&totals).into_iter().map(|(column, total)| format!("{column} = {total}"));
            let totals = named.collect::<Vec<_>>().join(", ");
            return Err(Error::Undefined { metric: formula.name().into(), totals });
        }
    }
    Ok(())
}

/// The scores of rows of summed counts, one row after another.
fn scores_by_row(score: impl Fn(&[i64]) -> f64, totals: &[i64], out: &mut [f64]) {
    let n = out.len();
    let mut row = vec![0; totals.len() / n.max(1)];
    for (i, out) in out.iter_mut().enumerate() {
        row.iter_mut().zip(totals[i..].iter().step_by(n)).for_each(|(count, total)| *count = *total);
        *out = score(&row);
    }
}

/// The derivatives at `n` rows of summed counts, one row after another.
fn gradients_by_row(gradient: impl Fn(&[i64], &mut [f64]), totals: &[i64], n: usize, out: &mut [f64]) {
    let (mut row, mut slopes) = (vec![0; totals.len() / n.max(1)], vec![0.0; totals.len() / n.max(1)]);
    for i in 0..n {
        row.iter_mut().zip(totals[i..].iter().step_by(n)).for_each(|(count, total)| *count = *total);
        gradient(&row, &mut slopes);
        out[i..].iter_mut().step_by(n).zip(&slopes).for_each(|(out, slope)| *out = *slope);
    }
}

/// An automatic metric: counts segments, and scores sums of counts by its [`Formula`].
pub trait Metric: Formula {
    /// Prepares whatever depends on the whole corpus, and returns a function that makes counters, one for each block of
    /// segments. Long preparations use [`crate::pool::try_run`].
    ///
    /// # Errors
    /// Texts or files that the metric cannot use.
    fn counters<'a>(&'a self, texts: &Texts<'a>, run: &mut Run<'_>) -> Result<Counters<'a>>;

    /// Itself, if its counts follow from n-gram matches. [`count`] finds the matches once for all such metrics over the
    /// same words.
    fn match_based(&self) -> Option<&dyn MatchBased> {
        None
    }

    /// How it counts a hypothesis against a single reference, if that follows from the n-grams that both have.
    /// [`expected_utilities`] then finds the matches of all pairs of a list at once.
    fn pair_based(&self) -> Option<Box<dyn PairBased + '_>> {
        self.match_based().map(|metric| Box::new(FromMatches(metric)) as Box<dyn PairBased>)
    }
}

/// [`Formula::gradient`] of `factor` times the first count divided by the second; 0 if the second is 0.
#[inline]
fn ratio_gradient(factor: f64, totals: &[i64], out: &mut [f64]) {
    let (first, second) = (totals[0] as f64, totals[1] as f64);
    let by_first = factor / second;
    out.copy_from_slice(&if second == 0.0 { [0.0; 2] } else { [by_first, -by_first * (first / second)] });
}

dispatch! {
    /// [`ratio_gradient`] at many rows, which are stored column by column.
    fn ratio_gradients(factor: f64, totals: &[i64], out: &mut [f64]) {
        let n = totals.len() / 2;
        let (firsts, seconds) = totals.split_at(n);
        let (by_firsts, by_seconds) = out.split_at_mut(n);
        for ((by_first, by_second), (&first, &second)) in
            by_firsts.iter_mut().zip(by_seconds).zip(firsts.iter().zip(seconds))
        {
            let slope = factor / second as f64;
            *by_first = if second == 0 { 0.0 } else { slope };
            *by_second = if second == 0 { 0.0 } else { -slope * (first as f64 / second as f64) };
        }
    }
}

/// Turns segments into rows of counts.
pub trait Counter {
    /// Counts every hypothesis of one segment against its references, of which there is at least one. `rows` holds a
    /// row of zeros for each hypothesis.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a text in the wrong format, with its place in the segment; [`Error::Memory`] for a text
    /// that is too long; [`Error::Overflow`] for a count that does not fit; [`Error::Interrupted`] if `stop` was
    /// requested, which anything that may take long has to check.
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()>;
}

/// A function that makes counters.
pub type Counters<'a> = Box<dyn Fn() -> Box<dyn Counter + 'a> + Sync + 'a>;

/// The registry's description of a metric.
pub struct MetricSpec {
    /// The name on the command line.
    pub name: &'static str,
    /// One line for `--help` and the documentation.
    pub about: &'static str,
    /// Where it was defined: ACL id or DOI.
    pub source: &'static str,
    /// Does it read parses in CoNLL-U instead of text?
    pub reads_parses: bool,
    /// Its options.
    pub options: &'static [OptionSpec],
    /// Makes the metric.
    pub build: fn(&Options) -> Result<Box<dyn Metric>>,
}

/// All metrics, in the order of listings.
pub static METRICS: &[MetricSpec] = &[
    bleu::SPEC,
    sentbleu::SPEC,
    nist::SPEC,
    chrf::CHRF,
    chrf::CHRF_PLUS_PLUS,
    ter::SPEC,
    wer::SPEC,
    per::SPEC,
    speech::ASR_WER,
    speech::CER,
    speech::MER,
    speech::WIL,
    meteor::SPEC,
    gtm::SPEC,
    length::SPEC,
    depf::SPEC,
    rouge::ROUGE_1,
    rouge::ROUGE_2,
    rouge::ROUGE_L,
    rouge::ROUGE_LSUM,
    sari::SPEC,
];

impl MetricSpec {
    /// The metric of this name.
    pub fn named(name: &str) -> Result<&'static Self> {
        let found = METRICS.iter().find(|m| m.name == name);
        found.ok_or_else(|| Error::unknown("metric", name, METRICS.iter().map(|m| m.name)))
    }

    /// Makes a metric from its options and the files that it uses.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for an unknown option, [`Error::UnknownChoice`] and [`Error::InvalidMetricOption`] for an
    /// invalid value of an option.
    pub fn make(&self, values: &[(&str, Value)], files: Vec<Resource>) -> Result<Arc<dyn Metric>> {
        (self.build)(&Options::resolve(self.name, self.options, values)?.with(files)).map(Arc::from)
    }
}

/// Makes a metric that uses no files from its name and options.
///
/// # Errors
/// Those of [`MetricSpec::named`] and [`MetricSpec::make`].
pub fn metric(name: &str, values: &[(&str, Value)]) -> Result<Arc<dyn Metric>> {
    MetricSpec::named(name)?.make(values, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::testing::{count_alone, made, row};
    use super::*;
    use crate::pool::with_run;
    use crate::simd::Simd;
    use proptest::prelude::*;

    fn count_with(threads: usize, systems: &[Vec<&str>], references: &[Vec<Option<&str>>]) -> Result<Vec<i64>> {
        with_run(threads, |run| count_alone(made("bleu").as_ref(), systems, references, run))
    }

    #[test]
    fn registered_names_are_found_and_others_refused() {
        for spec in METRICS {
            let made = made(spec.name);
            assert!(!made.columns().is_empty() && !made.signature().is_empty());
            assert_eq!(made.columns().len(), made.width());
        }
        let error = metric("blue", &[]).err().unwrap();
        assert!(error.to_string().starts_with("unknown metric \"blue\"; known: bleu"));
    }

    #[test]
    fn progress_increases_to_the_total_for_every_metric() {
        let parse = "1\ta\ta\t_\t_\t_\t0\troot\t_\t_";
        for spec in METRICS {
            let line = if spec.reads_parses { parse } else { "a b c d e" };
            let references = vec![vec![Some(line); 200]; 3];
            for threads in [1, 2] {
                let mut seen = Vec::new();
                let mut watch = |done| {
                    seen.push(done);
                    Ok(())
                };
                let mut run = Run { threads, watch: &mut watch };
                count_alone(made(spec.name).as_ref(), &[vec![line; 200]], &references, &mut run).unwrap();
                assert_eq!(Some(&200), seen.last(), "{}", spec.name);
                // No segment is finished while the references are read. A slow machine may report the end twice.
                seen.dedup();
                assert_eq!(Some(seen.len() - 1), seen.iter().position(|&done| done == 200), "{} {seen:?}", spec.name);
                assert!(seen.is_sorted(), "{} {seen:?}", spec.name);
            }
        }
    }

    #[test]
    fn a_million_segments_with_a_very_long_one_can_be_resampled() {
        let long: String = (0..1100).map(|i| format!("w{i} ")).collect();
        for name in METRICS.iter().filter(|spec| !spec.reads_parses).map(|spec| spec.name) {
            let largest = row(name, &[&long], &long).into_iter().max();
            assert!(largest.unwrap() < crate::error::LARGEST_SUM / 1_000_000, "{name}");
        }
    }

    #[test]
    fn invalid_input_is_refused_with_its_facts() {
        let ok = vec![Some("a"), Some("b")];
        let message = |systems: &[Vec<&str>], references: &[Vec<Option<&str>>]| {
            count_with(1, systems, references).unwrap_err().to_string()
        };
        assert!(message(&[], std::slice::from_ref(&ok)).starts_with("systems: expected at least one, got none"));
        assert!(message(&[vec!["a", "b"]], &[]).starts_with("references: expected at least one, got none"));
        assert!(message(&[vec![]], &[vec![]]).starts_with("segments: expected at least one, got none"));
        assert_eq!("column 0 of hypotheses: expected 2, got 1", message(&[vec!["a"]], std::slice::from_ref(&ok)));
        assert_eq!("column 1 of references: expected 2, got 1", message(&[vec!["a", "b"]], &[ok, vec![None]]));
        let holes = [vec![Some("a"), None], vec![None, None]];
        assert!(message(&[vec!["a", "b"]], &holes).starts_with("segment 2 has no reference"));
    }

    /// Formulas, and options that change them.
    const FORMULAS: &[&str] = &[
        "bleu",
        "bleu smooth_method=floor",
        "bleu smooth_method=add-k",
        "bleu smooth_method=none",
        "bleu smooth_method=mteval",
        "bleu max_ngram_order=1",
        "bleu max_ngram_order=2",
        "bleu max_ngram_order=3",
        "bleu max_ngram_order=16",
        "bleu max_ngram_order=20",
        "bleu effective_order",
        "sentbleu",
        "nist",
        "chrf",
        "chrf eps_smoothing",
        "chrf beta=0",
        "chrf beta=3",
        "chrf++",
        "ter",
        "wer",
        "per",
        "asr-wer",
        "wil",
        "gtm",
        "meteor",
        "meteor language=fr",
        "length",
        "depf",
        "rouge1",
        "sari",
        "sari deletion=precision",
    ];

    proptest! {
        #![proptest_config(crate::testing::cases(4))]
        #[test]
        fn many_rows_have_the_scores_and_derivatives_of_single_ones_on_every_path(
            rows in prop::collection::vec(
                prop::collection::vec(prop_oneof![8 => 1..300i64, 1 => Just(0), 1 => 1..1i64 << 61], 42),
                1..40,
            ),
            // Without zeros most metrics take another path. A column of zeros may be that of hypothesis words.
            positive in any::<bool>(),
            empty in 0..60usize,
        ) {
            for name in FORMULAS {
                let metric = made(name);
                let (n, width) = (rows.len(), metric.width());
                let count = |row: usize, column: usize| match rows[row][column] {
                    _ if column == empty => 0,
                    count => count.max(i64::from(positive)),
                };
                let columns: Vec<i64> = (0..width).flat_map(|column| (0..n).map(move |row| count(row, column))).collect();
                Simd::on_every_path(|simd| {
                    let (mut scores, mut slopes) = (vec![9.0; n], vec![9.0; n * width]);
                    metric.scores(&columns, &mut scores);
                    metric.gradients(&columns, &scores, &mut slopes);
                    for row in 0..n {
                        let totals: Vec<_> = (0..width).map(|column| count(row, column)).collect();
                        let mut expected = vec![9.0; width];
                        metric.gradient(&totals, &mut expected);
                        let got: Vec<_> = slopes[row..].iter().step_by(n).copied().collect();
                        assert_eq!(metric.score(&totals).to_bits(), scores[row].to_bits(), "{name} {totals:?} {simd:?}");
                        assert_eq!(expected, got, "{name} {totals:?} {simd:?}");
                    }
                });
            }
        }
    }
}
