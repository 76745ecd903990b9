//! Counts segments.

use std::sync::Arc;

use super::align::Aligner;
use super::lexicon::{Lexicon, Word};
use super::matches::{Match, Matches, Text};
use super::{Meteor, WIDTH};
use crate::error::Result;
use crate::metric::Counter;
use crate::pool::Stop;
use crate::text::joined::Joined;
use crate::text::ngram::{Token, each_token};

/// Counts segments, with buffers that are reused from segment to segment.
pub(super) struct MeteorCounter<'a> {
    meteor: &'a Meteor,
    lexicon: Arc<Lexicon>,
    /// The words of all texts of the segment, references first, their stems, and what is known of them.
    words: Joined<Token>,
    stems: Vec<u32>,
    known: Vec<Word>,
    matches: Matches,
    aligner: Aligner,
}

impl<'a> MeteorCounter<'a> {
    pub(super) fn new(meteor: &'a Meteor, lexicon: Arc<Lexicon>) -> Self {
        MeteorCounter {
            meteor,
            lexicon,
            words: Joined::default(),
            stems: Vec::new(),
            known: Vec::new(),
            matches: Matches::default(),
            aligner: Aligner::default(),
        }
    }

    /// Looks up the words of all texts of the segment.
    fn read(&mut self, references: &[&str], hypotheses: &[&str], stop: &Stop<'_>) -> Result<()> {
        let MeteorCounter { lexicon, words, stems, known, .. } = self;
        words.clear();
        stems.clear();
        known.clear();
        for line in references.iter().chain(hypotheses) {
            let emit_words = |emit: &mut dyn FnMut(&str)| lexicon.normalizer.words(line, emit);
            each_token(emit_words, stop, |word| {
                let word = lexicon.vocabulary.find(word);
                let about = lexicon.word(word);
                words.push(word);
                stems.push(about.stem);
                known.push(about);
            })?;
            words.end();
        }
        Ok(())
    }
}

impl Counter for MeteorCounter<'_> {
    fn count(&mut self, references: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        self.read(references, hypotheses, stop)?;
        let MeteorCounter { meteor, lexicon, words, stems, known, matches, aligner, .. } = self;
        let text = |i: usize| {
            let range = words.range(i);
            Text { words: words.get(i), stems: &stems[range.clone()], known: &known[range] }
        };
        for (row, i) in rows.chunks_exact_mut(WIDTH).zip(references.len()..) {
            let hypothesis = text(i);
            let mut best = f64::NEG_INFINITY;
            for reference in (0..references.len()).map(text) {
                matches.find(lexicon, &meteor.settings.modules, [hypothesis, reference], stop)?;
                let (chosen, chunks) =
                    aligner.align(matches, [hypothesis, reference].map(|text| text.words.len()), stop)?;
                let counts = counts(hypothesis, reference, chosen, chunks);
                let score = meteor.parameters().score(&counts);
                if score > best {
                    best = score;
                    row.copy_from_slice(&counts);
                }
            }
        }
        Ok(())
    }
}

/// The row of an alignment.
pub(super) fn counts(hypothesis: Text<'_>, reference: Text<'_>, chosen: &[Match], chunks: usize) -> [i64; WIDTH] {
    let mut row = [0; WIDTH];
    for (side, text) in [hypothesis, reference].iter().enumerate() {
        row[side] = text.words.len() as i64;
        row[2 + side] = text.known.iter().map(|word| i64::from(word.function)).sum();
    }
    for found in chosen {
        let of_module = &mut row[4 + 4 * found.module as usize..];
        let places = [(found.hypothesis, found.hypothesis_length), (found.reference, found.reference_length)];
        for (side, (text, (start, length))) in [hypothesis, reference].iter().zip(places).enumerate() {
            for word in &text.known[start as usize..][..length as usize] {
                of_module[side + 2 * usize::from(word.function)] += 1;
            }
        }
    }
    for side in 0..2 {
        row[21 + side] = row[4 + side..20].iter().step_by(2).sum();
    }
    let perfect = chunks == 1 && row[21..] == row[..2];
    row[20] = if perfect { 0 } else { chunks as i64 };
    row
}
