//! Tests of the whole of resampling, and helpers that run one reduction in one call.

mod columns;
mod draws;
mod exchanges;
mod many;
mod permutations;
mod shuffles;
mod splits;

use std::ops::Range;
use std::sync::Arc;

use super::design::Design;
use super::kernel::{Block, Kernel, Scratch};
use super::reduce::{self, Ranged, Reduction, Rule};
use super::{Alternative, Alternatives, Kind, Pair, Plan, Resampler, Sample, Strided, replicates};
use crate::error::{Error, Result};
use crate::metric::Formula;
use crate::pool::Stop;
pub(crate) use crate::pool::{stopped, with_run};
use crate::resample::BATCH;
use crate::stats::SuffStats;

/// The replicates of a run.
pub type Replicates<'a> = (Plan<'a>, Range<u64>);

/// `n` replicates of a seed, from `first` on.
pub fn seeded(seed: u64, first: u64, n: usize) -> Replicates<'static> {
    (Plan::Seeded(seed), replicates(first, n).unwrap())
}

/// `n` replicates with user-supplied flip masks.
pub fn flips(words: &[u64], n: usize) -> Replicates<'_> {
    (Plan::Flips(words), 0..n as u64)
}

/// `n` replicates of these codes, from `first` on.
pub fn coded(codes: &[u64], first: u64, n: usize) -> Replicates<'_> {
    (Plan::Codes(codes), replicates(first, n).unwrap())
}

/// A formula and the counts of so many systems, system by system, row by row.
pub fn sample(formula: Arc<dyn Formula>, counts: &[i64], systems: usize) -> Sample<'_> {
    let width = formula.width();
    Sample::new(formula, SuffStats::new(counts, systems, counts.len() / systems / width, width).unwrap()).unwrap()
}

/// Prepares a resampler and runs one reduction.
pub fn reduced<R: Reduction>(
    (samples, kind): (&[Sample<'_>], Kind<'_>),
    mut reduction: R,
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<R> {
    with_run(threads, |run| Resampler::prepare(samples, kind, run)?.run(replicates, &mut [&mut reduction], run))?;
    Ok(reduction)
}

pub fn statistics(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<f64>> {
    let series = reduce::Series::new(pairs.to_vec());
    Ok(reduced((samples, Kind::Shuffles), series, replicates, threads)?.statistics().to_vec())
}

pub fn tally(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternatives, thresholds): (impl Into<Alternatives>, &[f64]),
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<u64>> {
    let tally = reduce::Tally::new(pairs.to_vec(), alternatives, thresholds.to_vec());
    Ok(reduced((samples, Kind::Shuffles), tally, replicates, threads)?.counts().to_vec())
}

/// The sums of counts, which need no formula.
pub fn sums(all: &[SuffStats<'_>], kind: Kind<'_>, replicates: Replicates<'_>, threads: usize) -> Result<Vec<i64>> {
    let samples: Vec<_> = all.iter().map(|stats| Sample::without_formula(stats.clone())).collect();
    Ok(reduced((&samples, kind), reduce::Sums::default(), replicates, threads)?.sums().to_vec())
}

pub fn scores(
    samples: &[Sample<'_>],
    strata: &[usize],
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<f64>> {
    Ok(reduced((samples, Kind::Draws(strata)), reduce::Draws::default(), replicates, threads)?.into_scores())
}

/// A call that somebody cancels is interrupted.
pub fn assert_cancelled(samples: &[Sample<'_>], kind: Kind<'_>, plan: Plan<'_>) {
    let cancelled = stopped(2, 3, |run| {
        let resampler = Resampler::prepare(samples, kind, run)?;
        resampler.run((plan, 0..1 << 20), &mut [&mut reduce::Sums::default()], run)
    });
    assert_eq!(Err(Error::Interrupted), cancelled);
}

/// The sums that a kernel computes in blocks of some length: replicate by replicate.
pub fn all_sums(design: &Design, kernel: &dyn Kernel, replicates: Range<u64>, length: usize) -> Vec<i64> {
    let mut out = Vec::new();
    let mut scratch = Scratch::default();
    for first in replicates.clone().step_by(length) {
        let range = first..replicates.end.min(first + length as u64);
        let stride = ((range.end - range.start) as usize).next_multiple_of(BATCH);
        let mut columns = vec![0; design.width() * stride];
        kernel.sums(range.clone(), &mut scratch, Strided::new(&mut columns[..], stride), &Stop::never()).unwrap();
        let block =
            Block { design, columns: Strided::new(&columns, stride), replicates: range, constants: kernel.constants() };
        for replicate in 0..block.len() {
            for cell in 0..design.cells() {
                let mut sum = [0];
                block.copy(cell, replicate, &mut sum);
                out.push(sum[0]);
            }
        }
    }
    out
}
