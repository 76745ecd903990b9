//! Runs long calls: releases the interpreter, reports progress, notices Ctrl-C, and raises errors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Error, Fact, Result};
use crate::pool::{Run, Stop};
use crate::simd::Simd;

/// More threads than any machine has, but few enough to be started.
const MOST_THREADS: usize = 4096;

/// Runs `body` on this thread, without the interpreter and without progress.
pub(super) fn run_serial<T: Send>(py: Python<'_>, body: impl FnOnce(&Stop<'_>) -> Result<T> + Send) -> PyResult<T> {
    run_long(py, 1, None, ("", 0), |run| run.serial(|stop, _| body(stop)))
}

/// Runs `body` without the interpreter. Between blocks it updates the progress and lets Python handle signals.
pub(super) fn run_long<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Progress>,
    (stage, total): (&str, usize),
    body: impl FnOnce(&mut Run<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    // Checked first, because kernels would silently fall back to the best path.
    Simd::chosen().map_err(|error| raise(py, error))?;
    if threads > MOST_THREADS {
        let (expected, got) = (format!("at most {MOST_THREADS}"), threads.to_string());
        return Err(raise(py, Error::InvalidOption { option: "threads".into(), expected, got }));
    }
    if let Some(progress) = progress {
        progress.begin(stage, total as u64);
    }
    let mut signal = None;
    let outcome = py.detach(|| {
        let mut watch = |done| {
            if let Some(progress) = progress {
                progress.update(done);
            }
            Python::attach(|py| py.check_signals()).map_err(|raised| {
                signal = Some(raised);
                Error::Interrupted
            })
        };
        body(&mut Run { threads, watch: &mut watch })
    });
    match (outcome, signal) {
        (_, Some(raised)) => Err(raised),
        (Ok(value), None) => Ok(value),
        (Err(error), None) => Err(raise(py, error)),
    }
}

#[pyfunction]
pub fn simd(py: Python<'_>) -> PyResult<&'static str> {
    Simd::chosen().map(Simd::name).map_err(|error| raise(py, error))
}

/// The Python exception for an error. `reshuffle.errors` words the message from the facts. As in numpy, too little
/// memory is a `MemoryError`.
pub(super) fn raise(py: Python<'_>, error: Error) -> PyErr {
    if let Error::Memory { .. } = error {
        return PyMemoryError::new_err(error.to_string());
    }
    let raised = py.import("reshuffle.errors").and_then(|errors| match error {
        Error::UnknownName { kind, name, known } => errors.call_method1("unknown_name", (kind, name, known)),
        Error::UnknownChoice { option, name, known } => {
            let option = to_python(&errors, Fact::Option(option))?;
            errors.call_method1("unknown_name", (option, name, known))
        }
        error => {
            let facts = PyDict::new(py);
            for (name, fact) in error.facts() {
                facts.set_item(name, to_python(&errors, fact)?)?;
            }
            errors.call_method("InputError", (error.template(),), Some(&facts))
        }
    });
    raised.map_or_else(|failed| failed, PyErr::from_value)
}

/// Converts a fact to the classes of `reshuffle.errors`.
fn to_python<'py>(errors: &Bound<'py, PyModule>, fact: Fact) -> PyResult<Bound<'py, PyAny>> {
    match fact {
        Fact::Number(number) => Ok(number.into_pyobject(errors.py())?.into_any()),
        Fact::Text(text) => Ok(text.into_pyobject(errors.py())?.into_any()),
        Fact::System(number) => errors.call_method1("System", (number,)),
        Fact::Option(name) => errors.call_method1("Option", (name,)),
    }
}

/// The progress of a long call, which another thread may read.
#[pyclass(frozen, module = "reshuffle._core")]
#[derive(Default)]
pub struct Progress {
    stage: Mutex<String>,
    total: AtomicU64,
    done: AtomicU64,
}

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn begin(&self, stage: &str, total: u64) {
        stage.clone_into(&mut self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        self.update(0);
        self.total.store(total, Ordering::Relaxed);
    }

    fn update(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    #[getter]
    fn stage(&self) -> String {
        self.stage.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    #[getter]
    fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    #[getter]
    fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}
