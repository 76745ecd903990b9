//! Runs long calls: releases the interpreter, reports progress, notices Ctrl-C, and raises errors.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// The progress of a job, which another thread may read.
///
/// A job has stages, each of which begins with [`Progress::begin`] and counts its items with [`Progress::update`]. A plan
/// names the stages that will come and their costs. Each stage then has a share of the job, and `fraction` is how much of
/// the job is done. It never decreases, whatever stages come.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct Progress {
    job: Mutex<Job>,
    /// Finished items of the current stage; outside the lock, because blocks of work update it.
    done: AtomicU64,
}

struct Job {
    stage: String,
    /// The name of the stage in the plan, which may say more than `stage`.
    step: String,
    total: u64,
    /// Where the current stage begins and ends, as fractions of the job.
    from: f64,
    to: f64,
    /// Where the current part of the job ends.
    end: f64,
    /// The stages to come, and their shares of the job. None before there is a plan.
    planned: Option<Vec<(String, f64)>>,
    /// The largest fraction that was returned.
    reached: f64,
}

impl Default for Job {
    fn default() -> Self {
        let (stage, step) = Default::default();
        Job { stage, step, total: 0, from: 0.0, to: 0.0, end: 1.0, planned: None, reached: 0.0 }
    }
}

impl Progress {
    fn job(&self) -> MutexGuard<'_, Job> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job {
    /// The share of the job of a stage that begins, and its name in the plan. A stage that was not planned has no
    /// share; without a plan, the first stage has the rest of the job.
    fn next(&mut self, stage: &str) -> (String, f64) {
        let is_stage =
            |step: &str| step.strip_prefix(stage).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        let Some(planned) = &mut self.planned else { return (stage.into(), self.end - self.to) };
        match planned.iter().position(|(step, _)| is_stage(step)) {
            Some(position) => planned.remove(position),
            None => (stage.into(), 0.0),
        }
    }
}

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Self {
        Progress { job: Mutex::default(), done: AtomicU64::new(0) }
    }

    fn begin(&self, stage: &str, total: u64) {
        let mut job = self.job();
        let (step, share) = if total == 0 { (stage.into(), 0.0) } else { job.next(stage) };
        job.step = step;
        stage.clone_into(&mut job.stage);
        job.from = job.to;
        job.to = (job.from + share).min(job.end);
        job.total = total;
        self.update(0);
    }

    fn update(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    fn reset(&self) {
        *self.job() = Job::default();
        self.update(0);
    }

    fn part(&self, end: f64) {
        let mut job = self.job();
        job.from = job.to;
        job.end = end.clamp(job.to, 1.0);
        job.planned = None;
        job.total = 0;
        self.update(0);
    }

    fn plan(&self, steps: Vec<(String, f64)>) {
        let mut job = self.job();
        let (rest, sum) = (job.end - job.to, steps.iter().map(|(_, cost)| cost).sum::<f64>());
        let share = |cost: f64| if sum > 0.0 { rest * cost / sum } else { 0.0 };
        job.planned = Some(steps.into_iter().map(|(step, cost)| (step, share(cost))).collect());
    }

    fn finish(&self) {
        let mut job = self.job();
        job.to = job.end;
        job.from = job.to;
        job.planned = Some(Vec::new());
    }

    #[getter]
    fn stage(&self) -> String {
        self.job().stage.clone()
    }

    #[getter]
    fn step(&self) -> String {
        self.job().step.clone()
    }

    #[getter]
    fn total(&self) -> u64 {
        self.job().total
    }

    #[getter]
    fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    #[getter]
    #[allow(clippy::cast_precision_loss)]
    fn fraction(&self) -> f64 {
        let mut job = self.job();
        let share = if job.total == 0 { 0.0 } else { (self.done() as f64 / job.total as f64).min(1.0) };
        job.reached = (job.from + share * (job.to - job.from)).max(job.reached);
        job.reached
    }
}
