//! Dependency parses in CoNLL-U (<https://universaldependencies.org/format.html>).
//!
//! A segment is a block of lines: one sentence, or several separated by blank lines. Comments, multiword tokens and
//! empty nodes are skipped.

use crate::error::{Error, Place, Result};

/// A word of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    /// The word form.
    pub form: &'a str,
    /// The lemma.
    pub lemma: &'a str,
    /// The dependency relation to the head.
    pub relation: &'a str,
    /// The number of the head within the sentence, from 1; 0 for a root.
    pub head: usize,
}

/// The columns of a line.
const COLUMNS: [&str; 10] = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"];

/// Calls `sentence` with the words of every sentence of a block.
///
/// # Errors
/// [`Error::Malformed`], with its place in the block, for a line without ten columns, an ID out of order, a word without a
/// form, and a HEAD that is not another word of the sentence or does not lead to a root; whatever `sentence` returned.
pub fn sentences<'a>(block: &'a str, mut sentence: impl FnMut(&[Word<'a>]) -> Result<()>) -> Result<()> {
    let mut open = Sentence::default();
    for (i, line) in block.split('\n').enumerate() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            open.finish(&mut sentence)?;
        } else if !line.starts_with('#') {
            open.read(line, i + 1)?;
        }
    }
    open.finish(&mut sentence)
}

/// A sentence that is being read.
#[derive(Default)]
struct Sentence<'a> {
    words: Vec<Word<'a>>,
    /// The line number of each word.
    lines: Vec<usize>,
    /// The multiword token that reaches farthest: its last word, its line number and its ID.
    farthest: Option<(usize, usize, &'a str)>,
}

impl<'a> Sentence<'a> {
    /// Reads a line that is not a comment.
    fn read(&mut self, line: &'a str, number: usize) -> Result<()> {
        let got = line.split('\t').count();
        let mut columns = [""; COLUMNS.len()];
        if got != columns.len() {
            let shown: String = line.chars().take(40).collect();
            return malformed(number, "10 columns of CoNLL-U, separated by tabs", format!("{got}: {shown:?}"));
        }
        columns.iter_mut().zip(line.split('\t')).for_each(|(column, text)| *column = text);
        let [id, form, lemma, _, _, _, head, relation, _, _] = columns;
        let next = self.words.len() + 1;
        if let Some((first, last)) = id.split_once('-') {
            return match (whole(first), whole(last)) {
                (Some(first), Some(last)) if 0 < first && first < last => {
                    self.farthest = self.farthest.max(Some((last, number, id)));
                    Ok(())
                }
                _ => {
                    malformed(number, format!("ID {next} or a range of words such as {next}-{}", next + 1), quoted(id))
                }
            };
        }
        if let Some((word, node)) = id.split_once('.') {
            return match (whole(word), whole(node)) {
                (Some(_), Some(_)) => Ok(()),
                _ => malformed(number, format!("ID {next} or an empty node such as {}.1", next - 1), quoted(id)),
            };
        }
        if whole(id) != Some(next) {
            return malformed(number, format!("ID {next}"), quoted(id));
        }
        if form.is_empty() {
            return malformed(number, "a FORM (_ for none)", quoted(form));
        }
        match whole(head) {
            None => malformed(number, "a number as HEAD", quoted(head)),
            Some(head) if head == next => {
                malformed(number, "0 or another word as HEAD", format!("{head}, the word itself"))
            }
            Some(head) => {
                self.words.push(Word { form, lemma, relation, head });
                self.lines.push(number);
                Ok(())
            }
        }
    }

    /// Ends the sentence and, if it has words, passes it on.
    fn finish(&mut self, sentence: &mut impl FnMut(&[Word<'a>]) -> Result<()>) -> Result<()> {
        let Sentence { words, lines, farthest } = std::mem::take(self);
        let n = words.len();
        if let Some(bad) = words.iter().position(|word| word.head > n) {
            let expected = format!("HEAD from 0 to {n}, the number of words in the sentence");
            return malformed(lines[bad], expected, words[bad].head.to_string());
        }
        if let Some((last, line, id)) = farthest
            && last > n
        {
            return malformed(line, format!("a range up to {n}, the number of words in the sentence"), quoted(id));
        }
        if let Some(word) = circle(&words) {
            let got = format!("a circle back to word {}", word + 1);
            return malformed(lines[word], "HEADs that lead to a root (HEAD 0)", got);
        }
        if n > 0 { sentence(&words) } else { Ok(()) }
    }
}

/// The index of a word whose HEADs lead back to it.
fn circle(words: &[Word<'_>]) -> Option<usize> {
    // For each word, the start (from 1) of the walk along HEADs that first reached it, or 0.
    let mut met = vec![0; words.len()];
    for start in 1..=words.len() {
        let mut word = start;
        while word != 0 && met[word - 1] == 0 {
            met[word - 1] = start;
            word = words[word - 1].head;
        }
        if word != 0 && met[word - 1] == start {
            return Some(word - 1);
        }
    }
    None
}

/// A non-negative integer in ASCII digits, without a sign.
fn whole(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn malformed<T>(line: usize, expected: impl Into<String>, got: String) -> Result<T> {
    Err(Error::Malformed { place: Place { line: Some(line), ..Place::default() }, expected: expected.into(), got })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, form: &str, head: &str) -> String {
        format!("{id}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n")
    }

    fn heads(block: &str) -> Result<Vec<Vec<usize>>> {
        let mut out = Vec::new();
        sentences(block, |words| {
            out.push(words.iter().map(|w| w.head).collect());
            Ok(())
        })?;
        Ok(out)
    }

    #[test]
    fn comments_multiword_tokens_and_empty_nodes_are_not_words() {
        let block = ["# text = du\n", &line("1-2", "du", "_"), &line("1", "de", "2"), &line("2", "le", "0")].concat();
        let more = format!("{block}{}\n\n{}", line("2.1", "x", "_"), line("1", "y", "0"));
        assert_eq!(Ok(vec![vec![2, 0], vec![0]]), heads(&more));
        assert_eq!(Ok(vec![]), heads("# nothing\n"));
    }

    #[test]
    fn errors_name_the_line() {
        let message = |block: &str| heads(block).unwrap_err().to_string();
        assert_eq!(
            "line 2: expected 10 columns of CoNLL-U, separated by tabs, got 2: \"1\\ta\"",
            message("# comment\n1\ta\n")
        );
        assert_eq!("line 1: expected ID 1, got \"2\"", message(&line("2", "a", "0")));
        assert_eq!("line 1: expected a number as HEAD, got \"_\"", message(&line("1", "a", "_")));
        assert_eq!(
            "line 1: expected HEAD from 0 to 1, the number of words in the sentence, got 2",
            message(&line("1", "a", "2"))
        );
        assert_eq!("line 1: expected a FORM (_ for none), got \"\"", message(&line("1", "", "0")));
        assert_eq!("line 1: expected 0 or another word as HEAD, got 1, the word itself", message(&line("1", "a", "1")));
    }

    #[test]
    fn ids_are_numbers_ranges_and_empty_nodes_in_ascii_digits() {
        let broken = |block: &str| heads(block).err().map(|error| error.to_string()).unwrap_or_default();
        let after_one = |id: &str| broken(&[line("1", "a", "0"), line(id, "b", "0"), line("2", "c", "0")].concat());
        for id in ["1-2", "0.1", "1.10"] {
            assert_eq!("", after_one(id), "{id}");
        }
        for id in [
            "2-3", "x-y", "2-", "-2", "2-1", "2-2", "0-2", "1-2-3", "1.x", "abc.def", ".", "-", "1.-1", "+2", "٢",
            "1-٢",
        ] {
            assert!(after_one(id).starts_with("line 2: "), "{id}");
        }
        for head in ["+0", "-0", "0.0", "", " 0", "٠"] {
            let expected = format!("line 1: expected a number as HEAD, got {head:?}");
            assert_eq!(expected, broken(&line("1", "a", head)));
        }
    }

    #[test]
    fn heads_lead_to_a_root() {
        let message = |heads_: &[&str]| {
            let block: String = heads_.iter().zip(1..).map(|(head, id)| line(&id.to_string(), "a", head)).collect();
            heads(&block).err().map(|error| error.to_string())
        };
        assert_eq!(None, message(&["2", "3", "0", "0", "4"]));
        let circle = |number: usize| {
            Some(format!(
                "line {number}: expected HEADs that lead to a root (HEAD 0), got a circle back to word {number}"
            ))
        };
        assert_eq!(circle(1), message(&["2", "1"]));
        assert_eq!(circle(3), message(&["0", "3", "4", "5", "3"]));
    }
}
