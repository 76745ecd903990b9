//! Conversions between Python's values and those of the core.

use numpy::ndarray::{Dimension, Ix1, Ix2, Ix3};
use numpy::{IntoPyArray, PyArray, PyArrayMethods, PyReadonlyArray, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple};

use super::call::run_serial;
use crate::error::Error;
use crate::memory::{self, reserved};
use crate::metric::Value;

/// The elements of a C-contiguous array.
pub(super) fn in_order<'a, T: numpy::Element, D: numpy::ndarray::Dimension>(
    array: &'a PyReadonlyArray<'_, T, D>,
) -> PyResult<&'a [T]> {
    // as_slice would accept Fortran order, and mistake columns for rows.
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("expected a C-contiguous array; numpy.ascontiguousarray makes one"));
    }
    Ok(array.as_slice()?)
}

/// Packs up to 64 bytes into a word, whose bits tell which bytes are not 0: the first byte into its lowest bit.
fn pack(bytes: &[u8]) -> u64 {
    // Eight at a time: the highest byte of the product consists of the lowest bits of the eight bytes.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, rest) = bytes.as_chunks::<8>();
    let bits = |bytes: &[u8; 8]| u64::from_le_bytes(bytes.map(|byte| u8::from(byte != 0))).wrapping_mul(GATHER) >> 56;
    let word = eights.iter().enumerate().fold(0, |word, (i, bytes)| word | bits(bytes) << (8 * i));
    rest.iter().enumerate().fold(word, |word, (i, &byte)| word | u64::from(byte != 0) << (8 * eights.len() + i))
}

/// Packs an (R, S) array of booleans into flip masks. Returns the masks and R. All bytes but 0 are true: NumPy treats them
/// so, and some of its operations leave other bytes than 0 and 1 (`^=` of NumPy 1.24), which are no `bool`.
pub(super) fn flips(py: Python<'_>, masks: &PyReadonlyArray2<'_, bool>) -> PyResult<(Vec<u64>, usize)> {
    let (replicates, units) = masks.as_array().dim();
    let masks: PyReadonlyArray2<'_, u8> = masks.call_method1("view", ("uint8",))?.extract()?;
    let masks = in_order(&masks)?;
    let words = run_serial(py, |stop| {
        let mut words = reserved(masks.len() / units.max(1) * units.div_ceil(64))?;
        for bits in masks.chunks_exact(units.max(1)).flat_map(|mask| mask.chunks(64)) {
            stop.charge(bits.len() / 4)?;
            words.push(pack(bits));
        }
        Ok(words)
    })?;
    Ok((words, replicates))
}

/// Arrays for Python.
pub(super) type Array1<'py, T> = Bound<'py, PyArray<T, Ix1>>;
pub(super) type Array2<'py, T> = Bound<'py, PyArray<T, Ix2>>;
pub(super) type Array3<'py, T> = Bound<'py, PyArray<T, Ix3>>;

/// A vector as an array.
pub(super) fn vector<T: numpy::Element>(py: Python<'_>, values: Vec<T>) -> Array1<'_, T> {
    values.into_pyarray(py)
}

/// A vector as an array of this shape. numpy refuses some shapes of arrays without elements: those in which the dimensions
/// other than 0 have too large a product. That is [`Error::Memory`].
pub(super) fn shaped<'py, T: numpy::Element, D: numpy::ndarray::IntoDimension>(
    py: Python<'py>,
    values: Vec<T>,
    shape: D,
) -> PyResult<Bound<'py, PyArray<T, D::Dim>>> {
    let shape = shape.into_dimension();
    let numbers = shape.slice().iter().fold(1, |product: u128, &length| product.saturating_mul(length.max(1) as u128));
    values.into_pyarray(py).reshape(shape).map_err(|_| Error::Memory { numbers }.into())
}

/// An array with a copy of a result.
pub(super) fn copied<'py, T: numpy::Element + Copy>(
    py: Python<'py>,
    values: &[T],
    shape: [usize; 2],
) -> PyResult<Array2<'py, T>> {
    shaped(py, memory::copied(values)?, shape)
}

/// Sizes of strata for the core, where an empty list means no strata.
pub(super) fn sizes(strata: Option<Vec<usize>>) -> PyResult<Vec<usize>> {
    match strata {
        Some(sizes) if sizes.is_empty() => Err(Error::Empty { what: "strata".into() }.into()),
        sizes => Ok(sizes.unwrap_or_default()),
    }
}

/// The options of a metric.
pub(super) fn options(options: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Value)>> {
    options.iter().map(|(name, value)| Ok((name.extract()?, option(&name, &value)?))).collect()
}

fn option(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        Ok(Value::Unset)
    } else if value.is_instance_of::<PyBool>() {
        Ok(Value::Flag(value.extract()?))
    } else if value.is_instance_of::<PyInt>() {
        // Any integer that does not fit in 64 bits is outside the range of every option.
        Ok(Value::Integer(value.extract().unwrap_or(i64::MAX)))
    } else if value.is_instance_of::<PyFloat>() {
        Ok(Value::Real(value.extract()?))
    } else if value.is_instance_of::<PyString>() {
        Ok(Value::Name(value.extract()?))
    } else if let Ok(numbers) = value.extract() {
        Ok(Value::Reals(numbers))
    } else if let Ok(names) = value.extract() {
        Ok(Value::Names(names))
    } else {
        Err(Error::invalid(name, "a name, names, a number, numbers, true, false or None", value.repr()?).into())
    }
}

/// The value of an option as a Python object.
pub(super) fn to_python<'py>(py: Python<'py>, value: Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Unset => py.None().into_bound(py),
        Value::Flag(value) => PyBool::new(py, value).to_owned().into_any(),
        Value::Integer(value) => PyInt::new(py, value).into_any(),
        Value::Real(value) => PyFloat::new(py, value).into_any(),
        Value::Reals(values) => PyTuple::new(py, values)?.into_any(),
        Value::Name(value) => PyString::new(py, &value).into_any(),
        Value::Names(values) => PyTuple::new(py, values)?.into_any(),
    })
}
