//! Pairwise ranking (PRO; Hopkins & May 2011, D11-1125): a classifier that learns which of two candidates is better.

use std::cmp::Ordering;

use super::candidates::{Candidates, check_numbers, check_option, each_seed};
use crate::error::{Error, Result};
use crate::math::dot;
use crate::memory::{copied, extend, push, reserved, zeros};
use crate::pool::{Run, Stop};
use crate::stream::{Purpose, Stream};

#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How many pairs are drawn per sentence; None for all pairs.
    pub samples: Option<usize>,
    /// The least difference of two scores.
    pub threshold: f64,
    /// How many pairs are kept per sentence: those with the largest differences, the first of equal ones. None for all.
    pub kept: Option<usize>,
    /// λ: half of it times the sum of squared weights is added to the loss.
    pub penalty: f64,
    /// The length of the gradient, as a share of its length at weights of 0, at which the weights are good enough.
    pub tolerance: f64,
    /// The most steps of Newton's method.
    pub iterations: usize,
}

/// How many numbers there are of a run, besides its weights: the pairs, the loss with its penalty, the length of its
/// gradient, and the steps of Newton's method.
pub const COLUMNS: usize = 4;

/// A pair of candidates: the better one, the other, and by how much the first is better.
#[derive(Debug, Clone, Copy)]
struct Pair {
    better: u32,
    worse: u32,
    difference: f64,
}

/// Pairs of candidates, by their places among the candidates that are used.
struct Pairs<'a> {
    candidates: &'a Candidates<'a>,
    used: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

/// The pairs of a sentence.
fn pairs_of(
    candidates: &Candidates<'_>,
    scores: &[f64],
    (settings, seed): (&Settings, u64),
    sentence: usize,
    stop: &Stop<'_>,
    out: &mut Vec<Pair>,
) -> Result<()> {
    let list = candidates.list(sentence);
    out.clear();
    let mut add = |a: usize, b: usize| -> Result<()> {
        stop.charge(8)?;
        let difference = scores[a] - scores[b];
        if difference == 0.0 || difference.abs() < settings.threshold {
            return Ok(());
        }
        let (better, worse) = if difference > 0.0 { (a, b) } else { (b, a) };
        push(out, Pair { better: better as u32, worse: worse as u32, difference: difference.abs() })
    };
    match settings.samples {
        Some(samples) => {
            let mut drawn = Stream::new(seed, Purpose::Pairs, sentence as u64).indices(list.len() as u32);
            let mut next = || list.start + drawn.draw() as usize;
            (0..samples).try_for_each(|_| add(next(), next()))?;
        }
        None => list.clone().try_for_each(|a| (a + 1..list.end).try_for_each(|b| add(a, b)))?,
    }
    if let Some(kept) = settings.kept
        && out.len() > kept
    {
        // Stable, so that the first of equal differences is kept.
        out.sort_by(|a, b| b.difference.partial_cmp(&a.difference).unwrap_or(Ordering::Equal));
        out.truncate(kept);
    }
    Ok(())
}

impl<'a> Pairs<'a> {
    /// The pairs of all sentences.
    fn new(
        candidates: &'a Candidates<'a>,
        scores: &[f64],
        settings: &Settings,
        seed: u64,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        let (mut of_sentence, mut pairs, mut used) = (Vec::new(), Vec::new(), Vec::new());
        let mut place = reserved(candidates.longest())?;
        for sentence in 0..candidates.sentences() {
            pairs_of(candidates, scores, (settings, seed), sentence, stop, &mut of_sentence)?;
            let list = candidates.list(sentence);
            place.clear();
            place.resize(list.len(), u32::MAX);
            let mut place_of = |candidate: u32| {
                let place = &mut place[candidate as usize - list.start];
                if *place == u32::MAX {
                    *place = used.len() as u32;
                    used.push(candidate);
                }
                *place
            };
            extend(&mut pairs, of_sentence.iter().map(|pair| (place_of(pair.better), place_of(pair.worse))))?;
        }
        if pairs.is_empty() {
            let what = match settings.threshold > 0.0 {
                true => format!("pairs of candidates whose scores differ by at least {}", settings.threshold),
                false => "pairs of candidates whose scores differ".into(),
            };
            return Err(Error::Empty { what });
        }
        Ok(Pairs { candidates, used, pairs })
    }

    /// For each pair: the difference of the model scores of its candidates. `scores` is a buffer.
    fn margins(&self, weights: &[f64], scores: &mut Vec<f64>, out: &mut Vec<f64>) {
        scores.clear();
        scores.extend(self.used.iter().map(|&candidate| self.candidates.score(candidate as usize, weights)));
        out.clear();
        out.extend(self.pairs.iter().map(|&(better, worse)| scores[better as usize] - scores[worse as usize]));
    }

    /// Adds the sum of factor times difference of features over all pairs.
    fn add(&self, factors: impl Iterator<Item = f64>, sums: &mut [f64]) -> Result<()> {
        let mut of_candidates: Vec<f64> = zeros(&[self.used.len()])?;
        for (&(better, worse), factor) in self.pairs.iter().zip(factors) {
            of_candidates[better as usize] += factor;
            of_candidates[worse as usize] -= factor;
        }
        for (&candidate, &factor) in self.used.iter().zip(&of_candidates) {
            self.candidates.add(candidate as usize, factor, sums);
        }
        Ok(())
    }

    /// The cost of [`Self::margins`] or [`Self::add`].
    fn cost(&self) -> usize {
        4 * self.pairs.len() + self.candidates.cost() as usize / self.candidates.entries() * self.used.len()
    }
}

fn add_multiple(factor: f64, values: &[f64], sums: &mut [f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

/// ln(1 + e^−m), without overflow.
fn loss_of(margin: f64) -> f64 {
    (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
}

/// 1 / (1 + e^m), the probability of the wrong class.
fn wrong(margin: f64) -> f64 {
    let small = (-margin.abs()).exp();
    if margin > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) }
}

/// The loss of a classifier of pairs: each pair is an example of both classes, in one order and in the other.
struct Classifier<'a> {
    pairs: Pairs<'a>,
    penalty: f64,
    // Buffers.
    scores: Vec<f64>,
    along: Vec<f64>,
}

impl Classifier<'_> {
    fn loss(&self, weights: &[f64], margins: &[f64]) -> f64 {
        0.5 * self.penalty * dot(weights, weights) + 2.0 * margins.iter().map(|&margin| loss_of(margin)).sum::<f64>()
    }

    fn gradient(&self, weights: &[f64], margins: &[f64], out: &mut [f64]) -> Result<()> {
        out.iter_mut().zip(weights).for_each(|(out, weight)| *out = self.penalty * weight);
        self.pairs.add(margins.iter().map(|&margin| -2.0 * wrong(margin)), out)
    }

    /// The product of the second derivatives and a direction; `curvatures` are those of the pairs.
    fn curve(&mut self, curvatures: &[f64], direction: &[f64], out: &mut [f64]) -> Result<()> {
        self.pairs.margins(direction, &mut self.scores, &mut self.along);
        out.iter_mut().zip(direction).for_each(|(out, value)| *out = self.penalty * value);
        self.pairs.add(curvatures.iter().zip(&self.along).map(|(curvature, along)| curvature * along), out)
    }

    /// An approximate Newton step by conjugate gradients (Nocedal & Wright 2006, Algorithm 7.1).
    fn step(&mut self, gradient: &[f64], margins: &[f64], stop: &Stop<'_>) -> Result<Vec<f64>> {
        let (width, length) = (gradient.len(), dot(gradient, gradient).sqrt());
        let goal = length * length.sqrt().min(0.1);
        let curvatures: Vec<f64> = margins.iter().map(|&m| 2.0 * wrong(m) * wrong(-m)).collect();
        let [mut step, mut curved, mut rest] = [zeros(&[width])?, zeros(&[width])?, zeros(&[width])?];
        add_multiple(-1.0, gradient, &mut rest);
        let mut direction = copied(&rest)?;
        let mut square = dot(&rest, &rest);
        for _ in 0..2 * width.min(500) {
            if square.sqrt() <= goal {
                break;
            }
            stop.charge(2 * self.pairs.cost())?;
            self.curve(&curvatures, &direction, &mut curved)?;
            let curvature = dot(&direction, &curved);
            // Only rounding can make it other than positive, if there is no penalty.
            if curvature <= 0.0 {
                break;
            }
            let far = square / curvature;
            add_multiple(far, &direction, &mut step);
            add_multiple(-far, &curved, &mut rest);
            let before = std::mem::replace(&mut square, dot(&rest, &rest));
            direction.iter_mut().zip(&rest).for_each(|(value, rest)| *value = rest + square / before * *value);
        }
        Ok(step)
    }

    /// Newton's method from weights of 0, with steps that are halved until the loss falls enough.
    fn fit(&mut self, settings: &Settings, stop: &Stop<'_>) -> Result<(Vec<f64>, [f64; COLUMNS])> {
        let width = self.pairs.candidates.width();
        let (mut weights, mut gradient) = (zeros(&[width])?, zeros(&[width])?);
        let (mut margins, mut moved) = (Vec::new(), Vec::new());
        self.pairs.margins(&weights, &mut self.scores, &mut margins);
        let mut loss = self.loss(&weights, &margins);
        self.gradient(&weights, &margins, &mut gradient)?;
        let goal = settings.tolerance * dot(&gradient, &gradient).sqrt();
        let mut iterations = 0;
        while iterations < settings.iterations && dot(&gradient, &gradient).sqrt() > goal {
            let step = self.step(&gradient, &margins, stop)?;
            let slope = dot(&gradient, &step);
            let mut size = 1.0;
            let found = loop {
                let mut there = copied(&weights)?;
                add_multiple(size, &step, &mut there);
                stop.charge(self.pairs.cost())?;
                self.pairs.margins(&there, &mut self.scores, &mut moved);
                let loss_there = self.loss(&there, &moved);
                if loss_there <= loss + 1e-4 * size * slope {
                    break Some((there, loss_there));
                }
                size *= 0.5;
                if size < 1e-10 {
                    break None;
                }
            };
            // Without a smaller loss the weights are as good as the arithmetic allows.
            let Some((there, loss_there)) = found else { break };
            (weights, loss) = (there, loss_there);
            std::mem::swap(&mut margins, &mut moved);
            self.gradient(&weights, &margins, &mut gradient)?;
            iterations += 1;
        }
        let slope = dot(&gradient, &gradient).sqrt();
        Ok((weights, [self.pairs.pairs.len() as f64, loss, slope, iterations as f64]))
    }
}

/// Pairwise ranking once for each seed, which decides the pairs. `scores` are those of the candidates, higher is better.
/// Returns the weights of all runs, and [`COLUMNS`] numbers of each.
pub fn run(
    candidates: &Candidates<'_>,
    scores: &[f64],
    settings: &Settings,
    seeds: &[u64],
    run: &mut Run<'_>,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let positive = |value: f64| value > 0.0 && value.is_finite();
    check_option("samples", "at least 1", 0, settings.samples != Some(0))?;
    check_option("kept", "at least 1", 0, settings.kept != Some(0))?;
    check_option("the threshold", "at least 0", settings.threshold, settings.threshold >= 0.0)?;
    check_option("the penalty", "above 0", settings.penalty, positive(settings.penalty))?;
    check_option("the tolerance", "above 0", settings.tolerance, positive(settings.tolerance))?;
    let entries = candidates.entries();
    run.prepare(|stop| check_numbers("scores", scores, entries, stop))?;
    let cost = candidates.cost().saturating_mul(100) + settings.samples.unwrap_or(0) as u64;
    each_seed(seeds, candidates.width(), cost, run, |seed, stop| {
        let pairs = Pairs::new(candidates, scores, settings, seed, stop)?;
        let mut classifier = Classifier { pairs, penalty: settings.penalty, scores: Vec::new(), along: Vec::new() };
        let (weights, fit) = classifier.fit(settings, stop)?;
        Ok((weights, fit.to_vec()))
    })
}
