//! The mean of precomputed segment scores. It counts nothing itself, so it is not in the registry.

use super::Formula;
use crate::simd::Simd;

/// A mean. A row is `[score, 1]`, with the score in multiples of 1/`scale`.
pub struct Mean {
    name: String,
    scale: f64,
    higher_is_better: bool,
}

impl Mean {
    /// A mean of scores in multiples of 1/`scale`.
    pub fn new(name: String, scale: f64, higher_is_better: bool) -> Self {
        Mean { name, scale, higher_is_better }
    }
}

/// The resolution of numbers in multiples of 1/`scale`, which is a power of 2 or 10: `10^-3`.
pub(super) fn resolution(scale: f64) -> String {
    let (base, exponent) = if scale.log2().fract() == 0.0 { (2, scale.log2()) } else { (10, scale.log10()) };
    if scale == 1.0 { "1".into() } else { format!("{base}^-{exponent:.0}").replace("--", "") }
}

impl Formula for Mean {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> Vec<String> {
        ["score", "segments"].map(Into::into).into()
    }

    fn higher_is_better(&self) -> bool {
        self.higher_is_better
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        vec![("mean", "segments".into()), ("resolution", resolution(self.scale))]
    }

    fn score(&self, totals: &[i64]) -> f64 {
        if totals[1] == 0 { 0.0 } else { totals[0] as f64 / (self.scale * totals[1] as f64) }
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        super::ratio_gradient(1.0 / self.scale, totals, out);
    }

    fn gradients(&self, totals: &[i64], _: &[f64], out: &mut [f64]) {
        super::ratio_gradients(Simd::best(), 1.0 / self.scale, totals, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_powers_of_two_or_ten() {
        let units = |scale: f64| Mean::new(String::new(), scale, true).signature()[1].1.clone();
        let powers = [1.0, 1000.0, 1e15, 2.0_f64.powi(49), 0.125].map(units);
        assert_eq!(["1", "10^-3", "10^-15", "2^-49", "2^3"].map(String::from), powers);
    }

    #[test]
    fn sums_are_divided_by_the_scale_and_the_number_of_segments() {
        let mean = Mean::new("COMET".into(), 1000.0, true);
        assert_eq!((0.75, -2.0, 0.0), (mean.score(&[1500, 2]), mean.score(&[-2000, 1]), mean.score(&[0, 0])));
    }
}
