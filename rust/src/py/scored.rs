//! Files of segment scores.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::call::run_serial;
use crate::text::scored::{TEXTS, read};

/// Names of systems, their scores, and for each kind of texts the lists of all systems.
type Columns<'py> = (Vec<Cow<'py, str>>, Vec<Vec<f64>>, Bound<'py, PyDict>);

#[pyfunction]
pub fn read_comet<'py>(py: Python<'py>, file: &'py [u8]) -> PyResult<Option<Columns<'py>>> {
    let Some(scored) = run_serial(py, |stop| read(file, stop))? else { return Ok(None) };
    let segments = scored.scores.len() / scored.systems.len();
    let texts = PyDict::new(py);
    for (key, all) in TEXTS.iter().zip(&scored.texts) {
        if !all.is_empty() {
            let lists = PyList::empty(py);
            for (system, column) in all.chunks_exact(segments).enumerate() {
                // Sources and references are the same for all systems.
                if system > 0 && *column == all[(system - 1) * segments..system * segments] {
                    lists.append(lists.get_item(system - 1)?)?;
                } else {
                    lists.append(PyList::new(py, column.iter().map(AsRef::as_ref).collect::<Vec<&str>>())?)?;
                }
            }
            texts.set_item(key, lists)?;
        }
    }
    let scores = scored.scores.chunks_exact(segments).map(<[f64]>::to_vec).collect();
    Ok(Some((scored.systems, scores, texts)))
}
