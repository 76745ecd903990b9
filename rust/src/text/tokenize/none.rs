use super::{Tokenizer, split};

/// Splits at white space, for text that is already tokenized.
pub struct NoTokenizer;

impl Tokenizer for NoTokenizer {
    fn name(&self) -> &'static str {
        "none"
    }

    fn about(&self) -> &'static str {
        "split at white space only, for text that is already tokenized"
    }

    fn tokenize(&self, line: &str, emit: &mut dyn FnMut(&str)) {
        split(line, emit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_every_white_space_of_python() {
        let mut tokens = Vec::new();
        NoTokenizer.tokenize("a\u{85}b\u{2028}c\u{1c}d\u{3000}e \t f\u{feff}g", &mut |t| tokens.push(t.to_owned()));
        assert_eq!(["a", "b", "c", "d", "e", "f\u{feff}g"], tokens.as_slice());
    }
}
