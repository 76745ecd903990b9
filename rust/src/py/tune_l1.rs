//! The ℓ1 reranker, and features from templates.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::call::{Progress, run_long, run_serial};
use super::candidates::{SparseArgument, candidates};
use super::convert::{Array1, in_order, vector};
use crate::error::Result;
use crate::pool::Run;
use crate::tune::candidates::Candidates;
use crate::tune::l1::{self, Lists, Settings};
use crate::tune::templates::{self, Template, Texts, Wanted};

/// Runs `body` on checked lists, without the interpreter.
fn on_lists<T: Send>(
    py: Python<'_>,
    candidates: Candidates<'_>,
    targets: &PyReadonlyArray1<'_, i64>,
    (threads, progress): (usize, Option<&Progress>),
    body: impl FnOnce(&Lists<'_>, &mut Run<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    let targets = in_order(targets)?;
    run_long(py, threads, progress, ("training", 0), |run| {
        run.without_progress(|run| {
            let lists = run.prepare(|stop| Lists::new(candidates, targets, stop))?;
            body(&lists, run)
        })
    })
}

/// The loss and its gradient.
type Loss<'py> = (f64, Array1<'py, f64>);

#[pyfunction]
#[pyo3(signature = (offsets, dense, sparse, targets, weights, *, threads=0, progress=None))]
pub fn tune_l1_loss<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    dense: PyReadonlyArray2<'py, f64>,
    sparse: Option<SparseArgument<'py>>,
    targets: PyReadonlyArray1<'py, i64>,
    weights: PyReadonlyArray1<'py, f64>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Loss<'py>> {
    let weights = in_order(&weights)?;
    let (candidates, watch) = (candidates(py, &offsets, &dense, sparse.as_ref())?, (threads, progress));
    let pass = on_lists(py, candidates, &targets, watch, |lists, run| l1::pass(lists, weights, run))?;
    Ok((pass.loss, vector(py, pass.gradient)))
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
    let settings = Settings { penalty: gamma, per_step, limit, tolerance };
    let (candidates, watch) = (candidates(py, &offsets, &dense, sparse.as_ref())?, (threads, progress));
    let fit = on_lists(py, candidates, &targets, watch, |lists, run| l1::graft(lists, &settings, run))?;
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
