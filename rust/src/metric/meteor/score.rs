//! METEOR's formula.

use super::WIDTH;

/// The columns of a row after the four of each module.
const CHUNKS: usize = 20;
const HYPOTHESIS_MATCHES: usize = 21;
const REFERENCE_MATCHES: usize = 22;

/// The parameters of the formula.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters {
    /// The weight of precision in the mean of precision and recall.
    pub(super) alpha: f64,
    /// The exponent of the fragmentation.
    pub(super) beta: f64,
    /// The weight of the fragmentation.
    pub(super) gamma: f64,
    /// The weight of content words; that of function words is 1 − δ.
    pub(super) delta: f64,
    /// The weights of the four modules.
    pub(super) weights: [f64; 4],
}

/// The parts of a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Parts {
    pub(super) precision: f64,
    pub(super) recall: f64,
    /// (P·R)/(α·P + (1 − α)·R).
    pub(super) f: f64,
    /// Chunks per matched word.
    pub(super) fragmentation: f64,
    /// γ·frag^β.
    pub(super) penalty: f64,
}

/// A ratio that is 0 if it is undefined.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

impl Parameters {
    /// δ·content + (1 − δ)·function.
    fn weighted(&self, content: f64, function: f64) -> f64 {
        self.delta * content + (1.0 - self.delta) * function
    }

    /// Weighted matches and weighted length of the hypothesis (0) or the reference (1).
    fn side(&self, totals: &[i64], side: usize) -> [f64; 2] {
        let at = |column: usize| totals[column + side] as f64;
        let by_module = self.weights.iter().zip((4..).step_by(4));
        let matches = by_module.map(|(weight, from)| weight * self.weighted(at(from), at(from + 2))).sum();
        [matches, self.weighted(at(0) - at(2), at(2))]
    }

    pub(super) fn parts(&self, totals: &[i64]) -> Parts {
        let [precision, recall] = [0, 1].map(|side| {
            let [matches, length] = self.side(totals, side);
            ratio(matches, length)
        });
        // The tool's order of operations: rounding decides between references whose scores are equal on paper.
        let f = if precision > 0.0 && recall > 0.0 {
            1.0 / ((1.0 - self.alpha) / precision + self.alpha / recall)
        } else {
            0.0
        };
        let matched = totals[HYPOTHESIS_MATCHES] as f64 + totals[REFERENCE_MATCHES] as f64;
        let fragmentation = ratio(totals[CHUNKS] as f64, matched / 2.0);
        // No power of 0: with β = 0 it would be 1.
        let penalty = if fragmentation == 0.0 { 0.0 } else { self.gamma * fragmentation.powf(self.beta) };
        Parts { precision, recall, f, fragmentation, penalty }
    }

    /// The score from 0 to 1.
    pub(super) fn score(&self, totals: &[i64]) -> f64 {
        let Parts { f, penalty, .. } = self.parts(totals);
        f * (1.0 - penalty)
    }

    /// The derivative of [`Parameters::score`].
    ///
    /// ∂F/∂P = (1 − α)·(R/(αP + (1 − α)R))², ∂F/∂R = α·(P/(αP + (1 − α)R))²; the penalty p = γ·(2·chunks/matched)^β has
    /// ∂p/∂chunks = β·p/chunks and ∂p/∂matched = −β·p/matched.
    pub(super) fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        out[..WIDTH].fill(0.0);
        let Parts { precision, recall, f, penalty, .. } = self.parts(totals);
        let mean = self.alpha * precision + (1.0 - self.alpha) * recall;
        let by_ratio = [
            (1.0 - self.alpha) * ratio(recall, mean).powi(2) * (1.0 - penalty),
            self.alpha * ratio(precision, mean).powi(2) * (1.0 - penalty),
        ];
        for (side, by_ratio) in by_ratio.into_iter().enumerate() {
            let [matches, length] = self.side(totals, side);
            let by_match = ratio(by_ratio, length);
            for (weight, from) in self.weights.iter().zip((4..).step_by(4)) {
                out[from + side] = by_match * weight * self.delta;
                out[from + 2 + side] = by_match * weight * (1.0 - self.delta);
            }
            let by_length = -by_match * ratio(matches, length);
            out[side] = by_length * self.delta;
            out[2 + side] = by_length * (1.0 - 2.0 * self.delta);
        }
        let by_penalty = -f * self.beta * penalty;
        let matched = totals[HYPOTHESIS_MATCHES] as f64 + totals[REFERENCE_MATCHES] as f64;
        out[CHUNKS] = ratio(by_penalty, totals[CHUNKS] as f64);
        out[HYPOTHESIS_MATCHES] = -ratio(by_penalty, matched);
        out[REFERENCE_MATCHES] = out[HYPOTHESIS_MATCHES];
    }
}
