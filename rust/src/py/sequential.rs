//! Tests while data arrive.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::call::run_long;
use super::convert::{Array2, in_order, shaped};
use crate::sequential;

#[pyfunction]
#[pyo3(signature = (values, means, looks, *, largest=true, threads=0))]
pub fn betting_wealth<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, f64>,
    means: PyReadonlyArray1<'py, f64>,
    looks: Vec<usize>,
    largest: bool,
    threads: usize,
) -> PyResult<Array2<'py, f64>> {
    let (values, means) = (in_order(&values)?, in_order(&means)?);
    let increasing = looks.windows(2).all(|pair| pair[0] < pair[1]);
    if !increasing || looks.first() == Some(&0) || looks.last().is_some_and(|&last| last > values.len()) {
        return Err(PyValueError::new_err("expected increasing looks from 1 to the number of values"));
    }
    let shape = [means.len(), looks.len()];
    let wealth =
        run_long(py, threads, None, ("", 0), |run| sequential::betting_wealth(values, means, &looks, largest, run))?;
    shaped(py, wealth, shape)
}
