//! Lists of candidates, which all optimizers share: their features, their counts, and runs with one seed each.

mod counts;
mod kernels;
mod offsets;
mod seeds;

use std::ops::Range;

use crate::error::{Error, Result, check_length};
use crate::memory::reserved;
use crate::pool::{PIECE, Stop};
use crate::simd::Simd;

pub(super) use counts::Counts;
pub(super) use kernels::{heights, largest_sum};
pub use offsets::Offsets;
pub(super) use offsets::{check_numbers, check_option};
pub(super) use seeds::{each_seed, shuffle};

/// Sparse features in compressed rows.
#[derive(Debug, Clone, Copy)]
pub struct Sparse<'a> {
    /// Where the features of each candidate begin, and the end of the last: K + 1 numbers.
    pub starts: &'a [i64],
    /// The number of each feature, from 0.
    pub indices: &'a [i32],
    /// The value of each feature.
    pub values: &'a [f64],
    /// How many features there are.
    pub width: usize,
}

impl Sparse<'_> {
    fn check(&self, candidates: usize, stop: &Stop<'_>) -> Result<()> {
        check_length("starts of sparse features", candidates.saturating_add(1), self.starts.len())?;
        check_length("numbers of sparse features", self.values.len(), self.indices.len())?;
        Offsets::of_rows("starts of sparse features", self.starts, self.values.len(), stop)?;
        check_numbers("sparse features", self.values, self.values.len(), stop)?;
        for piece in self.indices.chunks(PIECE) {
            stop.charge(piece.len())?;
            if let Some(wrong) = piece.iter().find(|&&index| usize::try_from(index).map_or(true, |i| i >= self.width)) {
                let expected = format_args!("at least 0 and below {}", self.width);
                return Err(Error::invalid("each number of a sparse feature", expected, wrong));
            }
        }
        Ok(())
    }

    /// The features of a candidate.
    #[inline]
    fn row(&self, candidate: usize) -> Range<usize> {
        self.starts[candidate] as usize..self.starts[candidate + 1] as usize
    }
}

/// Lists of candidates with their features. Weights are those of the dense features, then those of the sparse ones.
#[derive(Debug, Clone, Copy)]
pub struct Candidates<'a> {
    offsets: Offsets<'a>,
    dense: &'a [f64],
    dense_width: usize,
    sparse: Option<Sparse<'a>>,
}

impl<'a> Candidates<'a> {
    /// Candidates with `width` dense features each. `offsets` says where each list begins, and where the last one ends.
    pub fn new(
        offsets: &'a [i64],
        (dense, width): (&'a [f64], usize),
        sparse: Option<Sparse<'a>>,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        let offsets = Offsets::new(offsets, stop)?;
        check_numbers("dense features", dense, offsets.entries().saturating_mul(width), stop)?;
        if let Some(sparse) = &sparse {
            sparse.check(offsets.entries(), stop)?;
        }
        let candidates = Candidates { offsets, dense, dense_width: width, sparse };
        let width = candidates.width();
        check_option("features", "fewer than 2^31", width, i32::try_from(width).is_ok())?;
        Ok(candidates)
    }

    /// Where each list begins.
    pub fn offsets(&self) -> Offsets<'a> {
        self.offsets
    }

    pub fn sentences(&self) -> usize {
        self.offsets.len()
    }

    /// The number of candidates of all sentences.
    pub fn entries(&self) -> usize {
        self.offsets.entries()
    }

    /// The number of features, and of weights.
    pub fn width(&self) -> usize {
        self.dense_width.saturating_add(self.sparse.map_or(0, |sparse| sparse.width))
    }

    pub fn list(&self, sentence: usize) -> Range<usize> {
        self.offsets.list(sentence)
    }

    /// The longest list.
    pub fn longest(&self) -> usize {
        self.offsets.longest()
    }

    /// The number of features that candidates have, those that are dense and those that sparse rows list.
    pub(super) fn values(&self) -> usize {
        self.dense.len() + self.sparse.map_or(0, |sparse| sparse.values.len())
    }

    /// The cost of all model scores, in additions, roughly.
    pub fn cost(&self) -> u64 {
        (self.dense.len() + self.entries() + 2 * self.sparse.map_or(0, |sparse| sparse.values.len())) as u64
    }

    /// The cost of the model scores of a list.
    pub(super) fn cost_of_list(&self, sentence: usize) -> usize {
        let list = self.list(sentence);
        let sparse = self.sparse.map_or(0, |sparse| sparse.starts[list.end] - sparse.starts[list.start]);
        list.len() * (1 + self.dense_width) + 2 * sparse as usize
    }

    fn dense_row(&self, candidate: usize) -> &'a [f64] {
        &self.dense[candidate * self.dense_width..][..self.dense_width]
    }

    fn sparse_row(&self, candidate: usize) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let first = self.dense_width;
        let row = self.sparse.map(|sparse| {
            let range = sparse.row(candidate);
            sparse.indices[range.clone()].iter().zip(&sparse.values[range])
        });
        row.into_iter().flatten().map(move |(&index, &value)| (first + index as usize, value))
    }

    /// Visits the features of a candidate, and their values. A sparse feature may come more than once.
    #[inline]
    pub(super) fn each(&self, candidate: usize, mut visit: impl FnMut(usize, f64)) {
        self.dense_row(candidate).iter().enumerate().for_each(|(feature, &value)| visit(feature, value));
        // Not by the iterator of sparse_row, with which a pass over all lists took 1.15 times as long.
        if let Some(sparse) = &self.sparse {
            let row = sparse.row(candidate);
            let pairs = sparse.indices[row.clone()].iter().zip(&sparse.values[row]);
            pairs.for_each(|(&index, &value)| visit(self.dense_width + index as usize, value));
        }
    }

    #[inline]
    pub fn score(&self, candidate: usize, weights: &[f64]) -> f64 {
        let dense: f64 = self.dense_row(candidate).iter().zip(weights).map(|(value, weight)| value * weight).sum();
        match self.sparse {
            None => dense,
            Some(_) => self.sparse_row(candidate).fold(dense, |sum, (i, value)| sum + value * weights[i]),
        }
    }

    /// The model scores of the candidates of a sentence.
    #[inline]
    pub fn scores(&self, sentence: usize, weights: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.list(sentence).map(|candidate| self.score(candidate, weights)));
    }

    /// A copy of the dense features in another order, for [`Self::scores_by_columns`]: list by list, and within a list
    /// feature by feature.
    pub(super) fn columns(&self, stop: &Stop<'_>) -> Result<Vec<f64>> {
        let mut out = reserved(self.dense.len())?;
        for sentence in 0..self.sentences() {
            let list = self.list(sentence);
            stop.charge(list.len() * self.dense_width)?;
            for feature in 0..self.dense_width {
                let rows = self.dense[list.start * self.dense_width..].iter().skip(feature);
                out.extend(rows.step_by(self.dense_width).take(list.len()));
            }
        }
        Ok(out)
    }

    /// The same values as [`Self::scores`], from [`Self::columns`].
    pub(super) fn scores_by_columns(&self, columns: &[f64], sentence: usize, weights: &[f64], out: &mut Vec<f64>) {
        let list = self.list(sentence);
        let columns = &columns[list.start * self.dense_width..list.end * self.dense_width];
        heights(Simd::best(), columns, &weights[..self.dense_width], list.len(), out);
        if self.sparse.is_some() {
            for (out, candidate) in out.iter_mut().zip(list) {
                *out = self.sparse_row(candidate).fold(*out, |sum, (i, value)| sum + value * weights[i]);
            }
        }
    }

    /// Adds a multiple of a candidate's features.
    #[inline]
    pub fn add(&self, candidate: usize, factor: f64, sums: &mut [f64]) {
        self.dense_row(candidate).iter().zip(&mut *sums).for_each(|(value, sum)| *sum += factor * value);
        self.sparse_row(candidate).for_each(|(i, value)| sums[i] += factor * value);
    }

    /// The numbers of the features that a candidate may have.
    pub(super) fn numbers(&self, candidate: usize) -> impl Iterator<Item = usize> + use<'a> {
        (0..self.dense_width).chain(self.sparse_row(candidate).map(|(i, _)| i))
    }
}

#[cfg(test)]
mod tests;
