//! Agreement of metrics with people: counts of pairs and tie calibration.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{Progress, run_long};
use super::convert::{Array1, Array3, in_order, shaped, vector};
use crate::error::check_length;
use crate::meta::{Grouping, Matrices, calibrate, pairs, votes};

/// The segments, the better systems, the worse systems, and numbers of votes.
pub(super) fn votes<'a>(columns: [&'a PyReadonlyArray1<'_, i64>; 4]) -> PyResult<votes::Votes<'a>> {
    let [segment, better, worse, votes] = columns.map(in_order);
    Ok(votes::Votes { segment: segment?, better: better?, worse: worse?, votes: votes? })
}

#[pyfunction]
#[pyo3(signature = (scores, segment, better, worse, votes, *, threads=0, progress=None))]
pub fn meta_votes<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    segment: PyReadonlyArray1<'py, i64>,
    better: PyReadonlyArray1<'py, i64>,
    worse: PyReadonlyArray1<'py, i64>,
    votes: PyReadonlyArray1<'py, i64>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array3<'py, i64>> {
    let (metrics, systems, segments) = scores.as_array().dim();
    let scores = in_order(&scores)?;
    let votes = self::votes([&segment, &better, &worse, &votes])?;
    let counts = run_long(py, threads, progress, ("counting", metrics), |run| {
        votes::count(scores, [metrics, systems, segments], votes, run)
    })?;
    shaped(py, counts, [metrics, segments, votes::KINDS])
}

/// Scores of metrics and of people of the same shape.
fn matrices<'a>(scores: &'a PyReadonlyArray3<'_, f64>, human: &'a PyReadonlyArray2<'_, f64>) -> PyResult<Matrices<'a>> {
    let (metrics, systems, segments) = scores.as_array().dim();
    let lengths = [("systems", systems, human.shape()[0]), ("segments", segments, human.shape()[1])];
    for (what, expected, got) in lengths {
        check_length(format_args!("{what} that people have scored"), expected, got)?;
    }
    Matrices::new(in_order(scores)?, in_order(human)?, [metrics, systems, segments]).map_err(PyErr::from)
}

/// Counts of pairs, and sizes of groups.
type CountArrays<'py> = (Array3<'py, i64>, Array3<'py, i64>);

#[pyfunction]
#[pyo3(signature = (scores, human, grouping, epsilons, *, threads=0, progress=None))]
pub fn meta_cell_counts<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    human: PyReadonlyArray2<'py, f64>,
    grouping: &str,
    epsilons: PyReadonlyArray1<'py, f64>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array3<'py, i64>> {
    let grouping = Grouping::named(grouping)?;
    let matrices = matrices(&scores, &human)?;
    let (metrics, systems, segments) = scores.as_array().dim();
    let epsilons = in_order(&epsilons)?;
    let counts = run_long(py, threads, progress, ("counting", metrics), |run| {
        pairs::count_by_cell(matrices, grouping, epsilons, run)
    })?;
    shaped(py, counts, [metrics, systems * segments, pairs::COLUMNS])
}

#[pyfunction]
#[pyo3(signature = (scores, human, grouping, *, epsilons=None, minimum_difference=0.0, threads=0, progress=None))]
pub fn meta_pair_counts<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    human: PyReadonlyArray2<'py, f64>,
    grouping: &str,
    epsilons: Option<PyReadonlyArray1<'py, f64>>,
    minimum_difference: f64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<CountArrays<'py>> {
    let grouping = Grouping::named(grouping)?;
    let matrices = matrices(&scores, &human)?;
    let (metrics, groups) = (matrices.metrics(), matrices.groups(grouping));
    let epsilons = epsilons.as_ref().map(in_order).transpose()?;
    let total = metrics.saturating_mul(groups);
    let (counts, sizes) = run_long(py, threads, progress, ("counting", total), |run| {
        pairs::count(matrices, grouping, epsilons, minimum_difference, run)
    })?;
    Ok((shaped(py, counts, [metrics, groups, pairs::COLUMNS])?, shaped(py, sizes, [metrics, groups, pairs::SIZES])?))
}

/// For each metric ε, then for each metric and group the counts of pairs.
type Calibrated<'py> = (Array1<'py, f64>, Array3<'py, i64>);

#[pyfunction]
#[pyo3(signature = (scores, human, grouping, *, threads=0, progress=None))]
pub fn meta_calibrate<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    human: PyReadonlyArray2<'py, f64>,
    grouping: &str,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Calibrated<'py>> {
    let grouping = Grouping::named(grouping)?;
    let matrices = matrices(&scores, &human)?;
    let (metrics, groups) = (matrices.metrics(), matrices.groups(grouping));
    let (epsilons, (counts, _)) =
        run_long(py, threads, progress, ("calibrating", metrics), |run| calibrate::calibrate(matrices, grouping, run))?;
    Ok((vector(py, epsilons), shaped(py, counts, [metrics, groups, pairs::COLUMNS])?))
}
