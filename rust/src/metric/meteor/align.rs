//! The search for the alignment: the best set of matches that do not overlap.
//!
//! Matches that compete with no other are part of every alignment. For the others, a beam search goes through the
//! reference from left to right. A state is what the search knows after some words: which words of the hypothesis are
//! taken, how many words match, how many chunks they form, and a distance. As METEOR has it,
//! * half of a match that is not exact counts, rounded down after every match: a stem match of single words counts
//!   nothing, a paraphrase of two words counts one on each side;
//! * the distance of a match counts for the alternatives that follow it, which are later matches at the same word and
//!   none, but not for the state with the match;
//! * of states that compare equal the one that was made first is better.
//!
//! What states are compared by is packed into one integer, with the order in which they were made in its lowest bits, so
//! that any sort is stable. States share the matches that they have in common, as a tree of links.

use std::ops::{Add, Sub};

use super::matches::{Match, Matches};
use super::settings::Module;
use crate::error::{Error, Result};
use crate::pool::{Stop, WorkMeter};

/// The number of states that are kept at each word.
const BEAM: usize = 40;

/// The number of new states that are collected before all but the best are dropped.
const COLLECTED: usize = 1 << 12;

/// Bits of a key for the number of the state that a new state was made from.
const STATES: u32 = 6;

/// No chunk is open.
const CLOSED: u32 = u32::MAX;

/// The number of links at which to look for unused ones for the first time. Tests do so all the time.
const FIRST_SWEEP: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// No link.
const NO_LINK: u32 = u32::MAX;

/// What states are compared by, smaller is better: matched words (more are better), chunks, distance, and the order in
/// which they were made, which is 0 between comparisons.
trait Key: Copy + Ord + Add<Output = Self> + Sub<Output = Self> {
    /// The first bit of the distance, after those of the order.
    const DISTANCE: u32;
    /// The first bit of the chunks.
    const CHUNKS: u32;
    /// The first bit of the matched words.
    const MATCHED: u32;
    /// Bits in all.
    const BITS: u32;

    fn of(number: u64) -> Self;
    fn shifted(self, by: u32) -> Self;
    fn order(self) -> usize;
    fn chunks(self) -> usize;
    fn without_order(self) -> Self;

    /// Has a key room for texts of this length, distances of this size, and so many matches at a word?
    fn fits(longest: u64, distance: u64, matches: u64) -> bool {
        let below = |value: u64, bits: u32| value.checked_shr(bits).unwrap_or(0) == 0;
        below(2 * longest, (Self::BITS - Self::MATCHED).min(Self::MATCHED - Self::CHUNKS))
            && below(distance, Self::CHUNKS - Self::DISTANCE)
            && below(matches, Self::DISTANCE - STATES)
    }
}

macro_rules! key {
    ($int:ty, $distance:literal, $chunks:literal, $matched:literal) => {
        impl Key for $int {
            const DISTANCE: u32 = $distance;
            const CHUNKS: u32 = $chunks;
            const MATCHED: u32 = $matched;
            const BITS: u32 = <$int>::BITS;

            fn of(number: u64) -> Self {
                number as $int
            }

            fn shifted(self, by: u32) -> Self {
                self << by
            }

            fn order(self) -> usize {
                self as usize & ((1 << $distance) - 1)
            }

            fn chunks(self) -> usize {
                (self >> $chunks) as usize & ((1 << ($matched - $chunks)) - 1)
            }

            fn without_order(self) -> Self {
                self >> $distance << $distance
            }
        }
    };
}

// Sentences of up to two thousand words, and texts of up to a million.
key!(u64, 14, 40, 52);
key!(u128, 27, 84, 106);

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
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Memory`].
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

/// What the search needs to know of a segment.
struct Problem<'a> {
    matches: &'a Matches,
    starts: &'a [Start],
    /// The number of each word of the hypothesis.
    bits: &'a [u32],
    /// How many have one.
    words: usize,
}

/// A match that may begin at the current word.
#[derive(Clone, Copy)]
struct Move<K> {
    found: Match,
    /// The first number of its words in the hypothesis.
    bit: u32,
    /// What it adds to the matched words of a key.
    matched: K,
    /// What it adds to the distance of a key.
    distance: K,
}

/// A state apart from its key and its taken words.
#[derive(Debug, Clone, Copy)]
struct State {
    /// Where the open chunk ends in the hypothesis, or [`CLOSED`].
    open: u32,
    /// Where the last match ends in the reference.
    end: u32,
    /// The last match of those that the search chose, or [`NO_LINK`].
    link: u32,
}

/// A match, and the one before it.
#[derive(Debug, Clone, Copy)]
struct Link {
    before: u32,
    found: Match,
}

/// The states at a word, the best first.
#[derive(Default)]
struct Beam<K> {
    keys: Vec<K>,
    states: Vec<State>,
    /// The words of the hypothesis that are taken, 64 in a number; so many numbers for each state.
    taken: Vec<u64>,
    stride: usize,
}

impl<K> Beam<K> {
    fn clear(&mut self, stride: usize) {
        self.keys.clear();
        self.states.clear();
        self.taken.clear();
        self.stride = stride;
    }

    fn taken(&self, state: usize) -> &[u64] {
        &self.taken[state * self.stride..][..self.stride]
    }
}

/// A beam search, with buffers that are used again.
#[derive(Default)]
struct Search<K> {
    beam: Beam<K>,
    next: Beam<K>,
    moves: Vec<Move<K>>,
    /// The keys of the new states. Their orders have the number of the old state in the upper bits, and in the lower ones
    /// the number of the move, or the first unused number for none.
    keys: Vec<K>,
    links: Vec<Link>,
    /// The number of links at which to look for unused ones.
    sweep_at: usize,
}

impl<K: Key> Search<K> {
    /// Searches from the word `first` on, appends the best state's matches to `chosen`, and returns its chunks.
    fn search(
        &mut self,
        problem: &Problem<'_>,
        first: usize,
        chain: Chain,
        chosen: &mut Vec<Match>,
        stop: &Stop<'_>,
    ) -> Result<usize> {
        let stride = problem.words.div_ceil(64);
        self.links.clear();
        self.sweep_at = FIRST_SWEEP;
        self.beam.clear(stride);
        let most = K::of((1 << (K::BITS - K::MATCHED)) - 1).shifted(K::MATCHED);
        self.beam.keys.push(most + K::of(chain.chunks as u64).shifted(K::CHUNKS));
        self.beam.states.push(State { open: chain.open, end: chain.end, link: NO_LINK });
        self.beam.taken.resize(stride, 0);
        let mut meter = WorkMeter::default();
        for (at, &start) in problem.starts.iter().enumerate().skip(first) {
            if start == Start::Free {
                self.find_moves(problem, at);
                meter.charge(self.moves.len(), stop)?;
                self.expand(at as u32, &mut meter, stop)?;
            } else {
                meter.charge(8 * BEAM, stop)?;
                self.pass(start, at as u32);
            }
        }
        // The states have been compared with their last chunks open. These close, and the states are compared again.
        self.pass(Start::Nothing, problem.starts.len() as u32);
        let mut link = self.beam.states[0].link;
        while link != NO_LINK {
            let Link { before, found } = self.links[link as usize];
            chosen.push(found);
            link = before;
        }
        Ok(self.beam.keys[0].chunks())
    }

    /// Collects the matches that begin at a word.
    fn find_moves(&mut self, problem: &Problem<'_>, at: usize) {
        let singles = problem.matches.singles(at).iter().map(|&single| Matches::single(at, single));
        self.moves.clear();
        self.moves.extend(singles.chain(problem.matches.phrases(at).iter().copied()).map(|found| {
            let counted = |length| if found.module == Module::Exact { length } else { length / 2 };
            let matched = u64::from(counted(found.hypothesis_length) + counted(found.reference_length));
            Move {
                found,
                bit: problem.bits[found.hypothesis as usize],
                matched: K::of(matched).shifted(K::MATCHED),
                distance: K::of(u64::from(found.reference.abs_diff(found.hypothesis))).shifted(K::DISTANCE),
            }
        }));
    }

    /// Goes on to the next word where there is no choice.
    fn pass(&mut self, start: Start, at: u32) {
        let Search { beam, keys, moves, .. } = self;
        for (key, state) in beam.keys.iter_mut().zip(&mut beam.states) {
            let mut chain = Chain { open: state.open, end: state.end, chunks: 0 };
            chain.pass(start, at);
            *key = *key + K::of(chain.chunks as u64).shifted(K::CHUNKS);
            (state.open, state.end) = (chain.open, chain.end);
        }
        if beam.keys.is_sorted() {
            return;
        }
        moves.clear();
        keys.clear();
        keys.extend(beam.keys.iter().zip(0..).map(|(&key, state)| key + K::of(state)));
        keys.sort_unstable();
        self.advance(at, 0);
    }

    /// Makes all states that follow at a word where matches begin, and keeps the best.
    fn expand(&mut self, at: u32, meter: &mut WorkMeter, stop: &Stop<'_>) -> Result<()> {
        let Search { beam, moves, keys, .. } = self;
        let chunk = K::of(1).shifted(K::CHUNKS);
        let shift = u64::BITS - (moves.len() as u64).leading_zeros();
        keys.clear();
        for (i, (&key, &State { open, end, .. })) in beam.keys.iter().zip(&beam.states).enumerate() {
            meter.charge(4 * moves.len(), stop)?;
            let (mut key, mut order) = (key, (i as u64) << shift);
            if end <= at {
                let taken = &beam.taken[i * beam.stride..][..beam.stride];
                for some in moves.chunks(COLLECTED / 2) {
                    if keys.len() + some.len() > COLLECTED {
                        keep_best(keys);
                    }
                    for (by, &Move { found, bit, matched, distance }) in some.iter().enumerate() {
                        if is_free(taken, bit, found.hypothesis_length) {
                            let joined = open == CLOSED || open == found.hypothesis;
                            let moved = if joined { key - matched } else { key - matched + chunk };
                            keys.push(moved + K::of(order + by as u64));
                            key = key + distance;
                        }
                    }
                    order += some.len() as u64;
                }
                key = if open == CLOSED { key } else { key + chunk };
            } else {
                order += moves.len() as u64;
            }
            keys.push(key + K::of(order));
        }
        keep_best(keys);
        keys.sort_unstable();
        if self.links.len() >= self.sweep_at {
            self.sweep();
            meter.charge(16 * self.sweep_at, stop)?;
        }
        self.advance(at, shift);
        Ok(())
    }

    /// Drops links that no state leads to.
    fn sweep(&mut self) {
        let Search { beam, links, .. } = self;
        let mut kept = vec![false; links.len()];
        for state in &beam.states {
            let mut link = state.link;
            while link != NO_LINK && !kept[link as usize] {
                kept[link as usize] = true;
                link = links[link as usize].before;
            }
        }
        let mut moved = vec![NO_LINK; links.len()];
        let mut to = 0;
        for from in (0..links.len()).filter(|&from| kept[from]) {
            let Link { before, found } = links[from];
            links[to] = Link { before: if before == NO_LINK { before } else { moved[before as usize] }, found };
            moved[from] = to as u32;
            to += 1;
        }
        links.truncate(to);
        let open = beam.states.iter_mut().filter(|state| state.link != NO_LINK);
        open.for_each(|state| state.link = moved[state.link as usize]);
        self.sweep_at = 2 * to + FIRST_SWEEP;
    }

    /// Replaces the states by the new ones. The number of a move has `shift` bits.
    fn advance(&mut self, at: u32, shift: u32) {
        let Search { beam, next, moves, keys, links, .. } = self;
        next.clear(beam.stride);
        for key in keys {
            let (from, by) = (key.order() >> shift, key.order() & ((1 << shift) - 1));
            let mut state = beam.states[from];
            next.keys.push(key.without_order());
            match *beam.taken(from) {
                [taken] => next.taken.push(taken),
                ref taken => next.taken.extend_from_slice(taken),
            }
            if let Some(&Move { found, bit, .. }) = moves.get(by) {
                let start = next.taken.len() - next.stride;
                take(&mut next.taken[start..], bit, found.hypothesis_length);
                let link = links.len() as u32;
                links.push(Link { before: state.link, found });
                let open = found.hypothesis + found.hypothesis_length;
                state = State { open, end: at + found.reference_length, link };
            } else if state.end <= at {
                state.open = CLOSED;
            }
            next.states.push(state);
        }
        std::mem::swap(beam, next);
    }
}

/// Drops all new states but the best, in any order.
fn keep_best<K: Key>(keys: &mut Vec<K>) {
    if keys.len() > BEAM {
        keys.select_nth_unstable(BEAM - 1);
        keys.truncate(BEAM);
    }
}

/// The parts of a range of bits: the index of a number, and its bits.
fn each_part(bit: u32, length: u32) -> impl Iterator<Item = (usize, u64)> {
    let (mut from, end) = (bit, bit + length);
    std::iter::from_fn(move || {
        let (word, first) = (from / 64, from % 64);
        let here = (end - from).min(64 - first);
        (here > 0).then(|| {
            from += here;
            (word as usize, (u64::MAX >> (64 - here)) << first)
        })
    })
}

/// Are all of these bits 0?
#[inline(always)]
fn is_free(taken: &[u64], bit: u32, length: u32) -> bool {
    if length == 1 {
        return taken[bit as usize / 64] >> (bit % 64) & 1 == 0;
    }
    each_part(bit, length).all(|(word, mask)| taken[word] & mask == 0)
}

/// Sets these bits.
#[inline(always)]
fn take(taken: &mut [u64], bit: u32, length: u32) {
    each_part(bit, length).for_each(|(word, mask)| taken[word] |= mask);
}

#[cfg(test)]
mod tests;
