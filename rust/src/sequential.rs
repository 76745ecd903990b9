//! Betting on the mean of bounded values while they arrive (Waudby-Smith & Ramdas 2024, doi:10.1093/jrsssb/qkad009).

use crate::Result;
use crate::memory::{reserved, zeros};
use crate::pool::{Blocks, Run, Stop, try_run};

/// Means that are worked on together, one per lane of vector instructions.
const LANES: usize = 8;
/// Values between two normalizations of the wealth. A bet multiplies it by ½ at least and by 2√S + 1 at most.
const STEPS: usize = 32;
/// Bets are at most this share of what keeps the wealth positive whatever comes.
const LARGEST_BET: f64 = 0.5;

/// The log wealth at each look of bets against each mean, or the `largest` one up to it: `means` × `looks`.
///
/// Values and means are in [−1, 1]; looks are numbers of values, at least 1 and increasing. Half of the wealth bets that the
/// mean is larger, half that it is smaller. The bet on the next value is λ = Σy/(1 + Σy²) over y = x − m of the values before
/// it, within [0, ½/(1 ± m)], so that no value takes more than half of the wealth.
///
/// Cost: a division and some ten multiplications for each value and mean.
pub fn betting_wealth(
    values: &[f64],
    means: &[f64],
    looks: &[usize],
    largest: bool,
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    let mut found = zeros(&[means.len(), looks.len()])?;
    let blocks = Blocks { items: means.len(), size: LANES, cost: 8 * values.len() as u64, lead: 0 };
    let work = |(): &mut (), range: std::ops::Range<usize>, stop: &Stop<'_>| {
        let mut own = [0.0; LANES];
        own[..range.len()].copy_from_slice(&means[range]);
        let mut bets = Bets::against(own);
        let mut wealth: Vec<[f64; LANES]> = reserved(looks.len())?;
        let mut before = 0;
        for &look in looks {
            for piece in values[before..look].chunks(STEPS) {
                stop.check()?;
                bets.take(piece);
            }
            wealth.push(if largest { bets.largest } else { bets.now() });
            before = look;
        }
        Ok(wealth)
    };
    try_run(
        blocks,
        run,
        || (),
        work,
        |range, wealth, _| {
            for (lane, mean) in range.enumerate() {
                for (to, from) in found[mean * looks.len()..].iter_mut().zip(&wealth) {
                    *to = from[lane];
                }
            }
            Ok(())
        },
    )?;
    Ok(found)
}

/// Bets against several means, and what they won.
struct Bets {
    means: [f64; LANES],
    /// The largest bets on larger and on smaller values.
    most: [[f64; LANES]; 2],
    /// The number, the sum and the sum of squares of the values so far.
    n: f64,
    sum: f64,
    squares: f64,
    /// The wealth of both sides, each divided by 2 to the power of its exponent.
    wealth: [[f64; LANES]; 2],
    exponents: [[i32; LANES]; 2],
    /// The largest log wealth of both sides together.
    largest: [f64; LANES],
}

impl Bets {
    fn against(means: [f64; LANES]) -> Self {
        Self {
            means,
            most: [means.map(|m| LARGEST_BET / (1.0 + m)), means.map(|m| LARGEST_BET / (1.0 - m))],
            n: 0.0,
            sum: 0.0,
            squares: 0.0,
            wealth: [[0.5; LANES]; 2],
            exponents: [[0; LANES]; 2],
            largest: [f64::NEG_INFINITY; LANES],
        }
    }

    /// Bets on some more values: at most [`STEPS`].
    fn take(&mut self, values: &[f64]) {
        // Powers of two below the smallest number are 0: that side then adds nothing to the wealth of both.
        let common: [i32; LANES] = std::array::from_fn(|i| self.exponents[0][i].max(self.exponents[1][i]));
        let scales = self.exponents.map(|own| std::array::from_fn(|i| power_of_two(own[i] - common[i])));
        let mut best = [0.0; LANES];
        for &x in values {
            self.step(x, &scales, &mut best);
        }
        for i in 0..LANES {
            self.largest[i] = self.largest[i].max(best[i].ln() + f64::from(common[i]) * std::f64::consts::LN_2);
            for side in 0..2 {
                let exponent = self.wealth[side][i].log2().floor() as i32;
                self.wealth[side][i] *= power_of_two(-exponent);
                self.exponents[side][i] += exponent;
            }
        }
    }

    /// The log wealth of both sides together.
    fn now(&self) -> [f64; LANES] {
        std::array::from_fn(|i| {
            let common = self.exponents[0][i].max(self.exponents[1][i]);
            let sides: [f64; 2] =
                std::array::from_fn(|side| self.wealth[side][i] * power_of_two(self.exponents[side][i] - common));
            (sides[0] + sides[1]).ln() + f64::from(common) * std::f64::consts::LN_2
        })
    }

    #[inline(always)]
    fn step(&mut self, x: f64, scales: &[[f64; LANES]; 2], best: &mut [f64; LANES]) {
        for i in 0..LANES {
            let m = self.means[i];
            let bet = (self.sum - self.n * m) / (1.0 + self.squares - 2.0 * m * self.sum + self.n * m * m);
            let won = x - m;
            self.wealth[0][i] *= 1.0 + bet.max(0.0).min(self.most[0][i]) * won;
            self.wealth[1][i] *= 1.0 - (-bet).max(0.0).min(self.most[1][i]) * won;
            best[i] = best[i].max(self.wealth[0][i] * scales[0][i] + self.wealth[1][i] * scales[1][i]);
        }
        self.n += 1.0;
        self.sum += x;
        self.squares += x * x;
    }
}

fn power_of_two(exponent: i32) -> f64 {
    f64::powi(2.0, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::with_run;
    use proptest::prelude::*;

    fn wealth(values: &[f64], means: &[f64], looks: &[usize], largest: bool) -> Vec<f64> {
        with_run(2, |run| betting_wealth(values, means, looks, largest, run)).unwrap()
    }

    /// The definition, one value after the other: the log wealth after all, and the largest one.
    fn slow(values: &[f64], m: f64) -> [f64; 2] {
        let (mut sides, mut now, mut largest) = ([0.5_f64.ln(); 2], 0.0, f64::NEG_INFINITY);
        let (mut sum, mut squares) = (0.0, 0.0);
        for &x in values {
            let bet: f64 = sum / (1.0 + squares);
            sides[0] += (1.0 + bet.clamp(0.0, 0.5 / (1.0 + m)) * (x - m)).ln();
            sides[1] += (1.0 - (-bet).clamp(0.0, 0.5 / (1.0 - m)) * (x - m)).ln();
            let most = sides[0].max(sides[1]);
            now = most + sides.map(|side| (side - most).exp()).iter().sum::<f64>().ln();
            largest = f64::max(largest, now);
            (sum, squares) = (sum + (x - m), squares + (x - m).powi(2));
        }
        [now, largest]
    }

    proptest! {
        #![proptest_config(crate::testing::cases(24))]
        #[test]
        fn equals_the_definition(
            values in prop::collection::vec(prop_oneof![-1.0..=1.0, Just(1.0), Just(-1.0), Just(0.0)], 1..300),
            means in prop::collection::vec(prop_oneof![-1.0..=1.0, Just(1.0), Just(-1.0), Just(0.0)], 1..20),
            look in 1_usize..300,
            largest: bool,
        ) {
            let looks = [look.min(values.len()), values.len()];
            let looks = if looks[0] == looks[1] { &looks[1..] } else { &looks[..] };
            for (mean, found) in means.iter().zip(wealth(&values, &means, looks, largest).chunks(looks.len())) {
                for (&look, found) in looks.iter().zip(found) {
                    let expected = slow(&values[..look], *mean)[usize::from(largest)];
                    prop_assert!((expected - found).abs() <= 1e-9 * expected.abs().max(1.0), "{} {}", expected, found);
                }
            }
        }
    }

    #[test]
    fn a_side_that_has_lost_nearly_all_can_still_win() {
        let values: Vec<f64> = [vec![1.0; 3000], vec![-1.0; 9000]].concat();
        for (at, expected) in slow(&values, 0.1).into_iter().enumerate() {
            let found = wealth(&values, &[0.1], &[12_000], at == 1)[0];
            assert!((found - expected).abs() < 1e-6 * expected.abs(), "{found} {expected}");
        }
    }
}
