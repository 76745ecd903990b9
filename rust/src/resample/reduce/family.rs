//! Families of tests on one set of shuffles: step-down maxT and minP (Westfall & Young 1993, Resampling-Based Multiple
//! Testing, algorithms 2.8 and 4.1).
//!
//! The tests of a family are the pairs under one metric. Each shuffle gives all of them a statistic at once, so what a
//! family's most extreme statistic is by chance can be counted, whatever depends on what.

use std::ops::Range;

use crate::error::Result;
use crate::pool::{self, PIECE, Patience, Run, Stop};
use crate::resample::shuffle::{Alternative, Pair, Shuffles, statistics};
use crate::resample::{Plan, Scored, check_replicates, reserved, zeros};

impl Alternative {
    /// How extreme a statistic is: the larger the number, the more.
    #[inline(always)]
    fn extremeness(self, statistic: f64) -> f64 {
        match self {
            Alternative::TwoSided => statistic.abs(),
            Alternative::Greater => statistic,
            Alternative::Less => -statistic,
        }
    }
}

/// The root mean square of every statistic over the shuffles, whose mean is 0 by symmetry: metric by metric, pair by
/// pair.
///
/// # Errors
/// As [`crate::resample::shuffle::tally`].
pub fn spreads(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (plan, n): (Plan<'_, u64>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    let shuffles = Shuffles::new(scored, pairs, run)?;
    let mut sums = vec![0.0; shuffles.series()];
    shuffles.run(
        (plan, n),
        run,
        |shuffles, block, stop| {
            // A sum for each batch: floats are then added up in the same order, whatever the blocks are.
            let mut of_batches = vec![Vec::new(); shuffles.series()];
            shuffles.statistics((block, stop), |series, _, statistics| {
                of_batches[series].push(statistics.iter().map(|t| t * t).sum::<f64>());
            })?;
            Ok(of_batches)
        },
        |_, block: Vec<Vec<f64>>| {
            for (sum, of_batches) in sums.iter_mut().zip(block) {
                of_batches.into_iter().for_each(|of_batch| *sum += of_batch);
            }
        },
    )?;
    Ok(sums.into_iter().map(|sum| (sum / n as f64).sqrt()).collect())
}

/// Step-down maxT: for every test how many shuffles have, among it and all tests of its family that are less extreme,
/// one that is at least as extreme as it. Metric by metric, pair by pair.
///
/// `scales` are what statistics are multiplied with to be comparable, and `thresholds` how extreme the observed ones are
/// then, both metric by metric, pair by pair.
///
/// # Errors
/// As [`crate::resample::shuffle::tally`].
pub fn max_t(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (alternative, scales, thresholds): (Alternative, &[f64], &[f64]),
    (plan, n): (Plan<'_, u64>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<u64>> {
    let shuffles = Shuffles::new(scored, pairs, run)?;
    shuffles.check("scales", scales)?;
    shuffles.check("thresholds", thresholds)?;
    let families: Vec<_> =
        (0..scored.len()).map(|of| least_first(thresholds, of * pairs.len()..(of + 1) * pairs.len())).collect();
    let mut counts = vec![0; shuffles.series()];
    shuffles.run(
        (plan, n),
        run,
        |shuffles, block, stop| {
            let mut extreme = zeros(&[shuffles.series(), block.replicates])?;
            shuffles.statistics((block, stop), |series, first, statistics| {
                let out = &mut extreme[series * block.replicates + first..];
                for (out, &t) in out.iter_mut().zip(statistics) {
                    *out = alternative.extremeness(t) * scales[series];
                }
            })?;
            let mut counts = vec![0; shuffles.series()];
            let mut patience = Patience::default();
            for family in &families {
                let mut largest = vec![f64::NEG_INFINITY; block.replicates];
                for &series in family {
                    patience.spend(2 * block.replicates, stop)?;
                    let extreme = &extreme[series * block.replicates..][..block.replicates];
                    largest.iter_mut().zip(extreme).for_each(|(largest, extreme)| *largest = largest.max(*extreme));
                    counts[series] = largest.iter().filter(|largest| **largest >= thresholds[series]).count() as u64;
                }
            }
            Ok(counts)
        },
        |_, block: Vec<u64>| counts.iter_mut().zip(block).for_each(|(count, more)| *count += more),
    )?;
    Ok(counts)
}

/// The series of a family, the least extreme first; of equal ones the last first.
fn least_first(thresholds: &[f64], family: Range<usize>) -> Vec<usize> {
    let mut order: Vec<_> = family.collect();
    order.sort_by(|&a, &b| thresholds[a].total_cmp(&thresholds[b]).then(b.cmp(&a)));
    order
}

/// Numbers of statistics that are held at a time: 256 MB.
const HELD: usize = 1 << 25;

/// Step-down minP: for every test how many shuffles have, among it and all tests of its family that are less
/// significant, one whose own p is at most that of the test. Metric by metric, pair by pair.
///
/// A shuffle's own p is its rank among all shuffles and what was observed (Ge, Dudoit & Speed 2003,
/// doi:10.1007/BF02595811, box 4): tests are gone through one by one, so memory is that of a few series, not of all.
/// `ranks` are the ranks of what was observed, c + 1.
///
/// # Errors
/// As [`crate::resample::shuffle::tally`].
pub fn min_p(
    scored: &[Scored<'_>],
    pairs: &[Pair],
    (alternative, thresholds, ranks): (Alternative, &[f64], &[u64]),
    (plan, n): (Plan<'_, u64>, usize),
    run: &mut Run<'_>,
) -> Result<Vec<u64>> {
    let shuffles = Shuffles::new(scored, pairs, run)?;
    shuffles.check("thresholds", thresholds)?;
    shuffles.check_length("ranks", ranks.len())?;
    check_replicates(0, n)?;
    let mut counts = vec![0; shuffles.series()];
    for (of, scored) in scored.iter().enumerate() {
        let family = of * pairs.len()..(of + 1) * pairs.len();
        // The least significant first.
        let mut order: Vec<_> = family.clone().collect();
        order.sort_by_key(|&test| (std::cmp::Reverse(ranks[test]), std::cmp::Reverse(test)));
        let mut smallest = reserved(n)?;
        smallest.resize(n, u64::MAX);
        for tests in order.chunks((HELD / n.max(1)).max(1)) {
            let of_tests: Vec<_> = tests.iter().map(|test| pairs[test - family.start]).collect();
            let held = statistics(std::slice::from_ref(scored), &of_tests, (plan, n), run)?;
            for (&test, statistics) in tests.iter().zip(held.chunks_exact(n)) {
                counts[test] = run.alone(|stop, done| {
                    done.set(n as u64);
                    let mut patience = Patience::default();
                    let mut extreme = reserved(n)?;
                    for statistics in statistics.chunks(PIECE) {
                        patience.spend(statistics.len(), stop)?;
                        extreme.extend(statistics.iter().map(|&t| alternative.extremeness(t)));
                    }
                    let own = own_ranks(&extreme, alternative.extremeness(thresholds[test]), stop)?;
                    let mut count = 0;
                    for (smallest, own) in smallest.chunks_mut(PIECE).zip(own.chunks(PIECE)) {
                        patience.spend(2 * own.len(), stop)?;
                        smallest.iter_mut().zip(own).for_each(|(smallest, own)| *smallest = *own.min(smallest));
                        count += smallest.iter().filter(|smallest| **smallest <= ranks[test]).count() as u64;
                    }
                    Ok(count)
                })?;
            }
        }
    }
    Ok(counts)
}

/// How many of the numbers, and of the one observed, are at least as large as each.
fn own_ranks(extreme: &[f64], observed: f64, stop: &Stop<'_>) -> Result<Vec<u64>> {
    let mut patience = Patience::default();
    let mut order = reserved(extreme.len())?;
    order.extend(0..extreme.len());
    pool::sort(&mut order, |&a: &usize, &b| extreme[b].total_cmp(&extreme[a]), stop)?;
    let mut ranks = zeros(&[extreme.len()])?;
    let mut above = 0;
    for equal in order.chunk_by(|&a, &b| extreme[a] == extreme[b]) {
        above += equal.len() as u64;
        for piece in equal.chunks(PIECE) {
            patience.spend(4 * piece.len(), stop)?; // random access to memory
            for &place in piece {
                ranks[place] = above + u64::from(observed >= extreme[place]);
            }
        }
    }
    Ok(ranks)
}

#[cfg(test)]
mod tests;
