//! The column of features, in each of the forms that decoders write.
//!
//! Moses: `Name= v v … sparse_k= v`, also with colons; a name with an underscore and one value is sparse. cdec and Joshua:
//! `Name=v` in any order, without zeros. Z-MERT: `v v v`.

use super::build::Numbered;
use crate::error::{Error, Place, Result, quoted};
use crate::memory::room;

/// What is wrong with a line, whose number the caller adds.
pub(super) fn wrong(expected: impl Into<String>, got: impl Into<String>) -> Error {
    Error::Malformed { place: Place::default(), expected: expected.into(), got: got.into() }
}

/// The form of features in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `Name= v v`.
    Labels,
    /// `Name=v`.
    Pairs,
    /// `v v v`.
    Columns,
}

impl Style {
    fn about(self) -> &'static str {
        match self {
            Style::Labels => "features as `Name= value …`",
            Style::Pairs => "features as `Name=value`",
            Style::Columns => "features as numbers without names",
        }
    }
}

/// A token of the features.
#[derive(Debug, Clone, Copy)]
enum Token<'a> {
    Label(&'a str),
    Pair(&'a str, &'a str),
    Number(&'a str),
}

fn token(text: &str) -> Token<'_> {
    let bytes = text.as_bytes();
    match bytes.last() {
        Some(b'=' | b':') if bytes.len() > 1 => Token::Label(&text[..bytes.len() - 1]),
        _ => match memchr::memrchr(b'=', bytes) {
            Some(at) if at > 0 => Token::Pair(&text[..at], &text[at + 1..]),
            _ => Token::Number(text),
        },
    }
}

pub(super) fn number(text: &str, what: impl FnOnce() -> String) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(wrong(format!("a finite number as {}", what()), quoted(text))),
    }
}

/// The values of a label that each line has.
#[derive(Debug)]
struct Slot {
    values: usize,
    start: usize,
}

/// Reads features line by line.
#[derive(Debug, Default)]
pub(super) struct Features {
    style: Option<Style>,
    slots: Vec<Slot>,
    /// The label of each slot.
    labels: Numbered,
    width: usize,
    pub sparse: Numbered,
    /// The sparse values of the current line, in order.
    pub row: Vec<(i32, f64)>,
    /// The first line with features.
    first: usize,
    /// Is there a line without features before it?
    empty: bool,
    filled: Vec<bool>,
}

impl Features {
    /// Are features left out that are 0?
    pub fn omits_zeros(&self) -> bool {
        self.style == Some(Style::Pairs)
    }

    /// The names of the dense features, before sparse ones are moved to them. `F_0`, `F_1` … are the values of F.
    pub fn names(&self) -> Vec<String> {
        let names = |(slot, label): (&Slot, &String)| -> Vec<String> {
            if slot.values == 1 && self.style == Some(Style::Labels) {
                return vec![label.clone()];
            }
            (0..slot.values).map(|i| format!("{label}_{i}")).collect()
        };
        self.slots.iter().zip(&self.labels.names).flat_map(names).collect()
    }

    /// Reads the features of a line: adds a row to `dense`, and replaces that of sparse values.
    pub fn read(&mut self, text: &str, line: usize, dense: &mut Vec<f64>) -> Result<()> {
        self.row.clear();
        let mut tokens = text.split_ascii_whitespace().map(token);
        if self.style.is_none() {
            let Some(first) = tokens.clone().next() else {
                self.empty = true;
                return Ok(());
            };
            self.begin(first, tokens.clone(), line)?;
        }
        let start = dense.len();
        room(dense, self.width)?;
        dense.resize(start + self.width, 0.0);
        let row = &mut dense[start..];
        match self.style {
            Some(Style::Columns) => self.columns(&mut tokens, row)?,
            Some(Style::Pairs) => self.pairs(&mut tokens)?,
            Some(Style::Labels) => self.labels(&mut tokens, row)?,
            None => {}
        }
        self.row.sort_unstable_by_key(|(index, _)| *index);
        match self.row.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(self.twice(&self.sparse.names[pair[0].0 as usize])),
            None => Ok(()),
        }
    }

    fn twice(&self, name: &str) -> Error {
        wrong("every feature once", format!("{} twice", quoted(name)))
    }

    fn other_style(&self, text: &str) -> Error {
        let about = self.style.map_or("", Style::about);
        wrong(format!("{about}, as on line {}", self.first), quoted(text))
    }

    /// Finds the form of the file, and what every line has, in its first features.
    fn begin<'a>(
        &mut self,
        first: Token<'a>,
        tokens: impl Iterator<Item = Token<'a>> + Clone,
        line: usize,
    ) -> Result<()> {
        self.first = line;
        let (style, columns) = match first {
            Token::Label(_) => (Style::Labels, vec![]),
            Token::Pair(..) => (Style::Pairs, vec![]),
            Token::Number(text) => {
                number(text, || "a feature, or its name".into())?;
                (Style::Columns, vec![("F", tokens.clone().count())])
            }
        };
        let groups = if style == Style::Labels { groups(tokens) } else { columns };
        self.style = Some(style);
        for (label, values) in groups {
            if style == Style::Labels && (values == 0 || values == 1 && label.contains('_')) {
                continue; // sparse, or wrong, which is found when the line is read
            }
            if (self.labels.number(label) as usize) < self.slots.len() {
                return Err(self.twice(label));
            }
            self.slots.push(Slot { values, start: self.width });
            self.width += values;
        }
        if self.empty && self.width > 0 {
            return Err(wrong("no features, as on line 1", quoted(text_of(first))));
        }
        Ok(())
    }

    fn columns<'a>(&self, tokens: &mut impl Iterator<Item = Token<'a>>, row: &mut [f64]) -> Result<()> {
        let mut n = 0;
        for token in tokens {
            let Token::Number(text) = token else { return Err(self.other_style(text_of(token))) };
            if let Some(value) = row.get_mut(n) {
                *value = number(text, || format!("feature {}", n + 1))?;
            }
            n += 1;
        }
        if n == row.len() { Ok(()) } else { Err(self.changed(row.len(), n, "")) }
    }

    fn changed(&self, expected: usize, got: usize, label: &str) -> Error {
        let of = if label.is_empty() { String::new() } else { format!(" of {}", quoted(label)) };
        let what = if label.is_empty() { "feature" } else { "value" };
        let s = if expected == 1 { "" } else { "s" };
        wrong(format!("{expected} {what}{s}{of}, as on line {}", self.first), got.to_string())
    }

    fn pairs<'a>(&mut self, tokens: &mut impl Iterator<Item = Token<'a>>) -> Result<()> {
        for token in tokens {
            let Token::Pair(name, text) = token else { return Err(self.other_style(text_of(token))) };
            let value = number(text, || format!("the value of {}", quoted(name)))?;
            self.row.push((self.sparse.number(name), value));
        }
        Ok(())
    }

    fn labels<'a>(&mut self, tokens: &mut impl Iterator<Item = Token<'a>>, row: &mut [f64]) -> Result<()> {
        self.filled.clear();
        self.filled.resize(self.slots.len(), false);
        let (mut next, mut n_filled) = (0, 0);
        let mut current = tokens.next();
        while let Some(token) = current {
            let Token::Label(label) = token else { return Err(self.other_style(text_of(token))) };
            // Nearly always the labels have the same order on all lines.
            let slot = match self.labels.names.get(next) {
                Some(known) if known == label => Some(next),
                _ => self.labels.find(label).map(|slot| slot as usize),
            };
            let Some(slot) = slot else {
                current = self.sparse_label(label, tokens)?;
                continue;
            };
            next = slot + 1;
            n_filled += 1;
            if std::mem::replace(&mut self.filled[slot], true) {
                return Err(self.twice(label));
            }
            let Slot { values, start, .. } = self.slots[slot];
            let mut n = 0;
            current = None;
            for token in tokens.by_ref() {
                let Token::Number(text) = token else {
                    current = Some(token);
                    break;
                };
                if n < values {
                    row[start + n] = number(text, || format!("value {} of {}", n + 1, quoted(label)))?;
                }
                n += 1;
            }
            if n != values {
                return Err(self.changed(values, n, label));
            }
        }
        match self.filled.iter().position(|filled| !filled) {
            Some(slot) if n_filled < self.slots.len() => {
                Err(self.changed(self.slots[slot].values, 0, &self.labels.names[slot]))
            }
            _ => Ok(()),
        }
    }

    /// Reads the value of a sparse feature, and returns the token after it.
    fn sparse_label<'a>(
        &mut self,
        label: &str,
        tokens: &mut impl Iterator<Item = Token<'a>>,
    ) -> Result<Option<Token<'a>>> {
        if !label.contains('_') {
            let expected = format!("the features of line {}: {}", self.first, self.labels.names.join(", "));
            return Err(wrong(expected, quoted(label)));
        }
        let Some(Token::Number(text)) = tokens.next() else {
            return Err(wrong(format!("a value of {}", quoted(label)), "none"));
        };
        let value = number(text, || format!("the value of {}", quoted(label)))?;
        self.row.push((self.sparse.number(label), value));
        let next = tokens.next();
        match next {
            Some(Token::Number(_)) => {
                Err(wrong(format!("one value of the sparse feature {}", quoted(label)), "several"))
            }
            _ => Ok(next),
        }
    }
}

fn text_of<'a>(token: Token<'a>) -> &'a str {
    match token {
        Token::Label(text) | Token::Pair(text, _) | Token::Number(text) => text,
    }
}

/// Labels, each with the number of values that follow it.
fn groups<'a>(tokens: impl Iterator<Item = Token<'a>>) -> Vec<(&'a str, usize)> {
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for token in tokens {
        match (token, groups.last_mut()) {
            (Token::Label(label), _) => groups.push((label, 0)),
            (_, Some((_, values))) => *values += 1,
            (_, None) => {}
        }
    }
    groups
}

/// Which features are dense if zeros are left out, so that no line shows it.
pub(super) fn moved(names: &[String]) -> Vec<String> {
    /// A file with so few features is one without templates of features.
    const FEW: usize = 64;
    let few = names.len() <= FEW;
    names.iter().filter(|name| few || !name.contains('_')).cloned().collect()
}
