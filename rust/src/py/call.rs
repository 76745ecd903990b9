//! Runs long calls: releases the interpreter, reports progress, notices Ctrl-C, and raises errors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use numpy::{PyArray1, PyArrayMethods, get_array_module};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Error, Fact, Result};
use crate::pool::{Run, Stop, locked, thread_count};
use crate::simd::Simd;

/// More threads than any machine has, but few enough to be started.
const MOST_THREADS: usize = 4096;

/// Runs `body` on this thread, without the interpreter and without progress.
pub(super) fn run_serial<T: Send>(py: Python<'_>, body: impl FnOnce(&Stop<'_>) -> Result<T> + Send) -> PyResult<T> {
    run_long(py, 1, None, ("", 0), |run| run.serial(body))
}

/// Runs `body` without the interpreter. Between blocks it updates the progress and lets Python handle signals.
pub(super) fn run_long<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Progress>,
    (stage, total): (&str, usize),
    body: impl FnOnce(&mut Run<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    let (mut body, mut value) = (Some(body), None);
    run_detached(py, threads, progress, (stage, total), &mut |run| {
        value = body.take().map(|body| body(run)).transpose()?;
        Ok(())
    })?;
    value.ok_or_else(|| Error::Interrupted.into())
}

/// [`run_long`] for all types of values, so that it is compiled once.
fn run_detached(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Progress>,
    (stage, total): (&str, usize),
    body: &mut (dyn FnMut(&mut Run<'_>) -> Result<()> + Send),
) -> PyResult<()> {
    // Checked first, because kernels would silently fall back to the best path.
    Simd::chosen()?;
    if threads > MOST_THREADS {
        return Err(Error::invalid("threads", format!("at most {MOST_THREADS}"), threads).into());
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
    match signal {
        Some(raised) => Err(raised),
        None => outcome.map_err(PyErr::from),
    }
}

#[pyfunction]
pub fn load_numpy(py: Python<'_>) -> PyResult<()> {
    // The crate numpy loads in three places, at the first use of each: the interface to arrays, the class that owns a
    // vector, and the table of borrowed arrays. The import is where Python code runs, and here its error is returned.
    get_array_module(py)?;
    PyArray1::from_vec(py, vec![0_u8]).try_readonly()?;
    Ok(())
}

#[pyfunction]
pub fn simd() -> PyResult<&'static str> {
    Simd::chosen().map(Simd::name).map_err(PyErr::from)
}

#[pyfunction]
pub fn threads() -> usize {
    thread_count(0)
}

/// The Python exception for an error. `reshuffle.errors` words the message from the facts. As in numpy, too little
/// memory is a `MemoryError`.
fn raise(py: Python<'_>, error: Error) -> PyErr {
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

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        Python::attach(|py| raise(py, error))
    }
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

/// The progress of a job, which another thread may read.
///
/// A job has stages, each of which begins with [`Progress::begin`] and counts its items with [`Progress::update`]. A plan
/// names the steps of the job, their costs, and how many stages of this name each of them has. `fraction` is how much of
/// the job is done. It never decreases, whatever stages come.
#[pyclass(frozen, module = "reshuffle._core")]
#[derive(Default)]
pub struct Progress {
    job: Mutex<Job>,
    /// Finished items of the current stage; outside the lock, because blocks of work update it.
    done: AtomicU64,
}

#[derive(Default)]
struct Job {
    stage: String,
    /// The name of the current step, or of the stage if it was not planned.
    shown: String,
    total: u64,
    /// Where the current stage begins and ends, as fractions of the job.
    from: f64,
    to: f64,
    /// The current step and those to come, in reverse order.
    steps: Vec<Step>,
    /// The largest fraction that was returned.
    reached: f64,
}

/// A step of a plan: stages of the same name in succession.
struct Step {
    name: String,
    /// The stages that have not begun.
    stages: u64,
    /// Where the step ends, as a fraction of the job, and where the first of its stages that have not begun begins.
    end: f64,
    next: f64,
}

impl Step {
    /// Whether a stage belongs to this step, whose name is that of the stage, or continues it after a space.
    fn has(&self, stage: &str) -> bool {
        self.stages > 0 && self.name.strip_prefix(stage).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    }
}

impl Job {
    /// Enters the next step that has this stage. A stage that was not planned is no part of the plan: `fraction` waits.
    fn enter(&mut self, stage: &str) {
        self.from = self.to;
        stage.clone_into(&mut self.shown);
        let Some(position) = self.steps.iter().rposition(|step| step.has(stage)) else { return };
        self.steps.truncate(position + 1);
        let step = &mut self.steps[position];
        self.from = step.next;
        self.to = step.next + (step.end - step.next) / step.stages as f64;
        step.next = self.to;
        step.stages -= 1;
        self.shown.clone_from(&step.name);
    }
}

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn begin(&self, stage: &str, total: u64) {
        let mut job = locked(&self.job);
        stage.clone_into(&mut job.stage);
        job.enter(stage);
        job.total = total;
        self.update(0);
    }

    fn update(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    fn plan(&self, steps: Vec<(String, f64, u64)>) {
        let sum: f64 = steps.iter().map(|(_, cost, _)| cost).sum();
        let share = |cost: f64| if sum > 0.0 && cost > 0.0 { cost / sum } else { 0.0 };
        let mut end = 0.0_f64;
        let mut planned: Vec<_> = steps
            .into_iter()
            .map(|(name, cost, stages)| {
                let next = end;
                end = (end + share(cost)).min(1.0);
                Step { name, stages, end, next }
            })
            .collect();
        planned.reverse();
        *locked(&self.job) = Job { steps: planned, ..Job::default() };
        self.update(0);
    }

    fn finish(&self) {
        let mut job = locked(&self.job);
        (job.from, job.to) = (1.0, 1.0);
        job.steps.clear();
    }

    #[getter]
    fn stage(&self) -> String {
        locked(&self.job).stage.clone()
    }

    #[getter]
    fn step(&self) -> String {
        locked(&self.job).shown.clone()
    }

    #[getter]
    fn total(&self) -> u64 {
        locked(&self.job).total
    }

    #[getter]
    fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    #[getter]
    fn fraction(&self) -> f64 {
        let mut job = locked(&self.job);
        let share = if job.total == 0 { 0.0 } else { (self.done() as f64 / job.total as f64).min(1.0) };
        job.reached = (job.from + share * (job.to - job.from)).max(job.reached);
        job.reached
    }
}
