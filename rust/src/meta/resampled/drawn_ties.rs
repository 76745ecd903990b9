//! Accuracy over pairs with calibrated ties (Deutsch, Foster and Freitag 2023, doi:10.18653/v1/2023.emnlp-main.798) on
//! systems and segments that are drawn.
//!
//! As in [`super::ties`], ε decreases over the differences of all pairs of cells, which are sorted once. A draw gives each
//! cell a number of copies, and a pair counts as often as the product of the copies of its two cells. Many draws stand side
//! by side, so that each pair is read once for all of them.

use std::ops::Range;

use super::ties::check_size;
use super::weighing::{Copies, Weighing};
use crate::error::Result;
use crate::memory::{copied, filled, reserved};
use crate::meta::Grouping;
use crate::pool::{Stop, sort};
use crate::resample::BATCH;
use crate::simd::{Simd, dispatch};

/// A bit that no number of a cell has.
const FLAG: u32 = 1 << 31;

/// Two cells, and what happens where their difference is no tie any more.
#[derive(Clone, Copy)]
struct Step {
    /// With [`FLAG`] if people order the cells as the metric does, rather than tie them.
    first: u32,
    /// With [`FLAG`] if the next difference is smaller.
    second: u32,
}

/// The pairs of a metric's cells, by the differences of their scores, as in `ties`.
pub(super) struct Calibrated<'a> {
    weighing: Weighing<'a>,
    groups: Vec<(usize, Vec<u32>)>,
    steps: Vec<Step>,
    /// Pairs that people tie.
    tied: Vec<[u32; 2]>,
}

impl<'a> Calibrated<'a> {
    pub fn new(weighing: Weighing<'a>, stop: &Stop<'_>) -> Result<Self> {
        let material = weighing.material;
        let groups = material.groups(weighing.grouping, 2);
        let pairs = check_size(&groups)?;
        let (mut keys, mut tied) = (reserved(pairs as usize)?, Vec::new());
        for (_, cells) in &groups {
            for (i, &a) in cells.iter().enumerate() {
                stop.charge(i)?;
                for &b in &cells[..i] {
                    let [x, y] = [a, b].map(|cell| material.scores[0][cell as usize]);
                    let [human_x, human_y] = [a, b].map(|cell| material.human[cell as usize]);
                    let concordant = human_x != human_y && (x > y) == (human_x > human_y);
                    if human_x == human_y {
                        tied.push([a, b]);
                    }
                    if x != y && (concordant || human_x == human_y) {
                        keys.push(((x - y).abs().to_bits(), a | if concordant { FLAG } else { 0 }, b));
                    }
                }
            }
        }
        sort(&mut keys, |a, b| b.cmp(a), stop)?;
        let mut steps: Vec<Step> = reserved(keys.len())?;
        for (at, &(difference, first, second)) in keys.iter().enumerate() {
            let last = keys.get(at + 1).is_none_or(|(next, ..)| *next != difference);
            steps.push(Step { first, second: second | if last { FLAG } else { 0 } });
        }
        Ok(Calibrated { weighing, groups, steps, tied })
    }

    /// The cost of 64 replicates, in additions, roughly.
    pub fn cost(&self) -> usize {
        (self.steps.len() + self.tied.len() + self.weighing.material.cells.len()) * BATCH
    }

    /// The accuracies in some replicates; NaN where no group has two cells.
    pub fn values(&self, copies: &Copies, replicates: Range<usize>, stop: &Stop<'_>) -> Result<Vec<f64>> {
        let mut out = reserved(replicates.len())?;
        for begin in replicates.clone().step_by(BATCH) {
            stop.charge(self.cost())?;
            let block: Vec<usize> = (begin..replicates.end.min(begin + BATCH)).collect();
            match self.integers(copies, &block)? {
                Some(values) => out.extend(values),
                // Sums of products of integers are the same in both, as long as they fit.
                None => {
                    block.chunks(8).try_for_each(|few| self.fractions(copies, few).map(|values| out.extend(values)))?
                }
            }
        }
        Ok(out)
    }

    /// With all cells in one group, where counts are integers. None if there are more groups, or numbers are too large.
    fn integers(&self, copies: &Copies, replicates: &[usize]) -> Result<Option<Vec<f64>>> {
        let material = self.weighing.material;
        let (Grouping::None, [(_, cells)]) = (self.weighing.grouping, &self.groups[..]) else { return Ok(None) };
        let mut rows = filled(material.cells.len(), [0_i16; BATCH])?;
        let mut pairs = [0; BATCH];
        for (lane, &replicate) in replicates.iter().enumerate() {
            let (mut all, mut squares) = (0_u64, 0_u64);
            for &cell in cells {
                let weight = self.weighing.cell(cell, copies.of(replicate, material.shape));
                let Ok(small) = i16::try_from(weight) else { return Ok(None) };
                rows[cell as usize][lane] = small;
                all += u64::from(weight);
                squares += u64::from(weight) * u64::from(weight);
            }
            pairs[lane] = (all * all - squares) / 2;
            if pairs[lane] >= 1 << 31 {
                return Ok(None);
            }
        }
        let largest = largest(Simd::best(), self, [&rows, &rows]);
        let value = |lane: usize| f64::from(largest[lane]) / pairs[lane] as f64;
        Ok(Some((0..replicates.len()).map(value).collect()))
    }

    /// Pairs of each group weighted so that all groups count alike. There are at most eight replicates.
    fn fractions(&self, copies: &Copies, replicates: &[usize]) -> Result<Vec<f64>> {
        let material = self.weighing.material;
        let mut second = filled(material.cells.len(), [0.0; 8])?;
        let mut first = copied(&second)?;
        let mut divisors = [0.0; 8];
        let single = self.weighing.grouping == Grouping::None;
        for (lane, &replicate) in replicates.iter().enumerate() {
            let copies = copies.of(replicate, material.shape);
            for (number, cells) in &self.groups {
                let (mut all, mut squares) = (0_u64, 0_u64);
                for &cell in cells {
                    let weight = self.weighing.cell(cell, copies);
                    second[cell as usize][lane] = f64::from(weight);
                    all += u64::from(weight);
                    squares += u64::from(weight) * u64::from(weight);
                }
                let pairs = (all * all - squares) / 2;
                let weight = f64::from(self.weighing.group(*number, copies));
                let defined = pairs > 0 && weight > 0.0;
                let factor = if single { 1.0 } else { weight / pairs as f64 };
                for &cell in cells {
                    first[cell as usize][lane] = if defined { second[cell as usize][lane] * factor } else { 0.0 };
                }
                let own = if single { pairs as f64 } else { weight };
                divisors[lane] += if defined { own } else { 0.0 };
            }
        }
        let largest = largest(Simd::best(), self, [&first, &second]);
        Ok((0..replicates.len()).map(|lane| largest[lane] / divisors[lane]).collect())
    }
}

dispatch! {
    /// The largest number of pairs that some ε makes right, in each replicate.
    fn largest<R: Row>(ties: &Calibrated<'_>, rows: [&[R]; 2]) -> R::Sums {
        let ([first, second], mut sums) = (rows, R::ZERO);
        for &[a, b] in &ties.tied {
            R::add(&mut sums, &first[a as usize], &second[b as usize], true);
        }
        let mut largest = sums;
        for step in &ties.steps {
            let [a, b] = [&first[(step.first & !FLAG) as usize], &second[(step.second & !FLAG) as usize]];
            R::add(&mut sums, a, b, step.first & FLAG != 0);
            if step.second & FLAG != 0 {
                R::keep_larger(&mut largest, &sums);
            }
        }
        largest
    }
}

/// The weights of a cell in several replicates.
trait Row: Copy {
    /// Sums of products of weights.
    type Sums: Copy;
    const ZERO: Self::Sums;
    /// Adds the products, or subtracts them.
    fn add(sums: &mut Self::Sums, a: &Self, b: &Self, positive: bool);
    fn keep_larger(largest: &mut Self::Sums, sums: &Self::Sums);
}

impl Row for [i16; BATCH] {
    type Sums = [i32; BATCH];
    const ZERO: Self::Sums = [0; BATCH];

    #[inline(always)]
    fn add(sums: &mut Self::Sums, a: &Self, b: &Self, positive: bool) {
        // Without a branch, because signs are random.
        let mask = i32::from(positive) - 1;
        for lane in 0..BATCH {
            let product = i32::from(a[lane]) * i32::from(b[lane]);
            sums[lane] += (product ^ mask) - mask;
        }
    }

    #[inline(always)]
    fn keep_larger(largest: &mut Self::Sums, sums: &Self::Sums) {
        largest.iter_mut().zip(sums).for_each(|(largest, &sum)| *largest = sum.max(*largest));
    }
}

impl Row for [f64; 8] {
    type Sums = [f64; 8];
    const ZERO: Self::Sums = [0.0; 8];

    #[inline(always)]
    fn add(sums: &mut Self::Sums, a: &Self, b: &Self, positive: bool) {
        let sign = if positive { 1.0 } else { -1.0 };
        for lane in 0..8 {
            sums[lane] += sign * a[lane] * b[lane];
        }
    }

    #[inline(always)]
    fn keep_larger(largest: &mut Self::Sums, sums: &Self::Sums) {
        largest.iter_mut().zip(sums).for_each(|(largest, &sum)| *largest = if sum > *largest { sum } else { *largest });
    }
}
