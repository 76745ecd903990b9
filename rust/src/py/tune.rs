//! Tuning: weights of features of k-best lists, by each optimizer, and the choices of entries with the best scores.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::call::{Progress, run_long, run_serial};
use super::convert::{Array1, Array2, Array3, in_order, shaped, vector};
use super::metric::Metric;
use crate::error::{Result, check_length, named};
use crate::tune::candidates::{Candidates, Sparse};
use crate::tune::templates::{self, Template, Texts, Wanted};
use crate::tune::{l1, mert, mira, oracle, pro, xbleu};

/// Sparse features: where the features of each candidate begin, their numbers, their values, and how many there are.
type SparseArgument<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>, PyReadonlyArray1<'py, f64>, usize);

/// Checked lists.
fn candidates<'a>(
    py: Python<'_>,
    offsets: &'a PyReadonlyArray1<'_, i64>,
    dense: &'a PyReadonlyArray2<'_, f64>,
    sparse: Option<&'a SparseArgument<'_>>,
) -> PyResult<Candidates<'a>> {
    let (offsets, width) = (in_order(offsets)?, dense.shape()[1]);
    let sparse = match sparse {
        None => None,
        Some((starts, indices, values, width)) => {
            let (starts, indices, values) = (in_order(starts)?, in_order(indices)?, in_order(values)?);
            Some(Sparse { starts, indices, values, width: *width })
        }
    };
    let dense = in_order(dense)?;
    run_serial(py, |stop| Candidates::new(offsets, (dense, width), sparse, stop))
}

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
    let rules = mert::Rules { margin, min_width };
    metric.check_width(counts.shape()[1])?;
    let (offsets, width, counts) = (in_order(&offsets)?, features.shape()[1], in_order(&counts)?);
    check_length("features of directions", width, directions.shape()[1])?;
    let (features, weights, directions) = (in_order(&features)?, in_order(&weights)?, in_order(&directions)?);
    let found = run_long(py, threads, progress, ("searching", n), |run| {
        let lists = run.serial(|stop| mert::Lists::new(offsets, (features, width), counts, metric.formula(), stop))?;
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
    let mut preset = mert::Preset::named(preset)?;
    preset.restarts = restarts.unwrap_or(preset.restarts);
    preset.random_directions = random_directions.unwrap_or(preset.random_directions);
    let settings = mert::Settings { start, low, high, preset, rules: mert::Rules { margin, min_width }, max_steps };
    metric.check_width(counts.shape()[1])?;
    let (offsets, width, counts) = (in_order(&offsets)?, features.shape()[1], in_order(&counts)?);
    let features = in_order(&features)?;
    let starts = preset.restarts.saturating_add(1);
    let n = seeds.len();
    let runs = run_long(py, threads, progress, ("tuning", n.saturating_mul(starts)), |run| {
        let lists = run.serial(|stop| mert::Lists::new(offsets, (features, width), counts, metric.formula(), stop))?;
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

/// Entries, and scores of starts and ends.
type Chosen<'py> = (Array1<'py, i64>, Array2<'py, f64>);

#[pyfunction]
#[pyo3(signature = (
    offsets, counts, metric, starts, *, worst=false, random_starts=0, seed=12345, threads=0, progress=None
))]
pub fn tune_oracle<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    counts: PyReadonlyArray2<'py, i64>,
    metric: &Metric,
    starts: PyReadonlyArray2<'py, i64>,
    worst: bool,
    random_starts: usize,
    seed: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Chosen<'py>> {
    metric.check_width(counts.shape()[1])?;
    let n = starts.shape()[0].saturating_add(random_starts);
    if starts.shape()[0] > 0 {
        check_length("sentences of starts", offsets.len().saturating_sub(1), starts.shape()[1])?;
    }
    let (offsets, counts, starts) = (in_order(&offsets)?, in_order(&counts)?, in_order(&starts)?);
    let found = run_long(py, threads, progress, ("searching", n), |run| {
        let rows = run.serial(|stop| oracle::Rows::new(offsets, counts, metric.formula(), worst, stop))?;
        oracle::search(&rows, starts, random_starts, seed, run)
    })?;
    Ok((vector(py, found.entries), shaped(py, found.from_to, [n, 2])?))
}

/// Selected, not zero, the steepest derivative, the loss, the objective, and the Newton steps of a step.
type Steps = Vec<(usize, usize, f64, f64, f64, usize)>;

/// Weights, selected features, steps, and the violations inside and outside of the selection.
type Fitted<'py> = (Array1<'py, f64>, Vec<usize>, Steps, (f64, f64));

#[pyfunction]
#[pyo3(signature = (
    offsets, dense, sparse, targets, *, gamma, per_step, limit=None, tolerance=1e-4, threads=0, progress=None
))]
pub fn tune_l1<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    dense: PyReadonlyArray2<'py, f64>,
    sparse: Option<SparseArgument<'py>>,
    targets: PyReadonlyArray1<'py, i64>,
    gamma: f64,
    per_step: Vec<usize>,
    limit: Option<usize>,
    tolerance: f64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Fitted<'py>> {
    let settings = l1::Settings { penalty: gamma, per_step, limit, tolerance };
    let (candidates, targets) = (candidates(py, &offsets, &dense, sparse.as_ref())?, in_order(&targets)?);
    let fit = run_long(py, threads, progress, ("training", 0), |run| {
        run.without_progress(|run| {
            let lists = run.prepare(|stop| l1::Lists::new(candidates, targets, stop))?;
            l1::graft(&lists, &settings, run)
        })
    })?;
    let steps = fit.steps.iter();
    let steps = steps.map(|s| (s.selected, s.nonzero, s.steepest, s.loss, s.objective, s.iterations)).collect();
    Ok((vector(py, fit.weights), fit.selected, steps, (fit.violation, fit.violation_outside)))
}

/// Rows of sparse features, and their names.
type Made<'py> = (Array1<'py, i64>, Array1<'py, i32>, Array1<'py, f64>, Vec<String>);

#[pyfunction]
#[pyo3(signature = (
    offsets, hypotheses, templates, *, sources=None, segmentations=None, edges=false, minimum=1, known=None
))]
pub fn tune_templates<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    hypotheses: Vec<PyBackedStr>,
    templates: Vec<String>,
    sources: Option<Vec<PyBackedStr>>,
    segmentations: Option<Vec<PyBackedStr>>,
    edges: bool,
    minimum: usize,
    known: Option<Vec<PyBackedStr>>,
) -> PyResult<Made<'py>> {
    fn plain(texts: &[PyBackedStr]) -> Vec<&str> {
        texts.iter().map(|text| &**text).collect()
    }
    let templates = templates.iter().map(|name| Template::named(name)).collect::<Result<Vec<_>>>();
    let templates = templates?;
    let hypotheses = plain(&hypotheses);
    let [sources, segmentations, known] = [&sources, &segmentations, &known].map(|texts| texts.as_deref().map(plain));
    let texts = Texts {
        starts: in_order(&offsets)?,
        hypotheses: &hypotheses,
        sources: sources.as_deref(),
        segmentations: segmentations.as_deref(),
    };
    let wanted = Wanted { templates, edges, minimum, known: known.as_deref() };
    let made = run_serial(py, |stop| templates::features(&texts, &wanted, stop))?;
    let (starts, features) = (vector(py, made.starts), vector(py, made.features));
    Ok((starts, features, vector(py, made.values), made.names))
}

/// The weights of all runs, and a row of numbers for each run.
type Outcome<'py> = (Array2<'py, f64>, Array2<'py, f64>);

fn outcome(
    py: Python<'_>,
    (weights, trace): (Vec<f64>, Vec<f64>),
    [runs, width, columns]: [usize; 3],
) -> PyResult<Outcome<'_>> {
    Ok((shaped(py, weights, [runs, width])?, shaped(py, trace, [runs, columns])?))
}

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
    let update_with_hope = named("background", background, &[("hope", true), ("model", false)])?;
    let candidates = candidates(py, &offsets, &dense, sparse.as_ref())?;
    metric.check_width(counts.shape()[1])?;
    let (counts, formula, initial) = (in_order(&counts)?, metric.formula(), in_order(&initial)?);
    let gains = gains.as_ref().map(in_order).transpose()?;
    let settings = mira::Settings { epochs, step: c, decay, update_with_hope, safe_hope };
    let found = run_long(py, threads, progress, ("tuning", seeds.len()), |run| {
        let problem = run.prepare(|stop| mira::Problem::new(candidates, (formula, counts), gains, stop))?;
        mira::run(&problem, settings, initial, &seeds, run)
    })?;
    outcome(py, found, [seeds.len(), candidates.width(), epochs])
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
    let found = run_long(py, threads, progress, ("tuning", seeds.len()), |run| {
        pro::run(&candidates, scores, &settings, &seeds, run)
    })?;
    outcome(py, found, [seeds.len(), candidates.width(), pro::COLUMNS])
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
    let found = run_long(py, threads, progress, ("tuning", seeds.len()), |run| {
        let problem = run.prepare(|stop| xbleu::Problem::new(candidates, scores, lengths, penalty, stop))?;
        xbleu::descend(&problem, settings, initial, &seeds, run)
    })?;
    outcome(py, found, [seeds.len(), candidates.width(), epochs.saturating_add(1)])
}

/// The objective and its gradient.
type Loss<'py> = (f64, Array1<'py, f64>);

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
) -> PyResult<Loss<'py>> {
    let candidates = candidates(py, &offsets, &dense, sparse.as_ref())?;
    let (scores, lengths, weights) = (in_order(&scores)?, in_order(&lengths)?, in_order(&weights)?);
    let (value, gradient) = run_long(py, threads, None, ("", 0), |run| {
        let problem = run.prepare(|stop| xbleu::Problem::new(candidates, scores, lengths, penalty, stop))?;
        problem.objective(weights, run)
    })?;
    Ok((value, vector(py, gradient)))
}
