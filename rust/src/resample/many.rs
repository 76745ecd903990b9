//! Many small problems in one call. Each has the result of a separate [`Resampler`]; they share the threads.

use super::reduce::{Draws, Pair, Reduction, Tally};
use super::resampler::Workers;
use super::{Alternative, Kind, Resampler, Sample, Shuffles, replicates};
use crate::error::{Result, check_length};
use crate::memory::zeros;
use crate::pool::{self, Blocks, Run};

/// Problems of equal shape under one metric.
#[derive(Clone)]
pub struct Problems<'a> {
    /// The counts of all systems, problem by problem.
    sample: Sample<'a>,
    systems: usize,
    seeds: &'a [u64],
}

impl<'a> Problems<'a> {
    /// Problems of `systems` systems each, whose counts are problem by problem, with a seed for each problem.
    pub fn new(sample: Sample<'a>, systems: usize, seeds: &'a [u64]) -> Result<Self> {
        check_length("systems of all problems", systems.saturating_mul(seeds.len()), sample.stats.systems())?;
        Ok(Problems { sample, systems, seeds })
    }

    /// Runs a reduction on each problem, and passes the results to `keep` in order. `shuffles` matters for those only.
    fn each<R: Reduction + Send>(
        &self,
        kind: Kind<'_>,
        shuffles: Shuffles,
        n: usize,
        run: &mut Run<'_>,
        reduction: impl Fn(usize) -> R + Sync,
        mut keep: impl FnMut(usize, R),
    ) -> Result<()> {
        let range = replicates(0, n)?;
        let Sample { formula, stats } = &self.sample;
        let size = self.systems * stats.segments() * stats.columns();
        // Preparing a problem costs several operations per count; running it costs some per replicate.
        let cost = 8 * size as u64 + n as u64 * (size as u64 / 16 + 40);
        let workers = Workers::default();
        pool::try_run(
            Blocks { items: self.seeds.len(), size: 1, cost, lead: 0 },
            run,
            || (),
            |(), problem, stop| {
                let problem = problem.start;
                let systems = problem * self.systems..(problem + 1) * self.systems;
                let sample = Sample { formula: formula.clone(), stats: stats.of_systems(systems) };
                let mut reduction = reduction(problem);
                let seed = self.seeds[problem];
                let codes = shuffles.codes(seed, stats.segments());
                let plan = shuffles.plan(seed, &codes);
                stop.on_this_thread(|run| {
                    let resampler = Resampler::prepare(&[sample], kind, run)?;
                    resampler.run_with(&workers, (plan, range.clone()), &mut [&mut reduction], run)
                })?;
                Ok(reduction)
            },
            |problem, reduction, _| {
                keep(problem.start, reduction);
                Ok(())
            },
        )
    }
}

/// The number of the first `n` shuffles of two systems that reach the threshold, for each problem.
///
/// # Errors
/// As [`Resampler::prepare`] and [`Resampler::run`]: the error of the first problem that fails.
pub fn shuffles(
    problems: &Problems<'_>,
    (alternative, thresholds): (Alternative, &[f64]),
    (shuffles, n): (Shuffles, usize),
    run: &mut Run<'_>,
) -> Result<Vec<u64>> {
    check_length("thresholds", problems.seeds.len(), thresholds.len())?;
    const BOTH: Pair = (0, 1);
    let mut counts = zeros(&[thresholds.len()])?;
    let tally = |problem: usize| Tally::new(vec![BOTH], alternative, vec![thresholds[problem]]);
    problems.each(Kind::Shuffles, shuffles, n, run, tally, |problem, tally| counts[problem] = tally.counts()[0])?;
    Ok(counts)
}

/// The scores of all systems on the first `n` draws: problem by problem, system by system.
///
/// # Errors
/// As [`Resampler::prepare`] and [`Resampler::run`]: the error of the first problem that fails.
pub fn draws(problems: &Problems<'_>, strata: &[usize], n: usize, run: &mut Run<'_>) -> Result<Vec<f64>> {
    let systems = problems.systems;
    let mut scores = zeros(&[problems.seeds.len(), systems, n])?;
    problems.each(
        Kind::Draws(strata),
        Shuffles::Independent,
        n,
        run,
        |_| Draws::default(),
        |problem, draws| {
            scores[problem * systems * n..][..systems * n].copy_from_slice(draws.scores());
        },
    )?;
    Ok(scores)
}
