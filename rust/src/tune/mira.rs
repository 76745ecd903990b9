//! Batch MIRA on lists of candidates (Cherry & Foster 2012, N12-1047, Section 3.2).

use std::sync::Arc;

use super::candidates::{Candidates, Counts, check_numbers, check_option, each_seed, largest_sum, shuffle};
use crate::error::Result;
use crate::math::exp_of_negative;
use crate::memory::{reserved, zeros};
use crate::metric::Formula;
use crate::pool::{Run, Stop};
use crate::simd::{Simd, dispatch};

#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How often all sentences are visited.
    pub epochs: usize,
    /// C, the largest step.
    pub step: f64,
    /// By which factor the background shrinks after each sentence.
    pub decay: f64,
    /// Whether the counts of the hope enter the background after a sentence, or those of the candidate that the model
    /// prefers.
    pub update_with_hope: bool,
    /// Shrink the model's part in the choice of the hope where it is more than five times as large as the gain.
    pub safe_hope: bool,
}

/// How often the model score may exceed the gain of the hope, unless it is made smaller.
const SAFE: f64 = 5.0;

/// Lists with the counts of a metric, and what a candidate gains.
pub struct Problem<'a> {
    candidates: Candidates<'a>,
    counts: Counts<'a>,
    /// Gains that do not change, for example sentence BLEU. Otherwise they are BLEU with a background.
    gains: Option<&'a [f64]>,
    /// The longest n-grams of BLEU; 0 if gains do not change.
    order: usize,
    /// The counts that BLEU needs, list by list, column by column: matches and n-grams of each order, reference length.
    columns: Vec<f64>,
    /// The dense features by columns.
    dense: Vec<f64>,
}

impl<'a> Problem<'a> {
    /// Candidates with their counts under a metric, and with fixed gains or, without them, BLEU with a background.
    pub fn new(
        candidates: Candidates<'a>,
        (formula, counts): (Arc<dyn Formula>, &'a [i64]),
        gains: Option<&'a [f64]>,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        let counts = Counts::new(counts, formula, candidates.offsets(), stop)?;
        let (mut order, mut columns) = (0, Vec::new());
        if let Some(gains) = gains {
            check_numbers("gains", gains, candidates.entries(), stop)?;
        } else {
            let name = counts.formula().name();
            check_option("the metric", "BLEU, unless candidates have gains", name, name == "BLEU")?;
            order = (counts.width() - 2) / 2;
            columns = columns_of(&candidates, &counts, order, stop)?;
        }
        let dense = candidates.columns(stop)?;
        Ok(Problem { candidates, counts, gains, order, columns, dense })
    }

    /// The corpus score of the candidates that weights choose.
    fn corpus_score(&self, weights: &[f64], scores: &mut Vec<f64>, stop: &Stop<'_>) -> Result<f64> {
        let (mut totals, simd) = (self.counts.zeros(), Simd::best());
        for sentence in 0..self.candidates.sentences() {
            stop.charge(self.candidates.cost_of_list(sentence))?;
            self.candidates.scores_by_columns(&self.dense, sentence, weights, scores);
            let best = self.candidates.list(sentence).start + largest_sum(simd, scores, 1.0, scores, 0.0);
            self.counts.add(best, &mut totals);
        }
        Ok(self.counts.formula().score(&totals))
    }

    /// One run: the weights, and the score after each epoch.
    fn replicate(
        &self,
        settings: Settings,
        initial: &[f64],
        seed: u64,
        stop: &Stop<'_>,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let mut learner = Learner::new(self, settings, initial)?;
        let (mut order, mut average, mut best) = (Vec::new(), initial.to_vec(), initial.to_vec());
        let (mut trace, mut best_score) = (reserved(settings.epochs)?, f64::NEG_INFINITY);
        let sign = if self.counts.formula().higher_is_better() { 1.0 } else { -1.0 };
        for epoch in 0..settings.epochs {
            shuffle(seed, epoch as u64, &mut order, self.candidates.sentences());
            for &sentence in &order {
                let cost = self.candidates.cost_of_list(sentence as usize);
                stop.charge(4 * cost)?;
                learner.visit(sentence as usize);
            }
            learner.average(&mut average);
            let score = self.corpus_score(&average, &mut learner.scores, stop)?;
            trace.push(score);
            if sign * score > best_score {
                best_score = sign * score;
                best.copy_from_slice(&average);
            }
        }
        Ok((best, trace))
    }
}

/// The columns of [`Problem`]: BLEU's rows have lengths in steps, then the matches, then the n-grams.
fn columns_of(candidates: &Candidates<'_>, counts: &Counts<'_>, order: usize, stop: &Stop<'_>) -> Result<Vec<f64>> {
    let mut rows = (0..candidates.entries()).map(|candidate| counts.row(candidate));
    let with_words = rows.find(|row| row[0] > 0 && row[2 + order] > 0);
    let steps = with_words.map_or(1, |row| (row[0] / row[2 + order]).max(1)) as f64;
    let mut out = reserved(candidates.entries().saturating_mul(width(order)))?;
    for sentence in 0..candidates.sentences() {
        let list = candidates.list(sentence);
        stop.charge(list.len() * width(order))?;
        for column in (2..2 + 2 * order).chain([1]) {
            let divisor = if column == 1 { steps } else { 1.0 };
            out.extend(list.clone().map(|candidate| counts.row(candidate)[column] as f64 / divisor));
        }
    }
    Ok(out)
}

/// The number of columns.
fn width(order: usize) -> usize {
    2 * order + 1
}

dispatch! {
    /// BLEU of each candidate together with the background, times the reference length. `columns` are those of the
    /// list.
    fn gains_of(order: usize, columns: &[f64], background: &[f64], out: &mut [f64]) {
        let n = out.len();
        let column = |i: usize| (&columns[i * n..][..n], background[i]);
        let ((words, more_words), (lengths, more_length)) = (column(order), column(2 * order));
        if order == 4 {
            let [a, b, c, d] = [0, 1, 2, 3].map(column);
            let [e, f, g, h] = [4, 5, 6, 7].map(column);
            for (k, out) in out.iter_mut().enumerate() {
                let matches = (a.0[k] + a.1) * (b.0[k] + b.1) * (c.0[k] + c.1) * (d.0[k] + d.1);
                let possible = (e.0[k] + e.1) * (f.0[k] + f.1) * (g.0[k] + g.1) * (h.0[k] + h.1);
                let root = (matches / possible).sqrt().sqrt();
                let length = lengths[k] + more_length;
                let penalty = exp_of_negative((1.0 - length / (words[k] + more_words)).min(0.0));
                *out = if possible > 0.0 { root * penalty * length } else { 0.0 };
            }
            return;
        }
        for (k, out) in out.iter_mut().enumerate() {
            let product =
                |first: usize| -> f64 { (first..first + order).map(|i| columns[i * n + k] + background[i]).product() };
            let (matches, possible) = (product(0), product(order));
            let root = (matches / possible).powf(1.0 / order as f64);
            let length = lengths[k] + more_length;
            let penalty = exp_of_negative((1.0 - length / (words[k] + more_words)).min(0.0));
            *out = if possible > 0.0 { root * penalty * length } else { 0.0 };
        }
    }
}

/// The candidates of a sentence that matter, by their places in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Choice {
    hope: usize,
    fear: usize,
    model: usize,
}

/// The first candidates with the largest sum and the smallest difference of gain and model score, and the largest model
/// score.
fn choose(simd: Simd, scores: &[f64], gains: &[f64], safe_hope: bool) -> Choice {
    let mut hope = largest_sum(simd, scores, 1.0, gains, 1.0);
    if safe_hope {
        let (score, gain) = (scores[hope].abs(), SAFE * gains[hope].abs());
        if score > 1e-8 && gain < score {
            hope = largest_sum(simd, scores, gain / score, gains, 1.0);
        }
    }
    let fear = largest_sum(simd, scores, 1.0, gains, -1.0);
    Choice { hope, fear, model: largest_sum(simd, scores, 1.0, gains, 0.0) }
}

/// A run of batch MIRA.
struct Learner<'a> {
    problem: &'a Problem<'a>,
    settings: Settings,
    weights: Vec<f64>,
    /// The average of the weights after all steps is `weights` − `behind` / steps.
    behind: Vec<f64>,
    steps: u64,
    background: Vec<f64>,
    // Buffers.
    scores: Vec<f64>,
    gains: Vec<f64>,
    difference: Vec<f64>,
}

impl<'a> Learner<'a> {
    fn new(problem: &'a Problem<'a>, settings: Settings, initial: &[f64]) -> Result<Self> {
        let features = initial.len();
        Ok(Learner {
            problem,
            settings,
            weights: initial.to_vec(),
            behind: zeros(&[features])?,
            steps: 0,
            background: vec![1.0; width(problem.order)],
            scores: reserved(problem.candidates.longest())?,
            gains: reserved(problem.candidates.longest())?,
            difference: zeros(&[features])?,
        })
    }

    fn visit(&mut self, sentence: usize) {
        let (simd, &Problem { ref candidates, order, ref columns, .. }) = (Simd::best(), self.problem);
        let list = candidates.list(sentence);
        candidates.scores_by_columns(&self.problem.dense, sentence, &self.weights, &mut self.scores);
        let of_list = || &columns[list.start * width(order)..list.end * width(order)];
        self.gains.clear();
        if let Some(gains) = self.problem.gains {
            self.gains.extend_from_slice(&gains[list.clone()]);
        } else {
            self.gains.resize(list.len(), 0.0);
            gains_of(simd, order, of_list(), &self.background, &mut self.gains);
        }
        let choice = choose(simd, &self.scores, &self.gains, self.settings.safe_hope);
        self.steps += 1;
        self.learn(list.start, choice);
        if self.problem.gains.is_none() {
            let chosen = if self.settings.update_with_hope { choice.hope } else { choice.model };
            let counts = of_list()[chosen..].iter().step_by(list.len());
            for (sum, count) in self.background.iter_mut().zip(counts) {
                *sum = self.settings.decay * *sum + count;
            }
        }
    }

    /// Moves the weights if the model does not prefer the hope to the fear by the difference of their gains.
    fn learn(&mut self, first: usize, Choice { hope, fear, .. }: Choice) {
        let gained = self.gains[hope] - self.gains[fear];
        let loss = gained - (self.scores[hope] - self.scores[fear]);
        if hope == fear || gained <= 0.0 || loss <= 0.0 {
            return;
        }
        let candidates = &self.problem.candidates;
        let square = square_of_difference(candidates, [first + hope, first + fear], &mut self.difference);
        if square > 0.0 {
            let step = self.settings.step.min(loss / square);
            let before = step * (self.steps - 1) as f64;
            candidates.add(first + hope, step, &mut self.weights);
            candidates.add(first + fear, -step, &mut self.weights);
            candidates.add(first + hope, before, &mut self.behind);
            candidates.add(first + fear, -before, &mut self.behind);
        }
    }

    /// The mean of the weights after each step.
    fn average(&self, out: &mut [f64]) {
        let steps = self.steps as f64;
        for ((out, weight), behind) in out.iter_mut().zip(&self.weights).zip(&self.behind) {
            *out = weight - behind / steps;
        }
    }
}

/// The squared length of the difference of two candidates' features. `buffer` holds zeros, before and after.
fn square_of_difference(candidates: &Candidates<'_>, [a, b]: [usize; 2], buffer: &mut [f64]) -> f64 {
    candidates.add(a, 1.0, buffer);
    candidates.add(b, -1.0, buffer);
    // Each feature counts once: it is set to 0 when it has been counted.
    let mut square = 0.0;
    for i in candidates.numbers(a).chain(candidates.numbers(b)) {
        let value = std::mem::take(&mut buffer[i]);
        square += value * value;
    }
    square
}

/// Batch MIRA once for each seed, which decides the order of the sentences. Returns the weights of all runs and, for
/// each run and epoch, the corpus score of the average of the weights until then. A run's weights are the average after
/// the epoch in which that score is best, the first one if there are several.
pub fn run(
    problem: &Problem<'_>,
    settings: Settings,
    initial: &[f64],
    seeds: &[u64],
    run: &mut Run<'_>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    check_option("epochs", "at least 1", settings.epochs, settings.epochs > 0)?;
    check_option("C", "above 0", settings.step, settings.step > 0.0 && settings.step.is_finite())?;
    check_option("the decay", "at least 0 and at most 1", settings.decay, (0.0..=1.0).contains(&settings.decay))?;
    let width = problem.candidates.width();
    run.prepare(|stop| check_numbers("weights", initial, width, stop))?;
    let cost = (settings.epochs as u64).saturating_mul(problem.candidates.cost() * 4);
    each_seed(seeds, width, cost, run, |seed, stop| problem.replicate(settings, initial, seed, stop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Purpose, Stream};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::cases(128))]
        #[test]
        fn gains_are_bleu_times_the_length(order in 1_usize..6, n in 1_usize..40, seed: u64, full: bool) {
            let mut values = Stream::new(seed, Purpose::Draw, 0).values().map(|value| (value % 9) as f64);
            let columns: Vec<f64> = values.by_ref().take(n * (2 * order + 1)).collect();
            let background: Vec<f64> = values.take(2 * order + 1).map(|value| if full { value + 1.0 } else { 0.0 }).collect();
            let slow = |k: usize| {
                let at = |i: usize| columns[i * n + k] + background[i];
                if (order..2 * order).any(|i| at(i) == 0.0) {
                    return 0.0;
                }
                let mean: f64 = (0..order).map(|i| (at(i) / at(order + i)).ln() / order as f64).sum();
                (mean + (1.0 - at(2 * order) / at(order)).min(0.0)).exp() * at(2 * order)
            };
            let expected: Vec<f64> = (0..n).map(slow).collect();
            let mut portable = vec![0.0; n];
            gains_of(Simd::Portable, order, &columns, &background, &mut portable);
            for (expected, got) in expected.iter().zip(&portable) {
                prop_assert!((expected - got).abs() <= 1e-12 * (1.0 + expected), "{} {}", expected, got);
            }
            for simd in Simd::available() {
                let mut out = vec![0.0; n];
                gains_of(simd, order, &columns, &background, &mut out);
                prop_assert_eq!(&portable, &out);
            }
        }
    }
}
