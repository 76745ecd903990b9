//! Files of segment scores as COMET's command `comet-score` writes them: JSON with a list of segments for each system.

use std::borrow::Cow;

use crate::error::Result;
use crate::pool::Stop;

/// The key of scores, and those of the texts that are kept.
const SCORE: &str = "COMET";
/// The keys of the texts of a segment.
pub const TEXTS: [&str; 3] = ["src", "mt", "ref"];

/// The systems of a file, all with the same number of segments.
#[derive(Debug, PartialEq)]
pub struct Scored<'a> {
    /// Names of systems, all different.
    pub systems: Vec<Cow<'a, str>>,
    /// The scores, one system after another.
    pub scores: Vec<f64>,
    /// For each of [`TEXTS`], the texts of all segments in the order of the scores; none if the file lacks them.
    pub texts: [Vec<Cow<'a, str>>; TEXTS.len()],
}

/// Reads a file in exactly the form of `comet-score`; `None` if it has any other, or any fault.
///
/// Scores are finite numbers with a fraction or an exponent. Every segment has a score, and either all have one of
/// [`TEXTS`] or none has it. Other keys have strings or numbers.
///
/// # Errors
/// If the work was stopped.
pub fn read<'a>(file: &'a [u8], stop: &Stop<'_>) -> Result<Option<Scored<'a>>> {
    let Ok(text) = str::from_utf8(file) else { return Ok(None) };
    let mut scored = Scored { systems: Vec::new(), scores: Vec::new(), texts: Default::default() };
    let mut parser = Parser { text, at: 0, segments: 0 };
    if parser.expect(b'{').is_none() {
        return Ok(None);
    }
    loop {
        let complete = parser.system(&mut scored);
        stop.check()?;
        match complete.and_then(|()| parser.separator(b'}')) {
            None => return Ok(None),
            Some(true) => {}
            Some(false) => break,
        }
    }
    parser.space();
    Ok((parser.at == text.len() && scored.is_plain()).then_some(scored))
}

impl Scored<'_> {
    /// Whether names differ, and texts are complete.
    fn is_plain(&self) -> bool {
        let mut names: Vec<_> = self.systems.iter().collect();
        names.sort_unstable();
        names.windows(2).all(|two| two[0] != two[1])
            && self.texts.iter().all(|texts| texts.is_empty() || texts.len() == self.scores.len())
    }
}

/// A place in a JSON text. Its methods return `None` if the text goes on in another way.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// The number of segments of the first system.
    segments: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.space();
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Whether a comma comes, or else `end`.
    fn separator(&mut self, end: u8) -> Option<bool> {
        self.space();
        let byte = self.peek()?;
        self.at += 1;
        if byte == b',' { Some(true) } else { (byte == end).then_some(false) }
    }

    /// A system with as many segments as the first one.
    fn system(&mut self, scored: &mut Scored<'a>) -> Option<()> {
        let name = self.string()?;
        scored.systems.push(name);
        self.expect(b':')?;
        self.expect(b'[')?;
        loop {
            self.segment(scored)?;
            if !self.separator(b']')? {
                break;
            }
        }
        if scored.systems.len() == 1 {
            self.segments = scored.scores.len();
        }
        (scored.scores.len() == self.segments * scored.systems.len()).then_some(())
    }

    fn segment(&mut self, scored: &mut Scored<'a>) -> Option<()> {
        let mut score = None;
        let mut texts: [Option<Cow<'a, str>>; TEXTS.len()] = Default::default();
        self.expect(b'{')?;
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            self.space();
            let place = TEXTS.iter().position(|text| *text == key);
            if self.peek()? == b'"' {
                let value = self.string()?;
                match place {
                    Some(place) => texts[place] = Some(value),
                    None if key == SCORE => return None,
                    None => {}
                }
            } else {
                let value = self.number()?;
                if place.is_some() {
                    return None;
                }
                if key == SCORE {
                    score = Some(fraction(value)?);
                }
            }
            if !self.separator(b'}')? {
                break;
            }
        }
        scored.scores.push(score?);
        for (column, text) in scored.texts.iter_mut().zip(texts) {
            column.extend(text);
        }
        Some(())
    }

    /// A string, without a copy if it has no escapes.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.expect(b'"')?;
        let bytes = self.text.as_bytes();
        let mut owned: Option<String> = None;
        let mut start = self.at;
        loop {
            let end = self.at + memchr::memchr2(b'"', b'\\', &bytes[self.at..])?;
            let piece = &self.text[start..end];
            if piece.bytes().any(|byte| byte < b' ') {
                return None;
            }
            if bytes[end] == b'"' {
                self.at = end + 1;
                return Some(match owned {
                    None => Cow::Borrowed(piece),
                    Some(owned) => Cow::Owned(owned + piece),
                });
            }
            self.at = end + 1;
            let owned = owned.get_or_insert_default();
            owned.push_str(piece);
            owned.push(self.escape()?);
            start = self.at;
        }
    }

    /// The character of an escape, after its backslash.
    fn escape(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.hexadecimal()?;
                if first & 0xfc00 != 0xd800 {
                    return char::from_u32(first);
                }
                if self.text.as_bytes().get(self.at..self.at + 2)? != b"\\u" {
                    return None;
                }
                self.at += 2;
                let second = self.hexadecimal()?;
                if second & 0xfc00 != 0xdc00 {
                    return None;
                }
                char::from_u32(0x1_0000 + ((first & 0x3ff) << 10) + (second & 0x3ff))?
            }
            _ => return None,
        })
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |value, &digit| Some(value * 16 + char::from(digit).to_digit(16)?))
    }

    /// The text of a number.
    fn number(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.skip(b'-');
        if !self.skip(b'0') {
            self.digits()?;
        }
        if self.skip(b'.') {
            self.digits()?;
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _ = self.skip(b'+') || self.skip(b'-');
            self.digits()?;
        }
        Some(&self.text[start..self.at])
    }

    fn skip(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// At least one digit.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

/// A finite number that is not written as an integer.
fn fraction(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (value.is_finite() && text.contains(['.', 'e', 'E'])).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn parsed(file: &str) -> Option<Scored<'_>> {
        read(file.as_bytes(), &Stop::never()).unwrap()
    }

    #[test]
    fn systems_scores_and_texts() {
        let file = r#" {"a" : [ {"src": "x", "mt": "\u00e9\ud83d\ude00\"\n", "COMET": 0.5, "other": 3 } ,
            {"COMET": -1e-3,"mt":"é","src":""}],"b":[{"src":"x","mt":"y","COMET":1.0},{"src":"","mt":"","COMET":2E2}]} "#;
        let scored = parsed(file).unwrap();
        assert_eq!(scored.systems, ["a", "b"]);
        assert_eq!(scored.scores, [0.5, -0.001, 1.0, 200.0]);
        assert_eq!(scored.texts, [vec!["x", "", "x", ""], vec!["é😀\"\n", "é", "y", ""], vec![]]);
    }

    #[test]
    fn other_forms_and_faults() {
        for file in [
            "",
            "[]",
            "{}",
            r#"{"a": []}"#,
            r#"{"a": [{}]}"#,
            r#"{"a": [{"COMET": 1}]}"#,
            r#"{"a": [{"COMET": 1e999}]}"#,
            r#"{"a": [{"COMET": NaN}]}"#,
            r#"{"a": [{"COMET": 01.5}]}"#,
            r#"{"a": [{"COMET": 1.}]}"#,
            r#"{"a": [{"COMET": .5}]}"#,
            r#"{"a": [{"COMET": "0.5"}]}"#,
            r#"{"a": [{"COMET": 0.5}, {"mt": "x"}]}"#,
            r#"{"a": [{"COMET": 0.5}, {"COMET": 0.5, "mt": "x"}]}"#,
            r#"{"a": [{"COMET": 0.5, "mt": null}]}"#,
            r#"{"a": [{"COMET": 0.5, "mt": 1}]}"#,
            r#"{"a": [{"COMET": 0.5, "mt": "\ud800"}]}"#,
            r#"{"a": [{"COMET": 0.5, "mt": "\ud800\u0041"}]}"#,
            r#"{"a": [{"COMET": 0.5, "mt": "\x"}]}"#,
            r#"{"a": [{"COMET": 0.5, "mt": "\u00+1"}]}"#,
            "{\"a\": [{\"COMET\": 0.5, \"mt\": \"\n\"}]}",
            r#"{"a": [{"COMET": 0.5,}]}"#,
            r#"{"a": [{"COMET": 0.5},]}"#,
            r#"{"a": [{"COMET": 0.5}],}"#,
            r#"{"a": [{"COMET": 0.5}]"#,
            r#"{"a": [{"COMET": 0.5}]} x"#,
            r#"{"a": [{"COMET": 0.5}], "a": [{"COMET": 0.5}]}"#,
            r#"{"a": [{"COMET": 0.5}], "b": [{"COMET": 0.5}, {"COMET": 0.5}]}"#,
            r#"{"a": [{"COMET": 0.5}, {"COMET": 0.5}], "b": [{"COMET": 0.5}]}"#,
            r#"{"a": [{"COMET": 0.5}], "b": [{"COMET": 0.5, "src": "x"}]}"#,
        ] {
            assert_eq!(parsed(file), None, "{file}");
        }
        assert_eq!(read(b"{\"\xff\": [{\"COMET\": 0.5}]}", &Stop::never()), Ok(None));
    }

    #[test]
    fn stops() {
        let file = br#"{"a": [{"COMET": 0.5}]}"#;
        assert_eq!(read(file, &Stop::at_once()), Err(Error::Interrupted));
    }
}
