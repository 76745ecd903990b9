//! The best and the worst entries of k-best lists.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{Progress, run_long};
use super::convert::{Array1, Array2, in_order, shaped, vector};
use super::metric::Metric;
use crate::error::check_length;
use crate::tune::oracle::{self, Rows};

/// Entries, their score, the start from which they were found, and scores of starts and ends.
type Found<'py> = (Array1<'py, i64>, f64, usize, Array2<'py, f64>);

#[pyfunction]
#[pyo3(signature = (
    offsets, counts, metric, starts, *, worst=false, random_starts=0, seed=12345, threads=0, progress=None
))]
pub fn tune_oracle<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    counts: PyReadonlyArray2<'py, i64>,
    metric: &Metric,
    starts: PyReadonlyArray2<'py, i64>,
    worst: bool,
    random_starts: usize,
    seed: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Found<'py>> {
    metric.check_width(counts.shape()[1])?;
    let n = starts.shape()[0].saturating_add(random_starts);
    if starts.shape()[0] > 0 {
        check_length("sentences of starts", offsets.len().saturating_sub(1), starts.shape()[1])?;
    }
    let (offsets, counts, starts) = (in_order(&offsets)?, in_order(&counts)?, in_order(&starts)?);
    let found = run_long(py, threads, progress, ("searching", n), |run| {
        let rows = run.serial(|stop, _| Rows::new(offsets, counts, metric.formula(), worst, stop))?;
        oracle::search(&rows, starts, random_starts, seed, run)
    })?;
    Ok((vector(py, found.entries), found.score, found.start, shaped(py, found.from_to, [n, 2])?))
}
