//! Tests of the whole of resampling, and helpers that run one reduction in one call.

mod columns;
mod draws;
mod exchanges;
mod many;
mod permutations;
mod shuffles;
mod splits;

use std::ops::Range;

use super::design::Design;
use super::kernel::{Block, Kernel, Scratch};
use super::reduce::{self, Outcome, Ranged, Reduction, Rule};
use super::{Alternative, Alternatives, Kind, Pair, Plan, Resampler, Sample, Strided, replicates};
use crate::error::Result;
use crate::pool::{Run, Stop};
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

/// Prepares a resampler and runs one reduction.
pub fn reduced<R: Reduction>(
    (samples, kind): (&[Sample<'_>], Kind<'_>),
    mut reduction: R,
    replicates: Replicates<'_>,
    run: &mut Run<'_>,
) -> Result<R> {
    Resampler::prepare(samples, kind, run)?.run(replicates, &mut [&mut reduction], run)?;
    Ok(reduction)
}

pub fn statistics(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<f64>> {
    let series = reduce::Series::new(pairs.to_vec());
    Ok(with_run(threads, |run| reduced((samples, Kind::Shuffles), series, replicates, run))?.statistics().to_vec())
}

pub fn tally(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternatives, thresholds): (impl Into<Alternatives>, &[f64]),
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<u64>> {
    let tally = reduce::Tally::new(pairs.to_vec(), alternatives, thresholds.to_vec());
    Ok(with_run(threads, |run| reduced((samples, Kind::Shuffles), tally, replicates, run))?.counts().to_vec())
}

pub fn outcomes(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternative, thresholds): (Alternative, &[f64]),
    rule: Rule,
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<Outcome>> {
    let tally = reduce::SequentialTally::new(pairs.to_vec(), alternative, thresholds.to_vec(), rule)?;
    Ok(with_run(threads, |run| reduced((samples, Kind::Shuffles), tally, replicates, run))?.outcomes()?.to_vec())
}

pub fn spreads(samples: &[Sample<'_>], pairs: &[Pair], replicates: Replicates<'_>, threads: usize) -> Result<Vec<f64>> {
    let spread = reduce::Spread::new(pairs.to_vec());
    Ok(with_run(threads, |run| reduced((samples, Kind::Shuffles), spread, replicates, run))?.values())
}

pub fn max_t(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternative, scales, thresholds, families): (Alternative, &[f64], &[f64], &[usize]),
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<u64>> {
    let (scales, thresholds) = (scales.to_vec(), thresholds.to_vec());
    let max_t = reduce::MaxT::new(pairs.to_vec(), alternative, scales, thresholds, families.to_vec());
    Ok(with_run(threads, |run| reduced((samples, Kind::Shuffles), max_t, replicates, run))?.counts().to_vec())
}

pub fn min_p(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternative, thresholds, tolerance): (Alternative, &[f64], f64),
    (ranks, families): (&[u64], &[usize]),
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<u64>> {
    let observed = (thresholds.to_vec(), vec![tolerance; thresholds.len()]);
    let mut min_p = reduce::MinP::new(pairs.to_vec(), alternative, observed, ranks.to_vec(), families.to_vec());
    with_run(threads, |run| min_p.run(&Resampler::prepare(samples, Kind::Shuffles, run)?, replicates, run))?;
    Ok(min_p.counts().to_vec())
}

pub fn shuffle_sums(all: &[SuffStats<'_>], replicates: Replicates<'_>, threads: usize) -> Result<Vec<i64>> {
    let samples: Vec<_> = all.iter().map(|stats| Sample::without_formula(stats.clone())).collect();
    Ok(with_run(threads, |run| reduced((&samples, Kind::Shuffles), reduce::Sums::default(), replicates, run))?
        .sums()
        .to_vec())
}

pub fn draw_sums(
    all: &[SuffStats<'_>],
    strata: &[usize],
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<i64>> {
    let samples: Vec<_> = all.iter().map(|stats| Sample::without_formula(stats.clone())).collect();
    Ok(with_run(threads, |run| reduced((&samples, Kind::Draws(strata)), reduce::Sums::default(), replicates, run))?
        .sums()
        .to_vec())
}

pub fn scores(
    samples: &[Sample<'_>],
    strata: &[usize],
    replicates: Replicates<'_>,
    threads: usize,
) -> Result<Vec<f64>> {
    Ok(with_run(threads, |run| reduced((samples, Kind::Draws(strata)), reduce::Draws::default(), replicates, run))?
        .into_scores())
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
