//! Length ratio: the length of the hypotheses relative to that of the references.

use super::text::{TOKENIZE, Words};
use super::{Counter, Counters, Formula, Metric, MetricSpec, Texts};
use crate::error::Result;
use crate::pool::{Run, Stop};
use crate::simd::Simd;
use crate::text::ngram::{Ngrams, each_token};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "length",
    about: "length of the hypotheses divided by that of the closest references, in tokens",
    source: "P02-1040",
    reads_parses: false,
    options: &[TOKENIZE],
    build: |options| Ok(Box::new(Length { words: Words::ignoring_case(options)? })),
};

/// Length ratio. A row is `[hyp_len, ref_len]`, as in BLEU. Neither direction is better.
pub struct Length {
    words: Words,
}

impl Formula for Length {
    fn name(&self) -> &str {
        "length"
    }

    fn columns(&self) -> Vec<String> {
        ["hyp_len", "ref_len"].map(Into::into).into()
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        vec![self.words.tok()]
    }

    fn score(&self, totals: &[i64]) -> f64 {
        if totals[1] == 0 { 0.0 } else { totals[0] as f64 / totals[1] as f64 }
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        vec![("hyp_len".into(), totals[0] as f64), ("ref_len".into(), totals[1] as f64)]
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        super::ratio_gradient(1.0, totals, out);
    }

    fn gradients(&self, totals: &[i64], _: &[f64], out: &mut [f64]) {
        super::ratio_gradients(Simd::best(), 1.0, totals, out);
    }
}

impl Metric for Length {
    fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        Ok(Box::new(|| Box::new(LengthCounter { words: self.words, references: Ngrams::default() })))
    }
}

struct LengthCounter {
    words: Words,
    references: Ngrams,
}

impl Counter for LengthCounter {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let LengthCounter { words, references: lengths } = self;
        lengths.clear();
        for reference in references {
            lengths.add(|emit| words.tokens(reference, emit), stop)?;
        }
        for (hypothesis, row) in hypotheses.iter().zip(rows.chunks_exact_mut(2)) {
            let mut length = 0;
            each_token(|emit| words.tokens(hypothesis, emit), stop, |_| length += 1)?;
            row.copy_from_slice(&[length as i64, lengths.closest_length(length) as i64]);
        }
        Ok(())
    }
}
