//! The search for the alignment: the best set of matches that do not overlap.
//!
//! Matches that compete with no other are part of every alignment. For the others, a beam search goes through the
//! reference from left to right. A state is what the search knows after some words: which words of the hypothesis are
//! taken, how many words match, how many chunks they form, and a distance. As in METEOR,
//! * half of a match that is not exact counts, rounded down after every match: a stem match of single words counts
//!   nothing, a paraphrase of two words counts one on each side;
//! * the distance of a match counts for the alternatives that follow it, which are later matches at the same word and
//!   none, but not for the state with the match;
//! * of states that compare equal the one that was made first is better.
//!
//! What states are compared by is packed into one integer ([`key`]), with the order in which they were made in its lowest
//! bits, so that any sort is stable. States share the matches that they have in common, as a tree of links ([`search`]).

mod key;
mod search;

use super::matches::{Match, Matches};
use crate::error::{Error, Result};
use crate::pool::Stop;
use key::Key;
use search::{Problem, Search};

/// No chunk is open.
const CLOSED: u32 = u32::MAX;

/// Chooses matches among all of a segment, and counts their chunks.
#[derive(Default)]
pub(super) struct Aligner {
    /// How many matches cover each word of the hypothesis, and of the reference. 0 for words of fixed matches.
    hypothesis: Vec<u32>,
    reference: Vec<u32>,
    /// What may begin at each word of the reference.
    starts: Vec<Start>,
    /// The number of each word of the hypothesis among those of matches that are not fixed.
    bits: Vec<u32>,
    chosen: Vec<Match>,
    narrow: Search<u64>,
    wide: Search<u128>,
}

/// What may begin at a word of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// No match.
    Nothing,
    /// A match that competes with no other.
    Fixed(Match),
    /// Matches among which the search decides.
    Free,
}

impl Aligner {
    /// The chosen matches in any order, and the number of chunks.
    pub(super) fn align(
        &mut self,
        matches: &Matches,
        lengths: [usize; 2],
        stop: &Stop<'_>,
    ) -> Result<(&[Match], usize)> {
        self.align_with(matches, lengths, <u64 as Key>::fits, stop)
    }

    /// [`Aligner::align`] for a text of so many words; `narrow` decides whether 64 bits suffice for keys.
    fn align_with(
        &mut self,
        matches: &Matches,
        lengths: [usize; 2],
        narrow: impl FnOnce(u64, u64, u64) -> bool,
        stop: &Stop<'_>,
    ) -> Result<(&[Match], usize)> {
        self.cover(matches, lengths);
        self.fix(matches);
        // Up to the first word with a choice there is one state.
        let first = self.starts.iter().position(|&start| start == Start::Free).unwrap_or(self.starts.len());
        let mut chain = Chain { open: CLOSED, end: 0, chunks: 0 };
        self.starts[..first].iter().zip(0..).for_each(|(start, at)| chain.pass(*start, at));
        if first == self.starts.len() {
            return Ok((&self.chosen, chain.chunks + usize::from(chain.open != CLOSED)));
        }
        let longest = lengths[0].max(lengths[1]) as u64;
        let words = self.number_words();
        let (distance, most) = self.bounds(matches, longest);
        let Aligner { starts, bits, chosen, .. } = self;
        let problem = Problem { matches, starts, bits, words };
        let chunks = if narrow(longest, distance, most) {
            self.narrow.search(&problem, first, chain, chosen, stop)?
        } else if <u128 as Key>::fits(longest, distance, most) {
            self.wide.search(&problem, first, chain, chosen, stop)?
        } else {
            return Err(Error::Memory { numbers: u128::from(longest) });
        };
        Ok((&self.chosen, chunks))
    }

    /// Counts how many matches cover each word.
    fn cover(&mut self, matches: &Matches, [hypothesis_length, reference_length]: [usize; 2]) {
        let Aligner { hypothesis, reference, .. } = self;
        hypothesis.clear();
        hypothesis.resize(hypothesis_length, 0);
        reference.clear();
        reference.extend((0..reference_length).map(|at| matches.singles(at).len() as u32));
        for (singles, times) in matches.distinct() {
            singles.iter().for_each(|single| hypothesis[single.hypothesis as usize] += times);
        }
        for phrase in matches.all_phrases() {
            of_hypothesis(hypothesis, phrase).iter_mut().for_each(|count| *count += 1);
            of_reference(reference, phrase).iter_mut().for_each(|count| *count += 1);
        }
    }

    /// Decides what may begin at each word, and chooses the matches that compete with no other.
    fn fix(&mut self, matches: &Matches) {
        let Aligner { hypothesis, reference, starts, chosen, .. } = self;
        starts.clear();
        chosen.clear();
        for at in 0..reference.len() {
            let only = match (matches.singles(at), matches.phrases(at)) {
                ([], []) => {
                    starts.push(Start::Nothing);
                    continue;
                }
                (&[single], []) => Some(Matches::single(at, single)),
                ([], &[phrase]) => Some(phrase),
                _ => None,
            };
            let mut alone = |only: &Match| {
                let sides = [&*of_hypothesis(hypothesis, only), &*of_reference(reference, only)];
                sides.into_iter().flatten().all(|&count| count == 1)
            };
            starts.push(match only.filter(|only| alone(only)) {
                Some(only) => {
                    of_hypothesis(hypothesis, &only).fill(0);
                    chosen.push(only);
                    Start::Fixed(only)
                }
                None => Start::Free,
            });
        }
    }

    /// Numbers the words of the hypothesis that are in matches that are not fixed, and returns how many there are.
    fn number_words(&mut self) -> usize {
        let mut words = 0_u32;
        self.bits.clear();
        self.bits.extend(self.hypothesis.iter().map(|&count| {
            words += u32::from(count > 0);
            words.wrapping_sub(1)
        }));
        words as usize
    }

    /// Upper bounds of the distance of a state, and of the number of matches that begin at a word.
    fn bounds(&self, matches: &Matches, longest: u64) -> (u64, u64) {
        let free = self.starts.iter().enumerate().filter(|(_, start)| **start == Start::Free);
        let numbers = free.map(|(at, _)| (matches.singles(at).len() + matches.phrases(at).len()) as u64);
        let (all, most) = numbers.fold((0, 0), |(all, most), number| (all + number, number.max(most)));
        (longest.saturating_mul(all), most)
    }
}

/// The part of a table of the words of the hypothesis that a match covers.
fn of_hypothesis<'a, T>(table: &'a mut [T], found: &Match) -> &'a mut [T] {
    let start = found.hypothesis as usize;
    &mut table[start..start + found.hypothesis_length as usize]
}

/// The part of a table of the words of the reference that a match covers.
fn of_reference<'a, T>(table: &'a mut [T], found: &Match) -> &'a mut [T] {
    let start = found.reference as usize;
    &mut table[start..start + found.reference_length as usize]
}

/// The chunks of an alignment, as far as it is decided.
#[derive(Clone, Copy)]
struct Chain {
    /// Where the open chunk ends in the hypothesis, or [`CLOSED`].
    open: u32,
    /// Where the last match ends in the reference.
    end: u32,
    chunks: usize,
}

impl Chain {
    /// Goes on to the next word of the reference, where there is no choice.
    fn pass(&mut self, start: Start, at: u32) {
        match start {
            Start::Fixed(found) => {
                self.chunks += usize::from(self.open != CLOSED && self.open != found.hypothesis);
                self.open = found.hypothesis + found.hypothesis_length;
                self.end = at + found.reference_length;
            }
            _ if at < self.end => {}
            _ => {
                self.chunks += usize::from(self.open != CLOSED);
                self.open = CLOSED;
            }
        }
    }
}

#[cfg(test)]
mod tests;
