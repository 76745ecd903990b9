//! Stopping rules, and tests that they stop.

use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use super::call::run_serial;
use super::convert::{flips, shaped};
use crate::error::{Error, check_length};
use crate::memory::zeros;
use crate::pool::{PIECE, WorkMeter};
use crate::resample::reduce::{self, Outcome, Rule};

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
