//! Ratings from pairwise votes with ties: the model of Davidson (1970, doi:10.1080/01621459.1970.10481082), which is that of
//! Bradley and Terry (1952, doi:10.2307/2334029) where there are no ties.
//!
//! A vote on a pair whose strengths differ by x has the weights e^(x/2) for the first, e^(−x/2) for the second, and ν for a
//! tie. The logarithm of the likelihood is concave, so Newton's method finds its maximum, if there is one.

use std::ops::Range;

use crate::error::{Error, Result, check_length};
use crate::math::{dot, exp_of_negative};
use crate::memory::{reserved, zeros};
use crate::pool::{Blocks, Run, Stop, try_run};
use crate::resample::draw_weights;

/// Outcomes of a vote: the first wins, tie, the second wins.
pub const OUTCOMES: usize = 3;
/// What a fit has beside the strengths: ln ν, and the advantage of the first.
pub const OTHERS: usize = 2;
/// A step smaller than this is the last one. Steps shrink quadratically, so the error that remains is far smaller.
const SMALL: f64 = 1e-6;
const MOST_STEPS: usize = 200;
const MOST_HALVINGS: usize = 40;
/// A parameter beyond this is taken to grow without end: no finite values have the largest likelihood.
const LARGEST: f64 = 300.0;
/// Draws that a thread fits at a time.
const DRAWS_PER_BLOCK: usize = 8;

/// A fit of votes.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// The strengths, centred to sum 0, ln ν (−∞ without ties) and the advantage of the first.
    Finite(Vec<f64>),
    /// The likelihood has no maximum at finite values, or none that is unique.
    Infinite,
    /// It has one, which Newton's method did not find, because numbers of votes differ too much in size.
    Failed,
}

/// Which systems are compared. Cell 3p + o has the votes on pair p with outcome o.
#[derive(Debug, Clone, Copy)]
pub struct Pairs<'a> {
    systems: usize,
    pairs: &'a [[u32; 2]],
    /// Whether the first of a pair has an advantage, which is fitted.
    position: bool,
}

impl<'a> Pairs<'a> {
    /// Pairs of different systems.
    pub fn new(systems: usize, pairs: &'a [[u32; 2]], position: bool) -> Result<Self> {
        if systems < 2 || pairs.is_empty() {
            return Err(Error::Empty { what: "pairs of systems".into() });
        }
        if let Some(&index) = pairs.iter().flatten().find(|&&system| system as usize >= systems) {
            return Err(Error::OutOfRange { what: "system".into(), index: index as usize, len: systems });
        }
        Ok(Self { systems, pairs, position })
    }

    pub fn cells(&self) -> usize {
        OUTCOMES * self.pairs.len()
    }

    /// The number of values of a fit.
    pub fn width(&self) -> usize {
        self.systems + OTHERS
    }

    /// The cells of each pair.
    fn each<'c>(&self, cells: &'c [f64]) -> impl Iterator<Item = (usize, usize, [f64; OUTCOMES])> + use<'a, 'c> {
        let (cells, _) = cells.as_chunks::<OUTCOMES>();
        self.pairs.iter().zip(cells).map(|(&[a, b], &cells)| (a as usize, b as usize, cells))
    }

    /// The group of each system, as the number of its first system. Two systems are in one group if a chain of votes leads
    /// from each to the other, where each link leads from a system to one that it beat or tied with.
    pub fn groups(&self, cells: &[f64]) -> Vec<usize> {
        let k = self.systems;
        let mut beats = vec![false; k * k];
        for (a, b, [first, tie, second]) in self.each(cells) {
            beats[a * k + b] |= first > 0.0 || tie > 0.0;
            beats[b * k + a] |= second > 0.0 || tie > 0.0;
        }
        let mut groups = vec![usize::MAX; k];
        for system in 0..k {
            if groups[system] == usize::MAX {
                let [down, up] =
                    [reached(system, k, |x, y| beats[x * k + y]), reached(system, k, |x, y| beats[y * k + x])];
                (0..k).filter(|&other| down[other] && up[other]).for_each(|other| groups[other] = system);
            }
        }
        groups
    }

    /// Whether the systems can be put on a line so that each win is over a system at least one step lower, and each tie
    /// between systems at most one step apart. Then the likelihood grows for ever as the steps and ν do.
    pub fn is_line(&self, cells: &[f64]) -> bool {
        if self.each(cells).any(|(_, _, [first, _, second])| first > 0.0 && second > 0.0) {
            return false;
        }
        let mut places = vec![0.0_f64; self.systems];
        for _ in 0..=self.systems {
            let mut moved = false;
            let mut lower = |place: f64, system: usize, places: &mut Vec<f64>| {
                moved |= place < places[system];
                places[system] = places[system].min(place);
            };
            for (a, b, [first, tie, second]) in self.each(cells) {
                for (x, y, wins) in [(a, b, first), (b, a, second)] {
                    if tie > 0.0 {
                        lower(places[x] + 1.0, y, &mut places);
                    }
                    if wins > 0.0 {
                        lower(places[x] - 1.0, y, &mut places);
                    }
                }
            }
            if !moved {
                return true;
            }
        }
        false
    }

    /// The fit of votes, from that of similar ones.
    pub fn fit(&self, cells: &[f64], start: &[f64]) -> Fit {
        let groups = self.groups(cells);
        if groups.iter().any(|&group| group != 0) {
            return Fit::Infinite;
        }
        let ties = self.each(cells).any(|(_, _, [_, tie, _])| tie > 0.0);
        if ties && self.is_line(cells) {
            return Fit::Infinite;
        }
        self.newton(cells, start, ties)
    }

    fn newton(&self, cells: &[f64], start: &[f64], ties: bool) -> Fit {
        // Without an advantage, a maximum has been shown to exist. With one, only a failure shows that there is none.
        let endless = if self.position { Fit::Infinite } else { Fit::Failed };
        let k = self.systems;
        let mut at = start.to_vec();
        if !ties {
            at[k] = f64::NEG_INFINITY;
        } else if !at[k].is_finite() {
            at[k] = 0.0;
        }
        if !self.position {
            at[k + 1] = 0.0;
        }
        // The first system has a strength of 0 here, and these parameters are free.
        let free: Vec<usize> = (1..k).chain(ties.then_some(k)).chain(self.position.then_some(k + 1)).collect();
        let reference = at[0];
        at[..k].iter_mut().for_each(|strength| *strength -= reference);
        let mut slopes = Slopes::new(self.width());
        let mut value = slopes.at(self, cells, &at);
        for _ in 0..MOST_STEPS {
            let Some(step) = slopes.step(&free) else { return endless };
            let size = step.iter().fold(0.0_f64, |size, each| size.max(each.abs()));
            let mut share = 1.0;
            let mut halvings = 0;
            loop {
                let mut next = at.clone();
                free.iter().zip(&step).for_each(|(&i, each)| next[i] += share * each);
                if size <= SMALL {
                    return Fit::Finite(centred(next, k));
                }
                let reached = slopes.at(self, cells, &next);
                if reached >= value - 1e-12 * value.abs() {
                    (at, value) = (next, reached);
                    break;
                }
                halvings += 1;
                if halvings > MOST_HALVINGS {
                    return Fit::Failed;
                }
                share /= 2.0;
            }
            if free.iter().any(|&i| at[i].abs() > LARGEST) {
                return endless;
            }
        }
        Fit::Failed
    }
}

/// The systems to which a way leads from one.
fn reached(from: usize, systems: usize, way: impl Fn(usize, usize) -> bool) -> Vec<bool> {
    let (mut seen, mut open) = (vec![false; systems], vec![from]);
    seen[from] = true;
    while let Some(x) = open.pop() {
        for (y, seen) in seen.iter_mut().enumerate() {
            if !*seen && way(x, y) {
                *seen = true;
                open.push(y);
            }
        }
    }
    seen
}

fn centred(mut fit: Vec<f64>, systems: usize) -> Vec<f64> {
    let mean = fit[..systems].iter().sum::<f64>() / systems as f64;
    fit[..systems].iter_mut().for_each(|strength| *strength -= mean);
    fit
}

/// The first derivatives of the log-likelihood, and the negative second ones, by all parameters.
struct Slopes {
    width: usize,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Slopes {
    fn new(width: usize) -> Self {
        Self { width, first: vec![0.0; width], second: vec![0.0; width * width] }
    }

    /// Computes them, and returns the log-likelihood.
    fn at(&mut self, pairs: &Pairs<'_>, cells: &[f64], parameters: &[f64]) -> f64 {
        let k = pairs.systems;
        self.first.fill(0.0);
        self.second.fill(0.0);
        let (log_nu, advantage) = (parameters[k], parameters[k + 1]);
        let nu = log_nu.exp();
        let mut value = 0.0;
        for (a, b, [first, tie, second]) in pairs.each(cells) {
            let n = first + tie + second;
            if n == 0.0 {
                continue;
            }
            let x = parameters[a] - parameters[b] + advantage;
            // Weights are divided by that of the stronger one.
            let half = exp_of_negative(-x.abs() / 2.0);
            let sum = 1.0 + half * half + nu * half;
            let (tied, lost) = (nu * half / sum, half * half / sum);
            let lead = (1.0 / sum - lost).copysign(x) / 2.0;
            value -= n * sum.ln() + if x >= 0.0 { second * x } else { -first * x };
            if tie > 0.0 {
                value += tie * (log_nu - x.abs() / 2.0);
            }
            let by_x = (first - second) / 2.0 - n * lead;
            let by_xx = n * ((1.0 - tied) / 4.0 - lead * lead);
            let by_x_nu = -n * lead * tied;
            self.add_pair([a, b, k + 1], by_x, by_xx);
            self.first[k] += tie - n * tied;
            self.second[k * self.width + k] += n * tied * (1.0 - tied);
            for (i, sign) in [(a, 1.0), (b, -1.0), (k + 1, 1.0)] {
                self.second[i * self.width + k] += sign * by_x_nu;
                self.second[k * self.width + i] += sign * by_x_nu;
            }
        }
        value
    }

    /// Adds the derivatives by x = a − b + advantage.
    #[inline]
    fn add_pair(&mut self, [a, b, advantage]: [usize; 3], by_x: f64, by_xx: f64) {
        let signs = [(a, 1.0), (b, -1.0), (advantage, 1.0)];
        for (i, sign) in signs {
            self.first[i] += sign * by_x;
            for (j, other) in signs {
                self.second[i * self.width + j] += sign * other * by_xx;
            }
        }
    }

    /// Newton's step of the free parameters, by Cholesky's method. None if these are not determined.
    fn step(&self, free: &[usize]) -> Option<Vec<f64>> {
        let n = free.len();
        let mut root = vec![0.0; n * n];
        let mut step = vec![0.0; n];
        for i in 0..n {
            let (above, row) = root.split_at_mut(i * n);
            for j in 0..i {
                let other = &above[j * n..][..=j];
                let rest = self.second[free[i] * self.width + free[j]] - dot(&row[..j], &other[..j]);
                row[j] = rest / other[j];
            }
            let own = self.second[free[i] * self.width + free[i]];
            let rest = own - dot(&row[..i], &row[..i]);
            if rest.is_nan() || rest <= 1e-13 * own {
                return None;
            }
            row[i] = rest.sqrt();
            step[i] = (self.first[free[i]] - dot(&row[..i], &step[..i])) / row[i];
        }
        for i in (0..n).rev() {
            step[i] /= root[i * n + i];
            let (before, own) = step.split_at_mut(i);
            before.iter_mut().zip(&root[i * n..]).for_each(|(each, factor)| *each -= factor * own[0]);
        }
        Some(step)
    }
}

/// The votes of each unit that is drawn: unit u has `counts[i]` votes of cell `cells[i]`, for i from `starts[u]` to
/// `starts[u + 1]` − 1.
#[derive(Debug, Clone, Copy)]
pub struct Votes<'a> {
    starts: &'a [u64],
    cells: &'a [u32],
    counts: &'a [u32],
}

impl<'a> Votes<'a> {
    /// Votes on these pairs.
    pub fn new(starts: &'a [u64], cells: &'a [u32], counts: &'a [u32], pairs: &Pairs<'_>) -> Result<Self> {
        check_length("counts of votes", cells.len(), counts.len())?;
        if starts.len() < 2 {
            return Err(Error::Empty { what: "units".into() });
        }
        let ordered = starts[0] == 0 && starts.windows(2).all(|pair| pair[0] <= pair[1]);
        if !ordered || starts[starts.len() - 1] != cells.len() as u64 {
            return Err(Error::invalid("starts", "increasing numbers from 0 to the number of cells", "others"));
        }
        if let Some(&index) = cells.iter().find(|&&cell| cell as usize >= pairs.cells()) {
            return Err(Error::OutOfRange { what: "cell".into(), index: index as usize, len: pairs.cells() });
        }
        Ok(Self { starts, cells, counts })
    }

    fn units(&self) -> usize {
        self.starts.len() - 1
    }

    /// Adds the votes of all units, each as often as its weight says.
    fn add(&self, weights: &[u32], sums: &mut [f64]) {
        for (&weight, range) in weights.iter().zip(self.starts.windows(2)) {
            if weight > 0 {
                let range = range[0] as usize..range[1] as usize;
                for (&cell, &count) in self.cells[range.clone()].iter().zip(&self.counts[range]) {
                    sums[cell as usize] += f64::from(weight) * f64::from(count);
                }
            }
        }
    }
}

/// Fits on draws of the units.
#[derive(Debug, Clone, PartialEq)]
pub struct Fits {
    /// The values of each draw, in the order draw, value; NaN where no fit was found.
    pub values: Vec<f64>,
    /// Whether the drawn votes alone have no finite ratings.
    pub separated: Vec<bool>,
}

/// Votes that are added to draws.
#[derive(Debug, Clone, Copy)]
pub struct Added<'a> {
    /// Those of each cell.
    pub cells: &'a [f64],
    /// Whether they are added to all draws, or only to those that have no finite ratings without them.
    pub always: bool,
}

/// Fits the draws with these numbers. `start` is the fit of all votes.
///
/// Cost: a random byte for each unit, an addition for each of its cells, and a few Newton steps; twice these if votes are
/// always added, because whether the drawn votes have finite ratings takes a fit of them alone.
pub fn drawn(
    pairs: &Pairs<'_>,
    votes: &Votes<'_>,
    start: &[f64],
    added: Added<'_>,
    (seed, replicates): (u64, Range<u64>),
    run: &mut Run<'_>,
) -> Result<Fits> {
    let (width, n) = (pairs.width(), (replicates.end - replicates.start) as usize);
    check_length("values to start from", width, start.len())?;
    check_length("added votes", pairs.cells(), added.cells.len())?;
    let mut fits = Fits { values: zeros(&[n, width])?, separated: reserved(n)? };
    let cost = (votes.units() + votes.cells.len() + 64 * pairs.cells()) as u64;
    let blocks = Blocks { items: n, size: DRAWS_PER_BLOCK, cost, lead: 0 };
    let work = |sums: &mut Vec<f64>, range: Range<usize>, stop: &Stop<'_>| {
        let mut found = Vec::with_capacity(range.len());
        for replicate in range {
            stop.check()?;
            let number = replicates.start + replicate as u64;
            let weights = draw_weights((seed, number), votes.units() as u32, &[], stop)?;
            sums.clear();
            sums.resize(pairs.cells(), 0.0);
            votes.add(&weights, sums);
            let mut fit = pairs.fit(sums, start);
            let separated = fit == Fit::Infinite;
            if separated || added.always {
                sums.iter_mut().zip(added.cells).for_each(|(sum, more)| *sum += more);
                fit = pairs.fit(sums, start);
            }
            found.push((fit, separated));
        }
        Ok(found)
    };
    try_run(blocks, run, Vec::new, work, |range, found, _| {
        for (replicate, (fit, separated)) in range.zip(found) {
            let to = &mut fits.values[replicate * width..][..width];
            match fit {
                Fit::Finite(fit) => to.copy_from_slice(&fit),
                Fit::Infinite | Fit::Failed => to.fill(f64::NAN),
            }
            fits.separated.push(separated);
        }
        Ok(())
    })?;
    Ok(fits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All votes of k systems: pairs of different systems and cells.
    fn votes(k: u32) -> impl Strategy<Value = (Vec<[u32; 2]>, Vec<f64>)> {
        let pairs: Vec<_> = (0..k).flat_map(|a| (0..k).filter(move |&b| a != b).map(move |b| [a, b])).collect();
        let cells =
            prop::collection::vec(prop_oneof![Just(0.0), (0_u32..9).prop_map(f64::from)], OUTCOMES * pairs.len());
        cells.prop_map(move |cells| (pairs.clone(), cells))
    }

    /// The log-likelihood by the definition.
    fn likelihood(pairs: &[[u32; 2]], cells: &[f64], fit: &[f64]) -> f64 {
        let k = fit.len() - OTHERS;
        let mut sum = 0.0;
        for (&[a, b], cells) in pairs.iter().zip(cells.chunks(OUTCOMES)) {
            let (one, other) = ((fit[a as usize] + fit[k + 1]).exp(), fit[b as usize].exp());
            let weights = [one, fit[k].exp() * (one * other).sqrt(), other];
            let all: f64 = weights.iter().sum();
            sum += cells.iter().zip(weights).filter(|(n, _)| **n > 0.0).map(|(n, w)| n * (w / all).ln()).sum::<f64>();
        }
        sum
    }

    /// A maximum by moving one parameter at a time by golden sections.
    fn slow(pairs: &[[u32; 2]], cells: &[f64], k: usize, free: &[usize]) -> Vec<f64> {
        let mut at = vec![0.0; k + OTHERS];
        if !free.contains(&k) {
            at[k] = f64::NEG_INFINITY;
        }
        for _ in 0..100 {
            for &i in free {
                let of = |value: f64| {
                    let mut moved = at.clone();
                    moved[i] = value;
                    likelihood(pairs, cells, &moved)
                };
                let (mut low, mut high) = (at[i] - 1.0, at[i] + 1.0);
                for _ in 0..40 {
                    let [left, right] = [high - 0.618_033_988_75 * (high - low), low + 0.618_033_988_75 * (high - low)];
                    if of(left) < of(right) { low = left } else { high = right }
                }
                at[i] = (low + high) / 2.0;
            }
        }
        centred(at, k)
    }

    proptest! {
        #![proptest_config(crate::testing::cases(4))]

        #[test]
        fn a_fit_has_the_largest_likelihood((names, cells) in votes(4), position: bool) {
            let pairs = Pairs::new(4, &names, position).unwrap();
            if let Fit::Finite(fit) = pairs.fit(&cells, &[0.0; 6]) {
                let mut free = vec![0, 1, 2, 3];
                if fit[4].is_finite() { free.push(4) }
                if position { free.push(5) }
                let expected = slow(&names, &cells, 4, &free);
                let gain = likelihood(&names, &cells, &expected) - likelihood(&names, &cells, &fit);
                prop_assert!((-1e-2..1e-9).contains(&gain), "{} {:?} {:?}", gain, fit, expected);
                prop_assert!(fit[..4].iter().sum::<f64>().abs() < 1e-9);
            }
        }
    }

    #[test]
    fn bad_input_is_an_error() {
        assert!(Pairs::new(1, &[[0, 0]], false).is_err() && Pairs::new(2, &[[0, 2]], false).is_err());
        let pairs = Pairs::new(2, &[[0, 1]], false).unwrap();
        assert!(Votes::new(&[0], &[], &[], &pairs).is_err() && Votes::new(&[0, 1], &[3], &[1], &pairs).is_err());
        assert!(Votes::new(&[0, 2], &[0], &[1], &pairs).is_err() && Votes::new(&[0, 1], &[0], &[], &pairs).is_err());
    }
}
