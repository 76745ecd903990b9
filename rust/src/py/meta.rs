//! Agreement of metrics with people: counts of pairs, tie calibration, replicates of coefficients, and soft pairwise accuracy.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{Progress, run_long};
use super::convert::{Array1, Array2, Array3, in_order, shaped, vector};
use super::metric::Metric;
use crate::error::{Result, check_length};
use crate::memory::{collected, zeros};
use crate::meta::resampled::{self, Drawn, Material, Statistic, TieRule};
use crate::meta::soft::{self, Scored, Signs};
use crate::meta::{Grouping, Matrices, Unit, calibrate, pairs, votes};
use crate::resample::replicates;

/// The segments, the better systems, the worse systems, and numbers of votes.
fn votes<'a>(columns: [&'a PyReadonlyArray1<'_, i64>; 4]) -> PyResult<votes::Votes<'a>> {
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

/// Checks the length of each dimension of an array.
fn check_shape(what: &str, expected: &[(&str, usize)], got: &[usize]) -> Result<()> {
    let mut dimensions = expected.iter().zip(got);
    dimensions.try_for_each(|(&(name, expected), &got)| check_length(format_args!("{name} of {what}"), expected, got))
}

/// Scores of metrics and of people of the same shape.
fn matrices<'a>(scores: &'a PyReadonlyArray3<'_, f64>, human: &'a PyReadonlyArray2<'_, f64>) -> PyResult<Matrices<'a>> {
    let (metrics, systems, segments) = scores.as_array().dim();
    check_shape("human scores", &[("systems", systems), ("segments", segments)], human.shape())?;
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
#[pyo3(signature = (scores, human, grouping, *, epsilons=None, threads=0, progress=None))]
pub fn meta_pair_counts<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    human: PyReadonlyArray2<'py, f64>,
    grouping: &str,
    epsilons: Option<PyReadonlyArray1<'py, f64>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<CountArrays<'py>> {
    let grouping = Grouping::named(grouping)?;
    let matrices = matrices(&scores, &human)?;
    let (metrics, groups) = (matrices.metrics(), matrices.groups(grouping));
    let epsilons = epsilons.as_ref().map(in_order).transpose()?;
    let total = metrics.saturating_mul(groups);
    let (counts, sizes) =
        run_long(py, threads, progress, ("counting", total), |run| pairs::count(matrices, grouping, epsilons, run))?;
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

/// The names of a grouping and a coefficient.
type Names = (String, String);

fn statistics(names: &[Names]) -> Result<Vec<Statistic>> {
    names.iter().map(|(grouping, coefficient)| Statistic::named(grouping, coefficient)).collect()
}

/// Pairs of metrics.
fn pairs(pairs: &PyReadonlyArray2<'_, i64>) -> PyResult<Vec<[usize; 2]>> {
    let columns = pairs.shape()[1];
    check_length("metrics of a pair", 2, columns)?;
    // A negative number is no metric.
    let index = |metric: i64| usize::try_from(metric).unwrap_or(usize::MAX);
    Ok(in_order(pairs)?.as_chunks().0.iter().map(|pair: &[i64; 2]| pair.map(index)).collect())
}

#[pyfunction]
#[pyo3(signature = (
    scores, human, statistics, unit, pairs, *, n, seed, first=0, threads=0, progress=None
))]
pub fn meta_permuted<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    human: PyReadonlyArray2<'py, f64>,
    statistics: Vec<Names>,
    unit: &str,
    pairs: PyReadonlyArray2<'py, i64>,
    n: usize,
    seed: u64,
    first: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array3<'py, f64>> {
    let matrices = matrices(&scores, &human)?;
    let statistics = self::statistics(&statistics)?;
    let pairs = self::pairs(&pairs)?;
    let (unit, replicates) = (Unit::named(unit)?, replicates(first, n)?);
    let shape = [statistics.len(), pairs.len(), n];
    let total = shape.iter().product();
    let values = run_long(py, threads, progress, ("shuffling", total), |run| {
        let material = Material::new(&matrices, 0..matrices.metrics())?;
        resampled::permuted(&material, &statistics, &pairs, (seed, unit), replicates, run)
    })?;
    shaped(py, values, shape)
}

#[pyfunction]
#[pyo3(signature = (
    scores, segment, better, worse, votes, ties, unit, pairs, *, n, seed, first=0, threads=0, progress=None
))]
pub fn meta_permuted_votes<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    segment: PyReadonlyArray1<'py, i64>,
    better: PyReadonlyArray1<'py, i64>,
    worse: PyReadonlyArray1<'py, i64>,
    votes: PyReadonlyArray1<'py, i64>,
    ties: &str,
    unit: &str,
    pairs: PyReadonlyArray2<'py, i64>,
    n: usize,
    seed: u64,
    first: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array2<'py, f64>> {
    let (metrics, systems, segments) = scores.as_array().dim();
    // Votes need no scores of people, so none are missing.
    let human: Vec<f64> = zeros(&[systems, segments])?;
    let matrices = Matrices::new(in_order(&scores)?, &human, [metrics, systems, segments])?;
    let votes = self::votes([&segment, &better, &worse, &votes])?;
    let rule = TieRule::named(ties)?;
    let pairs = self::pairs(&pairs)?;
    let (unit, replicates) = (Unit::named(unit)?, replicates(first, n)?);
    let values = run_long(py, threads, progress, ("shuffling", pairs.len() * n), |run| {
        let material = Material::new(&matrices, 0..metrics)?;
        resampled::permuted_votes(&material, (votes, rule), &pairs, (seed, unit), replicates, run)
    })?;
    shaped(py, values, [pairs.len(), n])
}

#[pyfunction]
#[pyo3(signature = (
    scores, human, statistics, unit, *, n, seed, first=0, copies=None, threads=0, progress=None
))]
pub fn meta_drawn<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray3<'py, f64>,
    human: PyReadonlyArray2<'py, f64>,
    statistics: Vec<Names>,
    unit: &str,
    n: usize,
    seed: u64,
    first: u64,
    copies: Option<(PyReadonlyArray2<'py, u32>, PyReadonlyArray2<'py, u32>)>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array3<'py, f64>> {
    let matrices = matrices(&scores, &human)?;
    let metrics = matrices.metrics();
    let statistics = self::statistics(&statistics)?;
    let (unit, replicates) = (Unit::named(unit)?, replicates(first, n)?);
    let draws = match &copies {
        None => Drawn::Seeded(seed, unit),
        Some((systems, segments)) => {
            let n = replicates.end as usize;
            for (what, copies, width) in
                [("systems", systems, scores.shape()[1]), ("segments", segments, scores.shape()[2])]
            {
                check_shape(&format!("copies of {what}"), &[("replicates", n), (what, width)], copies.shape())?;
            }
            Drawn::Copies(in_order(systems)?, in_order(segments)?)
        }
    };
    let shape = [statistics.len(), metrics, n];
    let total = shape.iter().product();
    let values = run_long(py, threads, progress, ("drawing", total), |run| {
        let of = |metric: usize| Material::new(&matrices, metric..metric + 1);
        let materials = (0..metrics).map(of).collect::<Result<Vec<_>>>()?;
        resampled::drawn(&materials, &statistics, (draws, replicates), run)
    })?;
    shaped(py, values, shape)
}

/// A metric, the counts of its systems, whether lower scores are better, and whether its score is a ratio of two columns.
type Counted<'py> = (PyRef<'py, Metric>, PyReadonlyArray3<'py, i64>, bool, bool);

fn all_segments((_, counts, ..): &Counted<'_>) -> Result<Vec<u32>> {
    collected(0..counts.shape()[1] as u32)
}

/// A metric on these segments.
fn scored((metric, counts, lower, ratio): &Counted<'_>, segments: &[u32]) -> PyResult<Scored> {
    let shape = [counts.shape()[0], counts.shape()[1]];
    Ok(Scored::new(metric.formula(), in_order(counts)?, shape, segments, (*lower, *ratio))?)
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
    let of_all = |of: &Counted<'_>| scored(of, &all_segments(of)?);
    let (people, metrics) = (of_all(&people)?, metrics.iter().map(of_all).collect::<PyResult<Vec<_>>>()?);
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
    let mut every = vec![scored(&people, &all_segments(&people)?)?];
    for metric in &metrics {
        every.push(scored(metric, in_order(&segments)?)?);
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
) -> PyResult<(soft::Scores, Signs)> {
    let (metrics, systems, all) = scores.as_array().dim();
    let (scores, segments) = (in_order(scores)?, in_order(segments)?);
    let signs = Signs::new(inner_seed, permutations, segments.len())?;
    Ok((soft::Scores::new(scores, [metrics, systems, all], segments)?, signs))
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
