//! What depends on a seed only: values, draws and permutations; and the exact distribution of sums.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::call::{Progress, run_long, run_serial};
use super::convert::{Array1, Array2, in_order, shaped, sizes, vector};
use crate::error::{Error, named};
use crate::memory::zeros;
use crate::pool::PIECE;
use crate::resample::{self, exact};
use crate::stream::{self, Purpose, Stream};

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
) -> PyResult<Array1<'py, u64>> {
    let stream = stream(seed, purpose, replicate)?;
    check_values(n)?;
    let words = run_serial(py, |stop| {
        let mut words = zeros(&[n])?;
        for (block, words) in (0..).step_by(PIECE / 2).zip(words.chunks_mut(PIECE)) {
            stop.charge(PIECE)?;
            stream.fill(block, words);
        }
        Ok(words)
    })?;
    Ok(vector(py, words))
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
) -> PyResult<Array1<'py, u32>> {
    let stream = stream(seed, purpose, replicate)?;
    if bound == 0 {
        return Err(Error::Empty { what: "segments to draw from".into() }.into());
    }
    check_values(n)?;
    let indices = run_serial(py, |stop| {
        let mut out = zeros(&[n])?;
        let mut indices = stream.indices(bound);
        for out in out.chunks_mut(PIECE) {
            stop.charge(PIECE)?;
            indices.fill(out);
        }
        Ok(out)
    })?;
    Ok(vector(py, indices))
}

#[pyfunction]
pub fn permutations(
    py: Python<'_>,
    seed: u64,
    replicate: u64,
    systems: usize,
    segments: usize,
) -> PyResult<Array2<'_, u16>> {
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
) -> PyResult<Array1<'_, u32>> {
    let strata = sizes(strata)?;
    let weights = run_serial(py, |stop| resample::draw_weights((seed, replicate), segments, &strata, stop))?;
    Ok(vector(py, weights))
}

#[pyfunction]
#[pyo3(signature = (steps, *, progress=None))]
pub fn subset_sum_distribution<'py>(
    py: Python<'py>,
    steps: PyReadonlyArray1<'py, u64>,
    progress: Option<&Progress>,
) -> PyResult<Array1<'py, f64>> {
    let steps = in_order(&steps)?;
    let distribution =
        run_long(py, 1, progress, ("shuffling", steps.len()), |run| exact::subset_sum_distribution(steps, run))?;
    Ok(vector(py, distribution))
}
