//! Prepared counts, and the runs of reductions over their replicates.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{Progress, run_long};
use super::convert::{Array1, Array2, Array3, copied, flips, in_order, shaped, sizes, vector};
use super::counts::{Array, Counts};
use super::metric::Metric;
use super::reduce::{Reduction, alternative};
use crate::error::{Error, check_length};
use crate::resample::many::{self, Problems};
use crate::resample::reduce::run_all;
use crate::resample::{self, Exchange, Kind, Plan, Sample, Shuffles};
use crate::stats::SuffStats;

/// The metric that scores sums, if there is one, and the counts.
pub(super) type SampleArgument<'py> = (Option<PyRef<'py, Metric>>, PyRef<'py, Counts>);

/// A sample for the core, from what Python passes.
fn sample<'a>(metric: Option<&Metric>, stats: SuffStats<'a>) -> PyResult<Sample<'a>> {
    match metric {
        Some(metric) => Sample::new(metric.formula(), stats).map_err(PyErr::from),
        None => Ok(Sample::without_formula(stats)),
    }
}

/// Calls `body` with the samples that Python passed.
pub(super) fn with_samples<T>(
    py: Python<'_>,
    passed: &[SampleArgument<'_>],
    body: impl FnOnce(&[Sample<'_>]) -> PyResult<T>,
) -> PyResult<T> {
    let arrays: Vec<_> = passed.iter().map(|(_, counts)| counts.arrays(py)).collect::<PyResult<_>>()?;
    let samples = passed.iter().zip(&arrays);
    let samples = samples.map(|((metric, counts), arrays)| sample(metric.as_deref(), counts.stats(arrays)?));
    body(&samples.collect::<PyResult<Vec<_>>>()?)
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
        with_samples(py, &samples, |samples| {
            run_long(py, threads, None, ("", 0), |run| resample::Resampler::prepare(samples, kind, run)).map(Resampler)
        })
    }

    #[pyo3(signature = (reductions, *, n, seed=0, first=0, masks=None, codes=None, indices=None, exchange=None, threads=0, progress=None))]
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
        Reduction::run_all(py, &reductions, |made| {
            run_long(py, threads, progress, (self.0.stage(), n), |run| run_all(&self.0, (plan, range), made, run))
        })
    }

    #[getter]
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Vec<Array2<'py, i64>>> {
        let to_array = |(totals, &systems): (&[i64], &usize)| copied(py, totals, [systems, totals.len() / systems]);
        self.0.totals().zip(&self.0.shape().systems).map(to_array).collect()
    }

    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Array1<'py, f64>>>> {
        Ok(self.0.scores().map(|all| all.into_iter().map(|scores| vector(py, scores)).collect()))
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
            _ => return Err(Error::unknown("exchange", name, ["pooled", "multeval"]).into()),
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

#[pyfunction]
#[pyo3(signature = (metric, counts, alternative, thresholds, *, n, seeds, scheme="iid", threads=0, progress=None))]
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
) -> PyResult<Array1<'py, u64>> {
    let shuffles = Shuffles::named(scheme)?;
    let arrays = counts.arrays(py)?;
    let problems = problems((metric, counts), &arrays, &seeds)?;
    let criterion = (self::alternative(alternative)?, in_order(&thresholds)?);
    let exceedances = run_long(py, threads, progress, ("shuffling", seeds.len()), |run| {
        many::shuffles(&problems, criterion, (shuffles, n), run)
    })?;
    Ok(vector(py, exceedances))
}

#[pyfunction]
#[pyo3(signature = (metric, counts, *, n, seeds, strata=None, threads=0, progress=None))]
pub fn draw_many<'py>(
    py: Python<'py>,
    metric: &Metric,
    counts: &Counts,
    n: usize,
    seeds: PyReadonlyArray1<'py, u64>,
    strata: Option<Vec<usize>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array3<'py, f64>> {
    let strata = sizes(strata)?;
    let arrays = counts.arrays(py)?;
    let problems = problems((metric, counts), &arrays, &seeds)?;
    let (batch, systems) = (seeds.shape()[0], counts.systems());
    let scores = run_long(py, threads, progress, ("drawing", batch), |run| many::draws(&problems, &strata, n, run))?;
    shaped(py, scores, [batch, systems, n])
}
