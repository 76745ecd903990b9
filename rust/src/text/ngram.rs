//! Word n-grams of one segment: tokens are numbered, and the n-grams of the references form a trie.
//!
//! The tables are emptied, not freed, between segments, so counting allocates almost nothing and memory does not grow
//! with the corpus. Tokens are compared as strings, never by hash alone.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::joined::Joined;
use crate::error::{Error, Result};
use crate::pool::{PIECE, Stop};

/// A token's number, in the order of first appearance.
pub(crate) type Token = u32;

/// The number of words for which a new table reserves room.
const SENTENCE: usize = 56;

/// The number of a token that no reference contains.
pub(crate) const UNSEEN: Token = Token::MAX;

const HASHER: FixedState = FixedState::with_seed(0);

fn hash(value: impl Hash) -> u64 {
    HASHER.hash_one(value)
}

/// A table that numbers distinct tokens.
#[derive(Default)]
pub(crate) struct Vocabulary {
    table: HashTable<(u64, Token)>,
    text: String,
    ends: Vec<usize>,
}

impl Vocabulary {
    #[inline]
    fn spelling<'a>(text: &'a str, ends: &[usize], token: Token) -> &'a str {
        let token = token as usize;
        let start = if token == 0 { 0 } else { ends[token - 1] };
        &text[start..ends[token]]
    }

    /// The token's number. A new token gets the next number.
    pub(crate) fn intern(&mut self, spelling: &str) -> Token {
        let hash = hash(spelling);
        let Vocabulary { table, text, ends } = self;
        let same = |&(h, token): &(u64, Token)| h == hash && Self::spelling(text, ends, token) == spelling;
        if let Some(&(_, token)) = table.find(hash, same) {
            return token;
        }
        let token = ends.len() as Token;
        text.push_str(spelling);
        ends.push(text.len());
        table.insert_unique(hash, (hash, token), |&(h, _)| h);
        token
    }

    /// A token's spelling.
    pub(crate) fn get(&self, token: Token) -> &str {
        Self::spelling(&self.text, &self.ends, token)
    }

    /// The token's number, or [`UNSEEN`].
    pub(crate) fn find(&self, spelling: &str) -> Token {
        let hash = hash(spelling);
        self.table
            .find(hash, |&(h, token)| h == hash && Self::spelling(&self.text, &self.ends, token) == spelling)
            .map_or(UNSEEN, |&(_, token)| token)
    }

    /// The spellings of all tokens, in their order.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as Token).map(|token| self.get(token))
    }

    /// The number of distinct tokens.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[cold]
    fn make_room(&mut self) {
        self.table.reserve(SENTENCE, |&(h, _)| h);
        self.text.reserve(8 * SENTENCE);
        self.ends.reserve(SENTENCE);
    }

    /// Empties the table. A new table reserves room for a sentence, because growing step by step takes longer than
    /// counting.
    pub(crate) fn clear(&mut self) {
        if self.table.capacity() == 0 {
            self.make_room();
        }
        self.table.clear();
        self.text.clear();
        self.ends.clear();
    }
}

/// How often the last text that contained an n-gram contains it. Texts are numbered from 1.
#[derive(Clone, Copy, Default)]
pub(crate) struct Seen {
    pub text: u32,
    pub count: u32,
}

impl Seen {
    /// Counts an occurrence in `text`, and returns the number of occurrences in it so far.
    #[inline]
    pub fn bump(&mut self, text: u32) -> u32 {
        if self.text != text {
            *self = Seen { text, count: 0 };
        }
        self.count += 1;
        self.count
    }
}

/// An n-gram of the references, and how often it may match.
#[derive(Clone, Copy, Default)]
struct Node {
    limit: u32,
    seen: Seen,
}

/// The edges of a trie of n-grams: (prefix, last token, node).
#[derive(Default)]
pub(crate) struct Children(HashTable<(u32, Token, u32)>);

impl Children {
    /// The node of an n-gram, if it exists.
    #[inline]
    pub(crate) fn get(&self, prefix: u32, token: Token) -> Option<u32> {
        let same = |&(p, t, _): &(u32, Token, u32)| (p, t) == (prefix, token);
        self.0.find(hash((prefix, token)), same).map(|&(_, _, node)| node)
    }

    /// The node of an n-gram. If it does not exist, `new` becomes its node.
    #[inline]
    pub(crate) fn get_or_insert(&mut self, prefix: u32, token: Token, new: u32) -> u32 {
        if let Some(node) = self.get(prefix, token) {
            return node;
        }
        self.0.insert_unique(hash((prefix, token)), (prefix, token, new), |&(p, t, _)| hash((p, t)));
        new
    }

    /// Removes all n-grams.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The n-grams of a segment's references, each with its largest count in any one reference, and the overlap of
/// hypotheses with them.
///
/// Nodes below `vocabulary.len()` are single tokens. A longer n-gram is found by its prefix and its last token.
#[derive(Default)]
pub struct Ngrams {
    vocabulary: Vocabulary,
    references: Joined<Token>,
    nodes: Vec<Node>,
    children: Children,
    /// The prefix and the last word of every node that is not a single word.
    extensions: Vec<(u32, Token)>,
    /// The number of texts since `clear`. Counts made by another text are recognized by it.
    texts: u32,
    hypothesis: Vec<Token>,
    /// The number of different tokens of references that are given as numbers.
    numbered: usize,
}

/// The approximate cost of a token, in additions.
pub(crate) const TOKEN: usize = 64;

/// Calls `take` with every token that `tokens` emits, until the call is cancelled.
#[inline]
pub(crate) fn each_token(
    tokens: impl FnOnce(&mut dyn FnMut(&str)),
    stop: &Stop<'_>,
    mut take: impl FnMut(&str),
) -> Result<()> {
    let mut stopped = false;
    tokens(&mut |token| {
        if !stopped {
            take(token);
            stopped = stop.requested_after(TOKEN);
        }
    });
    if stopped { Err(Error::Interrupted) } else { Ok(()) }
}

/// Checks once per [`PIECE`] of a text whether to stop. Most texts are shorter than that.
#[inline(always)]
fn check_stop(at: usize, stop: &Stop<'_>) -> Result<()> {
    if at % PIECE == PIECE - 1 && stop.requested() { Err(Error::Interrupted) } else { Ok(()) }
}

impl Ngrams {
    /// Empties the tables for the next segment.
    pub fn clear(&mut self) {
        self.vocabulary.clear();
        self.references.clear();
        self.nodes.clear();
        self.children.clear();
        self.extensions.clear();
        self.texts = 0;
        self.numbered = 0;
    }

    /// Adds one reference; `tokens` calls its argument with each token.
    pub fn add(&mut self, tokens: impl FnOnce(&mut dyn FnMut(&str)), stop: &Stop<'_>) -> Result<()> {
        let Ngrams { vocabulary, references, .. } = self;
        each_token(tokens, stop, |token| references.push(vocabulary.intern(token)))?;
        references.end();
        Ok(())
    }

    /// Adds one reference, whose tokens the caller has numbered from 0 to `words` − 1: all references of the segment, or
    /// none, are added in this way.
    pub fn add_numbered(&mut self, tokens: &[Token], words: usize) {
        self.references.add(tokens);
        self.numbered = words;
    }

    /// The lengths of the references in tokens.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        self.references.iter().map(<[_]>::len)
    }

    /// The reference length closest to a hypothesis' length; of two equally close the shorter one.
    #[allow(clippy::expect_used, reason = "a segment has at least one reference")]
    pub fn closest_length(&self, length: usize) -> usize {
        self.lengths().min_by_key(|&r| (r.abs_diff(length), r)).expect("there is one")
    }

    /// Reserves room for the n-grams of a sentence. See [`Vocabulary::clear`].
    #[cold]
    fn make_room(&mut self, order: usize) {
        let longer = order.saturating_sub(1).min(3) * self.references.values().len().min(SENTENCE);
        self.children.0.reserve(longer, |&(p, t, _)| hash((p, t)));
        self.nodes.reserve(self.vocabulary.len().max(self.numbered) + longer);
    }

    /// Counts the n-grams up to `order` of all references. Called once, after the last `add`.
    pub fn count(&mut self, order: usize, stop: &Stop<'_>) -> Result<()> {
        if self.nodes.capacity() == 0 {
            self.make_room(order);
        }
        self.nodes.resize(self.vocabulary.len().max(self.numbered), Node::default());
        for reference in self.references.iter() {
            self.texts += 1;
            for i in 0..reference.len() {
                check_stop(i, stop)?;
                let mut node = reference[i];
                for n in 0..order {
                    let seen = self.nodes[node as usize].seen.bump(self.texts);
                    let limit = &mut self.nodes[node as usize].limit;
                    *limit = seen.max(*limit);
                    if n + 1 == order || i + n + 1 == reference.len() {
                        break;
                    }
                    let (prefix, word, new) = (node, reference[i + n + 1], self.nodes.len() as u32);
                    node = self.children.get_or_insert(prefix, word, new);
                    if node == new {
                        self.nodes.push(Node::default());
                        self.extensions.push((prefix, word));
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds to `matches[n - 1]` the number of n-grams of the hypothesis that match, each clipped at its largest count
    /// in any one reference. Returns the hypothesis' length in tokens.
    pub fn overlap(
        &mut self,
        tokens: impl FnOnce(&mut dyn FnMut(&str)),
        matches: &mut [i64],
        stop: &Stop<'_>,
    ) -> Result<usize> {
        self.overlap_each(tokens, matches.len(), |n, _| matches[n - 1] += 1, stop)
    }

    /// [`Ngrams::overlap`] with a hypothesis whose tokens have the numbers of those of the references; others are
    /// [`UNSEEN`].
    pub fn overlap_numbered(&mut self, tokens: &[Token], matches: &mut [i64], stop: &Stop<'_>) -> Result<usize> {
        self.hypothesis.clear();
        self.hypothesis.extend_from_slice(tokens);
        self.match_hypothesis(matches.len(), |n, _| matches[n - 1] += 1, stop)
    }

    /// Calls `matched` with the order and the node of every matching n-gram of the hypothesis, clipped as in
    /// [`Ngrams::overlap`]. Returns the hypothesis' length in tokens.
    #[inline]
    pub fn overlap_each(
        &mut self,
        tokens: impl FnOnce(&mut dyn FnMut(&str)),
        order: usize,
        matched: impl FnMut(usize, usize),
        stop: &Stop<'_>,
    ) -> Result<usize> {
        let Ngrams { vocabulary, hypothesis, .. } = self;
        hypothesis.clear();
        each_token(tokens, stop, |token| hypothesis.push(vocabulary.find(token)))?;
        self.match_hypothesis(order, matched, stop)
    }

    #[inline]
    fn match_hypothesis(
        &mut self,
        order: usize,
        mut matched: impl FnMut(usize, usize),
        stop: &Stop<'_>,
    ) -> Result<usize> {
        self.texts += 1;
        for i in 0..self.hypothesis.len() {
            check_stop(i, stop)?;
            let mut node = self.hypothesis[i];
            if node == UNSEEN {
                continue;
            }
            for n in 1..=order {
                let seen = self.nodes[node as usize].seen.bump(self.texts);
                if seen <= self.nodes[node as usize].limit {
                    matched(n, node as usize);
                }
                if n == order {
                    break;
                }
                // If no reference contains an n-gram, none contains an extension of it.
                match self.hypothesis.get(i + n) {
                    Some(&next) if next != UNSEEN => match self.children.get(node, next) {
                        Some(child) => node = child,
                        None => break,
                    },
                    _ => break,
                }
            }
        }
        Ok(self.hypothesis.len())
    }

    /// The distinct tokens of the references in the order of their nodes, which are the first ones.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.vocabulary.words()
    }

    /// The longer n-grams of the references as prefix and last word, in the order of their nodes, which follow those of
    /// single words. A prefix comes before its extensions.
    pub fn extensions(&self) -> impl Iterator<Item = (usize, usize)> {
        self.extensions.iter().map(|&(prefix, word)| (prefix as usize, word as usize))
    }
}
