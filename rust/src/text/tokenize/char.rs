use super::{Tokenizer, is_space};

/// sacreBLEU's `char`: every character but white space is a token.
pub struct Char;

impl Tokenizer for Char {
    fn name(&self) -> &'static str {
        "char"
    }

    fn about(&self) -> &'static str {
        "every character by itself, white space dropped, as in sacreBLEU"
    }

    fn tokenize(&self, line: &str, emit: &mut dyn FnMut(&str)) {
        for (start, c) in line.char_indices().filter(|(_, c)| !is_space(*c)) {
            emit(&line[start..start + c.len_utf8()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokenize::{NoTokenizer, testing::tokens};
    use proptest::prelude::*;

    #[test]
    fn worked_by_hand() {
        assert_eq!(["a", "é", "e", "\u{301}", "我", "."], tokens(&Char, " aé\te\u{301}\u{3000}我. ").as_slice());
    }

    proptest! {
        #[test]
        fn equals_joining_by_spaces_and_splitting(line in r"\PC{0,20}|[ a\n\u{85}\u{2028}\u{1f}]{0,9}") {
            let joined = line.chars().map(String::from).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(tokens(&NoTokenizer, &joined), tokens(&Char, &line));
        }
    }
}
