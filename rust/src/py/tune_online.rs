//! Tuning that visits sentences one by one (batch MIRA, expected BLEU) or pairs of candidates (PRO).

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{Progress, run_long};
use super::candidates::{SparseArgument, candidates};
use super::convert::{Array1, Array2, in_order, shaped, vector};
use super::metric::Metric;
use crate::error::named;
use crate::tune::{mira, pro, xbleu};

/// The weights of all runs, and a row of numbers for each run.
type Outcome<'py> = (Array2<'py, f64>, Array2<'py, f64>);

#[pyfunction]
#[pyo3(signature = (
    metric, offsets, dense, sparse, counts, gains, *, initial, seeds, epochs=60, c=0.01, decay=0.999,
    background="hope", safe_hope=false, threads=0, progress=None
))]
pub fn tune_mira<'py>(
    py: Python<'py>,
    metric: &Metric,
    offsets: PyReadonlyArray1<'py, i64>,
    dense: PyReadonlyArray2<'py, f64>,
    sparse: Option<SparseArgument<'py>>,
    counts: PyReadonlyArray2<'py, i64>,
    gains: Option<PyReadonlyArray1<'py, f64>>,
    initial: PyReadonlyArray1<'py, f64>,
    seeds: Vec<u64>,
    epochs: usize,
    c: f64,
    decay: f64,
    background: &str,
    safe_hope: bool,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Outcome<'py>> {
    let known = [("hope", mira::Update::Hope), ("model", mira::Update::Model)];
    let update = named("background", background, &known)?;
    let candidates = candidates(py, &offsets, &dense, sparse.as_ref())?;
    metric.check_width(counts.shape()[1])?;
    let (counts, formula, initial) = (in_order(&counts)?, metric.formula(), in_order(&initial)?);
    let gains = gains.as_ref().map(in_order).transpose()?;
    let settings = mira::Settings { epochs, step: c, decay, update, safe_hope };
    let (weights, trace) = run_long(py, threads, progress, ("tuning", seeds.len()), |run| {
        let problem = run.prepare(|stop| mira::Problem::new(candidates, (formula, counts), gains, stop))?;
        mira::run(&problem, settings, initial, &seeds, run)
    })?;
    Ok((shaped(py, weights, [seeds.len(), candidates.width()])?, shaped(py, trace, [seeds.len(), epochs])?))
}

#[pyfunction]
#[pyo3(signature = (
    offsets, dense, sparse, scores, *, seeds, samples=Some(5000), threshold=0.05, kept=Some(50), penalty=1.0,
    tolerance=1e-8, iterations=100, threads=0, progress=None
))]
pub fn tune_pro<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    dense: PyReadonlyArray2<'py, f64>,
    sparse: Option<SparseArgument<'py>>,
    scores: PyReadonlyArray1<'py, f64>,
    seeds: Vec<u64>,
    samples: Option<usize>,
    threshold: f64,
    kept: Option<usize>,
    penalty: f64,
    tolerance: f64,
    iterations: usize,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Outcome<'py>> {
    let candidates = candidates(py, &offsets, &dense, sparse.as_ref())?;
    let scores = in_order(&scores)?;
    let settings = pro::Settings { samples, threshold, kept, penalty, tolerance, iterations };
    let (weights, fits) = run_long(py, threads, progress, ("tuning", seeds.len()), |run| {
        pro::run(&candidates, scores, &settings, &seeds, run)
    })?;
    let trace = fits.iter().flat_map(|fit| [fit.pairs as f64, fit.loss, fit.slope, fit.iterations as f64]).collect();
    Ok((shaped(py, weights, [seeds.len(), candidates.width()])?, shaped(py, trace, [seeds.len(), 4])?))
}

#[pyfunction]
#[pyo3(signature = (
    offsets, dense, sparse, scores, lengths, *, initial, seeds, penalty=10.0, epochs=30, rate=0.1, threads=0,
    progress=None
))]
pub fn tune_xbleu<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    dense: PyReadonlyArray2<'py, f64>,
    sparse: Option<SparseArgument<'py>>,
    scores: PyReadonlyArray1<'py, f64>,
    lengths: PyReadonlyArray1<'py, f64>,
    initial: PyReadonlyArray1<'py, f64>,
    seeds: Vec<u64>,
    penalty: f64,
    epochs: usize,
    rate: f64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Outcome<'py>> {
    let candidates = candidates(py, &offsets, &dense, sparse.as_ref())?;
    let (scores, lengths, initial) = (in_order(&scores)?, in_order(&lengths)?, in_order(&initial)?);
    let settings = xbleu::Settings { epochs, rate };
    let (weights, trace) = run_long(py, threads, progress, ("tuning", seeds.len()), |run| {
        let problem = run.prepare(|stop| xbleu::Problem::new(candidates, scores, lengths, penalty, stop))?;
        xbleu::descend(&problem, settings, initial, &seeds, run)
    })?;
    Ok((
        shaped(py, weights, [seeds.len(), candidates.width()])?,
        shaped(py, trace, [seeds.len(), epochs.saturating_add(1)])?,
    ))
}

#[pyfunction]
#[pyo3(signature = (offsets, dense, sparse, scores, lengths, weights, *, penalty=10.0, threads=0))]
pub fn tune_xbleu_objective<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    dense: PyReadonlyArray2<'py, f64>,
    sparse: Option<SparseArgument<'py>>,
    scores: PyReadonlyArray1<'py, f64>,
    lengths: PyReadonlyArray1<'py, f64>,
    weights: PyReadonlyArray1<'py, f64>,
    penalty: f64,
    threads: usize,
) -> PyResult<(f64, Array1<'py, f64>)> {
    let candidates = candidates(py, &offsets, &dense, sparse.as_ref())?;
    let (scores, lengths, weights) = (in_order(&scores)?, in_order(&lengths)?, in_order(&weights)?);
    let (value, gradient) = run_long(py, threads, None, ("", 0), |run| {
        let problem = run.prepare(|stop| xbleu::Problem::new(candidates, scores, lengths, penalty, stop))?;
        problem.objective(weights, run)
    })?;
    Ok((value, vector(py, gradient)))
}
