//! Matches between the words or phrases of a hypothesis and a reference.

use super::lexicon::Lexicon;
use super::settings::Module;
use crate::error::Result;
use crate::pool::Stop;
use crate::text::ngram::Token;

/// A phrase of the hypothesis that matches a phrase of the reference; single words but for paraphrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) module: Module,
    pub(super) hypothesis: usize,
    pub(super) hypothesis_length: usize,
    pub(super) reference: usize,
    pub(super) reference_length: usize,
}

/// Appends all matches by these modules to `out`, in METEOR's order.
///
/// # Errors
/// [`crate::Error::Interrupted`], [`crate::Error::Memory`].
pub(super) fn find(
    _lexicon: &Lexicon,
    _modules: &[Module],
    _hypothesis: &[Token],
    _reference: &[Token],
    _out: &mut Vec<Match>,
    _stop: &Stop<'_>,
) -> Result<()> {
    Ok(())
}
