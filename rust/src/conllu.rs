//! Dependency parses in CoNLL-U (<https://universaldependencies.org/format.html>).
//!
//! A segment is a block of lines: one sentence, or several with blank lines between them. Comments, multiword tokens
//! and empty nodes are read over.

use crate::error::Error;

/// A line that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The line's number in its block, from 1.
    pub line: usize,
    /// What should stand there.
    pub expected: String,
    /// What stands there.
    pub got: String,
}

impl From<Broken> for Error {
    fn from(broken: Broken) -> Self {
        let Broken { line, expected, got } = broken;
        Error::Malformed { place: format!("line {line}"), expected, got }
    }
}

type Result<T> = std::result::Result<T, Broken>;

/// A word of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    /// The word as it stands in the text.
    pub form: &'a str,
    /// Its base form.
    pub lemma: &'a str,
    /// Its relation to its head.
    pub relation: &'a str,
    /// The head's place among the sentence's words, from 1; 0 for a root.
    pub head: usize,
}

/// The columns of a line.
const COLUMNS: [&str; 10] = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"];

/// Calls `sentence` with the words of every sentence of a block.
///
/// # Errors
/// [`Broken`] for a line that has not ten columns, an ID out of order, and a HEAD
/// that is no word of the sentence.
pub fn sentences<'a>(block: &'a str, mut sentence: impl FnMut(&[Word<'a>])) -> std::result::Result<(), Broken> {
    let (mut words, mut lines) = (Vec::new(), Vec::new());
    for (number, line) in
        block.split('\n').enumerate().map(|(i, line)| (i + 1, line.strip_suffix('\r').unwrap_or(line)))
    {
        if line.is_empty() {
            finish(&mut words, &mut lines, &mut sentence)?;
        } else if !line.starts_with('#')
            && let Some(word) = word(line, number, words.len())?
        {
            words.push(word);
            lines.push(number);
        }
    }
    finish(&mut words, &mut lines, &mut sentence)
}

fn finish<'a>(words: &mut Vec<Word<'a>>, lines: &mut Vec<usize>, sentence: &mut impl FnMut(&[Word<'a>])) -> Result<()> {
    let n = words.len();
    if let Some(bad) = words.iter().position(|word| word.head > n) {
        let expected = format!("HEAD from 0 to {n}, the number of words in the sentence");
        return Err(malformed(lines[bad], expected, words[bad].head.to_string()));
    }
    if n > 0 {
        sentence(words);
    }
    words.clear();
    lines.clear();
    Ok(())
}

fn malformed(line: usize, expected: String, got: String) -> Broken {
    Broken { line, expected, got }
}

/// The word on a line; none for multiword tokens (`3-4`) and empty nodes (`3.1`).
fn word(line: &str, number: usize, before: usize) -> Result<Option<Word<'_>>> {
    let mut columns = [""; COLUMNS.len()];
    let got = line.split('\t').count();
    if got != columns.len() {
        let shown: String = line.chars().take(40).collect();
        return Err(malformed(number, "10 columns of CoNLL-U, separated by tabs".into(), format!("{got}: {shown:?}")));
    }
    columns.iter_mut().zip(line.split('\t')).for_each(|(column, text)| *column = text);
    let [id, form, lemma, _, _, _, head, relation, _, _] = columns;
    if id.contains(['-', '.']) {
        return Ok(None);
    }
    if id.parse() != Ok(before + 1) {
        return Err(malformed(number, format!("ID {}", before + 1), format!("{id:?}")));
    }
    let Ok(head) = head.parse() else {
        return Err(malformed(number, "a number as HEAD".into(), format!("{head:?}")));
    };
    Ok(Some(Word { form, lemma, relation, head }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, form: &str, head: &str) -> String {
        format!("{id}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n")
    }

    fn heads(block: &str) -> Result<Vec<Vec<usize>>> {
        let mut out = Vec::new();
        sentences(block, |words| out.push(words.iter().map(|w| w.head).collect()))?;
        Ok(out)
    }

    #[test]
    fn words_count_and_comments_multiword_tokens_and_empty_nodes_do_not() {
        let block = ["# text = du\n", &line("1-2", "du", "_"), &line("1", "de", "2"), &line("2", "le", "0")].concat();
        let more = format!("{block}{}\n\n{}", line("2.1", "x", "_"), line("1", "y", "0"));
        assert_eq!(Ok(vec![vec![2, 0], vec![0]]), heads(&more));
        assert_eq!(Ok(vec![]), heads("# nothing\n"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let message = |block: &str| Error::from(heads(block).unwrap_err()).to_string();
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
    }
}
