//! Texts that are passed as lists of tokens instead of lines.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use super::call::{run_long, run_serial};
use super::convert::{Array1, Array2, shaped, vector};
use super::metric::Metric;
use crate::error::check_length;
use crate::metric::{self as core, TokenTexts};
use crate::text::common::{Sentences, common};
use crate::text::ngram::{Token, Vocabulary};

/// Calls `take` with the tokens of a sentence: of a string, its characters.
fn each_token(sentence: &Bound<'_, PyAny>, mut take: impl FnMut(&str)) -> PyResult<()> {
    if let Ok(text) = sentence.cast_exact::<PyString>() {
        text.to_str()?.chars().for_each(|c| take(c.encode_utf8(&mut [0; 4])));
        return Ok(());
    }
    for token in elements(sentence, SENTENCE)?.iter_borrowed() {
        take(check_token(&token)?.to_str()?);
    }
    Ok(())
}

const SENTENCE: &str = "the tokens of a sentence";

fn check_token<'a, 'py>(token: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    token.cast_exact::<PyString>().map_err(|_| PyTypeError::new_err("a token is not a string"))
}

const OF_SEGMENT: &str = "the references of a segment";

/// Lists of hypotheses and references, of the same length.
fn both<'py>(
    hypotheses: &Bound<'py, PyAny>,
    references: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
    let both = (elements(hypotheses, "the hypotheses")?, elements(references, "the references")?);
    check_length("references", both.0.len(), both.1.len())?;
    Ok(both)
}

/// Elements of a list or a tuple, as a tuple: its elements need no reference counts.
fn elements<'py>(sequence: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyTuple>> {
    match sequence.cast_exact::<PyList>() {
        Ok(list) => Ok(list.to_tuple()),
        Err(_) => {
            let refused = |_| PyTypeError::new_err(format!("{what} are not a list or a tuple"));
            Ok(sequence.cast_exact::<PyTuple>().map_err(refused)?.clone())
        }
    }
}

#[pyfunction]
#[pyo3(signature = (metric, hypotheses, references, *, each_reference=false, threads=0))]
pub fn count_tokens<'py>(
    py: Python<'py>,
    metric: &Metric,
    hypotheses: &Bound<'py, PyAny>,
    references: &Bound<'py, PyAny>,
    each_reference: bool,
    threads: usize,
) -> PyResult<Array2<'py, i64>> {
    let metric = metric.counting()?;
    let (hypotheses, references) = both(hypotheses, references)?;
    let mut texts = TokenTexts::default();
    for (hypothesis, references) in hypotheses.iter_borrowed().zip(references.iter_borrowed()) {
        texts.begin();
        for reference in elements(&references, OF_SEGMENT)?.iter_borrowed() {
            each_token(&reference, |token| texts.reference_token(token))?;
            texts.end_reference();
        }
        each_token(&hypothesis, |token| texts.hypothesis_token(token))?;
        texts.end();
    }
    let counts = run_long(py, threads, None, ("counting", texts.segments()), |run| {
        core::count_tokens(metric, &texts, each_reference, run)
    })?;
    let width = metric.width();
    let rows = counts.len() / width;
    shaped(py, counts, [rows, width])
}

/// Adds a sentence, whose tokens `number` numbers.
fn add(sentences: &mut Sentences, sentence: &Bound<'_, PyAny>, mut number: impl FnMut(&str) -> Token) -> PyResult<()> {
    each_token(sentence, |token| sentences.push(number(token)))?;
    sentences.end();
    Ok(())
}

type Found<'py> = (Array2<'py, i64>, Array1<'py, i64>, Array1<'py, i64>, Array2<'py, i64>);

#[pyfunction]
pub fn common_ngrams<'py>(
    py: Python<'py>,
    hypotheses: &Bound<'py, PyAny>,
    references: &Bound<'py, PyAny>,
    order: usize,
) -> PyResult<Found<'py>> {
    let (hypotheses, references) = both(hypotheses, references)?;
    let (mut of_hypotheses, mut of_references) = (Sentences::default(), Sentences::default());
    let (mut vocabulary, mut numbers) = (Vocabulary::default(), Vec::with_capacity(references.len()));
    for of_segment in references.iter_borrowed() {
        let of_segment = elements(&of_segment, OF_SEGMENT)?;
        numbers.push(of_segment.len());
        for reference in of_segment.iter_borrowed() {
            add(&mut of_references, &reference, |token| vocabulary.intern(token))?;
        }
    }
    for hypothesis in hypotheses.iter_borrowed() {
        add(&mut of_hypotheses, &hypothesis, |token| vocabulary.find(token))?;
    }
    let found = run_serial(py, |stop| common(&of_hypotheses, &of_references, &numbers, order, stop))?;
    let pairs = of_references.len();
    let rows = found.frequencies.len();
    Ok((
        shaped(py, found.numbers, [order, pairs])?,
        vector(py, found.matches),
        vector(py, found.rows),
        shaped(py, found.frequencies.into_flattened(), [rows, 2])?,
    ))
}
