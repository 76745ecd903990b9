//! The n-grams that hypotheses have in common with each of their references, and how frequent these are in all
//! references.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::joined::Joined;
use super::ngram::{Children, Seen, Token, UNSEEN};
use crate::error::Result;
use crate::pool::Stop;

/// Sentences as numbers of tokens. Tokens that are in no reference are [`UNSEEN`].
pub type Sentences = Joined<Token>;

/// The n-grams of a hypothesis that also occur in a reference, for every order and every pair of the two.
///
/// Pairs are in the order of segments, and within a segment in that of its references. Within a pair, n-grams are in the
/// order in which they first occur in the hypothesis.
#[derive(Debug, Default, PartialEq)]
pub struct Common {
    /// For each order and pair, the number of different n-grams.
    pub numbers: Vec<i64>,
    /// For each n-gram, how often it matches: the smaller of its counts in the hypothesis and in the reference.
    pub matches: Vec<i64>,
    /// For each n-gram, the row of its frequencies.
    pub rows: Vec<i64>,
    /// How often an n-gram occurs in all references, and how often its first n − 1 tokens do (of a single token: the
    /// number of all tokens). Every pair of numbers is one row.
    pub frequencies: Vec<[i64; 2]>,
}

/// The row of every pair of frequencies.
type Rows = HashMap<[i64; 2], u32, FixedState>;

/// The approximate cost of an n-gram, in additions.
const COST: usize = 64;

/// The node of what is no n-gram of the references.
const NONE: u32 = UNSEEN;

/// An n-gram of the references.
struct Node {
    frequency: u32,
    /// The frequency of its prefix.
    of_prefix: i64,
    /// Its row in [`Common::frequencies`], if it has one.
    row: u32,
    /// In the reference and in the hypothesis of the current pair. Pairs are numbered from 1.
    in_reference: Seen,
    in_hypothesis: Seen,
}

/// Finds the common n-grams of each order up to `order`. `references_of` is the number of references of each segment.
///
/// Takes time and memory in proportion to the number of tokens, and time in proportion to the order.
pub fn common(
    hypotheses: &Sentences,
    references: &Sentences,
    references_of: &[usize],
    order: usize,
    stop: &Stop<'_>,
) -> Result<Common> {
    let mut found = Common::default();
    let mut rows = Rows::default();
    // For each token, the node of the n-gram of the current order that begins there.
    let (mut in_hypotheses, mut in_references) = (hypotheses.values().to_vec(), references.values().to_vec());
    let words = references.values().iter().max().map_or(0, |&token| token as usize + 1);
    let mut nodes: Vec<Node> = Vec::new();
    nodes.resize_with(words, || Node::new(references.values().len() as i64));
    for n in 1..=order {
        if n > 1 {
            let (mut children, mut longer) = (Children::default(), Vec::new());
            extend(references, &mut in_references, n, stop, |prefix, token| {
                let node = children.get_or_insert(prefix, token, longer.len() as u32);
                if node as usize == longer.len() {
                    longer.push(Node::new(i64::from(nodes[prefix as usize].frequency)));
                }
                node
            })?;
            extend(hypotheses, &mut in_hypotheses, n, stop, |prefix, token| {
                children.get(prefix, token).unwrap_or(NONE)
            })?;
            nodes = longer;
        }
        for &node in in_references.iter().filter(|&&node| node != NONE) {
            nodes[node as usize].frequency += 1;
        }
        let (mut pair, mut first_seen) = (0, Vec::new());
        for (hypothesis, &number) in references_of.iter().enumerate() {
            let hypothesis = &in_hypotheses[hypotheses.range(hypothesis)];
            for _ in 0..number {
                let reference = &in_references[references.range(pair as usize)];
                pair += 1;
                stop.charge(COST / 4 * (1 + hypothesis.len() + reference.len()))?;
                for &node in reference.iter().filter(|&&node| node != NONE) {
                    nodes[node as usize].in_reference.bump(pair);
                }
                first_seen.clear();
                for &node in hypothesis.iter().filter(|&&node| node != NONE) {
                    if nodes[node as usize].in_hypothesis.bump(pair) == 1 {
                        first_seen.push(node);
                    }
                }
                let before = found.matches.len();
                for &node in &first_seen {
                    let node = &mut nodes[node as usize];
                    if node.in_reference.text == pair {
                        found.matches.push(i64::from(node.in_reference.count.min(node.in_hypothesis.count)));
                        found.rows.push(i64::from(node.row(&mut rows, &mut found.frequencies)));
                    }
                }
                found.numbers.push((found.matches.len() - before) as i64);
            }
        }
    }
    Ok(found)
}

impl Node {
    fn new(of_prefix: i64) -> Self {
        let unseen = Seen::default();
        Node { frequency: 0, of_prefix, row: NONE, in_reference: unseen, in_hypothesis: unseen }
    }

    fn row(&mut self, rows: &mut Rows, frequencies: &mut Vec<[i64; 2]>) -> u32 {
        if self.row == NONE {
            let key = [i64::from(self.frequency), self.of_prefix];
            self.row = *rows.entry(key).or_insert_with(|| {
                frequencies.push(key);
                frequencies.len() as u32 - 1
            });
        }
        self.row
    }
}

/// Replaces the nodes of n-grams of order n − 1 by those of order n, where `child` returns that of an n-gram and its next
/// token.
fn extend(
    sentences: &Sentences,
    nodes: &mut [u32],
    n: usize,
    stop: &Stop<'_>,
    mut child: impl FnMut(u32, Token) -> u32,
) -> Result<()> {
    for (sentence, tokens) in sentences.iter().enumerate() {
        stop.charge(COST * (1 + tokens.len()))?;
        for (i, node) in nodes[sentences.range(sentence)].iter_mut().enumerate() {
            *node = match tokens.get(i + n - 1) {
                Some(&token) if *node != NONE && token != UNSEEN => child(*node, token),
                _ => NONE,
            };
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn joined(sentences: &[Vec<Token>]) -> Sentences {
        let mut joined = Sentences::default();
        sentences.iter().for_each(|sentence| joined.add(sentence));
        joined
    }

    fn counts(sentence: &[Token], n: usize) -> BTreeMap<&[Token], i64> {
        let mut counts = BTreeMap::new();
        sentence.windows(n).for_each(|ngram| *counts.entry(ngram).or_default() += 1);
        counts
    }

    /// For each order and pair: matches, frequency and that of the prefix, by the definition.
    fn slow(segments: &[(Vec<Token>, Vec<Vec<Token>>)], order: usize) -> Vec<Vec<[i64; 3]>> {
        let references: Vec<_> = segments.iter().flat_map(|(_, references)| references).collect();
        let frequency = |ngram: &[Token]| -> i64 {
            let of = |r: &&Vec<Token>| {
                if ngram.is_empty() { r.len() } else { r.windows(ngram.len()).filter(|w| *w == ngram).count() }
            };
            references.iter().map(of).sum::<usize>() as i64
        };
        let mut found = Vec::new();
        for n in 1..=order {
            for (hypothesis, references) in segments {
                for reference in references {
                    let (own, theirs) = (counts(hypothesis, n), counts(reference, n));
                    let mut pair = Vec::new();
                    for (i, ngram) in hypothesis.windows(n).enumerate() {
                        let is_first = !hypothesis.windows(n).take(i).any(|earlier| earlier == ngram);
                        if let (true, Some(&count)) = (is_first, theirs.get(ngram)) {
                            pair.push([count.min(own[ngram]), frequency(ngram), frequency(&ngram[..n - 1])]);
                        }
                    }
                    found.push(pair);
                }
            }
        }
        found
    }

    proptest! {
        #![proptest_config(crate::testing::cases(128))]
        #[test]
        fn common_ngrams_follow_the_definition(
            segments in prop::collection::vec(
                (
                    prop::collection::vec(0..4_u32, 0..12),
                    prop::collection::vec(prop::collection::vec(0..3_u32, 0..12), 0..4),
                ),
                0..6,
            ),
            order in 1..6_usize,
        ) {
            let references: Vec<_> = segments.iter().flat_map(|(_, r)| r.clone()).collect();
            let known = references.iter().flatten().max().map_or(0, |&token| token + 1);
            let seen = |token: u32| if token < known { token } else { UNSEEN };
            let hypotheses: Vec<Vec<_>> = segments.iter().map(|(h, _)| h.iter().map(|&t| seen(t)).collect()).collect();
            let references_of: Vec<_> = segments.iter().map(|(_, r)| r.len()).collect();
            let got = common(&joined(&hypotheses), &joined(&references), &references_of, order, &Stop::never()).unwrap();
            let mut at = 0;
            let pairs: Vec<Vec<[i64; 3]>> = got.numbers.iter().map(|&number| {
                let own = at..at + number as usize;
                at = own.end;
                own.map(|i| {
                    let [frequency, of_prefix] = got.frequencies[got.rows[i] as usize];
                    [got.matches[i], frequency, of_prefix]
                }).collect()
            }).collect();
            prop_assert_eq!(slow(&segments, order), pairs);
            let distinct: std::collections::BTreeSet<_> = got.frequencies.iter().collect();
            prop_assert_eq!(distinct.len(), got.frequencies.len());
        }
    }

    #[test]
    fn a_cancelled_call_stops() {
        let long = joined(&[vec![0; 1 << 20]]);
        assert_eq!(Err(crate::Error::Interrupted), common(&long, &long, &[1], 2, &Stop::at_once()));
    }
}
