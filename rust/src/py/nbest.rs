//! K-best lists.

use std::path::PathBuf;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use super::call::{Progress, run_long, run_serial};
use super::convert::{Array1, Array2, in_order, shaped, vector};
use super::metric::Metric;
use super::reduce::lent;
use crate::error::{Result, check_length};
use crate::metric::{Lists, count_lists, expected_utilities, pieces};
use crate::pool::Stop;
use crate::tune::lists::{self, Options, Strings};

/// Lists, whose arrays Python can read but not change.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct NBest(lists::NBest);

/// The expected utility of each distinct hypothesis, and its utility with itself as the reference.
type Utilities<'py> = (Array1<'py, f64>, Array1<'py, f64>);

/// A view of numbers of the lists.
fn column<'py, T: numpy::Element>(this: &Bound<'py, NBest>, numbers: &[T]) -> PyResult<Array1<'py, T>> {
    lent(this.clone().into_any(), numbers, [numbers.len()])
}

impl NBest {
    fn serial(py: Python<'_>, body: impl FnOnce(&Stop<'_>) -> Result<lists::NBest> + Send) -> PyResult<Self> {
        run_serial(py, body).map(NBest)
    }

    /// Calls `body` with the distinct hypotheses, whose texts `texts` replaces.
    fn with_lists<T>(
        &self,
        texts: Option<&[PyBackedStr]>,
        body: impl FnOnce(&Lists<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let own = &self.0.texts;
        if let Some(texts) = texts {
            check_length("distinct hypotheses", own.len(), texts.len())?;
        }
        let hypothesis = |i: usize| texts.map_or_else(|| own.get(i), |texts| &texts[i]);
        body(&Lists { offsets: &self.0.text_offsets, hypothesis: &hypothesis })
    }
}

#[pymethods]
impl NBest {
    #[staticmethod]
    #[pyo3(signature = (path, name, *, dense=None, max_input))]
    fn read(py: Python<'_>, path: PathBuf, name: &str, dense: Option<Vec<String>>, max_input: u64) -> PyResult<Self> {
        Self::serial(py, |stop| lists::read(&path, name, &Options { dense, max_input }, stop))
    }

    #[staticmethod]
    #[pyo3(signature = (content, name, *, dense=None))]
    fn parse(py: Python<'_>, content: PyBackedBytes, name: &str, dense: Option<Vec<String>>) -> PyResult<Self> {
        Self::serial(py, |stop| lists::parse(&content, name, &Options { dense, max_input: 0 }, stop))
    }

    #[staticmethod]
    fn of_texts(py: Python<'_>, lists: Vec<Vec<PyBackedStr>>) -> PyResult<Self> {
        Self::serial(py, |_| lists::of_texts(&lists))
    }

    #[staticmethod]
    fn merged(py: Python<'_>, lists: Vec<Bound<'_, NBest>>) -> PyResult<Self> {
        let lists: Vec<_> = lists.iter().map(|lists| &lists.get().0).collect();
        Self::serial(py, |stop| lists::merged(&lists, stop))
    }

    fn selected(&self, py: Python<'_>, entries: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let entries = in_order(&entries)?;
        Self::serial(py, |stop| lists::selected(&self.0, entries, stop))
    }

    fn __len__(&self) -> usize {
        self.0.entries()
    }

    #[getter]
    fn ids<'py>(this: &Bound<'py, Self>) -> PyResult<Array1<'py, i64>> {
        column(this, &this.get().0.ids)
    }

    #[getter]
    fn offsets<'py>(this: &Bound<'py, Self>) -> PyResult<Array1<'py, i64>> {
        column(this, &this.get().0.offsets)
    }

    #[getter]
    fn text_offsets<'py>(this: &Bound<'py, Self>) -> PyResult<Array1<'py, i64>> {
        column(this, &this.get().0.text_offsets)
    }

    #[getter]
    fn text_of<'py>(this: &Bound<'py, Self>) -> PyResult<Array1<'py, i32>> {
        column(this, &this.get().0.text_of)
    }

    #[getter]
    fn dense<'py>(this: &Bound<'py, Self>) -> PyResult<Array2<'py, f64>> {
        let lists = &this.get().0;
        lent(this.clone().into_any(), &lists.dense, [lists.entries(), lists.names.len()])
    }

    #[getter]
    fn indptr<'py>(this: &Bound<'py, Self>) -> PyResult<Array1<'py, i64>> {
        column(this, &this.get().0.indptr)
    }

    #[getter]
    fn indices<'py>(this: &Bound<'py, Self>) -> PyResult<Array1<'py, i32>> {
        column(this, &this.get().0.indices)
    }

    #[getter]
    fn values<'py>(this: &Bound<'py, Self>) -> PyResult<Array1<'py, f64>> {
        column(this, &this.get().0.values)
    }

    #[getter]
    fn totals<'py>(this: &Bound<'py, Self>) -> PyResult<Option<Array1<'py, f64>>> {
        let totals = &this.get().0.totals;
        (!totals.is_empty()).then(|| column(this, totals)).transpose()
    }

    #[getter]
    fn names(&self) -> &[String] {
        &self.0.names
    }

    #[getter]
    fn sparse_names(&self) -> &[String] {
        &self.0.sparse_names
    }

    #[getter]
    fn n_columns(&self) -> usize {
        self.0.columns.len()
    }

    #[getter]
    fn varies(&self, py: Python<'_>) -> PyResult<(bool, bool)> {
        run_serial(py, |stop| lists::varies(&self.0, stop))
    }

    #[pyo3(signature = (numbers))]
    fn texts(&self, numbers: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Vec<&str>> {
        let texts = &self.0.texts;
        let Some(numbers) = numbers else { return Ok((0..texts.len()).map(|i| texts.get(i)).collect()) };
        let text = |&number: &i64| Ok(texts.get(lists::check_place("text", number, texts.len())?));
        in_order(&numbers)?.iter().map(text).collect()
    }

    fn hypotheses(&self, rows: PyReadonlyArray1<'_, i64>) -> PyResult<Vec<&str>> {
        let text = |&row: &i64| Ok(self.0.hypothesis(lists::check_place("entry", row, self.0.entries())?));
        in_order(&rows)?.iter().map(text).collect()
    }

    fn column(&self, column: usize, rows: PyReadonlyArray1<'_, i64>) -> PyResult<Vec<&str>> {
        let column = lists::check_place("column", column as i64, self.0.columns.len())?;
        let strings: &Strings = &self.0.columns[column];
        let text = |&row: &i64| Ok(strings.get(lists::check_place("entry", row, strings.len())?));
        in_order(&rows)?.iter().map(text).collect()
    }

    #[pyo3(signature = (metric, references, *, texts=None, threads=0, progress=None))]
    fn count<'py>(
        &self,
        py: Python<'py>,
        metric: &Metric,
        references: Vec<Vec<Option<PyBackedStr>>>,
        texts: Option<Vec<PyBackedStr>>,
        threads: usize,
        progress: Option<&Progress>,
    ) -> PyResult<Array2<'py, i64>> {
        let counting = metric.counting()?;
        let width = counting.width();
        let rows = self.with_lists(texts.as_deref(), |lists| {
            run_long(py, threads, progress, ("counting", self.0.sentences()), |run| {
                let rows = count_lists(counting, lists, &references, run)?;
                lists::by_entry(&self.0, &rows, width)
            })
        })?;
        shaped(py, rows, [self.0.entries(), width])
    }

    #[pyo3(signature = (metric, weights, *, texts=None, threads=0, progress=None))]
    fn utilities<'py>(
        &self,
        py: Python<'py>,
        metric: &Metric,
        weights: PyReadonlyArray1<'py, f64>,
        texts: Option<Vec<PyBackedStr>>,
        threads: usize,
        progress: Option<&Progress>,
    ) -> PyResult<Utilities<'py>> {
        let (counting, weights) = (metric.counting()?, in_order(&weights)?);
        let pieces = pieces(&self.0.text_offsets).len();
        let found = self.with_lists(texts.as_deref(), |lists| {
            run_long(py, threads, progress, ("comparing", pieces), |run| {
                expected_utilities(counting, lists, weights, run)
            })
        })?;
        Ok((vector(py, found.utilities), vector(py, found.own)))
    }
}
