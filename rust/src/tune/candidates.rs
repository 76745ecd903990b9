//! The features of candidates, and where the list of each sentence begins.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::memory::reserved;
use crate::pool::{Stop, WorkMeter};
use crate::simd::{Simd, dispatch};
use crate::stream::{Indices, Purpose, Stream};

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

/// Lists of candidates with their features. Weights are those of the dense features, then those of the sparse ones.
#[derive(Debug, Clone, Copy)]
pub struct Candidates<'a> {
    offsets: &'a [i64],
    dense: &'a [f64],
    dense_width: usize,
    sparse: Option<Sparse<'a>>,
}

fn mismatch(what: &str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::LengthMismatch { what: what.into(), expected, got }) }
}

/// Checks that numbers begin with 0, never fall, and end with `end`.
fn check_starts(what: &str, starts: &[i64], end: usize, stop: &Stop<'_>) -> Result<()> {
    let mut meter = WorkMeter::default();
    let invalid = |got: String| Error::InvalidOption {
        option: what.into(),
        expected: format!("numbers that begin with 0, never fall, and end with {end}"),
        got,
    };
    let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else { return Err(invalid("none".into())) };
    if first != 0 || usize::try_from(last) != Ok(end) {
        return Err(invalid(format!("{first} to {last}")));
    }
    for pair in starts.windows(2) {
        meter.charge(1, stop)?;
        if pair[1] < pair[0] {
            return Err(invalid(format!("{} after {}", pair[1], pair[0])));
        }
    }
    Ok(())
}

fn check_finite(what: &str, values: &[f64], stop: &Stop<'_>) -> Result<()> {
    let mut meter = WorkMeter::default();
    for value in values {
        meter.charge(1, stop)?;
        if !value.is_finite() {
            let (option, expected) = (what.into(), "finite numbers".into());
            return Err(Error::InvalidOption { option, expected, got: value.to_string() });
        }
    }
    Ok(())
}

impl<'a> Candidates<'a> {
    /// Candidates with `width` dense features each. `offsets` says where each list begins, and where the last one ends.
    ///
    /// # Errors
    /// If there is no list, a list is empty, lengths or numbers do not fit together, or a feature is not finite.
    pub fn new(
        offsets: &'a [i64],
        (dense, width): (&'a [f64], usize),
        sparse: Option<Sparse<'a>>,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        let entries = offsets.last().map_or(0, |&end| usize::try_from(end).unwrap_or(0));
        check_starts("offsets of lists", offsets, entries, stop)?;
        if offsets.len() == 1 {
            return Err(Error::Empty { what: "lists of candidates".into() });
        }
        if let Some(empty) = offsets.windows(2).position(|pair| pair[0] == pair[1]) {
            return Err(Error::Empty { what: format!("candidates of sentence {}", empty + 1) });
        }
        mismatch("dense features", entries.saturating_mul(width), dense.len())?;
        check_finite("dense features", dense, stop)?;
        if let Some(sparse) = &sparse {
            mismatch("starts of sparse features", entries.saturating_add(1), sparse.starts.len())?;
            mismatch("numbers of sparse features", sparse.values.len(), sparse.indices.len())?;
            if i32::try_from(sparse.width).is_err() {
                let (option, expected) = ("sparse features".into(), "fewer than 2^31".into());
                return Err(Error::InvalidOption { option, expected, got: sparse.width.to_string() });
            }
            check_starts("starts of sparse features", sparse.starts, sparse.values.len(), stop)?;
            check_finite("sparse features", sparse.values, stop)?;
            let out = |&&index: &&i32| usize::try_from(index).is_ok_and(|index| index < sparse.width);
            if let Some(&wrong) = sparse.indices.iter().find(|index| !out(index)) {
                let (option, got) = ("each number of a sparse feature".into(), wrong.to_string());
                let expected = format!("at least 0 and below {}", sparse.width);
                return Err(Error::InvalidOption { option, expected, got });
            }
        }
        Ok(Candidates { offsets, dense, dense_width: width, sparse })
    }

    /// The number of sentences.
    pub fn sentences(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of candidates of all sentences.
    pub fn entries(&self) -> usize {
        self.offsets[self.sentences()] as usize
    }

    /// The number of features, and of weights.
    pub fn width(&self) -> usize {
        self.dense_width + self.sparse.map_or(0, |sparse| sparse.width)
    }

    /// The candidates of a sentence.
    pub fn list(&self, sentence: usize) -> Range<usize> {
        self.offsets[sentence] as usize..self.offsets[sentence + 1] as usize
    }

    /// The longest list.
    pub fn longest(&self) -> usize {
        (0..self.sentences()).map(|sentence| self.list(sentence).len()).max().unwrap_or(0)
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
            let range = sparse.starts[candidate] as usize..sparse.starts[candidate + 1] as usize;
            sparse.indices[range.clone()].iter().zip(&sparse.values[range])
        });
        row.into_iter().flatten().map(move |(&index, &value)| (first + index as usize, value))
    }

    /// The model score of a candidate.
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

    /// The dense features again, for [`Self::scores_by_columns`]: list by list, and in a list feature by feature.
    pub(super) fn columns(&self, stop: &Stop<'_>) -> Result<Vec<f64>> {
        let mut out = reserved(self.dense.len())?;
        let mut meter = WorkMeter::default();
        for sentence in 0..self.sentences() {
            let list = self.list(sentence);
            meter.charge(list.len() * self.dense_width, stop)?;
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
        out.clear();
        out.resize(list.len(), 0.0);
        let columns = &columns[list.start * self.dense_width..list.end * self.dense_width];
        weigh(Simd::best(), columns, &weights[..self.dense_width], out);
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

    /// The candidate with the best model score for a sentence; the first one if there are several.
    pub fn best(&self, sentence: usize, weights: &[f64]) -> usize {
        let list = self.list(sentence);
        let scores = list.clone().map(|candidate| self.score(candidate, weights));
        list.start + first_largest(scores)
    }
}

dispatch! {
    /// The weighted sums of columns, which lie one after another. `out` holds zeros.
    fn weigh(columns: &[f64], weights: &[f64], out: &mut [f64]) = weigh_inline;
}

#[inline(always)]
fn weigh_inline(columns: &[f64], weights: &[f64], out: &mut [f64]) {
    let n = out.len();
    let (fours, rest) = weights.as_chunks::<4>();
    for (i, &[w, x, y, z]) in fours.iter().enumerate() {
        let (a, others) = columns[4 * i * n..][..4 * n].split_at(n);
        let (b, others) = others.split_at(n);
        let (c, d) = others.split_at(n);
        for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *out = *out + a * w + b * x + c * y + d * z;
        }
    }
    for (i, weight) in (4 * fours.len()..).zip(rest) {
        out.iter_mut().zip(&columns[i * n..][..n]).for_each(|(out, value)| *out += value * weight);
    }
}

dispatch! {
    /// The place of the first of the largest sums of `a` times the first and `b` times the second number.
    pub(super) fn largest_sum(first: &[f64], a: f64, second: &[f64], b: f64) -> usize = largest_sum_inline;
}

#[inline(always)]
fn largest_sum_inline(first: &[f64], a: f64, second: &[f64], b: f64) -> usize {
    const LANES: usize = 16;
    let mut best = [f64::NEG_INFINITY; LANES];
    let ((whole, rest), (other_whole, other_rest)) = (first.as_chunks::<LANES>(), second.as_chunks::<LANES>());
    for (first, second) in whole.iter().zip(other_whole) {
        for ((best, x), y) in best.iter_mut().zip(first).zip(second) {
            let sum = a * x + b * y;
            *best = if sum > *best { sum } else { *best };
        }
    }
    for ((best, x), y) in best.iter_mut().zip(rest).zip(other_rest) {
        let sum = a * x + b * y;
        *best = if sum > *best { sum } else { *best };
    }
    let largest = best.iter().fold(f64::NEG_INFINITY, |best, &sum| if sum > best { sum } else { best });
    first.iter().zip(second).position(|(x, y)| a * x + b * y == largest).unwrap_or(0)
}

/// The first of the largest numbers.
#[inline]
pub(super) fn first_largest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, value) in values.enumerate() {
        if value > best.1 {
            best = (i, value);
        }
    }
    best.0
}

/// The order in which a run visits the sentences in an epoch.
pub(super) fn shuffle(seed: u64, epoch: u64, order: &mut Vec<u32>, sentences: usize) {
    order.clear();
    order.extend(0..sentences as u32);
    let stream = Stream::new(seed, Purpose::Visit, epoch);
    // A place of its own for each exchange: 64 random bits times the number of places, of which the high half counts.
    // The bias is below 2^-32.
    for (i, value) in (1..sentences).rev().zip(stream.values()) {
        order.swap(i, ((u128::from(value) * (i as u128 + 1)) >> 64) as usize);
    }
}

/// Random places below a bound in the list of a sentence.
pub(super) fn draws(seed: u64, sentence: usize, bound: u32) -> Indices {
    Stream::new(seed, Purpose::Pairs, sentence as u64).indices(bound)
}

/// Checks an option.
pub(super) fn check_option(option: &str, expected: &str, got: f64, valid: bool) -> Result<()> {
    if valid {
        return Ok(());
    }
    Err(Error::InvalidOption { option: option.into(), expected: expected.into(), got: got.to_string() })
}

/// Checks weights.
pub(super) fn check_weights(candidates: &Candidates<'_>, weights: &[f64], stop: &Stop<'_>) -> Result<()> {
    mismatch("weights", candidates.width(), weights.len())?;
    check_finite("weights", weights, stop)
}

/// Checks numbers that every candidate has.
pub(super) fn check_values(candidates: &Candidates<'_>, what: &str, values: &[f64], stop: &Stop<'_>) -> Result<()> {
    mismatch(what, candidates.entries(), values.len())?;
    check_finite(what, values, stop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vector_instructions_give_the_same_sums_and_places(
            weights in proptest::collection::vec(-2.0..2.0, 0..10), n in 1_usize..70, seed: u64, b in -2..2_i32,
        ) {
            let values: Vec<f64> = Stream::new(seed, Purpose::Draw, 0)
                .values()
                .map(|value| (value % 7) as f64 - 3.0)
                .take(n * (1 + weights.len()))
                .collect();
            let (others, columns) = values.split_at(n);
            let sum = |k: usize| weights.iter().enumerate().fold(0.0, |sum, (i, w)| sum + columns[i * n + k] * w);
            let sums: Vec<f64> = (0..n).map(sum).collect();
            let both = sums.iter().zip(others).map(|(x, y)| x + f64::from(b) * y);
            let expected = first_largest(both);
            for simd in Simd::available() {
                let mut out = vec![0.0; n];
                weigh(simd, columns, &weights, &mut out);
                prop_assert_eq!(&sums, &out);
                prop_assert_eq!(expected, largest_sum(simd, &sums, 1.0, others, b.into()));
            }
        }

        #[test]
        fn shuffles_are_permutations(seed: u64, epoch: u64, n in 0_usize..100) {
            let mut order = vec![7; 3];
            shuffle(seed, epoch, &mut order, n);
            order.sort_unstable();
            prop_assert_eq!((0..n as u32).collect::<Vec<_>>(), order);
        }
    }

    #[test]
    fn scores_by_columns_are_those_by_rows() -> Result<()> {
        let dense: Vec<f64> = (0..35).map(|i| f64::from(i * i % 11) - 5.0).collect();
        let sparse =
            Sparse { starts: &[0, 0, 2, 2, 3, 3, 3, 3], indices: &[1, 0, 1], values: &[0.5, 2.0, -1.0], width: 2 };
        let stop = Stop::never();
        let candidates = Candidates::new(&[0, 3, 4, 7], (&dense, 5), Some(sparse), &stop)?;
        let weights = [0.3, -1.0, 0.25, 2.0, 0.1, 7.0, -3.0];
        let columns = candidates.columns(&stop)?;
        let (mut by_rows, mut by_columns) = (Vec::new(), Vec::new());
        for sentence in 0..candidates.sentences() {
            candidates.scores(sentence, &weights, &mut by_rows);
            candidates.scores_by_columns(&columns, sentence, &weights, &mut by_columns);
            assert_eq!(by_rows, by_columns);
        }
        Ok(())
    }

    #[test]
    fn the_check_of_candidates_can_be_stopped() {
        let (offsets, dense) = ([0, 1 << 20], vec![0.0; 1 << 20]);
        assert_eq!(Some(Error::Interrupted), Candidates::new(&offsets, (&dense, 1), None, &Stop::at_once()).err());
    }
}
