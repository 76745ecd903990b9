//! Scores: from the sums of replicates to the statistics of pairs and the scores of systems.

use std::sync::Arc;

use super::design::Place;
use super::kernel::Block;
use super::reduce::{Accumulate, Pair, Partial, batches};
use crate::error::Result;
use crate::memory::resize;
use crate::metric::{Formula, check_defined};
use crate::pool::Stop;
use crate::resample::BATCH;
use crate::simd::{Simd, dispatch};

/// The accumulators that read the same input, with their partial results.
pub(super) type Accumulators<'a, 'k> = [(&'a (dyn Accumulate + 'k), &'a mut Partial)];

/// Buffers for the totals of a batch of replicates, reused by a thread from block to block.
#[derive(Default)]
pub(super) struct Scoring {
    sums: Vec<i64>,
    totals: [Vec<i64>; 2],
}

impl Scoring {
    /// Computes the statistics of the swapped systems for all pairs.
    ///
    /// Let F_x be the sum of system x's rows over the flipped units. Swapping x and y in these units gives the totals
    /// T_x − F_x + F_y and T_y − F_y + F_x. So one sum per system serves every pair. Since only differences between the
    /// F matter, rows are taken relative to the first system, which leaves k − 1 sums of small numbers.
    pub fn statistics(
        &mut self,
        (formulas, simd): (&[Arc<dyn Formula>], Simd),
        block: &Block<'_>,
        pairs: &[Pair],
        accumulators: &mut Accumulators<'_, '_>,
        stop: &Stop<'_>,
    ) -> Result<()> {
        let mut statistics = [0.0; BATCH];
        let places = &block.design.places;
        let (cells, columns) = (|place: &Place| place.systems * place.columns, |place: &Place| place.columns);
        resize(&mut self.sums, places.iter().map(cells).max().unwrap_or(0) * BATCH)?;
        let columns = places.iter().map(columns).max().unwrap_or(0);
        self.totals.iter_mut().try_for_each(|totals| resize(totals, columns * BATCH))?;
        for (at, batch) in batches(&block.replicates) {
            for (metric, (formula, place)) in formulas.iter().zip(places).enumerate() {
                let &Place { systems, columns, cell: first_cell, .. } = place;
                let (cells, wanted) = (systems * columns, metric * pairs.len()..(metric + 1) * pairs.len());
                let wants = |series| accumulators.iter().any(|(accumulate, _)| accumulate.wants(series));
                if !wanted.clone().any(wants) {
                    continue;
                }
                let totals = &block.design.totals[first_cell..][..cells];
                for (cell, flipped) in self.sums.chunks_exact_mut(batch).take(cells).enumerate() {
                    block.copy(first_cell + cell, at, flipped);
                }
                for (series, &(x, y)) in wanted.zip(pairs) {
                    if !accumulators.iter().any(|(accumulate, _)| accumulate.wants(series)) {
                        continue;
                    }
                    stop.charge(8 * columns * batch)?;
                    let [to_x, to_y] = &mut self.totals;
                    let [x, y] = [x, y].map(|system| {
                        let sums = &self.sums[system * columns * batch..][..columns * batch];
                        (&totals[system * columns..][..columns], sums)
                    });
                    swap(simd, x, y, &mut to_x[..columns * batch], &mut to_y[..columns * batch]);
                    let (to_x, to_y) = (&to_x[..columns * batch], &to_y[..columns * batch]);
                    formula.statistics(to_x, to_y, &mut statistics[..batch]);
                    check_defined(formula.as_ref(), &[to_x, to_y], &statistics[..batch])?;
                    for (accumulate, partial) in &mut *accumulators {
                        accumulate.add_values(partial, series, at, &statistics[..batch]);
                    }
                }
                for (accumulate, partial) in &mut *accumulators {
                    accumulate.metric_done(partial, metric, at, batch);
                }
            }
        }
        Ok(())
    }

    /// Computes the scores of all systems.
    pub fn scores(
        &mut self,
        formulas: &[Arc<dyn Formula>],
        block: &Block<'_>,
        accumulators: &mut Accumulators<'_, '_>,
        stop: &Stop<'_>,
    ) -> Result<()> {
        let mut scores = [0.0; BATCH];
        let places = &block.design.places;
        resize(&mut self.sums, places.iter().map(|place| place.columns).max().unwrap_or(0) * BATCH)?;
        for (at, batch) in batches(&block.replicates) {
            for (metric, (formula, place)) in formulas.iter().zip(places).enumerate() {
                let &Place { systems, columns, cell: first_cell, system: first_system } = place;
                for system in 0..systems {
                    stop.charge(8 * columns * batch)?;
                    let totals = &mut self.sums[..columns * batch];
                    for (column, totals) in totals.chunks_exact_mut(batch).enumerate() {
                        block.copy(first_cell + system * columns + column, at, totals);
                    }
                    formula.scores(totals, &mut scores[..batch]);
                    check_defined(formula.as_ref(), &[totals], &scores[..batch])?;
                    for (accumulate, partial) in &mut *accumulators {
                        accumulate.add_values(partial, first_system + system, at, &scores[..batch]);
                    }
                }
                for (accumulate, partial) in &mut *accumulators {
                    accumulate.metric_done(partial, metric, at, batch);
                }
            }
        }
        Ok(())
    }
}

dispatch! {
    /// Computes the totals of two systems after the swaps, from their totals and their sums over the flipped units in a
    /// batch of replicates. All arrays are column by column.
    fn swap(x: (&[i64], &[i64]), y: (&[i64], &[i64]), to_x: &mut [i64], to_y: &mut [i64]) {
        let (total_x, flipped_x) = x;
        let (total_y, flipped_y) = y;
        let batch = flipped_x.len() / total_x.len();
        let flipped = flipped_x.chunks_exact(batch).zip(flipped_y.chunks_exact(batch));
        let swapped = to_x.chunks_exact_mut(batch).zip(to_y.chunks_exact_mut(batch));
        for (((flipped_x, flipped_y), (to_x, to_y)), (total_x, total_y)) in
            flipped.zip(swapped).zip(total_x.iter().zip(total_y))
        {
            for (((flipped_x, flipped_y), to_x), to_y) in flipped_x.iter().zip(flipped_y).zip(to_x).zip(to_y) {
                let moved = flipped_x - flipped_y;
                (*to_x, *to_y) = (total_x - moved, total_y + moved);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Purpose, Stream};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::cases(64))]
    #[test]
    fn all_paths_swap_the_same(
        columns in prop::collection::vec([-(1i64 << 40)..1 << 40, -(1i64 << 40)..1 << 40], 1..12),
        batch in 1..=BATCH,
        seed in any::<u64>(),
    ) {
        let random = |replicate| Stream::new(seed, Purpose::Draw, replicate).values().map(|w| w as i64 >> 20);
        let of = [0, 1].map(|x| random(x).take(columns.len() * batch).collect::<Vec<_>>());
        let totals = [0, 1].map(|x: usize| columns.iter().map(|both| both[x]).collect::<Vec<_>>());
        let swapped = |x: usize, i: usize| totals[x][i / batch] - of[x][i] + of[1 - x][i];
        let expected = [0, 1].map(|x| (0..columns.len() * batch).map(|i| swapped(x, i)).collect::<Vec<_>>());
        for simd in Simd::tested() {
            let mut got = [of[0].clone(), of[0].clone()];
            let [to_x, to_y] = &mut got;
            swap(simd, (&totals[0], &of[0]), (&totals[1], &of[1]), to_x, to_y);
            prop_assert_eq!(&expected, &got, "{:?}", simd);
        }
    }
    }
}
