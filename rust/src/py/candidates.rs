//! Lists of candidates, as all optimizers take them.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::run_serial;
use super::convert::in_order;
use crate::tune::candidates::{Candidates, Sparse};

/// Sparse features: where the features of each candidate begin, their numbers, their values, and how many there are.
pub(super) type SparseArgument<'py> =
    (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i32>, PyReadonlyArray1<'py, f64>, usize);

/// Checked lists.
pub(super) fn candidates<'a>(
    py: Python<'_>,
    offsets: &'a PyReadonlyArray1<'_, i64>,
    dense: &'a PyReadonlyArray2<'_, f64>,
    sparse: Option<&'a SparseArgument<'_>>,
) -> PyResult<Candidates<'a>> {
    let (offsets, width) = (in_order(offsets)?, dense.shape()[1]);
    let sparse = match sparse {
        None => None,
        Some((starts, indices, values, width)) => {
            let (starts, indices, values) = (in_order(starts)?, in_order(indices)?, in_order(values)?);
            Some(Sparse { starts, indices, values, width: *width })
        }
    };
    let dense = in_order(dense)?;
    run_serial(py, |stop| Candidates::new(offsets, (dense, width), sparse, stop))
}
