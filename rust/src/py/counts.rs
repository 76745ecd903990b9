//! Counts of systems, checked once and then used many times.

use numpy::{Element, PyArray3, PyArrayMethods, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::call::run_serial;
use super::convert::{Array2, in_order};
use crate::error::{Error, check_length};
use crate::memory::{copied, reserved};
use crate::resample::{Pair, exact};
use crate::stats::{AnyWidth, Stored, SuffStats, check_shape, with_numbers};

/// Read access to the counts of a system, in the width in which they are stored.
pub(super) type Array<'py> = AnyWidth<
    PyReadonlyArray3<'py, i8>,
    PyReadonlyArray3<'py, i16>,
    PyReadonlyArray3<'py, i32>,
    PyReadonlyArray3<'py, i64>,
>;

impl<'py> Array<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        fn typed<'py, T: Element>(object: &Bound<'py, PyAny>) -> PyResult<Option<PyReadonlyArray3<'py, T>>> {
            object.cast::<PyArray3<T>>().ok().map(|array| Ok(array.try_readonly()?)).transpose()
        }
        // First, as nearly all counts have 64 bits.
        if let Some(array) = typed(object)? {
            return Ok(Array::I64(array));
        }
        if let Some(array) = typed(object)? {
            return Ok(Array::I16(array));
        }
        if let Some(array) = typed(object)? {
            return Ok(Array::I32(array));
        }
        if let Some(array) = typed(object)? {
            return Ok(Array::I8(array));
        }
        Err(PyTypeError::new_err("expected arrays of signed integers with three dimensions"))
    }

    fn shape(&self) -> &[usize] {
        with_numbers!(self, array => array.shape())
    }

    fn stored(&self) -> PyResult<Stored<'_>> {
        Ok(with_numbers!(map self, array => in_order(array)?))
    }
}

/// The counts of each system as arrays of one shape (problems, S, K), with their sums and bound.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct Counts {
    arrays: Vec<Py<PyAny>>,
    shape: [usize; 3],
    totals: Vec<i64>,
    largest: u64,
}

/// The counts of each system in each problem, problem by problem.
fn systems<'a>(arrays: &'a [Array<'_>], [problems, segments, columns]: [usize; 3]) -> PyResult<Vec<Stored<'a>>> {
    let arrays: Vec<Stored<'a>> = arrays.iter().map(Array::stored).collect::<PyResult<_>>()?;
    let length = segments * columns;
    let mut systems = reserved(problems * arrays.len())?;
    for problem in 0..problems {
        systems.extend(arrays.iter().map(|array| array.part(problem * length..(problem + 1) * length)));
    }
    Ok(systems)
}

impl Counts {
    /// The number of systems of each problem.
    pub(super) fn systems(&self) -> usize {
        self.arrays.len()
    }

    /// Read access to the arrays, from which [`Counts::stats`] are made.
    pub(super) fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Vec<Array<'py>>> {
        self.arrays.iter().map(|array| Array::of(array.bind(py))).collect()
    }

    /// The counts, without another check.
    pub(super) fn stats<'a>(&self, arrays: &'a [Array<'_>]) -> PyResult<SuffStats<'a>> {
        // numpy can resize an array in place.
        let size = |shape: &[usize]| shape.iter().product();
        for array in arrays {
            check_length("counts", size(&self.shape), size(array.shape()))?;
        }
        let systems = systems(arrays, self.shape)?;
        let [_, segments, columns] = self.shape;
        let totals = copied(&self.totals)?;
        Ok(SuffStats::checked_before(systems, [segments, columns], totals, self.largest))
    }
}

#[pymethods]
impl Counts {
    #[new]
    fn new(py: Python<'_>, arrays: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let objects = arrays;
        let arrays: Vec<Array<'_>> = objects.iter().map(Array::of).collect::<PyResult<_>>()?;
        let shape = arrays.first().map_or([0; 3], |array| [0, 1, 2].map(|axis| array.shape()[axis]));
        if let Some(other) = arrays.iter().find(|array| array.shape() != shape) {
            return Err(Error::invalid(
                "the shape of counts",
                format!("{shape:?}, that of the first array"),
                format!("{:?}", other.shape()),
            )
            .into());
        }
        let [problems, segments, columns] = shape;
        check_shape([problems, segments, columns])?;
        let systems = systems(&arrays, shape)?;
        let stats = run_serial(py, |stop| SuffStats::watched(systems, [segments, columns], |cost| stop.charge(cost)))?;
        let (totals, largest) = (copied(stats.totals())?, stats.largest());
        let arrays = objects.into_iter().map(Bound::unbind).collect();
        Ok(Counts { arrays, shape, totals, largest })
    }

    fn __len__(&self) -> usize {
        self.shape[0] * self.arrays.len()
    }

    #[getter]
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Array2<'py, i64>> {
        let [problems, _, columns] = self.shape;
        super::convert::copied(py, &self.totals, [problems * self.arrays.len(), columns])
    }

    #[pyo3(signature = (pairs, *, most))]
    fn differing(&self, py: Python<'_>, pairs: Vec<Pair>, most: usize) -> PyResult<Vec<(usize, Option<usize>, u64)>> {
        let arrays = self.arrays(py)?;
        let stats = self.stats(&arrays)?;
        run_serial(py, |stop| {
            let of_pair =
                |pair| exact::differing(&stats, pair, most, stop).map(|found| (found.units, found.column, found.span));
            pairs.into_iter().map(of_pair).collect()
        })
    }
}
