//! GTM, the General Text Matcher (Melamed, Green & Turian 2003, N03-2021; Turian, Shen & Melamed 2003), as version 1.4
//! computes it: precision and recall of common runs of words, in which a run of n words counts n^e.
//!
//! The size of a matching is M = (Σ n^e)^(1/e), so that a text that matches as a whole has its length, and e = 1 counts
//! matching words in any order. Several references are read as one text, but no run goes on from one into the next, and
//! their mean length is m. At most m words, and at most the Y words of the hypothesis, are matched. With P = M/Y and
//! R = M/m the score is F = 2M/(Y + m). The best matching is hard to find; the metric is defined by the greedy one of [`crate::text::runs`].

use super::text::{LOWERCASE, case, cased};
use super::{Counter, Counters, Formula, Kind, Metric, MetricSpec, OptionSpec, Options, Resolution, Texts, Value};
use crate::error::{Error, LARGEST_SUM, Result};
use crate::pool::{Run, Stop};
use crate::simd::{Simd, dispatch};
use crate::text::ngram::{Token, Vocabulary, each_token};
use crate::text::runs::{Room, Runs};
use crate::text::tokenize::split_ascii;

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "gtm",
    about: "GTM 1.4: F-score over common words; with an exponent above 1, long runs of them count more",
    source: "N03-2021; 2003.mtsummit-papers.51",
    reads_parses: false,
    options: &[
        OptionSpec {
            name: "exponent",
            kind: Kind::Real(0.1, 10.0),
            default: || Value::Real(1.0),
            about: "a run of n common words counts n to this power; with 1 the order of words does not matter",
        },
        LOWERCASE,
    ],
    build: |options| Ok(Box::new(Gtm::new(options))),
};

/// All counts are in steps of this part of a word. A constant, because the score needs the size of a matching and lengths
/// in the same unit; up to 22 references have a mean length that is a whole number of steps.
const WORD: Resolution = Resolution::FALLBACK;

/// GTM. A row is `[match, hyp_len, ref_len]`: the size of the matching, the length of the hypothesis and the mean length
/// of the references, all in steps of 1/2,095,133,040 of a word.
pub struct Gtm {
    exponent: f64,
    lowercase: bool,
    /// n^e of short runs.
    powers: [f64; 32],
}

impl Gtm {
    fn new(options: &Options) -> Self {
        let exponent = options.number("exponent");
        let powers = std::array::from_fn(|n| (n as f64).powf(exponent));
        Gtm { exponent, lowercase: options.flag(LOWERCASE.name), powers }
    }

    /// n^e.
    fn power(&self, length: f64) -> f64 {
        let n = length as usize;
        if n < self.powers.len() && n as f64 == length { self.powers[n] } else { length.powf(self.exponent) }
    }

    /// The size of a matching in steps, from the sum of n^e.
    fn size(&self, sum: f64) -> Result<i64> {
        let steps = (sum.powf(1.0 / self.exponent) * WORD.steps(1) as f64).round_ties_even();
        if steps <= LARGEST_SUM as f64 { Ok(steps as i64) } else { Err(Error::Overflow { column: 0 }) }
    }
}

/// In percent; 0 if neither side has words.
#[inline(always)]
fn f_score(matched: i64, hypothesis: i64, reference: i64) -> f64 {
    let words = hypothesis as f64 + reference as f64;
    if words == 0.0 { 0.0 } else { 200.0 * (matched as f64 / words) }
}

/// [`Formula::gradient`].
#[inline(always)]
fn slopes(matched: i64, hypothesis: i64, reference: i64) -> (f64, f64) {
    let words = hypothesis as f64 + reference as f64;
    let by_match = 200.0 / words;
    if words == 0.0 { (0.0, 0.0) } else { (by_match, -by_match * (matched as f64 / words)) }
}

dispatch! {
    /// [`f_score`] of many rows, which are stored column by column.
    fn f_scores(totals: &[i64], out: &mut [f64]) {
        let (matches, lengths) = totals.split_at(out.len());
        let (hypotheses, references) = lengths.split_at(out.len());
        for (((score, &m), &y), &r) in out.iter_mut().zip(matches).zip(hypotheses).zip(references) {
            *score = f_score(m, y, r);
        }
    }
}

dispatch! {
    /// [`slopes`] of many rows. Rows and derivatives are stored column by column.
    fn f_gradients(totals: &[i64], out: &mut [f64]) {
        let n = totals.len() / 3;
        let (matches, lengths) = totals.split_at(n);
        let (hypotheses, references) = lengths.split_at(n);
        let (by_matches, by_lengths) = out.split_at_mut(n);
        let (by_hypotheses, by_references) = by_lengths.split_at_mut(n);
        let rows = matches.iter().zip(hypotheses).zip(references);
        let slopes_of_rows = by_matches.iter_mut().zip(by_hypotheses).zip(by_references);
        for (((by_m, by_y), by_r), ((&m, &y), &r)) in slopes_of_rows.zip(rows) {
            let (by_match, by_length) = slopes(m, y, r);
            (*by_m, *by_y, *by_r) = (by_match, by_length, by_length);
        }
    }
}

impl Formula for Gtm {
    fn name(&self) -> &str {
        "GTM"
    }

    fn columns(&self) -> Vec<String> {
        ["match", "hyp_len", "ref_len"].map(Into::into).into()
    }

    fn width(&self) -> usize {
        3
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        vec![case(self.lowercase), ("exp", format!("{:?}", self.exponent))]
    }

    fn score(&self, totals: &[i64]) -> f64 {
        f_score(totals[0], totals[1], totals[2])
    }

    fn scores(&self, totals: &[i64], out: &mut [f64]) {
        f_scores(Simd::best(), totals, out);
    }

    /// The matching of a segment is off by half a step at most. Where something matches there is at least a word, so the
    /// score is off by less than 100 steps of a word.
    fn decimals(&self) -> Option<u32> {
        Some((WORD.steps(1) as f64 / 100.0).log10().floor() as u32)
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        let ratio = |part: i64, whole: i64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let share = |length: i64| 100.0 * ratio(totals[0], length);
        let words = |steps: i64| ratio(steps, WORD.steps(1));
        vec![
            ("precision".into(), share(totals[1])),
            ("recall".into(), share(totals[2])),
            ("match".into(), words(totals[0])),
            ("hyp_len".into(), words(totals[1])),
            ("ref_len".into(), words(totals[2])),
        ]
    }

    /// ∂F/∂M = 2/(Y + m), ∂F/∂Y = ∂F/∂m = −2M/(Y + m)².
    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        let (by_match, by_length) = slopes(totals[0], totals[1], totals[2]);
        out.copy_from_slice(&[by_match, by_length, by_length]);
    }

    fn gradients(&self, totals: &[i64], _: &[f64], out: &mut [f64]) {
        f_gradients(Simd::best(), totals, out);
    }
}

impl Metric for Gtm {
    fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        Ok(Box::new(|| {
            Box::new(GtmCounter {
                gtm: self,
                vocabulary: Vocabulary::default(),
                runs: Runs::default(),
                text: Vec::new(),
                lower: String::new(),
            })
        }))
    }
}

struct GtmCounter<'a> {
    gtm: &'a Gtm,
    vocabulary: Vocabulary,
    runs: Runs,
    /// The words of the hypothesis.
    text: Vec<Token>,
    /// A buffer for a line in lower case.
    lower: String,
}

impl Counter for GtmCounter<'_> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let GtmCounter { gtm, vocabulary, runs, text, lower } = self;
        vocabulary.clear();
        runs.clear();
        let mut words = 0;
        for reference in references {
            runs.begin_reference();
            let line = cased(reference, gtm.lowercase, lower);
            each_token(
                |emit| split_ascii(line, emit),
                stop,
                |word| {
                    runs.push(vocabulary.intern(word));
                    words += 1;
                },
            )?;
        }
        runs.index(vocabulary.len(), stop)?;
        for (hypothesis, row) in hypotheses.iter().zip(rows.chunks_exact_mut(3)) {
            let line = cased(hypothesis, gtm.lowercase, lower);
            text.clear();
            each_token(|emit| split_ascii(line, emit), stop, |word| text.push(vocabulary.find(word)))?;
            let (length, mut sum) = (text.len(), 0.0);
            let room = Room::new(length, words, references.len());
            runs.matching(text, room, gtm.exponent == 1.0, stop, |number, length| {
                sum += number as f64 * gtm.power(length);
            })?;
            row.copy_from_slice(&[gtm.size(sum)?, WORD.steps(length), WORD.mean(words, references.len())]);
        }
        Ok(())
    }
}
