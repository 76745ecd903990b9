//! Stopping rules, and the outcomes of tests that they stop.

use numpy::PyArray2;
use pyo3::prelude::*;

use super::call::run_serial;
use super::convert::shaped;
use crate::memory::zeros;
use crate::resample::reduce::{Outcome, Rule};

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
pub(super) type Outcomes<'py> = (Bound<'py, PyArray2<u64>>, Bound<'py, PyArray2<u64>>, Bound<'py, PyArray2<bool>>);

pub(super) fn outcomes<'py>(py: Python<'py>, outcomes: &[Outcome], shape: [usize; 2]) -> PyResult<Outcomes<'py>> {
    Ok((
        shaped(py, outcomes.iter().map(|outcome| outcome.shuffles).collect(), shape)?,
        shaped(py, outcomes.iter().map(|outcome| outcome.exceedances).collect(), shape)?,
        shaped(py, outcomes.iter().map(|outcome| outcome.stopped).collect(), shape)?,
    ))
}
