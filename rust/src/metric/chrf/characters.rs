//! The character n-grams that a hypothesis has in common with each reference.
//!
//! The cost is that of the n-grams of the hypotheses, six per character. They are not built one by one. The characters
//! of a segment's references get small numbers, so that the six characters from a position on fit in one 64-bit
//! integer. These integers are sorted; n-grams of every order are then runs of neighbours with a common prefix, and one
//! walk over two sorted lists counts the overlaps of all orders. A character that is in no reference ends an integer
//! early, because no n-gram that contains it can match.

use super::{MAX_ORDER, fill};
use crate::error::Result;
use crate::pool::{self, PIECE, Stop};
use crate::text::ngram::Ngrams;

/// The character n-grams of a segment: sorted integers or, if they do not fit, tries.
#[derive(Default)]
pub(super) struct Characters {
    order: usize,
    /// The number of bits per character.
    bits: u32,
    /// The numbers of the characters in the references, from 1; 0 for all others. The table grows with the largest
    /// character, because allocating one for all characters takes longer than counting a sentence.
    numbers: Vec<u16>,
    known: Vec<char>,
    references: Vec<Vec<char>>,
    sorted_references: Vec<Vec<u64>>,
    hypothesis: Vec<char>,
    sorted_hypothesis: Vec<u64>,
    /// Do the references have too many distinct characters? Then tries are used, one per reference.
    overflow: bool,
    tries: Vec<Ngrams>,
}

impl Characters {
    pub(super) fn new(order: usize) -> Self {
        let bits = (u64::BITS / order.max(1) as u32).min(u16::BITS);
        Characters { order, bits, ..Characters::default() }
    }

    /// Empties the tables for the next segment.
    pub(super) fn clear(&mut self) {
        for c in self.known.drain(..) {
            self.numbers[c as usize] = 0;
        }
        self.references.clear();
        self.overflow = false;
    }

    pub(super) fn add_reference(&mut self, characters: impl Iterator<Item = char>, stop: &Stop<'_>) -> Result<()> {
        let reference: Vec<char> = characters.collect();
        // 0 means no character, so one number less is available.
        let room = (1 << self.bits) - 1;
        for (number, piece) in reference.chunks(PIECE).enumerate() {
            if number > 0 {
                stop.check()?;
            }
            for &c in piece {
                let position = c as usize;
                if position >= self.numbers.len() {
                    self.numbers.resize((position + 1).next_power_of_two().min(char::MAX as usize + 1), 0);
                }
                let number = &mut self.numbers[position];
                if *number == 0 && self.known.len() < room {
                    self.known.push(c);
                    *number = self.known.len() as u16;
                }
                self.overflow |= *number == 0;
            }
        }
        let index = self.references.len();
        if index == self.sorted_references.len() {
            self.sorted_references.push(Vec::new());
        }
        sort_windows(&reference, &self.numbers, (self.order, self.bits), &mut self.sorted_references[index], stop)?;
        self.references.push(reference);
        Ok(())
    }

    pub(super) fn set_hypothesis(&mut self, characters: impl Iterator<Item = char>, stop: &Stop<'_>) -> Result<()> {
        self.hypothesis.clear();
        self.hypothesis.extend(characters);
        if !self.overflow {
            let shape = (self.order, self.bits);
            sort_windows(&self.hypothesis, &self.numbers, shape, &mut self.sorted_hypothesis, stop)?;
        }
        Ok(())
    }

    /// Writes `[hyp, ref, match]` of every order for the hypothesis and one reference.
    pub(super) fn overlap(&mut self, reference: usize, row: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let mut matches = [0; MAX_ORDER];
        let matches = &mut matches[..self.order];
        if self.overflow {
            self.overlap_of_tries(reference, matches, stop)?;
        } else {
            let (hypothesis, reference) = (&self.sorted_hypothesis, &self.sorted_references[reference]);
            overlap_of_sorted(hypothesis, reference, self.bits, matches, stop)?;
        }
        fill(row, self.hypothesis.len(), self.references[reference].len(), matches);
        Ok(())
    }

    fn overlap_of_tries(&mut self, reference: usize, matches: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        self.tries.resize_with(self.references.len().max(self.tries.len()), Ngrams::default);
        let trie = &mut self.tries[reference];
        trie.clear();
        let mut buffer = [0; 4];
        trie.add(|emit| self.references[reference].iter().for_each(|c| emit(c.encode_utf8(&mut buffer))), stop)?;
        trie.count(self.order, stop)?;
        trie.overlap(|emit| self.hypothesis.iter().for_each(|c| emit(c.encode_utf8(&mut buffer))), matches, stop)?;
        Ok(())
    }
}

/// Packs the next `order` characters from every position into one integer, the first character in the highest bits,
/// truncated before the first character without a number; then sorts these windows.
fn sort_windows(
    text: &[char],
    numbers: &[u16],
    (order, bits): (usize, u32),
    out: &mut Vec<u64>,
    stop: &Stop<'_>,
) -> Result<()> {
    out.clear();
    if order == 0 {
        return Ok(());
    }
    let top = u64::BITS - bits;
    // The bits of `order` characters; bits shifted out below them have left the window.
    let window = u64::MAX << (u64::BITS - bits * order as u32);
    let mut word = 0;
    for (number, piece) in text.rchunks(PIECE).enumerate() {
        if number > 0 {
            stop.check()?;
        }
        for &c in piece.iter().rev() {
            let number = numbers.get(c as usize).copied().unwrap_or(0);
            word = if number == 0 { 0 } else { u64::from(number) << top | (word >> bits & window) };
            if word != 0 {
                out.push(word);
            }
        }
    }
    pool::sort(out, u64::cmp, stop)
}

/// Adds the clipped overlap of order n of two sorted lists of windows to `matches[n - 1]`.
fn overlap_of_sorted(
    hypothesis: &[u64],
    reference: &[u64],
    bits: u32,
    matches: &mut [i64],
    stop: &Stop<'_>,
) -> Result<()> {
    let mut piece_end = PIECE;
    // How often the current n-gram occurs on each side; index 0 is the empty n-gram.
    let mut seen = [[0_u32; 2]; MAX_ORDER + 1];
    let order = matches.len();
    let (mut h, mut r) = (0, 0);
    let mut open = 0; // the longest order with a count in `seen`
    let next = |h: usize, r: usize| match (hypothesis.get(h), reference.get(r)) {
        (Some(&x), Some(&y)) => Some(x.min(y)),
        (x, y) => x.or(y).copied(),
    };
    let mut word = next(h, r);
    while let Some(at) = word {
        let (begin_h, begin_r) = (h, r);
        if h + r >= piece_end {
            piece_end = h + r + PIECE;
            stop.check()?;
        }
        while hypothesis.get(h) == Some(&at) {
            h += 1;
        }
        while reference.get(r) == Some(&at) {
            r += 1;
        }
        // The number of characters in the window: character numbers are not 0, so trailing zeros are missing
        // characters.
        let length = order - ((at.trailing_zeros() - (u64::BITS - bits * order as u32)) / bits) as usize;
        seen[length][0] += (h - begin_h) as u32;
        seen[length][1] += (r - begin_r) as u32;
        open = length.max(open);
        word = next(h, r);
        // N-grams longer than the prefix shared with the next window are complete.
        let shared = word.map_or(0, |next| ((at ^ next).leading_zeros() / bits) as usize);
        while open > shared {
            let [hypothesis_count, reference_count] = std::mem::take(&mut seen[open]);
            matches[open - 1] += i64::from(hypothesis_count.min(reference_count));
            open -= 1;
            seen[open][0] += hypothesis_count;
            seen[open][1] += reference_count;
        }
    }
    Ok(())
}
