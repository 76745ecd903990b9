//! K-best lists.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use super::call::{Progress, run_long, run_serial};
use super::convert::{in_order, shaped};
use super::metric::Metric;
use crate::error::{Error, Result, check_length};
use crate::metric::{Lists, count_lists, expected_utilities, pieces};
use crate::pool::Stop;
use crate::tune::lists::{self, Options, Strings, View, Words};

/// Lists, in arrays that Python can read but not change.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct NBest {
    ids: Py<PyArray1<i64>>,
    offsets: Py<PyArray1<i64>>,
    text_offsets: Py<PyArray1<i64>>,
    text_of: Py<PyArray1<i32>>,
    dense: Py<PyArray2<f64>>,
    indptr: Py<PyArray1<i64>>,
    indices: Py<PyArray1<i32>>,
    values: Py<PyArray1<f64>>,
    totals: Py<PyArray1<f64>>,
    words: Words,
}

/// The expected utility of each distinct hypothesis, and its utility with itself as the reference.
type Utilities<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Borrowed arrays, for as long as the core reads them.
struct Borrowed<'py> {
    ids: PyReadonlyArray1<'py, i64>,
    offsets: PyReadonlyArray1<'py, i64>,
    text_offsets: PyReadonlyArray1<'py, i64>,
    text_of: PyReadonlyArray1<'py, i32>,
    dense: PyReadonlyArray2<'py, f64>,
    indptr: PyReadonlyArray1<'py, i64>,
    indices: PyReadonlyArray1<'py, i32>,
    values: PyReadonlyArray1<'py, f64>,
    totals: PyReadonlyArray1<'py, f64>,
}

fn fixed<T: numpy::Element>(py: Python<'_>, values: Vec<T>) -> PyResult<Py<PyArray1<T>>> {
    let n = values.len();
    let array = shaped(py, values, [n])?;
    array.readwrite().make_nonwriteable();
    Ok(array.unbind())
}

impl NBest {
    fn make(py: Python<'_>, lists: lists::NBest) -> PyResult<Self> {
        let dense = shaped(py, lists.dense, [lists.text_of.len(), lists.words.names.len()])?;
        dense.readwrite().make_nonwriteable();
        Ok(NBest {
            dense: dense.unbind(),
            ids: fixed(py, lists.ids)?,
            offsets: fixed(py, lists.offsets)?,
            text_offsets: fixed(py, lists.text_offsets)?,
            text_of: fixed(py, lists.text_of)?,
            indptr: fixed(py, lists.indptr)?,
            indices: fixed(py, lists.indices)?,
            values: fixed(py, lists.values)?,
            totals: fixed(py, lists.totals)?,
            words: lists.words,
        })
    }

    fn serial(py: Python<'_>, body: impl FnOnce(&Stop<'_>) -> Result<lists::NBest> + Send) -> PyResult<Self> {
        Self::make(py, run_serial(py, body)?)
    }

    fn borrowed<'py>(&self, py: Python<'py>) -> PyResult<Borrowed<'py>> {
        Ok(Borrowed {
            ids: self.ids.bind(py).try_readonly()?,
            offsets: self.offsets.bind(py).try_readonly()?,
            text_offsets: self.text_offsets.bind(py).try_readonly()?,
            text_of: self.text_of.bind(py).try_readonly()?,
            dense: self.dense.bind(py).try_readonly()?,
            indptr: self.indptr.bind(py).try_readonly()?,
            indices: self.indices.bind(py).try_readonly()?,
            values: self.values.bind(py).try_readonly()?,
            totals: self.totals.bind(py).try_readonly()?,
        })
    }

    fn view<'a>(&'a self, arrays: &'a Borrowed<'_>) -> PyResult<View<'a>> {
        Ok(View {
            ids: in_order(&arrays.ids)?,
            offsets: in_order(&arrays.offsets)?,
            text_offsets: in_order(&arrays.text_offsets)?,
            text_of: in_order(&arrays.text_of)?,
            dense: in_order(&arrays.dense)?,
            indptr: in_order(&arrays.indptr)?,
            indices: in_order(&arrays.indices)?,
            values: in_order(&arrays.values)?,
            totals: in_order(&arrays.totals)?,
            words: &self.words,
        })
    }

    /// An entry or a text by its number.
    fn check(what: &str, number: i64, len: usize) -> PyResult<usize> {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        if index < len { Ok(index) } else { Err(Error::OutOfRange { what: what.into(), index, len }.into()) }
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
        if lists.is_empty() || lists.iter().any(Vec::is_empty) {
            return Err(Error::Empty { what: "texts".into() }.into());
        }
        let mut offsets = vec![0];
        lists.iter().for_each(|list| offsets.push(offsets[offsets.len() - 1] + list.len()));
        let (ids, texts): (Vec<i64>, Vec<_>) =
            ((0..lists.len() as i64).collect(), lists.into_iter().flatten().collect());
        Self::serial(py, |_| lists::of_texts(&ids, &offsets, &texts))
    }

    #[staticmethod]
    fn merged(py: Python<'_>, lists: Vec<Bound<'_, NBest>>) -> PyResult<Self> {
        let arrays: Vec<_> = lists.iter().map(|lists| lists.get().borrowed(py)).collect::<PyResult<_>>()?;
        let own = lists.iter().zip(&arrays).map(|(lists, arrays)| lists.get().view(arrays));
        let views: Vec<_> = own.collect::<PyResult<_>>()?;
        Self::serial(py, |stop| lists::merged(&views, stop))
    }

    fn selected(&self, py: Python<'_>, entries: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let arrays = self.borrowed(py)?;
        let (view, entries) = (self.view(&arrays)?, in_order(&entries)?);
        Self::serial(py, |stop| lists::selected(view, entries, stop))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.text_of.bind(py).len()
    }

    #[getter]
    fn ids(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        self.ids.clone_ref(py)
    }

    #[getter]
    fn offsets(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        self.offsets.clone_ref(py)
    }

    #[getter]
    fn text_offsets(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        self.text_offsets.clone_ref(py)
    }

    #[getter]
    fn text_of(&self, py: Python<'_>) -> Py<PyArray1<i32>> {
        self.text_of.clone_ref(py)
    }

    #[getter]
    fn dense(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.dense.clone_ref(py)
    }

    #[getter]
    fn indptr(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        self.indptr.clone_ref(py)
    }

    #[getter]
    fn indices(&self, py: Python<'_>) -> Py<PyArray1<i32>> {
        self.indices.clone_ref(py)
    }

    #[getter]
    fn values(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        self.values.clone_ref(py)
    }

    #[getter]
    fn totals(&self, py: Python<'_>) -> Option<Py<PyArray1<f64>>> {
        (self.totals.bind(py).len() > 0).then(|| self.totals.clone_ref(py))
    }

    #[getter]
    fn names(&self) -> &[String] {
        &self.words.names
    }

    #[getter]
    fn sparse_names(&self) -> &[String] {
        &self.words.sparse_names
    }

    #[getter]
    fn n_columns(&self) -> usize {
        self.words.columns.len()
    }

    #[getter]
    fn varies(&self, py: Python<'_>) -> PyResult<(bool, bool)> {
        let arrays = self.borrowed(py)?;
        let view = self.view(&arrays)?;
        run_serial(py, |stop| lists::varies(view, stop))
    }

    #[pyo3(signature = (numbers))]
    fn texts(&self, numbers: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Vec<&str>> {
        let texts = &self.words.texts;
        let Some(numbers) = numbers else { return Ok((0..texts.len()).map(|i| texts.get(i)).collect()) };
        let text = |&number: &i64| Ok(texts.get(Self::check("text", number, texts.len())?));
        in_order(&numbers)?.iter().map(text).collect()
    }

    fn hypotheses(&self, py: Python<'_>, rows: PyReadonlyArray1<'_, i64>) -> PyResult<Vec<&str>> {
        let text_of = self.text_of.bind(py).try_readonly()?;
        let text_of = in_order(&text_of)?;
        let text = |&row: &i64| Ok(self.words.texts.get(text_of[Self::check("entry", row, text_of.len())?] as usize));
        in_order(&rows)?.iter().map(text).collect()
    }

    fn column(&self, column: usize, rows: PyReadonlyArray1<'_, i64>) -> PyResult<Vec<&str>> {
        let column = Self::check("column", column as i64, self.words.columns.len())?;
        let strings: &Strings = &self.words.columns[column];
        let text = |&row: &i64| Ok(strings.get(Self::check("entry", row, strings.len())?));
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
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let counting = metric.counting()?;
        let own = &self.words.texts;
        if let Some(texts) = &texts {
            check_length("distinct hypotheses", own.len(), texts.len())?;
        }
        let arrays = self.borrowed(py)?;
        let view = self.view(&arrays)?;
        let hypothesis = |i: usize| texts.as_ref().map_or_else(|| own.get(i), |texts| &texts[i]);
        let lists = Lists { offsets: view.text_offsets, hypothesis: &hypothesis };
        let sentences = view.sentences();
        let width = counting.width();
        let rows = run_long(py, threads, progress, ("counting", sentences), |run| {
            let rows = count_lists(counting, &lists, &references, run)?;
            lists::by_entry(view, &rows, width)
        })?;
        shaped(py, rows, [view.entries(), width])
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
        let counting = metric.counting()?;
        let arrays = self.borrowed(py)?;
        let (view, weights) = (self.view(&arrays)?, in_order(&weights)?);
        let own = &self.words.texts;
        let n = own.len();
        if let Some(texts) = &texts {
            check_length("distinct hypotheses", n, texts.len())?;
        }
        let hypothesis = |i: usize| texts.as_ref().map_or_else(|| own.get(i), |texts| &texts[i]);
        let lists = Lists { offsets: view.text_offsets, hypothesis: &hypothesis };
        let pieces = pieces(view.text_offsets).len();
        let found = run_long(py, threads, progress, ("comparing", pieces), |run| {
            expected_utilities(counting, &lists, weights, run)
        })?;
        Ok((shaped(py, found.utilities, [n])?, shaped(py, found.own, [n])?))
    }
}
