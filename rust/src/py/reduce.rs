//! Reductions as classes, and what runs them.

use numpy::ndarray::{ArrayView, Dimension, IntoDimension};
use numpy::{
    PyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use super::call::{Progress, raise, run_long, run_serial};
use super::convert::{check_units, flips, in_order, shaped};
use super::counts::Counts;
use super::metric::Metric;
use super::resample::{StoppingRule, sizes};
use crate::error::{Error, Result};
use crate::pool::{Run, Stop};
use crate::resample::many::{self, Problems};
use crate::resample::reduce as core;
use crate::resample::{self, Alternative, Kind, Pair, Plan, Sample};
use crate::stats::SuffStats;

pub(super) fn alternative(py: Python<'_>, name: &str) -> PyResult<Alternative> {
    let known = [("two-sided", Alternative::TwoSided), ("greater", Alternative::Greater), ("less", Alternative::Less)];
    known.iter().find(|(n, _)| *n == name).map(|(_, alternative)| *alternative).ok_or_else(|| {
        let known = known.map(|(name, _)| name.into()).into();
        raise(py, Error::UnknownName { kind: "alternative".into(), name: name.into(), known })
    })
}

/// A reduction of any kind.
#[derive(Clone)]
enum Any {
    Tally(core::Tally),
    SequentialTally(core::SequentialTally),
    Spread(core::Spread),
    MaxT(core::MaxT),
    MinP(core::MinP),
    Series(core::Series),
    Draws(core::Draws),
    Moments(core::Moments),
    Ranks(core::Ranks),
    Sums(core::Sums),
}

impl Any {
    fn replicates(&self) -> Result<std::ops::Range<u64>> {
        match self {
            Any::Tally(reduction) => reduction.replicates(),
            Any::SequentialTally(reduction) => reduction.replicates(),
            Any::Spread(reduction) => reduction.replicates(),
            Any::MaxT(reduction) => reduction.replicates(),
            Any::MinP(reduction) => reduction.replicates(),
            Any::Series(reduction) => reduction.replicates(),
            Any::Draws(reduction) => reduction.replicates(),
            Any::Moments(reduction) => reduction.replicates(),
            Any::Ranks(reduction) => reduction.replicates(),
            Any::Sums(reduction) => reduction.replicates(),
        }
    }

    fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
        match (self, later) {
            (Any::Tally(these), Any::Tally(later)) => these.merge(later),
            (Any::SequentialTally(these), Any::SequentialTally(later)) => these.merge(later, stop),
            (Any::Spread(these), Any::Spread(later)) => these.merge(later),
            (Any::MaxT(these), Any::MaxT(later)) => these.merge(later),
            (Any::MinP(these), Any::MinP(later)) => these.merge(later),
            (Any::Series(these), Any::Series(later)) => these.merge(later, stop),
            (Any::Draws(these), Any::Draws(later)) => these.merge(later, stop),
            (Any::Moments(these), Any::Moments(later)) => these.merge(later),
            (Any::Ranks(these), Any::Ranks(later)) => these.merge(later),
            (Any::Sums(these), Any::Sums(later)) => these.merge(later, stop),
            (_, _) => Err(Error::InvalidOption {
                option: "a reduction that is merged with another".into(),
                expected: "of the same class".into(),
                got: "one of another".into(),
            }),
        }
    }

    /// What is made in one pass with others; None for what takes passes of its own.
    fn as_single_pass(&mut self) -> Option<&mut dyn core::Reduction> {
        match self {
            Any::Tally(reduction) => Some(reduction),
            Any::SequentialTally(reduction) => Some(reduction),
            Any::Spread(reduction) => Some(reduction),
            Any::MaxT(reduction) => Some(reduction),
            Any::MinP(_) => None,
            Any::Series(reduction) => Some(reduction),
            Any::Draws(reduction) => Some(reduction),
            Any::Moments(reduction) => Some(reduction),
            Any::Ranks(reduction) => Some(reduction),
            Any::Sums(reduction) => Some(reduction),
        }
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        macro_rules! object {
            ($class:ident) => {
                Py::new(py, PyClassInitializer::from(Reduction(self)).add_subclass($class))?.into_any()
            };
        }
        Ok(match &self {
            Any::Tally(_) => object!(Tally),
            Any::SequentialTally(_) => object!(SequentialTally),
            Any::Spread(_) => object!(Spread),
            Any::MaxT(_) => object!(MaxT),
            Any::MinP(_) => object!(MinP),
            Any::Series(_) => object!(Series),
            Any::Draws(_) => object!(Draws),
            Any::Moments(_) => object!(Moments),
            Any::Ranks(_) => object!(Ranks),
            Any::Sums(_) => object!(Sums),
        })
    }
}

/// What is kept of replicates: a specification, and what a run made of it.
#[pyclass(frozen, subclass, module = "reshuffle._core")]
pub struct Reduction(Any);

#[pymethods]
impl Reduction {
    #[getter]
    fn replicates(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let range = self.0.replicates().map_err(|e| raise(py, e))?;
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
}

/// The classes of reductions: how they are made of what the core has, and give it back.
macro_rules! reductions {
    ($($(#[$about:meta])* $class:ident),*) => {$(
        $(#[$about])*
        #[pyclass(frozen, extends = Reduction, module = "reshuffle._core")]
        pub struct $class;

        impl $class {
            fn with(reduction: core::$class) -> PyClassInitializer<Self> {
                PyClassInitializer::from(Reduction(Any::$class(reduction))).add_subclass($class)
            }

            /// What a run has made.
            fn made<'a>(this: &'a Bound<'_, Self>) -> PyResult<&'a core::$class> {
                let Any::$class(reduction) = &this.as_super().get().0 else { unreachable!("a class has its own kind") };
                reduction.replicates().map_err(|e| raise(this.py(), e))?;
                Ok(reduction)
            }
        }
    )*};
}

reductions! {
    /// How many shuffles reach each threshold.
    Tally,
    /// How far tests come until a rule stops them.
    SequentialTally,
    /// The root mean squares of statistics.
    Spread,
    /// Step-down maxT.
    MaxT,
    /// Step-down minP.
    MinP,
    /// The statistics of all shuffles.
    Series,
    /// The scores of all draws.
    Draws,
    /// Means and standard deviations of scores.
    Moments,
    /// How often systems have each rank.
    Ranks,
    /// The sums of all replicates.
    Sums
}

type Matrix<'py, T> = PyReadonlyArray2<'py, T>;

/// A copy of an array, row by row: a specification keeps its own.
fn owned<T: numpy::Element + Copy>(array: &Matrix<'_, T>) -> PyResult<Vec<T>> {
    let values = in_order(array)?;
    let mut out = resample::reserved(values.len()).map_err(|e| raise(array.py(), e))?;
    out.extend_from_slice(values);
    Ok(out)
}

/// The same for what is handed out.
fn copied<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    values: &[T],
    shape: [usize; 2],
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let mut out = resample::reserved(values.len()).map_err(|e| raise(py, e))?;
    out.extend_from_slice(values);
    shaped(py, out, shape)
}

#[pymethods]
impl Tally {
    #[new]
    fn new(
        py: Python<'_>,
        pairs: Vec<Pair>,
        alternative: &str,
        thresholds: Matrix<'_, f64>,
    ) -> PyResult<PyClassInitializer<Self>> {
        Ok(Self::with(core::Tally::new(pairs, self::alternative(py, alternative)?, owned(&thresholds)?)))
    }

    #[getter]
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let tally = Self::made(this)?;
        copied(this.py(), tally.counts(), tally.shape())
    }
}

#[pymethods]
impl SequentialTally {
    #[new]
    fn new(
        py: Python<'_>,
        pairs: Vec<Pair>,
        alternative: &str,
        thresholds: Matrix<'_, f64>,
        rule: &StoppingRule,
    ) -> PyResult<PyClassInitializer<Self>> {
        let alternative = self::alternative(py, alternative)?;
        let tally = core::SequentialTally::new(pairs, alternative, owned(&thresholds)?, rule.0);
        Ok(Self::with(tally.map_err(|e| raise(py, e))?))
    }

    #[getter]
    fn shuffles<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        Self::of_each(this, |outcome| outcome.shuffles)
    }

    #[getter]
    fn exceedances<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        Self::of_each(this, |outcome| outcome.exceedances)
    }

    #[getter]
    fn stopped<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        Self::of_each(this, |outcome| outcome.stopped)
    }
}

impl SequentialTally {
    /// Something of every test's outcome.
    fn of_each<'py, T: numpy::Element>(
        this: &Bound<'py, Self>,
        get: impl Fn(&core::Outcome) -> T,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let tally = Self::made(this)?;
        let outcomes = tally.outcomes().map_err(|e| raise(this.py(), e))?;
        let mut out = resample::reserved(outcomes.len()).map_err(|e| raise(this.py(), e))?;
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
        let spread = Self::made(this)?;
        shaped(this.py(), spread.values(), spread.shape())
    }
}

#[pymethods]
impl MaxT {
    #[new]
    fn new(
        py: Python<'_>,
        pairs: Vec<Pair>,
        alternative: &str,
        scales: Matrix<'_, f64>,
        thresholds: Matrix<'_, f64>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let alternative = self::alternative(py, alternative)?;
        Ok(Self::with(core::MaxT::new(pairs, alternative, owned(&scales)?, owned(&thresholds)?)))
    }

    #[getter]
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let max_t = Self::made(this)?;
        copied(this.py(), max_t.counts(), max_t.shape())
    }
}

#[pymethods]
impl MinP {
    #[new]
    fn new(
        py: Python<'_>,
        pairs: Vec<Pair>,
        alternative: &str,
        thresholds: Matrix<'_, f64>,
        ranks: Matrix<'_, u64>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let alternative = self::alternative(py, alternative)?;
        Ok(Self::with(core::MinP::new(pairs, alternative, owned(&thresholds)?, owned(&ranks)?)))
    }

    #[getter]
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let min_p = Self::made(this)?;
        copied(this.py(), min_p.counts(), min_p.shape())
    }
}

/// An array of numbers that `owner` has and keeps: may be gigabytes, and is not copied. It is not writeable.
#[allow(unsafe_code)]
fn lent<'py, T: numpy::Element, D: Dimension>(
    owner: Bound<'py, PyAny>,
    view: &ArrayView<'_, T, D>,
) -> PyResult<Bound<'py, PyArray<T, D>>> {
    // SAFETY: the numbers belong to a frozen object, which never changes them, and which the array keeps alive.
    let array = unsafe { PyArray::borrow_from_array(view, owner) };
    array.try_readwrite()?.make_nonwriteable();
    Ok(array)
}

/// Numbers in rows.
fn view<T, D: IntoDimension>(numbers: &[T], shape: D) -> ArrayView<'_, T, D::Dim> {
    ArrayView::from_shape(shape, numbers).expect("as many numbers as the shape says")
}

/// How many replicates a reduction was made of.
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
        let series = Self::made(this)?;
        let ([metrics, pairs], n) = (series.shape(), length(series.replicates()));
        lent(this.clone().into_any(), &view(series.statistics(), [metrics, pairs, n]))
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
        let draws = Self::made(this)?;
        let n = length(draws.replicates());
        lent(this.clone().into_any(), &view(draws.scores(), [draws.systems(), n]))
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
        let means = Self::made(this)?.means();
        let systems = means.len();
        shaped(this.py(), means, [systems])
    }

    #[getter]
    fn deviations<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let deviations = Self::made(this)?.deviations();
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
        let ranks = Self::made(this)?;
        let mut rest = ranks.counts();
        let of_metric = |&k: &usize| {
            let (counts, behind) = rest.split_at(k * k);
            rest = behind;
            copied(this.py(), counts, [k, k])
        };
        ranks.systems().iter().map(of_metric).collect()
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
        let sums = Self::made(this)?;
        let n = length(sums.replicates());
        lent(this.clone().into_any(), &view(sums.sums(), [n, sums.cells()]))
    }
}

/// The metric that scores sums, if there is one, and the counts.
type SampleArgument<'py> = (Option<PyRef<'py, Metric>>, PyRef<'py, Counts>);

fn sample<'a>(py: Python<'_>, metric: Option<&Metric>, stats: SuffStats<'a>) -> PyResult<Sample<'a>> {
    match metric {
        Some(metric) => Sample::new(metric.formula(), stats).map_err(|e| raise(py, e)),
        None => Ok(Sample::without_formula(stats)),
    }
}

/// Counts of systems under some metrics, prepared to be shuffled or drawn from.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct Resampler(resample::Resampler);

#[pymethods]
impl Resampler {
    #[new]
    #[pyo3(signature = (samples, *, kind="shuffles", strata=None, threads=0, progress=None))]
    fn new(
        py: Python<'_>,
        samples: Vec<SampleArgument<'_>>,
        kind: &str,
        strata: Option<Vec<usize>>,
        threads: usize,
        progress: Option<&Progress>,
    ) -> PyResult<Self> {
        let strata = sizes(py, strata)?;
        let (kind, stage) = match kind {
            "shuffles" if strata.is_empty() => (Kind::Shuffles, "shuffling"),
            "draws" => (Kind::Draws(&strata), "drawing"),
            "shuffles" => {
                let (option, expected) = ("strata".into(), "None with shuffles, which swap within a segment".into());
                return Err(raise(py, Error::InvalidOption { option, expected, got: format!("{strata:?}") }));
            }
            _ => {
                let known = ["shuffles", "draws"].map(Into::into).into();
                return Err(raise(py, Error::UnknownName { kind: "kind".into(), name: kind.into(), known }));
            }
        };
        let arrays: Vec<_> = samples.iter().map(|(_, counts)| counts.arrays(py)).collect::<PyResult<_>>()?;
        let of = samples.iter().zip(&arrays);
        let of = of.map(|((metric, counts), arrays)| sample(py, metric.as_deref(), counts.stats(py, arrays)?));
        let samples: Vec<_> = of.collect::<PyResult<_>>()?;
        let prepare = |run: &mut Run<'_>| run.without_progress(|run| resample::Resampler::prepare(&samples, kind, run));
        run_long(py, threads, progress, (stage, 0), prepare).map(Resampler)
    }

    #[pyo3(signature = (reductions, *, n, seed=0, first=0, masks=None, codes=None, indices=None, threads=0, progress=None))]
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
        threads: usize,
        progress: Option<&Progress>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let given = [("masks", masks.is_some()), ("indices", indices.is_some()), ("codes", codes.is_some())];
        if let [(first, _), (second, _), ..] = given.into_iter().filter(|(_, given)| *given).collect::<Vec<_>>()[..] {
            let (option, expected) = (second.into(), format!("None beside {first}, which say all"));
            return Err(raise(py, Error::InvalidOption { option, expected, got: "both".into() }));
        }
        let units = Some(self.0.units());
        let words;
        let (plan, n) = if let Some(masks) = &masks {
            check_units(py, "masks", masks.shape()[1], units)?;
            let (made, n) = flips(py, masks)?;
            words = made;
            (Plan::Flips(&words), n)
        } else if let Some(indices) = &indices {
            check_units(py, "indices", indices.shape()[1], units)?;
            (Plan::Indices(in_order(indices)?), indices.shape()[0])
        } else if let Some(codes) = &codes {
            (Plan::Codes(in_order(codes)?), n)
        } else {
            (Plan::Seeded(seed), n)
        };
        let range = resample::replicates(first, n).map_err(|e| raise(py, e))?;
        let mut made: Vec<Any> = reductions.iter().map(|reduction| reduction.0.clone()).collect();
        let stage = if self.0.is_draws() { "drawing" } else { "shuffling" };
        run_long(py, threads, progress, (stage, n), |run| {
            let mut as_single_pass: Vec<_> = made.iter_mut().filter_map(Any::as_single_pass).collect();
            if !as_single_pass.is_empty() {
                self.0.run((plan, range.clone()), &mut as_single_pass, run)?;
            }
            made.iter_mut().try_for_each(|reduction| match reduction {
                Any::MinP(min_p) => min_p.run(&self.0, (plan, range.clone()), run),
                _ => Ok(()),
            })
        })?;
        made.into_iter().map(|reduction| reduction.into_python(py)).collect()
    }

    #[getter]
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyArray2<i64>>>> {
        let of = |(totals, &systems): (&[i64], &usize)| copied(py, totals, [systems, totals.len() / systems]);
        self.0.totals().zip(&self.0.shape().systems).map(of).collect()
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

/// Problems of one shape, and their seeds.
fn problems<'a>(
    py: Python<'_>,
    (metric, counts): (&Metric, &Counts),
    arrays: &'a [PyReadonlyArray3<'_, i64>],
    seeds: &'a PyReadonlyArray1<'_, u64>,
) -> PyResult<Problems<'a>> {
    let sample = sample(py, Some(metric), counts.stats(py, arrays)?)?;
    Problems::new(sample, counts.systems(), in_order(seeds)?).map_err(|e| raise(py, e))
}

#[pyfunction]
#[pyo3(signature = (metric, counts, alternative, thresholds, *, n, seeds, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn shuffle_many<'py>(
    py: Python<'py>,
    metric: &Metric,
    counts: &Counts,
    alternative: &str,
    thresholds: PyReadonlyArray1<'py, f64>,
    n: usize,
    seeds: PyReadonlyArray1<'py, u64>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let arrays = counts.arrays(py)?;
    let problems = problems(py, (metric, counts), &arrays, &seeds)?;
    let criterion = (self::alternative(py, alternative)?, in_order(&thresholds)?);
    let batch = seeds.shape()[0];
    let exceedances =
        run_long(py, threads, progress, ("shuffling", batch), |run| many::shuffles(&problems, criterion, n, run))?;
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
    let strata = sizes(py, strata)?;
    let arrays = counts.arrays(py)?;
    let problems = problems(py, (metric, counts), &arrays, &seeds)?;
    let (batch, systems) = (seeds.shape()[0], counts.systems());
    let scores = run_long(py, threads, progress, ("drawing", batch), |run| many::draws(&problems, &strata, n, run))?;
    shaped(py, scores, [batch, systems, n])
}
