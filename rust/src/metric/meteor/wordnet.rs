//! WordNet's synonym sets (Miller 1995, doi:10.1145/219717.219748), in METEOR's format or WordNet's own.

use super::resources::METEOR;
use crate::error::{Error, Result};
use crate::metric::files::{File, Resource, Text};
use crate::pool::{Stop, sort};
use crate::text::joined::Joined;
use crate::text::ngram::{Token, Vocabulary};

/// A synonym set: an offset, with the part of speech in its upper bits if it comes from WordNet's own files.
pub(super) type Synset = u64;

/// The synonym sets of each word of a vocabulary, sorted and without repetitions.
#[derive(Default)]
pub(super) struct Synsets(Joined<Synset>);

/// The endings of inflected words, and what their bases have instead. The first that gives a known word counts.
const ENDINGS: [(&str, &str); 18] = [
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
    ("er", "e"),
    ("est", "e"),
];

/// The approximate cost of reading a line or looking up a word, in additions.
const LOOK_UP: usize = 64;

impl Synsets {
    /// Those of the words themselves and of their bases, which are looked up as they are spelled.
    pub(super) fn new(synonyms: Option<&Resource>, words: &Vocabulary, stop: &Stop<'_>) -> Result<Self> {
        let dictionary = match synonyms {
            Some(meteors) if meteors.purpose == METEOR => Dictionary::of_meteor(&meteors.files, stop)?,
            Some(wordnet) => Dictionary::of_wordnet(&wordnet.files, stop)?,
            None => Dictionary::default(),
        };
        let mut synsets = Joined::default();
        let (mut buffer, mut found) = (String::new(), Vec::new());
        for word in 0..words.len() as Token {
            let spelling = words.get(word);
            stop.charge(LOOK_UP + spelling.len())?;
            dictionary.look_up(spelling, &mut buffer, &mut found);
            synsets.add(&found);
        }
        Ok(Synsets(synsets))
    }

    /// The synonym sets of a word.
    pub(super) fn of(&self, word: Token) -> &[Synset] {
        if word as usize >= self.0.len() { &[] } else { self.0.get(word as usize) }
    }
}

/// All words of WordNet.
#[derive(Default)]
struct Dictionary {
    words: Vocabulary,
    /// The words and their synonym sets, sorted.
    sets: Vec<(Token, Synset)>,
    irregular: Vocabulary,
    /// Irregular forms and their bases, which are numbers of words, sorted.
    bases: Vec<(Token, Token)>,
}

impl Dictionary {
    /// METEOR's format: a file of words and one of irregular forms. Lines alternate between words and their offsets, or
    /// between bases and their irregular forms. Offsets of all parts of speech are mixed.
    fn of_meteor(files: &[File], stop: &Stop<'_>) -> Result<Self> {
        let mut all = Dictionary::default();
        let [words, exceptions] = files else {
            return Err(Error::invalid("METEOR's synonyms", "two files", files.len()));
        };
        let text = words.text()?;
        pairs(text, "a word", "the offsets of its synonym sets", |word, line, offsets| {
            stop.charge(LOOK_UP + offsets.len())?;
            let word = all.words.intern(word);
            offsets.split_ascii_whitespace().try_for_each(|offset| {
                all.sets.push((word, parse(text, line, offset)?));
                Ok(())
            })
        })?;
        pairs(exceptions.text()?, "a word", "its irregular forms", |base, _, forms| {
            stop.charge(LOOK_UP + forms.len())?;
            forms.split_ascii_whitespace().for_each(|form| all.add_exception(form, base));
            Ok(())
        })?;
        all.sorted(stop)
    }

    /// WordNet's own format: an index and a list of exceptions for each part of speech.
    fn of_wordnet(files: &[File], stop: &Stop<'_>) -> Result<Self> {
        let mut all = Dictionary::default();
        for (index, number) in files.iter().step_by(2).zip(1..) {
            let text = index.text()?;
            // The licence is indented.
            for (line, entry) in text.lines().filter(|(_, entry)| !entry.starts_with(' ')) {
                stop.charge(LOOK_UP + entry.len())?;
                let (word, offsets) = index_entry(entry).ok_or_else(|| {
                    text.malformed(
                        line,
                        "a word, its part of speech, its number of synonym sets … and their offsets",
                        entry,
                    )
                })?;
                let word = all.words.intern(word);
                for offset in offsets.split_ascii_whitespace() {
                    let offset = parse(text, line, offset)?;
                    all.sets.push((word, offset | number << u32::BITS));
                }
            }
        }
        for exceptions in files.iter().skip(1).step_by(2) {
            let text = exceptions.text()?;
            for (line, entry) in text.lines() {
                stop.charge(LOOK_UP + entry.len())?;
                let Some((form, bases)) = entry.split_once(' ') else {
                    return Err(text.malformed(line, "an irregular form and its bases", entry));
                };
                bases.split_ascii_whitespace().for_each(|base| all.add_exception(form, base));
            }
        }
        all.sorted(stop)
    }

    /// An irregular form is irregular even if its base is not in the dictionary.
    fn add_exception(&mut self, form: &str, base: &str) {
        let form = self.irregular.intern(form);
        self.bases.push((form, self.words.find(base)));
    }

    fn sorted(mut self, stop: &Stop<'_>) -> Result<Self> {
        sort(&mut self.sets, Ord::cmp, stop)?;
        sort(&mut self.bases, Ord::cmp, stop)?;
        Ok(self)
    }

    /// Puts the synonym sets of a word and its bases into `found`, sorted and without repetitions.
    fn look_up(&self, word: &str, buffer: &mut String, found: &mut Vec<Synset>) {
        found.clear();
        found.extend(of_key(&self.sets, self.words.find(word)));
        let irregular = self.irregular.find(word);
        if (irregular as usize) < self.irregular.len() {
            of_key(&self.bases, irregular).for_each(|base| found.extend(of_key(&self.sets, base)));
        } else if let Some(base) = self.regular_base(word, buffer) {
            found.extend(of_key(&self.sets, base));
        }
        found.sort_unstable();
        found.dedup();
    }

    /// The base of a word whose ending is regular.
    fn regular_base(&self, word: &str, buffer: &mut String) -> Option<Token> {
        if word.ends_with("ss") || word.chars().nth(2).is_none() {
            return None;
        }
        ENDINGS.iter().find_map(|(ending, instead)| {
            buffer.clear();
            buffer.push_str(word.strip_suffix(ending)?);
            buffer.push_str(instead);
            Some(self.words.find(buffer)).filter(|&base| (base as usize) < self.words.len())
        })
    }
}

/// What belongs to a key in a sorted list.
fn of_key<T: Copy>(sorted: &[(Token, T)], key: Token) -> impl Iterator<Item = T> {
    let start = sorted.partition_point(|&(known, _)| known < key);
    sorted[start..].iter().take_while(move |&&(known, _)| known == key).map(|&(_, value)| value)
}

/// Calls `each` with the first line of every two, the number of the second, and the second.
fn pairs(
    text: Text<'_>,
    first: &str,
    second: &str,
    mut each: impl FnMut(&str, usize, &str) -> Result<()>,
) -> Result<()> {
    let mut lines = text.lines();
    while let Some((number, one)) = lines.next() {
        if one.is_empty() {
            return Err(text.malformed(number, first, one));
        }
        let (number, two) = lines.next().ok_or_else(|| text.ends(number, second))?;
        if two.is_empty() {
            return Err(text.malformed(number, second, two));
        }
        each(one, number, two)?;
    }
    Ok(())
}

fn parse(text: Text<'_>, line: usize, offset: &str) -> Result<Synset> {
    match offset.parse::<u32>() {
        Ok(offset) => Ok(offset.into()),
        Err(_) => Err(text.malformed(line, "the offset of a synonym set, a number", offset)),
    }
}

/// The word of a line of an index, and the rest of the line with the offsets of its synonym sets. The fields of a line
/// are the word, its part of speech, the number of its synonym sets, the number of its pointers, the pointers, two
/// more numbers, and the offsets.
fn index_entry(line: &str) -> Option<(&str, &str)> {
    let mut rest = line;
    let mut field = || {
        let (field, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        field
    };
    let (word, _, sets, pointers) = (field(), field(), field(), field());
    let (sets, pointers): (usize, u16) = (sets.parse().ok()?, pointers.parse().ok()?);
    for _ in 0..u32::from(pointers) + 2 {
        field();
    }
    (rest.split_ascii_whitespace().count() == sets).then_some((word, rest))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use proptest::prelude::*;

    use super::super::resources::WORDNET;
    use super::super::resources::testing::resource;
    use super::*;

    const OWN: [(&str, &str); 8] = [
        (
            "index.noun",
            "  1 licence\naxe n 1 2 @ ~ 1 0 00000007  \nrun n 2 0 2 0 00000001 00000002\nmess n 1 0 1 0 00000009\n",
        ),
        ("noun.exc", "axes axis axe\n"),
        (
            "index.verb",
            "run v 1 0 1 0 00000001\nfix v 1 0 1 0 00000004\nbe v 1 0 1 0 00000005\nnote v 1 0 1 0 00000006\n",
        ),
        ("verb.exc", "ran run\nis be\nnotes unknown\n"),
        ("index.adj", "wide a 1 0 1 0 00000001\n"),
        ("adj.exc", ""),
        ("index.adv", ""),
        ("adv.exc", ""),
    ];
    const METEORS: [(&str, &str); 2] = [
        (SYNSETS, "axe\n00000007\nbe\n5\nfix\n4\nmess\n9\nnote\n6\nrun\n00000001 00000002 00000001\nwide\n1\n"),
        (EXCEPTIONS, "axis\naxes\naxe\naxes\nrun\nran\nbe\nis\nunknown\nnotes notes\n"),
    ];
    const SYNSETS: &str = "english.synsets";
    const EXCEPTIONS: &str = "english.exceptions";
    const PROBES: [&str; 17] = [
        "run", "ran", "Ran", "runs", "axes", "fixes", "fixing", "wider", "widest", "is", "notes", "noted", "mess",
        "messes", "masses", "", "s",
    ];

    fn of(purpose: &str, files: &[(&str, &str)], words: &[&str]) -> Result<Vec<Vec<Synset>>> {
        let mut vocabulary = Vocabulary::default();
        let tokens: Vec<Token> = words.iter().map(|word| vocabulary.intern(word)).collect();
        let synsets = Synsets::new(Some(&resource(purpose, files)), &vocabulary, &Stop::never())?;
        Ok(tokens.iter().map(|&token| synsets.of(token).to_vec()).collect())
    }

    #[test]
    fn synonym_sets_of_words_and_their_bases_are_found() {
        let expected: [&[Synset]; PROBES.len()] =
            [&[1, 2], &[1, 2], &[], &[1, 2], &[7], &[4], &[4], &[1], &[1], &[5], &[], &[6], &[9], &[9], &[], &[], &[]];
        assert_eq!(expected.map(Vec::from).to_vec(), of(METEOR, &METEORS, &PROBES).unwrap());
    }

    #[test]
    fn both_formats_find_the_same_synonyms_but_wordnet_tells_parts_of_speech_apart() {
        let (own, meteors) = (of(WORDNET, &OWN, &PROBES).unwrap(), of(METEOR, &METEORS, &PROBES).unwrap());
        for (own, meteors) in own.iter().zip(&meteors) {
            let offsets: BTreeSet<_> = own.iter().map(|set| set & 0xFFFF_FFFF).collect();
            assert!(offsets.iter().eq(meteors));
        }
        let sets = of(WORDNET, &OWN, &["run", "wide"]).unwrap();
        assert_eq!([3, 1], [sets[0].len(), sets[1].len()]);
        assert!(sets[0].is_sorted() && !sets[0].contains(&sets[1][0]));
    }

    #[test]
    fn damaged_files_are_refused_with_the_line() {
        let cases = [
            (SYNSETS, "a\n1\nb\n", "line 3: expected the offsets of its synonym sets, got the end of the file"),
            (SYNSETS, "a\n1\n\n2\n", "line 3: expected a word, got \"\""),
            (SYNSETS, "a\n\n", "line 2: expected the offsets of its synonym sets, got \"\""),
            (SYNSETS, "a\n1 x2\n", "line 2: expected the offset of a synonym set, a number, got \"x2\""),
            (EXCEPTIONS, "a\nas\nb\n", "line 3: expected its irregular forms, got the end of the file"),
            ("index.verb", "  1\nrun v 2 0 1 0 00000001\n", "line 2: expected a word, its part of speech"),
            ("index.verb", "run v 1 65535 1 0 00000001\n", "line 1: expected a word, its part of speech"),
            ("index.adv", "well\n", "line 1: expected a word, its part of speech"),
            ("index.adj", "a a 1 0 1 0 -1\n", "line 1: expected the offset of a synonym set, a number, got \"-1\""),
            ("adj.exc", "better good\nbest\n", "line 2: expected an irregular form and its bases, got \"best\""),
        ];
        for (name, text, expected) in cases {
            let damaged = |files: &[(&'static str, &'static str)]| {
                files.iter().map(|file| if file.0 == name { (name, text) } else { *file }).collect::<Vec<_>>()
            };
            let (purpose, files) =
                if name.starts_with("english") { (METEOR, damaged(&METEORS)) } else { (WORDNET, damaged(&OWN)) };
            let message = of(purpose, &files, &PROBES).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{name}, {expected}")), "{message}");
        }
    }

    /// All synonym sets of a word in METEOR's lists, step by step.
    fn slowly(word: &str, sets: &[(String, Vec<u32>)], exceptions: &[(String, String)]) -> Vec<Synset> {
        let known: HashMap<&str, &Vec<u32>> = sets.iter().map(|(word, sets)| (word.as_str(), sets)).collect();
        let mut bases: Vec<String> =
            exceptions.iter().filter(|(_, form)| form == word).map(|(base, _)| base.clone()).collect();
        if bases.is_empty() && word.len() > 2 && !word.ends_with("ss") {
            let mut candidates = Vec::new();
            for (ending, instead) in ENDINGS {
                if let Some(stem) = word.strip_suffix(ending) {
                    candidates.push(format!("{stem}{instead}"));
                }
            }
            bases.extend(candidates.into_iter().find(|base| known.contains_key(base.as_str())));
        }
        bases.push(word.into());
        let found = bases.iter().filter_map(|base| known.get(base.as_str())).flat_map(|sets| sets.iter());
        found.map(|&set| Synset::from(set)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    proptest! {
        #![proptest_config(crate::testing::cases(128))]
        #[test]
        fn synonym_sets_equal_those_found_slowly(
            sets in proptest::collection::btree_map("[as][es]{0,3}(ing|ed)?", proptest::collection::vec(0..9_u32, 1..3), 1..9),
            exceptions in proptest::collection::vec(("[as][es]{0,2}", "[as][es]{0,3}"), 0..5),
            words in proptest::collection::btree_set("[as][es]{0,4}(ing|ed)?", 1..20),
        ) {
            let sets: Vec<_> = sets.into_iter().collect();
            let lines = |sets: &[u32]| sets.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            let synsets: String = sets.iter().map(|(word, sets)| format!("{word}\n{}\n", lines(sets))).collect();
            let listed: String = exceptions.iter().map(|(base, form)| format!("{base}\n{form}\n")).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let expected: Vec<_> = words.iter().map(|word| slowly(word, &sets, &exceptions)).collect();
            let files = [(SYNSETS, synsets.as_str()), (EXCEPTIONS, &listed)];
            prop_assert_eq!(expected, of(METEOR, &files, &words).unwrap());
        }
    }
}
