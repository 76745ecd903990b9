//! Tie calibration: below which difference are two scores of a metric tied? (Deutsch, Foster & Freitag 2023)
//!
//! Scores of people have many ties, and those of most metrics none. A threshold ε makes all pairs tied whose scores differ
//! by at most ε. The best ε gives the highest accuracy (the share of pairs for which metric and people agree that one
//! output is better, or that they are tied), averaged over groups. As ε grows, a pair changes from what the metric
//! says to a tie at the difference of its scores: a gain if people have a tie, a loss if the pair was concordant.
//!
//! Sorting all pairs would take memory for each. Instead a pass over the pairs counts gains and losses in buckets of
//! differences. At the ends of buckets the accuracy is then known. Within a bucket it cannot rise by more than the
//! bucket's gains, which rules out all but a few buckets, and only the pairs of those are sorted.

mod buckets;
mod sorted;

use std::ops::Range;

use super::{Grouping, Matrices, pairs};
use crate::error::Result;
use crate::memory::zeros;
use crate::pool::{self, Blocks, Run, Stop};
use buckets::{BUCKETS, Buckets, PAIRS_PER_BLOCK, Part, Weighted, parts};
use sorted::{Class, Sorted, Window, key};

/// At most this many pairs are sorted at a time.
const MOST_SORTED: u64 = 1 << 11;

/// The most neighbouring buckets that are searched together; far fewer than there are, so that the next buckets are
/// smaller.
const MOST_JOINED: usize = 64;

/// The search for the best ε of a metric. Accuracies are relative to that of ε = 0.
struct Search<'a> {
    sorted: &'a Sorted,
    /// The smallest ε of the highest accuracy so far, as a key.
    epsilon: u64,
    accuracy: i128,
    /// An accuracy that some ε is known to reach.
    reached: i128,
    /// Rounding of the weights: accuracies that differ by no more are equal.
    slack: i128,
}

/// Buckets that may have the best ε: the accuracy before them, and the most that one of them can reach.
struct Promising {
    buckets: Range<usize>,
    before: i128,
    most: i128,
}

impl<'a> Search<'a> {
    fn new(sorted: &'a Sorted) -> Self {
        Search { sorted, epsilon: 0, accuracy: 0, reached: 0, slack: i128::from(sorted.pairs) }
    }

    fn candidate(&mut self, accuracy: i128, key: u64) {
        let better = accuracy > self.accuracy + self.slack;
        if better || key < self.epsilon && accuracy + self.slack >= self.accuracy {
            (self.accuracy, self.epsilon) = (accuracy.max(self.accuracy), key);
            self.reached = self.reached.max(accuracy);
        }
    }

    /// Whether a window can have the best ε, given the most that its pairs can reach.
    fn worth_searching(&self, window: Window, most: i128) -> bool {
        let can_be_better = most > self.accuracy + self.slack || window.after < self.epsilon;
        can_be_better && most + self.slack >= self.reached
    }

    /// Searches a window whose pairs with smaller differences give `accuracy`.
    fn search(&mut self, window: Window, accuracy: i128, stop: &Stop<'_>) -> Result<()> {
        let sorted = self.sorted;
        let mut pairs = 0;
        for group in &sorted.groups {
            stop.charge(8 * group.len())?;
            sorted.visit(group, group.clone(), window, |_, above| pairs += above.len() as u64);
        }
        if pairs <= MOST_SORTED {
            return self.sweep(window, accuracy, stop);
        }
        let (buckets, mut weighted) = (Buckets::new(window), zeros(&[BUCKETS])?);
        for &Class { ref groups, weight } in &sorted.classes {
            let part = Part { metric: 0, weight, groups: groups.clone(), rows: None };
            part.add(&part.histogram(sorted, buckets, stop)?, &mut weighted);
        }
        self.within(buckets, &weighted, accuracy, stop)
    }

    /// Searches the buckets that can have the highest accuracy, the most promising first.
    fn within(&mut self, buckets: Buckets, weighted: &Weighted, mut accuracy: i128, stop: &Stop<'_>) -> Result<()> {
        let mut promising: Vec<Promising> = Vec::new();
        for (bucket, [gains, losses]) in weighted.iter().enumerate() {
            let (before, most) = (accuracy, accuracy + gains);
            accuracy += gains - losses;
            let bucket = bucket..bucket + 1;
            match (*gains > 0, buckets.ignored) {
                (true, 0) => self.candidate(accuracy, buckets.window(bucket).to),
                (true, _) => promising.push(Promising { buckets: bucket, before, most }),
                _ => {}
            }
            self.reached = self.reached.max(accuracy);
        }
        promising.retain(|some| self.worth_searching(buckets.window(some.buckets.clone()), some.most));
        // A pass over neighbours together costs less than a pass over each of them.
        promising.dedup_by(|next, some| {
            let join = next.buckets.start == some.buckets.end && some.buckets.len() < MOST_JOINED;
            if join {
                some.buckets.end = next.buckets.end;
                some.most = some.most.max(next.most);
            }
            join
        });
        promising.sort_by_key(|some| -some.most);
        for Promising { buckets: some, before, most } in promising {
            let window = buckets.window(some);
            if self.worth_searching(window, most) {
                self.search(window, before, stop)?;
            }
        }
        Ok(())
    }

    /// Sorts the pairs of a window by their differences.
    fn sweep(&mut self, window: Window, mut accuracy: i128, stop: &Stop<'_>) -> Result<()> {
        let Sorted { metric, human, groups, classes, .. } = self.sorted;
        // The key of each pair, and the class of its group with the sign of the change in the last bit.
        let mut changes: Vec<(u64, u32)> = Vec::new();
        for (number, class) in (0..).step_by(2).zip(classes) {
            for group in &groups[class.groups.clone()] {
                stop.charge(8 * group.len())?;
                self.sorted.visit(group, group.clone(), window, |row, above| {
                    for other in above {
                        if human[other] >= human[row] {
                            let loss = u32::from(human[other] > human[row]);
                            changes.push((key(metric[other] - metric[row]), number | loss));
                        }
                    }
                });
            }
        }
        stop.charge(32 * changes.len())?;
        changes.sort_unstable_by_key(|change| change.0);
        for same in changes.chunk_by(|a, b| a.0 == b.0) {
            for &(_, change) in same {
                let weight = classes[change as usize / 2].weight;
                accuracy += if change % 2 == 0 { weight } else { -weight };
            }
            self.candidate(accuracy, same[0].0);
        }
        Ok(())
    }
}

/// Chooses ε for each metric: the smallest that gives the highest mean accuracy over the groups that have a pair, or
/// NaN if none has. It is 0 or the difference of a pair. Also counts the pairs of each group under it, as
/// [`pairs::count`] does.
///
/// Takes O(P) time for P pairs in groups, and memory for the cells only. Sums over groups of different sizes are
/// fixed-point numbers with about 100 binary places; accuracies that agree so far are equal.
pub fn calibrate(matrices: Matrices<'_>, grouping: Grouping, run: &mut Run<'_>) -> Result<(Vec<f64>, pairs::Counts)> {
    let metrics = matrices.metrics();
    let cells = matrices.human.len() as u64;
    let sorted = run.without_progress(|run| {
        let sorted = |(): &mut (), metric: usize, stop: &Stop<'_>| Sorted::new(&matrices, metric, grouping, stop);
        pool::each(metrics, cells.saturating_mul(100), run, || (), sorted)
    })?;
    let weighted = in_buckets(&sorted, run)?;
    // If there are buckets, nearly all of the time has gone to them.
    let finished = if weighted.iter().any(Option::is_some) { metrics as u64 } else { 0 };
    let most = sorted.iter().map(|sorted| sorted.pairs.min(MOST_SORTED)).max().unwrap_or(0);
    let choose = |(): &mut (), metric: usize, stop: &Stop<'_>| {
        let sorted: &Sorted = &sorted[metric];
        let mut search = Search::new(sorted);
        match &weighted[metric] {
            _ if sorted.pairs == 0 => return Ok(f64::NAN),
            Some(weighted) => search.within(Buckets::new(sorted.window()), weighted, 0, stop)?,
            None => search.search(sorted.window(), 0, stop)?,
        }
        Ok(f64::from_bits(search.epsilon))
    };
    let epsilons =
        run.reporting(|done| done.max(finished), |run| pool::each(metrics, 50 * most, run, || (), choose))?;
    let defined: Vec<f64> = epsilons.iter().map(|&epsilon| if epsilon.is_nan() { 0.0 } else { epsilon }).collect();
    let count = |run: &mut Run<'_>| pairs::count(matrices, grouping, Some(&defined), run);
    let counts = run.reporting(|_| metrics as u64, count)?;
    Ok((epsilons, counts))
}

/// The pairs of metrics that have too many to be sorted, in buckets.
fn in_buckets(sorted: &[Sorted], run: &mut Run<'_>) -> Result<Vec<Option<Weighted>>> {
    let mut out: Vec<Option<Weighted>> = Vec::new();
    let mut all = Vec::new();
    for (metric, sorted) in sorted.iter().enumerate() {
        let many = sorted.pairs > MOST_SORTED && sorted.window().to > 0;
        if many {
            parts(metric, sorted, &mut all);
        }
        out.push(if many { Some(zeros(&[BUCKETS])?) } else { None });
    }
    let blocks = Blocks { items: all.len(), size: 1, cost: PAIRS_PER_BLOCK, lead: 0 };
    let work = |(): &mut (), items: Range<usize>, stop: &Stop<'_>| {
        let part = &all[items.start];
        let sorted = &sorted[part.metric];
        part.histogram(sorted, Buckets::new(sorted.window()), stop)
    };
    let metrics = |done: u64| done * sorted.len() as u64 / all.len().max(1) as u64;
    let add = |items: Range<usize>, histogram, _: &Stop<'_>| {
        let part: &Part = &all[items.start];
        if let Some(weighted) = &mut out[part.metric] {
            part.add(&histogram, weighted);
        }
        Ok(())
    };
    run.reporting(metrics, |run| pool::try_run(blocks, run, || (), work, add))?;
    Ok(out)
}
