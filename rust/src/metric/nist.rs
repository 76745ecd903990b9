//! NIST (Doddington 2002, doi:10.5555/1289189.1289273), as `mteval-v13a.pl` computes it.
//!
//! The information of an n-gram is the surprisal of its last word given the others: −log2(count / count of the prefix),
//! counted over all references of the corpus. Therefore all references are read before the first segment is counted. If
//! an n-gram occurs once, so does every extension of it, whose information is then 0. Only extensions of n-grams that
//! occur repeatedly are counted, which are a small part of all n-grams.
//!
//! Information is in fixed point, so sums over segments are exact. When segments are resampled, the information stays
//! that of the whole corpus: a replicate changes which segments are summed, not what an n-gram is worth.

use std::ops::Range;
use std::sync::Arc;

use super::text::{LOWERCASE, TOKENIZE, Words, quirks};
use super::{
    Counter, Counters, Formula, Kind, Metric, MetricSpec, OptionSpec, Options, References, Resolution, Texts, Value,
};
use crate::error::Result;
use crate::pool::{self, Blocks, PIECE, Run, Stop};
use crate::stats::fixed;
use crate::text::joined::Joined;
use crate::text::ngram::{Children, Ngrams, Token, Vocabulary, each_token};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "nist",
    about: "information of the matching n-grams, per n-gram, times a length penalty",
    source: "doi:10.5555/1289189.1289273",
    reads_parses: false,
    options: &[
        TOKENIZE,
        LOWERCASE,
        OptionSpec {
            name: "max_ngram_order",
            kind: Kind::Integer(1, 9),
            default: || Value::Integer(5),
            about: "the longest n-gram",
        },
        OptionSpec::flag(
            "mteval_quirks",
            "with the bugs of mteval-v13a.pl: information of pairs that begin with 0, lower case of ASCII only",
        ),
        OptionSpec::flag(
            "nltk_quirks",
            "as NLTK: for each order, use the reference whose matches have the most information, and its length",
        ),
    ],
    build: |options| Ok(Box::new(Nist::new(options)?)),
};

/// Information is in multiples of 2^-28 bit: fine enough for ten digits of the score, coarse enough for sums over a
/// million segments of a thousand words.
const BITS: u32 = 28;

/// The strength of the length penalty: hypotheses of two thirds of the reference length lose half of the score.
fn penalty_strength() -> f64 {
    -(0.5_f64.ln()) / 1.5_f64.ln().powi(2)
}

/// NIST. A row is `[info_1 … info_N, hyp_1 … hyp_N, hyp_len, ref_len]`: information in multiples of 2^-28 bit, numbers
/// of n-grams of the hypothesis, and its length and the references' mean length, both times L
/// ([`References::resolution`]). With `nltk_quirks`, the lengths are sums over the orders instead.
pub struct Nist {
    words: Words,
    order: usize,
    /// As the script, which treats the word `0` as no word when it looks up the count of a prefix, so that a bigram
    /// beginning with it is worth as much as a unigram; and which lower-cases ASCII only, except under its
    /// international tokenization.
    mteval: bool,
    /// As NLTK, which for every order uses the reference whose matches have the most information (the longest of equal
    /// ones), and its length as the reference length of that order.
    nltk: bool,
}

impl Nist {
    fn new(options: &Options) -> Result<Self> {
        let mteval = options.flag("mteval_quirks");
        let words = Words::new(options)?.with_mteval_case(mteval);
        Ok(Nist { words, order: options.integer("max_ngram_order"), mteval, nltk: options.flag("nltk_quirks") })
    }

    /// The length penalty, from the ratio of hypothesis length to reference length.
    fn penalty(ratio: f64) -> f64 {
        if ratio >= 1.0 {
            1.0
        } else if ratio <= 0.0 {
            0.0
        } else {
            (-penalty_strength() * ratio.ln().powi(2)).exp()
        }
    }

    fn ratio(&self, totals: &[i64]) -> f64 {
        let (hypothesis, reference) = (totals[2 * self.order] as f64, totals[2 * self.order + 1] as f64);
        if reference > 0.0 { hypothesis / reference } else { 1.0 }
    }

    /// The mean information per n-gram of each order.
    fn gains<'a>(&self, totals: &'a [i64]) -> impl Iterator<Item = f64> + use<'a> {
        let (information, possible) = totals[..2 * self.order].split_at(self.order);
        information.iter().zip(possible).map(|(&info, &n)| fixed::to_real(info, BITS) / n.max(1) as f64)
    }
}

impl Formula for Nist {
    fn name(&self) -> &str {
        "NIST"
    }

    fn columns(&self) -> Vec<String> {
        let numbered = |what: &'static str| (1..=self.order).map(move |n| format!("{what}_{n}"));
        numbered("info").chain(numbered("hyp")).chain(["hyp_len", "ref_len"].map(Into::into)).collect()
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        let mut signature = vec![self.words.case(), self.words.tok(), ("order", self.order.to_string())];
        signature.extend(quirks(&[("mteval", self.mteval), ("nltk", self.nltk)]));
        signature
    }

    fn score(&self, totals: &[i64]) -> f64 {
        self.gains(totals).fold(0.0, |sum, gain| sum + gain) * Self::penalty(self.ratio(totals))
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        let mut details: Vec<_> = self.gains(totals).zip(1..).map(|(g, n)| (format!("gain_{n}"), g)).collect();
        let ratio = self.ratio(totals);
        details.extend([("penalty".into(), Self::penalty(ratio)), ("ratio".into(), ratio)]);
        details
    }

    /// The score is a sum over orders of mean information, each with an error of at most half a step.
    fn decimals(&self) -> Option<u32> {
        Some(fixed::decimals(self.order as f64, BITS))
    }

    /// f = G·w(ρ), where G = Σ info_n/hyp_n, ρ = h/r and w'(ρ) = −2β·(ln ρ/ρ)·w(ρ) for ρ < 1. At ρ = 1 both one-sided
    /// derivatives of the penalty are 0.
    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        out.fill(0.0);
        let ratio = self.ratio(totals);
        let penalty = Self::penalty(ratio);
        let mut gains = 0.0;
        for (n, gain) in self.gains(totals).enumerate() {
            let possible = totals[self.order + n];
            out[n] = penalty * fixed::to_real(1, BITS) / possible.max(1) as f64;
            out[self.order + n] = if possible > 0 { -penalty * gain / possible as f64 } else { 0.0 };
            gains += gain;
        }
        let reference = totals[2 * self.order + 1];
        if reference > 0 && ratio > 0.0 && ratio < 1.0 {
            let by_ratio = gains * penalty * -2.0 * penalty_strength() * ratio.ln() / ratio;
            out[2 * self.order] = by_ratio / reference as f64;
            out[2 * self.order + 1] = -by_ratio * ratio / reference as f64;
        }
    }
}

impl Metric for Nist {
    fn counters<'a>(&'a self, texts: &Texts<'a>, run: &mut Run<'_>) -> Result<Counters<'a>> {
        let resolution = texts.references.resolution();
        let information = Arc::new(Information::new(self, &texts.references, run)?);
        Ok(Box::new(move || {
            let (information, ngrams) = (information.clone(), Ngrams::default());
            Box::new(NistCounter { nist: self, resolution, information, ngrams, worth: Vec::new(), known: Vec::new() })
        }))
    }
}

/// The information of every n-gram of the references, as a trie. Nodes below `vocabulary.len()` are words.
struct Information {
    vocabulary: Vocabulary,
    children: Children,
    /// The information of each n-gram, in fixed point.
    worth: Vec<i64>,
}

/// The words of all references as numbers.
#[derive(Default)]
struct Tokens {
    vocabulary: Vocabulary,
    references: Joined<Token>,
}

impl Tokens {
    /// Splits lines in parallel, numbers the words of each block, and then the words of all blocks in order.
    fn new(words: &Words, references: &References<'_>, run: &mut Run<'_>) -> Result<Self> {
        let mut all = Tokens::default();
        pool::try_run(
            Blocks { items: references.segments(), size: 256, cost: 2000, lead: 0 },
            run,
            || (),
            |(), range, stop| {
                let mut block = Tokens::default();
                for segment in range {
                    stop.check()?;
                    for reference in references.of_segment(segment) {
                        let emit_tokens = |emit: &mut dyn FnMut(&str)| words.tokens(reference, emit);
                        each_token(emit_tokens, stop, |token| block.references.push(block.vocabulary.intern(token)))?;
                        block.references.end();
                    }
                }
                Ok(block)
            },
            |_, block, stop| {
                stop.charge(LOOK_UP * block.vocabulary.len())?;
                let numbers: Vec<Token> = block.vocabulary.words().map(|word| all.vocabulary.intern(word)).collect();
                for reference in block.references.iter() {
                    stop.charge(reference.len())?;
                    reference.iter().for_each(|&word| all.references.push(numbers[word as usize]));
                    all.references.end();
                }
                Ok(())
            },
        )?;
        Ok(all)
    }
}

/// The approximate cost of looking up an n-gram, in additions.
const LOOK_UP: usize = 64;

/// Stands for n-grams without information, whose extensions have none either.
const WORTHLESS: u32 = u32::MAX;

impl Information {
    fn new(nist: &Nist, references: &References<'_>, run: &mut Run<'_>) -> Result<Self> {
        let Tokens { vocabulary, references } = Tokens::new(&nist.words, references, run)?;
        let tokens = references.values();
        let mut counts = vec![0_u32; vocabulary.len()];
        tokens.iter().for_each(|&token| counts[token as usize] += 1);
        let total = tokens.len() as f64;
        #[allow(clippy::expect_used, reason = "a logarithm denominator a 64-bit number is small")]
        let bits = |count: u32, denominator: f64| {
            fixed::from_real(-(f64::from(count) / denominator).log2(), BITS).expect("it is small")
        };
        let mut worth: Vec<i64> = counts.iter().map(|&count| bits(count, total)).collect();

        let zero = if nist.mteval { vocabulary.find("0") } else { WORTHLESS };
        let mut children = Children::default();
        // The n-gram of the current order that begins at each token.
        let mut nodes: Vec<Token> = tokens.to_vec();
        for n in 1..nist.order {
            let first_new = counts.len();
            let mut prefixes = Vec::new();
            let mut extend = |tokens_at: Range<usize>, end: usize| {
                for i in tokens_at {
                    let prefix = nodes[i];
                    nodes[i] = WORTHLESS;
                    if i + n < end && prefix != WORTHLESS && (counts[prefix as usize] > 1 || prefix == zero) {
                        let new = counts.len() as u32;
                        nodes[i] = children.get_or_insert(prefix, tokens[i + n], new);
                        if nodes[i] == new {
                            counts.push(0);
                            prefixes.push(prefix);
                        }
                        counts[nodes[i] as usize] += 1;
                    }
                }
            };
            run.serial(|stop| {
                (0..references.len()).map(|reference| references.range(reference)).try_for_each(
                    |Range { start, end }| {
                        for from in (start..end).step_by(PIECE) {
                            let to = end.min(from + PIECE);
                            stop.charge(LOOK_UP * (to - from))?;
                            extend(from..to, end);
                        }
                        Ok(())
                    },
                )
            })?;
            worth.extend(counts[first_new..].iter().zip(&prefixes).map(|(&count, &prefix)| {
                bits(count, if prefix == zero { total } else { f64::from(counts[prefix as usize]) })
            }));
        }
        Ok(Information { vocabulary, children, worth })
    }

    fn worth(&self, node: u32) -> i64 {
        if node == WORTHLESS { 0 } else { self.worth[node as usize] }
    }

    /// The n-gram `prefix` followed by `word`, both as returned here.
    fn extend(&self, prefix: u32, word: u32) -> u32 {
        if prefix == WORTHLESS { WORTHLESS } else { self.children.get(prefix, word).unwrap_or(WORTHLESS) }
    }
}

struct NistCounter<'a> {
    nist: &'a Nist,
    resolution: Resolution,
    information: Arc<Information>,
    ngrams: Ngrams,
    /// For each n-gram of the segment's references, its node in `information`, and its information.
    known: Vec<u32>,
    worth: Vec<i64>,
}

impl NistCounter<'_> {
    /// Looks up the information of the n-grams of the segment's references.
    fn look_up(&mut self, stop: &Stop<'_>) -> Result<()> {
        let NistCounter { information, ngrams, worth, known, .. } = self;
        known.clear();
        for word in ngrams.words() {
            stop.charge(LOOK_UP)?;
            known.push(information.vocabulary.find(word));
        }
        for (prefix, word) in ngrams.extensions() {
            stop.charge(LOOK_UP)?;
            known.push(information.extend(known[prefix], known[word]));
        }
        worth.clear();
        worth.extend(known.iter().map(|&node| information.worth(node)));
        Ok(())
    }
}

impl NistCounter<'_> {
    /// Counts reference by reference, as NLTK does.
    fn count_by_best_reference(
        &mut self,
        references: &[&str],
        hypotheses: &[&str],
        rows: &mut [i64],
        stop: &Stop<'_>,
    ) -> Result<()> {
        let Nist { words, order, .. } = *self.nist;
        // For each hypothesis and order, the information of the matches with the best reference, and its length.
        let mut best = vec![(0, 0); hypotheses.len() * order];
        for reference in references {
            self.ngrams.clear();
            self.ngrams.add(|emit| words.tokens(reference, emit), stop)?;
            self.ngrams.count(order, stop)?;
            self.look_up(stop)?;
            let length_of_reference = self.ngrams.lengths().sum::<usize>() as i64;
            let each = hypotheses.iter().zip(rows.chunks_exact_mut(2 * order + 2)).zip(best.chunks_exact_mut(order));
            for ((hypothesis, row), best) in each {
                let mut information = vec![0; order];
                let worth = &self.worth;
                let emit_tokens = |emit: &mut dyn FnMut(&str)| words.tokens(hypothesis, emit);
                let gained = |n: usize, node: usize| information[n - 1] += worth[node];
                let length = self.ngrams.overlap_each(emit_tokens, order, gained, stop)?;
                for (n, (best, info)) in best.iter_mut().zip(information).enumerate() {
                    *best = (*best).max((info, length_of_reference));
                    row[order + n] = length.saturating_sub(n) as i64;
                }
                row[2 * order] = (order * length) as i64;
            }
        }
        for (row, best) in rows.chunks_exact_mut(2 * order + 2).zip(best.chunks_exact(order)) {
            row.iter_mut().zip(best).for_each(|(info, best)| *info = best.0);
            row[2 * order + 1] = best.iter().map(|best| best.1).sum();
        }
        Ok(())
    }
}

impl Counter for NistCounter<'_> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        if self.nist.nltk {
            return self.count_by_best_reference(references, hypotheses, rows, stop);
        }
        let Nist { words, order, .. } = *self.nist;
        self.ngrams.clear();
        for reference in references {
            self.ngrams.add(|emit| words.tokens(reference, emit), stop)?;
        }
        self.ngrams.count(order, stop)?;
        self.look_up(stop)?;
        let length_of_all: usize = self.ngrams.lengths().sum();
        let mean_length = self.resolution.mean(length_of_all, references.len());
        for (hypothesis, row) in hypotheses.iter().zip(rows.chunks_exact_mut(2 * order + 2)) {
            let (information, lengths) = row.split_at_mut(order);
            let worth = &self.worth;
            let emit_tokens = |emit: &mut dyn FnMut(&str)| words.tokens(hypothesis, emit);
            let gained = |n: usize, node: usize| information[n - 1] += worth[node];
            let length = self.ngrams.overlap_each(emit_tokens, order, gained, stop)?;
            for (n, possible) in lengths[..order].iter_mut().enumerate() {
                *possible = length.saturating_sub(n) as i64;
            }
            lengths[order] = self.resolution.steps(length);
            lengths[order + 1] = mean_length;
        }
        Ok(())
    }
}
