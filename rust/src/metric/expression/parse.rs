//! From the text of a formula to its steps: `+ - * / ** ^ ( )`, comparisons, numbers, names of columns, and a few
//! functions. Nothing else can be written, so the formula of a stranger computes and does nothing else.

use super::steps::{Binary, Step, Unary};
use crate::error::{Error, Result};

/// The longest formula, in characters.
const LONGEST: usize = 4096;

/// The deepest nesting of parentheses, signs and powers. It bounds the recursion.
const DEEPEST: usize = 64;

/// The functions, with their least number of arguments and the size of each further group of arguments (0: none).
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("log", 1, 0),
    ("exp", 1, 0),
    ("sqrt", 1, 0),
    ("abs", 1, 0),
    ("min", 1, 1),
    ("max", 1, 1),
    ("sum", 1, 1),
    ("mean", 1, 1),
    ("where", 3, 0),
    ("ratio", 2, 0),
    ("perplexity", 2, 0),
    ("f", 3, 0),
    ("f_beta", 4, 0),
    ("macro_f", 3, 3),
];

/// The steps of a metric's formula, and its text without spaces.
pub(super) fn parse(metric: &str, text: &str, columns: &[String]) -> Result<(Vec<Step>, String)> {
    let length = text.chars().count();
    if length > LONGEST {
        let expected = format!("at most {LONGEST} characters");
        return Err(unreadable(metric, LONGEST + 1, expected, format!("{length} characters")));
    }
    let mut parser = Parser { metric, tokens: tokens(metric, text)?, at: 0, depth: 0, columns, steps: Vec::new() };
    parser.comparison()?;
    match parser.next().kind {
        Kind::End => Ok((parser.steps, parser.tokens.iter().map(|token| token.text).collect())),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Number(f64),
    Name,
    /// A name in backquotes, which are part of the text.
    Quoted,
    Symbol,
    End,
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    /// In characters, from 1.
    column: usize,
}

/// Symbols. Those of two characters come first.
const SYMBOLS: &[&str] = &["**", "<=", ">=", "==", "!=", "+", "-", "*", "/", "^", "(", ")", ",", "<", ">"];

/// A formula that cannot be read from a column of its text on.
pub(super) fn unreadable(metric: &str, column: usize, expected: impl Into<String>, got: String) -> Error {
    Error::Formula { metric: metric.into(), column, expected: expected.into(), got }
}

fn tokens<'a>(metric: &str, text: &'a str) -> Result<Vec<Token<'a>>> {
    let (mut found, mut rest, mut column) = (Vec::new(), text, 1);
    loop {
        let trimmed = rest.trim_start();
        column += rest[..rest.len() - trimmed.len()].chars().count();
        rest = trimmed;
        let Some(first) = rest.chars().next() else {
            found.push(Token { kind: Kind::End, text: "", column });
            return Ok(found);
        };
        let bad = |expected: &str, got: String| unreadable(metric, column, expected, got);
        let (kind, length) = if first.is_ascii_digit() || first == '.' {
            let length = number_length(rest);
            match rest[..length].parse::<f64>() {
                Ok(number) if number.is_finite() => (Kind::Number(number), length),
                _ => return Err(bad("a finite number", format!("{:?}", &rest[..length.max(1)]))),
            }
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (Kind::Name, end)
        } else if first == '`' {
            match rest[1..].find('`') {
                Some(end) if end > 0 => (Kind::Quoted, end + 2),
                _ => return Err(bad("a name between backquotes", format!("{rest:?}"))),
            }
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Kind::Symbol, symbol.len())
        } else {
            return Err(bad("a number, a name, an operator or a parenthesis", format!("{first:?}")));
        };
        let (text, behind) = rest.split_at(length);
        found.push(Token { kind, text, column });
        column += text.chars().count();
        rest = behind;
    }
}

/// The number of bytes of `12`, `1.5`, `.5` or `1e-3` at the beginning of a text; an exponent needs digits.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end += 1 + digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}

struct Parser<'a> {
    metric: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
    columns: &'a [String],
    steps: Vec<Step>,
}

/// The number of the step that computes a value.
type Value = usize;

impl<'a> Parser<'a> {
    fn next(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    /// Goes past one of these symbols, if it comes next.
    fn take(&mut self, symbols: &[&str]) -> Option<&'a str> {
        let token = self.next();
        let taken = token.kind == Kind::Symbol && symbols.contains(&token.text);
        self.at += usize::from(taken);
        taken.then_some(token.text)
    }

    fn unexpected(&self, expected: impl Into<String>) -> Error {
        let Token { kind, text, column } = self.next();
        let got = if kind == Kind::End { "the end".into() } else { format!("{text:?}") };
        unreadable(self.metric, column, expected, got)
    }

    fn step(&mut self, step: Step) -> Value {
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn constant(&mut self, number: f64) -> Value {
        self.step(Step::Constant(number))
    }

    fn binary(&mut self, operation: Binary, a: Value, b: Value) -> Value {
        self.step(Step::Binary(operation, a, b))
    }

    /// Runs `inner` one level deeper.
    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Result<Value>) -> Result<Value> {
        if self.depth == DEEPEST {
            return Err(self.unexpected(format!("at most {DEEPEST} levels of parentheses, signs and powers")));
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn comparison(&mut self) -> Result<Value> {
        let a = self.sum()?;
        let Some(symbol) = self.take(&["<", ">", "<=", ">=", "==", "!="]) else { return Ok(a) };
        let b = self.sum()?;
        Ok(match symbol {
            "<" => self.binary(Binary::Less, a, b),
            ">" => self.binary(Binary::Less, b, a),
            "<=" => self.binary(Binary::LessOrEqual, a, b),
            ">=" => self.binary(Binary::LessOrEqual, b, a),
            "==" => self.binary(Binary::Equal, a, b),
            _ => self.binary(Binary::Unequal, a, b),
        })
    }

    fn sum(&mut self) -> Result<Value> {
        let mut a = self.product()?;
        while let Some(symbol) = self.take(&["+", "-"]) {
            let b = self.product()?;
            a = self.binary(if symbol == "+" { Binary::Add } else { Binary::Subtract }, a, b);
        }
        Ok(a)
    }

    fn product(&mut self) -> Result<Value> {
        let mut a = self.signed()?;
        while let Some(symbol) = self.take(&["*", "/"]) {
            let b = self.signed()?;
            a = self.binary(if symbol == "*" { Binary::Multiply } else { Binary::Divide }, a, b);
        }
        Ok(a)
    }

    /// A sign binds less than a power: `-a**2` is −(a²).
    fn signed(&mut self) -> Result<Value> {
        if self.take(&["-"]).is_none() {
            return self.power();
        }
        let a = self.deeper(Self::signed)?;
        Ok(self.step(Step::Unary(Unary::Negate, a)))
    }

    /// Powers are taken from the right: `2**3**2` is 2⁹. An exponent may have a sign.
    fn power(&mut self) -> Result<Value> {
        let a = self.atom()?;
        if self.take(&["**", "^"]).is_none() {
            return Ok(a);
        }
        let b = self.deeper(Self::signed)?;
        Ok(self.binary(Binary::Power, a, b))
    }

    fn atom(&mut self) -> Result<Value> {
        let token = self.next();
        match token.kind {
            Kind::Number(number) => {
                self.at += 1;
                Ok(self.constant(number))
            }
            Kind::Name if self.tokens[self.at + 1].text == "(" => self.call(),
            Kind::Name | Kind::Quoted => {
                let name = token.text.trim_matches('`');
                let Some(column) = self.columns.iter().position(|column| column == name) else {
                    return Err(self.unexpected(format!("a column ({})", self.columns.join(", "))));
                };
                self.at += 1;
                Ok(self.step(Step::Column(column)))
            }
            Kind::Symbol if token.text == "(" => {
                self.at += 1;
                let value = self.deeper(Self::comparison)?;
                self.take(&[")"]).ok_or_else(|| self.unexpected("an operator or )"))?;
                Ok(value)
            }
            _ => Err(self.unexpected("a number, a column, a function or (")),
        }
    }

    fn call(&mut self) -> Result<Value> {
        let token = self.next();
        let Some(&(name, least, more)) = FUNCTIONS.iter().find(|(name, ..)| *name == token.text) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
            return Err(self.unexpected(format!("a function ({})", known.join(", "))));
        };
        self.at += 2;
        let mut arguments = vec![self.deeper(Self::comparison)?];
        while self.take(&[","]).is_some() {
            arguments.push(self.deeper(Self::comparison)?);
        }
        self.take(&[")"]).ok_or_else(|| self.unexpected("an operator, a comma or )"))?;
        let further = arguments.len().checked_sub(least);
        if further.is_none_or(|further| if more == 0 { further > 0 } else { further % more > 0 }) {
            let (plural, or_more) = (if least == 1 { "" } else { "s" }, if more == 0 { "" } else { " or more" });
            let groups = if more > 1 { format!(", in groups of {more}") } else { String::new() };
            let expected = format!("{least} argument{plural}{or_more} of {name}{groups}");
            return Err(unreadable(self.metric, token.column, expected, arguments.len().to_string()));
        }
        Ok(self.function(name, &arguments))
    }

    fn function(&mut self, name: &str, arguments: &[Value]) -> Value {
        let one = arguments[0];
        match (name, arguments) {
            ("log", _) => self.step(Step::Unary(Unary::Log, one)),
            ("exp", _) => self.step(Step::Unary(Unary::Exp, one)),
            ("sqrt", _) => self.step(Step::Unary(Unary::Sqrt, one)),
            ("abs", _) => self.step(Step::Unary(Unary::Abs, one)),
            ("min", _) => self.folded(Binary::Min, arguments),
            ("max", _) => self.folded(Binary::Max, arguments),
            ("sum", _) => self.folded(Binary::Add, arguments),
            ("where", &[condition, yes, no]) => self.step(Step::Where(condition, yes, no)),
            ("ratio", &[a, b]) => self.binary(Binary::Divide, a, b),
            ("perplexity", &[a, b]) => {
                let ratio = self.binary(Binary::Divide, a, b);
                self.step(Step::Unary(Unary::Exp, ratio))
            }
            ("f", &[hits, false_hits, misses]) => {
                let beta = self.constant(1.0);
                self.f_score([hits, false_hits, misses], beta)
            }
            ("f_beta", &[hits, false_hits, misses, beta]) => self.f_score([hits, false_hits, misses], beta),
            ("macro_f", _) => {
                let beta = self.constant(1.0);
                let each = |hits: &[Value]| [hits[0], hits[1], hits[2]];
                let scores: Vec<Value> = arguments.chunks(3).map(|of| self.f_score(each(of), beta)).collect();
                self.mean(&scores)
            }
            _ => self.mean(arguments),
        }
    }

    fn folded(&mut self, operation: Binary, values: &[Value]) -> Value {
        values[1..].iter().fold(values[0], |a, &b| self.binary(operation, a, b))
    }

    fn mean(&mut self, values: &[Value]) -> Value {
        let sum = self.folded(Binary::Add, values);
        let number = self.constant(values.len() as f64);
        self.binary(Binary::Divide, sum, number)
    }

    /// F_β = (1 + β²)·tp / ((1 + β²)·tp + fp + β²·fn).
    fn f_score(&mut self, [hits, false_hits, misses]: [Value; 3], beta: Value) -> Value {
        let square = self.binary(Binary::Multiply, beta, beta);
        let one = self.constant(1.0);
        let weight = self.binary(Binary::Add, one, square);
        let hits = self.binary(Binary::Multiply, weight, hits);
        let misses = self.binary(Binary::Multiply, square, misses);
        let whole = self.folded(Binary::Add, &[hits, false_hits, misses]);
        self.binary(Binary::Divide, hits, whole)
    }
}
