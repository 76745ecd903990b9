//! Stopping rules, random streams and weights.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use super::call::{Progress, run_long, run_serial};
use super::convert::{flips, in_order, shaped};
use crate::error::{Error, check_length, named};
use crate::memory::zeros;
use crate::pool::{PIECE, WorkMeter};
use crate::resample::reduce::{self, Outcome, Rule};
use crate::resample::{self, exact};
use crate::stream::{self, Purpose, Stream};

/// A rule for when a test needs no more shuffles.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct StoppingRule(pub(super) Rule);

#[pymethods]
impl StoppingRule {
    #[staticmethod]
    fn besag_clifford(exceedances: u64) -> PyResult<Self> {
        Rule::BesagClifford { exceedances }.checked().map(StoppingRule).map_err(PyErr::from)
    }

    #[staticmethod]
    fn gandy(level: f64, risk: f64) -> PyResult<Self> {
        Rule::Gandy { level, risk }.checked().map(StoppingRule).map_err(PyErr::from)
    }

    fn limits<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let limits = run_serial(py, |stop| {
            let mut meter = WorkMeter::default();
            let mut out: Vec<i64> = zeros(&[n, 2])?;
            for (out, limits) in out.chunks_exact_mut(2).zip(self.0.limits()) {
                meter.charge(1 << 10, stop)?;
                out.copy_from_slice(&[limits.low, limits.high]);
            }
            Ok(out)
        })?;
        shaped(py, limits, [n, 2])
    }
}

/// Shuffles, exceedances, and whether the rule stopped the test: arrays of one shape.
pub(super) type Outcomes<'py> = (Bound<'py, PyArray2<u64>>, Bound<'py, PyArray2<u64>>, Bound<'py, PyArray2<bool>>);

pub(super) fn outcomes<'py>(py: Python<'py>, outcomes: &[Outcome], shape: [usize; 2]) -> PyResult<Outcomes<'py>> {
    Ok((
        shaped(py, outcomes.iter().map(|outcome| outcome.shuffles).collect(), shape)?,
        shaped(py, outcomes.iter().map(|outcome| outcome.exceedances).collect(), shape)?,
        shaped(py, outcomes.iter().map(|outcome| outcome.stopped).collect(), shape)?,
    ))
}

/// Exceedances of tests on the same shuffles, counted until a rule stops each test.
#[pyclass(module = "reshuffle._core")]
pub struct Sequential(reduce::Sequential);

#[pymethods]
impl Sequential {
    #[new]
    fn new(rule: &StoppingRule, tests: usize) -> PyResult<Self> {
        reduce::Sequential::new(rule.0, tests).map(Sequential).map_err(PyErr::from)
    }

    fn update(&mut self, reached: PyReadonlyArray2<'_, bool>) -> PyResult<()> {
        let py = reached.py();
        let (tests, n) = reached.as_array().dim();
        let expected = self.0.outcomes().len();
        check_length("tests", expected, tests)?;
        let (bits, _) = flips(py, &reached)?;
        run_serial(py, |stop| {
            // Pieces are whole multiples of 64 shuffles.
            for first in (0..n).step_by(PIECE) {
                if stop.requested() {
                    return Err(Error::Interrupted);
                }
                let reached = |test: usize, i: usize| bits[test * n.div_ceil(64) + first / 64 + i];
                self.0.update(PIECE.min(n - first), reached);
            }
            Ok(())
        })
    }

    #[getter]
    fn finished(&self) -> bool {
        self.0.finished()
    }

    #[getter]
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Outcomes<'py>> {
        outcomes(py, self.0.outcomes(), [1, self.0.outcomes().len()])
    }
}

#[pyfunction]
#[pyo3(signature = (steps, *, progress=None))]
pub fn subset_sum_distribution<'py>(
    py: Python<'py>,
    steps: PyReadonlyArray1<'py, u64>,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let steps = in_order(&steps)?;
    let distribution =
        run_long(py, 1, progress, ("shuffling", steps.len()), |run| exact::subset_sum_distribution(steps, run))?;
    let length = distribution.len();
    shaped(py, distribution, [length])
}

/// Sizes of strata for the core, where an empty list means no strata.
pub(super) fn sizes(strata: Option<Vec<usize>>) -> PyResult<Vec<usize>> {
    match strata {
        Some(sizes) if sizes.is_empty() => Err(Error::Empty { what: "strata".into() }.into()),
        sizes => Ok(sizes.unwrap_or_default()),
    }
}

fn stream(seed: u64, purpose: &str, replicate: u64) -> PyResult<Stream> {
    let known = [
        ("shuffle", Purpose::Shuffle),
        ("draw", Purpose::Draw),
        ("code", Purpose::Code),
        ("permutation", Purpose::Permutation),
        ("selection", Purpose::Selection),
        ("assignment", Purpose::Assignment),
        ("tuning", Purpose::Tuning),
        ("visit", Purpose::Visit),
        ("pairs", Purpose::Pairs),
    ];
    Ok(Stream::new(seed, named("purpose", purpose, &known)?, replicate))
}

#[pyfunction]
pub fn derive(seed: u64, kind: &str, index: u64) -> PyResult<u64> {
    stream::derive(seed, kind, index).map_err(PyErr::from)
}

/// The number of 64-bit values after which a stream repeats.
const STREAM_LENGTH: u64 = 1 << 33;

fn check_values(n: usize) -> PyResult<()> {
    if n as u64 <= STREAM_LENGTH {
        return Ok(());
    }
    Err(Error::invalid("n", format!("at most {STREAM_LENGTH}, after which a stream repeats"), n).into())
}

#[pyfunction]
pub fn stream_values<'py>(
    py: Python<'py>,
    seed: u64,
    purpose: &str,
    replicate: u64,
    n: usize,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let stream = stream(seed, purpose, replicate)?;
    check_values(n)?;
    let words = run_serial(py, |stop| {
        let mut words = zeros(&[n])?;
        let mut meter = WorkMeter::default();
        for (block, words) in (0..).step_by(PIECE / 2).zip(words.chunks_mut(PIECE)) {
            meter.charge(PIECE, stop)?;
            stream.fill(block, words);
        }
        Ok(words)
    })?;
    shaped(py, words, [n])
}

#[pyfunction]
#[pyo3(signature = (seed, replicate, bound, n, *, purpose="draw"))]
pub fn stream_indices<'py>(
    py: Python<'py>,
    seed: u64,
    replicate: u64,
    bound: u32,
    n: usize,
    purpose: &str,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let stream = stream(seed, purpose, replicate)?;
    if bound == 0 {
        return Err(Error::Empty { what: "segments to draw from".into() }.into());
    }
    check_values(n)?;
    let indices = run_serial(py, |stop| {
        let mut out = zeros(&[n])?;
        let mut indices = stream.indices(bound);
        let mut meter = WorkMeter::default();
        for out in out.chunks_mut(PIECE) {
            meter.charge(PIECE, stop)?;
            indices.fill(out);
        }
        Ok(out)
    })?;
    shaped(py, indices, [n])
}

#[pyfunction]
pub fn permutations(
    py: Python<'_>,
    seed: u64,
    replicate: u64,
    systems: usize,
    segments: usize,
) -> PyResult<Bound<'_, PyArray2<u16>>> {
    let labels = run_serial(py, |stop| resample::permutations((seed, replicate), systems, segments, stop))?;
    shaped(py, labels, [segments, systems])
}

#[pyfunction]
#[pyo3(signature = (seed, replicate, segments, *, strata=None))]
pub fn draw_weights(
    py: Python<'_>,
    seed: u64,
    replicate: u64,
    segments: u32,
    strata: Option<Vec<usize>>,
) -> PyResult<Bound<'_, PyArray1<u32>>> {
    let strata = sizes(strata)?;
    let weights =
        run_long(py, 1, None, ("", 0), |run| resample::draw_weights((seed, replicate), segments, &strata, run))?;
    shaped(py, weights, [segments as usize])
}
