//! Reading lists: `id ||| hypothesis ||| features ||| total ||| alignment ||| words`, the last three of them optional.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use memchr::memmem;

use super::build::{Builder, set};
use super::features::{Features, moved, number, wrong};
use super::join::reshaped;
use super::{NBest, Strings};
use crate::error::{Error, Result, quoted};
use crate::memory::push;
use crate::pool::Stop;

/// How lists are read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The dense features, in this order. By default those that every line has; if zeros are left out, up to 64
    /// features are dense, and of more features those without an underscore.
    pub dense: Option<Vec<String>>,
    /// The largest size of a compressed file after decompression.
    pub max_input: u64,
}

/// The buffer between the file and the lines.
const BUFFER: usize = 1 << 18;

/// Columns after the decoder's score that are kept.
const MOST_COLUMNS: usize = 2;

/// Reads a file, which may be compressed by gzip. `name` is how messages call it.
pub fn read(path: &Path, name: &str, options: &Options, stop: &Stop<'_>) -> Result<NBest> {
    let unreadable = |error: io::Error| file_error(name, None, "a file that can be read", error.to_string());
    let mut file = BufReader::with_capacity(BUFFER, File::open(path).map_err(unreadable)?);
    if file.fill_buf().map_err(unreadable)?.starts_with(b"\x1f\x8b") {
        let text = BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file));
        return lines(text, name, options.max_input, options, stop);
    }
    lines(file, name, u64::MAX, options, stop)
}

/// Reads lists from the content of a file.
pub fn parse(content: &[u8], name: &str, options: &Options, stop: &Stop<'_>) -> Result<NBest> {
    lines(content, name, u64::MAX, options, stop)
}

fn file_error(file: &str, line: Option<usize>, expected: impl Into<String>, got: impl Into<String>) -> Error {
    Error::File { file: file.into(), line, expected: expected.into(), got: got.into() }
}

/// Says in which file, and on which line, something is wrong.
fn in_file(error: Error, file: &str, line: Option<usize>) -> Error {
    match error {
        Error::Malformed { expected, got, .. } => file_error(file, line, expected, got),
        other => other,
    }
}

fn lines(mut text: impl BufRead, name: &str, limit: u64, options: &Options, stop: &Stop<'_>) -> Result<NBest> {
    let mut reader = Reader::new();
    let (mut bytes, mut read, mut line) = (Vec::new(), 0, 0);
    loop {
        bytes.clear();
        // One byte more than there may be, so that a line without an end is not decompressed as a whole.
        let n = text
            .by_ref()
            .take((limit - read).saturating_add(1))
            .read_until(b'\n', &mut bytes)
            .map_err(|error| file_error(name, Some(line + 1), "a line that can be read", error.to_string()))?;
        if n == 0 {
            break;
        }
        line += 1;
        read += n as u64;
        if read > limit {
            let expected = format!("at most {limit} bytes when decompressed, the limit max_input (--max-input)");
            return Err(file_error(name, None, expected, "more"));
        }
        stop.charge(8 * n)?;
        reader.line(&bytes, line).map_err(|error| in_file(error, name, Some(line)))?;
    }
    if line == 0 {
        return Err(file_error(name, None, "at least one entry: id ||| hypothesis ||| features", "an empty file"));
    }
    reader.finish(options.dense.as_deref(), stop).map_err(|error| in_file(error, name, None))
}

struct Reader {
    builder: Builder,
    features: Features,
    separator: memmem::Finder<'static>,
}

/// A column without spaces at its ends.
fn trimmed(column: &str) -> &str {
    column.trim_matches([' ', '\t'])
}

impl Reader {
    fn new() -> Self {
        let separator = memmem::Finder::new("|||");
        Reader { builder: Builder::new(), features: Features::default(), separator }
    }

    /// The columns of a line. There are at most six.
    fn columns<'a>(&self, line: &'a str) -> (usize, [&'a str; 6]) {
        let (mut columns, mut n, mut start) = ([""; 6], 0, 0);
        for at in self.separator.find_iter(line.as_bytes()) {
            if n == 6 {
                return (n, columns);
            }
            columns[n] = trimmed(&line[start..at]);
            (n, start) = (n + 1, at + 3);
        }
        if n < 6 {
            columns[n] = trimmed(&line[start..]);
            n += 1;
        }
        (n, columns)
    }

    fn line(&mut self, bytes: &[u8], line: usize) -> Result<()> {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            wrong("UTF-8", format!("0x{:02x} at byte {}", bytes[at], at + 1))
        })?;
        let (n, columns) = self.columns(text);
        if n < 3 {
            return Err(wrong("id ||| hypothesis ||| features, and so on", quoted(text)));
        }
        self.id(columns[0])?;
        self.builder.text(columns[1])?;
        let lists = &mut self.builder.lists;
        self.features.read(columns[2], line, &mut lists.dense)?;
        let entry = lists.text_of.len() - 1;
        let total = if n > 3 { columns[3] } else { "" };
        if entry > 0 && lists.totals.is_empty() != total.is_empty() {
            let expected = if total.is_empty() { "the decoder's score in column 4" } else { "no score in column 4" };
            let got = if total.is_empty() { "none".into() } else { quoted(total) };
            return Err(wrong(format!("{expected}, as on line 1"), got));
        }
        if !total.is_empty() {
            push(&mut lists.totals, number(total, || "the decoder's score in column 4".into())?)?;
        }
        let further = &mut lists.columns;
        for i in 0..MOST_COLUMNS.min(n.saturating_sub(4)).max(further.len()) {
            if further.len() == i {
                let mut strings = Strings::default();
                (0..entry).try_for_each(|_| strings.push(""))?;
                further.push(strings);
            }
            further[i].push(columns[4 + i])?;
        }
        self.builder.sparse(self.features.row.iter().copied())
    }

    /// Begins another list if the id is a new one.
    fn id(&mut self, text: &str) -> Result<()> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let Some(id) = digits.then(|| text.parse::<i64>().ok()).flatten() else {
            return Err(wrong("the id of a sentence, a whole number", quoted(text)));
        };
        match self.builder.lists.ids.last() {
            Some(&last) if last == id => {}
            Some(&last) if last > id => {
                let expected = format!(
                    "a sentence from {last} on, because all entries of a sentence follow each other, in the order of \
                     ids; read the lists of several decodes from several files"
                );
                return Err(wrong(expected, id.to_string()));
            }
            _ => self.builder.begin(id),
        }
        Ok(())
    }

    /// The lists, with the right features dense.
    fn finish(self, dense: Option<&[String]>, stop: &Stop<'_>) -> Result<NBest> {
        let Reader { builder, features, .. } = self;
        let omits_zeros = features.omits_zeros();
        let mut lists = builder.finish();
        lists.omits_zeros = omits_zeros;
        lists.names = features.names();
        lists.sparse_names = features.sparse.names;
        check_different(&lists)?;
        let names = match dense {
            Some(names) => names.to_vec(),
            None if omits_zeros => moved(&lists.sparse_names),
            None => return Ok(lists),
        };
        check_dense(&lists, &names)?;
        reshaped(lists, &names, stop)
    }
}

/// Checks that no name is that of a dense and of a sparse feature.
fn check_different(lists: &NBest) -> Result<()> {
    let sparse = set(&lists.sparse_names);
    match lists.names.iter().find(|name| sparse.contains(name.as_str())) {
        Some(name) => {
            let got = format!("a dense and a sparse one called {}", quoted(name));
            Err(wrong("features with different names", got))
        }
        None => Ok(()),
    }
}

/// Checks that the dense features that were asked for are there, and that every line's features are among them.
fn check_dense(lists: &NBest, names: &[String]) -> Result<()> {
    let mut wanted = set(&[]);
    if let Some(twice) = names.iter().find(|name| !wanted.insert(name)) {
        return Err(wrong("different dense features", format!("{} twice", quoted(twice))));
    }
    if let Some(extra) = lists.names.iter().find(|name| !wanted.contains(name.as_str())) {
        let expected = format!("the dense features {}", names.join(", "));
        return Err(wrong(expected, format!("{} too", quoted(extra))));
    }
    let (dense, sparse) = (set(&lists.names), set(&lists.sparse_names));
    match names.iter().find(|name| !dense.contains(name.as_str()) && !sparse.contains(name.as_str())) {
        Some(lost) if !lists.omits_zeros => {
            let known = lists.names.join(", ");
            Err(wrong(format!("the feature {}", quoted(lost)), format!("only {known}")))
        }
        _ => Ok(()),
    }
}
