//! The shifts and the matrix of Tercom 7.25 (Snover et al. 2006).

use super::search::{Alignment, MAX_DISTANCE, MAX_SIZE, Shift, Shifts, Swap, Variant};
use crate::error::Result;
use crate::memory::room;
use crate::pool::Stop;
use crate::text::edit::{Edit, Reference, UNKNOWN_WORD};
use crate::text::ngram::Token;

/// Cells whose cost exceeds the best of their column by more than this are pruned.
const WIDTH: u32 = 20;

#[derive(Default)]
pub(super) struct Tercom {
    beam: Beam,
    targets: Vec<u32>,
    /// The number of words of the hypothesis that are not in the reference.
    unknown_words: usize,
}

impl Variant for Tercom {
    const STOPS: bool = true;

    fn begin(&mut self, hypothesis: &[Token]) {
        self.unknown_words = hypothesis.iter().filter(|&&word| word == UNKNOWN_WORD).count();
    }

    /// Every word that is not in the reference costs an edit. With u of them up to a column and U in total, the best
    /// cell of the column costs at least u, and a cell on a cheapest path costs at most `distance` − (U − u). Therefore
    /// it is at most `distance` − U worse, and is not pruned if this is at most 20.
    fn is_exact(&self, _: usize, _: usize, distance: usize) -> bool {
        distance <= WIDTH as usize + self.unknown_words
    }

    fn distance(&mut self, hypothesis: &[Token], reference: &Reference, stop: &Stop<'_>) -> Result<usize> {
        self.beam.fill(hypothesis, reference.words(), stop)
    }

    fn walk(&self, hypothesis: &[Token], reference: &Reference, visit: impl FnMut(Edit)) {
        self.beam.walk((hypothesis.len(), reference.len()), visit);
    }

    fn gather(
        &mut self,
        hypothesis: &[Token],
        reference: &Reference,
        alignment: &Alignment,
        shifts: &mut Shifts,
        stop: &Stop<'_>,
    ) -> Result<bool> {
        let Tercom { targets, .. } = self;
        let words = reference.words();
        let Alignment { places, wrong, wrong_reference, .. } = alignment;
        let farthest = MAX_DISTANCE as i32;
        for (start, &word) in hypothesis.iter().enumerate() {
            let here = start as i32;
            targets.clear();
            targets.extend(reference.columns(word, 0, words.len()).map(|j| j as u32));
            stop.charge(targets.len() + words.len() / 64)?;
            let can_move = |&j: &u32| {
                let place = places[j as usize];
                place != here && place - here <= farthest && here - place - 1 <= farthest
            };
            if !targets.iter().any(can_move) {
                continue;
            }
            for length in 1..=MAX_SIZE.min(hypothesis.len() - start) {
                let last = hypothesis[start + length - 1];
                targets.retain(|&j| words.get(j as usize + length - 1) == Some(&last));
                if targets.is_empty() {
                    break;
                }
                let end = start + length;
                if wrong[start] as usize >= end {
                    continue;
                }
                // If this phrase cannot be moved anywhere, longer phrases are not examined.
                let mut has_place = false;
                for &j in targets.iter() {
                    let (j, place) = (j as usize, places[j as usize]);
                    let inside = (here..end as i32).contains(&place);
                    if inside || place - here > farthest || here - place > farthest {
                        continue;
                    }
                    has_place = true;
                    if wrong_reference[j] as usize >= j + length {
                        continue;
                    }
                    let mut push = |after: i32| {
                        shifts[length - 1].push(Shift { start: start as u32, target: (after + 1) as u32 });
                    };
                    match j.checked_sub(1).map(|before| places[before]) {
                        None => push(-1),
                        Some(before) if before != here && before != place => push(before),
                        Some(_) => {}
                    }
                    push(place);
                    places[j + 1..j + length].iter().filter(|&&p| p != here && p != place).for_each(|&p| push(p));
                }
                if !has_place {
                    break;
                }
            }
        }
        Ok(true)
    }

    fn swap(words: usize, shift: Shift, length: usize) -> Swap {
        let (start, target) = (shift.start as usize, shift.target as usize);
        let end = start + length;
        if target <= start {
            Swap { from: target, middle: start, to: end }
        } else if target > end {
            Swap { from: start, middle: end, to: target }
        } else {
            // After a word of the phrase itself: the phrase moves forward by the number of words before that one.
            Swap { from: start, middle: end, to: (length + target - 1).min(words) }
        }
    }
}

/// The distance over the cells that are not much worse than the best of their column, with a column for each word of
/// the hypothesis.
#[derive(Default)]
struct Beam {
    column: Vec<u32>,
    next: Vec<u32>,
    edits: Vec<Edit>,
    next_edits: Vec<Edit>,
    /// How each cell was reached, column by column, and for each column where its cells begin and the row of the first.
    ways: Vec<Edit>,
    columns: Vec<(usize, usize)>,
}

const UNREACHED: u32 = u32::MAX;

impl Beam {
    fn fill(&mut self, hypothesis: &[Token], reference: &[Token], stop: &Stop<'_>) -> Result<usize> {
        let rows = reference.len();
        for (costs, edits) in [(&mut self.column, &mut self.edits), (&mut self.next, &mut self.next_edits)] {
            costs.clear();
            costs.resize(rows + 1, UNREACHED);
            edits.clear();
            edits.resize(rows + 1, Edit::Missing);
        }
        self.ways.clear();
        self.columns.clear();
        self.column[0] = 0;
        let (mut first, mut end, mut best) = (0, 1, UNREACHED);
        for j in 0..=hypothesis.len() {
            let word = hypothesis.get(j);
            let limit = if word.is_some() { best.saturating_add(WIDTH) } else { UNREACHED };
            best = UNREACHED;
            let (mut next_first, mut next_end) = (None, 0);
            let mut i = first;
            while i < end.min(rows + 1) {
                let cost = self.column[i];
                if cost > limit || cost == UNREACHED {
                    i += 1;
                    continue;
                }
                next_first.get_or_insert(i);
                next_end = i + 2;
                if let Some(&word) = word {
                    if let Some(&other) = reference.get(i) {
                        let across = cost + u32::from(word != other);
                        if across < self.next[i + 1] {
                            self.next[i + 1] = across;
                            self.next_edits[i + 1] = if word == other { Edit::Match } else { Edit::Substitution };
                            best = best.min(across);
                        }
                    }
                    if cost + 1 < self.next[i] {
                        (self.next[i], self.next_edits[i]) = (cost + 1, Edit::Extra);
                    }
                }
                if i < rows && cost + 1 < self.column[i + 1] {
                    (self.column[i + 1], self.edits[i + 1]) = (cost + 1, Edit::Missing);
                    end = end.max(i + 2);
                }
                i += 1;
            }
            let end_here = end.min(rows + 1);
            self.columns.push((self.ways.len(), first));
            // Where no word matches, all cells are equally good, and none is pruned.
            room(&mut self.ways, end_here - first)?;
            self.ways.extend_from_slice(&self.edits[first..end_here]);
            stop.charge(end_here - first)?;
            if word.is_some() {
                self.column[first..end_here].fill(UNREACHED);
                std::mem::swap(&mut self.column, &mut self.next);
                std::mem::swap(&mut self.edits, &mut self.next_edits);
                #[allow(clippy::expect_used, reason = "the best cell of a column is not left out")]
                let next_first = next_first.expect("a cell is left");
                (first, end) = (next_first, next_end);
            }
        }
        Ok(self.column[rows] as usize)
    }

    fn walk(&self, (mut j, mut i): (usize, usize), mut visit: impl FnMut(Edit)) {
        while i > 0 || j > 0 {
            let (start, first) = self.columns[j];
            let edit = self.ways[start + i - first];
            i -= usize::from(edit != Edit::Extra);
            j -= usize::from(edit != Edit::Missing);
            visit(edit);
        }
    }
}
