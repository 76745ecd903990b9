//! Ratings from pairwise votes.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::call::{Progress, run_long};
use super::convert::{Array1, Array2, in_order, shaped, vector};
use crate::resample::replicates;
use crate::votes::{self, Added, Fit, Pairs};

type Compared<'py> = PyReadonlyArray2<'py, u32>;
/// The values of each draw, and whether its votes alone had no finite ratings.
type Fits<'py> = (Array2<'py, f64>, Array1<'py, bool>);

fn pairs_of<'a>(systems: usize, pairs: &'a Compared<'_>, position: bool) -> PyResult<Pairs<'a>> {
    match in_order(pairs)?.as_chunks::<2>() {
        (pairs_of_two, []) if pairs.shape()[1] == 2 => Ok(Pairs::new(systems, pairs_of_two, position)?),
        _ => Err(PyTypeError::new_err("expected an array of shape (P, 2)")),
    }
}

#[pyfunction]
pub fn votes_fit<'py>(
    py: Python<'py>,
    systems: usize,
    pairs: Compared<'py>,
    cells: PyReadonlyArray1<'py, f64>,
    position: bool,
) -> PyResult<Option<Array1<'py, f64>>> {
    let (pairs, cells) = (pairs_of(systems, &pairs, position)?, in_order(&cells)?);
    let start = vec![0.0; pairs.width()];
    match py.detach(|| pairs.fit(cells, &start)) {
        Fit::Finite(fit) => Ok(Some(vector(py, fit))),
        Fit::Infinite => Ok(None),
        Fit::Failed => Ok(Some(vector(py, vec![f64::NAN; start.len()]))),
    }
}

#[pyfunction]
pub fn votes_groups<'py>(
    systems: usize,
    pairs: Compared<'py>,
    cells: PyReadonlyArray1<'py, f64>,
) -> PyResult<Vec<usize>> {
    Ok(pairs_of(systems, &pairs, false)?.groups(in_order(&cells)?))
}

#[pyfunction]
#[pyo3(signature = (
    systems, pairs, position, starts, cells, counts, start, added, always, *, n, seed, first=0, threads=0, progress=None
))]
pub fn votes_drawn<'py>(
    py: Python<'py>,
    systems: usize,
    pairs: Compared<'py>,
    position: bool,
    starts: PyReadonlyArray1<'py, u64>,
    cells: PyReadonlyArray1<'py, u32>,
    counts: PyReadonlyArray1<'py, u32>,
    start: PyReadonlyArray1<'py, f64>,
    added: PyReadonlyArray1<'py, f64>,
    always: bool,
    n: usize,
    seed: u64,
    first: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Fits<'py>> {
    let pairs = pairs_of(systems, &pairs, position)?;
    let votes = votes::Votes::new(in_order(&starts)?, in_order(&cells)?, in_order(&counts)?, &pairs)?;
    let (start, added) = (in_order(&start)?, Added { cells: in_order(&added)?, always });
    let replicates = replicates(first, n)?;
    let fits = run_long(py, threads, progress, ("drawing", n), |run| {
        votes::drawn(&pairs, &votes, start, added, (seed, replicates), run)
    })?;
    Ok((shaped(py, fits.values, [n, pairs.width()])?, vector(py, fits.separated)))
}
