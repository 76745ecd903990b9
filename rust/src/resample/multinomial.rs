//! How often a draw of S out of S units takes each unit, three units at a time.
//!
//! Drawing S indices costs 32 random bits each. Here a draw costs 5⅓ bits per unit, and its weights come in small
//! codes that a table of partial sums turns into one addition per three units:
//!
//! 1. Give every unit an independent Poisson(λ) weight, λ = 1 − 2/√S. Sixteen random bits decide three units at once:
//!    of the 65,536 values ⌊65,536·P⌋ stand for each triple of weights up to 5 (its *code*), and the few values left
//!    over (0.2 %) ask for another word, which picks from what is left of the law, all triples of weights up to 17.
//! 2. Given their sum T, independent Poisson weights are those of T uniform draws. Make it S draws: add S − T uniform
//!    ones, or (one time in fifty) take T − S of the T draws away, each as likely as any other.
//!
//! The result is multinomial(S; 1/S, …, 1/S), exactly: step 2 does not depend on λ, and probabilities enter step 1 with
//! the 53 bits of a float, which is finer than what a weight of 18 or more would change (below 2^-52). The constants
//! are made by additions, multiplications, divisions and a square root, so they are the same on every machine.

use crate::stream::{Indices, Purpose, Stream};

/// Units that share a code.
pub(super) const TRIPLE: usize = 3;

/// The largest weight that a code holds; what is above is added apart.
pub(super) const LARGEST_CODED: u8 = 5;

/// How many codes there are: 6³.
pub(super) const CODES: usize = 216;

/// The largest weight at all.
const LARGEST: u8 = 17;

/// Triples that a block of the stream decides.
pub(super) const TRIPLES_PER_BLOCK: usize = 16;

/// Marks a value of sixteen bits that does not decide.
pub(super) const UNDECIDED: u8 = u8::MAX;

/// Values of sixteen bits.
const VALUES: usize = 1 << 16;

/// What depends on S alone.
pub(super) struct Law {
    units: usize,
    /// The code that each value of sixteen bits stands for, or [`UNDECIDED`].
    codes: Box<[u8; VALUES]>,
    /// The triples that an undecided value may turn out to be, with the sum of their probabilities so far.
    rest: Vec<(f64, [u8; TRIPLE])>,
}

/// A unit that a draw takes more often than its code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Excess {
    pub unit: usize,
    pub times: u8,
}

impl Law {
    pub fn new(units: usize) -> Self {
        let poisson = poisson((1.0 - 2.0 / (units as f64).sqrt()).max(0.0));
        let mut codes = Box::new([UNDECIDED; VALUES]);
        let mut rest = Vec::new();
        let (mut used, mut left) = (0, 0.0);
        for triple in triples() {
            let mut probability: f64 = triple.iter().map(|&weight| poisson[usize::from(weight)]).product();
            if let Some(code) = code(triple) {
                let values = (probability * VALUES as f64) as usize;
                codes[used..used + values].fill(code);
                used += values;
                probability -= values as f64 / VALUES as f64;
            }
            left += probability;
            rest.push((left, triple));
        }
        Law { units, codes, rest }
    }

    /// Groups of three units.
    pub fn triples(&self) -> usize {
        self.units.div_ceil(TRIPLE)
    }

    /// The codes of sixteen consecutive triples, given a block of their stream; some may be [`UNDECIDED`].
    #[inline(always)]
    pub fn decide(&self, words: [u64; 4]) -> [u8; TRIPLES_PER_BLOCK] {
        std::array::from_fn(|t| self.codes[usize::from((words[t / 4] >> (t % 4 * 16)) as u16)])
    }

    /// The code of a triple that sixteen bits did not decide, and what exceeds it.
    #[cold]
    pub fn decide_rest(&self, seed: u64, replicate: u64, triple: usize, mut excess: impl FnMut(Excess)) -> u8 {
        let word = Stream::new(seed, Purpose::DrawResidual, replicate).word(triple as u64);
        let left = self.rest.last().map_or(0.0, |&(left, _)| left);
        let at = (word >> 11) as f64 / (1u64 << 53) as f64 * left;
        let found = self.rest.partition_point(|&(so_far, _)| so_far <= at).min(self.rest.len() - 1);
        let weights = self.rest[found].1;
        for (unit, weight) in (triple * TRIPLE..self.units).zip(weights) {
            if weight > LARGEST_CODED {
                excess(Excess { unit, times: weight - LARGEST_CODED });
            }
        }
        code(weights.map(|weight| weight.min(LARGEST_CODED))).expect("no weight exceeds what a code holds")
    }

    /// The weight of one unit after step 1: what the kernel does, for one unit at a time.
    pub fn weight(&self, seed: u64, replicate: u64, unit: usize) -> u8 {
        let triple = unit / TRIPLE;
        let block = Stream::new(seed, Purpose::Draw, replicate).block((triple / TRIPLES_PER_BLOCK) as u64);
        let (mut code, mut more) = (self.decide(block)[triple % TRIPLES_PER_BLOCK], 0);
        if code == UNDECIDED {
            let is_this = |excess: Excess| more += if excess.unit == unit { excess.times } else { 0 };
            code = self.decide_rest(seed, replicate, triple, is_this);
        }
        weights(code)[unit % TRIPLE] + more
    }

    /// Both steps: how often a draw takes each unit.
    pub fn draw(&self, seed: u64, replicate: u64) -> Vec<u32> {
        let mut weights: Vec<u32> = (0..self.units).map(|unit| self.weight(seed, replicate, unit).into()).collect();
        let (more, fewer) = self.settle(seed, replicate, weights.iter().sum::<u32>() as usize);
        more.iter().for_each(|&unit| weights[unit as usize] += 1);
        fewer.iter().for_each(|&unit| weights[unit as usize] -= 1);
        weights
    }

    /// Step 2: the units to draw once more, or to draw once less, so that `total` draws become S.
    pub fn settle(&self, seed: u64, replicate: u64, total: usize) -> (Vec<u32>, Vec<u32>) {
        let indices = |purpose, bound| Stream::new(seed, purpose, replicate).indices(bound);
        let mut candidates = indices(Purpose::DrawRest, self.units as u32);
        let mut more = vec![0; self.units.saturating_sub(total)];
        candidates.fill(&mut more);
        let mut fewer = Vec::new();
        let mut levels = indices(Purpose::DrawRemoval, u32::from(LARGEST));
        while fewer.len() + self.units < total {
            // A unit is taken with a probability that is proportional to its weight by now.
            let [unit, level] = [one(&mut candidates), one(&mut levels)];
            let taken = fewer.iter().filter(|&&u| u == unit).count() as u32;
            if level + taken < u32::from(self.weight(seed, replicate, unit as usize)) {
                fewer.push(unit);
            }
        }
        (more, fewer)
    }
}

fn one(indices: &mut Indices) -> u32 {
    let mut index = [0];
    indices.fill(&mut index);
    index[0]
}

/// All triples of weights, in lexicographic order.
fn triples() -> impl Iterator<Item = [u8; TRIPLE]> {
    let base = u32::from(LARGEST) + 1;
    (0..base.pow(3)).map(move |i| [i / base / base, i / base % base, i % base].map(|weight| weight as u8))
}

/// The code of a triple, if it has one.
fn code(weights: [u8; TRIPLE]) -> Option<u8> {
    let fits = weights.iter().all(|&weight| weight <= LARGEST_CODED);
    fits.then(|| weights.iter().fold(0, |code, weight| code * (LARGEST_CODED + 1) + weight))
}

/// The weights that a code stands for.
pub(super) fn weights(code: u8) -> [u8; TRIPLE] {
    let base = LARGEST_CODED + 1;
    [code / base / base, code / base % base, code % base]
}

/// λ^k/k!, scaled to sum to 1.
fn poisson(lambda: f64) -> [f64; LARGEST as usize + 1] {
    let mut terms = [1.0; LARGEST as usize + 1];
    for k in 1..terms.len() {
        terms[k] = terms[k - 1] * lambda / k as f64;
    }
    let sum: f64 = terms.iter().sum();
    terms.map(|term| term / sum)
}

/// The weights of a draw: how often it takes each unit.
pub fn draw_weights(seed: u64, replicate: u64, units: u32) -> Vec<u32> {
    Law::new(units as usize).draw(seed, replicate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_weights_are_each_others_inverse() {
        let all: Vec<_> = triples().filter_map(code).collect();
        assert_eq!((0..CODES as u8).collect::<Vec<_>>(), all);
        assert!(all.iter().all(|&c| code(weights(c)) == Some(c)));
    }

    #[test]
    fn sixteen_bits_and_what_is_left_make_up_the_law() {
        for units in [1, 4, 5, 50, 3004, 1_000_000] {
            let law = Law::new(units);
            let lambda = (1.0 - 2.0 / (units as f64).sqrt()).max(0.0);
            let mut probabilities = [0.0; CODES];
            law.codes.iter().filter(|&&c| c != UNDECIDED).for_each(|&c| probabilities[usize::from(c)] += 1.0 / 65536.0);
            let undecided = law.codes.iter().filter(|&&c| c == UNDECIDED).count();
            assert!((law.rest.last().unwrap().0 - undecided as f64 / 65536.0).abs() < 1e-15);
            let mut before = 0.0;
            for &(so_far, triple) in &law.rest {
                assert!(so_far >= before);
                if let Some(c) = code(triple) {
                    probabilities[usize::from(c)] += so_far - before;
                }
                before = so_far;
            }
            for (c, got) in probabilities.into_iter().enumerate() {
                let factorial = |k: u8| (1..=k).map(f64::from).product::<f64>();
                let p = |k: u8| (-lambda).exp() * lambda.powi(k.into()) / factorial(k);
                let expected: f64 = weights(c as u8).into_iter().map(p).product();
                assert!((expected - got).abs() < 1e-15, "{units} {c} {expected} {got}");
            }
        }
    }

    #[test]
    fn weights_sum_to_the_number_of_units() {
        for units in [1, 2, 3, 4, 5, 9, 100, 3004] {
            let law = Law::new(units as usize);
            for replicate in 0..200 {
                assert_eq!(units, law.draw(3, replicate).iter().sum::<u32>());
            }
        }
    }

    #[test]
    fn some_draws_are_filled_up_and_some_are_thinned_out() {
        let law = Law::new(3004);
        let total = |replicate| (0..3004).map(|unit| usize::from(law.weight(1, replicate, unit))).sum::<usize>();
        let above = (0..1000).filter(|&replicate| total(replicate) > 3004).count();
        assert!((5..50).contains(&above), "{above} of 1000; a normal law at two deviations gives 23");
    }

    /// The probability of these weights under multinomial(S; 1/S …).
    fn multinomial(weights: &[u32]) -> f64 {
        let factorial = |k: u32| (1..=k).map(f64::from).product::<f64>();
        let units = weights.len() as f64;
        factorial(weights.len() as u32)
            / weights.iter().map(|&w| factorial(w)).product::<f64>()
            / units.powi(weights.len() as i32)
    }

    #[test]
    fn the_joint_law_of_a_few_units_is_multinomial() {
        // Six units: λ = .18, so most draws are filled up; λ = 1 would fill none. Every composition has its share.
        for (units, draws) in [(3u32, 60_000), (5, 120_000), (6, 200_000)] {
            let law = Law::new(units as usize);
            let mut counts = std::collections::HashMap::new();
            for replicate in 0..draws {
                *counts.entry(law.draw(11, replicate)).or_insert(0u32) += 1;
            }
            let mut chi2 = 0.0;
            let mut seen = 0.0;
            for (weights, &count) in &counts {
                let expected = multinomial(weights) * draws as f64;
                chi2 += (f64::from(count) - expected).powi(2) / expected;
                seen += expected;
            }
            chi2 += draws as f64 - seen; // compositions that did not come up
            let compositions: f64 =
                (0..u64::from(units)).fold(1.0, |c, i| c * (2 * u64::from(units) - 1 - i) as f64 / (i + 1) as f64);
            let freedom = compositions - 1.0;
            assert!((chi2 - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{units}: {chi2} of {freedom}");
        }
    }

    #[test]
    fn thinning_out_leaves_a_multinomial_law() {
        // Force it: from the weights of draws that came out above S (any sum T is as good), as if S were smaller.
        let law = Law { units: 4, ..Law::new(400) };
        let mut counts = std::collections::HashMap::new();
        let draws = 40_000u64;
        let mut kept = 0;
        for replicate in 0..draws {
            let mut weights: Vec<u32> = (0..4).map(|unit| law.weight(5, replicate, unit).into()).collect();
            let total = weights.iter().sum::<u32>() as usize;
            if total <= 4 {
                continue;
            }
            let (more, fewer) = law.settle(5, replicate, total);
            assert!(more.is_empty() && fewer.len() == total - 4);
            fewer.iter().for_each(|&unit| weights[unit as usize] -= 1);
            *counts.entry(weights).or_insert(0u32) += 1;
            kept += 1;
        }
        let chi2: f64 = counts
            .iter()
            .map(|(weights, &count)| {
                let expected = multinomial(weights) * f64::from(kept);
                (f64::from(count) - expected).powi(2) / expected
            })
            .sum();
        assert_eq!(35, counts.len());
        assert!((chi2 - 34.0).abs() < 5.0 * 68f64.sqrt(), "{chi2} of 34");
    }
}
