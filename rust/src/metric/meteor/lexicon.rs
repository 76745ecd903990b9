//! What is known of each word of a corpus.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use rust_stemmers::{Algorithm, Stemmer};

use super::normalize::Normalizer;
use super::paraphrases::{Neighbours, Paraphrases};
use super::resources::Resources;
use super::settings::{Module, Settings};
use super::wordnet::{Synset, Synsets};
use crate::error::Result;
use crate::memory::reserved;
use crate::metric::Texts;
use crate::metric::text::cased;
use crate::pool::{self, Blocks, Run};
use crate::text::ngram::{Token, UNSEEN, Vocabulary, each_token};

/// The words of all texts, numbered, with what the modules need to know of them. Prepared once for a corpus and shared by
/// all counters.
pub(super) struct Lexicon {
    pub(super) normalizer: Arc<Normalizer>,
    pub(super) vocabulary: Vocabulary,
    words: Vec<Word>,
    synsets: Synsets,
    /// The pairs of words of which paraphrases may consist, if the module is in use.
    neighbours: Option<Neighbours>,
    pub(super) paraphrases: Paraphrases,
}

/// What is known of a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The number of its stem. Equal stems have equal numbers. Without the module, the number of the word.
    pub(super) stem: u32,
    /// Is it a function word?
    pub(super) function: bool,
    /// A bit for each of its synonym sets, several of which may have the same. Words without a common bit have no common
    /// set.
    pub(super) synsets: u64,
}

/// The approximate cost of looking up a word, in additions.
const LOOK_UP: usize = 64;

/// The approximate cost of finding a stem, in additions.
const STEM: u64 = 1024;

/// Longer words, in bytes, are their own stems: some stemmers take time that grows with the square of the length.
const LONGEST_STEMMED: usize = 1000;

impl Lexicon {
    /// Collects the words of all texts, and what is known of them. If `before` knows all of them, and all pairs of neighbours,
    /// it is returned. Otherwise the new lexicon has its words and pairs, too: corpora that alternate are prepared twice at most.
    pub(super) fn new(
        settings: &Settings,
        resources: &Resources,
        texts: &Texts<'_>,
        before: Option<Arc<Lexicon>>,
        run: &mut Run<'_>,
    ) -> Result<Arc<Self>> {
        let normalizer = match &before {
            Some(before) => before.normalizer.clone(),
            None => Arc::new(Normalizer::new(settings, resources.prefixes(settings.language)?)),
        };
        let uses = |module| settings.modules.contains(&module);
        let known = before.as_deref();
        let neighbours =
            uses(Module::Paraphrase).then(|| Neighbours::new(known.and_then(|known| known.neighbours.as_ref())));
        let new = new_words(&normalizer, texts, known.map(|known| &known.vocabulary), neighbours.as_ref(), run)?;
        let grown = new.len() > 0 || neighbours.as_ref().is_some_and(Neighbours::have_grown);
        let vocabulary = match before {
            Some(before) if !grown => return Ok(before),
            Some(before) => union([&before.vocabulary, &new], run)?,
            None => new,
        };
        let synsets = if uses(Module::Synonym) {
            run.serial(|stop| Synsets::new(resources.synonyms(), &vocabulary, stop))?
        } else {
            Synsets::default()
        };
        let paraphrases = match (resources.paraphrases(), &neighbours) {
            (Some(table), Some(neighbours)) => Paraphrases::read(&table.name, &vocabulary, neighbours, run)?,
            _ => Paraphrases::default(),
        };
        let algorithm = settings.language.stemmer.filter(|_| uses(Module::Stem));
        let function = resources.function_words(settings.function_language)?;
        let words = describe(&vocabulary, &function, algorithm, &synsets, run)?;
        Ok(Arc::new(Lexicon { normalizer, vocabulary, words, synsets, neighbours, paraphrases }))
    }

    /// What is known of a word of the corpus.
    pub(super) fn word(&self, word: Token) -> Word {
        self.words[word as usize]
    }

    /// Whether two words share a synonym set.
    pub(super) fn share_synset(&self, a: Token, b: Token) -> bool {
        let (mut a, mut b): (&[Synset], &[Synset]) = (self.synsets.of(a), self.synsets.of(b));
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            match x.cmp(y) {
                Ordering::Equal => return true,
                Ordering::Less => a = rest_a,
                Ordering::Greater => b = rest_b,
            }
        }
        false
    }
}

/// The words of all texts that are not among `known`, numbered in the order of first appearance. Texts are split in
/// parallel, and only distinct words are kept of each block. Pairs of words are added to `neighbours`.
fn new_words(
    normalizer: &Normalizer,
    texts: &Texts<'_>,
    known: Option<&Vocabulary>,
    neighbours: Option<&Neighbours>,
    run: &mut Run<'_>,
) -> Result<Vocabulary> {
    let mut all = Vocabulary::default();
    pool::try_run(
        Blocks { items: texts.references.segments(), size: 64, cost: 4000, lead: 0 },
        run,
        || (),
        |(), range, stop| {
            let mut block = Vocabulary::default();
            for segment in range {
                for line in texts.references.of_segment(segment).chain(texts.hypotheses(segment)) {
                    let emit_words = |emit: &mut dyn FnMut(&str)| normalizer.words(line, emit);
                    let mut pairs = neighbours.map(Neighbours::line);
                    let take = |word: &str| {
                        if let Some(pairs) = &mut pairs {
                            pairs.add(word);
                        }
                        if known.is_none_or(|known| known.find(word) == UNSEEN) {
                            block.intern(word);
                        }
                    };
                    each_token(emit_words, stop, take)?;
                }
                stop.check()?;
            }
            Ok(block)
        },
        |_, block, stop| {
            for word in block.words() {
                stop.charge(LOOK_UP)?;
                all.intern(word);
            }
            Ok(())
        },
    )?;
    Ok(all)
}

/// The words of several vocabularies, in order.
fn union(all: [&Vocabulary; 2], run: &mut Run<'_>) -> Result<Vocabulary> {
    let mut union = Vocabulary::default();
    run.serial(|stop| {
        all.into_iter().flat_map(Vocabulary::words).try_for_each(|word| {
            union.intern(word);
            stop.charge(LOOK_UP)
        })
    })?;
    Ok(union)
}

/// Describes words in parallel.
fn describe(
    vocabulary: &Vocabulary,
    function: &HashSet<String>,
    algorithm: Option<Algorithm>,
    synsets: &Synsets,
    run: &mut Run<'_>,
) -> Result<Vec<Word>> {
    let mut words = reserved(vocabulary.len())?;
    let mut stems = Vocabulary::default();
    pool::try_run(
        Blocks { items: vocabulary.len(), size: 512, cost: STEM, lead: 0 },
        run,
        || (algorithm.map(Stemmer::create), String::new()),
        |(stemmer, lower), range, stop| {
            let (mut text, mut block) = (String::new(), Vec::with_capacity(range.len()));
            for word in range.start as Token..range.end as Token {
                let spelling = vocabulary.get(word);
                stop.charge(STEM as usize + spelling.len())?;
                match stemmer {
                    Some(stemmer) if spelling.len() <= LONGEST_STEMMED => text.push_str(&stemmer.stem(spelling)),
                    Some(_) => text.push_str(spelling),
                    None => {}
                }
                let function = function.contains(cased(spelling, true, lower));
                let synsets = synsets.of(word).iter().fold(0, |bits, &synset| bits | 1 << bit(synset));
                block.push((text.len(), Word { stem: word, function, synsets }));
            }
            Ok((text, block))
        },
        |_, (text, block), stop| {
            let mut start = 0;
            for (end, word) in block {
                stop.charge(LOOK_UP)?;
                let stem = if algorithm.is_some() { stems.intern(&text[start..end]) } else { word.stem };
                words.push(Word { stem, ..word });
                start = end;
            }
            Ok(())
        },
    )?;
    Ok(words)
}

/// The bit of a synonym set in [`Word::synsets`]: the upper bits of a product with 2^64 divided by the golden ratio, which
/// spreads neighbouring numbers evenly.
fn bit(synset: Synset) -> u32 {
    (synset.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as u32
}
