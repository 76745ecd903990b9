//! Keys of both widths, and their borders. tests/python/test_meteor.py compares alignments with a slow twin.

use super::*;
use crate::metric::meteor::lexicon::{Related, Word};
use crate::metric::meteor::matches::Text;
use crate::metric::meteor::settings::Module;
use crate::text::ngram::Token;
use proptest::prelude::*;

/// What is known of the words 0, 1 …
#[derive(Debug, Clone)]
struct Language {
    stems: Vec<u32>,
    /// A bit for each synonym set.
    synsets: Vec<u64>,
    paraphrases: Vec<(Vec<Token>, Vec<Token>)>,
}

impl Language {
    fn known(&self, words: &[Token]) -> Vec<Word> {
        let word = |&word: &Token| {
            let (stem, synsets) = (self.stems[word as usize], self.synsets[word as usize]);
            Word { stem, synsets, function: false }
        };
        words.iter().map(word).collect()
    }
}

impl Related for Language {
    fn share_synset(&self, a: Token, b: Token) -> bool {
        self.synsets[a as usize] & self.synsets[b as usize] != 0
    }

    fn each_paraphrase(&self, words: &[Token], found: &mut dyn FnMut(usize, usize, &[Token])) {
        for start in 0..words.len() {
            for length in 1..=words.len() - start {
                for (phrase, paraphrase) in &self.paraphrases {
                    if *phrase == words[start..start + length] {
                        found(start, length, paraphrase);
                    }
                }
            }
        }
    }
}

/// The fast alignment, with keys of 64 or 128 bits.
fn align(matches: &Matches, lengths: [usize; 2], narrow: bool) -> (Vec<Match>, usize) {
    let mut aligner = Aligner::default();
    let (chosen, chunks) = aligner.align_with(matches, lengths, |_, _, _| narrow, &Stop::never()).unwrap();
    let mut chosen = chosen.to_vec();
    chosen.sort_by_key(|found| found.reference);
    (chosen, chunks)
}

fn find(language: &Language, modules: &[Module], hypothesis: &[Token], reference: &[Token]) -> Matches {
    let known = [hypothesis, reference].map(|words| language.known(words));
    let stems = known.each_ref().map(|known| known.iter().map(|word| word.stem).collect::<Vec<_>>());
    let words = [hypothesis, reference];
    let texts = [0, 1].map(|i| Text { words: words[i], stems: &stems[i], known: &known[i] });
    let mut matches = Matches::default();
    matches.find(language, modules, texts, &Stop::never()).unwrap();
    matches
}

fn language(words: usize) -> impl Strategy<Value = Language> {
    let phrase = move || prop::collection::vec(0..words as Token, 1..4);
    let paraphrases = prop::collection::vec((phrase(), phrase()), 0..8);
    let stems = prop::collection::vec(0..words as u32, words);
    let synsets = prop::collection::vec(prop_oneof![Just(0), 0..16_u64], words);
    (stems, synsets, paraphrases).prop_map(|(stems, synsets, paraphrases)| Language { stems, synsets, paraphrases })
}

fn case() -> impl Strategy<Value = (Language, Vec<Token>, Vec<Token>)> {
    (2..8_usize, 1..28_usize).prop_flat_map(|(words, length)| {
        let text = move || prop::collection::vec(0..words as Token, 0..length);
        (language(words), text(), text())
    })
}

fn modules() -> impl Strategy<Value = Vec<Module>> {
    prop::sample::subsequence(Module::ALL[1..].to_vec(), 0..4)
        .prop_map(|others| [&[Module::Exact][..], &others].concat())
}

fn assert_keys_agree(language: &Language, modules: &[Module], hypothesis: &[Token], reference: &[Token]) {
    let matches = find(language, modules, hypothesis, reference);
    let [narrow, wide] = [true, false].map(|narrow| align(&matches, [hypothesis.len(), reference.len()], narrow));
    assert_eq!(wide, narrow, "{language:?} {hypothesis:?} {reference:?}");
}

proptest! {
    #![proptest_config(crate::testing::cases(200))]

    #[test]
    fn keys_of_both_widths_choose_the_same_alignment((language, hypothesis, reference) in case(), modules in modules()) {
        assert_keys_agree(&language, &modules, &hypothesis, &reference);
    }
}

proptest! {
    #![proptest_config(crate::testing::cases(2))]

    #[test]
    fn keys_of_both_widths_choose_the_same_alignment_of_long_texts(
        (language, hypothesis, reference) in language(5).prop_flat_map(|language| {
            let text = || prop::collection::vec(0..5 as Token, 60..150);
            (Just(language), text(), text())
        }),
    ) {
        assert_keys_agree(&language, &Module::ALL, &hypothesis, &reference);
    }
}

#[test]
fn states_are_compared_before_the_last_chunks_close() {
    // "run runs" and the reference "runs runs": with the last chunk closed, the single match of equal words would win.
    let language = Language { stems: vec![0, 0], synsets: vec![0, 0], paraphrases: vec![] };
    let (hypothesis, reference) = ([0, 1], [1, 1]);
    let matches = find(&language, &[Module::Exact, Module::Stem], &hypothesis, &reference);
    let (chosen, chunks) = align(&matches, [2, 2], true);
    let modules: Vec<_> = chosen.iter().map(|found| found.module).collect();
    // METEOR 1.5 (-m 'exact stem' -ssOut) counts one chunk, and two matched words on each side.
    assert_eq!((vec![Module::Stem, Module::Exact], 1), (modules, chunks));
}

#[test]
fn keys_have_room_for_what_they_hold() {
    let fits = [(2047, 1 << 25, 255), (2048, 0, 0), (1, 1 << 26, 0), (1, 0, 256)];
    assert_eq!(
        [true, false, false, false],
        fits.map(|(words, distance, most)| <u64 as Key>::fits(words, distance, most))
    );
    let fits = [(1 << 20, 1 << 56, 1 << 20), (1 << 21, 0, 0), (1, 1 << 57, 0), (1, 0, 1 << 21)];
    assert_eq!(
        [true, false, false, false],
        fits.map(|(words, distance, most)| <u128 as Key>::fits(words, distance, most))
    );
}
