//! Replicates of coefficients of agreement.

use std::ops::Range;

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{Progress, run_long};
use super::convert::{Array2, Array3, bytes, in_order, shaped};
use crate::error::{Result, check_length};
use crate::meta::Unit;
use crate::meta::resampled::{self, Drawn, Material, Plan, Statistic, TieRule};
use crate::resample::replicates;

/// The names of a grouping and a coefficient.
type Names = (String, String);

fn statistics(names: &[Names]) -> Result<Vec<Statistic>> {
    names.iter().map(|(grouping, coefficient)| Statistic::named(grouping, coefficient)).collect()
}

/// Checks that an array has the expected shape.
fn check_shape(what: &str, expected: &[usize], got: &[usize]) -> Result<()> {
    let names = ["replicates", "systems", "segments"];
    let names = &names[names.len() - expected.len()..];
    for ((name, &expected), &got) in names.iter().zip(expected).zip(got) {
        check_length(format_args!("{name} of {what}"), expected, got)?;
    }
    Ok(())
}

/// Scores of all metrics, and of people.
struct Scores<'a> {
    scores: &'a [f64],
    human: Option<&'a [f64]>,
    shape: [usize; 3],
}

impl<'a> Scores<'a> {
    fn new<'py>(
        scores: &'a PyReadonlyArray3<'py, f64>,
        human: Option<&'a PyReadonlyArray2<'py, f64>>,
    ) -> PyResult<Self> {
        let (metrics, n_systems, segments) = scores.as_array().dim();
        if let Some(human) = human {
            check_shape("human scores", &[n_systems, segments], human.shape())?;
        }
        Ok(Scores {
            scores: in_order(scores)?,
            human: human.map(in_order).transpose()?,
            shape: [metrics, n_systems, segments],
        })
    }

    fn material(&self) -> Result<Material> {
        Material::new(self.scores, self.human, self.shape)
    }

    /// A material for each metric.
    fn materials(&self) -> Result<Vec<Material>> {
        let [metrics, systems, segments] = self.shape;
        let cells = systems * segments;
        let of = |metric: usize| &self.scores[metric * cells..][..cells];
        (0..metrics).map(|metric| Material::new(of(metric), self.human, [1, systems, segments])).collect()
    }
}

/// Pairs of metrics.
pub(super) fn pairs(pairs: &PyReadonlyArray2<'_, i64>) -> PyResult<Vec<[usize; 2]>> {
    let columns = pairs.shape()[1];
    check_length("metrics of a pair", 2, columns)?;
    // A negative number is no metric.
    let index = |metric: i64| usize::try_from(metric).unwrap_or(usize::MAX);
    Ok(in_order(pairs)?.as_chunks().0.iter().map(|pair: &[i64; 2]| pair.map(index)).collect())
}

/// The replicates and where their swaps come from.
fn plan<'a>(
    (seed, first, n): (u64, u64, usize),
    unit: &str,
    masks: Option<&'a PyReadonlyArray3<'_, u8>>,
    [_, systems, segments]: [usize; 3],
) -> PyResult<(Plan<'a>, Range<u64>)> {
    let replicates = replicates(first, n)?;
    let unit = Unit::named(unit)?;
    match masks {
        None => Ok((Plan::Seeded(seed, unit), replicates)),
        Some(masks) => {
            let expected = [replicates.end as usize, systems, segments];
            check_shape("masks", &expected, masks.shape())?;
            Ok((Plan::Masks(in_order(masks)?), replicates))
        }
    }
}

#[pyfunction]
#[pyo3(signature = (
    scores, human, statistics, unit, pairs, *, n, seed, first=0, masks=None, threads=0, progress=None
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
    masks: Option<PyReadonlyArray3<'py, bool>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array3<'py, f64>> {
    let scores = Scores::new(&scores, Some(&human))?;
    let statistics = self::statistics(&statistics)?;
    let pairs = self::pairs(&pairs)?;
    let masks = masks.as_ref().map(bytes).transpose()?;
    let plan = plan((seed, first, n), unit, masks.as_ref(), scores.shape)?;
    let shape = [statistics.len(), pairs.len(), n];
    let total = shape.iter().product();
    let values = run_long(py, threads, progress, ("shuffling", total), |run| {
        resampled::permuted(&scores.material()?, &statistics, &pairs, plan, run)
    })?;
    shaped(py, values, shape)
}

#[pyfunction]
#[pyo3(signature = (
    scores, segment, better, worse, votes, ties, unit, pairs, *, n, seed, first=0, masks=None, threads=0, progress=None
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
    masks: Option<PyReadonlyArray3<'py, bool>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Array2<'py, f64>> {
    let scores = Scores::new(&scores, None)?;
    let votes = super::meta::votes([&segment, &better, &worse, &votes])?;
    let rule = TieRule::named(ties)?;
    let pairs = self::pairs(&pairs)?;
    let masks = masks.as_ref().map(bytes).transpose()?;
    let plan = plan((seed, first, n), unit, masks.as_ref(), scores.shape)?;
    let values = run_long(py, threads, progress, ("shuffling", pairs.len() * n), |run| {
        resampled::permuted_votes(&scores.material()?, (votes, rule), &pairs, plan, run)
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
    let scores = Scores::new(&scores, Some(&human))?;
    let statistics = self::statistics(&statistics)?;
    let replicates = replicates(first, n)?;
    let unit = Unit::named(unit)?;
    let draws = match &copies {
        None => Drawn::Seeded(seed, unit),
        Some((systems, segments)) => {
            let expected = |width: usize| [replicates.end as usize, width];
            for (what, copies, width) in
                [("systems", systems, scores.shape[1]), ("segments", segments, scores.shape[2])]
            {
                for (dimension, (expected, &got)) in expected(width).into_iter().zip(copies.shape()).enumerate() {
                    check_length(
                        format_args!("{} of copies of {what}", ["replicates", what][dimension]),
                        expected,
                        got,
                    )?;
                }
            }
            Drawn::Copies(in_order(systems)?, in_order(segments)?)
        }
    };
    let shape = [statistics.len(), scores.shape[0], n];
    let total = shape.iter().product();
    let values = run_long(py, threads, progress, ("drawing", total), |run| {
        resampled::drawn(&scores.materials()?, &statistics, (draws, replicates), run)
    })?;
    shaped(py, values, shape)
}
