//! Files that metrics use. Whoever makes a metric reads and digests them: metrics get contents.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result, quoted};

/// The contents of a file.
pub type Contents = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A file.
#[derive(Clone)]
pub struct File {
    /// Its name in messages: its path, or for a member of an archive the archive's path and the member's name.
    pub name: String,
    /// Empty for a large file that the metric reads itself, in pieces. Then the name is the path.
    pub contents: Contents,
}

/// Files that serve one purpose.
#[derive(Clone)]
pub struct Resource {
    /// The purpose, a word that the metric knows.
    pub purpose: String,
    /// The digest of all files, for the signature.
    pub digest: String,
    /// The files, in the order that the metric expects.
    pub files: Vec<File>,
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.purpose, self.digest)
    }
}

impl File {
    /// The contents as text.
    pub(super) fn text(&self) -> Result<Text<'_>> {
        let bytes = (*self.contents).as_ref();
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Text { file: &self.name, text }),
            Err(error) => Err(not_utf8(&self.name, 0, &bytes[..error.valid_up_to()])),
        }
    }
}

/// The contents of a text file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> Text<'a> {
    /// The lines with their numbers, from 1, without white space at their ends.
    pub(super) fn lines(self) -> impl Iterator<Item = (usize, &'a str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line.trim_ascii_end()))
    }

    /// The error for a line.
    pub(super) fn malformed(self, line: usize, expected: impl Into<String>, got: &str) -> Error {
        Error::File { file: self.file.into(), line: Some(line), expected: expected.into(), got: quoted(got) }
    }

    /// The error for a file that ends too early: the number of its last line, and what should come after it.
    pub(super) fn ends(self, line: usize, expected: impl Into<String>) -> Error {
        let got = "the end of the file".into();
        Error::File { file: self.file.into(), line: Some(line), expected: expected.into(), got }
    }
}

/// The error for bytes that are not UTF-8, after some lines and what is valid of the next ones.
pub(super) fn not_utf8(file: &str, lines: usize, valid: &[u8]) -> Error {
    let line = lines + 1 + memchr::memchr_iter(b'\n', valid).count();
    Error::File { file: file.into(), line: Some(line), expected: "UTF-8".into(), got: "other bytes".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_no_white_space_at_their_ends() {
        let file = File { name: "a".into(), contents: Arc::new("one \r\n\ntwo") };
        assert_eq!(vec![(1, "one"), (2, ""), (3, "two")], file.text().unwrap().lines().collect::<Vec<_>>());
    }

    #[test]
    fn other_bytes_than_utf_8_are_refused_with_the_line() {
        let file = File { name: "a/latin-1".into(), contents: Arc::new(*b"one\ntw\xF6\n") };
        assert_eq!("a/latin-1, line 2: expected UTF-8, got other bytes", file.text().unwrap_err().to_string());
    }
}
