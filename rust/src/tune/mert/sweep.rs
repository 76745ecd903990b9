//! From the corners of all lists to the best part of a line.

use super::envelope::Corner;
use super::order::Sorter;
use super::{Buffers, Direction, Line, Lists, check_size};
use crate::error::{Error, Result, check_length};
use crate::memory::reserved;
use crate::pool::{self, Blocks, Run, Stop};

/// Parts of a line that are scored together, so that their counts stay in the cache.
const PARTS_TOGETHER: usize = 256;

/// Lines that are searched together, so that they share the scores at the point that they go through.
const SEARCHED: usize = 4;

/// Which parts of a line count, and where to go in them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// How far outside the last corner to go if the best part has no end.
    pub margin: f64,
    /// Parts that are not wider than this are left out.
    pub min_width: f64,
}

impl Rules {
    pub(super) fn check(&self) -> Result<()> {
        for (option, value) in [("margin", self.margin), ("min_width", self.min_width)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::invalid(option, "a number of at least 0", value));
            }
        }
        Ok(())
    }
}

/// The best part of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Where to go: the middle of the part, a margin away from its only end, or 0 if 0 lies between the ends. At an end
    /// two entries of a list are equally good, and the score may be that of neither part.
    pub position: f64,
    /// The score there.
    pub score: f64,
    /// The ends of the part.
    pub interval: (f64, f64),
    /// The number of different places where the best entry of a list changes.
    pub corners: usize,
    /// The score at 0, where the first of several best entries of a list wins.
    pub at_zero: f64,
}

/// Memory for sweeps.
#[derive(Default)]
pub(super) struct Sweep {
    sorter: Sorter,
    totals: Vec<i64>,
    scores: Vec<f64>,
    block: Vec<i64>,
}

/// A part of a line between two neighbouring corners.
#[derive(Debug, Clone, Copy)]
struct Part {
    from: f64,
    to: f64,
    score: f64,
}

impl Part {
    fn position(&self, margin: f64) -> f64 {
        match (self.from.is_finite(), self.to.is_finite()) {
            _ if self.contains_zero() => 0.0,
            (true, true) => self.from + (self.to - self.from) / 2.0,
            (true, false) => self.from + margin,
            _ => self.to - margin,
        }
    }

    fn contains_zero(&self) -> bool {
        self.from < 0.0 && 0.0 < self.to
    }
}

impl Sweep {
    /// The best part of a line, whose corners it sorts. Of equally good parts the one that contains 0 is the best,
    /// otherwise the first. None if no part is wide enough.
    pub fn best(
        &mut self,
        lists: &Lists<'_>,
        line: &mut Line,
        rules: &Rules,
        stop: &Stop<'_>,
    ) -> Result<Option<(Found, f64)>> {
        self.sorter.sort(&mut line.corners, stop)?;
        self.score(lists, line, stop)?;
        let mut best: Option<(Part, f64)> = None;
        let mut consider = |part: Part| {
            let gain = lists.counts.gain(part.score);
            let better = best.is_none_or(|(_, most)| gain > most || (gain == most && part.contains_zero()));
            // A width of NaN, between two places that are infinitely far away, is not larger.
            if better && part.to - part.from > rules.min_width {
                best = Some((part, gain));
            }
        };
        let (mut from, mut corners) = (f64::NEG_INFINITY, 0);
        for (place, &score) in places(&line.corners).zip(&self.scores) {
            consider(Part { from, to: place, score });
            (from, corners) = (place, corners + 1);
        }
        consider(Part { from, to: f64::INFINITY, score: self.scores[corners] });
        Ok(best.map(|(part, gain)| {
            let interval = (part.from, part.to);
            let position = part.position(rules.margin);
            (Found { position, score: part.score, interval, corners, at_zero: f64::NAN }, gain)
        }))
    }

    /// The scores left of the first place, and right of each.
    fn score(&mut self, lists: &Lists<'_>, line: &Line, stop: &Stop<'_>) -> Result<()> {
        let columns = lists.counts.width();
        let parts = 1 + places(&line.corners).count();
        self.totals.clear();
        self.totals.extend_from_slice(&line.leftmost);
        self.scores.clear();
        self.scores.resize(parts, 0.0);
        let mut corners = line.corners.as_slice();
        for (i, scores) in self.scores.chunks_mut(PARTS_TOGETHER).enumerate() {
            let n = scores.len();
            stop.charge(n * (columns + 16))?;
            self.block.clear();
            self.block.resize(n * columns, 0);
            for part in 0..n {
                // Left of the first place nothing has changed.
                if i + part > 0 {
                    let here = same_place(corners);
                    for corner in &corners[..here] {
                        let rows =
                            lists.counts.row(corner.to as usize).iter().zip(lists.counts.row(corner.from as usize));
                        self.totals.iter_mut().zip(rows).for_each(|(total, (to, from))| *total = *total - from + to);
                    }
                    corners = &corners[here..];
                }
                self.block[part..].iter_mut().step_by(n).zip(&self.totals).for_each(|(out, total)| *out = *total);
            }
            lists.counts.formula().scores(&self.block, scores);
        }
        Ok(())
    }
}

/// How many of the sorted corners are at the place of the first.
fn same_place(corners: &[Corner]) -> usize {
    let Some(first) = corners.first() else { return 0 };
    1 + corners[1..].iter().take_while(|corner| corner.x == first.x).count()
}

/// The different places of sorted corners.
fn places(corners: &[Corner]) -> impl Iterator<Item = f64> {
    corners.chunk_by(|a, b| a.x == b.x).map(|same| same[0].x)
}

/// The best part of each line through `weights`, one for each of the `directions`: rows of as many numbers.
pub fn line_search(
    lists: &Lists<'_>,
    weights: &[f64],
    directions: &[f64],
    rules: &Rules,
    run: &mut Run<'_>,
) -> Result<Vec<Found>> {
    rules.check()?;
    lists.check_weights("weights", weights)?;
    check_length("directions", directions.len().next_multiple_of(lists.width), directions.len())?;
    check_size("directions", directions)?;
    let n = directions.len() / lists.width;
    let mut found = reserved(n)?;
    let cost = (lists.features.len() as u64).saturating_mul(2);
    pool::try_run(
        Blocks { items: n, size: SEARCHED, cost, lead: 0 },
        run,
        Buffers::default,
        |buffers, range, stop| {
            let rows = directions[range.start * lists.width..range.end * lists.width].chunks_exact(lists.width);
            let directions: Vec<_> = rows.map(Direction::of).collect();
            let at_zero = lists.corners(weights, &directions, buffers, stop)?;
            let Buffers { lines, sweep, .. } = buffers;
            let mut best = |line: &mut Line| {
                let found = sweep.best(lists, line, rules, stop)?;
                let corners = line.corners.len();
                let nowhere = Found { position: 0.0, score: at_zero, interval: (0.0, 0.0), corners, at_zero };
                Ok(found.map_or(nowhere, |(found, _)| Found { at_zero, ..found }))
            };
            lines[..directions.len()].iter_mut().map(&mut best).collect::<Result<Vec<_>>>()
        },
        |_, block, _| {
            found.extend(block);
            Ok(())
        },
    )?;
    Ok(found)
}
