//! Counts of systems, checked once and then used many times.

use numpy::{PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{raise, run_long, run_serial};
use super::convert::{in_order, shaped};
use crate::error::{Error, Result};
use crate::pool::WorkMeter;
use crate::resample::{Pair, exact, reserved};
use crate::stats::{SuffStats, check_shape};

type Array<'py> = PyReadonlyArray3<'py, i64>;

/// The counts of each system as arrays of one shape (problems, S, K), with their sums and bound.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct Counts {
    arrays: Vec<Py<PyArray3<i64>>>,
    shape: [usize; 3],
    totals: Vec<i64>,
    largest: u64,
}

/// The counts of each system in each problem, problem by problem.
fn systems<'a>(arrays: &'a [Array<'_>], [problems, segments, columns]: [usize; 3]) -> PyResult<Result<Vec<&'a [i64]>>> {
    let arrays: Vec<&[i64]> = arrays.iter().map(in_order).collect::<PyResult<_>>()?;
    let length = segments * columns;
    Ok(reserved(problems * arrays.len()).map(|mut systems| {
        systems.extend((0..problems).flat_map(|i| arrays.iter().map(move |array| &array[i * length..][..length])));
        systems
    }))
}

fn copy(numbers: &[i64]) -> Result<Vec<i64>> {
    let mut out = reserved(numbers.len())?;
    out.extend_from_slice(numbers);
    Ok(out)
}

impl Counts {
    /// The number of systems of each problem.
    pub(super) fn systems(&self) -> usize {
        self.arrays.len()
    }

    /// Read access to the arrays, from which [`Counts::stats`] are made.
    pub(super) fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Vec<Array<'py>>> {
        self.arrays.iter().map(|array| Ok(array.bind(py).try_readonly()?)).collect()
    }

    /// The counts, without another check.
    pub(super) fn stats<'a>(&self, py: Python<'_>, arrays: &'a [Array<'_>]) -> PyResult<SuffStats<'a>> {
        // numpy can resize an array in place.
        if let Some(other) = arrays.iter().find(|array| array.shape() != self.shape) {
            let (expected, got) = (self.shape.iter().product(), other.shape().iter().product());
            return Err(raise(py, Error::LengthMismatch { what: "counts".into(), expected, got }));
        }
        let systems = systems(arrays, self.shape)?.map_err(|e| raise(py, e))?;
        let [_, segments, columns] = self.shape;
        let totals = copy(&self.totals).map_err(|e| raise(py, e))?;
        Ok(SuffStats::checked_before(systems, [segments, columns], totals, self.largest))
    }
}

#[pymethods]
impl Counts {
    #[new]
    fn new(py: Python<'_>, arrays: Vec<Array<'_>>) -> PyResult<Self> {
        let shape = arrays.first().map_or([0; 3], |array| [0, 1, 2].map(|axis| array.shape()[axis]));
        if let Some(other) = arrays.iter().find(|array| array.shape() != shape) {
            let expected = format!("{shape:?}, that of the first array");
            let got = format!("{:?}", other.shape());
            return Err(raise(py, Error::InvalidOption { option: "the shape of counts".into(), expected, got }));
        }
        let [problems, segments, columns] = shape;
        check_shape([problems, segments, columns]).map_err(|e| raise(py, e))?;
        let systems = systems(&arrays, shape)?.map_err(|e| raise(py, e))?;
        let stats = run_serial(py, |stop| {
            let mut meter = WorkMeter::default();
            SuffStats::watched(systems, [segments, columns], |cost| meter.charge(cost, stop))
        })?;
        let (totals, largest) = (copy(stats.totals()).map_err(|e| raise(py, e))?, stats.largest());
        let arrays = arrays.iter().map(|array| (**array).clone().unbind()).collect();
        Ok(Counts { arrays, shape, totals, largest })
    }

    fn __len__(&self) -> usize {
        self.shape[0] * self.arrays.len()
    }

    #[getter]
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let [problems, _, columns] = self.shape;
        let totals = copy(&self.totals).map_err(|e| raise(py, e))?;
        shaped(py, totals, [problems * self.arrays.len(), columns])
    }

    #[pyo3(signature = (pairs, *, most))]
    fn differing(&self, py: Python<'_>, pairs: Vec<Pair>, most: usize) -> PyResult<Vec<(usize, Option<usize>, u64)>> {
        let arrays = self.arrays(py)?;
        let stats = self.stats(py, &arrays)?;
        let found = run_long(py, 1, None, ("", 0), |run| exact::differing(&stats, &pairs, most, run))?;
        Ok(found.into_iter().map(|pair| (pair.units, pair.column, pair.span)).collect())
    }
}
