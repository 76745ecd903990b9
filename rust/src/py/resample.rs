//! Replicates as arrays.

use numpy::{
    PyArray1, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use super::call::{Progress, alone, long, raise};
use super::convert::{check_units, flips, in_order, shaped, suff_stats};
use super::metric::Metric;
use crate::error::{Error, Result};
use crate::pool::{PIECE, Patience};
use crate::resample::shuffle::{self, Alternative, Pair, Scheme};
use crate::resample::stopping::{self, Outcome, Rule};
use crate::resample::{Plan, Scored, draw, exact, family, zeros};
use crate::stats::SuffStats;
use crate::stream::{Purpose, Stream};

type Counts<'py> = PyReadonlyArray3<'py, i64>;
type Codes<'py> = PyReadonlyArray1<'py, u64>;
type Families<'py> = Vec<(PyRef<'py, Metric>, Counts<'py>)>;

fn with_metrics<'a>(py: Python<'_>, families: &'a Families<'_>) -> PyResult<Vec<Scored<'a>>> {
    let scored = |(metric, counts): &'a (PyRef<'_, Metric>, Counts<'_>)| {
        let metric: &'a Metric = metric;
        Scored::new(metric.inner.as_ref(), suff_stats(py, counts)?).map_err(|e| raise(py, e))
    };
    families.iter().map(scored).collect()
}

/// The number of segments of the first counts; the core checks that the others have as many.
fn segments_of(families: &Families<'_>) -> Option<usize> {
    families.first().map(|(_, counts)| counts.shape()[1])
}

fn without_metrics<'a>(py: Python<'_>, all: &'a [Counts<'_>]) -> PyResult<Vec<SuffStats<'a>>> {
    all.iter().map(|counts| suff_stats(py, counts)).collect()
}

fn alternative(py: Python<'_>, name: &str) -> PyResult<Alternative> {
    let known = [("two-sided", Alternative::TwoSided), ("greater", Alternative::Greater), ("less", Alternative::Less)];
    known.iter().find(|(n, _)| *n == name).map(|(_, alternative)| *alternative).ok_or_else(|| {
        let known = known.map(|(name, _)| name.into()).into();
        raise(py, Error::UnknownName { kind: "alternative".into(), name: name.into(), known })
    })
}

/// Replicates of a seed, or flips or codes of units that the caller gives.
struct Flips<'py> {
    given: Option<Vec<u64>>,
    codes: Option<Codes<'py>>,
    seed: u64,
    first: u64,
    n: usize,
}

impl<'py> Flips<'py> {
    fn new(
        py: Python<'_>,
        n: usize,
        (seed, first): (u64, u64),
        masks: Option<PyReadonlyArray2<'_, bool>>,
        codes: Option<Codes<'py>>,
        segments: Option<usize>,
    ) -> PyResult<Self> {
        let Some(masks) = masks else { return Ok(Flips { given: None, codes, seed, first, n }) };
        if codes.is_some() {
            let (option, expected) = ("codes".into(), "None beside masks, which say all".into());
            return Err(raise(py, Error::InvalidOption { option, expected, got: "both".into() }));
        }
        check_units(py, "masks", masks.shape()[1], segments)?;
        let (words, n) = flips(py, &masks)?;
        Ok(Flips { given: Some(words), codes, seed, first, n })
    }

    fn scheme(&self) -> PyResult<(Scheme<'_>, usize)> {
        let scheme = match (&self.codes, &self.given) {
            (Some(codes), _) => Scheme::Codes { codes: in_order(codes)?, first: self.first },
            (None, Some(given)) => Plan::Given(given).into(),
            (None, None) => Plan::Seeded { seed: self.seed, first: self.first }.into(),
        };
        Ok((scheme, self.n))
    }
}

#[pyfunction]
#[pyo3(signature = (families, pairs, alternative, thresholds, *, n, seed, masks=None, codes=None, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn shuffle_tally<'py>(
    py: Python<'py>,
    families: Families<'py>,
    pairs: Vec<Pair>,
    alternative: &str,
    thresholds: PyReadonlyArray2<'py, f64>,
    n: usize,
    seed: u64,
    masks: Option<PyReadonlyArray2<'py, bool>>,
    codes: Option<Codes<'py>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let scored = with_metrics(py, &families)?;
    let criterion = (self::alternative(py, alternative)?, in_order(&thresholds)?);
    let flips = Flips::new(py, n, (seed, 0), masks, codes, segments_of(&families))?;
    let scheme = flips.scheme()?;
    let counts = long(py, threads, progress, ("shuffling", flips.n), |run| {
        shuffle::tally(&scored, &pairs, criterion, scheme, run)
    })?;
    shaped(py, counts, [families.len(), pairs.len()])
}

/// When to stop shuffling.
#[pyclass(frozen, module = "reshuffle._core")]
pub struct StoppingRule(Rule);

#[pymethods]
impl StoppingRule {
    #[staticmethod]
    fn besag_clifford(py: Python<'_>, exceedances: u64) -> PyResult<Self> {
        Rule::BesagClifford { exceedances }.checked().map(StoppingRule).map_err(|e| raise(py, e))
    }

    #[staticmethod]
    fn gandy(py: Python<'_>, level: f64, risk: f64) -> PyResult<Self> {
        Rule::Gandy { level, risk }.checked().map(StoppingRule).map_err(|e| raise(py, e))
    }

    fn limits<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let limits = alone(py, |stop| {
            let mut patience = Patience::default();
            let mut out: Vec<i64> = zeros(&[n, 2])?;
            for (out, limits) in out.chunks_exact_mut(2).zip(self.0.limits()) {
                patience.spend(1 << 10, stop)?;
                out.copy_from_slice(&[limits.low, limits.high]);
            }
            Ok(out)
        })?;
        shaped(py, limits, [n, 2])
    }
}

/// Shuffles, exceedances, and whether the rule stopped them, each of one shape.
type Outcomes<'py> = (Bound<'py, PyArray2<u64>>, Bound<'py, PyArray2<u64>>, Bound<'py, PyArray2<bool>>);

fn outcomes<'py>(py: Python<'py>, outcomes: &[Outcome], shape: [usize; 2]) -> PyResult<Outcomes<'py>> {
    Ok((
        shaped(py, outcomes.iter().map(|outcome| outcome.shuffles).collect(), shape)?,
        shaped(py, outcomes.iter().map(|outcome| outcome.exceedances).collect(), shape)?,
        shaped(py, outcomes.iter().map(|outcome| outcome.stopped).collect(), shape)?,
    ))
}

/// Exceedances that are counted until a rule stops them.
#[pyclass(module = "reshuffle._core")]
pub struct Sequential(stopping::Sequential);

#[pymethods]
impl Sequential {
    #[new]
    fn new(py: Python<'_>, rule: &StoppingRule, tests: usize) -> PyResult<Self> {
        stopping::Sequential::new(rule.0, tests).map(Sequential).map_err(|e| raise(py, e))
    }

    fn look(&mut self, reached: PyReadonlyArray2<'_, bool>) -> PyResult<()> {
        let py = reached.py();
        let &[tests, n] = reached.shape() else { unreachable!("the array has two dimensions") };
        let expected = self.0.outcomes().len();
        if tests != expected {
            return Err(raise(py, Error::LengthMismatch { what: "tests".into(), expected, got: tests }));
        }
        let (words, _) = flips(py, &reached)?;
        alone(py, |stop| {
            // In whole words of shuffles.
            for first in (0..n).step_by(PIECE) {
                if stop.requested() {
                    return Err(Error::Interrupted);
                }
                let of = |test: usize, word: usize| words[test * n.div_ceil(64) + first / 64 + word];
                self.0.look(PIECE.min(n - first), of);
            }
            Ok(())
        })
    }

    #[getter]
    fn finished(&self) -> bool {
        self.0.finished()
    }

    #[getter]
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Outcomes<'py>> {
        outcomes(py, self.0.outcomes(), [1, self.0.outcomes().len()])
    }
}

#[pyfunction]
#[pyo3(signature = (families, pairs, alternative, thresholds, rule, *, n, seed, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn shuffle_until<'py>(
    py: Python<'py>,
    families: Families<'py>,
    pairs: Vec<Pair>,
    alternative: &str,
    thresholds: PyReadonlyArray2<'py, f64>,
    rule: &StoppingRule,
    n: usize,
    seed: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Outcomes<'py>> {
    let scored = with_metrics(py, &families)?;
    let criterion = (self::alternative(py, alternative)?, in_order(&thresholds)?);
    let plan = (Plan::Seeded { seed, first: 0 }, n);
    let found = long(py, threads, progress, ("shuffling", n), |run| {
        stopping::tally(&scored, &pairs, criterion, rule.0, plan, run)
    })?;
    outcomes(py, &found, [families.len(), pairs.len()])
}

#[pyfunction]
#[pyo3(signature = (families, pairs, *, n, seed, masks=None, codes=None, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn shuffle_statistics<'py>(
    py: Python<'py>,
    families: Families<'py>,
    pairs: Vec<Pair>,
    n: usize,
    seed: u64,
    masks: Option<PyReadonlyArray2<'py, bool>>,
    codes: Option<Codes<'py>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let scored = with_metrics(py, &families)?;
    let flips = Flips::new(py, n, (seed, 0), masks, codes, segments_of(&families))?;
    let scheme = flips.scheme()?;
    let statistics =
        long(py, threads, progress, ("shuffling", flips.n), |run| shuffle::statistics(&scored, &pairs, scheme, run))?;
    shaped(py, statistics, [families.len(), pairs.len(), flips.n])
}

#[pyfunction]
#[pyo3(signature = (families, pairs, *, n, seed, threads=0, progress=None))]
pub fn shuffle_spreads<'py>(
    py: Python<'py>,
    families: Families<'py>,
    pairs: Vec<Pair>,
    n: usize,
    seed: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let scored = with_metrics(py, &families)?;
    let plan = (Plan::Seeded { seed, first: 0 }, n);
    let spreads = long(py, threads, progress, ("shuffling", n), |run| family::spreads(&scored, &pairs, plan, run))?;
    shaped(py, spreads, [families.len(), pairs.len()])
}

#[pyfunction]
#[pyo3(signature = (families, pairs, alternative, scales, thresholds, *, n, seed, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn shuffle_max_t<'py>(
    py: Python<'py>,
    families: Families<'py>,
    pairs: Vec<Pair>,
    alternative: &str,
    scales: PyReadonlyArray2<'py, f64>,
    thresholds: PyReadonlyArray2<'py, f64>,
    n: usize,
    seed: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let scored = with_metrics(py, &families)?;
    let criterion = (self::alternative(py, alternative)?, in_order(&scales)?, in_order(&thresholds)?);
    let plan = (Plan::Seeded { seed, first: 0 }, n);
    let counts =
        long(py, threads, progress, ("shuffling", n), |run| family::max_t(&scored, &pairs, criterion, plan, run))?;
    shaped(py, counts, [families.len(), pairs.len()])
}

#[pyfunction]
#[pyo3(signature = (families, pairs, alternative, thresholds, ranks, *, n, seed, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn shuffle_min_p<'py>(
    py: Python<'py>,
    families: Families<'py>,
    pairs: Vec<Pair>,
    alternative: &str,
    thresholds: PyReadonlyArray2<'py, f64>,
    ranks: PyReadonlyArray2<'py, u64>,
    n: usize,
    seed: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let scored = with_metrics(py, &families)?;
    let criterion = (self::alternative(py, alternative)?, in_order(&thresholds)?, in_order(&ranks)?);
    let plan = (Plan::Seeded { seed, first: 0 }, n);
    let counts =
        long(py, threads, progress, ("shuffling", n), |run| family::min_p(&scored, &pairs, criterion, plan, run))?;
    shaped(py, counts, [families.len(), pairs.len()])
}

#[pyfunction]
#[pyo3(signature = (counts, *, n, seed, first=0, masks=None, codes=None, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn shuffle_sums<'py>(
    py: Python<'py>,
    counts: Vec<Counts<'py>>,
    n: usize,
    seed: u64,
    first: u64,
    masks: Option<PyReadonlyArray2<'py, bool>>,
    codes: Option<Codes<'py>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let all = without_metrics(py, &counts)?;
    let flips = Flips::new(py, n, (seed, first), masks, codes, counts.first().map(|counts| counts.shape()[1]))?;
    let scheme = flips.scheme()?;
    let sums = long(py, threads, progress, ("shuffling", flips.n), |run| shuffle::sums(&all, scheme, run))?;
    by_replicate(py, sums, flips.n)
}

#[pyfunction]
#[pyo3(signature = (counts, pairs, *, most))]
pub fn differing_units(
    py: Python<'_>,
    counts: Counts<'_>,
    pairs: Vec<Pair>,
    most: usize,
) -> PyResult<Vec<(usize, Option<usize>, u64)>> {
    let stats = suff_stats(py, &counts)?;
    let found = long(py, 1, None, ("", 0), |run| exact::differing(&stats, &pairs, most, run))?;
    Ok(found.into_iter().map(|pair| (pair.units, pair.column, pair.span)).collect())
}

#[pyfunction]
#[pyo3(signature = (steps, *, progress=None))]
pub fn coin_law<'py>(
    py: Python<'py>,
    steps: PyReadonlyArray1<'py, u64>,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let steps = in_order(&steps)?;
    let law = long(py, 1, progress, ("shuffling", steps.len()), |run| exact::law(steps, run))?;
    let length = law.len();
    shaped(py, law, [length])
}

#[pyfunction]
#[pyo3(signature = (families, *, n, seed, strata=None, indices=None, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn draw_scores<'py>(
    py: Python<'py>,
    families: Families<'py>,
    n: usize,
    seed: u64,
    strata: Option<Vec<usize>>,
    indices: Option<PyReadonlyArray2<'py, u32>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let scored = with_metrics(py, &families)?;
    let systems: usize = scored.iter().map(|s| s.stats.systems()).sum();
    let strata = sizes(py, strata)?;
    let given = (indices, segments_of(&families));
    let (scores, n) =
        drawn((py, threads, progress), (n, seed, 0), given, |plan, run| draw::scores(&scored, &strata, plan, run))?;
    shaped(py, scores, [systems, n])
}

/// Means and standard deviations of scores, and how often each system has each rank: a (k, k) array for each metric.
type Summary<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Vec<Bound<'py, PyArray2<u64>>>);

#[pyfunction]
#[pyo3(signature = (families, *, n, seed, threads=0, progress=None))]
pub fn draw_summary<'py>(
    py: Python<'py>,
    families: Families<'py>,
    n: usize,
    seed: u64,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Summary<'py>> {
    let scored = with_metrics(py, &families)?;
    let plan = (Plan::Seeded { seed, first: 0 }, n);
    let summary = long(py, threads, progress, ("drawing", n), |run| draw::summary(&scored, &[], plan, run))?;
    let deviations: Vec<_> = summary.squares.iter().map(|squares| (squares / (n as f64 - 1.0)).sqrt()).collect();
    let systems = summary.means.len();
    let mut ranks = summary.ranks.as_slice();
    let of_metrics = scored.iter().map(|s| {
        let k = s.stats.systems();
        let (of_metric, rest) = ranks.split_at(k * k);
        ranks = rest;
        shaped(py, of_metric.to_vec(), [k, k])
    });
    let of_metrics = of_metrics.collect::<PyResult<_>>()?;
    Ok((shaped(py, summary.means, [systems])?, shaped(py, deviations, [systems])?, of_metrics))
}

#[pyfunction]
#[pyo3(signature = (counts, *, n, seed, first=0, strata=None, indices=None, threads=0, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn draw_sums<'py>(
    py: Python<'py>,
    counts: Vec<Counts<'py>>,
    n: usize,
    seed: u64,
    first: u64,
    strata: Option<Vec<usize>>,
    indices: Option<PyReadonlyArray2<'py, u32>>,
    threads: usize,
    progress: Option<&Progress>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let all = without_metrics(py, &counts)?;
    let strata = sizes(py, strata)?;
    let given = (indices, counts.first().map(|counts| counts.shape()[1]));
    let (sums, n) =
        drawn((py, threads, progress), (n, seed, first), given, |plan, run| draw::sums(&all, &strata, plan, run))?;
    by_replicate(py, sums, n)
}

/// Draws by the given indices or, without any, by the seed; also gives how many replicates that were.
fn drawn<T: Send>(
    (py, threads, progress): (Python<'_>, usize, Option<&Progress>),
    (n, seed, first): (usize, u64, u64),
    (indices, segments): (Option<PyReadonlyArray2<'_, u32>>, Option<usize>),
    body: impl FnOnce((Plan<'_, u32>, usize), &mut crate::pool::Run<'_>) -> Result<T> + Send,
) -> PyResult<(T, usize)> {
    let plan = match &indices {
        Some(given) => {
            check_units(py, "indices", given.shape()[1], segments)?;
            (Plan::Given(in_order(given)?), given.shape()[0])
        }
        None => (Plan::Seeded { seed, first }, n),
    };
    let out = long(py, threads, progress, ("drawing", plan.1), |run| body(plan, run))?;
    Ok((out, plan.1))
}

/// Sizes of strata for the core, for which an empty list means no strata.
fn sizes(py: Python<'_>, strata: Option<Vec<usize>>) -> PyResult<Vec<usize>> {
    match strata {
        Some(sizes) if sizes.is_empty() => Err(raise(py, Error::Empty { what: "strata".into() })),
        sizes => Ok(sizes.unwrap_or_default()),
    }
}

fn by_replicate(py: Python<'_>, sums: Vec<i64>, n: usize) -> PyResult<Bound<'_, PyArray2<i64>>> {
    let cells = sums.len() / n.max(1);
    shaped(py, sums, [n, cells])
}

fn stream(purpose: &str, seed: u64, replicate: u64, py: Python<'_>) -> PyResult<Stream> {
    let known = [("shuffle", Purpose::Shuffle), ("draw", Purpose::Draw), ("code", Purpose::Code)];
    match known.iter().find(|(name, _)| *name == purpose) {
        Some(&(_, purpose)) => Ok(Stream::new(seed, purpose, replicate)),
        None => {
            let known = known.map(|(name, _)| name.into()).into();
            Err(raise(py, Error::UnknownName { kind: "purpose".into(), name: purpose.into(), known }))
        }
    }
}

/// The length of a stream in words, after which it repeats.
const WORDS: u64 = 1 << 33;

fn check_words(py: Python<'_>, n: usize) -> PyResult<()> {
    if n as u64 <= WORDS {
        return Ok(());
    }
    let expected = format!("at most {WORDS}, after which a stream repeats");
    Err(raise(py, Error::InvalidOption { option: "n".into(), expected, got: n.to_string() }))
}

#[pyfunction]
pub fn stream_words<'py>(
    py: Python<'py>,
    seed: u64,
    purpose: &str,
    replicate: u64,
    n: usize,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let stream = stream(purpose, seed, replicate, py)?;
    check_words(py, n)?;
    let words = alone(py, |stop| {
        let mut words = zeros(&[n])?;
        let mut patience = Patience::default();
        for (block, words) in (0..).step_by(PIECE / 2).zip(words.chunks_mut(PIECE)) {
            patience.spend(PIECE, stop)?;
            stream.fill(block, words);
        }
        Ok(words)
    })?;
    shaped(py, words, [n])
}

#[pyfunction]
pub fn stream_indices<'py>(
    py: Python<'py>,
    seed: u64,
    replicate: u64,
    bound: u32,
    n: usize,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    if bound == 0 {
        return Err(raise(py, Error::Empty { what: "units to draw from".into() }));
    }
    check_words(py, n)?;
    let indices = alone(py, |stop| {
        let mut out = zeros(&[n])?;
        let mut indices = Stream::new(seed, Purpose::Draw, replicate).indices(bound);
        let mut patience = Patience::default();
        for out in out.chunks_mut(PIECE) {
            patience.spend(PIECE, stop)?;
            indices.fill(out);
        }
        Ok(out)
    })?;
    shaped(py, indices, [n])
}

#[pyfunction]
#[pyo3(signature = (seed, replicate, segments, *, strata=None))]
pub fn draw_weights(
    py: Python<'_>,
    seed: u64,
    replicate: u64,
    segments: u32,
    strata: Option<Vec<usize>>,
) -> PyResult<Bound<'_, PyArray1<u32>>> {
    let strata = sizes(py, strata)?;
    let weights = long(py, 1, None, ("", 0), |run| draw::draw_weights((seed, replicate), segments, &strata, run))?;
    shaped(py, weights, [segments as usize])
}
