//! Minimum error rate training.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{Progress, run_long};
use super::convert::{Array1, Array2, Array3, in_order, shaped, vector};
use super::metric::Metric;
use crate::error::check_length;
use crate::tune::mert::{self, Lists, Preset, Rules, Settings};

/// Positions, scores, intervals, numbers of corners, scores at 0.
type Searched<'py> = (Array1<'py, f64>, Array1<'py, f64>, Array2<'py, f64>, Array1<'py, i64>, Array1<'py, f64>);

#[pyfunction]
#[pyo3(signature = (
    offsets, features, counts, metric, weights, directions, *, margin=0.1, min_width=1e-9, threads=0, progress=None
))]
pub fn tune_line_search<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    features: PyReadonlyArray2<'py, f64>,
    counts: PyReadonlyArray2<'py, i64>,
    metric: &Metric,
    weights: PyReadonlyArray1<'py, f64>,
    directions: PyReadonlyArray2<'py, f64>,
    margin: f64,
    min_width: f64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Searched<'py>> {
    let n = directions.shape()[0];
    let rules = Rules { margin, min_width };
    metric.check_width(counts.shape()[1])?;
    let (offsets, width, counts) = (in_order(&offsets)?, features.shape()[1], in_order(&counts)?);
    check_length("features of directions", width, directions.shape()[1])?;
    let (features, weights, directions) = (in_order(&features)?, in_order(&weights)?, in_order(&directions)?);
    let found = run_long(py, threads, progress, ("searching", n), |run| {
        let lists = run.serial(|stop, _| Lists::new(offsets, (features, width), counts, metric.formula(), stop))?;
        mert::line_search(&lists, weights, directions, &rules, run)
    })?;
    let numbers = |of: fn(&mert::Found) -> f64| vector(py, found.iter().map(of).collect());
    let intervals = found.iter().flat_map(|found| [found.interval.0, found.interval.1]).collect();
    let corners = found.iter().map(|found| found.corners as i64).collect();
    Ok((
        numbers(|found| found.position),
        numbers(|found| found.score),
        shaped(py, intervals, [n, 2])?,
        vector(py, corners),
        numbers(|found| found.at_zero),
    ))
}

/// Weights, scores, chosen starts, scores at the start and the end of each search, and numbers of steps.
type Tuned<'py> = (Array2<'py, f64>, Array1<'py, f64>, Array1<'py, i64>, Array3<'py, f64>, Array2<'py, i64>);

#[pyfunction]
#[pyo3(signature = (
    offsets, features, counts, metric, *, start, low, high, seeds, preset="both", restarts=None,
    random_directions=None, margin=0.1, min_width=1e-9, max_steps=1000, threads=0, progress=None
))]
pub fn tune_mert<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    features: PyReadonlyArray2<'py, f64>,
    counts: PyReadonlyArray2<'py, i64>,
    metric: &Metric,
    start: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    seeds: Vec<u64>,
    preset: &str,
    restarts: Option<usize>,
    random_directions: Option<usize>,
    margin: f64,
    min_width: f64,
    max_steps: usize,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Tuned<'py>> {
    let mut preset = Preset::named(preset)?;
    preset.restarts = restarts.unwrap_or(preset.restarts);
    preset.random_directions = random_directions.unwrap_or(preset.random_directions);
    let settings = Settings { start, low, high, preset, rules: Rules { margin, min_width }, max_steps };
    metric.check_width(counts.shape()[1])?;
    let (offsets, width, counts) = (in_order(&offsets)?, features.shape()[1], in_order(&counts)?);
    let features = in_order(&features)?;
    let starts = preset.restarts.saturating_add(1);
    let n = seeds.len();
    let runs = run_long(py, threads, progress, ("tuning", n.saturating_mul(starts)), |run| {
        let lists = run.serial(|stop, _| Lists::new(offsets, (features, width), counts, metric.formula(), stop))?;
        mert::tune(&lists, &settings, &seeds, run)
    })?;
    Ok((
        shaped(py, runs.weights, [n, width])?,
        vector(py, runs.scores),
        vector(py, runs.chosen),
        shaped(py, runs.from_to, [n, starts, 2])?,
        shaped(py, runs.steps, [n, starts])?,
    ))
}
