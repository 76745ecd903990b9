//! Pearson's r and coefficients of system scores: functions of sums over swapped cells.
//!
//! Each metric's sums over swapped cells are made once per replicate; a pair of metrics exchanges its sums.

use super::flips::Flips;
use super::small::{pearson, unweighted};
use super::{Coefficient, Material, at};
use crate::error::Result;
use crate::memory::zeros;
use crate::meta::Grouping;
use crate::pool::Stop;
use crate::resample::BATCH;
use crate::simd::{Simd, dispatch};

/// One value per replicate of a block.
type Lanes = [f64; BATCH];

/// Sums over swapped cells of x, x², and x·y.
type Sums = [Lanes; 3];

/// Below this share of Σx² the sum of squared deviations is computed again from the scores.
const CANCELLED: f64 = 1e-6;

/// A group of cells for Pearson's r.
struct Group {
    cells: Vec<u32>,
    /// People's scores minus their mean, and the sum of the squares.
    y: Vec<f64>,
    yy: f64,
    /// The scores of each metric minus the mean over all metrics.
    x: Vec<Vec<f64>>,
    totals: Vec<[f64; 3]>,
}

/// Pearson's r: the mean over groups.
pub(super) struct PearsonSums(Vec<Group>);

impl PearsonSums {
    pub fn new(material: &Material, groups: &[(usize, Vec<u32>)]) -> Self {
        let simd = Simd::best();
        let group = |(_, cells): &(usize, Vec<u32>)| {
            let human = at(&material.human, cells);
            if super::constant(&human) {
                return None;
            }
            let n = cells.len() as f64;
            let mean = human.iter().sum::<f64>() / n;
            let y: Vec<_> = human.iter().map(|y| y - mean).collect();
            let x: Vec<_> = material.scores.iter().map(|scores| at(scores, cells)).collect();
            let centre = x.iter().flatten().sum::<f64>() / (n * x.len() as f64);
            let x: Vec<Vec<_>> = x.into_iter().map(|x| x.into_iter().map(|x| x - centre).collect()).collect();
            let totals = x.iter().map(|x| sums(simd, x, &y, &vec![u64::MAX; x.len()]).map(|lanes| lanes[0]));
            let (totals, yy) = (totals.collect(), y.iter().map(|y| y * y).sum());
            Some(Group { cells: cells.clone(), y, yy, x, totals })
        };
        PearsonSums(groups.iter().filter_map(group).collect())
    }

    /// The differences of the pairs in a block of replicates.
    pub fn differences(
        &self,
        material: &Material,
        pairs: &[[usize; 2]],
        (flips, block): (&Flips, usize),
        stop: &Stop<'_>,
    ) -> Result<Vec<f64>> {
        let simd = Simd::best();
        let mut means: Vec<[[Lanes; 2]; 2]> = vec![[[[0.0; BATCH]; 2]; 2]; pairs.len()];
        let mut swapped = Vec::with_capacity(material.scores.len());
        let mut words = Vec::new();
        for group in &self.0 {
            stop.charge(BATCH * (material.scores.len() * group.cells.len() + 8 * pairs.len()))?;
            words.clear();
            words.extend(group.cells.iter().map(|&cell| flips.words(block)[cell as usize]));
            swapped.clear();
            swapped.extend(group.x.iter().map(|x| sums(simd, x, &group.y, &words)));
            for (&[a, b], means) in pairs.iter().zip(&mut means) {
                let sums = [(&group.totals[a], &swapped[a]), (&group.totals[b], &swapped[b])];
                let mut doubtful = add_pearson(simd, sums, (group.cells.len(), group.yy), means);
                while doubtful != 0 {
                    let lane = doubtful.trailing_zeros() as usize;
                    doubtful &= doubtful - 1;
                    for (side, [sum, count]) in means.iter_mut().enumerate() {
                        let of = if side == 0 { [a, b] } else { [b, a] };
                        let r = group.again(material, of, (&words, lane));
                        sum[lane] += if r.is_nan() { 0.0 } else { r };
                        count[lane] += f64::from(!r.is_nan());
                    }
                }
            }
        }
        let mut out = zeros(&[pairs.len(), BATCH])?;
        for (out, [a, b]) in out.as_chunks_mut::<BATCH>().0.iter_mut().zip(&means) {
            for (lane, out) in out.iter_mut().enumerate() {
                *out = a[0][lane] / a[1][lane] - b[0][lane] / b[1][lane];
            }
        }
        Ok(out)
    }
}

impl Group {
    /// Pearson's r of one replicate, from the scores.
    #[cold]
    fn again(&self, material: &Material, [kept, other]: [usize; 2], (words, lane): (&[u64], usize)) -> f64 {
        let score = |(&cell, word): (&u32, &u64)| {
            material.scores[if word >> lane & 1 == 1 { other } else { kept }][cell as usize]
        };
        let x: Vec<f64> = self.cells.iter().zip(words).map(score).collect();
        pearson(&x, &self.y, &vec![1; x.len()])
    }
}

dispatch! {
    /// The sums of x, x² and x·y over the swapped cells of each replicate.
    fn sums(x: &[f64], y: &[f64], words: &[u64]) -> Sums {
        /// Few enough for the sums to stay in registers.
        const REPLICATES: usize = 16;
        let mut out = [[0.0; BATCH]; 3];
        for first in (0..BATCH).step_by(REPLICATES) {
            let mut sums = [[0.0; REPLICATES]; 3];
            for ((&x, &y), &word) in x.iter().zip(y).zip(words) {
                let terms = [x, x * x, x * y].map(f64::to_bits);
                let word = word >> first;
                for lane in 0..REPLICATES {
                    let mask = 0_u64.wrapping_sub(word >> lane & 1);
                    for (sums, term) in sums.iter_mut().zip(terms) {
                        sums[lane] += f64::from_bits(term & mask);
                    }
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, sums)| out[first..][..REPLICATES].copy_from_slice(&sums));
        }
        out
    }
}

/// The sums of a metric over all cells and over swapped cells.
type OfMetric<'a> = (&'a [f64; 3], &'a Sums);

dispatch! {
    /// Adds the coefficients of a group to the sums and counts of both metrics, except in the replicates that are
    /// returned, in which too many digits cancel.
    fn add_pearson(metrics: [OfMetric<'_>; 2], group: (usize, f64), means: &mut [[Lanes; 2]; 2]) -> u64 {
        let (n, yy) = group;
        let n = n as f64;
        let [(all_a, a), (all_b, b)] = metrics;
        let (mut r, mut fine) = ([[0.0; BATCH]; 2], [0_u8; BATCH]);
        for lane in 0..BATCH {
            let sum = |k: usize| [all_a[k] - a[k][lane] + b[k][lane], all_b[k] - b[k][lane] + a[k][lane]];
            let (x, xx, xy) = (sum(0), sum(1), sum(2));
            let variance = [xx[0] - x[0] * x[0] / n, xx[1] - x[1] * x[1] / n];
            fine[lane] = u8::from(variance[0] > CANCELLED * xx[0]) & u8::from(variance[1] > CANCELLED * xx[1]);
            for side in 0..2 {
                r[side][lane] = (xy[side] / (variance[side] * yy).sqrt()).clamp(-1.0, 1.0);
            }
        }
        let mut doubtful = 0;
        if fine == [1; BATCH] {
            for (means, r) in means.iter_mut().zip(&r) {
                means[0].iter_mut().zip(r).for_each(|(sum, r)| *sum += r);
                means[1].iter_mut().for_each(|count| *count += 1.0);
            }
            return 0;
        }
        for lane in 0..BATCH {
            if fine[lane] == 0 {
                doubtful |= 1 << lane;
                continue;
            }
            for (means, r) in means.iter_mut().zip(&r) {
                means[0][lane] += r[lane];
                means[1][lane] += 1.0;
            }
        }
        doubtful
    }
}

/// Coefficients of systems' means.
pub(super) struct SystemMeans {
    /// The cells of each system that people have scored.
    rows: Vec<Vec<u32>>,
    human: Vec<f64>,
    coefficient: Coefficient,
}

impl SystemMeans {
    pub fn new(material: &Material, coefficient: Coefficient) -> Self {
        let rows = material.groups(Grouping::System, 1).into_iter();
        let rows: Vec<_> = rows.map(|(_, cells)| cells).collect();
        let human = rows.iter().map(|cells| mean(&at(&material.human, cells))).collect();
        SystemMeans { rows, human, coefficient }
    }

    /// The differences of the pairs in a block of replicates.
    pub fn differences(
        &self,
        material: &Material,
        pairs: &[[usize; 2]],
        (flips, block): (&Flips, usize),
        stop: &Stop<'_>,
    ) -> Result<Vec<f64>> {
        let simd = Simd::best();
        let systems = self.rows.len();
        let mut swapped: Vec<Lanes> = Vec::with_capacity(material.scores.len() * systems);
        let mut totals = Vec::with_capacity(material.scores.len() * systems);
        for scores in &material.scores {
            for cells in &self.rows {
                stop.charge(BATCH * cells.len())?;
                let x = at(scores, cells);
                let words: Vec<_> = cells.iter().map(|&cell| flips.words(block)[cell as usize]).collect();
                let [sum, ..] = sums(simd, &x, &x, &words);
                swapped.push(sum);
                totals.push(total(&x));
            }
        }
        let ones = vec![1; systems];
        let mut out = zeros(&[pairs.len(), BATCH])?;
        let (mut x, mut y) = (vec![0.0; systems], vec![0.0; systems]);
        for (&[a, b], out) in pairs.iter().zip(out.as_chunks_mut::<BATCH>().0) {
            stop.charge(BATCH * systems * (systems + 8))?;
            for (lane, out) in out.iter_mut().enumerate() {
                for system in 0..systems {
                    let [a, b] = [a, b].map(|metric| metric * systems + system);
                    let n = self.rows[system].len() as f64;
                    x[system] = (totals[a] - swapped[a][lane] + swapped[b][lane]) / n;
                    y[system] = (totals[b] - swapped[b][lane] + swapped[a][lane]) / n;
                }
                let [x, y] = [&x, &y].map(|scores| unweighted(self.coefficient, scores, &self.human, &ones));
                *out = x - y;
            }
        }
        Ok(out)
    }
}

/// The sum in the order in which swapped cells are added, so that equal sums are equal.
fn total(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |sum, x| sum + x)
}

pub(super) fn mean(x: &[f64]) -> f64 {
    total(x) / x.len() as f64
}
