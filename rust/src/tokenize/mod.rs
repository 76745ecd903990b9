//! Tokenizers. A new one is a file here and an entry in [`TOKENIZERS`].

mod none;
pub(crate) mod v13a;

use crate::error::{Error, Result};

pub use none::NoTokenizer;
pub use v13a::V13a;

/// Cuts a line into tokens.
pub trait Tokenizer: Sync {
    /// The name in options and signatures.
    fn name(&self) -> &'static str;
    /// One line for `--help` and the documentation.
    fn about(&self) -> &'static str;
    /// Calls `emit` with every token of `line`, in order. No token is empty or holds white space.
    fn tokenize(&self, line: &str, emit: &mut dyn FnMut(&str));
}

/// Every tokenizer there is, in the order in which they are listed.
pub static TOKENIZERS: &[&dyn Tokenizer] = &[&V13a, &NoTokenizer];

/// Looks a tokenizer up by name.
///
/// # Errors
/// [`Error::UnknownName`] with the names there are.
pub fn tokenizer(name: &str) -> Result<&'static dyn Tokenizer> {
    TOKENIZERS.iter().find(|t| t.name() == name).copied().ok_or_else(|| Error::UnknownName {
        kind: "tokenizer".into(),
        name: name.into(),
        known: TOKENIZERS.iter().map(|t| t.name().into()).collect(),
    })
}

/// White space as Python's `str.split()` and `str.rstrip()` see it: Unicode's and the four ASCII separators.
#[inline]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
