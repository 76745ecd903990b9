//! SARI (Xu et al. 2016) of simplified texts, as EASSE computes it for a corpus: what a system adds to its source, keeps
//! of it and deletes from it, compared with what the references do.
//!
//! For n-grams of 1 to 4 words, of which the source has s, the output h and the k references together r:
//!
//! - *add*: n-grams with s = 0 count once. The output adds those with h > 0, the references those with r > 0;
//! - *keep*: the output keeps min(ks, kh), the references min(ks, r). What both keep is min(ks, kh, r);
//! - *delete*: the output deletes k·max(s − h, 0), the references max(ks − r, 0). What both delete is the smaller of these.
//!
//! Counts are summed over the corpus. An operation's score is the mean of F = 2·both/(output + references) over the
//! lengths, and SARI is the mean of the three operations.

use super::text::{TOKENIZE, Words};
use super::{Counter, Counters, Formula, Kind, Metric, MetricSpec, OptionSpec, Options, Texts, Value};
use crate::error::Result;
use crate::pool::{Run, Stop};
use crate::text::joined::Joined;
use crate::text::ngram::{Children, Token, Vocabulary, each_token};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "sari",
    about: "SARI of simplified texts: n-grams added, kept and deleted, as in the references; needs the source texts",
    source: "Q16-1029",
    reads_parses: false,
    options: &[
        TOKENIZE,
        OptionSpec {
            name: "deletion",
            kind: Kind::Choice(|| DELETIONS.to_vec()),
            default: || Value::Name(DELETIONS[0].into()),
            about: "the score of deletions: F, as in EASSE, or precision, as in the paper",
        },
    ],
    build: |options| Ok(Box::new(Sari::new(options)?)),
};

const DELETIONS: [&str; 2] = ["f", "precision"];
const OPERATIONS: [&str; 3] = ["add", "keep", "delete"];
const ORDER: usize = 4;
/// The counts of an operation for one length of n-grams: both, output, references.
const COUNTS: usize = 3;
const WIDTH: usize = OPERATIONS.len() * ORDER * COUNTS;

/// SARI. The first "reference" of a segment is its source. A row holds three counts of n-grams of 1 to 4 words, for each
/// operation: what the output and the references have in common, and what each of them has.
pub struct Sari {
    words: Words,
    deletion_precision: bool,
}

impl Sari {
    fn new(options: &Options) -> Result<Self> {
        let words = Words { lowercase: true, ..Words::ignoring_case(options)? };
        Ok(Sari { words, deletion_precision: options.name("deletion") == DELETIONS[1] })
    }

    /// Is the score of this operation its precision, not F?
    fn is_precise(&self, operation: usize) -> bool {
        self.deletion_precision && OPERATIONS[operation] == "delete"
    }

    /// The divisor of what both sides have in common under an operation, and the factor with which that is multiplied.
    fn denominator(&self, operation: usize, counts: &[i64]) -> (f64, f64) {
        match self.is_precise(operation) {
            true => (counts[1] as f64, 1.0),
            false => (counts[1] as f64 + counts[2] as f64, 2.0),
        }
    }

    /// The score of an operation, from 0 to 1.
    fn operation(&self, operation: usize, totals: &[i64]) -> f64 {
        let of_length = |counts: &[i64]| {
            let (all, factor) = self.denominator(operation, counts);
            if all == 0.0 { 0.0 } else { factor * counts[0] as f64 / all }
        };
        let own = &totals[operation * ORDER * COUNTS..][..ORDER * COUNTS];
        own.chunks_exact(COUNTS).map(of_length).sum::<f64>() / ORDER as f64
    }
}

impl Formula for Sari {
    fn name(&self) -> &str {
        "SARI"
    }

    fn columns(&self) -> Vec<String> {
        let of_order = |operation: &'static str, n: usize| {
            ["both", "output", "references"].map(move |side| format!("{operation}_{n}_{side}"))
        };
        OPERATIONS.iter().flat_map(|operation| (1..=ORDER).flat_map(move |n| of_order(operation, n))).collect()
    }

    fn width(&self) -> usize {
        WIDTH
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        let deletion = DELETIONS[usize::from(self.deletion_precision)];
        vec![self.words.case(), self.words.tok(), ("del", deletion.into())]
    }

    fn score(&self, totals: &[i64]) -> f64 {
        let sum: f64 = (0..OPERATIONS.len()).map(|operation| self.operation(operation, totals)).sum();
        100.0 * sum / OPERATIONS.len() as f64
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        let detail = |(i, name): (usize, &&str)| ((*name).into(), 100.0 * self.operation(i, totals));
        OPERATIONS.iter().enumerate().map(detail).collect()
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        out.fill(0.0);
        let unit = 100.0 / (OPERATIONS.len() * ORDER) as f64;
        let by_length = totals.chunks_exact(COUNTS).zip(out.chunks_exact_mut(COUNTS));
        for (i, (counts, out)) in by_length.enumerate() {
            let (all, factor) = self.denominator(i / ORDER, counts);
            if all > 0.0 {
                out[0] = unit * factor / all;
                out[1] = -out[0] * (counts[0] as f64 / all);
                out[2] = if self.is_precise(i / ORDER) { 0.0 } else { out[1] };
            }
        }
    }
}

impl Metric for Sari {
    fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        Ok(Box::new(|| Box::new(SariCounter::new(self.words))))
    }
}

/// An n-gram of n + 1 words, and how often the source, the references together and the current output have it.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    n: u8,
    source: u32,
    references: u32,
    output: u32,
}

impl Node {
    /// Adds its counts to a row.
    fn add_to(self, row: &mut [i64], n_references: i64) {
        let Node { source, references, output, .. } = self;
        let [source, references, output] = [source, references, output].map(i64::from);
        let mut add = |operation: usize, counts: [i64; COUNTS]| {
            let at = (operation * ORDER + usize::from(self.n)) * COUNTS;
            row[at..at + COUNTS].iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        };
        if source == 0 {
            let [by_output, by_references] = [output, references].map(|count| i64::from(count > 0));
            add(0, [by_output * by_references, by_output, by_references]);
            return;
        }
        let (all, kept) = (n_references * source, n_references * source.min(output));
        add(1, [kept.min(references), kept, all.min(references)]);
        let (deleted, by_references) = (all - kept, (all - references).max(0));
        add(2, [deleted.min(by_references), deleted, by_references]);
    }
}

struct SariCounter {
    words: Words,
    vocabulary: Vocabulary,
    /// The words of all texts as numbers.
    texts: Joined<Token>,
    nodes: Vec<Node>,
    children: Children,
}

impl SariCounter {
    fn new(words: Words) -> Self {
        SariCounter {
            words,
            vocabulary: Vocabulary::default(),
            texts: Joined::default(),
            nodes: Vec::new(),
            children: Children::default(),
        }
    }

    fn read<'a>(&mut self, lines: impl Iterator<Item = &'a &'a str>, stop: &Stop<'_>) -> Result<()> {
        let SariCounter { words, vocabulary, texts, nodes, children } = self;
        vocabulary.clear();
        texts.clear();
        children.clear();
        for line in lines {
            let emit_words = |emit: &mut dyn FnMut(&str)| words.tokens(line, emit);
            each_token(emit_words, stop, |word| texts.push(vocabulary.intern(word)))?;
            texts.end();
        }
        nodes.clear();
        nodes.resize(vocabulary.len(), Node::default());
        Ok(())
    }

    /// Calls `take` with every n-gram of a text.
    fn each_ngram(&mut self, text: usize, stop: &Stop<'_>, take: impl Fn(&mut Node)) -> Result<()> {
        let SariCounter { texts, nodes, children, .. } = self;
        let words = texts.get(text);
        for first in 0..words.len() {
            stop.charge(64)?;
            let mut node = words[first];
            take(&mut nodes[node as usize]);
            for (n, &word) in (1..ORDER).zip(&words[first + 1..]) {
                let new = nodes.len() as u32;
                node = children.get_or_insert(node, word, new);
                if node == new {
                    nodes.push(Node { n: n as u8, ..Node::default() });
                }
                take(&mut nodes[node as usize]);
            }
        }
        Ok(())
    }
}

impl Counter for SariCounter {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        self.read(references.iter().chain(hypotheses), stop)?;
        self.each_ngram(0, stop, |node| node.source += 1)?;
        for reference in 1..references.len() {
            self.each_ngram(reference, stop, |node| node.references += 1)?;
        }
        for (row, text) in rows.chunks_exact_mut(WIDTH).zip(references.len()..) {
            self.each_ngram(text, stop, |node| node.output += 1)?;
            stop.charge(8 * self.nodes.len())?;
            for node in &mut self.nodes {
                node.add_to(row, references.len() as i64 - 1);
                node.output = 0;
            }
        }
        Ok(())
    }
}
