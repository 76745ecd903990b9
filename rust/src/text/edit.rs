//! Edit distance between short sequences of numbered words, computed for 64 cells of the matrix at a time.
//!
//! Row i of the matrix D holds the distances from the first i words of the hypothesis to every prefix of the reference.
//! Neighbours in a row differ by −1, 0 or 1, so a row is two bit vectors, and each word of the hypothesis turns a row
//! into the next with about a dozen operations per 64 columns (Myers 1999, doi:10.1145/316542.316550, in the form of
//! Hyyrö 2003, Nordic J. Comput. 10). A row depends only on the words so far, so hypotheses with a common prefix share
//! rows.

use crate::error::Result;
use crate::memory::room;
use crate::pool::{PIECE, Stop};
use crate::text::ngram::Token;

/// The number of every word that is not in the reference. Words of the reference are numbered from 1.
pub(crate) const UNKNOWN_WORD: Token = 0;

/// The differences between neighbours in a row, for 64 columns: bit j − 1 stands for D\[i\]\[j\] − D\[i\]\[j − 1\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    /// The difference is 1.
    up: u64,
    /// The difference is −1.
    down: u64,
}

/// Row 0: D\[0\]\[j\] = j.
const FIRST: Row = Row { up: !0, down: 0 };

/// The relation of row i to the row above, for 64 columns. Enough to trace an alignment back through the matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// D\[i\]\[j\] = D\[i − 1\]\[j − 1\].
    level: u64,
    /// D\[i\]\[j\] = D\[i − 1\]\[j\] + 1.
    rise: u64,
}

/// Computes the next row in 64 columns. `rise` and `fall` are whether the distance in the column to their left is one
/// more, or one less, than in the row above; on return they are the same for the last column.
#[inline(always)]
fn advance(same: u64, row: &mut Row, rise: &mut u64, fall: &mut u64) -> Step {
    let Row { up, down } = *row;
    let reach = same | *fall;
    let level = (((reach & up).wrapping_add(up)) ^ up) | reach | down;
    let rises = down | !(level | up);
    let falls = level & up;
    let (rising, falling) = ((rises << 1) | *rise, (falls << 1) | *fall);
    (*rise, *fall) = (rises >> 63, falls >> 63);
    *row = Row { up: falling | !(level | rising), down: level & rising };
    Step { level, rise: rises }
}

/// Levenshtein distance, computed for 64 columns at a time. The next 64 columns depend only on how the last one changes
/// from row to row, so memory is proportional to the number of words.
#[derive(Default)]
pub(crate) struct Levenshtein {
    /// For each word, its positions among the current 64 columns as bits. All zeros between calls.
    masks: Vec<u64>,
    /// For each row, whether its distance is one more, or one less, than in the row above: in the column before the
    /// current ones, and afterwards in the last of them.
    borders: Vec<(u64, u64)>,
}

impl Levenshtein {
    /// The distance from a hypothesis to a reference whose words have numbers up to `distinct`.
    pub(crate) fn distance(
        &mut self,
        hypothesis: &[Token],
        reference: &[Token],
        distinct: usize,
        stop: &Stop<'_>,
    ) -> Result<usize> {
        self.sweep(hypothesis, reference, distinct, stop, |_| ())
    }

    /// [`Levenshtein::distance`], which passes every row to `keep`: all rows of the first 64 columns, then of the next 64.
    #[inline(always)]
    fn sweep(
        &mut self,
        hypothesis: &[Token],
        reference: &[Token],
        distinct: usize,
        stop: &Stop<'_>,
        mut keep: impl FnMut(Row),
    ) -> Result<usize> {
        let Levenshtein { masks, borders } = self;
        masks.resize(masks.len().max(distinct + 1), 0);
        borders.clear();
        borders.resize(hypothesis.len(), (1, 0));
        let mut distance = hypothesis.len();
        for columns in reference.chunks(64) {
            stop.charge(hypothesis.len())?;
            columns.iter().enumerate().for_each(|(j, &word)| masks[word as usize] |= 1 << j);
            let mut row = FIRST;
            for (&word, (rise, fall)) in hypothesis.iter().zip(borders.iter_mut()) {
                advance(masks[word as usize], &mut row, rise, fall);
                keep(row);
            }
            columns.iter().for_each(|&word| masks[word as usize] = 0);
            let within = !0 >> (64 - columns.len());
            distance += (row.up & within).count_ones() as usize;
            distance -= (row.down & within).count_ones() as usize;
        }
        Ok(distance)
    }
}

/// How many edits of each kind turn a reference into a hypothesis, and how many words stay.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Kinds {
    pub(crate) substitutions: usize,
    pub(crate) deletions: usize,
    pub(crate) insertions: usize,
    pub(crate) hits: usize,
}

impl Kinds {
    pub(crate) fn edits(&self) -> usize {
        self.substitutions + self.deletions + self.insertions
    }
}

/// Counts the edits of each kind. Of all cheapest alignments it takes the one of rapidfuzz: the words that both
/// sequences begin and end with are aligned first; then, from the end of the rest, a deletion is preferred to all others,
/// and an insertion to a match, but not to a substitution.
#[derive(Default)]
pub(crate) struct KindsOfEdits {
    levenshtein: Levenshtein,
    rows: Vec<Row>,
}

impl KindsOfEdits {
    /// The edits from a reference, whose words have numbers up to `distinct`, to a hypothesis.
    pub(crate) fn count(
        &mut self,
        hypothesis: &[Token],
        reference: &[Token],
        distinct: usize,
        stop: &Stop<'_>,
    ) -> Result<Kinds> {
        let (length, (hypothesis, reference)) = (reference.len(), without_common_ends(hypothesis, reference));
        let KindsOfEdits { levenshtein, rows } = self;
        rows.clear();
        room(rows, hypothesis.len() * reference.len().div_ceil(64))?;
        let distance = levenshtein.sweep(hypothesis, reference, distinct, stop, |row| rows.push(row))?;
        let deletions = deletions(rows, hypothesis.len(), reference.len());
        let insertions = deletions + hypothesis.len() - reference.len();
        let substitutions = distance - deletions - insertions;
        Ok(Kinds { substitutions, deletions, insertions, hits: length - substitutions - deletions })
    }
}

/// Both sequences without the words that both begin with, and without those that both then end with.
fn without_common_ends<'a>(mut a: &'a [Token], mut b: &'a [Token]) -> (&'a [Token], &'a [Token]) {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    (&a[..a.len() - same], &b[..b.len() - same])
}

/// The number of deletions, traced back from the end of both through rows that are stored 64 columns at a time.
fn deletions(rows: &[Row], hypothesis: usize, reference: usize) -> usize {
    let (mut i, mut j, mut found) = (hypothesis, reference, 0);
    while i > 0 && j > 0 {
        let (column, bit) = (&rows[(j - 1) / 64 * hypothesis..][..hypothesis], 1 << ((j - 1) % 64));
        if column[i - 1].up & bit != 0 {
            found += 1;
            j -= 1;
        } else {
            i -= 1;
            let inserted = i > 0 && column[i - 1].down & bit != 0;
            j -= usize::from(!inserted);
        }
    }
    found + j
}

/// The reference of a [`Matrix`]: its words, and the positions of each word as bits.
#[derive(Default)]
pub(crate) struct Reference {
    words: Vec<Token>,
    /// The number of blocks of 64 columns.
    blocks: usize,
    /// `blocks` masks for each word; all zeros for [`UNKNOWN_WORD`].
    masks: Vec<u64>,
    last: u64,
}

/// Resizes a vector. Too little memory is an error, not an abort, and `stop` is checked because filling new memory
/// takes time.
pub(crate) fn resize_in_pieces<T: Copy>(values: &mut Vec<T>, length: usize, value: T, stop: &Stop<'_>) -> Result<()> {
    let more = length.saturating_sub(values.len());
    room(values, more)?;
    values.truncate(length);
    while values.len() < length {
        values.resize(length.min(values.len() + PIECE), value);
        if values.len() < length {
            stop.check()?;
        }
    }
    Ok(())
}

impl Reference {
    /// Sets a reference whose words have numbers up to `distinct`.
    pub(crate) fn set(&mut self, words: &[Token], distinct: usize, stop: &Stop<'_>) -> Result<()> {
        self.words.clear();
        self.words.extend_from_slice(words);
        self.blocks = words.len().div_ceil(64).max(1);
        self.last = if words.is_empty() { 0 } else { !0 >> (words.len().wrapping_neg() % 64) };
        self.masks.clear();
        resize_in_pieces(&mut self.masks, (distinct + 1) * self.blocks, 0, stop)?;
        for (j, &word) in words.iter().enumerate() {
            self.masks[word as usize * self.blocks + j / 64] |= 1 << (j % 64);
        }
        Ok(())
    }

    pub(crate) fn words(&self) -> &[Token] {
        &self.words
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    fn masks(&self, word: Token) -> &[u64] {
        &self.masks[word as usize * self.blocks..][..self.blocks]
    }

    /// The columns between `from` and `to` that contain `word`.
    #[inline]
    pub(crate) fn columns(&self, word: Token, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let (first, masks) = (from / 64, self.masks(word));
        let masks = masks.get(first..to.div_ceil(64).min(masks.len())).unwrap_or(&[]);
        masks.iter().zip(first..).flat_map(move |(&mask, block)| {
            let mut rest = mask;
            if block == first {
                rest &= !0 << (from % 64);
            }
            std::iter::from_fn(move || {
                let column = block * 64 + rest.trailing_zeros() as usize;
                (rest != 0 && column < to).then(|| {
                    rest &= rest - 1;
                    column
                })
            })
        })
    }

    /// D\[rows\]\[length of the reference\], from its row.
    #[inline]
    fn corner(&self, rows: usize, row: &[Row]) -> usize {
        let mut distance = rows as i64;
        for (block, Row { up, down }) in row.iter().enumerate() {
            let mask = if block + 1 == self.blocks { self.last } else { !0 };
            distance += i64::from((up & mask).count_ones()) - i64::from((down & mask).count_ones());
        }
        distance as usize
    }

    /// The distance of a hypothesis of `rows` words that ends with `parts`, from the row before these.
    #[inline]
    fn resume<const N: usize>(
        &self,
        row: &mut [Row],
        rows: usize,
        parts: [&[Token]; N],
        stop: &Stop<'_>,
    ) -> Result<usize> {
        if let [row] = row {
            let mut bits = *row;
            for part in parts {
                for &word in part {
                    advance(self.masks[word as usize], &mut bits, &mut 1, &mut 0);
                }
            }
            return Ok(self.corner(rows, &[bits]));
        }
        for part in parts {
            for &word in part {
                stop.charge(self.blocks)?;
                let (mut rise, mut fall) = (1, 0);
                for (row, &same) in row.iter_mut().zip(self.masks(word)) {
                    advance(same, row, &mut rise, &mut fall);
                }
            }
        }
        Ok(self.corner(rows, row))
    }
}

/// The number of edits if words could be reordered freely: the greater length less the number of words in common.
/// `counts` is a buffer of zeros, before and after. Words of the reference have numbers up to `distinct`.
pub(crate) fn edits_of_bags(
    hypothesis: &[Token],
    reference: &[Token],
    distinct: usize,
    counts: &mut Vec<u32>,
) -> usize {
    counts.resize(counts.len().max(distinct + 1), 0);
    for &word in reference {
        counts[word as usize] += 1;
    }
    let mut common = 0;
    for &word in hypothesis {
        let left = &mut counts[word as usize];
        common += usize::from(*left > 0);
        *left = left.saturating_sub(1);
    }
    for &word in reference {
        counts[word as usize] = 0;
    }
    hypothesis.len().max(reference.len()) - common
}

/// How a word is aligned when an alignment is traced back through the matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Edit {
    /// A word of the hypothesis is aligned with the same word of the reference.
    Match,
    /// A word of the hypothesis is aligned with a different word of the reference.
    Substitution,
    /// A word of the hypothesis is not in the reference.
    Extra,
    /// A word of the reference is not in the hypothesis.
    Missing,
}

/// All rows of one hypothesis, for tracing back and for the distances of hypotheses with the same prefix.
#[derive(Default)]
pub(crate) struct Matrix {
    rows: Vec<Row>,
    steps: Vec<Step>,
    scratch: Vec<Row>,
}

impl Matrix {
    /// Computes all rows and returns the distance. The rows of the first `known` words are up to date.
    pub(crate) fn fill(
        &mut self,
        reference: &Reference,
        hypothesis: &[Token],
        known: usize,
        stop: &Stop<'_>,
    ) -> Result<usize> {
        let blocks = reference.blocks;
        if known == 0 {
            self.rows.clear();
            self.rows.resize(blocks, FIRST);
        }
        resize_in_pieces(&mut self.rows, (hypothesis.len() + 1) * blocks, FIRST, stop)?;
        resize_in_pieces(&mut self.steps, hypothesis.len() * blocks, Step { level: 0, rise: 0 }, stop)?;
        for (i, &word) in hypothesis.iter().enumerate().skip(known) {
            stop.charge(blocks)?;
            let (done, row) = self.rows.split_at_mut((i + 1) * blocks);
            let (mut rise, mut fall) = (1, 0);
            for (block, &same) in reference.masks(word).iter().enumerate() {
                row[block] = done[i * blocks + block];
                self.steps[i * blocks + block] = advance(same, &mut row[block], &mut rise, &mut fall);
            }
        }
        Ok(reference.corner(hypothesis.len(), &self.rows[hypothesis.len() * blocks..]))
    }

    /// The distance of a hypothesis of `rows` words that shares its first `known` words with the one of
    /// [`Matrix::fill`] and continues with `parts`. It checks for cancellation, also for callers that try many
    /// hypotheses.
    #[inline]
    pub(crate) fn distance<const N: usize>(
        &mut self,
        reference: &Reference,
        rows: usize,
        known: usize,
        parts: [&[Token]; N],
        stop: &Stop<'_>,
    ) -> Result<usize> {
        let blocks = reference.blocks;
        let Matrix { rows: known_rows, scratch, .. } = self;
        if blocks == 1 {
            stop.charge(rows - known)?;
            return reference.resume(&mut [known_rows[known]], rows, parts, stop);
        }
        scratch.clear();
        scratch.extend_from_slice(&known_rows[known * blocks..][..blocks]);
        reference.resume(scratch, rows, parts, stop)
    }

    /// Traces back a cheapest alignment from the corner. Ties prefer a match or a substitution, then an extra word,
    /// then a missing one.
    #[inline]
    pub(crate) fn walk(&self, reference: &Reference, hypothesis: &[Token], mut visit: impl FnMut(Edit)) {
        let (mut i, mut j) = (hypothesis.len(), reference.len());
        while i > 0 || j > 0 {
            let edit = if i == 0 {
                Edit::Missing
            } else if j == 0 {
                Edit::Extra
            } else if hypothesis[i - 1] == reference.words[j - 1] {
                Edit::Match
            } else {
                let step = self.steps[(i - 1) * reference.blocks + (j - 1) / 64];
                let bit = 1 << ((j - 1) % 64);
                if step.level & bit == 0 {
                    Edit::Substitution
                } else if step.rise & bit != 0 {
                    Edit::Extra
                } else {
                    Edit::Missing
                }
            };
            i -= usize::from(edit != Edit::Missing);
            j -= usize::from(edit != Edit::Extra);
            visit(edit);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The distances of all prefixes, cell by cell.
    pub(crate) fn distances(hypothesis: &[Token], reference: &[Token]) -> Vec<Vec<usize>> {
        let mut d = vec![vec![0; reference.len() + 1]; hypothesis.len() + 1];
        for i in 0..=hypothesis.len() {
            for j in 0..=reference.len() {
                d[i][j] = match (i, j) {
                    (0, _) => j,
                    (_, 0) => i,
                    _ => {
                        let differ = usize::from(hypothesis[i - 1] != reference[j - 1]);
                        (d[i - 1][j - 1] + differ).min(d[i - 1][j] + 1).min(d[i][j - 1] + 1)
                    }
                };
            }
        }
        d
    }

    fn words(vocabulary: Token, longest: usize) -> impl Strategy<Value = Vec<Token>> {
        prop::collection::vec(0..vocabulary, 0..longest)
    }

    proptest! {
        #![proptest_config(crate::testing::cases(64))]
        #[test]
        fn bits_are_the_matrix(short in words(4, 12), long in words(5, 300), longer in words(4, 300)) {
            let (mut reference, mut matrix, mut levenshtein) =
                (Reference::default(), Matrix::default(), Levenshtein::default());
            for (hypothesis, reference_words) in [(&short, &short), (&long, &short), (&long, &longer), (&short, &longer)] {
                let reference_words: Vec<Token> = reference_words.iter().map(|w| w % 4 + 1).collect();
                reference.set(&reference_words, 4, &Stop::never()).unwrap();
                let d = distances(hypothesis, &reference_words);
                let (expected, never) = (Ok(d[hypothesis.len()][reference_words.len()]), &Stop::never());
                prop_assert_eq!(&expected, &levenshtein.distance(hypothesis, &reference_words, 4, never));
                prop_assert_eq!(&expected, &matrix.fill(&reference, hypothesis, 0, never));
                let bound = edits_of_bags(hypothesis, &reference_words, 4, &mut Vec::new());
                prop_assert!(bound <= d[hypothesis.len()][reference_words.len()]);
            }
        }

        #[test]
        fn common_prefixes_are_computed_once(
            prefix in words(3, 90), old in words(3, 90), new in words(3, 90), reference in words(3, 150),
        ) {
            let mut reference_bits = Reference::default();
            let mut matrix = Matrix::default();
            let never = &Stop::never();
            reference_bits.set(&reference, 3, &Stop::never()).unwrap();
            matrix.fill(&reference_bits, &[&prefix[..], &old].concat(), 0, never).unwrap();
            let whole = [&prefix[..], &new].concat();
            let (left, right) = new.split_at(new.len() / 2);
            let expected = Levenshtein::default().distance(&whole, &reference, 3, never);
            prop_assert_eq!(&expected, &matrix.distance(&reference_bits, whole.len(), prefix.len(), [left, right], never));
            prop_assert_eq!(&expected, &matrix.fill(&reference_bits, &whole, prefix.len(), never));
        }

        #[test]
        fn columns_are_where_the_word_is(reference in words(3, 200), word in 0..4u32, from in 0..220usize, more in 0..220usize) {
            let mut reference_bits = Reference::default();
            reference_bits.set(&reference, 3, &Stop::never()).unwrap();
            let expected: Vec<usize> =
                (from..(from + more).min(reference.len())).filter(|&j| reference[j] == word).collect();
            let found: Vec<usize> = reference_bits.columns(word, from, from + more).collect();
            prop_assert_eq!(expected, found);
        }
    }
}
