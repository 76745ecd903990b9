use super::{Tokenizer, split_ascii};

/// The tokens of Moses' `multi-bleu.perl`, which reads bytes and splits them at ASCII white space. A no-break space
/// (U+00A0) or a line separator (U+2028) is part of a word, and so are U+001C to U+001F, as always in Perl. The vertical
/// tab separates since Perl 5.18. The script's `-lc` lower-cases ASCII only.
pub struct MultiBleu;

impl Tokenizer for MultiBleu {
    fn name(&self) -> &'static str {
        "multi-bleu"
    }

    fn about(&self) -> &'static str {
        "Moses' multi-bleu.perl: split at ASCII white space only, and lower-case ASCII only"
    }

    fn tokenize(&self, line: &str, emit: &mut dyn FnMut(&str)) {
        split_ascii(line, emit);
    }

    fn reads_line_ends(&self) -> bool {
        true // a no-break space at the end of a line is part of its last word
    }

    fn lowercases_ascii_only(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokenize::testing::tokens;

    #[test]
    fn only_the_six_white_space_characters_of_ascii_separate() {
        let separating: String = (0..0x11_0000)
            .filter_map(char::from_u32)
            .filter(|c| tokens(&MultiBleu, &format!("a{c}b")).len() == 2)
            .collect();
        assert_eq!("\t\n\u{b}\u{c}\r ", separating);
        assert_eq!(["a", "\u{a0}b\u{a0}"], tokens(&MultiBleu, "  a \u{a0}b\u{a0} \r").as_slice());
    }
}
