//! Expected utilities: how well each text of a list agrees with all others, each of which takes its turn as the reference
//! (minimum Bayes risk decoding, Kumar & Byrne 2004, N04-1022).

use std::ops::Range;

use super::lists::Lists;
use super::matches::{MatchBased, Matches};
use super::{Counters, Metric, References, Texts};
use crate::error::{Result, check_length};
use crate::memory::zeros;
use crate::pool::{self, Blocks, Run, Stop};
use crate::text::shared::{KINDS, Shared};

/// A metric that counts a hypothesis against a single reference by the n-grams that both have.
pub trait PairBased: Sync {
    /// The longest n-gram of each kind of unit; the first kind are characters for metrics that read any.
    fn orders(&self) -> [usize; KINDS];

    /// Calls `emit` with the kind and the spelling of every unit of a line.
    fn units(&self, line: &str, emit: &mut dyn FnMut(usize, &str));

    /// Writes the counts to a row of zeros, from both numbers of units of each kind, and the clipped matches of each
    /// order of the first kind, then of the second.
    ///
    /// # Errors
    /// [`crate::Error::Overflow`] for a count that does not fit.
    fn fill(
        &self,
        hypothesis: [usize; KINDS],
        reference: [usize; KINDS],
        matches: &[i64],
        row: &mut [i64],
    ) -> Result<()>;
}

/// A metric of words whose counts follow from matches.
pub(super) struct FromMatches<'a>(pub &'a dyn MatchBased);

impl PairBased for FromMatches<'_> {
    fn orders(&self) -> [usize; KINDS] {
        [0, self.0.order()]
    }

    fn units(&self, line: &str, emit: &mut dyn FnMut(usize, &str)) {
        self.0.words().tokens(line, &mut |word| emit(1, word));
    }

    fn fill(
        &self,
        hypothesis: [usize; KINDS],
        reference: [usize; KINDS],
        matches: &[i64],
        row: &mut [i64],
    ) -> Result<()> {
        self.0.fill(&Matches { length: hypothesis[1], closest: reference[1], by_order: matches }, row)
    }
}

/// What is expected of each text.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// Σ_j w_j·u(i, j) over all other texts j of the list of text i.
    pub utilities: Vec<f64>,
    /// u(i, i), the score of a text that is its own reference.
    pub own: Vec<f64>,
}

/// The shortest piece of a list that is computed on its own. A piece prepares the whole list, which costs about as much as
/// comparing it with a hundred texts.
const PIECE: usize = 256;

/// The lists, divided into pieces for threads: a sentence, and some of its texts. Only long lists are divided, and only if
/// there are few of them.
pub fn pieces(offsets: &[i64]) -> Vec<(usize, Range<usize>)> {
    let texts = offsets.last().map_or(0, |&end| end as usize);
    let size = PIECE.max(texts / 32);
    let mut out = Vec::new();
    for (sentence, ends) in offsets.windows(2).enumerate() {
        let (start, end) = (ends[0] as usize, ends[1] as usize);
        let parts = (end - start).div_ceil(size).max(1);
        out.extend((0..parts).map(|part| {
            let cut = |part: usize| start + (end - start) * part / parts;
            (sentence, cut(part)..cut(part + 1))
        }));
    }
    out
}

/// The expected utility of each text under a metric, with the other texts of its list as pseudo-references of these weights.
/// Utilities are scores of segments. A text is tokenized and its n-grams are found once, if the metric can tell its
/// counts from them (`PairBased`); otherwise each text is prepared once as a reference.
///
/// What a metric prepares for a corpus (NIST's information) comes from all texts, each of which counts once.
///
/// # Errors
/// [`crate::Error::LengthMismatch`] for a wrong number of weights; whatever [`Metric::counters`], [`super::Counter::count`] and
/// [`pool::try_run`] returned.
pub fn expected_utilities(
    metric: &dyn Metric,
    lists: &Lists<'_>,
    weights: &[f64],
    run: &mut Run<'_>,
) -> Result<Expected> {
    let texts = lists.offsets.last().map_or(0, |&end| end as usize);
    check_length("weights of texts", texts, weights.len())?;
    let get = |_: usize, text: usize| Some((lists.hypothesis)(text));
    let hypothesis = |_: usize, text: usize| (lists.hypothesis)(text);
    // Each text is a segment of its own, and its own reference: metrics see every word, and a single reference.
    let references = References { columns: 1, segments: texts, get: &get };
    let corpus = Texts { references, systems: 1, hypothesis: &hypothesis };
    let pair_based = metric.pair_based();
    let counters = match pair_based {
        Some(_) => None,
        None => Some(run.without_progress(|run| metric.counters(&corpus, run))?),
    };
    let pieces = pieces(lists.offsets);
    let pairs: usize = pieces.iter().map(|(sentence, own)| lists.range(*sentence).len() * own.len()).sum();
    let cost = if pair_based.is_some() { 100 } else { 2000 } * (pairs / pieces.len().max(1)) as u64 + 1000;
    let mut out = Expected { utilities: zeros(&[texts])?, own: zeros(&[texts])? };
    pool::try_run(
        Blocks { items: pieces.len(), size: 1, cost, lead: 0 },
        run,
        || (),
        |(), range, stop| {
            let (sentence, own) = &pieces[range.start];
            let list = lists.range(*sentence);
            let texts: Vec<&str> = list.clone().map(lists.hypothesis).collect();
            let part = own.start - list.start..own.end - list.start;
            let list = List { metric, texts: &texts, weights: &weights[list], part };
            let found = match (&pair_based, &counters) {
                (Some(pairs), _) => list.all_at_once(pairs.as_ref(), stop),
                (None, counters) => list.one_by_one(counters.as_ref(), stop),
            };
            found.map_err(|error| error.in_segment(sentence + 1))
        },
        |range, found, _| {
            let own = pieces[range.start].1.clone();
            out.utilities[own.clone()].copy_from_slice(&found.utilities);
            out.own[own].copy_from_slice(&found.own);
            Ok(())
        },
    )?;
    Ok(out)
}

/// A list, and the part of it whose utilities are computed.
struct List<'a> {
    metric: &'a dyn Metric,
    texts: &'a [&'a str],
    weights: &'a [f64],
    part: Range<usize>,
}

impl List<'_> {
    /// The scores of all pairs, from the n-grams that texts have in common.
    fn all_at_once(&self, pairs: &dyn PairBased, stop: &Stop<'_>) -> Result<Expected> {
        let shared = Shared::new(self.texts, pairs.orders(), &|line, emit| pairs.units(line, emit), stop)?;
        let (width, order) = (self.metric.width(), shared.order());
        let (mut row, mut matches) = (vec![0; width], zeros(&[self.texts.len(), order])?);
        let mut out = Expected { utilities: zeros(&[self.part.len()])?, own: zeros(&[self.part.len()])? };
        for (place, i) in self.part.clone().enumerate() {
            shared.matches(i, &mut matches, stop)?;
            for (j, matches) in matches.chunks_exact(order).enumerate() {
                if self.weights[j] == 0.0 && i != j {
                    continue;
                }
                stop.charge(8 * width)?;
                row.fill(0);
                pairs.fill(shared.lengths(i), shared.lengths(j), matches, &mut row)?;
                self.add(&mut out, place, [i, j], &row);
            }
        }
        Ok(out)
    }

    /// The scores of all pairs: each text is prepared as a reference, and the part is counted against it.
    fn one_by_one(&self, counters: Option<&Counters<'_>>, stop: &Stop<'_>) -> Result<Expected> {
        let mut out = Expected { utilities: zeros(&[self.part.len()])?, own: zeros(&[self.part.len()])? };
        let Some(counters) = counters else { return Ok(out) };
        let (mut counter, width) = (counters(), self.metric.width());
        let mut rows: Vec<i64> = zeros(&[self.part.len(), width])?;
        for (j, reference) in self.texts.iter().enumerate() {
            if self.weights[j] == 0.0 && !self.part.contains(&j) {
                continue;
            }
            stop.check()?;
            rows.fill(0);
            counter.count(&[reference], &self.texts[self.part.clone()], &mut rows, stop)?;
            for ((place, i), row) in self.part.clone().enumerate().zip(rows.chunks_exact(width)) {
                self.add(&mut out, place, [i, j], row);
            }
        }
        Ok(out)
    }

    fn add(&self, out: &mut Expected, place: usize, [i, j]: [usize; 2], row: &[i64]) {
        let utility = self.metric.segment_score(row);
        if i == j {
            out.own[place] = utility;
        } else if self.weights[j] != 0.0 {
            out.utilities[place] += self.weights[j] * utility;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::METRICS;
    use crate::metric::testing::{count_segment, made};
    use crate::pool::with_run;
    use proptest::prelude::*;

    fn found(metric: &dyn Metric, texts: &[String], offsets: &[i64], weights: &[f64], threads: usize) -> Expected {
        let hypothesis = |i: usize| texts[i].as_str();
        let lists = Lists { offsets, hypothesis: &hypothesis };
        with_run(threads, |run| expected_utilities(metric, &lists, weights, run)).unwrap()
    }

    /// The same, one pair of texts at a time.
    fn slow(metric: &dyn Metric, texts: &[String], offsets: &[i64], weights: &[f64]) -> Expected {
        let mut out = Expected { utilities: vec![0.0; texts.len()], own: vec![0.0; texts.len()] };
        for ends in offsets.windows(2) {
            let list = ends[0] as usize..ends[1] as usize;
            for (i, j) in list.clone().flat_map(|i| list.clone().map(move |j| (i, j))) {
                let utility = metric.segment_score(&count_segment(metric, &[&texts[j]], &texts[i]));
                if i == j {
                    out.own[i] = utility;
                } else {
                    out.utilities[i] += weights[j] * utility;
                }
            }
        }
        out
    }

    fn metrics() -> impl Iterator<Item = &'static str> {
        // NIST's information depends on what counts as the corpus.
        let specs = METRICS.iter().filter(|spec| !spec.reads_parses && spec.name != "nist");
        specs.map(|spec| spec.name).chain([
            "chrf lowercase whitespace char_order=3",
            "chrf eps_smoothing char_order=0 word_order=2",
            "bleu lowercase max_ngram_order=2",
            "bleu nltk_quirks",
            "sentbleu smoothing=2 max_ngram_order=3",
        ])
    }

    proptest! {
        #![proptest_config(crate::testing::cases(8))]
        #[test]
        fn utilities_are_those_of_single_pairs(
            lists in prop::collection::vec(prop::collection::vec("[aAbé,. ]{0,10}", 1..6), 1..4),
            seed in 0..1000_u32,
            threads in 1..4_usize,
        ) {
            let texts: Vec<String> = lists.iter().flatten().cloned().collect();
            let mut offsets = vec![0];
            lists.iter().for_each(|list| offsets.push(offsets[offsets.len() - 1] + list.len() as i64));
            let weights: Vec<f64> =
                (0..texts.len() as u32).map(|i| f64::from((i.wrapping_mul(seed) ^ seed) % 5) / 4.0).collect();
            for name in metrics() {
                let metric = made(name);
                let expected = slow(metric.as_ref(), &texts, &offsets, &weights);
                let got = found(metric.as_ref(), &texts, &offsets, &weights, threads);
                prop_assert_eq!(expected, got, "{} {:?}", name, texts);
            }
        }
    }

    #[test]
    fn a_long_list_is_divided_and_many_short_ones_are_not() {
        assert_eq!(vec![(0, 0..3), (1, 3..3 + 150), (1, 153..303)], pieces(&[0, 3, 303]));
        let many: Vec<i64> = (0..=100).map(|i| 300 * i).collect();
        assert_eq!(100, pieces(&many).len());
        let texts: Vec<String> = (0..260).map(|i| format!("{} the cat sat on the mat {}", i % 9, i % 70)).collect();
        let weights = vec![1.0 / 260.0; 260];
        for name in ["chrf", "ter"] {
            let metric = made(name);
            let expected = slow(metric.as_ref(), &texts[..40], &[0, 40], &weights[..40]);
            assert_eq!(expected, found(metric.as_ref(), &texts[..40], &[0, 40], &weights[..40], 2));
            let [one, three] = [1, 3].map(|threads| found(metric.as_ref(), &texts, &[0, 260], &weights, threads));
            assert_eq!(one, three);
        }
    }

    #[test]
    fn weights_are_checked_and_errors_name_the_sentence() {
        let hypothesis = |_: usize| "a";
        let lists = Lists { offsets: &[0, 1, 2], hypothesis: &hypothesis };
        let error = with_run(1, |run| expected_utilities(made("bleu").as_ref(), &lists, &[1.0], run));
        assert_eq!("weights of texts: expected 2, got 1", error.unwrap_err().to_string());
    }
}
