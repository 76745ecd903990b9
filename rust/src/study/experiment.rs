//! Ranges of simulations: the choice of test sets, their scores, and their replicates.

use std::ops::Range;

use super::population::Population;
use super::selection::{Chosen, Selection};
use super::studentized::ErrorParts;
use crate::error::{Error, Result, check_length};
use crate::memory::{filled, zeros};
use crate::metric::check_defined;
use crate::pool::{self, Blocks, Run, Stop};
use crate::resample::kernel::scatter::Scattered;
use crate::resample::reduce::{Draws, Outcome, Reduction, Rule, SequentialTally, Tally};
use crate::resample::studentize::Both;
use crate::resample::{Alternatives, Plan, Resampler, Shuffles, Workers, length, replicates};
use crate::simd::Simd;
use crate::stream::{SIMULATION, derived};

/// How a test shuffles a test set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shuffling {
    /// How the shuffles are made. The number of those of a subgroup has to be a power of two.
    pub shuffles: Shuffles,
    /// Whether they are compared by the difference in score divided by its standard error, and not by the difference. If
    /// both put the shuffles in the same order, it is the difference.
    pub studentized: bool,
    /// The number of shuffles.
    pub n: usize,
}

/// Simulated test sets. Simulation i uses population i mod P of P.
pub struct Experiment {
    populations: Vec<Population>,
    selection: Selection,
    seed: u64,
    simd: Simd,
}

/// The buffers of a thread.
#[derive(Default)]
struct Buffers {
    chosen: Vec<Chosen>,
    sums: Vec<i64>,
    totals: Vec<i64>,
    both: Both,
}

/// The most simulations with the same bootstrap weights that are drawn together: their columns stay in the L2 cache.
const STACKED: usize = 16;

/// The number of simulations that a thread takes at a time where each takes only microseconds.
const AT_ONCE: usize = 8;

impl Experiment {
    /// An experiment with the seed of the study.
    pub fn new(populations: Vec<Population>, selection: Selection, seed: u64) -> Result<Self> {
        Self::on(Simd::best(), populations, selection, seed)
    }

    /// As [`Experiment::new`], with a choice of the vector instructions.
    pub(super) fn on(simd: Simd, populations: Vec<Population>, selection: Selection, seed: u64) -> Result<Self> {
        let first = populations.first().ok_or_else(|| Error::Empty { what: "populations".into() })?;
        let expected = first.rows.len();
        for population in &populations {
            check_length("metrics of a population", expected, population.rows.len())?;
        }
        Ok(Experiment { populations, selection, seed, simd })
    }

    pub fn metrics(&self) -> usize {
        self.populations[0].rows.len()
    }

    /// The seed of everything random in a simulation.
    fn seed_of(&self, simulation: u64) -> u64 {
        derived(self.seed, SIMULATION, simulation)
    }

    fn population_of(&self, simulation: u64) -> (usize, &Population) {
        let index = (simulation % self.populations.len() as u64) as usize;
        (index, &self.populations[index])
    }

    fn choose(&self, simulation: u64, out: &mut Chosen) -> Result<&Population> {
        let (_, population) = self.population_of(simulation);
        self.selection.choose(self.seed_of(simulation), population.units, population.groups.as_ref(), out);
        population.check(out)?;
        Ok(population)
    }

    /// The units of a simulated test set, and in which of them the two systems are swapped.
    pub fn chosen(&self, simulation: u64) -> Result<(Vec<u32>, Vec<bool>)> {
        let mut chosen = Chosen::default();
        self.choose(simulation, &mut chosen)?;
        let Chosen { units, swapped, .. } = chosen;
        Ok((units, swapped.into_iter().map(|swap| swap == 1).collect()))
    }

    /// Runs work on items, on the threads of the run, and passes the results to `keep` in order.
    fn each<T: Send>(
        &self,
        blocks: Blocks,
        run: &mut Run<'_>,
        work: impl Fn(&mut Buffers, usize, &Stop<'_>) -> Result<T> + Sync,
        mut keep: impl FnMut(usize, T),
    ) -> Result<()> {
        pool::try_run(
            blocks,
            run,
            Buffers::default,
            |buffers, range, stop| {
                let mut one = |item| stop.check().and_then(|()| work(buffers, item, stop));
                range.map(&mut one).collect::<Result<Vec<T>>>()
            },
            |range, done, _| {
                range.zip(done).for_each(|(item, done)| keep(item, done));
                Ok(())
            },
        )
    }

    /// The counts of a test set, roughly.
    fn counts(&self) -> u64 {
        let count = |population: &Population| self.selection.size.unwrap_or(population.units) * population.columns();
        self.populations.iter().map(count).max().unwrap_or(0) as u64
    }

    /// The scores of both systems on each simulated test set, in the order metric, simulation, system.
    pub fn scores(&self, simulations: Range<u64>, run: &mut Run<'_>) -> Result<Vec<f64>> {
        let (n, metrics) = (length(&simulations), self.metrics());
        let mut out = zeros(&[metrics, n, 2])?;
        let work = |buffers: &mut Buffers, item: usize, _: &Stop<'_>| {
            let Buffers { chosen, sums, totals, .. } = buffers;
            let chosen = first(chosen);
            let population = self.choose(simulations.start + item as u64, chosen)?;
            population.totals(self.simd, chosen, sums, totals);
            let mut rest = totals.as_slice();
            let mut scores = Vec::with_capacity(2 * metrics);
            for formula in population.formulas()? {
                let (own, others) = rest.split_at(2 * formula.width());
                for totals in own.chunks_exact(formula.width()) {
                    let score = formula.score(totals);
                    check_defined(formula.as_ref(), &[totals], &[score])?;
                    scores.push(score);
                }
                rest = others;
            }
            Ok(scores)
        };
        self.each(Blocks { items: n, size: AT_ONCE, cost: self.counts(), lead: 0 }, run, work, |item, scores| {
            for (metric, scores) in scores.chunks_exact(2).enumerate() {
                out[2 * (metric * n + item)..][..2].copy_from_slice(scores);
            }
        })?;
        Ok(out)
    }

    /// What the standard errors of the observed differences are computed from, in the order metric, simulation.
    pub fn error_parts(&self, simulations: Range<u64>, run: &mut Run<'_>) -> Result<Vec<ErrorParts>> {
        let (n, metrics) = (length(&simulations), self.metrics());
        let mut out = filled(metrics * n, ErrorParts::default())?;
        let work = |buffers: &mut Buffers, item: usize, stop: &Stop<'_>| {
            let Buffers { chosen, sums, totals, both } = buffers;
            let chosen = first(chosen);
            let population = self.choose(simulations.start + item as u64, chosen)?;
            population.totals(self.simd, chosen, sums, totals);
            population.error_parts(totals, &population.crosses(chosen, both, stop)?)
        };
        self.each(Blocks { items: n, size: AT_ONCE, cost: self.studentizing(), lead: 0 }, run, work, |item, parts| {
            parts.into_iter().enumerate().for_each(|(metric, parts)| out[metric * n + item] = parts);
        })?;
        Ok(out)
    }

    /// The cost of the constants of a test set, roughly.
    fn studentizing(&self) -> u64 {
        16 * self.counts()
    }

    /// The number of the shuffles of each simulated test set that reach its threshold under each metric.
    /// Thresholds and results are in the order metric, simulation.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there is a threshold for each, and as [`Resampler::run`]: the error of the first
    /// simulation that fails.
    pub fn exceedances(
        &self,
        shuffling: Shuffling,
        (alternatives, thresholds): (impl Into<Alternatives>, &[f64]),
        simulations: Range<u64>,
        run: &mut Run<'_>,
    ) -> Result<Vec<u64>> {
        let alternatives = alternatives.into();
        let tally = |own| Ok(Tally::new(vec![(0, 1)], alternatives.clone(), own));
        self.tallied(shuffling, thresholds, tally, |tally| Ok(tally.counts().to_vec()), simulations, run)
    }

    /// As [`Experiment::exceedances`], with at most `n` independent shuffles: each test ends when `rule` stops it.
    pub fn sequential(
        &self,
        rule: Rule,
        (studentized, n): (bool, usize),
        (alternatives, thresholds): (impl Into<Alternatives>, &[f64]),
        simulations: Range<u64>,
        run: &mut Run<'_>,
    ) -> Result<Vec<Outcome>> {
        let alternatives = alternatives.into();
        let tally = |own| SequentialTally::new(vec![(0, 1)], alternatives.clone(), own, rule);
        let read = |tally: &SequentialTally| Ok(tally.outcomes()?.to_vec());
        let shuffling = Shuffling { shuffles: Shuffles::Independent, studentized, n };
        self.tallied(shuffling, thresholds, tally, read, simulations, run)
    }

    /// Tallies the shuffles of each simulated test set: `tally` makes the reduction from the thresholds of all metrics,
    /// and `read` its result for each metric.
    fn tallied<R: Reduction, T: Copy + Default + Send>(
        &self,
        shuffling: Shuffling,
        thresholds: &[f64],
        tally: impl Fn(Vec<f64>) -> Result<R> + Sync,
        read: impl Fn(&R) -> Result<Vec<T>> + Sync,
        simulations: Range<u64>,
        run: &mut Run<'_>,
    ) -> Result<Vec<T>> {
        let (all, metrics) = (length(&simulations), self.metrics());
        check_length("thresholds", all * metrics, thresholds.len())?;
        let workers = Workers::default();
        let work = |buffers: &mut Buffers, item: usize, stop: &Stop<'_>| {
            let mut tally = tally((0..metrics).map(|metric| thresholds[metric * all + item]).collect())?;
            let simulation = simulations.start + item as u64;
            self.shuffle(simulation, shuffling, &mut tally, (&workers, buffers), stop)?;
            read(&tally)
        };
        let mut out = filled(thresholds.len(), T::default())?;
        let (counts, n) = (self.counts(), shuffling.n as u64);
        let (size, cost) = match shuffling.studentized {
            false => (AT_ONCE, 2 * counts + n * (counts / 64 + 80 * metrics as u64)),
            true => (1, self.studentizing() + n * (counts / 16 + 400 * metrics as u64)),
        };
        self.each(Blocks { items: all, size, cost, lead: 0 }, run, work, |item, own| {
            own.into_iter().enumerate().for_each(|(metric, result)| out[metric * all + item] = result);
        })?;
        Ok(out)
    }

    /// Tallies the shuffles of one simulated test set.
    fn shuffle(
        &self,
        simulation: u64,
        Shuffling { shuffles, studentized, n }: Shuffling,
        tally: &mut dyn Reduction,
        (workers, Buffers { chosen, sums, totals, both }): (&Workers, &mut Buffers),
        stop: &Stop<'_>,
    ) -> Result<()> {
        let chosen = first(chosen);
        let population = self.choose(simulation, chosen)?;
        population.totals(self.simd, chosen, sums, totals);
        let (seed, range) = (self.seed_of(simulation), replicates(0, n)?);
        let prepare = |design, formulas: &[_]| Resampler::from_design(design, formulas, false, (self.simd, stop));
        let codes = shuffles.codes(seed, chosen.units.len());
        if let (Shuffles::Subgroup, false, Some(rows)) = (shuffles, studentized, &population.differences)
            && n.is_power_of_two()
            && rows.fit(chosen.units.len(), n)
        {
            let design = population.shuffled_without_columns(chosen.units.len(), totals);
            let resampler = prepare(design, population.formulas()?)?;
            let Chosen { units, swapped, .. } = chosen;
            let kernel = Scattered { rows, units, swapped, codes: &codes, shuffles: n, simd: self.simd };
            return stop.on_this_thread(|run| resampler.run_kernel(workers, (&kernel, range), &mut [tally], run));
        }
        let resampler = if studentized {
            let crosses = population.crosses(chosen, both, stop)?;
            let (design, formulas) = population.studentized(chosen, totals, &crosses, stop)?;
            prepare(design, &formulas)?
        } else {
            prepare(population.shuffled(chosen, totals, stop)?, population.formulas()?)?
        };
        let plan = (shuffles.plan(seed, &codes), range);
        stop.on_this_thread(|run| resampler.run_with(workers, plan, &mut [tally], run))
    }

    /// The scores of both systems on the first `n` draws of each simulated test set, in the order metric, simulation,
    /// system, draw. With a number of weight sets W, simulation i uses the draws of simulation i mod W.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for 0 weight sets, and as [`Resampler::run`]: the error of the first simulation that
    /// fails.
    pub fn draws(
        &self,
        n: usize,
        weight_sets: Option<u64>,
        simulations: Range<u64>,
        run: &mut Run<'_>,
    ) -> Result<Vec<f64>> {
        if weight_sets == Some(0) {
            return Err(Error::invalid("weight_sets", "at least 1", "0"));
        }
        let (all, metrics) = (length(&simulations), self.metrics());
        let range = replicates(0, n)?;
        // Reserved before the simulations are listed: where there is no room for the scores, there is none for the list.
        let mut out = zeros(&[metrics, all, 2, n])?;
        let sets = self.together(weight_sets, simulations.clone());
        let workers = Workers::default();
        let work = |buffers: &mut Buffers, item: usize, stop: &Stop<'_>| {
            let (of_draws, own) = &sets[item];
            let seed = self.seed_of(*of_draws);
            let chosen = &mut buffers.chosen;
            chosen.resize_with(own.len().max(chosen.len()), Chosen::default);
            let mut population = &self.populations[0];
            for (&simulation, chosen) in own.iter().zip(&mut *chosen) {
                population = self.choose(simulation, chosen)?;
            }
            let mut scores = Vec::with_capacity(own.len());
            // Test sets of the same size share their weights. Sizes differ only if groups are drawn.
            let mut from = 0;
            while from < own.len() {
                let same = |chosen: &&Chosen| chosen.units.len() == buffers.chosen[from].units.len();
                let to = from + buffers.chosen[from..own.len()].iter().take_while(same).count();
                let design = population.drawn(&buffers.chosen[from..to], stop)?;
                let resampler = Resampler::from_design(design, population.formulas()?, true, (self.simd, stop))?;
                let mut draws = Draws::default();
                let plan = (Plan::Seeded(seed), range.clone());
                stop.on_this_thread(|run| resampler.run_with(&workers, plan, &mut [&mut draws], run))?;
                scores.push((own[from..to].to_vec(), draws.into_scores()));
                from = to;
            }
            Ok(scores)
        };
        let cost = n as u64 * (self.counts() / 8 + 80 * metrics as u64);
        self.each(Blocks { items: sets.len(), size: 1, cost, lead: 0 }, run, work, |_, scores| {
            for (own, scores) in scores {
                for (i, both) in scores.chunks_exact(2 * n).enumerate() {
                    let (metric, item) = (i / own.len(), (own[i % own.len()] - simulations.start) as usize);
                    out[(metric * all + item) * 2 * n..][..2 * n].copy_from_slice(both);
                }
            }
        })?;
        Ok(out)
    }

    /// The simulations that are drawn together, of the same population, and the simulation whose draws they use.
    fn together(&self, weight_sets: Option<u64>, simulations: Range<u64>) -> Vec<(u64, Vec<u64>)> {
        let Some(sets) = weight_sets else {
            return simulations.map(|simulation| (simulation, vec![simulation])).collect();
        };
        let key = |simulation: u64| (simulation % sets, self.population_of(simulation).0);
        let mut sorted: Vec<u64> = simulations.collect();
        sorted.sort_by_key(|&simulation| key(simulation));
        let same = sorted.chunk_by(|&one, &other| key(one) == key(other));
        same.flat_map(|all| all.chunks(STACKED)).map(|own| (own[0] % sets, own.to_vec())).collect()
    }
}

/// The first buffer.
fn first(chosen: &mut Vec<Chosen>) -> &mut Chosen {
    if chosen.is_empty() {
        chosen.push(Chosen::default());
    }
    &mut chosen[0]
}
