//! Tokenization and normalization of lines.

use super::settings::Settings;
use super::words::Prefixes;

/// Splits lines into words.
pub(super) struct Normalizer {
    lowercase: bool,
}

impl Normalizer {
    /// `prefixes` are words before a dot that does not end a sentence.
    pub(super) fn new(settings: &Settings, _prefixes: Prefixes) -> Self {
        Normalizer { lowercase: settings.lowercase }
    }

    /// Calls `emit` with every word of a line.
    pub(super) fn words(&self, line: &str, emit: &mut dyn FnMut(&str)) {
        let mut lower = String::new();
        let line = crate::metric::text::cased(line, self.lowercase, &mut lower);
        line.split_ascii_whitespace().for_each(emit);
    }
}
