//! The slow twin: matches and states as plain lists, straight from the description of the aligner.

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

/// All matches by these modules.
fn all_matches(language: &Language, modules: &[Module], hypothesis: &[Token], reference: &[Token]) -> Vec<Match> {
    let mut all = Vec::new();
    let mut add = |module, (h, h_length): (usize, usize), (r, r_length): (usize, usize)| {
        all.push(Match {
            module,
            hypothesis: h as u32,
            hypothesis_length: h_length as u32,
            reference: r as u32,
            reference_length: r_length as u32,
        });
    };
    for &module in modules {
        if module != Module::Exact && hypothesis == reference {
            continue;
        }
        if module == Module::Paraphrase {
            language.each_paraphrase(reference, &mut |start, length, paraphrase| {
                for at in (0..hypothesis.len()).filter(|&at| hypothesis[at..].starts_with(paraphrase)) {
                    add(module, (at, paraphrase.len()), (start, length));
                }
            });
            language.each_paraphrase(hypothesis, &mut |start, length, paraphrase| {
                for at in (0..reference.len()).filter(|&at| reference[at..].starts_with(paraphrase)) {
                    add(module, (start, length), (at, paraphrase.len()));
                }
            });
            continue;
        }
        for (r, &word) in reference.iter().enumerate() {
            for (h, &other) in hypothesis.iter().enumerate() {
                let equal_stems = language.stems[word as usize] == language.stems[other as usize];
                if match module {
                    Module::Exact => word == other,
                    Module::Stem => word != other && equal_stems,
                    _ => word != other && language.share_synset(word, other),
                } {
                    add(module, (h, 1), (r, 1));
                }
            }
        }
    }
    all
}

#[derive(Debug, Clone, Default)]
struct Path {
    chosen: Vec<Match>,
    used_hypothesis: Vec<bool>,
    used_reference: Vec<bool>,
    matched: u32,
    chunks: usize,
    open: Option<u32>,
    end: u32,
    distance: u32,
}

impl Path {
    fn apply(&mut self, found: Match) {
        if self.open.is_some_and(|open| open != found.hypothesis) {
            self.chunks += 1;
        }
        self.open = Some(found.hypothesis + found.hypothesis_length);
        self.end = found.reference + found.reference_length;
        self.chosen.push(found);
        of_hypothesis(&mut self.used_hypothesis, &found).fill(true);
        of_reference(&mut self.used_reference, &found).fill(true);
    }

    fn close(&mut self) {
        self.chunks += usize::from(self.open.take().is_some());
    }
}

fn compare(paths: &mut Vec<Path>) {
    paths.sort_by_key(|path| (std::cmp::Reverse(path.matched), path.chunks, path.distance));
    paths.truncate(40);
}

/// The alignment that METEOR chooses.
fn choose(matches: &[Match], hypothesis_length: usize, reference_length: usize) -> (Vec<Match>, usize) {
    let mut cover_hypothesis = vec![0; hypothesis_length];
    let mut cover_reference = vec![0; reference_length];
    for found in matches {
        of_hypothesis(&mut cover_hypothesis, found).iter_mut().for_each(|n| *n += 1);
        of_reference(&mut cover_reference, found).iter_mut().for_each(|n| *n += 1);
    }
    let start = Path {
        used_hypothesis: vec![false; hypothesis_length],
        used_reference: vec![false; reference_length],
        ..Path::default()
    };
    let mut fixed = vec![None; reference_length];
    let mut first = start;
    for (at, fixed) in fixed.iter_mut().enumerate() {
        let here: Vec<_> = matches.iter().filter(|found| found.reference as usize == at).collect();
        if let [&only] = here[..] {
            let alone = of_hypothesis(&mut cover_hypothesis, &only).iter().all(|&n| n == 1)
                && of_reference(&mut cover_reference, &only).iter().all(|&n| n == 1);
            if alone {
                *fixed = Some(only);
                of_hypothesis(&mut first.used_hypothesis, &only).fill(true);
                of_reference(&mut first.used_reference, &only).fill(true);
            }
        }
    }
    let mut paths = vec![first];
    for (at, &fixed) in fixed.iter().enumerate() {
        compare(&mut paths);
        let mut next = Vec::new();
        for mut path in paths {
            if path.used_reference[at] {
                if let Some(found) = fixed {
                    path.apply(found);
                    next.push(path);
                } else if at < path.end as usize {
                    next.push(path);
                }
                continue;
            }
            for &found in matches.iter().filter(|found| found.reference as usize == at) {
                let taken = of_hypothesis(&mut path.used_hypothesis, &found).contains(&true)
                    || of_reference(&mut path.used_reference, &found).contains(&true);
                if !taken {
                    let mut copy = path.clone();
                    copy.apply(found);
                    let half = if found.module == Module::Exact { 1 } else { 2 };
                    copy.matched += found.hypothesis_length / half + found.reference_length / half;
                    path.distance += found.reference.abs_diff(found.hypothesis);
                    next.push(copy);
                }
            }
            path.close();
            next.push(path);
        }
        paths = next;
    }
    compare(&mut paths);
    paths.iter_mut().for_each(Path::close);
    compare(&mut paths);
    let best = paths.swap_remove(0);
    (best.chosen, best.chunks)
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

fn assert_equals_the_twin(language: &Language, modules: &[Module], hypothesis: &[Token], reference: &[Token]) {
    let expected = all_matches(language, modules, hypothesis, reference);
    let got = find(language, modules, hypothesis, reference);
    for at in 0..reference.len() {
        let expected: Vec<_> = expected.iter().filter(|found| found.reference as usize == at).copied().collect();
        let singles = got.singles(at).iter().map(|&single| Matches::single(at, single));
        let got: Vec<_> = singles.chain(got.phrases(at).iter().copied()).collect();
        assert_eq!(expected, got, "at {at}");
    }
    let lengths = [hypothesis.len(), reference.len()];
    let expected = choose(&expected, lengths[0], lengths[1]);
    for narrow in [true, false] {
        assert_eq!(expected, align(&got, lengths, narrow), "{language:?} {hypothesis:?} {reference:?}");
    }
}

proptest! {
    #![proptest_config(crate::testing::cases(200))]

    #[test]
    fn alignments_equal_those_of_the_twin((language, hypothesis, reference) in case(), modules in modules()) {
        assert_equals_the_twin(&language, &modules, &hypothesis, &reference);
    }
}

proptest! {
    #![proptest_config(crate::testing::cases(2))]

    #[test]
    fn alignments_of_long_texts_equal_those_of_the_twin(
        (language, hypothesis, reference) in language(5).prop_flat_map(|language| {
            let text = || prop::collection::vec(0..5 as Token, 60..150);
            (Just(language), text(), text())
        }),
    ) {
        assert_equals_the_twin(&language, &Module::ALL, &hypothesis, &reference);
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
