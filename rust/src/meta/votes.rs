//! How many of people's votes between two outputs a metric agrees with.

use crate::error::{Error, LARGEST_SUM, Result, check_length};
use crate::memory::{reserved, zeros};
use crate::pool::{self, Run, Stop};

/// Votes that one output of a segment is better than another.
#[derive(Debug, Clone, Copy)]
pub struct Votes<'a> {
    pub segment: &'a [i64],
    pub better: &'a [i64],
    pub worse: &'a [i64],
    /// How many votes.
    pub votes: &'a [i64],
}

/// A judgment with checked indices: the cells of the better and the worse output in a matrix, the segment, the votes.
pub(super) struct Judgment {
    pub better: usize,
    pub worse: usize,
    pub segment: usize,
    pub votes: i64,
}

/// The number of kinds of votes that [`count`] distinguishes.
pub const KINDS: usize = 4;

/// An index below `len`.
fn index(what: &str, value: i64, len: usize) -> Result<usize> {
    match usize::try_from(value) {
        Ok(index) if index < len => Ok(index),
        Ok(index) => Err(Error::OutOfRange { what: what.into(), index, len }),
        Err(_) => Err(Error::invalid(format!("each {what}"), "a number of at least 0", value)),
    }
}

impl Votes<'_> {
    /// Judgments whose indices are in range, and whose votes can be added.
    pub(super) fn checked(&self, (systems, segments): (usize, usize), run: &mut Run<'_>) -> Result<Vec<Judgment>> {
        let expected = self.segment.len();
        for (what, got) in [("better", self.better.len()), ("worse", self.worse.len()), ("votes", self.votes.len())] {
            check_length(format_args!("judgments of {what}"), expected, got)?;
        }
        run.serial(|stop| {
            let mut judgments = reserved(expected)?;
            let mut sum = 0_i64;
            for i in 0..expected {
                stop.charge(8)?;
                let segment = index("segment", self.segment[i], segments)?;
                let [better, worse] =
                    [index("system", self.better[i], systems)?, index("system", self.worse[i], systems)?];
                let votes = self.votes[i];
                sum = match sum.checked_add(votes) {
                    _ if votes < 0 => return Err(Error::invalid("votes", "at least 0", votes)),
                    Some(sum) if sum <= LARGEST_SUM => sum,
                    _ => return Err(Error::Overflow { column: 0 }),
                };
                if better == worse {
                    return Err(Error::invalid(
                        "worse",
                        "another system than better",
                        format!("system {worse} twice on segment {segment}, counted from 0"),
                    ));
                }
                let [better, worse] = [better, worse].map(|system| system * segments + segment);
                judgments.push(Judgment { better, worse, segment, votes });
            }
            Ok(judgments)
        })
    }
}

/// For each metric and segment: the votes with which the metric agrees, disagrees, between whose outputs it has a tie,
/// and of whose outputs it has no score. `scores` has the shape (metrics, systems, segments), the result (metrics,
/// segments, 4).
pub fn count(
    scores: &[f64],
    [metrics, systems, segments]: [usize; 3],
    votes: Votes<'_>,
    run: &mut Run<'_>,
) -> Result<Vec<i64>> {
    let expected = metrics.saturating_mul(systems).saturating_mul(segments);
    check_length("scores of metrics", expected, scores.len())?;
    let judgments = run.without_progress(|run| votes.checked((systems, segments), run))?;
    let mut out = zeros(&[metrics, segments, KINDS])?;
    let cells = systems * segments;
    if judgments.is_empty() {
        return Ok(out);
    }
    let work = |(): &mut (), metric: usize, stop: &Stop<'_>| {
        let scores = &scores[metric * cells..][..cells];
        let mut counts: Vec<i64> = zeros(&[segments, KINDS])?;
        for judgment in &judgments {
            stop.charge(4)?;
            let (better, worse) = (scores[judgment.better], scores[judgment.worse]);
            // Without a score (NaN) all comparisons are false.
            let kind =
                3 - 3 * usize::from(better > worse) - 2 * usize::from(better < worse) - usize::from(better == worse);
            counts[judgment.segment * KINDS + kind] += judgment.votes;
        }
        Ok(counts)
    };
    let counts = pool::each(metrics, 4 * judgments.len() as u64, run, || (), work)?;
    out.chunks_exact_mut(segments * KINDS).zip(counts).for_each(|(out, counts)| out.copy_from_slice(&counts));
    Ok(out)
}
