//! The studentized difference of two systems: score(x) − score(y), divided by its standard error.
//!
//! The formula wraps that of a metric. Its rows have the metric's counts, followed by *cross columns*: products of a
//! unit's contribution to the difference, e, with its counts w (the sums of both systems'), and e itself for each
//! stratum. The first system has the products, and the second has zeros. After swaps, the sum of a cross column of x
//! less that of y is therefore Σ ±e·w, with a minus for swapped units. Python defines the contributions and the
//! constants (`resampling/studentized.py`). This module only evaluates the standard error, for many shuffles side by
//! side.

use std::sync::Arc;

use super::Formula;
use crate::error::{Result, check_length};
use crate::simd::{Simd, dispatch};

/// A variance of at most this share of the squares that it is computed from is rounding error, and counts as 0.
const ROUNDING: f64 = 1.0 / (1u64 << 44) as f64;

/// The constants of a pair of systems, which no swap changes. There are m directions, p terms and n strata; K is the
/// number of counts of the metric. Matrices are stored row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// The power of 2 by which differences are multiplied, about 1 divided by their standard error, so that squares
    /// neither overflow nor underflow. Variances are multiplied by its square.
    pub scale: f64,
    /// m: the number of vectors whose products with a unit's difference in counts are its contributions e.
    pub directions: usize,
    /// p: the number of columns w that the counts of both systems together are reduced to.
    pub terms: usize,
    /// n: the number of strata.
    pub strata: usize,
    /// m × K: from the mean gradient of both systems to the factors of the contributions.
    pub projection: Vec<f64>,
    /// p × K: from half the difference of their gradients to the factors of the columns w.
    pub basis: Vec<f64>,
    /// m × m: Σ e·e'.
    pub contribution_squares: Vec<f64>,
    /// p × p: Σ w·w'.
    pub term_squares: Vec<f64>,
    /// n × p: Σ w over each stratum, divided by the square root of its number of units.
    pub stratum_terms: Vec<f64>,
    /// n: 1 divided by the square root of the number of units of each stratum.
    pub stratum_factors: Vec<f64>,
}

impl Terms {
    /// The number of cross columns: e·w for each direction and term, then e for each direction and stratum.
    pub fn columns(&self) -> usize {
        self.directions * (self.terms + self.strata)
    }

    fn check(&self, counts: usize) -> Result<()> {
        let &Terms { directions, terms, strata, .. } = self;
        for (what, matrix, expected) in [
            ("projection", &self.projection, directions * counts),
            ("basis", &self.basis, terms * counts),
            ("contribution_squares", &self.contribution_squares, directions * directions),
            ("term_squares", &self.term_squares, terms * terms),
            ("stratum_terms", &self.stratum_terms, strata * terms),
            ("stratum_factors", &self.stratum_factors, strata),
        ] {
            check_length(what, expected, matrix.len())?;
        }
        Ok(())
    }
}

/// The studentized formula of a pair.
pub struct Studentized {
    base: Arc<dyn Formula>,
    /// K.
    counts: usize,
    terms: Terms,
}

impl Studentized {
    /// # Errors
    /// [`crate::Error::LengthMismatch`] if a matrix of the terms does not have its shape.
    pub fn new(base: Arc<dyn Formula>, terms: Terms) -> Result<Self> {
        let counts = base.width();
        terms.check(counts)?;
        Ok(Studentized { base, counts, terms })
    }

    /// The parts of the statistics of many pairs of systems, whose summed counts are stored as for [`Formula::scores`].
    pub fn parts(&self, x: &[i64], y: &[i64], n: usize) -> Parts {
        let (simd, Terms { directions, terms, .. }) = (Simd::best(), &self.terms);
        let (x, x_cross) = x.split_at(self.counts * n);
        let (y, y_cross) = y.split_at(self.counts * n);
        let [x_side, y_side] = [x, y].map(|totals| {
            let (mut scores, mut gradients) = (vec![0.0; n], vec![0.0; totals.len()]);
            self.base.scores(totals, &mut scores);
            self.base.gradients(totals, &scores, &mut gradients);
            (scores, gradients)
        });
        let ((x_scores, mut means), (y_scores, mut halves)) = (x_side, y_side);
        halve(simd, &mut means, &mut halves);
        let (mut factors, mut slopes) = (vec![0.0; directions * n], vec![0.0; terms * n]);
        multiply(simd, &self.terms.projection, &means, &mut factors, n);
        multiply(simd, &self.terms.basis, &halves, &mut slopes, n);
        let (mut variances, mut sizes) = (vec![0.0; n], vec![0.0; n]);
        variance(simd, &self.terms, (&factors, &slopes), (x_cross, y_cross), (&mut variances, &mut sizes));
        Parts { scores: [x_scores, y_scores], variances, sizes }
    }
}

/// The parts of studentized statistics.
pub struct Parts {
    /// The scores of x and of y.
    pub scores: [Vec<f64>; 2],
    /// The variances of their differences times [`Terms::scale`], not yet compared with their rounding errors.
    pub variances: Vec<f64>,
    /// The sums of the squares that the variances are computed from. Rounding errors are relative to these sums.
    pub sizes: Vec<f64>,
}

/// Two scores count as equal if they differ by no more than this: about 16 units in the last place of the larger one.
#[inline(always)]
fn tolerance(x: f64, y: f64) -> f64 {
    16.0 * f64::EPSILON * x.abs().max(y.abs())
}

/// The difference divided by its standard error. If the variance is 0, the result is 0 for equal scores, and infinite
/// otherwise.
#[inline(always)]
fn studentized(x: f64, y: f64, scale: f64, variance: f64, size: f64) -> f64 {
    let difference = x - y;
    // The size is not negative, except for rounding errors.
    if variance > ROUNDING * size.abs() {
        difference * scale / variance.sqrt()
    } else if difference.abs() <= tolerance(x, y) {
        0.0
    } else {
        f64::INFINITY.copysign(difference)
    }
}

impl Formula for Studentized {
    fn name(&self) -> &str {
        self.base.name()
    }

    fn columns(&self) -> Vec<String> {
        let cross = (1..=self.terms.columns()).map(|column| format!("cross_{column}"));
        self.base.columns().into_iter().chain(cross).collect()
    }

    fn width(&self) -> usize {
        self.counts + self.terms.columns()
    }

    fn higher_is_better(&self) -> bool {
        self.base.higher_is_better()
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        self.base.signature()
    }

    fn score(&self, totals: &[i64]) -> f64 {
        self.base.score(&totals[..self.counts])
    }

    fn scores(&self, totals: &[i64], out: &mut [f64]) {
        self.base.scores(&totals[..self.counts * out.len()], out);
    }

    fn statistics(&self, x: &[i64], y: &[i64], out: &mut [f64]) {
        let Parts { scores: [x, y], variances, sizes } = self.parts(x, y, out.len());
        let parts = x.iter().zip(&y).zip(variances.iter().zip(&sizes));
        out.iter_mut().zip(parts).for_each(|(out, ((x, y), (variance, size)))| {
            *out = studentized(*x, *y, self.terms.scale, *variance, *size);
        });
    }

    fn may_be_undefined(&self) -> bool {
        self.base.may_be_undefined()
    }

    fn decimals(&self) -> Option<u32> {
        self.base.decimals()
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        self.base.details(&totals[..self.counts])
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        let (own, cross) = out.split_at_mut(self.counts);
        self.base.gradient(&totals[..self.counts], own);
        cross.fill(0.0);
    }
}

dispatch! {
    /// Replaces two arrays by their mean and by half of their difference.
    fn halve(x: &mut [f64], y: &mut [f64]) {
        for (x, y) in x.iter_mut().zip(y) {
            (*x, *y) = (0.5 * (*x + *y), 0.5 * (*x - *y));
        }
    }
}

dispatch! {
    /// Multiplies a matrix by `n` vectors, which are stored column by column.
    fn multiply(matrix: &[f64], vectors: &[f64], out: &mut [f64], n: usize) {
        let width = vectors.len() / n;
        for (row, out) in matrix.chunks_exact(width).zip(out.chunks_exact_mut(n)) {
            // Most elements of a basis are 0.
            for (&factor, vector) in row.iter().zip(vectors.chunks_exact(n)).filter(|(factor, _)| **factor != 0.0) {
                out.iter_mut().zip(vector).for_each(|(out, x)| *out += factor * x);
            }
        }
    }
}

dispatch! {
    /// Computes variances and their sizes from the factors of the contributions and of the columns w, and from the sums
    /// of the cross columns of x and y.
    fn variance(terms: &Terms, factors: (&[f64], &[f64]), cross: (&[i64], &[i64]), out: (&mut [f64], &mut [f64])) {
        let (factors, slopes) = factors;
        let (x, y) = cross;
        let (variances, sizes) = out;
        let n = variances.len();
        let (factor, slope) = (|j: usize| &factors[j * n..][..n], |l: usize| &slopes[l * n..][..n]);
        let cross = |column: usize| x[column * n..][..n].iter().zip(&y[column * n..][..n]).map(|(x, y)| (x - y) as f64);
        let mut sums = vec![0.0; n];
        // Σe² and Σ(q·w)²: quadratic forms of constant matrices.
        for (matrix, vectors, width) in
            [(&terms.contribution_squares, factors, terms.directions), (&terms.term_squares, slopes, terms.terms)]
        {
            for (row, vector) in matrix.chunks_exact(width.max(1)).zip(vectors.chunks_exact(n)) {
                sums.fill(0.0);
                for (square, other) in row.iter().zip(vectors.chunks_exact(n)) {
                    sums.iter_mut().zip(other).for_each(|(sum, x)| *sum += square * x);
                }
                sizes.iter_mut().zip(sums.iter().zip(vector)).for_each(|(size, (sum, x))| *size += sum * x);
            }
        }
        variances.copy_from_slice(sizes);
        // 2Σ±e·(q·w).
        for l in 0..terms.terms {
            sums.fill(0.0);
            for j in 0..terms.directions {
                let products = factor(j).iter().zip(cross(j * terms.terms + l));
                sums.iter_mut().zip(products).for_each(|(sum, (factor, cross))| *sum += factor * cross);
            }
            let products = sums.iter().zip(slope(l));
            variances.iter_mut().zip(products).for_each(|(variance, (sum, slope))| *variance += 2.0 * sum * slope);
        }
        // The squared sum over each stratum.
        for k in 0..terms.strata {
            sums.fill(0.0);
            for j in 0..terms.directions {
                let products = factor(j).iter().zip(cross(terms.directions * terms.terms + j * terms.strata + k));
                sums.iter_mut().zip(products).for_each(|(sum, (factor, cross))| *sum += factor * cross);
            }
            sums.iter_mut().for_each(|sum| *sum *= terms.stratum_factors[k]);
            for l in 0..terms.terms {
                let total = terms.stratum_terms[k * terms.terms + l];
                sums.iter_mut().zip(slope(l)).for_each(|(sum, slope)| *sum += total * slope);
            }
            variances.iter_mut().zip(&sums).for_each(|(variance, sum)| *variance -= sum * sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::testing::made;
    use proptest::prelude::*;

    /// Constants of any shape, from numbers in order.
    fn terms(shape: (usize, usize, usize), counts: usize, scale: f64, numbers: &[f64]) -> Terms {
        let (directions, terms, strata) = shape;
        let mut numbers = numbers.iter().copied().cycle();
        let mut take = |n: usize| numbers.by_ref().take(n).collect::<Vec<_>>();
        Terms {
            scale,
            directions,
            terms,
            strata,
            projection: take(directions * counts),
            basis: take(terms * counts),
            contribution_squares: take(directions * directions),
            term_squares: take(terms * terms),
            stratum_terms: take(strata * terms),
            stratum_factors: take(strata),
        }
    }

    fn columns_of(rows: &[Vec<i64>]) -> Vec<i64> {
        (0..rows[0].len()).flat_map(|column| rows.iter().map(move |row| row[column])).collect()
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    proptest! {
        #![proptest_config(crate::testing::cases(64))]
        #[test]
        fn all_paths_batches_and_orders_have_the_same_bits(
            name in prop::sample::select(vec!["bleu", "chrf", "ter"]),
            shape in (0..3usize, 0..4usize, 1..4usize),
            scale in prop::sample::select(vec![1.0, 0.25]),
            numbers in prop::collection::vec(-2.0..2.0f64, 97),
            seeds in prop::collection::vec(prop::collection::vec(1..500i64, 60), 1..70),
        ) {
            let base = made(name);
            let counts = base.columns().len();
            let terms = terms(shape, counts, scale, &numbers);
            let width = counts + terms.columns();
            let side = |first: usize| -> Vec<Vec<i64>> {
                let count = |row: &Vec<i64>, column: usize| {
                    let value = row[(first + column) % 60];
                    // Cross columns have either sign.
                    if column < counts || value % 2 == 0 { value } else { -value }
                };
                seeds.iter().map(|row| (0..width).map(|column| count(row, column)).collect()).collect()
            };
            let (x, y) = (side(0), side(31));
            let formula = Studentized::new(base.clone(), terms.clone()).unwrap();
            let n = seeds.len();
            let parts = formula.parts(&columns_of(&x), &columns_of(&y), n);
            let mut statistics = vec![9.0; n];
            formula.statistics(&columns_of(&x), &columns_of(&y), &mut statistics);
            Simd::on_every_path(|simd| {
                let got = formula.parts(&columns_of(&x), &columns_of(&y), n);
                let all = |parts: &Parts| [&parts.scores[0], &parts.scores[1], &parts.variances, &parts.sizes].map(|p| bits(p));
                assert_eq!(all(&parts), all(&got), "{simd:?}");
            });
            for (i, (x, y)) in x.iter().zip(&y).enumerate() {
                // Alone, and with x and y exchanged: the same to the last bit.
                let (mut alone, mut exchanged) = ([9.0], [9.0]);
                formula.statistics(x, y, &mut alone);
                formula.statistics(y, x, &mut exchanged);
                prop_assert_eq!(bits(&statistics[i..=i]), bits(&alone));
                prop_assert_eq!(-statistics[i], exchanged[0]);
            }
        }
    }

    #[test]
    fn without_variance_a_difference_is_infinite_and_equal_scores_are_0() {
        assert_eq!(f64::INFINITY, studentized(2.0, 1.0, 1.0, 0.0, 0.0));
        assert_eq!(f64::NEG_INFINITY, studentized(1.0, 2.0, 1.0, ROUNDING, 1.0));
        assert_eq!(0.0, studentized(0.3, 0.1 + 0.2, 1.0, 0.0, 0.0));
        assert_eq!(-0.25, studentized(1.0, 2.0, 0.5, 4.0, 1.0));
    }

    #[test]
    fn matrices_must_have_their_shapes() {
        let base = made("ter");
        let mut wrong = terms((1, 1, 1), 2, 1.0, &[1.0]);
        assert!(Studentized::new(base.clone(), wrong.clone()).is_ok());
        wrong.stratum_terms.push(1.0);
        let error = Studentized::new(base, wrong).err().unwrap();
        assert!(error.to_string().contains("stratum_terms"), "{error}");
    }
}
