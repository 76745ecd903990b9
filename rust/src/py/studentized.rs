//! What studentized statistics need besides the counts of two systems.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::run_serial;
use super::convert::{Array1, Array2, Array3, in_order, shaped, vector};
use crate::error::{Error, check_length};
use crate::memory::zeros;
use crate::resample::studentize::{self, Both, UnitStrata};

type Rows<'py> = PyReadonlyArray2<'py, i64>;
type Matrix<'py> = Array2<'py, f64>;

/// The matrices of `Constants` in Python, in the order of its fields.
type Constants<'py> = (f64, Matrix<'py>, Matrix<'py>, Matrix<'py>, Matrix<'py>, Matrix<'py>, Array1<'py, f64>);

/// The differences and sums of the counts of two systems.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct PairCounts {
    both: Both,
    shape: [usize; 2],
}

#[pymethods]
impl PairCounts {
    #[new]
    fn new(py: Python<'_>, a: Rows<'_>, b: Rows<'_>) -> PyResult<Self> {
        let shape = [a.shape()[0], a.shape()[1]];
        check_length("segments", shape[0], b.shape()[0])?;
        check_length("columns", shape[1], b.shape()[1])?;
        if shape.contains(&0) {
            return Err(Error::Empty { what: "counts".into() }.into());
        }
        let (a, b) = (in_order(&a)?, in_order(&b)?);
        let both = run_serial(py, |stop| Both::from_rows(a, b, shape[1], stop))?;
        Ok(PairCounts { both, shape })
    }

    #[getter]
    fn probes<'py>(&self, py: Python<'py>) -> PyResult<Array2<'py, i64>> {
        let probes = self.both.probes();
        let n = probes.len() / self.shape[1];
        shaped(py, probes, [n, self.shape[1]])
    }

    #[pyo3(signature = (gradients, *, sizes, strata=None))]
    fn cross(
        &self,
        py: Python<'_>,
        gradients: PyReadonlyArray2<'_, f64>,
        sizes: Vec<usize>,
        strata: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Cross> {
        check_length("columns of gradients", self.shape[1], gradients.shape()[1])?;
        let index = strata.as_ref().map(in_order).transpose()?.unwrap_or_default().to_vec();
        let gradients = in_order(&gradients)?;
        let of_units = UnitStrata { index: &index, sizes: &sizes };
        let cross = run_serial(py, |stop| studentize::Cross::new(&self.both, gradients, of_units, stop))?;
        Ok(Cross { cross, index, shape: self.shape })
    }
}

/// The constants of two systems, and their cross columns.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct Cross {
    cross: studentize::Cross,
    index: Vec<u32>,
    shape: [usize; 2],
}

impl Cross {
    fn columns<'py>(&self, py: Python<'py>, columns: &[Vec<i64>]) -> PyResult<Array2<'py, i64>> {
        shaped(py, columns.concat(), [columns.len(), self.shape[0]])
    }
}

#[pymethods]
impl Cross {
    #[getter]
    fn constants<'py>(&self, py: Python<'py>) -> PyResult<Constants<'py>> {
        let of = &self.cross.constants;
        let (m, p, n, k) = (of.directions, of.terms, of.strata, self.shape[1]);
        Ok((
            of.scale,
            shaped(py, of.projection.clone(), [m, k])?,
            shaped(py, of.basis.clone(), [p, k])?,
            shaped(py, of.contribution_squares.clone(), [m, m])?,
            shaped(py, of.term_squares.clone(), [p, p])?,
            shaped(py, of.stratum_terms.clone(), [n, p])?,
            vector(py, of.stratum_factors.clone()),
        ))
    }

    #[getter]
    fn follows_difference(&self) -> bool {
        self.cross.follows_difference
    }

    #[getter]
    fn contributions<'py>(&self, py: Python<'py>) -> PyResult<Array2<'py, i64>> {
        self.columns(py, &self.cross.contributions)
    }

    #[getter]
    fn terms<'py>(&self, py: Python<'py>) -> PyResult<Array2<'py, i64>> {
        self.columns(py, &self.cross.terms)
    }

    fn rows<'py>(&self, py: Python<'py>, a: Rows<'_>, b: Rows<'_>) -> PyResult<Array3<'py, i64>> {
        let [units, counts] = self.shape;
        for rows in [&a, &b] {
            check_length("segments", units, rows.shape()[0])?;
            check_length("columns", counts, rows.shape()[1])?;
        }
        let (a, b) = (in_order(&a)?, in_order(&b)?);
        let width = counts + self.cross.constants.columns();
        let rows = run_serial(py, |stop| {
            let mut rows: Vec<i64> = zeros(&[2, units, width])?;
            for (rows, counted) in rows.chunks_exact_mut(units * width).zip([a, b]) {
                for (row, counted) in rows.chunks_exact_mut(width).zip(counted.chunks_exact(counts)) {
                    stop.charge(width)?;
                    row[..counts].copy_from_slice(counted);
                }
            }
            let mut place = counts;
            self.cross.columns(&self.index, |column| {
                stop.charge(4 * units)?;
                rows[place..].iter_mut().step_by(width).zip(column).for_each(|(out, value)| *out = *value);
                place += 1;
                Ok(())
            })?;
            Ok(rows)
        })?;
        shaped(py, rows, [2, units, width])
    }
}
