//! What the studentized statistic of two systems needs besides their counts: the constants that no swap changes, and the
//! columns that are summed like counts.
//!
//! `resampling/studentized.py` defines the statistic and the notation: a_u and b_u are the counts of unit u,
//! δ_u = a_u − b_u and w_u = a_u + b_u. A swap of unit u changes the sign of δ_u and nothing else. Everything here is
//! computed from products of two δ, from |δ| and from w, so the constants of all arrangements of the same outputs are the
//! same to the last bit, and cross columns change only their signs.
//!
//! Sums of floats have a fixed order, so the bytes do not depend on the vector instructions.

mod linear;
mod sums;
mod terms;
#[cfg(test)]
mod tests;

use crate::error::{Error, LARGEST_SUM, Result};
use crate::memory::{resize, zeros};
use crate::metric::{Formula, Terms};
use crate::pool::Stop;
use crate::resample::design::packed::{Column, Integer, narrow};
use crate::simd::{Simd, dispatch};
use crate::stats::with_numbers;
use linear::Linear;
use sums::{all_widened, dot, rounded};
use terms::Columns;

/// Columns of w with values above this are rounded.
const LARGEST_TERM: u64 = 1 << 12;

/// The differences and sums of the counts of two systems, column by column.
#[derive(Default)]
pub struct Both {
    units: usize,
    columns: usize,
    /// δ.
    differences: Vec<i64>,
    /// w.
    sums: Vec<i64>,
    /// The sums over all units of the smaller and of the larger count of each column.
    ends: Vec<[i64; 2]>,
}

impl Both {
    /// From the rows of both systems, which have `columns` counts each.
    pub fn from_rows(a: &[i64], b: &[i64], columns: usize, stop: &Stop<'_>) -> Result<Self> {
        if a.len() != b.len() {
            return Err(Error::LengthMismatch { what: "counts".into(), expected: a.len(), got: b.len() });
        }
        let place = |column: usize, unit: usize| unit * columns + column;
        Both::from_counts([a.len() / columns.max(1), columns], stop, |column, unit| {
            [a[place(column, unit)], b[place(column, unit)]]
        })
    }

    /// From the counts of both systems in a column and a unit.
    pub(crate) fn from_counts(
        shape: [usize; 2],
        stop: &Stop<'_>,
        counts: impl Fn(usize, usize) -> [i64; 2],
    ) -> Result<Self> {
        let mut both = Both::default();
        both.fill(shape, stop, |column, differences, sums| {
            for (unit, (difference, sum)) in differences.iter_mut().zip(sums).enumerate() {
                let [a, b] = counts(column, unit);
                (*difference, *sum) = (a.wrapping_sub(b), a.wrapping_add(b));
            }
        })?;
        Ok(both)
    }

    /// Replaces the contents by some units of a pair, in which the systems are swapped where `swapped` is 1.
    pub(crate) fn choose(&mut self, from: &PackedBoth, units: &[u32], swapped: &[u8], stop: &Stop<'_>) -> Result<()> {
        self.fill([units.len(), from.0.len()], stop, |column, differences, sums| {
            let [of_differences, of_sums] = &from.0[column];
            with_numbers!(of_differences, values => gather(values, units, differences));
            with_numbers!(of_sums, values => gather(values, units, sums));
            for (difference, &swap) in differences.iter_mut().zip(swapped) {
                let sign = -i64::from(swap);
                *difference = (*difference ^ sign) - sign;
            }
        })
    }

    /// Replaces the contents. `values` writes the differences and sums of a column.
    fn fill(
        &mut self,
        [units, columns]: [usize; 2],
        stop: &Stop<'_>,
        values: impl Fn(usize, &mut [i64], &mut [i64]),
    ) -> Result<()> {
        let simd = Simd::best();
        (self.units, self.columns) = (units, columns);
        resize(&mut self.differences, units * columns)?;
        resize(&mut self.sums, units * columns)?;
        self.ends.clear();
        for column in 0..columns {
            stop.charge(4 * units)?;
            let own = column * units..(column + 1) * units;
            let (differences, sums) = (&mut self.differences[own.clone()], &mut self.sums[own]);
            values(column, differences, sums);
            self.ends.push(ends(simd, differences, sums));
        }
        Ok(())
    }

    /// The same in as few bits as hold it, to choose test sets from.
    pub(crate) fn packed(&self) -> Result<PackedBoth> {
        let packed = |column: usize| Ok([narrow(self.difference(column))?, narrow(self.sum(column))?]);
        (0..self.columns).map(packed).collect::<Result<_>>().map(PackedBoth)
    }

    /// δ of a column.
    fn difference(&self, column: usize) -> &[i64] {
        &self.differences[column * self.units..][..self.units]
    }

    /// w of a column.
    fn sum(&self, column: usize) -> &[i64] {
        &self.sums[column * self.units..][..self.units]
    }

    /// The columns in which the systems differ.
    fn differing(&self) -> impl Iterator<Item = usize> {
        self.ends.iter().enumerate().filter(|(_, [low, high])| low != high).map(|(column, _)| column)
    }

    /// The totals at which [`Cross::new`] needs the gradient, row by row: the mean totals, then these with the total of
    /// each differing column as large as swaps can make it, then as small.
    pub fn probes(&self) -> Vec<i64> {
        // The mean, rounded up: the sum of both could overflow.
        let middle: Vec<i64> =
            self.ends.iter().map(|[low, high]| (low >> 1) + (high >> 1) + ((low | high) & 1)).collect();
        let mut probes = middle.clone();
        for end in [1, 0] {
            for column in self.differing() {
                let first = probes.len();
                probes.extend_from_slice(&middle);
                let total = self.ends[column][end];
                // A derivative at a sum of 0 may be one of another formula.
                let least = if end == 0 && total >= 0 { middle[column].min(1) } else { i64::MIN };
                probes[first + column] = total.max(least);
            }
        }
        probes
    }
}

/// The differences and sums of each column, in as few bits as hold them: those of a population stay in the nearest cache.
pub(crate) struct PackedBoth(Vec<[Column; 2]>);

fn gather<T: Integer>(values: &[T], units: &[u32], out: &mut [i64]) {
    out.iter_mut().zip(units).for_each(|(out, &unit)| *out = values[unit as usize].to_i64());
}

dispatch! {
    /// The sums of the smaller and of the larger counts, from their differences and sums.
    fn ends(differences: &[i64], sums: &[i64]) -> [i64; 2] {
        let [mut low, mut high] = [0, 0];
        for (difference, sum) in differences.iter().zip(sums) {
            // (w − |δ|)/2 is an integer. The larger count is the smaller one and |δ|.
            let size = difference.abs();
            let smaller = (sum - size) >> 1;
            (low, high) = (low + smaller, high + smaller + size);
        }
        [low, high]
    }
}

/// The strata of the units.
#[derive(Debug, Clone, Copy)]
pub struct UnitStrata<'a> {
    /// The stratum of each unit; empty if there is only one stratum.
    pub index: &'a [u32],
    /// The number of units of each stratum.
    pub sizes: &'a [usize],
}

impl UnitStrata<'_> {
    fn check(&self, units: usize) -> Result<()> {
        let Self { index, sizes } = self;
        let places = if sizes.len() == 1 && index.is_empty() { units } else { index.len() };
        let counted: usize = sizes.iter().sum();
        for (what, got) in [("strata of the units", places), ("units of all strata", counted)] {
            if got != units {
                return Err(Error::LengthMismatch { what: what.into(), expected: units, got });
            }
        }
        match index.iter().position(|&stratum| stratum as usize >= sizes.len()) {
            Some(unit) => {
                let (index, len) = (index[unit] as usize, sizes.len());
                Err(Error::OutOfRange { what: "stratum".into(), index, len })
            }
            None => Ok(()),
        }
    }
}

/// The square roots of the factors U_k/(U_k − 1) of the units' strata.
struct Weights {
    /// The largest of them.
    common: f64,
    /// All of them divided by it, 0 for the only unit of a stratum; None if all are 1.
    relative: Option<Vec<f64>>,
}

impl Weights {
    fn new(UnitStrata { index, sizes }: UnitStrata<'_>) -> Self {
        let root = |&size: &usize| if size > 1 { (size as f64 / (size - 1) as f64).sqrt() } else { 0.0 };
        let roots: Vec<f64> = sizes.iter().map(root).collect();
        let common = roots.iter().copied().fold(0.0, f64::max);
        let all_equal = roots.iter().all(|&root| root == common);
        let relative = (!all_equal).then(|| index.iter().map(|&stratum| roots[stratum as usize] / common).collect());
        Weights { common, relative }
    }

    /// Values times a scale and the relative weights, rounded. Halves go to even, so −x is rounded as x is.
    fn rounded(&self, simd: Simd, values: &[f64], scale: f64) -> Result<Vec<i64>> {
        let mut out = zeros(&[values.len()])?;
        rounded(simd, values, self.relative.as_deref(), scale, &mut out);
        Ok(out)
    }
}

/// The constants of two systems, and what their cross columns are made of.
pub struct Cross {
    pub constants: Terms,
    /// e, for each direction: a value for each unit.
    pub contributions: Vec<Vec<i64>>,
    /// The columns that w is reduced to: a value for each unit.
    pub terms: Vec<Vec<i64>>,
    /// Does the variance of a shuffle depend only on its difference, and the statistic increase with it?
    pub follows_difference: bool,
}

impl Cross {
    /// Computes the constants. `gradients` are those at [`Both::probes`], or only at the first of them.
    pub fn new(both: &Both, gradients: &[f64], strata: UnitStrata<'_>, stop: &Stop<'_>) -> Result<Self> {
        Self::on(Simd::best(), both, gradients, strata, stop)
    }

    /// As [`Cross::new`], with a choice of the vector instructions.
    fn on(simd: Simd, both: &Both, gradients: &[f64], strata: UnitStrata<'_>, stop: &Stop<'_>) -> Result<Self> {
        let &Both { units, columns, .. } = both;
        strata.check(units)?;
        let differing: Vec<usize> = both.differing().collect();
        let all = (1 + 2 * differing.len()) * columns;
        if gradients.len() != all && gradients.len() != columns {
            return Err(Error::LengthMismatch { what: "gradients".into(), expected: all, got: gradients.len() });
        }
        let linear = Linear::new(simd, both, &differing, gradients, stop)?;
        let weights = Weights::new(strata);
        let terms = Columns::new(simd, both, &linear.changing, &weights, stop)?;
        let largest = if terms.values.is_empty() { LARGEST_SUM as u64 / units.max(1) as u64 } else { LARGEST_TERM };
        let magnitude = |column: usize| both.difference(column).iter().map(|x| x.unsigned_abs()).max().unwrap_or(0);
        let exact = weights.relative.is_none()
            && differing.len() <= 1
            && differing.iter().all(|&column| magnitude(column) <= largest);
        let (contributions, projection) = match exact {
            true => linear.integers(both, weights.common)?,
            false => linear.rounded(simd, both, &weights, stop)?,
        };
        let follows_difference = strata.sizes.len() == 1
            && differing.len() <= 1
            && terms.values.is_empty()
            && differing.iter().all(|&column| !linear.changing[column]);
        let scaled = |matrix: Vec<f64>| matrix.into_iter().map(|x| x * linear.scale).collect();
        let squares = |columns: &[Vec<i64>]| moments(simd, &all_widened(columns.iter().map(Vec::as_slice))?, stop);
        let constants = Terms {
            scale: linear.scale,
            directions: contributions.len(),
            terms: terms.values.len(),
            strata: strata.sizes.len(),
            projection: scaled(projection),
            basis: scaled(terms.basis),
            contribution_squares: squares(&contributions)?,
            term_squares: squares(&terms.values)?,
            stratum_terms: stratum_means(&terms.values, strata, stop)?,
            stratum_factors: strata.sizes.iter().map(|&size| 1.0 / (size as f64).sqrt()).collect(),
        };
        Ok(Cross { constants, contributions, terms: terms.values, follows_difference })
    }

    /// The constants for these units of a formula in the core, without strata.
    pub(crate) fn of_formula(formula: &dyn Formula, both: &Both, stop: &Stop<'_>) -> Result<Self> {
        let probes = both.probes();
        let mut gradients = zeros(&[probes.len()])?;
        for (row, out) in probes.chunks_exact(both.columns).zip(gradients.chunks_exact_mut(both.columns)) {
            formula.gradient(row, out);
        }
        Cross::new(both, &gradients, UnitStrata { index: &[], sizes: &[both.units] }, stop)
    }

    /// Calls a function with the values of each cross column of the first system, in their order: e·w for each
    /// direction and term, then e for each direction and stratum. The second system has zeros.
    pub fn columns(&self, index: &[u32], mut each: impl FnMut(&[i64]) -> Result<()>) -> Result<()> {
        let units = self.contributions.first().map_or(0, Vec::len);
        let mut column = zeros(&[units])?;
        for contributions in &self.contributions {
            for term in &self.terms {
                column.iter_mut().zip(contributions.iter().zip(term)).for_each(|(out, (e, w))| *out = e * w);
                each(&column)?;
            }
        }
        for contributions in &self.contributions {
            for stratum in 0..self.constants.strata {
                if self.constants.strata == 1 {
                    each(contributions)?;
                    continue;
                }
                let own = index.iter().zip(contributions);
                column
                    .iter_mut()
                    .zip(own)
                    .for_each(|(out, (&of, &e))| *out = if of as usize == stratum { e } else { 0 });
                each(&column)?;
            }
        }
        Ok(())
    }
}

/// Σ x·x' over the units: a matrix.
fn moments(simd: Simd, columns: &[Vec<f64>], stop: &Stop<'_>) -> Result<Vec<f64>> {
    let n = columns.len();
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            stop.charge(columns[i].len())?;
            let product = dot(simd, &columns[i], &columns[j]);
            (out[i * n + j], out[j * n + i]) = (product, product);
        }
    }
    Ok(out)
}

/// The sums of the terms over each stratum, divided by the square root of its number of units: stratum by stratum.
fn stratum_means(terms: &[Vec<i64>], UnitStrata { index, sizes }: UnitStrata<'_>, stop: &Stop<'_>) -> Result<Vec<f64>> {
    let mut sums: Vec<i64> = zeros(&[sizes.len(), terms.len()])?;
    for (l, term) in terms.iter().enumerate() {
        stop.charge(term.len())?;
        match index {
            [] => sums[l] = term.iter().sum(),
            _ => index.iter().zip(term).for_each(|(&stratum, w)| sums[stratum as usize * terms.len() + l] += w),
        }
    }
    let rows = sums.chunks_exact(terms.len().max(1)).zip(sizes);
    Ok(rows.flat_map(|(row, &size)| row.iter().map(move |&sum| sum as f64 / (size as f64).sqrt())).collect())
}
