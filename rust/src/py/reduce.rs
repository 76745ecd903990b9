//! The classes of reductions, and rules for when tests stop.

use numpy::ndarray::{ArrayView, IntoDimension};
use numpy::{PyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::call::run_serial;
use super::convert::{Array1, Array2, Array3, copied, in_order, shaped, vector};
use super::histograms::{HistogramArrays, histogram_arrays};
use crate::error::{check_length, named};
use crate::memory::{self, collected, zeros};
use crate::resample::reduce::{self as core, AnyReduction, Ranged};
use crate::resample::{Alternative, Alternatives, Pair};

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
            Self::Each(names) => Ok(names.iter().map(|name| alternative(name)).collect::<PyResult<Vec<_>>>()?.into()),
        }
    }
}

/// A reduction: a specification or, after a run, the result.
#[pyclass(frozen, subclass, module = "reshuffle._core")]
pub struct Reduction(AnyReduction);

impl Reduction {
    /// Runs reductions over the same replicates. Returns new ones with the results.
    pub(super) fn run_all(
        py: Python<'_>,
        reductions: &[PyRef<'_, Reduction>],
        run: impl FnOnce(&mut [AnyReduction]) -> PyResult<()>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let mut made: Vec<AnyReduction> = reductions.iter().map(|reduction| reduction.0.clone()).collect();
        run(&mut made)?;
        made.into_iter().map(|reduction| Reduction(reduction).into_python(py)).collect()
    }
}

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
        Reduction(merged).into_python(py)
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<Array1<'py, u64>> {
        Ok(vector(py, run_serial(py, |_| self.0.state())?))
    }

    fn with_state(&self, py: Python<'_>, words: PyReadonlyArray1<'_, u64>) -> PyResult<Py<PyAny>> {
        let words = in_order(&words)?;
        let computed = run_serial(py, |_| {
            let mut computed = self.0.clone();
            computed.set_state(words)?;
            Ok(computed)
        })?;
        Reduction(computed).into_python(py)
    }
}

/// Reductions of values that Python computes.
#[pyclass(module = "reshuffle._core")]
pub struct Feed(core::Feed);

#[pymethods]
impl Feed {
    #[new]
    #[pyo3(signature = (reductions, systems, *, n, first=0))]
    fn new(reductions: Vec<PyRef<'_, Reduction>>, systems: usize, n: u64, first: u64) -> PyResult<Self> {
        let made = reductions.iter().map(|reduction| reduction.0.clone()).collect();
        Ok(Feed(core::Feed::new(made, systems, first..first.saturating_add(n))?))
    }

    #[getter]
    fn active(&self) -> Vec<usize> {
        self.0.active()
    }

    fn update(&mut self, values: Matrix<'_, f64>, series: Vec<usize>) -> PyResult<()> {
        let (py, [rows, n]) = (values.py(), [values.shape()[0], values.shape()[1]]);
        check_length("rows of values", series.len(), rows)?;
        let values = in_order(&values)?;
        run_serial(py, |stop| self.0.update(&series, (values, n), stop))
    }

    fn results(&mut self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let fed = std::mem::take(&mut self.0);
        fed.into_reductions().into_iter().map(|reduction| Reduction(reduction).into_python(py)).collect()
    }
}

/// Defines the classes of reductions, and their conversion to and from those of the core.
macro_rules! classes {
    ($($(#[$about:meta])* $class:ident: $passes:ident $parts:tt),*) => {
        impl Reduction {
            fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                Ok(match &self.0 {
                    $(AnyReduction::$class(_) => {
                        Py::new(py, PyClassInitializer::from(self).add_subclass($class))?.into_any()
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
                    match &this.as_super().get().0 {
                        AnyReduction::$class(reduction) => {
                            reduction.replicates()?;
                            Ok(reduction)
                        }
                        // Python cannot make such an object.
                        _ => Err(PyTypeError::new_err(concat!("this object is no ", stringify!($class)))),
                    }
                }
            }
        )*
    };
}

core::reductions!(classes);

type Matrix<'py, T> = PyReadonlyArray2<'py, T>;

/// A copy of an array from Python, which a reduction keeps: a row for each metric, with a number for each pair.
fn per_test<T: numpy::Element + Copy>(what: &str, array: &Matrix<'_, T>, pairs: &[Pair]) -> PyResult<Vec<T>> {
    check_length(format_args!("pairs of {what}"), pairs.len(), array.shape()[1])?;
    Ok(memory::copied(in_order(array)?)?)
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
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Array2<'py, u64>> {
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
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Array2<'py, u64>> {
        let tally = Self::result(this)?;
        copied(this.py(), tally.counts(), tally.shape())
    }

    #[getter]
    fn range_counts<'py>(this: &Bound<'py, Self>) -> PyResult<Array2<'py, u64>> {
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
        let tally = core::SequentialTally::new(pairs, alternative, thresholds, rule.0)?;
        Ok(Self::with(if histograms { tally.with_histograms() } else { tally }))
    }

    #[getter]
    fn histograms<'py>(this: &Bound<'py, Self>) -> PyResult<Option<HistogramArrays<'py>>> {
        let tally = Self::result(this)?;
        let histograms = run_serial(this.py(), |_| tally.histograms())?;
        histograms.map(|histograms| histogram_arrays(this.py(), &histograms)).transpose()
    }

    #[getter]
    fn outcomes<'py>(this: &Bound<'py, Self>) -> PyResult<Outcomes<'py>> {
        let tally = Self::result(this)?;
        outcomes(this.py(), tally.outcomes()?, tally.shape())
    }
}

#[pymethods]
impl Spread {
    #[new]
    fn new(pairs: Vec<Pair>) -> PyClassInitializer<Self> {
        Self::with(core::Spread::new(pairs))
    }

    #[getter]
    fn values<'py>(this: &Bound<'py, Self>) -> PyResult<Array2<'py, f64>> {
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
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Array2<'py, u64>> {
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
    fn counts<'py>(this: &Bound<'py, Self>) -> PyResult<Array2<'py, u64>> {
        let min_p = Self::result(this)?;
        copied(this.py(), min_p.counts(), min_p.shape())
    }
}

/// A read-only array of this shape that borrows from `owner`, because a copy might take gigabytes.
#[allow(unsafe_code)]
pub(super) fn lent<'py, T: numpy::Element, D: IntoDimension>(
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
    let view = ArrayView::from_shape(shape, numbers).map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: the elements belong to a frozen object, which never changes them, and which the array keeps alive.
    let array = unsafe { PyArray::borrow_from_array(&view, owner) };
    array.try_readwrite()?.make_nonwriteable();
    Ok(array)
}

/// The number of replicates of a result.
fn length(result: &impl Ranged) -> PyResult<usize> {
    Ok(result.replicates().map(|range| (range.end - range.start) as usize)?)
}

#[pymethods]
impl Series {
    #[new]
    fn new(pairs: Vec<Pair>) -> PyClassInitializer<Self> {
        Self::with(core::Series::new(pairs))
    }

    #[getter]
    fn statistics<'py>(this: &Bound<'py, Self>) -> PyResult<Array3<'py, f64>> {
        let series = Self::result(this)?;
        let ([metrics, pairs], n) = (series.shape(), length(series)?);
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
    fn scores<'py>(this: &Bound<'py, Self>) -> PyResult<Array2<'py, f64>> {
        let draws = Self::result(this)?;
        let n = length(draws)?;
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
    fn means<'py>(this: &Bound<'py, Self>) -> PyResult<Array1<'py, f64>> {
        Ok(vector(this.py(), Self::result(this)?.means()))
    }

    #[getter]
    fn deviations<'py>(this: &Bound<'py, Self>) -> PyResult<Array1<'py, f64>> {
        Ok(vector(this.py(), Self::result(this)?.deviations()))
    }
}

#[pymethods]
impl Sums {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        Self::with(core::Sums::default())
    }

    #[getter]
    fn sums<'py>(this: &Bound<'py, Self>) -> PyResult<Array2<'py, i64>> {
        let sums = Self::result(this)?;
        let n = length(sums)?;
        lent(this.clone().into_any(), sums.sums(), [n, sums.cells()])
    }
}

/// A rule for when a test needs no more shuffles.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct StoppingRule(pub(super) core::Rule);

#[pymethods]
impl StoppingRule {
    #[staticmethod]
    fn besag_clifford(exceedances: u64) -> PyResult<Self> {
        core::Rule::BesagClifford { exceedances }.checked().map(StoppingRule).map_err(PyErr::from)
    }

    #[staticmethod]
    fn gandy(level: f64, risk: f64) -> PyResult<Self> {
        core::Rule::Gandy { level, risk }.checked().map(StoppingRule).map_err(PyErr::from)
    }

    fn limits<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Array2<'py, i64>> {
        let limits = run_serial(py, |stop| {
            let mut out: Vec<i64> = zeros(&[n, 2])?;
            for (out, limits) in out.chunks_exact_mut(2).zip(self.0.limits()) {
                stop.charge(1 << 10)?;
                out.copy_from_slice(&[limits.low, limits.high]);
            }
            Ok(out)
        })?;
        shaped(py, limits, [n, 2])
    }
}

/// Shuffles, exceedances, and whether the rule stopped the test: arrays of one shape.
pub(super) type Outcomes<'py> = (Array2<'py, u64>, Array2<'py, u64>, Array2<'py, bool>);

pub(super) fn outcomes<'py>(py: Python<'py>, outcomes: &[core::Outcome], shape: [usize; 2]) -> PyResult<Outcomes<'py>> {
    Ok((
        shaped(py, collected(outcomes.iter().map(|outcome| outcome.shuffles))?, shape)?,
        shaped(py, collected(outcomes.iter().map(|outcome| outcome.exceedances))?, shape)?,
        shaped(py, collected(outcomes.iter().map(|outcome| outcome.stopped))?, shape)?,
    ))
}
