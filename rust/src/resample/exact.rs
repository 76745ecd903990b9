//! Helpers for exact tests: where a pair of systems differs, and the exact distribution of a sum of fair random signs.

use std::cell::Cell;

use super::Pair;
use crate::error::{Error, Result};
use crate::math::gcd;
use crate::memory::zeros;
use crate::pool::{PIECE, Run, Stop};
use crate::simd::{Simd, dispatch};
use crate::stats::SuffStats;

/// Where a pair of systems differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Differing {
    /// The number of units in which the systems differ.
    pub units: usize,
    /// The only column in which they differ, or None.
    pub column: Option<usize>,
    /// Σ|d|/g over the differences d in that column, where g is their greatest common divisor: the number of steps from
    /// the smallest to the largest sum. 0 without such a column.
    pub span: u64,
}

/// Where a pair of systems differs. If it differs in several columns, counting stops after `most` + 1 units.
pub fn differing(stats: &SuffStats<'_>, (x, y): Pair, most: usize, stop: &Stop<'_>) -> Result<Differing> {
    let (index, len) = (x.max(y), stats.systems());
    if index >= len {
        return Err(Error::OutOfRange { what: "system".into(), index, len });
    }
    let columns = stats.columns();
    let all = 0..stats.segments();
    let (x_counts, y_counts) = (stats.stored(x, all.clone()), stats.stored(y, all));
    let (mut x_buffer, mut y_buffer) = (Vec::new(), Vec::new());
    let mut differs = vec![0; columns * ROWS_SIDE_BY_SIDE];
    let simd = Simd::best();
    let (mut first, mut several) = (None, false);
    for (x_counts, y_counts) in x_counts.chunks(ROWS_PER_CHECK * columns).zip(y_counts.chunks(ROWS_PER_CHECK * columns))
    {
        stop.charge(x_counts.len())?;
        collect(simd, x_counts.widened(&mut x_buffer), y_counts.widened(&mut y_buffer), &mut differs);
        let mut found = (0..columns).filter(|c| differs[*c..].iter().step_by(columns).any(|differs| *differs != 0));
        (first, several) = (found.next(), found.next().is_some());
        if several {
            break;
        }
    }
    let pairs = x_counts.chunks(PIECE * columns).zip(y_counts.chunks(PIECE * columns));
    match first {
        Some(column) if !several => {
            let (mut units, mut sum, mut divisor) = (0, 0u64, 0);
            for (x_counts, y_counts) in pairs {
                stop.charge(x_counts.len())?;
                let (x_counts, y_counts) = (x_counts.widened(&mut x_buffer), y_counts.widened(&mut y_buffer));
                let apart = x_counts[column..].iter().step_by(columns).zip(y_counts[column..].iter().step_by(columns));
                for apart in apart.map(|(x, y)| x.abs_diff(*y)) {
                    units += usize::from(apart != 0);
                    sum = sum.saturating_add(apart);
                    // The divisor is nearly always 1 soon, and then stays 1.
                    if divisor != 1 {
                        divisor = gcd(divisor, apart);
                    }
                }
            }
            Ok(Differing { units, column: Some(column), span: sum / divisor })
        }
        _ => {
            let mut units = 0;
            for (x_counts, y_counts) in pairs {
                stop.charge(x_counts.len())?;
                let (x_counts, y_counts) = (x_counts.widened(&mut x_buffer), y_counts.widened(&mut y_buffer));
                let rows = x_counts.chunks_exact(columns).zip(y_counts.chunks_exact(columns));
                units += rows.filter(|(x, y)| x != y).take(most.saturating_add(1).saturating_sub(units)).count();
                if several && units > most {
                    break;
                }
            }
            Ok(Differing { units, column: None, span: 0 })
        }
    }
}

/// Rows that are compared side by side.
const ROWS_SIDE_BY_SIDE: usize = 8;

/// Rows that are compared between two checks for a second differing column.
const ROWS_PER_CHECK: usize = 64;

dispatch! {
    /// Collects the differing bits of two systems' rows, column by column, for several rows side by side.
    fn collect(x: &[i64], y: &[i64], differs: &mut [i64]) {
        for (x, y) in x.chunks(differs.len()).zip(y.chunks(differs.len())) {
            for ((differs, x), y) in differs.iter_mut().zip(x).zip(y) {
                *differs |= x ^ y;
            }
        }
    }
}

/// P(Σ of a random subset of the steps = j) for j = 0…Σ, each step being included with probability ½: the convolution
/// of two-point distributions.
///
/// Nothing is subtracted, so each of n steps adds a relative error of at most 2^-53 to each probability. Probabilities
/// below 10^-308 lose digits, and those below 10^-323 are 0. The distribution is exactly symmetric, so only one half is
/// computed. Cost: less than n·Σ/2 additions, on one thread. Memory: 16·Σ bytes.
pub fn subset_sum_distribution(steps: &[u64], run: &mut Run<'_>) -> Result<Vec<f64>> {
    // Small steps first, so that the distribution stays short for longer.
    let mut steps: Vec<usize> = steps.iter().map(|&step| usize::try_from(step).unwrap_or(usize::MAX)).collect();
    steps.sort_unstable();
    let length = steps.iter().fold(1, |sum: usize, &step| sum.saturating_add(step));
    // Room for the whole distribution at the end, for its lower half, and for the next lower half.
    let (mut whole, half): (Vec<f64>, usize) = (zeros(&[length])?, length.div_ceil(2));
    let (mut distribution, mut next): (Vec<f64>, Vec<f64>) = (zeros(&[half])?, zeros(&[half])?);
    distribution[0] = 1.0;
    let done = Cell::new(0);
    let convolve = |stop: &Stop<'_>| {
        let (mut end, simd) = (1usize, Simd::best());
        for (steps_done, &step) in (1..).zip(&steps) {
            // The next lower half depends on more than the current lower half; beyond its end the distribution is 0.
            let (half, next_half) = (end.div_ceil(2), (end + step).div_ceil(2));
            for first in (half..next_half).step_by(PIECE) {
                let piece = first..next_half.min(first + PIECE);
                stop.charge(piece.len())?;
                piece.for_each(|place| {
                    distribution[place] = if place < end { distribution[end - 1 - place] } else { 0.0 }
                });
            }
            for (from, next) in (0..).step_by(PIECE).zip(next[..next_half].chunks_mut(PIECE)) {
                stop.charge(next.len())?;
                flip_step(simd, &distribution[..next_half], step, from, next);
            }
            std::mem::swap(&mut distribution, &mut next);
            end += step;
            done.set(steps_done);
        }
        for (first, piece) in (0..).step_by(PIECE).zip(whole.chunks_mut(PIECE)) {
            stop.charge(piece.len())?;
            (first..).zip(piece).for_each(|(place, p)| *p = distribution[place.min(length - 1 - place)]);
        }
        Ok(())
    };
    run.reporting(|_| done.get(), |run| run.serial(convolve))?;
    Ok(whole)
}

dispatch! {
    /// Adds one step: the mean of the distributions with and without it. Computes the values of `next`, which begin at
    /// `from`.
    fn flip_step(distribution: &[f64], step: usize, from: usize, next: &mut [f64]) {
        let length = next.len();
        let (below, above) = next.split_at_mut(step.saturating_sub(from).min(length));
        let without = &distribution[from..];
        let with = &distribution[(from + below.len()).saturating_sub(step)..];
        below.iter_mut().zip(without).for_each(|(next, p)| *next = 0.5 * p);
        for ((next, with), without) in above.iter_mut().zip(with).zip(&without[below.len()..]) {
            *next = 0.5 * (with + without);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{stopped, with_run};
    use proptest::prelude::*;

    #[test]
    fn a_watcher_stops_a_long_convolution() {
        let got = stopped(1, 0, |run| subset_sum_distribution(&[1 << 15; 2000], run));
        assert_eq!(Err(Error::Interrupted), got);
        let too_large = with_run(1, |run| subset_sum_distribution(&[u64::MAX, u64::MAX], run));
        assert!(matches!(too_large, Err(Error::Memory { .. })));
    }

    fn differing_in(
        counts: &[i64],
        [systems, segments, columns]: [usize; 3],
        most: usize,
    ) -> Result<(usize, Option<usize>, u64)> {
        let stats = SuffStats::new(counts, systems, segments, columns).unwrap();
        let found = differing(&stats, (0, 1), most, &Stop::never())?;
        Ok((found.units, found.column, found.span))
    }

    #[test]
    fn units_and_columns_that_differ_are_found() {
        let rows = |changed: &[(usize, i64)]| {
            let mut rows = vec![7; 40];
            changed.iter().for_each(|&(place, value)| rows[place] = value);
            rows
        };
        let computed = |changed: &[(usize, i64)], most| {
            let counts = [rows(&[]), rows(changed)].concat();
            differing_in(&counts, [2, 10, 4], most).unwrap()
        };
        assert_eq!((0, None, 0), computed(&[], 5));
        assert_eq!((3, Some(2), 15), computed(&[(2, 1), (18, 9), (38, 0)], 5));
        assert_eq!((2, None, 0), computed(&[(2, 1), (3, 1), (18, 9)], 5));
        assert_eq!((3, None, 0), computed(&[(0, 1), (1, 1), (4, 1), (8, 9), (12, 1)], 2));
        assert_eq!((4, Some(0), 10), computed(&[(0, 1), (4, 1), (8, 9), (12, 1)], 2));
        // Far apart, by multiples of 2^60, and by one less.
        let far = |less: i64| differing_in(&[-1 << 60, -1 << 59, 1 << 60, (1 << 59) - less], [2, 2, 1], 5);
        assert_eq!([Ok((2, Some(0), 3)), Ok((2, Some(0), (3 << 60) - 1))], [far(0), far(1)]);
        let alone = differing_in(&[1, 2], [1, 2, 1], 5);
        assert_eq!(Err(Error::OutOfRange { what: "system".into(), index: 1, len: 1 }), alone);
    }

    proptest! {
        #![proptest_config(crate::testing::cases(64))]
        #[test]
        fn a_step_is_the_same_on_all_paths_and_in_pieces(
            distribution in prop::collection::vec(0.0..1.0f64, 1..300),
            step in 0..350usize,
            piece in 1..200usize,
        ) {
            let old = |i: usize| distribution.get(i).copied().unwrap_or(0.0);
            let length = distribution.len() + step;
            let expected: Vec<f64> =
                (0..length).map(|j| 0.5 * (old(j) + j.checked_sub(step).map_or(0.0, old))).collect();
            let padded = [distribution.clone(), vec![0.0; step]].concat();
            for simd in Simd::tested() {
                let mut got = vec![9.0; length];
                for (from, next) in (0..).step_by(piece).zip(got.chunks_mut(piece)) {
                    flip_step(simd, &padded, step, from, next);
                }
                prop_assert_eq!(&expected, &got, "{:?}", simd);
            }
        }
    }
}
