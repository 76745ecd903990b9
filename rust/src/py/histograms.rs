//! Histograms of values that Python has computed, and the conversion of all histograms to arrays.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::call::{run_long, run_serial};
use super::convert::{in_order, shaped};
use crate::error::{Error, check_length};
use crate::memory::reserved;
use crate::resample::bins::{self, Histogram, SHOWN, Values};
use crate::resample::reduce::Reader;
use crate::simd::Simd;

/// The lower end of the first bin and the width of the bins, (n, 2), and the counts: (n, 64).
pub(super) type HistogramArrays<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<u64>>);

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

/// Bins of several series of values that are added in batches.
#[pyclass(module = "reshuffle._core")]
pub struct Bins(bins::Bins);

/// How many values are added between two checks for Ctrl-C; few enough for the counts of a batch.
const STEP: usize = 1 << 14;

/// More values than a process can add.
const MOST_VALUES: u64 = 1 << 53;

#[pymethods]
impl Bins {
    #[new]
    fn new(series: usize) -> PyResult<Self> {
        bins::Bins::new(series, Simd::best()).map(Bins).map_err(PyErr::from)
    }

    #[pyo3(signature = (values, used=None))]
    fn update(&mut self, values: PyReadonlyArray2<'_, f64>, used: Option<PyReadonlyArray1<'_, u64>>) -> PyResult<()> {
        let py = values.py();
        let (series, n) = values.as_array().dim();
        let values = in_order(&values)?;
        let used = used.as_ref().map(in_order).transpose()?;
        for got in [Some(series), used.map(<[u64]>::len)].into_iter().flatten() {
            let expected = self.0.len();
            check_length("series", expected, got)?;
        }
        let length = |series: usize| used.map_or(n, |used| usize::try_from(used[series]).unwrap_or(n).min(n));
        run_serial(py, |stop| {
            for first in (0..n).step_by(STEP) {
                self.0.make_room(STEP.min(n - first))?;
                for series in 0..series {
                    if stop.requested() {
                        return Err(Error::Interrupted);
                    }
                    let values = &values[series * n..][..length(series)];
                    self.0.add(series, values.get(first..).map_or(&[], |rest| &rest[..STEP.min(rest.len())]));
                }
                self.0.count();
            }
            Ok(())
        })
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let words = run_serial(py, |_| {
            let mut words = Vec::new();
            self.0.save(&mut words)?;
            Ok(words)
        })?;
        let length = words.len();
        shaped(py, words, [length])
    }

    fn merge(&mut self, words: PyReadonlyArray1<'_, u64>) -> PyResult<()> {
        let py = words.py();
        let words = in_order(&words)?;
        run_serial(py, |_| {
            let mut from = Reader::new(words);
            let later = bins::Bins::loaded((self.0.len(), MOST_VALUES), Simd::best(), &mut from)?;
            from.end()?;
            self.0.merge(&later)
        })
    }

    #[getter]
    fn histograms<'py>(&self, py: Python<'py>) -> PyResult<HistogramArrays<'py>> {
        let histograms = run_serial(py, |_| self.0.histograms())?;
        histogram_arrays(py, &histograms)
    }
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
    let mut wanted = reserved(expected)?;
    wanted.extend(systems.iter().enumerate().map(|(i, &system)| Values {
        system,
        minus: minus.as_ref().map(|minus| minus[i]),
        centre: centres[i],
    }));
    let histograms = run_long(py, threads, None, ("", 0), |run| bins::histograms((scores, n), &wanted, run))?;
    histogram_arrays(py, &histograms)
}
