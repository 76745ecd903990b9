//! Reductions for the family-wise error rate: step-down maxT and minP (Westfall & Young 1993, Resampling-Based Multiple
//! Testing, algorithms 2.8 and 4.1).
//!
//! A family is one or several metrics, with all pairs. Each shuffle gives every test a statistic at once, so the null
//! distribution of the family's most extreme statistic can be counted, however the tests depend on each other.

use std::ops::Range;

use super::fold::Fold;
use super::series::SeriesValues;
use super::state::state;
use super::tally::{TestCounts, combine_counts, test_counts};
use super::{
    Accumulate, Alternatives, Criteria, Input, Pair, Partial, Ranged, Reduction, Shape, Span, Stages, Tests,
    check_same, cleared,
};
use crate::error::{Error, Result, check_length};
use crate::memory::{collected, reserved, zeros};
use crate::pool::{self, PIECE, Run, Stop};
use crate::resample::BATCH;
use crate::resample::{Plan, Resampler, length};

/// The root mean square of every test statistic over the shuffles. The mean is 0 by symmetry.
#[derive(Debug, Clone)]
pub struct Spread {
    tests: Tests,
    span: Span,
    /// The sums of squares.
    fold: Fold,
}

impl Spread {
    /// For these pairs.
    pub fn new(pairs: Vec<Pair>) -> Self {
        Spread { tests: Tests::new(pairs), span: Span::default(), fold: Fold::empty(add) }
    }

    /// The root mean squares: metric by metric, pair by pair.
    pub fn values(&self) -> Vec<f64> {
        let (mut values, n) = self.fold.total().unwrap_or_default();
        values.iter_mut().for_each(|value| *value = (*value / n as f64).sqrt());
        values
    }

    /// The numbers of metrics and of pairs.
    pub fn shape(&self) -> [usize; 2] {
        self.tests.shape()
    }
}

impl Ranged for Spread {
    fn span(&self) -> &Span {
        &self.span
    }

    fn merge(&mut self, later: &Self, _stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        check_same(self.tests == later.tests)?;
        self.fold.merge(&later.fold)?;
        self.span = Span(Some(both));
        Ok(())
    }
}

state!(Spread = 9, [span, tests, fold], |spread| {
    let Spread { span, tests, fold } = spread;
    !fold.values().iter().any(|square| *square < 0.0) && fold.fits(tests.count(), span)
});

impl Reduction for Spread {
    fn input(&self) -> Input {
        Input::Pairs(self.tests.pairs.clone())
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.tests.begin(shape)?;
        self.fold = Fold::new(self.tests.count(), add)?;
        self.span = Span(Some(replicates));
        Ok(())
    }

    fn stages(&mut self) -> Stages<'_> {
        let series = self.tests.count();
        (Box::new(Squares { series }), self.fold.add_batches())
    }
}

/// Adds the sums of two sets of shuffles.
fn add((sums, _): (&mut [f64], u64), (more, _): (&[f64], u64)) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

struct Squares {
    series: usize,
}

impl Accumulate for Squares {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        let length = self.series * partial.batches();
        cleared(&mut partial.numbers, length)
    }

    fn add_values(&self, partial: &mut Partial, series: usize, at: usize, statistics: &[f64]) {
        let place = partial.batch(at) * self.series + series;
        partial.numbers[place] = statistics.iter().map(|t| t * t).sum();
    }
}

/// The family of each metric: metrics with equal numbers, which are adjacent, are corrected together.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Families(Vec<usize>);

impl Families {
    /// Checks that every metric has a family, and that those of a family are adjacent.
    fn check(&self, tests: &Tests) -> Result<()> {
        check_length("families", tests.metrics, self.0.len())?;
        let mut firsts: Vec<usize> = self.0.chunk_by(usize::eq).map(|family| family[0]).collect();
        firsts.sort_unstable();
        match firsts.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(Error::invalid(
                "families",
                "families whose metrics are adjacent",
                format!("family {} in several places", pair[0]),
            )),
        }
    }

    /// The tests of each family.
    fn tests(&self, pairs: usize) -> Vec<Range<usize>> {
        let mut end = 0;
        let families = self.0.chunk_by(usize::eq).map(|family| {
            let first = end;
            end += family.len() * pairs;
            first..end
        });
        families.collect()
    }
}

/// Step-down maxT: for every test, the number of shuffles in which it, or a less extreme test of its family, has a
/// statistic at least as extreme as the observed one.
#[derive(Debug, Clone)]
pub struct MaxT {
    counted: TestCounts,
    families: Families,
    scales: Vec<f64>,
}

test_counts!(MaxT);
state!(MaxT = 3, [counted], |max_t| max_t.counted.fits(1) && max_t.scales.len() == max_t.counted.counts.len());

impl MaxT {
    /// MaxT for these pairs. `scales` are the factors that make statistics comparable, and `thresholds` how extreme the
    /// scaled observed statistics are. Both are metric by metric, pair by pair. `families` has the family of each metric.
    pub fn new(
        pairs: Vec<Pair>,
        alternatives: impl Into<Alternatives>,
        scales: Vec<f64>,
        thresholds: Vec<f64>,
        families: Vec<usize>,
    ) -> Self {
        MaxT { counted: TestCounts::new(pairs, alternatives, thresholds), families: Families(families), scales }
    }
}

impl Ranged for MaxT {
    fn span(&self) -> &Span {
        &self.counted.span
    }

    fn merge(&mut self, later: &Self, _stop: &Stop<'_>) -> Result<()> {
        self.counted.merge(&later.counted, self.scales == later.scales && self.families == later.families)
    }
}

impl Reduction for MaxT {
    fn input(&self) -> Input {
        Input::Pairs(self.counted.criteria.tests.pairs.clone())
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        self.counted.begin(shape, replicates)?;
        self.families.check(&self.counted.criteria.tests)?;
        self.counted.criteria.tests.check("scales", &self.scales)
    }

    fn stages(&mut self) -> Stages<'_> {
        let TestCounts { criteria, counts, .. } = &mut self.counted;
        // The least extreme first, of equally extreme ones the last first.
        let extreme = |test: usize| criteria.thresholds[test];
        let least_first = |&a: &usize, &b: &usize| extreme(a).total_cmp(&extreme(b)).then(b.cmp(&a));
        let families = self.families.tests(criteria.tests.pairs.len()).into_iter().map(|range| {
            let mut order: Vec<usize> = range.clone().collect();
            order.sort_by(least_first);
            Family { range, order }
        });
        let families = families.collect();
        (Box::new(Largest { criteria, scales: &self.scales, families }), combine_counts(counts))
    }
}

struct Largest<'a> {
    criteria: &'a Criteria,
    scales: &'a [f64],
    families: Vec<Family>,
}

/// The tests of a family, and the order of the steps: the least extreme first.
struct Family {
    range: Range<usize>,
    order: Vec<usize>,
}

impl Largest<'_> {
    fn family(&self, series: usize) -> &Family {
        &self.families[self.families.partition_point(|family| family.range.end <= series)]
    }
}

impl Accumulate for Largest<'_> {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        cleared(&mut partial.counts, self.criteria.thresholds.len())?;
        // How extreme the statistics of one family are in a batch of replicates.
        let largest = self.families.iter().map(|family| family.range.len()).max();
        cleared(&mut partial.numbers, largest.unwrap_or(0) * BATCH)
    }

    fn add_values(&self, partial: &mut Partial, series: usize, _: usize, statistics: &[f64]) {
        let (alternative, scale) = (self.criteria.alternative(series), self.scales[series]);
        let place = series - self.family(series).range.start;
        let out = &mut partial.numbers[place * BATCH..];
        out.iter_mut().zip(statistics).for_each(|(out, &t)| *out = alternative.extremeness(t) * scale);
    }

    fn metric_done(&self, partial: &mut Partial, metric: usize, _: usize, replicates: usize) {
        let pairs = self.criteria.tests.pairs.len();
        let Family { range, order } = self.family(metric * pairs);
        if range.end != (metric + 1) * pairs {
            return; // more metrics of the family follow
        }
        let mut largest = [f64::NEG_INFINITY; BATCH];
        let largest = &mut largest[..replicates];
        for &series in order {
            let extreme = &partial.numbers[(series - range.start) * BATCH..][..replicates];
            largest.iter_mut().zip(extreme).for_each(|(largest, extreme)| *largest = largest.max(*extreme));
            let threshold = self.criteria.thresholds[series];
            partial.counts[series] += largest.iter().filter(|largest| **largest >= threshold).count() as u64;
        }
    }
}

/// The most statistics to hold in memory: 256 MB.
const STATISTICS_AT_ONCE: usize = 1 << 25;

/// Step-down minP: for every test, the number of shuffles in which it, or a less significant test of its family, has a
/// p-value of its own that is at most the observed one.
///
/// The p-value of a shuffle is its rank among all shuffles and the observed statistic (Ge, Dudoit & Speed 2003,
/// doi:10.1007/BF02595811, box 4). Tests are processed one after another, so memory holds a few series of statistics,
/// not all of them. Because it needs all replicates, in several passes, it is not a [`Reduction`] and cannot be merged.
#[derive(Debug, Clone)]
pub struct MinP {
    counted: TestCounts,
    families: Families,
    tolerances: Vec<f64>,
    ranks: Vec<u64>,
}

test_counts!(MinP);

impl MinP {
    /// MinP for these pairs.
    ///
    /// `thresholds` are how extreme the observed statistics are, less the `tolerances` for rounding errors. Statistics at
    /// most two tolerances above the threshold are ties with the observed one. `ranks` are the ranks of the observed
    /// statistics, c + 1. All three are metric by metric, pair by pair. `families` has the family of each metric.
    pub fn new(
        pairs: Vec<Pair>,
        alternatives: impl Into<Alternatives>,
        (thresholds, tolerances): (Vec<f64>, Vec<f64>),
        ranks: Vec<u64>,
        families: Vec<usize>,
    ) -> Self {
        let counted = TestCounts::new(pairs, alternatives, thresholds);
        MinP { counted, families: Families(families), tolerances, ranks }
    }

    /// Makes the shuffles, several times if there is no room for the statistics of all tests.
    ///
    /// # Errors
    /// As [`Resampler::run`].
    pub fn run(
        &mut self,
        resampler: &Resampler,
        (plan, range): (Plan<'_>, Range<u64>),
        run: &mut Run<'_>,
    ) -> Result<()> {
        if range.is_empty() {
            return Err(Error::Empty { what: "replicates".into() });
        }
        self.counted.begin(resampler.shape(), range.clone())?;
        let TestCounts { criteria, counts, .. } = &mut self.counted;
        let Criteria { tests, thresholds, .. } = &*criteria;
        self.families.check(tests)?;
        tests.check("tolerances", &self.tolerances)?;
        tests.check_length("ranks", self.ranks.len())?;
        let n = length(&range);
        // Family by family, the least significant first.
        let mut order = Vec::new();
        for family in self.families.tests(tests.pairs.len()) {
            let mut family: Vec<usize> = family.collect();
            family.sort_by_key(|&test| (std::cmp::Reverse(self.ranks[test]), std::cmp::Reverse(test)));
            order.extend(family.into_iter().enumerate().map(|(place, test)| (test, place == 0)));
        }
        let mut smallest: Vec<u64> = reserved(n)?;
        for chunk in order.chunks((STATISTICS_AT_ONCE / n).max(1)) {
            let mut selected = SelectedSeries::new(tests, chunk.iter().map(|&(test, _)| test));
            resampler.run((plan, range.clone()), &mut [&mut selected], run)?;
            for (&(test, new_family), statistics) in chunk.iter().zip(selected.all.values.chunks_exact(n)) {
                let (alternative, rank) = (criteria.alternative(test), self.ranks[test]);
                let ties = thresholds[test]..=thresholds[test] + 2.0 * self.tolerances[test];
                let count = |stop: &Stop<'_>| {
                    if new_family {
                        smallest.clear();
                        smallest.resize(n, u64::MAX);
                    }
                    let mut extreme = reserved(n)?;
                    for statistics in statistics.chunks(PIECE) {
                        stop.charge(statistics.len())?;
                        let extremeness = |&t: &f64| {
                            let extreme = alternative.extremeness(t);
                            if ties.contains(&extreme) { *ties.start() } else { extreme }
                        };
                        extreme.extend(statistics.iter().map(extremeness));
                    }
                    let own = own_ranks(&extreme, *ties.start(), stop)?;
                    let mut count = 0;
                    for (smallest, own) in smallest.chunks_mut(PIECE).zip(own.chunks(PIECE)) {
                        stop.charge(2 * own.len())?;
                        smallest.iter_mut().zip(own).for_each(|(smallest, own)| *smallest = *own.min(smallest));
                        count += smallest.iter().filter(|smallest| **smallest <= rank).count() as u64;
                    }
                    Ok(count)
                };
                counts[test] = run.reporting(|_| n as u64, |run| run.serial(count))?;
            }
        }
        Ok(())
    }
}

impl Ranged for MinP {
    fn span(&self) -> &Span {
        &self.counted.span
    }

    /// Always fails: the rank of a shuffle among some of the shuffles does not determine its rank among all.
    fn merge(&mut self, _later: &Self, _stop: &Stop<'_>) -> Result<()> {
        Err(Error::invalid(
            "a reduction to merge",
            "one that can be computed in parts (merge Series, or run all shuffles at once)",
            "MinP, which ranks each shuffle among all",
        ))
    }
}

/// Keeps the statistics of some of the tests.
struct SelectedSeries<'a> {
    tests: &'a Tests,
    /// The place of each test among the selected ones, if it is one of them.
    places: Vec<Option<usize>>,
    selected: usize,
    all: SeriesValues,
}

impl<'a> SelectedSeries<'a> {
    fn new(tests: &'a Tests, selected: impl ExactSizeIterator<Item = usize>) -> Self {
        let (mut places, n) = (vec![None; tests.count()], selected.len());
        selected.enumerate().for_each(|(place, test)| places[test] = Some(place));
        SelectedSeries { tests, places, selected: n, all: SeriesValues::default() }
    }
}

impl Reduction for SelectedSeries<'_> {
    fn input(&self) -> Input {
        Input::Pairs(self.tests.pairs.clone())
    }

    fn begin(&mut self, _: &Shape, replicates: Range<u64>) -> Result<()> {
        self.all.begin(self.selected, replicates)
    }

    fn stages(&mut self) -> Stages<'_> {
        let (whole, add) = self.all.stages();
        (Box::new(Selected { places: &self.places, whole }), add)
    }
}

/// Accumulates the statistics of the selected tests only.
struct Selected<'a> {
    places: &'a [Option<usize>],
    whole: Box<dyn Accumulate + 'a>,
}

impl Accumulate for Selected<'_> {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        self.whole.start(partial)
    }

    fn wants(&self, series: usize) -> bool {
        self.places[series].is_some()
    }

    fn add_values(&self, partial: &mut Partial, series: usize, at: usize, statistics: &[f64]) {
        if let Some(place) = self.places[series] {
            self.whole.add_values(partial, place, at, statistics);
        }
    }
}

/// The rank of each number: how many of the numbers, and of the observed one, are at least as large.
fn own_ranks(extreme: &[f64], observed: f64, stop: &Stop<'_>) -> Result<Vec<u64>> {
    let mut order = collected(0..extreme.len())?;
    pool::sort(&mut order, |&a: &usize, &b| extreme[b].total_cmp(&extreme[a]), stop)?;
    let mut ranks = zeros(&[extreme.len()])?;
    let mut above = 0;
    for equal in order.chunk_by(|&a, &b| extreme[a] == extreme[b]) {
        above += equal.len() as u64;
        for piece in equal.chunks(PIECE) {
            stop.charge(4 * piece.len())?; // random access to memory
            for &place in piece {
                ranks[place] = above + u64::from(observed >= extreme[place]);
            }
        }
    }
    Ok(ranks)
}

#[cfg(test)]
mod tests;
