//! Longest common subsequences of numbered words, for 64 words of one side at a time.
//!
//! Column j of the table T holds the length of the longest common subsequence of the first j words of a text with every
//! prefix of the pattern. Neighbours in a column differ by 0 or 1, so a column is a bit vector, which each word of the
//! text turns into the next (Hyyrö 2004, Proc. AWOCA, after Crochemore et al. 2001, Inf. Process. Lett. 80).

use crate::error::Result;
use crate::memory::{resize, room};
use crate::pool::{Stop, sort};
use crate::text::ngram::Token;

/// Longest common subsequences; the buffers are reused.
#[derive(Default)]
pub(crate) struct Lcs {
    /// The words of the pattern with their positions, in order.
    positions: Vec<(Token, u32)>,
    blocks: usize,
    /// The positions of the current word as bits. All zeros between calls.
    mask: Vec<u64>,
    /// Bit i of the current column is 0 if the prefix of i + 1 words has a longer subsequence than that of i words.
    column: Vec<u64>,
    /// All columns, if they are kept.
    columns: Vec<u64>,
}

impl Lcs {
    /// Sets the pattern.
    pub(crate) fn set(&mut self, pattern: &[Token], stop: &Stop<'_>) -> Result<()> {
        self.positions.clear();
        room(&mut self.positions, pattern.len())?;
        self.positions.extend(pattern.iter().zip(0..).map(|(&word, at)| (word, at)));
        sort(&mut self.positions, Ord::cmp, stop)?;
        self.blocks = pattern.len().div_ceil(64);
        resize(&mut self.mask, self.blocks)
    }

    /// The length of the longest subsequence that a text has in common with the pattern.
    pub(crate) fn length(&mut self, text: &[Token], stop: &Stop<'_>) -> Result<usize> {
        self.begin()?;
        text.iter().try_for_each(|&word| self.advance(word, stop))?;
        Ok(self.column.iter().map(|bits| bits.count_zeros() as usize).sum())
    }

    /// Adds the positions in the pattern of one longest common subsequence to `union`, as bits: that which ROUGE finds
    /// from the ends of both texts. Where words differ it goes back in the pattern, unless that would be shorter.
    pub(crate) fn unite(
        &mut self,
        text: &[Token],
        pattern: &[Token],
        union: &mut [u64],
        stop: &Stop<'_>,
    ) -> Result<()> {
        self.begin()?;
        self.columns.clear();
        room(&mut self.columns, text.len().saturating_mul(self.blocks))?;
        for &word in text {
            self.advance(word, stop)?;
            self.columns.extend_from_slice(&self.column);
        }
        let (mut i, mut j) = (pattern.len(), text.len());
        while i > 0 && j > 0 {
            let (block, bit) = ((i - 1) / 64, 1 << ((i - 1) % 64));
            if pattern[i - 1] == text[j - 1] {
                union[block] |= bit;
                (i, j) = (i - 1, j - 1);
            } else if self.columns[(j - 1) * self.blocks + block] & bit == 0 {
                j -= 1;
            } else {
                i -= 1;
            }
        }
        Ok(())
    }

    /// Sets the column of an empty text.
    fn begin(&mut self) -> Result<()> {
        self.column.clear();
        room(&mut self.column, self.blocks)?;
        self.column.resize(self.blocks, !0);
        Ok(())
    }

    /// Computes the column after the next word of the text.
    fn advance(&mut self, word: Token, stop: &Stop<'_>) -> Result<()> {
        let first = self.positions.partition_point(|&(other, _)| other < word);
        let occurrences = || self.positions[first..].iter().take_while(|(other, _)| *other == word);
        stop.charge(8 + self.blocks)?;
        occurrences().for_each(|&(_, at)| self.mask[at as usize / 64] |= 1 << (at % 64));
        let mut carry = false;
        for (bits, &mask) in self.column.iter_mut().zip(&self.mask) {
            let (sum, first) = bits.overflowing_add(*bits & mask);
            let (sum, second) = sum.overflowing_add(carry.into());
            carry = first || second;
            *bits = sum | (*bits & !mask);
        }
        occurrences().for_each(|&(_, at)| self.mask[at as usize / 64] = 0);
        Ok(())
    }
}
