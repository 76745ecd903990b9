//! The classes of reductions, and the resampler that runs them.

use numpy::ndarray::{ArrayView, IntoDimension};
use numpy::{
    PyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use super::call::{Progress, run_long, run_serial};
use super::convert::{flips, in_order, shaped};
use super::counts::{Array, Counts};
use super::histograms::{HistogramArrays, histogram_arrays};
use super::metric::Metric;
use super::resample::{StoppingRule, sizes};
use crate::error::{Error, Result, check_length, named};
use crate::memory::reserved;
use crate::pool::{Run, Stop};
use crate::resample::many::{self, Problems};
use crate::resample::reduce as core;
use crate::resample::{self, Alternative, Alternatives, Exchange, Kind, Pair, Plan, Sample};
use crate::stats::SuffStats;

pub(super) fn alternative(name: &str) -> PyResult<Alternative> {
    let known = [("two-sided", Alternative::TwoSided), ("greater", Alternative::Greater), ("less", Alternative::Less)];
    Ok(named("alternative", name, &known)?)
}

/// The name of one alternative for all metrics, or that of each metric.
#[derive(FromPyObject)]
pub(super) enum AlternativeNames {
    All(String),
    Each(Vec<String>),
}

impl AlternativeNames {
    pub(super) fn alternatives(&self) -> PyResult<Alternatives> {
        match self {
            Self::All(name) => Ok(alternative(name)?.into()),
            Self::Each(names) => {
                let each: PyResult<Vec<_>> = names.iter().map(|name| alternative(name)).collect();
                Ok(each?.into())
            }
        }
    }
}

/// A reduction: a specification or, after a run, the result.
#[pyclass(frozen, subclass, module = "reshuffle._core")]
pub struct Reduction(AnyReduction);

#[pymethods]
impl Reduction {
    #[getter]
    fn replicates(&self) -> PyResult<(u64, u64)> {
        let range = self.0.replicates()?;
        Ok((range.start, range.end))
    }

    fn merge(&self, py: Python<'_>, later: PyRef<'_, Reduction>) -> PyResult<Py<PyAny>> {
        let later: &Reduction = &later;
        let merged = run_serial(py, |stop| {
            let mut merged = self.0.clone();
            merged.merge(&later.0, stop)?;
            Ok(merged)
        })?;
        merged.into_python(py)
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let words = run_serial(py, |_| self.0.state())?;
        let length = words.len();
        shaped(py, words, [length])
    }

    fn with_state(&self, py: Python<'_>, words: PyReadonlyArray1<'_, u64>) -> PyResult<Py<PyAny>> {
        let words = in_order(&words)?;
        let computed = run_serial(py, |_| {
            let mut computed = self.0.clone();
            computed.set_state(words)?;
            Ok(computed)
        })?;
        computed.into_python(py)
    }
}

/// Defines the classes of reductions, their conversion to and from those of the core, and [`AnyReduction`].
///
/// Where `merge` also takes the check for a cancelled call, the class is followed by its name, as in `Series(stop)`.
macro_rules! reductions {
    ($stop:ident: $($(#[$about:meta])* $class:ident$(($check:ident))?),*) => {
        /// A reduction of any kind.
        #[derive(Clone)]
        enum AnyReduction {
            $($class(core::$class)),*
        }

        impl AnyReduction {
            fn replicates(&self) -> Result<std::ops::Range<u64>> {
                match self {
                    $(AnyReduction::$class(reduction) => reduction.replicates()),*
                }
            }

            fn merge(&mut self, later: &Self, $stop: &Stop<'_>) -> Result<()> {
                match (self, later) {
                    $((AnyReduction::$class(these), AnyReduction::$class(later)) => these.merge(later $(, $check)?),)*
                    (_, _) => Err(Error::invalid("a reduction to merge", "one of the same class", "one of another class")),
                }
            }

            fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                Ok(match &self {
                    $(AnyReduction::$class(_) => {
                        Py::new(py, PyClassInitializer::from(Reduction(self)).add_subclass($class))?.into_any()
                    })*
                })
            }
        }

        $(
            $(#[$about])*
            #[pyclass(frozen, extends = Reduction, module = "reshuffle._core")]
            pub struct $class;

            impl $class {
                fn with(reduction: core::$class) -> PyClassInitializer<Self> {
                    PyClassInitializer::from(Reduction(AnyReduction::$class(reduction))).add_subclass($class)
                }

                /// The result of a run.
                fn result<'a>(this: &'a Bound<'_, Self>) -> PyResult<&'a core::$class> {
                    let AnyReduction::$class(reduction) = &this.as_super().get().0 else {
                        unreachable!("a class has its own kind")
                    };
                    reduction.replicates()?;
                    Ok(reduction)
                }
            }
        )*
    };
}

reductions! {
    stop:
    /// Counts of shuffles that reach each threshold.
    Tally,
    /// Tests that end when a rule stops them.
    SequentialTally(stop),
    /// Root mean squares of statistics.
    Spread,
    /// Counts of permutations that reach each threshold.
    PermutedTally,
    /// Histograms of statistics.
    Histograms,
    /// Step-down maxT.
    MaxT,
    /// Step-down minP.
    MinP,
    /// The statistics of all shuffles.
    Series(stop),
    /// The scores of all draws.
    Draws(stop),
    /// Means and standard deviations of scores.
    Moments,
    /// Counts of each rank for each system.
    Ranks,
    /// The sums of counts of all replicates.
    Sums(stop)
}

impl AnyReduction {
    /// The reduction, if it reads the replicates once and so can share a pass with others; None for minP, which runs them
    /// itself.
    fn as_single_pass(&mut self) -> Option<&mut dyn core::Reduction> {
        match self {
            AnyReduction::Tally(reduction) => Some(reduction),
            AnyReduction::SequentialTally(reduction) => Some(reduction),
            AnyReduction::PermutedTally(reduction) => Some(reduction),
            AnyReduction::Histograms(reduction) => Some(reduction),
            AnyReduction::Spread(reduction) => Some(reduction),
            AnyReduction::MaxT(reduction) => Some(reduction),
            AnyReduction::MinP(_) => None,
            AnyReduction::Series(reduction) => Some(reduction),
            AnyReduction::Draws(reduction) => Some(reduction),
            AnyReduction::Moments(reduction) => Some(reduction),
            AnyReduction::Ranks(reduction) => Some(reduction),
            AnyReduction::Sums(reduction) => Some(reduction),
        }
    }
}

/// The reduction as a [`core::State`], if other processes can compute it in parts.
macro_rules! as_state {
    ($reduction:expr, $out:ty) => {{
        let state: $out = match $reduction {
            AnyReduction::Tally(reduction) => reduction,
            AnyReduction::PermutedTally(reduction) => reduction,
            AnyReduction::Histograms(reduction) => reduction,
            AnyReduction::Spread(reduction) => reduction,
            AnyReduction::MaxT(reduction) => reduction,
            AnyReduction::Series(reduction) => reduction,
            AnyReduction::Draws(reduction) => reduction,
            AnyReduction::Moments(reduction) => reduction,
            AnyReduction::Ranks(reduction) => reduction,
            AnyReduction::Sums(reduction) => reduction,
            AnyReduction::MinP(_) => return Err(not_in_parts("MinP, which ranks each shuffle among all")),
            AnyReduction::SequentialTally(_) => {
                return Err(not_in_parts("SequentialTally, which takes the shuffles in order"));
            }
        };
        state
    }};
}

fn not_in_parts(got: &str) -> Error {
    Error::invalid("a reduction whose state is read", "one that other processes can compute in parts", got)
}

impl AnyReduction {
    fn state(&self) -> Result<Vec<u64>> {
        as_state!(self, &dyn core::State).state()
    }

    fn set_state(&mut self, words: &[u64]) -> Result<()> {
        as_state!(self, &mut dyn core::State).set_state(words)
    }
}

type Matrix<'py, T> = PyReadonlyArray2<'py, T>;

/// A copy of an array from Python, which a reduction keeps: a row for each metric, with a number for each pair.
fn per_test<T: numpy::Element + Copy>(what: &str, array: &Matrix<'_, T>, pairs: &[Pair]) -> PyResult<Vec<T>> {
    check_length(format_args!("pairs of {what}"), pairs.len(), array.shape()[1])?;
    let values = in_order(array)?;
    let mut out = reserved(values.len())?;
    out.extend_from_slice(values);
    Ok(out)
}

/// An array with a copy of a result.
fn copied<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    values: &[T],
    shape: [usize; 2],
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let mut out = reserved(values.len())?;
    out.extend_from_slice(values);
    shaped(py, out, shape)
}

#[pymethods]
impl Tally {
    #[new]
    fn new(
        pairs: Vec<Pair>,
        alternative: AlternativeNames,
        thresholds: Matrix<'_, f64>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let thresholds = per_test("thresholds", &thresholds, &pairs)?;
        Ok(Self::with(core::Tally::new(pairs, alternative.alternatives()?, thresholds)))
    }

    #[getter]
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let tally = Self::result(this)?;
        copied(this.py(), tally.counts(), tally.shape())
    }
}

#[pymethods]
impl PermutedTally {
    #[new]
    fn new(pairs: Vec<Pair>, thresholds: Matrix<'_, f64>) -> PyResult<PyClassInitializer<Self>> {
        let thresholds = per_test("thresholds", &thresholds, &pairs)?;
        Ok(Self::with(core::PermutedTally::new(pairs, thresholds)))
    }

    #[getter]
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let tally = Self::result(this)?;
        copied(this.py(), tally.counts(), tally.shape())
    }

    #[getter]
    fn range_counts<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let tally = Self::result(this)?;
        copied(this.py(), tally.range_counts(), tally.shape())
    }
}

#[pymethods]
impl Histograms {
    #[new]
    #[pyo3(signature = (pairs, of="shuffles"))]
    fn new(pairs: Vec<Pair>, of: &str) -> PyResult<PyClassInitializer<Self>> {
        let known = [
            ("shuffles", core::Statistics::Shuffles),
            ("half of shuffles", core::Statistics::HalfOfShuffles),
            ("permutations", core::Statistics::Permutations),
        ];
        Ok(Self::with(core::Histograms::new(pairs, named("of", of, &known)?)))
    }

    #[getter]
    fn histograms<'py>(this: &Bound<'py, Self>) -> PyResult<HistogramArrays<'py>> {
        let reduction = Self::result(this)?;
        let histograms = run_serial(this.py(), |_| reduction.histograms())?;
        histogram_arrays(this.py(), &histograms)
    }
}

#[pymethods]
impl SequentialTally {
    #[new]
    #[pyo3(signature = (pairs, alternative, thresholds, rule, histograms=false))]
    fn new(
        pairs: Vec<Pair>,
        alternative: AlternativeNames,
        thresholds: Matrix<'_, f64>,
        rule: &StoppingRule,
        histograms: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let alternative = alternative.alternatives()?;
        let thresholds = per_test("thresholds", &thresholds, &pairs)?;
        let tally = core::SequentialTally::new(pairs, alternative, thresholds, rule.0);
        let tally = tally?;
        Ok(Self::with(if histograms { tally.with_histograms() } else { tally }))
    }

    #[getter]
    fn histograms<'py>(this: &Bound<'py, Self>) -> PyResult<Option<HistogramArrays<'py>>> {
        let tally = Self::result(this)?;
        let histograms = run_serial(this.py(), |_| tally.histograms())?;
        histograms.map(|histograms| histogram_arrays(this.py(), &histograms)).transpose()
    }

    #[getter]
    fn shuffles<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        Self::field(this, |outcome| outcome.shuffles)
    }

    #[getter]
    fn exceedances<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        Self::field(this, |outcome| outcome.exceedances)
    }

    #[getter]
    fn stopped<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        Self::field(this, |outcome| outcome.stopped)
    }
}

impl SequentialTally {
    /// One field of the outcomes of all tests.
    fn field<'py, T: numpy::Element>(
        this: &Bound<'py, Self>,
        get: impl Fn(&core::Outcome) -> T,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let tally = Self::result(this)?;
        let outcomes = tally.outcomes()?;
        let mut out = reserved(outcomes.len())?;
        out.extend(outcomes.iter().map(get));
        shaped(this.py(), out, tally.shape())
    }
}

#[pymethods]
impl Spread {
    #[new]
    fn new(pairs: Vec<Pair>) -> PyClassInitializer<Self> {
        Self::with(core::Spread::new(pairs))
    }

    #[getter]
    fn values<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let spread = Self::result(this)?;
        shaped(this.py(), spread.values(), spread.shape())
    }
}

#[pymethods]
impl MaxT {
    #[new]
    fn new(
        pairs: Vec<Pair>,
        alternative: AlternativeNames,
        scales: Matrix<'_, f64>,
        thresholds: Matrix<'_, f64>,
        families: Vec<usize>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let alternative = alternative.alternatives()?;
        let scales = per_test("scales", &scales, &pairs)?;
        let thresholds = per_test("thresholds", &thresholds, &pairs)?;
        Ok(Self::with(core::MaxT::new(pairs, alternative, scales, thresholds, families)))
    }

    #[getter]
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let max_t = Self::result(this)?;
        copied(this.py(), max_t.counts(), max_t.shape())
    }
}

#[pymethods]
impl MinP {
    #[new]
    fn new(
        pairs: Vec<Pair>,
        alternative: AlternativeNames,
        thresholds: Matrix<'_, f64>,
        tolerances: Matrix<'_, f64>,
        ranks: Matrix<'_, u64>,
        families: Vec<usize>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let alternative = alternative.alternatives()?;
        let observed = (per_test("thresholds", &thresholds, &pairs)?, per_test("tolerances", &tolerances, &pairs)?);
        let ranks = per_test("ranks", &ranks, &pairs)?;
        Ok(Self::with(core::MinP::new(pairs, alternative, observed, ranks, families)))
    }

    #[getter]
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let min_p = Self::result(this)?;
        copied(this.py(), min_p.counts(), min_p.shape())
    }
}

/// A read-only array of this shape that borrows from `owner`, because a copy might take gigabytes.
#[allow(unsafe_code)]
fn lent<'py, T: numpy::Element, D: IntoDimension>(
    owner: Bound<'py, PyAny>,
    numbers: &[T],
    shape: D,
) -> PyResult<Bound<'py, PyArray<T, D::Dim>>> {
    if numbers.is_empty() {
        // The other dimensions may exceed any memory.
        let empty = shaped(owner.py(), Vec::new(), shape)?;
        empty.try_readwrite()?.make_nonwriteable();
        return Ok(empty);
    }
    let view = ArrayView::from_shape(shape, numbers).expect("as many numbers as the shape says");
    // SAFETY: the elements belong to a frozen object, which never changes them, and which the array keeps alive.
    let array = unsafe { PyArray::borrow_from_array(&view, owner) };
    array.try_readwrite()?.make_nonwriteable();
    Ok(array)
}

/// The number of replicates of a result; 0 if there is none, which the caller has excluded.
fn length(range: Result<std::ops::Range<u64>>) -> usize {
    range.map_or(0, |range| (range.end - range.start) as usize)
}

#[pymethods]
impl Series {
    #[new]
    fn new(pairs: Vec<Pair>) -> PyClassInitializer<Self> {
        Self::with(core::Series::new(pairs))
    }

    #[getter]
    fn statistics<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let series = Self::result(this)?;
        let ([metrics, pairs], n) = (series.shape(), length(series.replicates()));
        lent(this.clone().into_any(), series.statistics(), [metrics, pairs, n])
    }
}

#[pymethods]
impl Draws {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Self::with(core::Draws::default())
    }

    #[getter]
    fn scores<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let draws = Self::result(this)?;
        let n = length(draws.replicates());
        lent(this.clone().into_any(), draws.scores(), [draws.systems(), n])
    }
}

#[pymethods]
impl Moments {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Self::with(core::Moments::default())
    }

    #[getter]
    fn means<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let means = Self::result(this)?.means();
        let systems = means.len();
        shaped(this.py(), means, [systems])
    }

    #[getter]
    fn deviations<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let deviations = Self::result(this)?.deviations();
        let systems = deviations.len();
        shaped(this.py(), deviations, [systems])
    }
}

#[pymethods]
impl Ranks {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Self::with(core::Ranks::default())
    }

    #[getter]
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Vec<Bound<'py, PyArray2<u64>>>> {
        let ranks = Self::result(this)?;
        let mut rest = ranks.counts();
        let to_array = |&k: &usize| {
            let (counts, behind) = rest.split_at(k * k);
            rest = behind;
            copied(this.py(), counts, [k, k])
        };
        ranks.systems().iter().map(to_array).collect()
    }
}

#[pymethods]
impl Sums {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Self::with(core::Sums::default())
    }

    #[getter]
    fn sums<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let sums = Self::result(this)?;
        let n = length(sums.replicates());
        lent(this.clone().into_any(), sums.sums(), [n, sums.cells()])
    }
}

/// The metric that scores sums, if there is one, and the counts.
pub(super) type SampleArgument<'py> = (Option<PyRef<'py, Metric>>, PyRef<'py, Counts>);

/// A sample for the core, from what Python passes.
pub(super) fn sample<'a>(metric: Option<&Metric>, stats: SuffStats<'a>) -> PyResult<Sample<'a>> {
    match metric {
        Some(metric) => Sample::new(metric.formula(), stats).map_err(PyErr::from),
        None => Ok(Sample::without_formula(stats)),
    }
}

/// Counts of systems under one or several metrics, prepared for shuffles or draws.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct Resampler(resample::Resampler);

#[pymethods]
impl Resampler {
    #[new]
    #[pyo3(signature = (samples, *, kind="shuffles", strata=None, threads=0))]
    fn new(
        py: Python<'_>,
        samples: Vec<SampleArgument<'_>>,
        kind: &str,
        strata: Option<Vec<usize>>,
        threads: usize,
    ) -> PyResult<Self> {
        let strata = sizes(strata)?;
        let kind = match kind {
            "shuffles" if strata.is_empty() => Kind::Shuffles,
            "draws" => Kind::Draws(&strata),
            "permutations" if strata.is_empty() => Kind::Permutations,
            "shuffles" | "permutations" => {
                return Err(Error::invalid(
                    "strata",
                    format!("None for {kind}, which exchange systems within a segment"),
                    format!("{strata:?}"),
                )
                .into());
            }
            _ => return Err(Error::unknown("kind", kind, ["shuffles", "draws", "permutations"]).into()),
        };
        let arrays: Vec<_> = samples.iter().map(|(_, counts)| counts.arrays(py)).collect::<PyResult<_>>()?;
        let samples = samples.iter().zip(&arrays);
        let samples = samples.map(|((metric, counts), arrays)| sample(metric.as_deref(), counts.stats(arrays)?));
        let samples: Vec<_> = samples.collect::<PyResult<_>>()?;
        let prepare = |run: &mut Run<'_>| resample::Resampler::prepare(&samples, kind, run);
        run_long(py, threads, None, ("", 0), prepare).map(Resampler)
    }

    #[pyo3(signature = (reductions, *, n, seed=0, first=0, masks=None, codes=None, indices=None, exchange=None, threads=0, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        reductions: Vec<PyRef<'_, Reduction>>,
        n: usize,
        seed: u64,
        first: u64,
        masks: Option<PyReadonlyArray2<'_, bool>>,
        codes: Option<PyReadonlyArray1<'_, u64>>,
        indices: Option<PyReadonlyArray2<'_, u32>>,
        exchange: Option<ExchangeArgument>,
        threads: usize,
        progress: Option<&Progress>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let sources = [
            ("masks", masks.is_some()),
            ("indices", indices.is_some()),
            ("codes", codes.is_some()),
            ("exchange", exchange.is_some()),
        ];
        if let [(first, _), (second, _), ..] = sources.into_iter().filter(|(_, passed)| *passed).collect::<Vec<_>>()[..]
        {
            return Err(Error::invalid(second, format!("None when {first} are passed"), "both").into());
        }
        let packed_masks;
        let (plan, n) = if let Some(masks) = &masks {
            check_length("segments of masks", self.0.units(), masks.shape()[1])?;
            let (made, n) = flips(py, masks)?;
            packed_masks = made;
            (Plan::Flips(&packed_masks), n)
        } else if let Some(indices) = &indices {
            (Plan::Indices(in_order(indices)?, indices.shape()[1]), indices.shape()[0])
        } else if let Some(codes) = &codes {
            (Plan::Codes(in_order(codes)?), n)
        } else if let Some(exchange) = exchange {
            (Plan::Exchanged(seed, exchange.checked()?), n)
        } else {
            (Plan::Seeded(seed), n)
        };
        let range = resample::replicates(first, n)?;
        let mut made: Vec<AnyReduction> = reductions.iter().map(|reduction| reduction.0.clone()).collect();
        run_long(py, threads, progress, (self.0.stage(), n), |run| {
            let mut as_single_pass: Vec<_> = made.iter_mut().filter_map(AnyReduction::as_single_pass).collect();
            if !as_single_pass.is_empty() {
                self.0.run((plan, range.clone()), &mut as_single_pass, run)?;
            }
            made.iter_mut().try_for_each(|reduction| match reduction {
                AnyReduction::MinP(min_p) => min_p.run(&self.0, (plan, range.clone()), run),
                _ => Ok(()),
            })
        })?;
        made.into_iter().map(|reduction| reduction.into_python(py)).collect()
    }

    #[getter]
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyArray2<i64>>>> {
        let to_array = |(totals, &systems): (&[i64], &usize)| copied(py, totals, [systems, totals.len() / systems]);
        self.0.totals().zip(&self.0.shape().systems).map(to_array).collect()
    }

    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyArray1<f64>>>>> {
        let shaped = |scores: Vec<f64>| {
            let systems = scores.len();
            shaped(py, scores, [systems])
        };
        self.0.scores().map(|scores| scores.into_iter().map(shaped).collect()).transpose()
    }
}

/// The name of an exchange of runs, and the numbers of runs.
#[derive(FromPyObject)]
pub enum ExchangeArgument {
    #[pyo3(annotation = "(str, int, int)")]
    Both(String, usize, usize),
    #[pyo3(annotation = "(str, int)")]
    Each(String, usize),
}

impl ExchangeArgument {
    fn checked(self) -> PyResult<Exchange> {
        let name = match &self {
            ExchangeArgument::Both(name, ..) | ExchangeArgument::Each(name, _) => name,
        };
        let expected = match (name.as_str(), &self) {
            ("pooled", &ExchangeArgument::Both(_, first, second)) => return Ok(Exchange::Pooled(first, second)),
            ("multeval", &ExchangeArgument::Each(_, runs)) => return Ok(Exchange::MultEval(runs)),
            ("pooled", _) => "('pooled', n, m), with the numbers of runs of both systems",
            ("multeval", _) => "('multeval', n), with the number of runs of each system",
            _ => {
                return Err(Error::unknown("exchange", name, ["pooled", "multeval"]).into());
            }
        };
        let got = match &self {
            ExchangeArgument::Both(name, first, second) => format!("('{name}', {first}, {second})"),
            ExchangeArgument::Each(name, runs) => format!("('{name}', {runs})"),
        };
        Err(Error::invalid("exchange", expected, got).into())
    }
}

/// Problems of equal shape with their seeds.
fn problems<'a>(
    (metric, counts): (&Metric, &Counts),
    arrays: &'a [Array<'_>],
    seeds: &'a PyReadonlyArray1<'_, u64>,
) -> PyResult<Problems<'a>> {
    let sample = sample(Some(metric), counts.stats(arrays)?)?;
    Problems::new(sample, counts.systems(), in_order(seeds)?).map_err(PyErr::from)
}

/// Whether shuffles are a group, by the name of their scheme.
pub(super) fn in_group(scheme: &str) -> PyResult<bool> {
    match scheme {
        "iid" => Ok(false),
        "subgroup" => Ok(true),
        _ => {
            let known = ["iid", "subgroup"].map(Into::into).into();
            Err(Error::UnknownName { kind: "scheme".into(), name: scheme.into(), known }.into())
        }
    }
}

#[pyfunction]
#[pyo3(signature = (metric, counts, alternative, thresholds, *, n, seeds, scheme="iid", threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn shuffle_many<'py>(
    py: Python<'py>,
    metric: &Metric,
    counts: &Counts,
    alternative: &str,
    thresholds: PyReadonlyArray1<'py, f64>,
    n: usize,
    seeds: PyReadonlyArray1<'py, u64>,
    scheme: &str,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let in_group = in_group(scheme)?;
    let arrays = counts.arrays(py)?;
    let problems = problems((metric, counts), &arrays, &seeds)?;
    let criterion = (self::alternative(alternative)?, in_order(&thresholds)?);
    let batch = seeds.shape()[0];
    let exceedances = run_long(py, threads, progress, ("shuffling", batch), |run| {
        many::shuffles(&problems, criterion, (in_group, n), run)
    })?;
    shaped(py, exceedances, [batch])
}

#[pyfunction]
#[pyo3(signature = (metric, counts, *, n, seeds, strata=None, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn draw_many<'py>(
    py: Python<'py>,
    metric: &Metric,
    counts: &Counts,
    n: usize,
    seeds: PyReadonlyArray1<'py, u64>,
    strata: Option<Vec<usize>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let strata = sizes(strata)?;
    let arrays = counts.arrays(py)?;
    let problems = problems((metric, counts), &arrays, &seeds)?;
    let (batch, systems) = (seeds.shape()[0], counts.systems());
    let scores = run_long(py, threads, progress, ("drawing", batch), |run| many::draws(&problems, &strata, n, run))?;
    shaped(py, scores, [batch, systems, n])
}
