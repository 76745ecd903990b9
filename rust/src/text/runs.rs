//! The greedy matching of common runs of words between a text and the references of its segment (Melamed, Green & Turian
//! 2003, N03-2021): the longest run first, of equally long ones the last in the text, then the last in the references.
//!
//! By definition all runs of all lengths are sorted. Their number grows with the third power of the length of a text
//! that repeats a word, so they are never listed. A run is a diagonal of hits, and a pass over the hits, from the last to
//! the first, computes the length of the run from each hit onwards out of that from the next hit on its diagonal. If no
//! free run is longer than L, the pass may match every run of length L whose words are all free at that moment: the
//! sorted list would give them in this order. Matched runs have at least L words, so a window of L words is free if its
//! two ends are. The pass also bounds the length of the runs that are left, which is the L of the next one. Memory is
//! proportional to the number of words. Usually the lengths are few, and so are the passes. Single words need none: how
//! many match follows from the numbers of words.

use crate::error::{Error, Result};
use crate::pool::Stop;
use crate::text::edit::resize_in_pieces;
use crate::text::ngram::{Token, UNSEEN};

/// The positions of each word in the references of a segment, and the words that are still free.
#[derive(Default)]
pub(crate) struct Runs {
    /// The words of all references, with [`UNSEEN`] between two references, which no run can cross.
    joined: Vec<Token>,
    /// The positions of each word in `joined`, the last one first; those of word w end at `ends[w]`.
    positions: Vec<u32>,
    ends: Vec<u32>,
    /// For each position, whether it is matched; for each word, how many of its positions are not.
    matched: Vec<bool>,
    free: Vec<u32>,
    /// For each diagonal, the last row with a hit and the length of the run from there.
    diagonals: Vec<u64>,
}

/// What may still be matched: `cells` words, of which the last counts only `last`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    cells: usize,
    last: f64,
}

impl Room {
    /// Room for a text of `length` words and `references` references with `words` words in total: the smaller of
    /// `length` and the mean length of the references.
    pub(crate) fn new(length: usize, words: usize, references: usize) -> Self {
        let (mean, rest) = (words / references, words % references);
        if length <= mean || rest == 0 {
            return Room { cells: length.min(mean), last: 1.0 };
        }
        Room { cells: mean + 1, last: rest as f64 / references as f64 }
    }

    /// Takes room for a run of `cells` words, and returns its length, which is not whole if the run takes the last room.
    fn take(&mut self, cells: usize) -> f64 {
        self.cells -= cells;
        if self.cells == 0 { (cells - 1) as f64 + self.last } else { cells as f64 }
    }
}

/// The error for texts whose positions do not fit in 32 bits.
fn too_long(words: usize) -> Error {
    Error::Memory { numbers: words as u128 }
}

impl Runs {
    /// Removes all references.
    pub(crate) fn clear(&mut self) {
        self.joined.clear();
    }

    /// Begins a reference.
    pub(crate) fn begin_reference(&mut self) {
        self.joined.push(UNSEEN);
    }

    /// Adds a word to the last reference.
    pub(crate) fn push(&mut self, word: Token) {
        self.joined.push(word);
    }

    /// Ends the references, whose words have numbers below `distinct`.
    pub(crate) fn index(&mut self, distinct: usize, stop: &Stop<'_>) -> Result<()> {
        let Runs { joined, positions, ends, .. } = self;
        let known = |word: &Token| *word != UNSEEN;
        u32::try_from(joined.len()).map_err(|_| too_long(joined.len()))?;
        ends.clear();
        resize_in_pieces(ends, distinct, 0, stop)?;
        resize_in_pieces(positions, joined.len(), 0, stop)?;
        for &word in joined.iter().filter(|word| known(word)) {
            stop.charge(2)?;
            ends[word as usize] += 1;
        }
        let mut end = 0;
        for count in ends.iter_mut() {
            let start = end;
            end += *count;
            *count = start;
        }
        // Every start moves to the end of its positions.
        for (position, &word) in joined.iter().enumerate().rev().filter(|(_, word)| known(word)) {
            stop.charge(4)?;
            positions[ends[word as usize] as usize] = position as u32;
            ends[word as usize] += 1;
        }
        Ok(())
    }

    /// Matches a text, whose words that the references lack are [`UNSEEN`], and calls `take` with numbers and lengths of
    /// matched runs. Matched words may become [`UNSEEN`].
    ///
    /// With `only_words`, every run is one word: enough if only the number of matched words matters.
    pub(crate) fn matching(
        &mut self,
        text: &mut [Token],
        mut room: Room,
        only_words: bool,
        stop: &Stop<'_>,
        mut take: impl FnMut(usize, f64),
    ) -> Result<()> {
        u32::try_from(text.len() + self.joined.len()).map_err(|_| too_long(text.len()))?;
        self.free.clear();
        let mut start = 0;
        self.free.extend(self.ends.iter().map(|&end| end - std::mem::replace(&mut start, end)));
        if !only_words {
            self.matched.clear();
            resize_in_pieces(&mut self.matched, self.joined.len(), false, stop)?;
            let mut longest = room.cells;
            while longest > 1 {
                longest = self.pass(text, longest, &mut room, stop, |length| take(1, length))?.min(room.cells);
            }
        }
        self.match_words(text, room, stop, take)
    }

    /// Matches runs of `longest` words, of which the longest free run has no more (or all the room), and returns an upper
    /// bound of the length of the free runs that are left.
    fn pass(
        &mut self,
        text: &mut [Token],
        longest: usize,
        room: &mut Room,
        stop: &Stop<'_>,
        mut take: impl FnMut(f64),
    ) -> Result<usize> {
        let Runs { positions, ends, matched, free, diagonals, .. } = self;
        diagonals.clear();
        resize_in_pieces(diagonals, text.len() + matched.len(), 0, stop)?;
        let (mut target, mut next) = (longest, 0);
        for i in (0..text.len()).rev() {
            let word = text[i];
            if word == UNSEEN || free[word as usize] == 0 {
                continue;
            }
            let word = word as usize;
            let columns = &positions[if word == 0 { 0 } else { ends[word - 1] as usize }..ends[word] as usize];
            stop.charge(4 + 4 * columns.len())?;
            let row = (i as u64 + 1) << 32;
            for j in columns.iter().map(|&j| j as usize) {
                if matched[j] {
                    continue;
                }
                // The hit (i + 1, j + 1) is on the same diagonal.
                let diagonal = &mut diagonals[j + text.len() - 1 - i];
                let run = if *diagonal >> 32 == (i as u64 + 2) { (*diagonal & LENGTH) + 1 } else { 1 };
                *diagonal = row | run;
                if (run as usize) < target {
                    next = next.max(run as usize);
                } else if text[i + target - 1] == UNSEEN || matched[j + target - 1] {
                    next = next.max(target - 1);
                } else {
                    text[i..i + target].iter_mut().for_each(|word| {
                        free[*word as usize] -= 1;
                        *word = UNSEEN;
                    });
                    matched[j..j + target].fill(true);
                    take(room.take(target));
                    target = target.min(room.cells);
                    break;
                }
            }
            if target == 0 {
                return Ok(0);
            }
        }
        Ok(next)
    }

    /// Matches single words.
    fn match_words(
        &mut self,
        text: &[Token],
        mut room: Room,
        stop: &Stop<'_>,
        mut take: impl FnMut(usize, f64),
    ) -> Result<()> {
        let mut words = 0;
        for &word in text.iter().filter(|&&word| word != UNSEEN) {
            stop.charge(2)?;
            let free = &mut self.free[word as usize];
            if *free > 0 {
                *free -= 1;
                words += 1;
            }
        }
        let words = words.min(room.cells);
        if words > 0 {
            let whole = words - 1;
            room.cells -= whole;
            take(whole, 1.0);
            take(1, room.take(1));
        }
        Ok(())
    }
}

/// The bits of a diagonal that hold the length of a run.
const LENGTH: u64 = u32::MAX as u64;
