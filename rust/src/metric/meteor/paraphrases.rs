//! METEOR's tables of paraphrases, reduced to the words of a corpus.
//!
//! A table has three lines for each entry: a probability, a phrase and its paraphrase. METEOR's table for English has
//! five million entries. It is read once, as a stream: one thread decompresses, the calling thread parses. Only entries
//! that the corpus may contain are kept, as word numbers: their words occur in it, and any two neighbouring words follow
//! each other somewhere. For 2,500 segments that is a tenth of the table; words alone would leave three quarters.

use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;
use foldhash::fast::FixedState;

use crate::error::{Error, Result, quoted};
use crate::metric::files::not_utf8;
use crate::pool::{Run, Stop, sort, thread_count};
use crate::text::ngram::{Children, Token, Vocabulary};

/// Which word follows which in some texts. A Bloom filter of fixed size: it knows all pairs of neighbours, and a few that
/// it takes for them. Threads may add to it at the same time.
pub(super) struct Neighbours {
    bits: Vec<AtomicU64>,
    /// Has a pair been added that was not known?
    grown: AtomicBool,
}

/// The binary logarithm of the number of bits. The filter has 4 MB, and a million pairs fill 3 % of it.
const BITS: u32 = 25;

const HASHER: FixedState = FixedState::with_seed(1);

fn hash(word: &str) -> u64 {
    HASHER.hash_one(word)
}

impl Neighbours {
    /// Knows the pairs of another filter. They do not count as new.
    pub(super) fn new(before: Option<&Neighbours>) -> Self {
        let bits = match before {
            Some(before) => before.bits.iter().map(|bits| AtomicU64::new(bits.load(Ordering::Relaxed))).collect(),
            None => (0..1_usize << (BITS - u64::BITS.ilog2())).map(|_| AtomicU64::new(0)).collect(),
        };
        Neighbours { bits, grown: AtomicBool::new(false) }
    }

    /// Knows all pairs.
    #[cfg(test)]
    fn all() -> Self {
        let all = Self::new(None);
        all.bits.iter().for_each(|bits| bits.store(u64::MAX, Ordering::Relaxed));
        all
    }

    /// Has a pair been added that was not known?
    pub(super) fn have_grown(&self) -> bool {
        self.grown.load(Ordering::Relaxed)
    }

    /// Where the bit of a pair is: a word of the filter, and a mask.
    fn place(first: u64, second: u64) -> (usize, u64) {
        let mixed = (first.rotate_left(23) ^ second).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bit = mixed >> (u64::BITS - BITS);
        (bit as usize / u64::BITS as usize, 1 << (bit % u64::from(u64::BITS)))
    }

    fn contain(&self, first: u64, second: u64) -> bool {
        let (word, mask) = Self::place(first, second);
        self.bits[word].load(Ordering::Relaxed) & mask != 0
    }

    /// A line whose words are to be added.
    pub(super) fn line(&self) -> Line<'_> {
        Line { neighbours: self, last: None }
    }
}

/// A line whose words are added to [`Neighbours`].
pub(super) struct Line<'a> {
    neighbours: &'a Neighbours,
    last: Option<u64>,
}

impl Line<'_> {
    /// Adds the next word.
    pub(super) fn add(&mut self, word: &str) {
        let word = hash(word);
        if let Some(last) = self.last.replace(word)
            && !self.neighbours.contain(last, word)
        {
            let (at, mask) = Neighbours::place(last, word);
            self.neighbours.bits[at].fetch_or(mask, Ordering::Relaxed);
            self.neighbours.grown.store(true, Ordering::Relaxed);
        }
    }
}

/// Pairs of phrases that a corpus may contain, as word numbers.
#[derive(Default)]
pub(super) struct Paraphrases {
    /// The trie of phrases. Its nodes are numbered from 0.
    children: Children,
    /// For every node of the trie, where its groups end.
    group_ends: Vec<u32>,
    /// Runs of entries of the same phrase, in order of the phrase's node. A table that is sorted has one for each phrase.
    groups: Vec<Group>,
    /// The words of all paraphrases in the table's order, and where each paraphrase ends.
    words: Vec<Token>,
    ends: Vec<u32>,
}

/// Successive entries of the table with the same phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    /// The phrase's node.
    node: u32,
    /// The number of the first entry, and of the one after the last.
    first: u32,
    end: u32,
}

/// The node of the empty phrase, which no table contains.
const ROOT: u32 = u32::MAX;

/// The size of the blocks that are passed from thread to thread, in bytes. They fit in the cache of a core.
const BLOCK_BYTES: usize = 1 << 18;

/// The number of blocks that may wait.
const WAITING: usize = 8;

/// The longest line, in bytes. A longer one is a sign of another format.
const LONGEST_LINE: usize = 1 << 24;

/// Files up to this size, in bytes, need no second thread.
const SMALL: u64 = 1 << 17;

/// How long the calling thread waits for a block before it asks its caller whether to stop.
const PATIENCE: Duration = Duration::from_millis(20);

impl Paraphrases {
    /// Reads a table, compressed by gzip or not, without holding it in memory. Keeps entries whose words are in the
    /// vocabulary and have these neighbours.
    pub(super) fn read(
        file: &str,
        vocabulary: &Vocabulary,
        neighbours: &Neighbours,
        run: &mut Run<'_>,
    ) -> Result<Self> {
        let threads = thread_count(run.threads);
        run.serial(|stop| {
            let (mut blocks, size) = Blocks::open(file).map_err(|reason| Error::File {
                file: file.into(),
                line: None,
                expected: "a file that can be read".into(),
                got: reason.to_string(),
            })?;
            let mut parser = Parser::new(file, vocabulary, neighbours);
            if threads == 1 || size <= SMALL {
                let mut block = Vec::new();
                while let Some(block) = blocks.next(std::mem::take(&mut block)) {
                    parser.block(block)?;
                    stop.check()?;
                }
            } else {
                parse_beside(&mut parser, blocks, stop)?;
            }
            parser.finish(stop)
        })
    }

    /// Calls `found` with (start, length of the phrase, words of the paraphrase) for every phrase of the table that
    /// occurs in `words`, in order of start, then length, and for each of its paraphrases in the table's order.
    pub(super) fn each(&self, words: &[Token], found: &mut dyn FnMut(usize, usize, &[Token])) {
        for start in 0..words.len() {
            let mut node = ROOT;
            for (&word, length) in words[start..].iter().zip(1..) {
                let Some(next) = self.children.get(node, word) else { break };
                node = next;
                for group in &self.groups[range(&self.group_ends, node)] {
                    (group.first..group.end)
                        .for_each(|entry| found(start, length, &self.words[range(&self.ends, entry)]));
                }
            }
        }
    }
}

/// Where the `i`-th of several successive ranges is.
fn range(ends: &[u32], i: u32) -> std::ops::Range<usize> {
    let i = i as usize;
    let start = if i == 0 { 0 } else { ends[i - 1] };
    start as usize..ends[i] as usize
}

/// Lets another thread decompress.
fn parse_beside(parser: &mut Parser<'_>, mut blocks: Blocks, stop: &Stop<'_>) -> Result<()> {
    std::thread::scope(|scope| {
        // The ends of both channels are dropped with this closure, even by an error, so that the other thread ends, too.
        let (full, filled) = mpsc::sync_channel(WAITING);
        let (empty, emptied) = mpsc::channel::<Vec<u8>>();
        let reader = move || {
            while let Some(block) = blocks.next(emptied.try_recv().unwrap_or_default())
                && full.send(block).is_ok()
            {}
        };
        let spawned = std::thread::Builder::new().name("reshuffle-paraphrases".into()).spawn_scoped(scope, reader);
        spawned.map_err(|reason| Error::Threads { threads: 2, reason: reason.to_string() })?;
        loop {
            match filled.recv_timeout(PATIENCE) {
                Ok(block) => drop(empty.send(parser.block(block)?)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            stop.check()?;
        }
    })
}

/// A block of whole lines, or the reason why there is none.
type Block = std::result::Result<Vec<u8>, String>;

/// Reads a file in blocks of whole lines.
struct Blocks {
    source: Box<dyn Read + Send>,
    /// The beginning of a line whose end was not in the last block.
    rest: Vec<u8>,
    ended: bool,
    /// Why the source ended, if by an error.
    problem: Option<String>,
}

impl Blocks {
    /// The blocks of a file, and its size.
    fn open(path: &str) -> io::Result<(Self, u64)> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut file = BufReader::with_capacity(BLOCK_BYTES, file);
        let compressed = file.fill_buf()?.starts_with(&[0x1F, 0x8B]);
        let source: Box<dyn Read + Send> =
            if compressed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        Ok((Blocks { source, rest: Vec::new(), ended: false, problem: None }, size))
    }

    /// The next block, in a used buffer. After an error the lines before it come first.
    fn next(&mut self, mut block: Vec<u8>) -> Option<Block> {
        // What the buffer contains is overwritten, not cleared.
        let mut filled = self.rest.len();
        block.resize(block.len().max(filled), 0);
        block[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        while !self.ended {
            block.resize((filled + 1).next_multiple_of(BLOCK_BYTES), 0);
            match self.source.read(&mut block[filled..]) {
                Ok(0) => self.ended = true,
                Ok(count) => filled += count,
                Err(reason) if reason.kind() == io::ErrorKind::Interrupted => {}
                Err(reason) => (self.ended, self.problem) = (true, Some(reason.to_string())),
            }
            if filled == block.len() {
                if let Some(end) = memchr::memrchr(b'\n', &block) {
                    self.rest.extend_from_slice(&block[end + 1..]);
                    block.truncate(end + 1);
                    return Some(Ok(block));
                }
                if filled > LONGEST_LINE {
                    self.ended = true;
                    return Some(Err(format!("a line of more than {LONGEST_LINE} bytes")));
                }
            }
        }
        block.truncate(filled);
        if self.problem.is_some() {
            block.truncate(memchr::memrchr(b'\n', &block).map_or(0, |end| end + 1));
        }
        if block.is_empty() { self.problem.take().map(Err) } else { Some(Ok(block)) }
    }
}

/// Parses a table.
struct Parser<'a> {
    file: &'a str,
    vocabulary: &'a Vocabulary,
    neighbours: &'a Neighbours,
    table: Paraphrases,
    /// The number of lines so far.
    lines: usize,
    /// The last phrase.
    phrase: Vec<u8>,
    /// Its words, if the corpus may contain it.
    known: Option<Vec<Token>>,
    /// Is the last group one of that phrase?
    open: bool,
    /// The number of nodes of the trie.
    nodes: u32,
}

impl<'a> Parser<'a> {
    fn new(file: &'a str, vocabulary: &'a Vocabulary, neighbours: &'a Neighbours) -> Self {
        let table = Paraphrases::default();
        Parser { file, vocabulary, neighbours, table, lines: 0, phrase: Vec::new(), known: None, open: false, nodes: 0 }
    }

    fn error<T>(&self, line: usize, expected: &str, got: String) -> Result<T> {
        Err(Error::File { file: self.file.into(), line: Some(line), expected: expected.into(), got })
    }

    /// Parses a block. Returns its buffer.
    fn block(&mut self, block: Block) -> Result<Vec<u8>> {
        let block = match block {
            Ok(block) => block,
            Err(problem) => return self.error(self.lines + 1, "lines of text, compressed by gzip or not", problem),
        };
        let text = match std::str::from_utf8(&block) {
            Ok(text) => text,
            Err(error) => return Err(not_utf8(self.file, self.lines, &block[..error.valid_up_to()])),
        };
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
            self.line(&text[start..end])?;
            start = end + 1;
        }
        if start < text.len() {
            self.line(&text[start..])?;
        }
        Ok(block)
    }

    fn line(&mut self, line: &str) -> Result<()> {
        self.lines += 1;
        match self.lines % 3 {
            1 => self.probability(line),
            2 => self.phrase(line),
            _ => self.paraphrase(line),
        }
    }

    /// METEOR does not use probabilities. But a line that is no number is a sign that a line is missing.
    fn probability(&self, line: &str) -> Result<()> {
        let plain = matches!(line.as_bytes(), [b'0'..=b'9', b'.', b'0'..=b'9', ..]);
        if !plain && line.trim_ascii().parse::<f64>().is_err() {
            return self.error(self.lines, "a probability", quoted(line));
        }
        Ok(())
    }

    fn phrase(&mut self, line: &str) -> Result<()> {
        if line.as_bytes() == self.phrase && self.lines > 2 {
            return Ok(());
        }
        self.phrase.clear();
        self.phrase.extend_from_slice(line.as_bytes());
        self.open = false;
        let mut words = self.known.take().unwrap_or_default();
        words.clear();
        self.known = self.add_words(line, &mut words)?.then_some(words);
        Ok(())
    }

    fn paraphrase(&mut self, line: &str) -> Result<()> {
        let Some(known) = self.known.take() else {
            // Only the check of the line remains.
            return if line.trim_ascii().is_empty() {
                self.error(self.lines, "a phrase", quoted(line))
            } else {
                Ok(())
            };
        };
        let mut words = std::mem::take(&mut self.table.words);
        let before = words.len();
        let kept = self.add_words(line, &mut words);
        if !matches!(kept, Ok(true)) {
            words.truncate(before);
        }
        self.table.words = words;
        if kept? {
            self.table.ends.push(number(self.table.words.len())?);
            let end = number(self.table.ends.len())?;
            if !self.open {
                let node = self.insert(&known)?;
                self.table.groups.push(Group { node, first: end - 1, end });
                self.open = true;
            }
            if let Some(group) = self.table.groups.last_mut() {
                group.end = end;
            }
        }
        self.known = Some(known);
        Ok(())
    }

    /// Appends the numbers of the words of a phrase, up to one that is unknown or has an unknown neighbour. Returns whether
    /// there is none.
    fn add_words(&self, line: &str, out: &mut Vec<Token>) -> Result<bool> {
        let (before, mut last) = (out.len(), None);
        for word in line.split_ascii_whitespace() {
            let hash = hash(word);
            if last.replace(hash).is_some_and(|last| !self.neighbours.contain(last, hash)) {
                return Ok(false);
            }
            let token = self.vocabulary.find(word);
            if token as usize >= self.vocabulary.len() {
                return Ok(false);
            }
            out.push(token);
        }
        if out.len() == before { self.error(self.lines, "a phrase", quoted(line)) } else { Ok(true) }
    }

    /// The node of a phrase.
    fn insert(&mut self, words: &[Token]) -> Result<u32> {
        let mut node = ROOT;
        for &word in words {
            let new = self.nodes;
            node = self.table.children.get_or_insert(node, word, new);
            if node == new {
                self.nodes = number(new as usize + 1)?;
            }
        }
        Ok(node)
    }

    fn finish(mut self, stop: &Stop<'_>) -> Result<Paraphrases> {
        match self.lines % 3 {
            0 if self.lines == 0 => return self.error(1, "a probability", "an empty file".into()),
            0 => {}
            1 => return self.error(self.lines, "a phrase after this line", "the end of the file".into()),
            _ => return self.error(self.lines, "a paraphrase after this line", "the end of the file".into()),
        }
        sort(&mut self.table.groups, Ord::cmp, stop)?;
        self.table.group_ends.resize(self.nodes as usize, 0);
        for (i, group) in self.table.groups.iter().enumerate() {
            self.table.group_ends[group.node as usize] = number(i + 1)?;
        }
        // Nodes without groups end where the one before ends.
        let mut last = 0;
        for end in &mut self.table.group_ends {
            last = last.max(*end);
            *end = last;
        }
        for list in [&mut self.table.words, &mut self.table.ends] {
            list.shrink_to_fit();
        }
        Ok(self.table)
    }
}

/// A number that fits in 32 bits, below [`ROOT`].
fn number(n: usize) -> Result<u32> {
    u32::try_from(n).ok().filter(|&n| n < ROOT).ok_or(Error::Memory { numbers: n as u128 })
}

#[cfg(test)]
mod tests;
