//! Histograms of scores that Python passes, and the conversion of all histograms to arrays.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::run_long;
use super::convert::{Array2, in_order, shaped};
use crate::error::check_length;
use crate::memory::{collected, reserved};
use crate::resample::bins::{self, Histogram, SHOWN, Values};

/// The lower end of the first bin and the width of the bins, (n, 2), and the counts: (n, 64).
pub(super) type HistogramArrays<'py> = (Array2<'py, f64>, Array2<'py, u64>);

/// The histograms as arrays, with NaN for the ends of missing ones.
pub(super) fn histogram_arrays<'py>(
    py: Python<'py>,
    histograms: &[Option<Histogram>],
) -> PyResult<HistogramArrays<'py>> {
    let mut ends = reserved(2 * histograms.len())?;
    let mut counts = reserved(SHOWN * histograms.len())?;
    for histogram in histograms {
        let none = Histogram { low: f64::NAN, width: f64::NAN, counts: [0; SHOWN] };
        let Histogram { low, width, counts: of_one } = histogram.unwrap_or(none);
        ends.extend([low, width]);
        counts.extend(of_one);
    }
    Ok((shaped(py, ends, [histograms.len(), 2])?, shaped(py, counts, [histograms.len(), SHOWN])?))
}

#[pyfunction]
#[pyo3(signature = (scores, systems, minus, centres, *, threads=0))]
pub fn histograms<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray2<'py, f64>,
    systems: Vec<usize>,
    minus: Option<Vec<usize>>,
    centres: PyReadonlyArray1<'py, f64>,
    threads: usize,
) -> PyResult<HistogramArrays<'py>> {
    let n = scores.shape()[1];
    let (scores, centres) = (in_order(&scores)?, in_order(&centres)?);
    let expected = systems.len();
    check_length("systems to subtract", expected, minus.as_ref().map_or(expected, Vec::len))?;
    check_length("centres", expected, centres.len())?;
    let minus = |i: usize| minus.as_ref().map(|minus| minus[i]);
    let values = |(i, &system): (usize, &usize)| Values { system, minus: minus(i), centre: centres[i] };
    let wanted = collected(systems.iter().enumerate().map(values))?;
    let histograms = run_long(py, threads, None, ("", 0), |run| bins::histograms((scores, n), &wanted, run))?;
    histogram_arrays(py, &histograms)
}
