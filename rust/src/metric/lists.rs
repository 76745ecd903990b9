//! Counts of k-best lists.

use super::{Metric, References, Texts};
use crate::error::{Error, LARGEST_SUM, Result};
use crate::memory::zeros;
use crate::pool::{self, Blocks, Run};

/// The distinct hypotheses of each sentence.
pub struct Lists<'a> {
    /// The first hypothesis of each of S sentences, and at the end their number.
    pub offsets: &'a [i64],
    /// A hypothesis.
    pub hypothesis: &'a (dyn Fn(usize) -> &'a str + Sync),
}

impl Lists<'_> {
    pub(super) fn range(&self, sentence: usize) -> std::ops::Range<usize> {
        self.offsets[sentence] as usize..self.offsets[sentence + 1] as usize
    }
}

/// Counts all hypotheses of each sentence, none of which has an empty list, in parallel over sentences. The references of
/// a sentence are prepared once. The result has a row of K counts for each hypothesis.
///
/// # Errors
/// As [`super::count`]. Counts are too large if choosing a hypothesis for each sentence can lead to sums that overflow.
pub fn count_lists<R: AsRef<str> + Sync>(
    metric: &dyn Metric,
    lists: &Lists<'_>,
    references: &[Vec<Option<R>>],
    run: &mut Run<'_>,
) -> Result<Vec<i64>> {
    let sentences = lists.offsets.len().saturating_sub(1);
    let most = (0..sentences).map(|s| lists.range(s).len()).max().unwrap_or(0);
    super::counting::check(&[vec![(); sentences]], references)?;
    let get = |column: usize, segment: usize| references[column][segment].as_ref().map(AsRef::as_ref);
    // As if every list were as long as the longest one: its last hypothesis again.
    let hypothesis = |system: usize, segment: usize| {
        let range = lists.range(segment);
        (lists.hypothesis)(range.start + system.min(range.len() - 1))
    };
    let corpus_references = References { columns: references.len(), segments: sentences, get: &get };
    let texts = Texts { references: corpus_references, systems: most, hypothesis: &hypothesis };
    let counters = run.without_progress(|run| metric.counters(&texts, run))?;
    let width = metric.width();
    let n = lists.offsets[sentences] as usize;
    let mut out = zeros(&[n, width])?;
    let blocks = Blocks { items: sentences, size: 4, cost: 2000 * (n / sentences + references.len()) as u64, lead: 0 };
    pool::try_run(
        blocks,
        run,
        || (),
        |(), range, stop| {
            let first = lists.offsets[range.start] as usize;
            let mut rows: Vec<i64> = zeros(&[lists.offsets[range.end] as usize - first, width])?;
            let mut counter = counters();
            let (mut segment_references, mut hypotheses) = (Vec::new(), Vec::new());
            for s in range {
                stop.check()?;
                segment_references.clear();
                segment_references.extend(corpus_references.of_segment(s));
                let own = lists.range(s);
                hypotheses.clear();
                hypotheses.extend(own.clone().map(lists.hypothesis));
                let rows = &mut rows[(own.start - first) * width..(own.end - first) * width];
                counter.count(&segment_references, &hypotheses, rows, stop).map_err(|error| error.in_segment(s + 1))?;
            }
            Ok(rows)
        },
        |range, rows, _| {
            let start = lists.offsets[range.start] as usize * width;
            out[start..start + rows.len()].copy_from_slice(&rows);
            Ok(())
        },
    )?;
    check_sums(&out, lists, width)?;
    Ok(out)
}

/// Checks that no choice of a hypothesis for each sentence has sums that are too large.
fn check_sums(rows: &[i64], lists: &Lists<'_>, width: usize) -> Result<()> {
    let mut sums = vec![0_i128; width];
    let mut largest = vec![0_u64; width];
    for sentence in 0..lists.offsets.len() - 1 {
        let range = lists.range(sentence);
        largest.fill(0);
        for row in rows[range.start * width..range.end * width].chunks_exact(width) {
            largest.iter_mut().zip(row).for_each(|(largest, count)| *largest = (*largest).max(count.unsigned_abs()));
        }
        sums.iter_mut().zip(&largest).for_each(|(sum, largest)| *sum += i128::from(*largest));
    }
    match sums.iter().position(|sum| *sum > i128::from(LARGEST_SUM)) {
        Some(column) => Err(Error::Overflow { column }),
        None => Ok(()),
    }
}
