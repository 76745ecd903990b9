//! The resampler: prepared once, then run for any ranges of replicates.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use super::design::Design;
use super::kernel::draw::{Digits, Draws};
use super::kernel::exchange::{Exchange, Exchanges};
use super::kernel::few::{FEW_SHUFFLES, FewFlips};
use super::kernel::flips::{Adder, Flips, masks_of};
use super::kernel::permute::{Permutations, PermutedRows};
use super::kernel::scatter::{MOST_SHUFFLES, WholeRows};
use super::kernel::source::{Source, Supplied};
use super::kernel::subgroup::{Subgroup, random_codes};
use super::kernel::weights::Strata;
use super::kernel::{Block, Kernel, Scratch};
use super::reduce::{Accumulate, Input, Partial, Reduction, Shape};
use super::score::Scoring;
use super::{Sample, Strided, length, made};
use crate::error::{Error, LARGEST_SUM, Result, named};
use crate::memory::resize;
use crate::metric::Formula;
use crate::pool::{self, Blocks, Run, Stop};
use crate::resample::BATCH;
use crate::simd::Simd;

/// The kind of replicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    /// Shuffles: units are swapped between systems.
    Shuffles,
    /// Draws: units are drawn with replacement, from each stratum as many as it has units. Strata are consecutive groups
    /// of units of these sizes; without sizes, all units are one stratum.
    Draws(&'a [usize]),
    /// Permutations: in every unit the systems are permuted at random.
    Permutations,
}

/// What determines the units that each replicate swaps or draws.
#[derive(Debug, Clone, Copy)]
pub enum Plan<'a> {
    /// The streams of a seed.
    Seeded(u64),
    /// Flip masks, replicate by replicate: bit u % 64 of mask u / 64 swaps unit u.
    Flips(&'a [u64]),
    /// A code for each unit: shuffle g flips the units whose code has an odd number of bits in common with g, so the
    /// shuffles form a group. With [random codes](super::random_codes) the flips are pairwise independent; with codes
    /// of one bit each, the group contains all patterns.
    Codes(&'a [u64]),
    /// Indices of drawn units, replicate by replicate, and how many of them each replicate has. Strata do not apply.
    Indices(&'a [u32], usize),
    /// The streams of a seed for exchanges between two systems with several runs each. Units are in the order group of
    /// 64 segments, row of the exchange, segment.
    Exchanged(u64, Exchange),
}

/// How a seed chooses shuffles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shuffles {
    /// Each unit is swapped with probability ½.
    Independent,
    /// A group of shuffles from [random codes](random_codes) of the units.
    Subgroup,
}

impl Shuffles {
    /// By the name of the scheme in Python.
    pub fn named(scheme: &str) -> Result<Self> {
        named("scheme", scheme, &[("iid", Shuffles::Independent), ("subgroup", Shuffles::Subgroup)])
    }

    /// The codes of the units; none for independent shuffles.
    pub(crate) fn codes(self, seed: u64, units: usize) -> Vec<u64> {
        match self {
            Shuffles::Independent => Vec::new(),
            Shuffles::Subgroup => random_codes(seed, units),
        }
    }

    /// The plan of the shuffles with these codes.
    pub(crate) fn plan(self, seed: u64, codes: &[u64]) -> Plan<'_> {
        match self {
            Shuffles::Independent => Plan::Seeded(seed),
            Shuffles::Subgroup => Plan::Codes(codes),
        }
    }
}

/// The range of `n` replicates that begins at `first`.
///
/// # Errors
/// [`Error::Empty`] without replicates, [`Error::InvalidOption`] if a replicate's number exceeds 64 bits.
pub fn replicates(first: u64, n: usize) -> Result<Range<u64>> {
    if n == 0 {
        return Err(Error::Empty { what: "replicates".into() });
    }
    first.checked_add(n as u64).map(|end| first..end).ok_or_else(|| {
        Error::invalid("the first replicate", format!("at most {} for {n} replicates", u64::MAX - n as u64), first)
    })
}

/// Counts of systems under some metrics, checked, packed and tabulated. It borrows nothing from the caller.
pub struct Resampler {
    design: Design,
    /// The formula of each sample, or None if a sample has none.
    formulas: Option<Vec<Arc<dyn Formula>>>,
    shape: Shape,
    sampler: Sampler,
    simd: Simd,
    /// An upper bound of all counts, in absolute value.
    largest: u64,
}

/// What kernels need besides the design.
enum Sampler {
    /// Tables for flips, and rows for small groups of shuffles. They are made on first use, because no plan needs both.
    Shuffles(OnceLock<Adder>, OnceLock<Option<WholeRows>>),
    Draws {
        strata: Strata,
        digits: Digits,
    },
    Permutations(PermutedRows),
}

/// What is said of replicates in reports of progress and in errors.
struct Words {
    stage: &'static str,
    reductions: &'static str,
    plans: &'static str,
}

impl Sampler {
    fn words(&self) -> Words {
        let (stage, reductions, plans) = match self {
            Sampler::Shuffles(..) => {
                ("shuffling", FOR_SHUFFLES, "shuffles (a seed, masks, codes or an exchange of runs)")
            }
            Sampler::Draws { .. } => ("drawing", FOR_DRAWS, "draws (a seed or indices)"),
            Sampler::Permutations(_) => ("permuting", FOR_PERMUTATIONS, "permutations (a seed)"),
        };
        Words { stage, reductions, plans }
    }
}

impl Plan<'_> {
    /// What it consists of, in words.
    fn name(self) -> &'static str {
        match self {
            Plan::Seeded(_) => "a seed",
            Plan::Flips(_) => "masks",
            Plan::Codes(_) => "codes",
            Plan::Indices(..) => "indices",
            Plan::Exchanged(..) => "an exchange of runs",
        }
    }
}

// The replicates of a reduction, in words.
const FOR_SHUFFLES: &str = "one for shuffles";
const FOR_DRAWS: &str = "one for draws";
const FOR_PERMUTATIONS: &str = "one for permutations";

/// The buffers of a thread.
#[derive(Default)]
struct Worker {
    scratch: Scratch,
    columns: Vec<i64>,
    scoring: Scoring,
}

/// Idle workers, kept because allocating the buffers of a block takes as long as a small problem.
#[derive(Default)]
pub(crate) struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    /// An idle worker, or a new one.
    fn take(&self) -> BusyWorker<'_> {
        let worker = pool::locked(&self.0).pop();
        BusyWorker { worker: worker.unwrap_or_default(), from: self }
    }
}

/// A worker that becomes idle again when it is dropped.
struct BusyWorker<'a> {
    worker: Worker,
    from: &'a Workers,
}

impl Drop for BusyWorker<'_> {
    fn drop(&mut self) {
        pool::locked(&self.from.0).push(std::mem::take(&mut self.worker));
    }
}

impl Resampler {
    /// Checks, packs and tabulates counts.
    ///
    /// # Errors
    /// [`Error::Empty`] without samples, [`Error::LengthMismatch`] if samples differ in their number of segments or
    /// strata do not add up to it, otherwise as [`draw_weights`](super::draw_weights) for invalid strata,
    /// for permutations if they differ in their number of systems, and [`Error::InvalidOption`] if there are too many
    /// segments to draw from or too many systems to permute.
    pub fn prepare(samples: &[Sample<'_>], kind: Kind<'_>, run: &mut Run<'_>) -> Result<Self> {
        Self::prepare_on(Simd::best(), samples, kind, run)
    }

    /// As [`Resampler::prepare`], with a choice of the vector instructions.
    pub(super) fn prepare_on(simd: Simd, samples: &[Sample<'_>], kind: Kind<'_>, run: &mut Run<'_>) -> Result<Self> {
        let (design, sampler) = match kind {
            Kind::Shuffles => {
                (Design::new(simd, samples, true, run)?, Sampler::Shuffles(OnceLock::new(), OnceLock::new()))
            }
            Kind::Permutations => {
                let (design, rows) = run.serial(|stop| Design::of_permutations(samples, stop))?;
                (design, Sampler::Permutations(rows))
            }
            Kind::Draws(strata) => {
                let design = Design::new(simd, samples, false, run)?;
                if u32::try_from(design.units).is_err() {
                    let (option, expected) = ("the number of segments to draw from", format!("at most {}", u32::MAX));
                    return Err(Error::invalid(option, expected, design.units));
                }
                let strata = Strata::new(design.units, strata, simd)?;
                let digits = run.serial(|stop| Digits::new(&design.packed, simd, stop))?;
                (design, Sampler::Draws { strata, digits })
            }
        };
        let formulas: Option<Vec<_>> = samples.iter().map(|sample| sample.formula.clone()).collect();
        let shape =
            Shape { systems: samples.iter().map(|sample| sample.stats.systems()).collect(), cells: design.cells() };
        let largest = samples.iter().map(|sample| sample.stats.largest()).max().unwrap_or(0);
        Ok(Resampler { design, formulas, shape, sampler, simd, largest })
    }

    /// From a design, for shuffles or for draws without strata. The design must fit the formulas.
    pub(crate) fn from_design(
        design: Design,
        formulas: &[Arc<dyn Formula>],
        draws: bool,
        (simd, stop): (Simd, &Stop<'_>),
    ) -> Result<Self> {
        let sampler = match draws {
            false => Sampler::Shuffles(OnceLock::new(), OnceLock::new()),
            true => Sampler::Draws {
                strata: Strata::new(design.units, &[], simd)?,
                digits: Digits::new(&design.packed, simd, stop)?,
            },
        };
        let shape = Shape { systems: design.places.iter().map(|place| place.systems).collect(), cells: design.cells() };
        // Without user-supplied indices, the bound of counts is not needed.
        Ok(Resampler { design, formulas: Some(formulas.to_vec()), shape, sampler, simd, largest: u64::MAX })
    }

    /// The shape of the samples, for reductions.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of units.
    pub fn units(&self) -> usize {
        self.design.units
    }

    /// What a run does, for reports of progress.
    pub fn stage(&self) -> &'static str {
        self.sampler.words().stage
    }

    /// The sums over all units: k × K for each sample.
    pub fn totals(&self) -> impl Iterator<Item = &[i64]> {
        let sample_totals =
            |place: &super::design::Place| &self.design.totals[place.cell..][..place.systems * place.columns];
        self.design.places.iter().map(sample_totals)
    }

    /// The scores of all systems, metric by metric, or None if a sample has no formula.
    pub fn scores(&self) -> Option<Vec<Vec<f64>>> {
        let sample_scores = |(formula, totals): (&Arc<dyn Formula>, &[i64])| {
            let columns = formula.columns().len();
            totals.chunks_exact(columns).map(|totals| formula.score(totals)).collect()
        };
        self.formulas.as_ref().map(|formulas| formulas.iter().zip(self.totals()).map(sample_scores).collect())
    }

    /// Runs replicates and computes all reductions in one pass.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the plan or a reduction is for the other kind of replicates, or a threshold is NaN,
    /// [`Error::LengthMismatch`] if a plan or thresholds have the wrong length, [`Error::OutOfRange`] for a system or a
    /// unit that does not exist, [`Error::Empty`] without replicates and [`Error::Overflow`] if the plan has codes and
    /// the differences between systems add up to 2^62.
    pub fn run(
        &self,
        plan: (Plan<'_>, Range<u64>),
        reductions: &mut [&mut dyn Reduction],
        run: &mut Run<'_>,
    ) -> Result<()> {
        self.run_with(&Workers::default(), plan, reductions, run)
    }

    /// As [`Resampler::run`], with workers that are reused.
    pub(crate) fn run_with(
        &self,
        workers: &Workers,
        (plan, range): (Plan<'_>, Range<u64>),
        reductions: &mut [&mut dyn Reduction],
        run: &mut Run<'_>,
    ) -> Result<()> {
        let kernel = run.serial(|stop| self.kernel(plan, range.clone(), stop))?;
        self.run_kernel(workers, (kernel.as_ref(), range), reductions, run)
    }

    /// As [`Resampler::run_with`], with a kernel that fits the design.
    pub(crate) fn run_kernel(
        &self,
        workers: &Workers,
        (kernel, range): (&dyn Kernel, Range<u64>),
        reductions: &mut [&mut dyn Reduction],
        run: &mut Run<'_>,
    ) -> Result<()> {
        let inputs = Inputs::from_reductions(self, reductions)?;
        for reduction in &mut *reductions {
            reduction.begin(&self.shape, range.clone())?;
        }
        let n = length(&range);
        let (accumulators, mut combiners): (Vec<_>, Vec<_>) =
            reductions.iter_mut().map(|reduction| reduction.stages()).unzip();
        // Blocks begin at multiples of their size, which is a multiple of the batch size of reductions.
        let size =
            n.div_ceil(pool::thread_count(run.threads)).next_multiple_of(BATCH).clamp(kernel.least(), kernel.block());
        let lead = (range.start % size as u64) as usize;
        // A score or a statistic is taken to cost 40 additions.
        let blocks = Blocks { items: n, size, cost: kernel.cost() + 40 * inputs.series(&self.shape) as u64, lead };
        // Partial results are reused once they have been combined.
        let spare: Mutex<Vec<Vec<Partial>>> = Mutex::new(Vec::new());
        pool::try_run(
            blocks,
            run,
            || workers.take(),
            |BusyWorker { worker, .. }, block, stop| {
                let used = pool::locked(&spare).pop();
                let mut partials = used.unwrap_or_else(|| accumulators.iter().map(|_| Partial::default()).collect());
                let block = range.start + block.start as u64..range.start + block.end as u64;
                self.block((kernel, block), (&inputs, &accumulators), &mut partials, worker, stop)?;
                Ok(partials)
            },
            |_, partials, stop| {
                // Without reductions, nothing can say that no more is wanted.
                let mut more = combiners.is_empty();
                for (combine, partial) in combiners.iter_mut().zip(&partials) {
                    more |= combine(partial)?;
                }
                if !more {
                    stop.end_here();
                }
                pool::locked(&spare).push(partials);
                Ok(())
            },
        )
    }

    /// Makes the kernel of a plan.
    fn kernel<'a>(&'a self, plan: Plan<'a>, range: Range<u64>, stop: &Stop<'_>) -> Result<Box<dyn Kernel + 'a>> {
        let design = &self.design;
        let n = length(&range);
        if n == 0 {
            return Err(Error::Empty { what: "replicates".into() });
        }
        Ok(match (&self.sampler, plan) {
            (Sampler::Shuffles(_, rows), Plan::Codes(codes)) => {
                let rows = match range.start {
                    0 if n <= MOST_SHUFFLES => made(rows, || WholeRows::new(design))?.as_ref(),
                    _ => None,
                };
                match rows.and_then(|rows| rows.kernel(codes, n, self.simd)) {
                    Some(kernel) => Box::new(kernel),
                    None => Box::new(Subgroup::new(design, codes, self.simd, stop)?),
                }
            }
            (Sampler::Shuffles(adder, _), Plan::Seeded(seed)) if n < FEW_SHUFFLES && adder.get().is_none() => {
                Box::new(FewFlips::new(design, seed, self.simd))
            }
            (Sampler::Shuffles(adder, _), Plan::Seeded(seed)) => {
                Box::new(Flips::new(design, self.adder(adder, stop)?, Source::Seeded(seed)))
            }
            (Sampler::Shuffles(adder, _), Plan::Flips(masks)) => {
                let masks = Supplied::new("flip masks", masks, masks_of(design), &range)?;
                Box::new(Flips::new(design, self.adder(adder, stop)?, Source::Supplied(masks)))
            }
            (Sampler::Shuffles(adder, _), Plan::Exchanged(seed, exchange)) => {
                let exchanges = Exchanges::new(exchange, seed, design.units)?;
                Box::new(Flips::exchanging(design, self.adder(adder, stop)?, exchanges))
            }
            (Sampler::Draws { strata, digits }, Plan::Seeded(seed)) => {
                Box::new(Draws::new(design, (strata, digits), Source::Seeded(seed), stop)?)
            }
            (Sampler::Draws { strata, digits }, Plan::Indices(indices, width)) => {
                self.check_width(width)?;
                let indices = Supplied::new("indices", indices, width, &range)?;
                Box::new(Draws::new(design, (strata, digits), Source::Supplied(indices), stop)?)
            }
            (Sampler::Permutations(rows), Plan::Seeded(seed)) => Box::new(Permutations::new(rows, seed, self.simd)),
            (sampler, plan) => return Err(Error::invalid("the replicates", sampler.words().plans, plan.name())),
        })
    }

    /// Checks that sums of this many rows cannot overflow. Sums of at most as many rows as there are units cannot.
    fn check_width(&self, width: usize) -> Result<()> {
        if width == 0 {
            return Err(Error::Empty { what: "indices".into() });
        }
        let most = LARGEST_SUM as u128 / u128::from(self.largest.max(1));
        if width <= self.design.units || width as u128 <= most {
            return Ok(());
        }
        let (option, expected) =
            ("the number of indices of a replicate", format!("at most {most} for counts this large"));
        Err(Error::invalid(option, expected, width))
    }

    /// The tables for flips.
    fn adder<'a>(&self, adder: &'a OnceLock<Adder>, stop: &Stop<'_>) -> Result<&'a Adder> {
        made(adder, || Adder::new(&self.design.packed, self.simd, stop))
    }

    /// Runs a block of replicates and computes its partial results.
    fn block<'k>(
        &self,
        (kernel, replicates): (&dyn Kernel, Range<u64>),
        (inputs, accumulators): (&Inputs, &[Box<dyn Accumulate + 'k>]),
        partials: &mut [Partial],
        Worker { scratch, columns, scoring }: &mut Worker,
        stop: &Stop<'_>,
    ) -> Result<()> {
        let n = length(&replicates);
        let stride = n.next_multiple_of(BATCH);
        columns.clear();
        resize(columns, self.design.width() * stride)?;
        kernel.sums(replicates.clone(), scratch, Strided::new(&mut columns[..], stride), stop)?;
        let block = Block {
            design: &self.design,
            columns: Strided::new(columns, stride),
            replicates,
            constants: kernel.constants(),
        };
        for (accumulate, partial) in accumulators.iter().zip(&mut *partials) {
            partial.replicates = block.replicates.clone();
            accumulate.start(partial)?;
        }
        let formulas = self.formulas.as_deref().unwrap_or_default();
        for (input, readers) in &inputs.0 {
            let reading = accumulators.iter().zip(&mut *partials).enumerate().filter(|(i, _)| readers.contains(i));
            let mut accumulators: Vec<_> =
                reading.map(|(_, (accumulate, partial))| (accumulate.as_ref(), partial)).collect();
            match input {
                Input::Pairs(pairs) => {
                    scoring.statistics((formulas, self.simd), &block, pairs, &mut accumulators, stop)?
                }
                Input::Systems | Input::Permuted => scoring.scores(formulas, &block, &mut accumulators, stop)?,
                Input::Sums => {
                    accumulators
                        .iter_mut()
                        .try_for_each(|(accumulate, partial)| accumulate.sums(partial, &block, stop))?;
                }
            }
        }
        accumulators.iter().zip(partials).for_each(|(accumulate, partial)| accumulate.finish(partial));
        Ok(())
    }
}

/// The inputs of the reductions, each with the reductions that read it.
struct Inputs(Vec<(Input, Vec<usize>)>);

impl Inputs {
    fn from_reductions(resampler: &Resampler, reductions: &[&mut dyn Reduction]) -> Result<Self> {
        let refused = |expected: &str, got: &str| Err(Error::invalid("a reduction", expected, got));
        let expected = resampler.sampler.words().reductions;
        let mut inputs: Vec<(Input, Vec<usize>)> = Vec::new();
        for (i, reduction) in reductions.iter().enumerate() {
            let input = reduction.input();
            let own = match &input {
                Input::Pairs(_) => FOR_SHUFFLES,
                Input::Systems => FOR_DRAWS,
                Input::Permuted => FOR_PERMUTATIONS,
                Input::Sums => expected,
            };
            if own != expected {
                return refused(expected, own);
            }
            if input != Input::Sums && resampler.formulas.is_none() {
                return refused("Sums, because a sample has no metric", "one that reads scores");
            }
            match inputs.iter_mut().find(|(known, _)| *known == input) {
                Some((_, readers)) => readers.push(i),
                None => inputs.push((input, vec![i])),
            }
        }
        Ok(Inputs(inputs))
    }

    /// The number of statistics and scores of a replicate.
    fn series(&self, shape: &Shape) -> usize {
        let count = |input: &Input| match input {
            Input::Pairs(pairs) => shape.systems.len() * pairs.len(),
            Input::Systems | Input::Permuted => shape.systems.iter().sum(),
            Input::Sums => 0,
        };
        self.0.iter().map(|(input, _)| count(input)).sum()
    }
}
