//! Expected sentence BLEU (Chen & Cherry 2014, W14-3346, Section 3.2).
//!
//! The objective is J(w) = λ‖w‖² − Σ_i v_i Σ_k p_ik b_ik. p_i is the softmax of the model scores of sentence i's
//! candidates, b_ik their sentence scores, and v_i the weight of the sentence, the length of its reference. Its derivative
//! is 2λw − Σ_i v_i Σ_k p_ik (b_ik − Σ_l p_il b_il) f_ik.

use super::candidates::{Candidates, check_numbers, check_option, each_seed, shuffle};
use crate::error::{Result, check_length};
use crate::math::exp_of_negative;
use crate::memory::{reserved, zeros};
use crate::pool::{self, Blocks, Run, Stop};

/// Candidates with their sentence scores and the weights of sentences.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    candidates: Candidates<'a>,
    scores: &'a [f64],
    lengths: &'a [f64],
    penalty: f64,
}

/// The settings of stochastic gradient descent.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How often all sentences are visited.
    pub epochs: usize,
    /// η₀: the factor of step t, from 0, is η₀ / (1 + t/N) with N sentences.
    pub rate: f64,
}

/// Sentences per block of a sum, whose order of additions must not depend on threads.
const SENTENCES_PER_BLOCK: usize = 64;

impl<'a> Problem<'a> {
    /// `scores` are the sentence scores of the candidates, higher is better, `lengths` the weights of the sentences, and
    /// `penalty` is λ.
    pub fn new(
        candidates: Candidates<'a>,
        scores: &'a [f64],
        lengths: &'a [f64],
        penalty: f64,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        check_numbers("scores", scores, candidates.entries(), stop)?;
        check_length("lengths of references", candidates.sentences(), lengths.len())?;
        let valid = |value: f64| value >= 0.0 && value.is_finite();
        if let Some(&wrong) = lengths.iter().find(|&&length| !valid(length)) {
            check_option("the length of a reference", "at least 0", wrong, false)?;
        }
        check_option("the penalty", "at least 0", penalty, valid(penalty))?;
        Ok(Problem { candidates, scores, lengths, penalty })
    }

    /// The expected score of a sentence under the weights times `scale`, and in `out` p_k (b_k − expected score).
    fn expect(&self, sentence: usize, (weights, scale): (&[f64], f64), out: &mut Vec<f64>) -> f64 {
        self.candidates.scores(sentence, weights, out);
        let scores = &self.scores[self.candidates.list(sentence)];
        let largest = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut weighted) = (0.0, 0.0);
        for (value, score) in out.iter_mut().zip(scores) {
            *value = exp_of_negative(scale * (*value - largest));
            sum += *value;
            weighted += *value * score;
        }
        let expected = weighted / sum;
        out.iter_mut().zip(scores).for_each(|(value, score)| *value *= (score - expected) / sum);
        expected
    }

    /// Adds a multiple of the derivative of a sentence's expected score, from the values of [`Self::expect`].
    fn add(&self, sentence: usize, factor: f64, values: &[f64], sums: &mut [f64]) {
        for (candidate, value) in self.candidates.list(sentence).zip(values) {
            // Most probabilities are 0 if the weights are large.
            if *value != 0.0 {
                self.candidates.add(candidate, factor * value, sums);
            }
        }
    }

    /// The objective and its derivative.
    pub fn objective(&self, weights: &[f64], run: &mut Run<'_>) -> Result<(f64, Vec<f64>)> {
        let width = self.candidates.width();
        run.prepare(|stop| check_numbers("weights", weights, width, stop))?;
        let mut gradient: Vec<f64> = zeros(&[weights.len()])?;
        let mut gained = 0.0;
        let cost = 3 * self.candidates.cost() / self.candidates.sentences() as u64;
        pool::try_run(
            Blocks { items: self.candidates.sentences(), size: SENTENCES_PER_BLOCK, cost, lead: 0 },
            run,
            Vec::new,
            |values, sentences, stop| {
                let (mut slopes, mut gained): (Vec<f64>, _) = (zeros(&[weights.len()])?, 0.0);
                for sentence in sentences {
                    stop.charge(3 * self.candidates.cost_of_list(sentence))?;
                    gained += self.lengths[sentence] * self.expect(sentence, (weights, 1.0), values);
                    self.add(sentence, self.lengths[sentence], values, &mut slopes);
                }
                Ok((gained, slopes))
            },
            |_, (more, slopes), _| {
                gained += more;
                gradient.iter_mut().zip(&slopes).for_each(|(sum, slope)| *sum -= slope);
                Ok(())
            },
        )?;
        let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
        gradient.iter_mut().zip(weights).for_each(|(slope, weight)| *slope += 2.0 * self.penalty * weight);
        Ok((self.penalty * squares - gained, gradient))
    }

    /// The objective without its derivative.
    fn value(&self, weights: &[f64], values: &mut Vec<f64>, stop: &Stop<'_>) -> Result<f64> {
        let mut gained = 0.0;
        for sentence in 0..self.candidates.sentences() {
            stop.charge(2 * self.candidates.cost_of_list(sentence))?;
            gained += self.lengths[sentence] * self.expect(sentence, (weights, 1.0), values);
        }
        let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
        Ok(self.penalty * squares - gained)
    }

    /// One run: the weights, and the objective at the start and after each epoch.
    fn replicate(
        &self,
        settings: Settings,
        initial: &[f64],
        seed: u64,
        stop: &Stop<'_>,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let sentences = self.candidates.sentences();
        let (n, mut step) = (sentences as f64, 0.0);
        let mut weights = Scaled { vector: initial.to_vec(), factor: 1.0 };
        let (mut order, mut values) = (Vec::new(), Vec::new());
        let mut objective = self.value(initial, &mut values, stop)?;
        let (mut best, mut trace) = (initial.to_vec(), reserved(settings.epochs.saturating_add(1))?);
        trace.push(objective);
        for epoch in 0..settings.epochs {
            shuffle(seed, epoch as u64, &mut order, sentences);
            for &sentence in &order {
                let sentence = sentence as usize;
                stop.charge(3 * self.candidates.cost_of_list(sentence))?;
                let rate = settings.rate / (1.0 + step / n);
                step += 1.0;
                self.expect(sentence, (&weights.vector, weights.factor), &mut values);
                weights.shrink(1.0 - rate * 2.0 * self.penalty / n);
                self.add(sentence, rate * self.lengths[sentence] / weights.factor, &values, &mut weights.vector);
            }
            weights.unscale();
            let reached = self.value(&weights.vector, &mut values, stop)?;
            trace.push(reached);
            if reached < objective {
                objective = reached;
                best.copy_from_slice(&weights.vector);
            }
        }
        Ok((best, trace))
    }
}

/// Weights as a vector times a factor, so that a step that shrinks all of them takes no time.
struct Scaled {
    vector: Vec<f64>,
    factor: f64,
}

impl Scaled {
    fn shrink(&mut self, by: f64) {
        self.factor *= by;
        if self.factor < 1e-6 {
            self.unscale();
        }
    }

    fn unscale(&mut self) {
        let factor = std::mem::replace(&mut self.factor, 1.0);
        self.vector.iter_mut().for_each(|value| *value *= factor);
    }
}

/// Stochastic gradient descent once for each seed, which decides the order of the sentences. Returns the weights of all
/// runs and, for each run, the objective at the start and after each epoch. A run's weights are those with the smallest
/// objective of these, the first ones if there are several.
pub fn descend(
    problem: &Problem<'_>,
    settings: Settings,
    initial: &[f64],
    seeds: &[u64],
    run: &mut Run<'_>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    check_option("epochs", "at least 1", settings.epochs, settings.epochs > 0)?;
    check_option("the rate", "above 0", settings.rate, settings.rate > 0.0 && settings.rate.is_finite())?;
    // Otherwise the first step of the penalty would change the sign of the weights.
    let largest = problem.candidates.sentences() as f64 / (2.0 * problem.penalty);
    let expected = format_args!("below {largest}, the number of sentences divided by twice the l2 penalty");
    check_option("the rate", expected, settings.rate, settings.rate < largest)?;
    let width = problem.candidates.width();
    run.prepare(|stop| check_numbers("weights", initial, width, stop))?;
    let cost = (settings.epochs as u64).saturating_mul(problem.candidates.cost() * 6);
    each_seed(seeds, width, cost, run, |seed, stop| problem.replicate(settings, initial, seed, stop))
}
