//! Sparse features of candidates, from templates: n-grams, phrase pairs, pairs of words.
//!
//! Features are numbered by their first occurrence. A feature that has the same value for all candidates of every list
//! cannot tell them apart, so it is left out.

use std::hash::Hash;

use hashbrown::HashMap;

use super::candidates::Offsets;
use crate::error::{Error, Result, check_length};
use crate::memory::room;
use crate::pool::Stop;

/// What a feature counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// How often an n-gram of this order occurs in the candidate.
    Ngram(usize),
    /// Whether an n-gram of this order occurs: another candidate for selection that says almost the same.
    Presence(usize),
    /// How often a phrase pair was used, by the candidate's segmentation.
    Phrase,
    /// Whether a word of the source and a word of the candidate occur.
    Words,
}

/// The longest n-grams.
const LONGEST: usize = 9;

impl Template {
    /// The template of that name: `ngram:2`, `presence:2`, `phrase`, `words`.
    pub fn named(name: &str) -> Result<Self> {
        let order = |order: &str| order.parse().ok().filter(|order| (1..=LONGEST).contains(order));
        let found = match name.split_once(':') {
            Some(("ngram", n)) => order(n).map(Template::Ngram),
            Some(("presence", n)) => order(n).map(Template::Presence),
            None if name == "phrase" => Some(Template::Phrase),
            None if name == "words" => Some(Template::Words),
            _ => None,
        };
        let known = ["ngram:1 to ngram:9", "presence:1 to presence:9", "phrase", "words"];
        found.ok_or_else(|| Error::unknown("template", name, known))
    }

    /// The name of a feature. Its tokens have no spaces, so different features have different names.
    fn feature(self, spelled: &str) -> String {
        match self {
            Template::Ngram(n) => format!("ngram:{n}={spelled}"),
            Template::Presence(n) => format!("presence:{n}={spelled}"),
            Template::Phrase => format!("phrase={spelled}"),
            Template::Words => format!("words={spelled}"),
        }
    }
}

/// Texts of candidates, and of what they translate.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    /// Where each list begins, and the number of candidates at the end.
    pub starts: &'a [i64],
    /// The tokens of each candidate, between spaces.
    pub hypotheses: &'a [&'a str],
    /// The source of each list, without which there are no features of phrases and of words.
    pub sources: Option<&'a [&'a str]>,
    /// The segmentation of each candidate: `0-1=0-0 2=1` says that the first two source words gave the first word.
    pub segmentations: Option<&'a [&'a str]>,
}

/// Which features to make.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    pub templates: Vec<Template>,
    /// Whether `<s>` and `</s>` are put around candidates before n-grams are formed.
    pub edges: bool,
    /// In how many lists a feature has to tell candidates apart.
    pub minimum: usize,
    /// The features to be found, in order, instead of all that occur.
    pub known: Option<&'a [&'a str]>,
}

/// Rows of sparse features, with the features' names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Features {
    /// Where the row of each candidate begins, and the end of the last one.
    pub starts: Vec<i64>,
    /// The features of all rows; within a row from small to large.
    pub features: Vec<i32>,
    /// Their values.
    pub values: Vec<f64>,
    pub names: Vec<String>,
}

/// Numbers for keys, by their first occurrence.
#[derive(Default)]
struct Numbers<K>(HashMap<K, u32, foldhash::fast::FixedState>);

impl<K: Hash + Eq> Numbers<K> {
    fn of(&mut self, key: K) -> Result<u32> {
        let next = self.0.len();
        self.0.try_reserve(1).map_err(|_| Error::Memory { numbers: next as u128 })?;
        if next >= i32::MAX as usize {
            return Err(Error::Memory { numbers: next as u128 });
        }
        Ok(*self.0.entry(key).or_insert(next as u32))
    }
}

/// Finds the features of candidates. Pairs are numbered by their words, so that spellings are made once per feature.
struct Finder<'a> {
    wanted: &'a Wanted<'a>,
    words: Numbers<&'a str>,
    spellings: Vec<&'a str>,
    /// N-grams: (the number of the prefix + 1, or 0; the last word).
    prefixes: Numbers<(u32, u32)>,
    /// Phrase pairs.
    phrases: Numbers<String>,
    /// Pairs of words.
    word_pairs: Numbers<(u32, u32)>,
    /// Features: (template, n-gram or pair).
    features: Numbers<(usize, u32)>,
    names: Vec<String>,
}

impl<'a> Finder<'a> {
    fn word(&mut self, word: &'a str) -> Result<u32> {
        let number = self.words.of(word)?;
        if number as usize == self.spellings.len() {
            self.spellings.push(word);
        }
        Ok(number)
    }

    fn feature(&mut self, template: usize, key: u32, spelled: impl FnOnce(&Self) -> String) -> Result<u32> {
        let number = self.features.of((template, key))?;
        if number as usize == self.names.len() {
            let name = self.wanted.templates[template].feature(&spelled(self));
            self.names.push(name);
        }
        Ok(number)
    }

    /// Appends the numbers of the features of a candidate, once per occurrence.
    fn find(
        &mut self,
        found: &mut Vec<u32>,
        hypothesis: &'a str,
        source: &[&'a str],
        segmentation: &str,
    ) -> Result<()> {
        let edges = self.wanted.edges;
        let tokens = edges.then_some("<s>").into_iter().chain(hypothesis.split_ascii_whitespace());
        let mut words = Vec::new();
        for token in tokens.chain(edges.then_some("</s>")) {
            words.push(self.word(token)?);
        }
        let inner = if edges { 1..words.len() - 1 } else { 0..words.len() };
        let wanted = self.wanted;
        for (template, &kind) in wanted.templates.iter().enumerate() {
            match kind {
                Template::Ngram(n) => self.grams(found, (template, n), &words)?,
                Template::Presence(n) => {
                    let mut once = Vec::new();
                    self.grams(&mut once, (template, n), &words)?;
                    once.sort_unstable();
                    once.dedup();
                    found.append(&mut once);
                }
                Template::Phrase => {
                    for pair in segmentation.split_ascii_whitespace() {
                        let inside: Vec<&str> =
                            words[inner.clone()].iter().map(|&w| self.spellings[w as usize]).collect();
                        let pair = phrase_pair(pair, source, &inside)?;
                        let key = self.phrases.of(pair.clone())?;
                        found.push(self.feature(template, key, |_| pair)?);
                    }
                }
                Template::Words => self.pairs_of_words(found, template, (source, &words[inner.clone()]))?,
            }
        }
        Ok(())
    }

    /// Appends the numbers of the features of all n-grams.
    fn grams(&mut self, found: &mut Vec<u32>, (template, n): (usize, usize), words: &[u32]) -> Result<()> {
        for gram in words.windows(n) {
            let mut prefix = 0;
            for &word in gram {
                prefix = self.prefixes.of((prefix, word))? + 1;
            }
            let spelled =
                |this: &Self| gram.iter().map(|&word| this.spellings[word as usize]).collect::<Vec<_>>().join(" ");
            found.push(self.feature(template, prefix, spelled)?);
        }
        Ok(())
    }

    /// Appends the numbers of the features of all pairs of different words of the source and the candidate.
    fn pairs_of_words(
        &mut self,
        found: &mut Vec<u32>,
        template: usize,
        (source, target): (&[&'a str], &[u32]),
    ) -> Result<()> {
        let mut both = [Vec::new(), target.to_vec()];
        for &word in source {
            both[0].push(self.word(word)?);
        }
        for words in &mut both {
            words.sort_unstable();
            words.dedup();
        }
        for &first in &both[0] {
            for &second in &both[1] {
                let key = self.word_pairs.of((first, second))?;
                let spelled =
                    |this: &Self| format!("{} {}", this.spellings[first as usize], this.spellings[second as usize]);
                found.push(self.feature(template, key, spelled)?);
            }
        }
        Ok(())
    }
}

/// `0-1=0-0`: the source's and the candidate's words of a phrase pair, with ` ||| ` between them.
fn phrase_pair(pair: &str, source: &[&str], target: &[&str]) -> Result<String> {
    let span = |span: &str, words: &[&str]| {
        let (first, last) = span.split_once('-').unwrap_or((span, span));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && last < words.len()).then(|| words[first..=last].join(" "))
    };
    let both = pair.split_once('=').and_then(|(from, to)| Some((span(from, source)?, span(to, target)?)));
    let (from, to) = both.ok_or_else(|| Error::Malformed {
        place: crate::error::Place::default(),
        expected: format!("a phrase pair such as 0-1=0, of {} source and {} target words", source.len(), target.len()),
        got: crate::error::quoted(pair),
    })?;
    Ok(format!("{from} ||| {to}"))
}

/// The features of all candidates.
pub fn features(texts: &Texts<'_>, wanted: &Wanted<'_>, stop: &Stop<'_>) -> Result<Features> {
    let candidates = texts.hypotheses.len();
    let lists = Offsets::of_rows("offsets", texts.starts, candidates, stop)?;
    for (what, expected, texts) in
        [("sources", lists.len(), texts.sources), ("segmentations", candidates, texts.segmentations)]
    {
        texts.map_or(Ok(()), |texts| check_length(what, expected, texts.len()))?;
    }
    let mut finder = Finder {
        wanted,
        words: Numbers::default(),
        spellings: Vec::new(),
        prefixes: Numbers::default(),
        phrases: Numbers::default(),
        word_pairs: Numbers::default(),
        features: Numbers::default(),
        names: Vec::new(),
    };
    let mut out = Features { starts: vec![0], ..Features::default() };
    let mut apart: Vec<usize> = Vec::new();
    let (mut found, mut seen) = (Vec::new(), Vec::new());
    for (list, candidates) in lists.iter().enumerate() {
        let source: Vec<&str> = texts.sources.map_or_else(Vec::new, |all| all[list].split_ascii_whitespace().collect());
        let first = out.features.len();
        for candidate in candidates.clone() {
            found.clear();
            let segmentation = texts.segmentations.map_or("", |all| all[candidate]);
            let placed = finder.find(&mut found, texts.hypotheses[candidate], &source, segmentation);
            placed.map_err(|error| error.in_segment(list + 1))?;
            stop.charge(32 * found.len() + 32)?;
            found.sort_unstable();
            append(&mut out, &found)?;
        }
        apart.resize(finder.names.len(), 0);
        tell_apart(&out, first, candidates.len(), &mut seen, &mut apart);
    }
    match wanted.known {
        Some(known) => select(&mut out, &finder.names, known),
        None => {
            let mut kept = 0;
            let numbers: Vec<Option<i32>> =
                apart.iter().map(|&lists| (lists >= wanted.minimum.max(1)).then(|| (kept, kept += 1).0)).collect();
            renumber(&mut out, &numbers);
            let names = finder.names.into_iter().zip(&numbers);
            out.names = names.filter(|(_, number)| number.is_some()).map(|(name, _)| name).collect();
        }
    }
    Ok(out)
}

/// Appends a row: different features with how often they occur.
fn append(out: &mut Features, found: &[u32]) -> Result<()> {
    room(&mut out.features, found.len())?;
    room(&mut out.values, found.len())?;
    for same in found.chunk_by(|a, b| a == b) {
        out.features.push(same[0] as i32);
        out.values.push(same.len() as f64);
    }
    out.starts.push(out.features.len() as i64);
    Ok(())
}

/// Counts a list for the features that do not have the same value for all of its candidates.
fn tell_apart(out: &Features, first: usize, candidates: usize, seen: &mut Vec<(i32, f64)>, apart: &mut [usize]) {
    seen.clear();
    seen.extend(out.features[first..].iter().copied().zip(out.values[first..].iter().copied()));
    seen.sort_unstable_by_key(|pair| pair.0);
    for same in seen.chunk_by(|a, b| a.0 == b.0) {
        if same.len() < candidates || same.iter().any(|(_, value)| *value != same[0].1) {
            apart[same[0].0 as usize] += 1;
        }
    }
}

/// Keeps the features of these names, with their numbers there.
fn select(out: &mut Features, names: &[String], known: &[&str]) {
    let places: HashMap<&str, i32, foldhash::fast::FixedState> =
        known.iter().enumerate().map(|(i, name)| (*name, i as i32)).collect();
    let numbers: Vec<Option<i32>> = names.iter().map(|name| places.get(name.as_str()).copied()).collect();
    renumber(out, &numbers);
    for ends in out.starts.windows(2) {
        let row = ends[0] as usize..ends[1] as usize;
        let mut pairs: Vec<_> =
            out.features[row.clone()].iter().copied().zip(out.values[row.clone()].iter().copied()).collect();
        pairs.sort_unstable_by_key(|pair| pair.0);
        for (place, (feature, value)) in row.zip(pairs) {
            (out.features[place], out.values[place]) = (feature, value);
        }
    }
    out.names = known.iter().map(|name| (*name).into()).collect();
}

/// Gives features new numbers, and drops those that have none.
fn renumber(out: &mut Features, numbers: &[Option<i32>]) {
    let (mut kept, mut begin) = (0, 0);
    for end in &mut out.starts[1..] {
        let row = begin..*end as usize;
        begin = row.end;
        for i in row {
            if let Some(number) = numbers[out.features[i] as usize] {
                (out.features[kept], out.values[kept]) = (number, out.values[i]);
                kept += 1;
            }
        }
        *end = kept as i64;
    }
    out.features.truncate(kept);
    out.values.truncate(kept);
}

#[cfg(test)]
mod tests;
