//! The shifts and the matrix of sacreBLEU 2.6.0.
//!
//! sacreBLEU's cache of 10,000 rows does not affect the result. A row depends on the words before it and on the two
//! lengths, which shifts do not change, so a cached row equals the computed one.

use std::ops::Range;

use super::search::{Alignment, MAX_DISTANCE, MAX_SIZE, Shift, Shifts, Swap, Variant};
use crate::error::Result;
use crate::memory::room;
use crate::pool::Stop;
use crate::text::edit::{Edit, Reference};
use crate::text::ngram::Token;

/// The largest number of shifts that are examined for a hypothesis. The round that reaches it does not count.
const MAX_SHIFTS: usize = 1000;

/// Half the width of the band in columns.
const WIDTH: usize = 25;

#[derive(Default)]
pub(super) struct SacreBleu {
    examined: usize,
    band: Band,
}

impl Variant for SacreBleu {
    const STOPS: bool = false;

    fn begin(&mut self, _: &[Token]) {
        self.examined = 0;
    }

    /// A path through D\[i\]\[j\] costs at least |k| + |δ − k|, where k = j − i and δ is the difference in length: the
    /// surplus of missing over extra words before and after the cell. The band contains every cell with −26 < k −
    /// iδ/i_max < 24 (one less than its width for each of two roundings down). For |δ| ≤ 24, a path through a cell
    /// outside the band therefore costs at least 48 − |δ|. A longer hypothesis only makes the band wider. The traced
    /// path is the same, too, because a cheaper neighbour of a cell on a cheapest path is itself on a cheapest path.
    fn is_exact(&self, hypothesis: usize, reference: usize, distance: usize) -> bool {
        reference < WIDTH || distance + hypothesis.abs_diff(reference) < 2 * (WIDTH - 1)
    }

    fn distance(&mut self, hypothesis: &[Token], reference: &Reference, stop: &Stop<'_>) -> Result<usize> {
        self.band.fill(hypothesis, reference.words(), stop)
    }

    fn walk(&self, hypothesis: &[Token], reference: &Reference, visit: impl FnMut(Edit)) {
        self.band.walk(hypothesis, reference.words(), visit);
    }

    fn gather(
        &mut self,
        hypothesis: &[Token],
        reference: &Reference,
        alignment: &Alignment,
        shifts: &mut Shifts,
        stop: &Stop<'_>,
    ) -> Result<bool> {
        let words = reference.words();
        let Alignment { places, wrong, wrong_reference, .. } = alignment;
        for (i, &word) in hypothesis.iter().enumerate() {
            stop.charge(MAX_DISTANCE)?;
            let first_wrong = wrong[i] as usize - i;
            if first_wrong >= MAX_SIZE {
                continue;
            }
            for j in reference.columns(word, i.saturating_sub(MAX_DISTANCE), i + MAX_DISTANCE + 1) {
                // Both phrases have to contain a wrong word, so they have at least `shortest` words.
                let shortest = first_wrong.max(wrong_reference[j] as usize - j) + 1;
                // The target must not be within the phrase, so it has at most `longest` words.
                let longest = usize::try_from(places[j] - i as i32).unwrap_or(MAX_SIZE).min(MAX_SIZE);
                if shortest > longest {
                    continue;
                }
                let same = hypothesis[i..].iter().zip(&words[j..]).take(longest).take_while(|(a, b)| a == b).count();
                for length in shortest..=same {
                    let before = if j == 0 { -1 } else { places[j - 1] };
                    let mut previous = None;
                    for &place in std::iter::once(&before).chain(&places[j..j + length]) {
                        if previous != Some(place) {
                            previous = Some(place);
                            self.examined += 1;
                            shifts[length - 1].push(Shift { start: i as u32, target: (place + 1) as u32 });
                        }
                    }
                }
                if self.examined >= MAX_SHIFTS {
                    return Ok(false);
                }
            }
        }
        for shifts in shifts {
            if !shifts.is_sorted() {
                shifts.sort_unstable();
            }
        }
        Ok(true)
    }

    fn swap(words: usize, shift: Shift, length: usize) -> Swap {
        let (start, target) = (shift.start as usize, shift.target as usize);
        let end = start + length;
        if target < start {
            Swap { from: target, middle: start, to: end }
        } else if target > end {
            Swap { from: start, middle: end, to: target }
        } else {
            // A target within the phrase: the phrase moves forward by that many words, as far as possible.
            Swap { from: start, middle: end, to: (length + target).min(words) }
        }
    }
}

/// The distance within a band around the diagonal of the matrix.
#[derive(Default)]
struct Band {
    /// The cells of all rows, and for each row where its cells begin and which columns they cover.
    cells: Vec<u32>,
    rows: Vec<(usize, Range<usize>)>,
}

const OUTSIDE: u32 = u32::MAX / 2;

impl Band {
    fn at(&self, i: usize, j: usize) -> u32 {
        let (start, columns) = &self.rows[i];
        if columns.contains(&j) { self.cells[start + j - columns.start] } else { OUTSIDE }
    }

    fn fill(&mut self, hypothesis: &[Token], reference: &[Token], stop: &Stop<'_>) -> Result<usize> {
        let (rows, columns) = (hypothesis.len(), reference.len() + 1);
        self.cells.clear();
        self.rows.clear();
        self.cells.extend(0..columns as u32);
        self.rows.push((0, 0..columns));
        let slope = reference.len() as f64 / rows as f64;
        let mut width = WIDTH;
        if (WIDTH as f64) < slope / 2.0 {
            width = (slope / 2.0 + WIDTH as f64).ceil() as usize;
        }
        for (i, &word) in (1..).zip(hypothesis) {
            let middle = (i as f64 * slope).floor() as usize;
            let from = middle.saturating_sub(width);
            let to = if i == rows { columns } else { columns.min(middle + width) };
            stop.charge(to - from)?;
            // The band is wide if the reference is much longer, so there may not be enough memory.
            room(&mut self.cells, to - from)?;
            let (above, above_columns) = self.rows[i - 1].clone();
            let start = self.cells.len();
            // The cells of the row above from column `from` on; cells before and after it are outside the band.
            let mut diagonal = if from == 0 { OUTSIDE } else { self.at(i - 1, from - 1) };
            let mut left = OUTSIDE;
            for j in from..to {
                let up = if j < above_columns.end { self.cells[above + j - above_columns.start] } else { OUTSIDE };
                let across = if j == 0 { OUTSIDE } else { diagonal + u32::from(word != reference[j - 1]) };
                left = across.min(up + 1).min(left + 1);
                self.cells.push(left);
                diagonal = up;
            }
            self.rows.push((start, from..to));
        }
        Ok(self.at(rows, columns - 1) as usize)
    }

    fn walk(&self, hypothesis: &[Token], reference: &[Token], mut visit: impl FnMut(Edit)) {
        let (mut i, mut j) = (hypothesis.len(), reference.len());
        while i > 0 || j > 0 {
            let here = self.at(i, j);
            let same = i > 0 && j > 0 && hypothesis[i - 1] == reference[j - 1];
            let edit = if i > 0 && j > 0 && here == self.at(i - 1, j - 1) + u32::from(!same) {
                if same { Edit::Match } else { Edit::Substitution }
            } else if i > 0 && here == self.at(i - 1, j) + 1 {
                Edit::Extra
            } else {
                Edit::Missing
            };
            i -= usize::from(edit != Edit::Missing);
            j -= usize::from(edit != Edit::Extra);
            visit(edit);
        }
    }
}
