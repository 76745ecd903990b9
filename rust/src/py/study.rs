//! Experiments: whole tests on simulated test sets.

use numpy::{PyArray4, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::run_long;
use super::convert::{Array1, Array2, Array3, in_order, shaped, vector};
use super::reduce::{AlternativeNames, Outcomes, StoppingRule, outcomes};
use super::resampler::{SampleArgument, with_samples};
use crate::error::{check_length, named};
use crate::resample::{Shuffles, replicates};
use crate::study::{self, Population, Sampling, Selection, Shuffling};

/// What Python passes for a population: the samples of all metrics, and the group of each unit or None.
type PopulationArgument<'py> = (Vec<SampleArgument<'py>>, Option<PyReadonlyArray1<'py, u32>>);

/// The units of a test set, and in which of them the systems are swapped.
type Units<'py> = (Array1<'py, u32>, Array1<'py, bool>);

/// What standard errors are computed from, and whether shuffles have the same order by the difference.
type ErrorParts<'py> = (Array3<'py, f64>, Array2<'py, bool>);

/// Simulated test sets from populations.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct Experiment(study::Experiment);

fn population(py: Python<'_>, (samples, groups): &PopulationArgument<'_>, threads: usize) -> PyResult<Population> {
    let groups = groups.as_ref().map(in_order).transpose()?;
    with_samples(py, samples, |samples| {
        run_long(py, threads, None, ("", 0), |run| Population::new(samples, groups, run))
    })
}

impl Experiment {
    /// The numbers of metrics and of simulations.
    fn shape(&self, thresholds: &PyReadonlyArray2<'_, f64>) -> PyResult<(usize, usize)> {
        let metrics = self.0.metrics();
        check_length("metrics of thresholds", metrics, thresholds.shape()[0])?;
        Ok((metrics, thresholds.shape()[1]))
    }
}

#[pymethods]
impl Experiment {
    #[new]
    #[pyo3(signature = (populations, *, sampling, size, swapped, seed, threads=0))]
    fn new(
        py: Python<'_>,
        populations: Vec<PopulationArgument<'_>>,
        sampling: &str,
        size: Option<usize>,
        swapped: u64,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let known = [("replace", Sampling::Replace), ("subset", Sampling::Subset), ("fixed", Sampling::Fixed)];
        let sampling = named("sampling", sampling, &known)?;
        let populations: Vec<_> =
            populations.iter().map(|argument| population(py, argument, threads)).collect::<PyResult<_>>()?;
        let selection = Selection { sampling, size, swapped };
        Ok(Experiment(study::Experiment::new(populations, selection, seed)?))
    }

    fn units<'py>(&self, py: Python<'py>, simulation: u64) -> PyResult<Units<'py>> {
        let (units, swapped) = self.0.chosen(simulation)?;
        Ok((vector(py, units), vector(py, swapped)))
    }

    #[pyo3(signature = (*, n, first=0, threads=0))]
    fn scores<'py>(&self, py: Python<'py>, n: usize, first: u64, threads: usize) -> PyResult<Array3<'py, f64>> {
        let simulations = replicates(first, n)?;
        let scores = run_long(py, threads, None, ("", 0), |run| self.0.scores(simulations, run))?;
        shaped(py, scores, [self.0.metrics(), n, 2])
    }

    #[pyo3(signature = (*, n, first=0, threads=0))]
    fn error_parts<'py>(&self, py: Python<'py>, n: usize, first: u64, threads: usize) -> PyResult<ErrorParts<'py>> {
        let (simulations, metrics) = (replicates(first, n)?, self.0.metrics());
        let parts = run_long(py, threads, None, ("", 0), |run| self.0.error_parts(simulations, run))?;
        let numbers = parts.iter().flat_map(|parts| [parts.scale, parts.variance, parts.size]).collect();
        let follows = parts.iter().map(|parts| parts.follows_difference).collect();
        Ok((shaped(py, numbers, [metrics, n, 3])?, shaped(py, follows, [metrics, n])?))
    }

    #[pyo3(signature = (
        alternative, thresholds, *, n_resamples, scheme="iid", studentized=false, first=0, threads=0
    ))]
    fn exceedances<'py>(
        &self,
        py: Python<'py>,
        alternative: AlternativeNames,
        thresholds: PyReadonlyArray2<'py, f64>,
        n_resamples: usize,
        scheme: &str,
        studentized: bool,
        first: u64,
        threads: usize,
    ) -> PyResult<Array2<'py, u64>> {
        let (metrics, n) = self.shape(&thresholds)?;
        let shuffles = Shuffles::named(scheme)?;
        let shuffling = Shuffling { shuffles, studentized, n: n_resamples };
        let simulations = replicates(first, n)?;
        let criterion = (alternative.alternatives()?, in_order(&thresholds)?);
        let counts =
            run_long(py, threads, None, ("", 0), |run| self.0.exceedances(shuffling, criterion, simulations, run))?;
        shaped(py, counts, [metrics, n])
    }

    #[pyo3(signature = (
        alternative, thresholds, rule, *, n_resamples, studentized=false, first=0, threads=0
    ))]
    fn sequential<'py>(
        &self,
        py: Python<'py>,
        alternative: AlternativeNames,
        thresholds: PyReadonlyArray2<'py, f64>,
        rule: &StoppingRule,
        n_resamples: usize,
        studentized: bool,
        first: u64,
        threads: usize,
    ) -> PyResult<Outcomes<'py>> {
        let (metrics, n) = self.shape(&thresholds)?;
        let simulations = replicates(first, n)?;
        let criterion = (alternative.alternatives()?, in_order(&thresholds)?);
        let found = run_long(py, threads, None, ("", 0), |run| {
            self.0.sequential(rule.0, (studentized, n_resamples), criterion, simulations, run)
        })?;
        outcomes(py, &found, [metrics, n])
    }

    #[pyo3(signature = (*, n_resamples, n, first=0, weight_sets=None, threads=0))]
    fn draws<'py>(
        &self,
        py: Python<'py>,
        n_resamples: usize,
        n: usize,
        first: u64,
        weight_sets: Option<u64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray4<f64>>> {
        let simulations = replicates(first, n)?;
        let scores =
            run_long(py, threads, None, ("", 0), |run| self.0.draws(n_resamples, weight_sets, simulations, run))?;
        shaped(py, scores, [self.0.metrics(), n, 2, n_resamples])
    }
}
