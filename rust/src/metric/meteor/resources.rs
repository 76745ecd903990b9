//! The files of METEOR and WordNet, by what they are for.

use std::collections::HashSet;

use super::settings::{Language, Module, Settings};
use super::words::{self, Prefixes};
use crate::error::Result;
use crate::metric::files::{File, Resource};

/// METEOR's function words of a language: one file.
const FUNCTION: &str = "function";
/// METEOR's words before a dot that does not end a sentence: one file.
const PREFIXES: &str = "prefixes";
/// METEOR's synonym sets, and the bases of irregular forms.
pub(super) const METEOR: &str = "meteor";
/// WordNet's own files: for each part of speech its index and its exceptions.
pub(super) const WORDNET: &str = "wordnet";
/// A table of paraphrases, which is read when a corpus is counted.
pub(super) const PARAPHRASES: &str = "paraphrases";

/// Files that the user named, or that were found.
pub(super) struct Resources(pub(super) Vec<Resource>);

impl Resources {
    fn get(&self, purpose: &str) -> Option<&Resource> {
        self.0.iter().find(|resource| resource.purpose == purpose)
    }

    fn file(&self, purpose: &str) -> Option<&File> {
        self.get(purpose)?.files.first()
    }

    /// Are there files for this module?
    pub(super) fn has(&self, module: Module) -> bool {
        match module {
            Module::Exact | Module::Stem => true,
            Module::Synonym => self.synonyms().is_some(),
            Module::Paraphrase => self.paraphrases().is_some(),
        }
    }

    /// Synonyms. The user's WordNet is preferred to METEOR's.
    pub(super) fn synonyms(&self) -> Option<&Resource> {
        self.get(WORDNET).or_else(|| self.get(METEOR))
    }

    /// The table of paraphrases.
    pub(super) fn paraphrases(&self) -> Option<&File> {
        self.file(PARAPHRASES)
    }

    /// The function words of the language: METEOR's file if there is one, else the built-in list.
    pub(super) fn function_words(&self, language: &Language) -> Result<HashSet<String>> {
        let Some(file) = self.file(FUNCTION) else { return Ok(words::function_words(language.code)) };
        let words = file.text()?.lines().map(|(_, line)| line.trim_ascii().to_owned());
        Ok(words.filter(|word| !word.is_empty()).collect())
    }

    /// Words before a dot that does not end a sentence: METEOR's file if there is one, else the built-in list.
    pub(super) fn prefixes(&self, language: &Language) -> Result<Prefixes> {
        let Some(file) = self.file(PREFIXES) else { return Ok(Prefixes::built_in(language.code)) };
        let mut prefixes = Prefixes::default();
        for (_, line) in file.text()?.lines().filter(|(_, line)| !line.starts_with('#')) {
            let mut words = line.split_ascii_whitespace();
            if let Some(word) = words.next() {
                prefixes.insert(word, words.next() == Some("#NUMERIC_ONLY#"));
            }
        }
        Ok(prefixes)
    }

    /// The signature's entries for the files that change scores. Function words equal to the built-in ones do not.
    pub(super) fn signature(&self, settings: &Settings) -> Vec<(&'static str, String)> {
        let uses = |module| settings.modules.contains(&module);
        let built_in = words::function_words(settings.function_language.code);
        let own_words = !matches!(self.function_words(settings.function_language), Ok(words) if words == built_in);
        let digest = |purpose, used: bool| Some(format!("[{}]", self.get(purpose).filter(|_| used)?.digest));
        let synonyms = self.synonyms().filter(|_| uses(Module::Synonym));
        let entries = [
            ("function", digest(FUNCTION, own_words)),
            ("prefixes", digest(PREFIXES, settings.normalized)),
            ("synonyms", synonyms.map(|resource| format!("{}[{}]", resource.purpose, resource.digest))),
            ("paraphrases", digest(PARAPHRASES, uses(Module::Paraphrase))),
        ];
        entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }
}

/// Resources for tests.
#[cfg(test)]
pub(super) mod testing {
    use std::sync::Arc;

    use super::*;

    /// Files with these names and contents, for a purpose.
    pub(in crate::metric::meteor) fn resource(purpose: &str, files: &[(&str, &str)]) -> Resource {
        let file = |(name, text): &(&str, &str)| File { name: (*name).into(), contents: Arc::new((*text).to_owned()) };
        Resource { purpose: purpose.into(), digest: "0".repeat(8), files: files.iter().map(file).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::LANGUAGES;
    use super::testing::resource;
    use super::*;

    #[test]
    fn files_replace_the_built_in_lists() {
        let none = Resources(vec![]);
        assert_eq!([true, true, false, false], Module::ALL.map(|module| none.has(module)));
        assert_eq!(words::function_words("en"), none.function_words(&LANGUAGES[0]).unwrap());
        assert_eq!(Prefixes::built_in("en"), none.prefixes(&LANGUAGES[0]).unwrap());
        let own = Resources(vec![
            resource(FUNCTION, &[("english.words", "the\n\n of \n")]),
            resource(PREFIXES, &[("english.prefixes", "# No dogs\r\nDr\r\n\r\nNo #NUMERIC_ONLY# \r\n")]),
        ]);
        assert_eq!(HashSet::from(["the", "of"].map(String::from)), own.function_words(&LANGUAGES[0]).unwrap());
        let prefixes = own.prefixes(&LANGUAGES[0]).unwrap();
        let known = ["Dr", "No", "dogs", "Mr"].map(|word| [false, true].map(|number| prefixes.contain(word, number)));
        assert_eq!([[true, true], [false, true], [false; 2], [false; 2]], known);
    }
}
