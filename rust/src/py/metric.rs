//! Metrics, tokenizers, and the contents of their registries.

use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyDict;

use super::call::{Progress, run_long, run_serial};
use super::convert::{Array1, Array2, Array3, in_order, options, shaped, to_python, vector};
use crate::error::{Error, Place, check_length};
use crate::memory::{reserved, zeros};
use crate::metric::{self as core, File, Formula, Kind, METRICS, Resource};
use crate::text::conllu;
use crate::text::ngram::each_token;
use crate::text::tokenize::{self as core_tokenize, TOKENIZERS};

/// A metric with its options.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct Metric {
    formula: Arc<dyn Formula>,
    /// Counts segments. None if the scores of segments are precomputed.
    counting: Option<Arc<dyn core::Metric>>,
}

impl Metric {
    /// The formula that scores summed counts.
    pub(super) fn formula(&self) -> Arc<dyn Formula> {
        self.formula.clone()
    }

    /// The metric that counts texts.
    pub(super) fn counting(&self) -> PyResult<&dyn core::Metric> {
        self.counting.as_deref().ok_or_else(|| {
            let (place, expected) = (Place::default(), "segment scores".into());
            let got = "texts, which a mean of segment scores cannot count".into();
            Error::Malformed { place, expected, got }.into()
        })
    }

    pub(super) fn check_width(&self, got: usize) -> PyResult<()> {
        Ok(check_length(format_args!("columns of {}", self.formula.name()), self.formula.width(), got)?)
    }

    fn row_by_row<'py>(
        &self,
        py: Python<'py>,
        rows: &PyReadonlyArray2<'py, i64>,
        score: impl Fn(&[i64]) -> f64 + Sync,
    ) -> PyResult<Array1<'py, f64>> {
        self.check_width(rows.shape()[1])?;
        let [n, width] = [rows.shape()[0], rows.shape()[1]];
        let rows = in_order(rows)?;
        let scores = run_serial(py, |stop| {
            let mut scores = reserved(n)?;
            for row in rows.chunks_exact(width) {
                stop.charge(64 + width)?;
                scores.push(score(row));
                core::check_defined(self.formula.as_ref(), &[row], &scores[scores.len() - 1..])?;
            }
            Ok(scores)
        })?;
        Ok(vector(py, scores))
    }
}

/// A purpose, the digest of the files that serve it, and their names and contents.
type Files = (String, String, Vec<(String, PyBackedBytes)>);

#[pymethods]
impl Metric {
    #[new]
    #[pyo3(signature = (name, option_values, files=vec![]))]
    fn new(name: &str, option_values: &Bound<'_, PyDict>, files: Vec<Files>) -> PyResult<Self> {
        let file = |(name, bytes)| File { name, contents: Arc::<PyBackedBytes>::new(bytes) };
        let files = files.into_iter().map(|(purpose, digest, files)| {
            let files = files.into_iter().map(file).collect();
            Resource { purpose, digest, files }
        });
        let values = options(option_values)?;
        let values: Vec<_> = values.iter().map(|(name, value)| (&**name, value.clone())).collect();
        let inner = core::MetricSpec::named(name).and_then(|spec| spec.make(&values, files.collect()))?;
        Ok(Metric { formula: inner.clone(), counting: Some(inner) })
    }

    #[staticmethod]
    fn mean(name: String, scale: f64, higher_is_better: bool) -> PyResult<Self> {
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(Error::invalid("scale", "a number above 0", scale).into());
        }
        Ok(Metric { formula: Arc::new(core::Mean::new(name, scale, higher_is_better)), counting: None })
    }

    #[staticmethod]
    fn expression(name: String, text: &str, columns: Vec<(String, f64)>, higher_is_better: bool) -> PyResult<Self> {
        if let Some((_, scale)) = columns.iter().find(|(_, scale)| !(*scale > 0.0 && scale.is_finite())) {
            return Err(Error::invalid("scale", "a number above 0", scale).into());
        }
        let formula = core::Expression::new(name, text, &columns, higher_is_better)?;
        Ok(Metric { formula: Arc::new(formula), counting: None })
    }

    #[getter]
    fn name(&self) -> &str {
        self.formula.name()
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.formula.columns()
    }

    #[getter]
    fn higher_is_better(&self) -> bool {
        self.formula.higher_is_better()
    }

    #[getter]
    fn decimals(&self) -> Option<u32> {
        self.formula.decimals()
    }

    #[getter]
    fn signature(&self) -> Vec<(&'static str, String)> {
        self.formula.signature()
    }

    #[getter]
    fn segment_signature(&self) -> Vec<(&'static str, String)> {
        self.formula.segment_signature()
    }

    fn scores<'py>(&self, py: Python<'py>, totals: PyReadonlyArray2<'py, i64>) -> PyResult<Array1<'py, f64>> {
        self.row_by_row(py, &totals, |row| self.formula.score(row))
    }

    fn segment_scores<'py>(&self, py: Python<'py>, rows: PyReadonlyArray2<'py, i64>) -> PyResult<Array1<'py, f64>> {
        self.row_by_row(py, &rows, |row| self.formula.segment_score(row))
    }

    fn gradients<'py>(&self, py: Python<'py>, totals: PyReadonlyArray2<'py, i64>) -> PyResult<Array2<'py, f64>> {
        self.check_width(totals.shape()[1])?;
        let [n, width] = [totals.shape()[0], totals.shape()[1]];
        let totals = in_order(&totals)?;
        let out = run_serial(py, |stop| {
            let mut out = zeros(&[n, width])?;
            for (row, out) in totals.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                stop.charge(64 + width)?;
                self.formula.gradient(row, out);
            }
            Ok(out)
        })?;
        shaped(py, out, [n, width])
    }

    fn divides_by_zero(&self, totals: PyReadonlyArray1<'_, i64>) -> PyResult<bool> {
        self.check_width(totals.shape()[0])?;
        Ok(self.formula.divides_by_zero(in_order(&totals)?))
    }

    fn details(&self, totals: PyReadonlyArray1<'_, i64>) -> PyResult<Vec<(String, f64)>> {
        self.check_width(totals.shape()[0])?;
        Ok(self.formula.details(in_order(&totals)?))
    }
}

#[pyfunction]
#[pyo3(signature = (metrics, systems, references, *, threads=0, progress=None))]
pub fn count<'py>(
    py: Python<'py>,
    metrics: Vec<PyRef<'py, Metric>>,
    systems: Vec<Vec<PyBackedStr>>,
    references: Vec<Vec<Option<PyBackedStr>>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Vec<Array3<'py, i64>>> {
    let counting: Vec<&dyn core::Metric> = metrics.iter().map(|metric| metric.counting()).collect::<PyResult<_>>()?;
    let segments = references.first().map_or(0, Vec::len);
    let counts = run_long(py, threads, progress, ("counting", segments), |run| {
        core::count(&counting, &systems, &references, run)
    })?;
    let shape = |metric: &dyn core::Metric| [systems.len(), segments, metric.width()];
    counts.into_iter().zip(&counting).map(|(counts, metric)| shaped(py, counts, shape(*metric))).collect()
}

/// The studentized formula of a pair of systems.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct Studentized(Arc<core::Studentized>);

type Matrix<'py> = PyReadonlyArray2<'py, f64>;

#[pymethods]
impl Studentized {
    #[new]
    #[pyo3(signature = (
        metric, *, scale, projection, basis, contribution_squares, term_squares, stratum_terms, stratum_factors
    ))]
    fn new(
        metric: &Metric,
        scale: f64,
        projection: Matrix<'_>,
        basis: Matrix<'_>,
        contribution_squares: Matrix<'_>,
        term_squares: Matrix<'_>,
        stratum_terms: Matrix<'_>,
        stratum_factors: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let values = |matrix: &Matrix<'_>| -> PyResult<Vec<f64>> { Ok(in_order(matrix)?.to_vec()) };
        let terms = core::Terms {
            scale,
            directions: projection.shape()[0],
            terms: basis.shape()[0],
            strata: stratum_terms.shape()[0],
            projection: values(&projection)?,
            basis: values(&basis)?,
            contribution_squares: values(&contribution_squares)?,
            term_squares: values(&term_squares)?,
            stratum_terms: values(&stratum_terms)?,
            stratum_factors: in_order(&stratum_factors)?.to_vec(),
        };
        Ok(Studentized(Arc::new(core::Studentized::new(metric.formula(), terms)?)))
    }

    #[getter]
    fn metric(&self) -> Metric {
        Metric { formula: self.0.clone(), counting: None }
    }

    fn parts(&self, x: PyReadonlyArray1<'_, i64>, y: PyReadonlyArray1<'_, i64>) -> PyResult<(f64, f64, f64)> {
        let (x, y) = (in_order(&x)?, in_order(&y)?);
        let expected = self.0.columns().len();
        for totals in [x, y] {
            check_length(format_args!("columns of {}", self.0.name()), expected, totals.len())?;
        }
        let parts = self.0.parts(x, y, 1);
        Ok((parts.scores[0][0] - parts.scores[1][0], parts.variances[0], parts.sizes[0]))
    }
}

/// The registry's description of a metric.
#[pyclass(frozen, get_all, module = "reshuffle._core")]
pub struct MetricSpec {
    name: &'static str,
    about: &'static str,
    source: &'static str,
    reads_parses: bool,
    options: Vec<Py<OptionSpec>>,
}

/// The registry's description of an option.
#[pyclass(frozen, get_all, module = "reshuffle._core")]
pub struct OptionSpec {
    name: &'static str,
    about: &'static str,
    kind: &'static str,
    minimum: Option<f64>,
    maximum: Option<f64>,
    choices: Vec<&'static str>,
    default: Py<PyAny>,
}

/// The registry's description of a tokenizer.
#[pyclass(frozen, get_all, module = "reshuffle._core")]
pub struct TokenizerSpec {
    name: &'static str,
    about: &'static str,
}

#[pyfunction]
pub fn metrics(py: Python<'_>) -> PyResult<Vec<MetricSpec>> {
    let option = |spec: &core::OptionSpec| {
        let (kind, minimum, maximum, choices) = match spec.kind {
            Kind::Flag => ("flag", None, None, vec![]),
            Kind::Integer(low, high) => ("integer", Some(low as f64), Some(high as f64), vec![]),
            Kind::Real(low, high) => ("real", Some(low), Some(high), vec![]),
            Kind::Reals(low, high) => ("reals", Some(low), Some(high), vec![]),
            Kind::Choice(names) => ("choice", None, None, names()),
            Kind::Choices(names) => ("choices", None, None, names()),
            Kind::Path => ("path", None, None, vec![]),
        };
        let default = to_python(py, (spec.default)())?.unbind();
        let (name, about) = (spec.name, spec.about);
        Py::new(py, OptionSpec { name, about, kind, minimum, maximum, choices, default })
    };
    let metric = |spec: &core::MetricSpec| {
        let options = spec.options.iter().map(option).collect::<PyResult<_>>()?;
        let core::MetricSpec { name, about, source, reads_parses, .. } = *spec;
        Ok(MetricSpec { name, about, source, reads_parses, options })
    };
    METRICS.iter().map(metric).collect()
}

#[pyfunction]
pub fn tokenizers() -> Vec<TokenizerSpec> {
    TOKENIZERS.iter().map(|t| TokenizerSpec { name: t.name, about: t.about }).collect()
}

#[pyfunction]
pub fn tokenize(py: Python<'_>, lines: Vec<PyBackedStr>, tokenizer: &str) -> PyResult<Vec<Vec<String>>> {
    let tokenizer = core_tokenize::tokenizer(tokenizer)?;
    run_serial(py, |stop| {
        let mut cut = |line: &PyBackedStr| {
            let mut tokens = Vec::new();
            let emit_tokens = |emit: &mut dyn FnMut(&str)| tokenizer.tokenize(line, emit);
            each_token(emit_tokens, stop, |token| tokens.push(token.to_owned()))?;
            Ok(tokens)
        };
        lines.iter().map(&mut cut).collect()
    })
}

/// The first block that is not valid CoNLL-U: its index, the line within it, what was expected, and what was found.
#[pyfunction]
pub fn broken_parse(py: Python<'_>, blocks: Vec<PyBackedStr>) -> PyResult<Option<(usize, usize, String, String)>> {
    run_serial(py, |stop| {
        for (i, block) in blocks.iter().enumerate() {
            stop.charge(block.len())?;
            match conllu::sentences(block, |_| Ok(())) {
                Err(Error::Malformed { place: Place { line: Some(line), .. }, expected, got }) => {
                    return Ok(Some((i, line, expected, got)));
                }
                other => other?,
            }
        }
        Ok(None)
    })
}
