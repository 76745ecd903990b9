//! The columns of the features that have been selected, and the loss as a function of their weights.

use std::ops::Range;

use super::{Lists, VALUES_PER_BLOCK, softmax};
use crate::error::Result;
use crate::memory::{extend, reserved, resize, zeros};
use crate::pool::{self, Blocks, Run, Stop};

/// Features that have no column.
const NONE: u32 = u32::MAX;

/// About how many numbers the matrices of second derivatives of all blocks may have together.
const MATRICES: usize = 1 << 24;

/// A copy of some columns.
pub(super) struct Active<'a> {
    lists: Lists<'a>,
    /// Where the row of each candidate begins.
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    /// The number of columns.
    count: usize,
}

/// The rows of a block: their lengths, columns and values.
type Rows = (Vec<usize>, Vec<u32>, Vec<f64>);

impl<'a> Active<'a> {
    /// Copies the columns of these features.
    pub fn new(lists: &Lists<'a>, features: &[usize], run: &mut Run<'_>) -> Result<Self> {
        let mut column_of: Vec<u32> = zeros(&[lists.candidates.width()])?;
        run.serial(|stop| {
            for piece in column_of.chunks_mut(crate::pool::PIECE) {
                stop.charge(piece.len())?;
                piece.fill(NONE);
            }
            Ok(())
        })?;
        features.iter().enumerate().for_each(|(column, &feature)| column_of[feature] = column as u32);
        let mut active = Active {
            lists: *lists,
            starts: reserved(lists.candidates.entries() + 1)?,
            columns: Vec::new(),
            values: Vec::new(),
            count: features.len(),
        };
        active.starts.push(0);
        pool::try_run(
            lists.blocks(),
            run,
            || (),
            |(), block, stop| Self::rows(lists, &column_of, block, stop),
            |_, (lengths, columns, values), _| {
                for length in lengths {
                    active.starts.push(active.starts[active.starts.len() - 1] + length);
                }
                extend(&mut active.columns, columns)?;
                extend(&mut active.values, values)
            },
        )?;
        Ok(active)
    }

    fn rows(lists: &Lists<'_>, column_of: &[u32], block: Range<usize>, stop: &Stop<'_>) -> Result<Rows> {
        let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for candidate in lists.block(&block) {
            let (before, mut all) = (columns.len(), 0);
            lists.candidates.each(candidate, |feature, value| {
                all += 1;
                if column_of[feature] != NONE && value != 0.0 {
                    columns.push(column_of[feature]);
                    values.push(value);
                }
            });
            stop.charge(4 * all + 4)?;
            lengths.push(columns.len() - before);
        }
        Ok((lengths, columns, values))
    }

    /// Blocks of lists, for work with so many additions per value.
    fn blocks(&self, cost: u64) -> Blocks {
        let per_list = (self.values.len() + self.starts.len()) / self.lists.candidates.sentences() + 1;
        let size = (VALUES_PER_BLOCK / per_list).max(1);
        Blocks { items: self.lists.candidates.sentences(), size, cost: cost * per_list as u64, lead: 0 }
    }

    fn row(&self, candidate: usize) -> impl Iterator<Item = (usize, f64)> {
        let row = self.starts[candidate]..self.starts[candidate + 1];
        self.columns[row.clone()].iter().zip(&self.values[row]).map(|(&column, &value)| (column as usize, value))
    }

    /// Weighted sums of the features of each candidate.
    pub fn scores(&self, weights: &[f64], run: &mut Run<'_>) -> Result<Vec<f64>> {
        let mut scores: Vec<f64> = zeros(&[self.starts.len() - 1])?;
        pool::try_run(
            self.blocks(2),
            run,
            || (),
            |(), block, stop| {
                let mut part = reserved(self.lists.block(&block).len())?;
                for candidate in self.lists.block(&block) {
                    stop.charge(4 + self.starts[candidate + 1] - self.starts[candidate])?;
                    part.push(self.row(candidate).fold(0.0, |sum, (column, value)| sum + weights[column] * value));
                }
                Ok(part)
            },
            |block, part: Vec<f64>, _| {
                scores[self.lists.block(&block)].copy_from_slice(&part);
                Ok(())
            },
        )?;
        Ok(scores)
    }

    /// The loss at these scores plus `step` times others.
    pub fn loss(&self, scores: &[f64], (step, direction): (f64, &[f64]), run: &mut Run<'_>) -> Result<f64> {
        let mut total = 0.0;
        pool::try_run(
            self.blocks(4),
            run,
            Vec::new,
            |shares, block, stop| {
                let mut loss = 0.0;
                for list in block {
                    let candidates = self.lists.candidates.list(list);
                    stop.charge(20 * candidates.len())?;
                    shares.clear();
                    shares.extend(candidates.map(|candidate| scores[candidate] + step * direction[candidate]));
                    loss += softmax(shares, self.lists.target(list));
                }
                Ok(loss)
            },
            |_, loss, _| {
                total += loss;
                Ok(())
            },
        )?;
        Ok(total)
    }

    /// The loss and its gradient at these scores.
    pub fn gradient(&self, scores: &[f64], run: &mut Run<'_>) -> Result<(f64, Vec<f64>)> {
        let mut total = (0.0, zeros(&[self.count])?);
        pool::try_run(
            self.blocks(4),
            run,
            Vec::new,
            |shares, block, stop| {
                let mut loss = 0.0;
                let mut gradient: Vec<f64> = zeros(&[self.count])?;
                for list in block {
                    let candidates = self.lists.candidates.list(list);
                    let values = self.starts[candidates.end] - self.starts[candidates.start];
                    stop.charge(20 * candidates.len() + 2 * values)?;
                    shares.clear();
                    shares.extend_from_slice(&scores[candidates.clone()]);
                    loss += softmax(shares, self.lists.target(list));
                    shares[self.lists.target(list)] -= 1.0;
                    for (candidate, &share) in candidates.zip(&*shares) {
                        self.row(candidate).for_each(|(column, value)| gradient[column] += share * value);
                    }
                }
                Ok((loss, gradient))
            },
            |_, (loss, gradient), _| {
                total.0 += loss;
                total.1.iter_mut().zip(&gradient).for_each(|(sum, value)| *sum += value);
                Ok(())
            },
        )?;
        Ok(total)
    }

    /// The second derivatives of the loss with respect to the weights of `free` columns: a square matrix, row by row.
    pub fn curvature(&self, scores: &[f64], free: &[usize], run: &mut Run<'_>) -> Result<Vec<f64>> {
        let n = free.len();
        let mut place = vec![NONE; self.count];
        free.iter().enumerate().for_each(|(i, &column)| place[column] = i as u32);
        let mut total: Vec<f64> = zeros(&[n, n])?;
        let per_list = (self.values.len() / self.lists.candidates.sentences() + 1) as u64;
        // Few blocks, because each returns a matrix. Their number depends on the problem, but not on the threads.
        let most = (MATRICES / (n * n).max(1)).clamp(1, 32);
        let blocks =
            Blocks { size: self.lists.candidates.sentences().div_ceil(most), cost: 16 * per_list, ..self.blocks(1) };
        pool::try_run(
            blocks,
            run,
            Covariance::default,
            |state, block, stop| self.covariances(scores, n, &place, state, block, stop),
            |_, part: Vec<f64>, _| {
                total.iter_mut().zip(&part).for_each(|(sum, value)| *sum += value);
                Ok(())
            },
        )?;
        // Only the upper triangle has been summed.
        for i in 0..n {
            for j in 0..i {
                total[i * n + j] = total[j * n + i];
            }
        }
        Ok(total)
    }

    /// The sum over lists of the features' covariances, in the upper triangle.
    fn covariances(
        &self,
        scores: &[f64],
        n: usize,
        place: &[u32],
        state: &mut Covariance,
        block: Range<usize>,
        stop: &Stop<'_>,
    ) -> Result<Vec<f64>> {
        let Covariance { shares, means, touched, row } = state;
        let mut out: Vec<f64> = zeros(&[n, n])?;
        resize(means, n)?;
        for list in block {
            let candidates = self.lists.candidates.list(list);
            shares.clear();
            shares.extend_from_slice(&scores[candidates.clone()]);
            softmax(shares, self.lists.target(list));
            for (candidate, &share) in candidates.zip(&*shares) {
                row.clear();
                let free = self.row(candidate).map(|(column, value)| (place[column], value));
                row.extend(free.filter(|(i, _)| *i != NONE).map(|(i, value)| (i as usize, value)));
                stop.charge(20 + row.len() * row.len())?;
                for &(i, value) in &*row {
                    if means[i] == 0.0 {
                        touched.push(i);
                    }
                    means[i] += share * value;
                    let scaled = share * value;
                    for &(j, other) in row.iter().filter(|(j, _)| *j >= i) {
                        out[i * n + j] += scaled * other;
                    }
                }
            }
            touched.sort_unstable();
            touched.dedup();
            for (first, &i) in touched.iter().enumerate() {
                stop.charge(touched.len() - first)?;
                touched[first..].iter().for_each(|&j| out[i * n + j] -= means[i] * means[j]);
            }
            touched.drain(..).for_each(|i| means[i] = 0.0);
        }
        Ok(out)
    }
}

/// What a thread needs to sum covariances.
#[derive(Default)]
struct Covariance {
    shares: Vec<f64>,
    means: Vec<f64>,
    touched: Vec<usize>,
    row: Vec<(usize, f64)>,
}
