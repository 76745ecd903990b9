//! The beam search among matches that compete with each other.

use super::key::Key;
use super::{CLOSED, Chain, Start};
use crate::error::Result;
use crate::metric::meteor::matches::{Match, Matches};
use crate::metric::meteor::settings::Module;
use crate::pool::Stop;

/// The number of states that are kept at each word.
const BEAM: usize = 40;

/// The number of new states that are collected before all but the best are dropped.
const COLLECTED: usize = 1 << 12;

/// The number of links at which to look for unused ones for the first time. Tests do so all the time.
const FIRST_SWEEP: usize = if cfg!(test) { 64 } else { 1 << 16 };

const NO_LINK: u32 = u32::MAX;

/// What the search needs to know of a segment.
pub(super) struct Problem<'a> {
    pub(super) matches: &'a Matches,
    pub(super) starts: &'a [Start],
    /// The number of each word of the hypothesis.
    pub(super) bits: &'a [u32],
    /// How many have one.
    pub(super) words: usize,
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
    /// The words of the hypothesis that are taken: for each state `stride` numbers of 64 bits, a bit for each word.
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
pub(super) struct Search<K> {
    beam: Beam<K>,
    next: Beam<K>,
    moves: Vec<Move<K>>,
    /// The keys of the new states. The order in a key has the number of the old state in its upper bits, and in the lower
    /// ones the number of the move; where there is no move, the first number that no move has.
    keys: Vec<K>,
    links: Vec<Link>,
    /// The number of links at which to look for unused ones.
    sweep_at: usize,
}

impl<K: Key> Search<K> {
    /// Searches from the word `first` on, appends the best state's matches to `chosen`, and returns its chunks.
    pub(super) fn search(
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
        for (at, &start) in problem.starts.iter().enumerate().skip(first) {
            if start == Start::Free {
                self.find_moves(problem, at);
                stop.charge(self.moves.len())?;
                self.expand(at as u32, stop)?;
            } else {
                stop.charge(8 * BEAM)?;
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
    fn expand(&mut self, at: u32, stop: &Stop<'_>) -> Result<()> {
        let Search { beam, moves, keys, .. } = self;
        let chunk = K::of(1).shifted(K::CHUNKS);
        let shift = u64::BITS - (moves.len() as u64).leading_zeros();
        keys.clear();
        for (i, (&key, &State { open, end, .. })) in beam.keys.iter().zip(&beam.states).enumerate() {
            stop.charge(4 * moves.len())?;
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
            stop.charge(16 * self.sweep_at)?;
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
