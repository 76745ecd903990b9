//! Soft pairwise accuracy on draws and swaps.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{Progress, run_long};
use super::convert::{Array1, Array2, in_order, shaped, vector};
use super::meta_resample::pairs;
use super::metric::Metric;
use crate::meta::Unit;
use crate::meta::soft::{self, Scored, Scores, Signs};
use crate::resample::replicates;

/// A metric, the counts of its systems, whether lower scores are better, and whether its score is a ratio of two columns.
type Counted<'py> = (PyRef<'py, Metric>, PyReadonlyArray3<'py, i64>, bool, bool);

/// A metric on these segments, by default on all.
fn scored(
    (metric, counts, lower, ratio): &Counted<'_>,
    segments: Option<&PyReadonlyArray1<'_, u32>>,
) -> PyResult<Scored> {
    let shape = [counts.shape()[0], counts.shape()[1]];
    let (formula, counts, flags) = (metric.formula(), in_order(counts)?, (*lower, *ratio));
    Ok(match segments {
        Some(segments) => Scored::new(formula, counts, shape, in_order(segments)?.iter().map(|s| *s as usize), flags),
        None => Scored::new(formula, counts, shape, 0..shape[1], flags),
    }?)
}

#[pyfunction]
#[pyo3(signature = (
    people, metrics, unit, *, n, seed, permutations, inner_seed, first=0, threads=0, progress=None
))]
pub fn meta_soft_drawn<'py>(
    py: Python<'py>,
    people: Counted<'py>,
    metrics: Vec<Counted<'py>>,
    unit: &str,
    n: usize,
    seed: u64,
    permutations: usize,
    inner_seed: u64,
    first: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array2<'py, f64>> {
    let unit = Unit::named(unit)?;
    let replicates = replicates(first, n)?;
    let segments = people.1.shape()[1];
    let people = scored(&people, None)?;
    let metrics = metrics.iter().map(|metric| scored(metric, None)).collect::<PyResult<Vec<_>>>()?;
    let values = run_long(py, threads, progress, ("drawing", n), |run| {
        let signs = Signs::new(inner_seed, permutations, segments)?;
        soft::drawn(&people, &metrics, segments, (&signs, unit), (seed, replicates), run)
    })?;
    shaped(py, values, [metrics.len(), n])
}

#[pyfunction]
#[pyo3(signature = (people, metrics, segments, *, permutations, inner_seed, threads=0))]
pub fn meta_soft_pvalues<'py>(
    py: Python<'py>,
    people: Counted<'py>,
    metrics: Vec<Counted<'py>>,
    segments: PyReadonlyArray1<'py, u32>,
    permutations: usize,
    inner_seed: u64,
    threads: usize,
) -> PyResult<Array2<'py, f64>> {
    let mut every = vec![scored(&people, None)?];
    for metric in &metrics {
        every.push(scored(metric, Some(&segments))?);
    }
    let n = segments.len();
    let values = run_long(py, threads, None, ("", 0), |run| {
        let signs = Signs::new(inner_seed, permutations, n)?;
        soft::pvalues(&every, n, &signs, run)
    })?;
    let pairs = values.len() / every.len();
    shaped(py, values, [every.len(), pairs])
}

/// The scores, and the inner permutations of their segments.
fn prepared(
    scores: &PyReadonlyArray3<'_, f64>,
    segments: &PyReadonlyArray1<'_, u32>,
    (inner_seed, permutations): (u64, usize),
) -> PyResult<(Scores, Signs)> {
    let (metrics, systems, all) = scores.as_array().dim();
    let (scores, segments) = (in_order(scores)?, in_order(segments)?);
    let signs = Signs::new(inner_seed, permutations, segments.len())?;
    Ok((Scores::new(scores, [metrics, systems, all], segments)?, signs))
}

#[pyfunction]
#[pyo3(signature = (scores, people, segments, *, permutations, inner_seed, threads=0))]
pub fn meta_soft_values<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    people: PyReadonlyArray1<'py, f64>,
    segments: PyReadonlyArray1<'py, u32>,
    permutations: usize,
    inner_seed: u64,
    threads: usize,
) -> PyResult<Array1<'py, f64>> {
    let (scores, signs) = prepared(&scores, &segments, (inner_seed, permutations))?;
    let people = in_order(&people)?;
    let values = run_long(py, threads, None, ("", 0), |run| soft::observed(&scores, people, &signs, run))?;
    Ok(vector(py, values))
}

#[pyfunction]
#[pyo3(signature = (
    scores, people, segments, unit, pairs, *, n, seed, permutations, inner_seed, first=0, threads=0, progress=None
))]
pub fn meta_soft_permuted<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    people: PyReadonlyArray1<'py, f64>,
    segments: PyReadonlyArray1<'py, u32>,
    unit: &str,
    pairs: PyReadonlyArray2<'py, i64>,
    n: usize,
    seed: u64,
    permutations: usize,
    inner_seed: u64,
    first: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array2<'py, f64>> {
    let unit = Unit::named(unit)?;
    let replicates = replicates(first, n)?;
    let pairs = self::pairs(&pairs)?;
    let (scores, signs) = prepared(&scores, &segments, (inner_seed, permutations))?;
    let people = in_order(&people)?;
    let values = run_long(py, threads, progress, ("shuffling", n), |run| {
        soft::permuted(&scores, people, &pairs, (&signs, unit), (seed, replicates), run)
    })?;
    shaped(py, values, [pairs.len(), n])
}
