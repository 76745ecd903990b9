//! Tokenization options that all metrics over words share.

use super::{Kind, OptionSpec, Options, Value};
use crate::error::Result;
use crate::text::tokenize::{self, TOKENIZERS, Tokenizer};

pub(super) const TOKENIZE: OptionSpec = OptionSpec {
    name: "tokenize",
    kind: Kind::Choice(|| TOKENIZERS.iter().map(|t| t.name).collect()),
    default: || Value::Name("13a".into()),
    about: "how lines are split into tokens",
};

pub(super) const LOWERCASE: OptionSpec = OptionSpec::flag("lowercase", "ignore case");

/// Splits lines into tokens according to [`TOKENIZE`] and [`LOWERCASE`].
#[derive(Clone, Copy)]
pub struct Words {
    pub(super) tokenizer: &'static Tokenizer,
    pub(super) lowercase: bool,
    /// Does lower-casing change ASCII letters only?
    pub(super) ascii_case: bool,
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        let key = |words: &Self| (words.tokenizer.name, words.lowercase, words.ascii_case);
        key(self) == key(other)
    }
}

impl Words {
    pub(super) fn new(options: &Options) -> Result<Self> {
        Ok(Words { lowercase: options.flag(LOWERCASE.name), ..Self::ignoring_case(options)? })
    }

    /// For metrics without an option for case.
    pub(super) fn ignoring_case(options: &Options) -> Result<Self> {
        let tokenizer = tokenize::tokenizer(options.name(TOKENIZE.name))?;
        Ok(Words { tokenizer, lowercase: false, ascii_case: tokenizer.lowercases_ascii_only })
    }

    /// If `quirks`, lower-cases as `mteval-v13a.pl` does: ASCII only, except in its international mode.
    pub(super) fn with_mteval_case(self, quirks: bool) -> Self {
        Words { ascii_case: self.ascii_case || quirks && self.tokenizer.name != "mteval-intl", ..self }
    }

    /// Calls `emit` with every token. As in sacreBLEU, the case is changed first, then white space at the end is
    /// stripped.
    pub(super) fn tokens(&self, line: &str, emit: &mut dyn FnMut(&str)) {
        let mut lower = String::new();
        let line = if self.lowercase && self.ascii_case {
            lower = line.to_ascii_lowercase();
            &lower
        } else {
            cased(line, self.lowercase, &mut lower)
        };
        let ends = self.tokenizer.reads_line_ends;
        self.tokenizer.tokenize(if ends { line } else { line.trim_end_matches(tokenize::is_space) }, emit);
    }

    /// The signature entry `case`.
    pub(super) fn case(&self) -> (&'static str, String) {
        case(self.lowercase)
    }

    /// The signature entry `tok`.
    pub(super) fn tok(&self) -> (&'static str, String) {
        ("tok", self.tokenizer.name.into())
    }
}

/// The line, in lower case if requested; `lower` is a buffer.
pub(super) fn cased<'a>(line: &'a str, lowercase: bool, lower: &'a mut String) -> &'a str {
    if !lowercase {
        return line;
    }
    lower.clear();
    if line.is_ascii() {
        lower.push_str(line);
        lower.make_ascii_lowercase();
    } else if line.contains('Σ') {
        // The only letter whose lower case depends on its neighbours.
        lower.push_str(&line.to_lowercase());
    } else {
        for c in line.chars() {
            if c.is_ascii() {
                lower.push(c.to_ascii_lowercase());
            } else {
                lower.extend(c.to_lowercase());
            }
        }
    }
    lower
}

/// The signature entry `case`.
pub(super) fn case(lowercase: bool) -> (&'static str, String) {
    ("case", if lowercase { "lc" } else { "mixed" }.into())
}

/// `yes` or `no`, for signatures.
pub(super) fn yes(flag: bool) -> String {
    if flag { "yes" } else { "no" }.into()
}

/// The signature entry `quirks`: the tools whose bugs are reproduced, if any.
pub(super) fn quirks(tools: &[(&str, bool)]) -> Option<(&'static str, String)> {
    let names: Vec<_> = tools.iter().filter(|(_, has)| *has).map(|(tool, _)| *tool).collect();
    (!names.is_empty()).then(|| ("quirks", names.join("+")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_is_that_of_the_standard_library() {
        let mut lower = String::new();
        // Later planes have no case.
        for c in (0..0x2_0000).filter_map(char::from_u32) {
            for line in [format!("A{c}"), format!("Ä{c}b")] {
                assert_eq!(line.to_lowercase(), cased(&line, true, &mut lower), "{c:?}");
                assert_eq!(line, cased(&line, false, &mut lower));
            }
        }
        assert_eq!("ος οσο", cased("ΟΣ ΟΣΟ", true, &mut lower));
    }
}
