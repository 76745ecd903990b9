//! Accuracy over pairs with calibrated ties (Deutsch, Foster and Freitag 2023, doi:10.18653/v1/2023.emnlp-main.798), of two
//! metrics whose cells are swapped.
//!
//! Two scores are tied if they differ by at most ε, and ε maximizes the mean accuracy of the groups: of each replicate, since
//! the observed value is a maximum, too. If everything is tied, the pairs that people tie are right. As ε decreases, pairs
//! become untied in the order of their differences: a pair that people tie becomes wrong, and a concordant pair right. The
//! four possible differences of each pair of cells are sorted once; a replicate takes those that its swaps make, in order.

use std::ops::Range;

use super::Material;
use super::flips::Flips;
use super::form::Lane;
use crate::error::{Error, Result};
use crate::math::gcd;
use crate::memory::{reserved, zeros};
use crate::meta::{Unit, pairs_of};
use crate::pool::{Stop, sort};
use crate::resample::BATCH;
use crate::simd::{Simd, dispatch};

/// The most pairs of cells: their differences take 64 bytes each in every thread.
const MOST_PAIRS: u64 = 1 << 24;

/// The pairs of cells within groups, and what each adds to the mean accuracy.
pub(super) struct GroupPairs {
    pairs: Vec<Pair>,
    /// What the lanes are divided by.
    divisor: f64,
    /// An upper bound of all sums in the lanes, or None if weights are fractions.
    largest: Option<u64>,
}

#[derive(Clone, Copy)]
struct Pair {
    cells: [u32; 2],
    /// The sign of the difference of people's scores.
    sign: i8,
    together: bool,
    weight: f64,
}

/// The number of pairs of cells within groups.
pub(super) fn check_size(groups: &[(usize, Vec<u32>)]) -> Result<u64> {
    let all: u64 = groups.iter().map(|(_, cells)| pairs_of(cells.len())).sum();
    match all > MOST_PAIRS {
        true => Err(Error::invalid(
            "the number of pairs of scores whose ties are calibrated",
            format!("at most {MOST_PAIRS} in replicates (group by item, or take fewer segments)"),
            all,
        )),
        false => Ok(all),
    }
}

impl GroupPairs {
    pub fn new(material: &Material, groups: &[(usize, Vec<u32>)], unit: Unit) -> Result<Self> {
        let sizes = || groups.iter().map(|(_, cells)| pairs_of(cells.len()));
        let all = check_size(groups)?;
        // Integers, if all groups can have the same denominator.
        let common = sizes().try_fold(1_u64, |lcm, size| (lcm / gcd(lcm, size)).checked_mul(size));
        let common = common.filter(|common| common.saturating_mul(groups.len() as u64) < 1 << 31);
        let mut pairs = reserved(all as usize)?;
        for (_, cells) in groups {
            let size = pairs_of(cells.len());
            let weight = common.map_or(1.0 / size as f64, |common| (common / size) as f64);
            for (i, &a) in cells.iter().enumerate() {
                for &b in &cells[..i] {
                    let human = [a, b].map(|cell| material.human[cell as usize]);
                    let sign = i8::from(human[0] > human[1]) - i8::from(human[0] < human[1]);
                    pairs.push(Pair { cells: [a, b], sign, together: material.together(unit, a, b), weight });
                }
            }
        }
        let divisor = common.unwrap_or(1) as f64 * groups.len() as f64;
        Ok(GroupPairs { pairs, divisor, largest: common.map(|common| common * groups.len() as u64) })
    }

    /// The cost of a block of replicates, in additions, roughly.
    pub fn cost(&self) -> usize {
        self.pairs.len() * 64
    }

    /// What the differences of the scores of two metrics do, which all replicates share.
    pub fn steps(&self, scores: [&[f64]; 2], stop: &Stop<'_>) -> Result<Steps> {
        Steps::new(&self.pairs, scores, stop)
    }

    /// The differences of the accuracies of two metrics in the given blocks of replicates.
    pub fn differences(
        &self,
        steps: &Steps,
        (flips, blocks): (&Flips, Range<usize>),
        stop: &Stop<'_>,
    ) -> Result<Vec<f64>> {
        let mut out = zeros(&[blocks.len(), BATCH])?;
        for (out, block) in out.as_chunks_mut::<BATCH>().0.iter_mut().zip(blocks) {
            stop.charge(self.cost())?;
            let rows = flips.bytes(block);
            let differences = match self.largest {
                Some(largest) if largest < 1 << 15 => differences::<i16>(steps, rows),
                Some(_) => differences::<i32>(steps, rows),
                None => differences::<f64>(steps, rows),
            };
            out.iter_mut().zip(differences).for_each(|(out, difference)| *out = difference / self.divisor);
        }
        Ok(out)
    }
}

/// A difference of two scores that some replicates have.
#[derive(Clone, Copy)]
struct Step {
    cells: [u32; 2],
    /// The swaps that make this difference: −1 where the cell is not swapped.
    reversed: [i8; 2],
    /// Whether the next difference is smaller.
    last: bool,
    weight: f64,
}

/// The differences of two metrics' scores that some replicates have, in descending order.
pub(super) struct Steps(Vec<Step>);

impl Steps {
    /// The differences in descending order, without those that change nothing.
    fn new(pairs: &[Pair], scores: [&[f64]; 2], stop: &Stop<'_>) -> Result<Self> {
        // Sorted by the bits of the difference; the low bits of the second number are the swaps of both cells.
        let mut keys: Vec<(u64, u32)> = reserved(4 * pairs.len())?;
        for (i, pair) in pairs.iter().enumerate() {
            stop.charge(16)?;
            for swaps in 0..4_u32 {
                let [f, g] = [swaps & 1, swaps >> 1];
                if pair.together && f != g {
                    continue;
                }
                let [x, y] =
                    [(f, pair.cells[0]), (g, pair.cells[1])].map(|(f, cell)| scores[f as usize][cell as usize]);
                let discordant = pair.sign != 0 && (x > y) != (pair.sign > 0);
                if x != y && !discordant {
                    keys.push(((x - y).abs().to_bits(), (i as u32) << 2 | swaps));
                }
            }
        }
        sort(&mut keys, |a, b| b.cmp(a), stop)?;
        let mut steps: Vec<Step> = reserved(keys.len())?;
        for (at, &(difference, from)) in keys.iter().enumerate() {
            stop.charge(4)?;
            let pair = pairs[(from >> 2) as usize];
            let weight = if pair.sign == 0 { -pair.weight } else { pair.weight };
            steps.push(Step {
                cells: pair.cells,
                reversed: [(from & 1) as i8 - 1, (from >> 1 & 1) as i8 - 1],
                last: keys.get(at + 1).is_none_or(|(next, _)| *next != difference),
                weight,
            });
        }
        Ok(Steps(steps))
    }
}

/// The largest sum of steps of the first metric, minus that of the second, of each replicate.
fn differences<T: Lane>(steps: &Steps, rows: &[[i8; BATCH]]) -> [f64; BATCH] {
    let mut largest = [[T::ZERO; BATCH]; 2];
    sweep(Simd::best(), steps, rows, &mut largest);
    std::array::from_fn(|lane| largest[0][lane].as_f64() - largest[1][lane].as_f64())
}

dispatch! {
    fn sweep<T: Lane>(steps: &Steps, rows: &[[i8; BATCH]], out: &mut [[T; BATCH]; 2]) {
        let (mut sums, mut largest) = ([[T::ZERO; BATCH]; 2], *out);
        for step in &steps.0 {
            let [f, g] = step.cells.map(|cell| &rows[cell as usize]);
            let weight = T::new(step.weight);
            let [first, second] = step.reversed;
            for lane in 0..BATCH {
                let (f, g) = (f[lane] ^ first, g[lane] ^ second);
                sums[0][lane] = sums[0][lane].plus(weight.masked(f & g));
                sums[1][lane] = sums[1][lane].plus(weight.masked(!(f | g)));
            }
            if step.last {
                for (largest, sums) in largest.iter_mut().zip(&sums) {
                    for (largest, &sum) in largest.iter_mut().zip(sums) {
                        *largest = if sum > *largest { sum } else { *largest };
                    }
                }
            }
        }
        *out = largest;
    }
}
