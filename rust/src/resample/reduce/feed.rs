//! Reductions of values that somebody else computes, such as the scores of a function in Python.

use std::ops::Range;

use super::{AnyReduction, Input, Partial, Shape, batches};
use crate::error::{Error, Result, check_length};
use crate::pool::Stop;

/// The most replicates between two looks at whether the call is cancelled; few enough for the bins of histograms.
const STEP: u64 = 1 << 12;

/// More systems and replicates than there is memory and time for, but few enough for products of them with other numbers.
const MOST_SYSTEMS: usize = 1 << 24;
const MOST_REPLICATES: u64 = 1 << 53;

/// Reductions under one metric, which read their values block by block, in the order of the replicates.
#[derive(Default)]
pub struct Feed {
    reductions: Vec<AnyReduction>,
    series: usize,
    /// The replicates that are still to come.
    rest: Range<u64>,
    partial: Partial,
}

impl Feed {
    /// Begins reductions of these replicates, which read the statistics of the same number of pairs, or the scores of
    /// `systems` systems.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for reductions that read sums, or the replicates several times; as
    /// [`super::Reduction::begin`].
    pub fn new(mut reductions: Vec<AnyReduction>, systems: usize, replicates: Range<u64>) -> Result<Self> {
        let refused = |got: &str| Err(Error::invalid("a reduction of values", "one that reads each value once", got));
        if systems > MOST_SYSTEMS {
            return Err(Error::OutOfRange { what: "system".into(), index: systems - 1, len: MOST_SYSTEMS });
        }
        if replicates.end > MOST_REPLICATES {
            let (index, len) = (replicates.end as usize - 1, MOST_REPLICATES as usize);
            return Err(Error::OutOfRange { what: "replicate".into(), index, len });
        }
        let shape = Shape { systems: vec![systems], cells: 0 };
        let mut series = None;
        for reduction in &mut reductions {
            let Some(reduction) = reduction.as_one_pass() else { return refused("MinP") };
            let own = match reduction.input() {
                Input::Pairs(pairs) => pairs.len(),
                Input::Systems | Input::Permuted => systems,
                Input::Sums => return refused("Sums"),
            };
            check_length("series of a reduction", *series.get_or_insert(own), own)?;
            reduction.begin(&shape, replicates.clone())?;
        }
        Ok(Feed { reductions, series: series.unwrap_or(0), rest: replicates, partial: Partial::default() })
    }

    /// The series that still need values: all of them, unless all reductions have rules that stop tests.
    pub fn active(&self) -> Vec<usize> {
        let needs = |reduction: &AnyReduction, series: usize| match reduction {
            AnyReduction::SequentialTally(tally) => tally.outcomes().map_or(true, |outcomes| !outcomes[series].stopped),
            _ => true,
        };
        (0..self.series).filter(|&series| self.reductions.iter().any(|each| needs(each, series))).collect()
    }

    /// Adds the values of some series, in ascending order, in the next `n` replicates. Those of others are not needed.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an unknown series or too many replicates and [`Error::InvalidOption`] for another
    /// order.
    pub fn update(&mut self, series: &[usize], (values, n): (&[f64], usize), stop: &Stop<'_>) -> Result<()> {
        let out_of_range = |what: &str, index, len| Err(Error::OutOfRange { what: what.into(), index, len });
        if let Some(&index) = series.iter().find(|&&series| series >= self.series) {
            return out_of_range("series", index, self.series);
        }
        if !series.is_sorted_by(|before, after| before < after) {
            return Err(Error::invalid("series", "in ascending order", format!("{series:?}")));
        }
        let left = (self.rest.end - self.rest.start) as usize;
        if n > left {
            return out_of_range("replicate", n - 1, left);
        }
        let Range { start: first, .. } = self.rest;
        let end = first + n as u64;
        while self.rest.start < end {
            stop.check()?;
            let block = self.rest.start..end.min((self.rest.start / STEP + 1) * STEP);
            let from = (block.start - first) as usize;
            self.partial.replicates = block.clone();
            for reduction in self.reductions.iter_mut().filter_map(AnyReduction::as_one_pass) {
                let (accumulate, mut combine) = reduction.stages();
                accumulate.start(&mut self.partial)?;
                for (at, batch) in batches(&block) {
                    for (values, &series) in values.chunks_exact(n).zip(series) {
                        accumulate.add_values(&mut self.partial, series, at, &values[from + at..][..batch]);
                    }
                    accumulate.metric_done(&mut self.partial, 0, at, batch);
                }
                accumulate.finish(&mut self.partial);
                combine(&self.partial)?;
            }
            self.rest.start = block.end;
        }
        Ok(())
    }

    /// The reductions with what they have computed.
    pub fn into_reductions(self) -> Vec<AnyReduction> {
        self.reductions
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ranged, Series, Sums, Tally};
    use super::*;
    use crate::resample::Alternative;

    #[test]
    fn values_in_blocks_of_any_size_are_those_of_one_block() {
        let pairs = vec![(0, 1), (1, 0)];
        let values: Vec<f64> = (0..2 * 300).map(|i| f64::from(i % 7)).collect();
        let fed = |sizes: &[usize]| {
            let tally = Tally::new(pairs.clone(), Alternative::TwoSided, vec![3.0, 5.0]);
            let both = vec![AnyReduction::Tally(tally), AnyReduction::Series(Series::new(pairs.clone()))];
            let mut feed = Feed::new(both, 2, 0..300).unwrap();
            let mut first = 0;
            for &n in sizes {
                let block: Vec<f64> = [0, 300].iter().flat_map(|at| &values[at + first..][..n]).copied().collect();
                feed.update(&[0, 1], (&block, n), &Stop::never()).unwrap();
                first += n;
            }
            let [AnyReduction::Tally(tally), AnyReduction::Series(series)] = &feed.into_reductions()[..] else {
                unreachable!("they are of these classes")
            };
            (tally.counts().to_vec(), series.statistics().to_vec(), series.replicates().unwrap())
        };
        let reached = |row: &[f64], limit: f64| row.iter().filter(|&&value| value >= limit).count() as u64;
        let expected = vec![reached(&values[..300], 3.0), reached(&values[300..], 5.0)];
        assert_eq!((expected, values.clone(), 0..300), fed(&[300]));
        assert_eq!(fed(&[300]), fed(&[1, 63, 65, 0, 171]));
    }

    #[test]
    fn what_cannot_be_fed_is_refused() {
        assert!(Feed::new(vec![AnyReduction::Sums(Sums::default())], 2, 0..9).is_err());
        let series = |n: u64| Feed::new(vec![AnyReduction::Series(Series::new(vec![(0, 1)]))], 2, 0..n).unwrap();
        assert!(series(9).update(&[1], (&[0.0], 1), &Stop::never()).is_err());
        assert!(series(1).update(&[0], (&[0.0; 2], 2), &Stop::never()).is_err());
        assert!(series(1).update(&[0, 0], (&[0.0; 2], 1), &Stop::never()).is_err());
        let too_many = [(usize::MAX, 1), (2, u64::MAX)];
        assert!(too_many.iter().all(|&(systems, n)| Feed::new(Vec::new(), systems, 0..n).is_err()));
    }
}
