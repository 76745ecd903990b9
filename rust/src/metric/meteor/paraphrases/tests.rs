use std::io::Write;
use std::sync::atomic::AtomicUsize;

use proptest::prelude::*;

use super::*;
use crate::pool::{stopped, with_run};

/// A new folder, which is removed with the value.
struct Folder(String);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("reshuffle-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path.to_str().unwrap().into())
    }

    /// Writes a file. Returns its path.
    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = format!("{}/{name}", self.0);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn read(path: &str, words: &[&str], threads: usize) -> Result<(Paraphrases, Vocabulary)> {
    let mut vocabulary = Vocabulary::default();
    for word in words {
        vocabulary.intern(word);
    }
    let table = with_run(threads, |run| Paraphrases::read(path, &vocabulary, &Neighbours::all(), run))?;
    Ok((table, vocabulary))
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

/// What [`Paraphrases::each`] finds, with words spelled out.
fn found((table, vocabulary): &(Paraphrases, Vocabulary), sentence: &str) -> Vec<(usize, usize, String)> {
    let tokens: Vec<Token> = sentence.split_ascii_whitespace().map(|word| vocabulary.find(word)).collect();
    let mut all = Vec::new();
    table.each(&tokens, &mut |start, length, words| {
        let words: Vec<&str> = words.iter().map(|&word| vocabulary.get(word)).collect();
        all.push((start, length, words.join(" ")));
    });
    all
}

/// The same from the lines of a table.
fn found_slowly(table: &[(String, String)], words: &[&str], sentence: &str) -> Vec<(usize, usize, String)> {
    let known = |phrase: &str| phrase.split_ascii_whitespace().all(|word| words.contains(&word));
    let normal = |phrase: &str| phrase.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let sentence: Vec<&str> = sentence.split_ascii_whitespace().collect();
    let mut all = Vec::new();
    for start in 0..sentence.len() {
        for end in start + 1..=sentence.len() {
            let here = sentence[start..end].join(" ");
            let entries = table.iter().filter(|(a, b)| normal(a) == here && known(a) && known(b));
            all.extend(entries.map(|(_, b)| (start, end - start, normal(b))));
        }
    }
    all
}

fn lines(table: &[(String, String)]) -> String {
    table.iter().map(|(a, b)| format!("0.25\n{a}\n{b}\n")).collect()
}

#[test]
fn entries_with_known_words_are_found() {
    let folder = Folder::new();
    let table = "0.5\na b\nc\n1.0E-4\na b\nd d\nNaN\na b\nx\n.5\na\na\n1\nx\na\n7\na  b\t\r\n d \n";
    let path = folder.write("table", table);
    let read = read(&path, &["a", "b", "c", "d"], 1).unwrap();
    let expected = [(0, 1, "a"), (1, 1, "a"), (1, 2, "c"), (1, 2, "d d"), (1, 2, "d")];
    assert_eq!(expected.map(|(start, length, words)| (start, length, words.into())).to_vec(), found(&read, "a a b x"));
    assert_eq!(vec![(0, 1, "a".to_owned())], found(&read, "a A"));
    assert_eq!(Vec::<(usize, usize, String)>::new(), found(&read, ""));
}

#[test]
fn damaged_tables_are_refused_with_the_line() {
    let folder = Folder::new();
    let cases: [(&[u8], &str); 9] = [
        (b"", "line 1: expected a probability, got an empty file"),
        (b"0.5\na\nb\n0.5\n", "line 4: expected a phrase after this line, got the end of the file"),
        (b"0.5\na\nb\n0.5\na", "line 5: expected a paraphrase after this line, got the end of the file"),
        (b"0.5\na\n0.5\nb\nb\n", "line 4: expected a probability, got \"b\""),
        (b"version https\n", "line 1: expected a probability, got \"version https\""),
        (b"0.5\n \nb\n", "line 2: expected a phrase, got \" \""),
        (b"0.5\na\n\n", "line 3: expected a phrase, got \"\""),
        (b"0.5\nx\n\n", "line 3: expected a phrase, got \"\""),
        (b"0.5\na\n\xFFb\n", "line 3: expected UTF-8, got other bytes"),
    ];
    let message = |path: &str| match read(path, &["a", "b"], 2) {
        Ok(_) => panic!("no error"),
        Err(error) => error.to_string(),
    };
    for (text, expected) in cases {
        let path = folder.write("table", text);
        assert_eq!(format!("{path}, {expected}"), message(&path));
        let path = folder.write("table.gz", gzip(text));
        assert_eq!(format!("{path}, {expected}"), message(&path));
    }
    let missing = format!("{}/missing", folder.0);
    assert!(message(&missing).starts_with(&format!("{missing}: expected a file that can be read, got ")));
}

#[test]
fn damaged_gzip_is_refused_with_the_line() {
    let folder = Folder::new();
    let text = "0.5\na\nb\n".repeat(100);
    let whole = gzip(text.as_bytes());
    let mut wrong_sum = whole.clone();
    *wrong_sum.iter_mut().nth_back(7).unwrap() ^= 1;
    let mut trailing = whole.clone();
    trailing.extend(b"0.5\na\nb\n");
    for bytes in [&whole[..whole.len() - 9], &wrong_sum, &trailing] {
        let path = folder.write("table.gz", bytes);
        let Err(Error::File { line: Some(line), expected, .. }) = read(&path, &["a"], 1) else {
            panic!("no error with a line");
        };
        assert_eq!("lines of text, compressed by gzip or not", expected);
        assert!(line > 1 && line <= 301, "{line}");
    }
    // Several compressed files in one are as good as one.
    let path = folder.write("table.gz", [whole.clone(), whole].concat());
    assert_eq!(200, found(&read(&path, &["a", "b"], 1).unwrap(), "a").len());
}

#[test]
fn long_lines_and_large_tables_are_read_alike_by_one_thread_and_two() {
    let folder = Folder::new();
    let entry = |i: usize| format!("0.5\nk{} a\n{}b\n", i / 7, "a ".repeat(i % 50));
    let mut text: String = (0..7000).map(entry).collect();
    text += &format!("0.5\na\n{}\n", "b ".repeat(BLOCK_BYTES));
    let words: Vec<String> = (0..1000).step_by(3).map(|i| format!("k{i}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["a", "b"]).collect();
    let sentence = "k3 a k6 a k4 a";
    let plain = folder.write("table", &text);
    let packed = folder.write("table.gz", gzip(text.as_bytes()));
    let expected = found(&read(&plain, &words, 1).unwrap(), sentence);
    assert_eq!((14 + 3, 2 * BLOCK_BYTES - 1), (expected.len(), expected.last().unwrap().2.len()));
    for (path, threads) in [(&plain, 2), (&packed, 1), (&packed, 2)] {
        assert!(expected == found(&read(path, &words, threads).unwrap(), sentence));
    }
    let endless = folder.write("table", vec![b'0'; LONGEST_LINE + 2 * BLOCK_BYTES]);
    let message = read(&endless, &words, 2).err().unwrap().to_string();
    assert!(message.ends_with(&format!("got a line of more than {LONGEST_LINE} bytes")), "{message}");
}

#[test]
fn reading_can_be_stopped() {
    let folder = Folder::new();
    let path = folder.write("table", "0.5\na\nb\n".repeat(100_000));
    for threads in [1, 2] {
        let outcome =
            stopped(threads, 0, |run| Paraphrases::read(&path, &Vocabulary::default(), &Neighbours::all(), run));
        assert_eq!(Some(Error::Interrupted), outcome.err());
    }
}

proptest! {
    #![proptest_config(crate::testing::cases(32))]
    #[test]
    fn entries_equal_those_found_slowly(
        table in proptest::collection::vec(("[abcd]( [ab]){0,2}", " ?[abcd](  ?[ab]){0,2}"), 1..30),
        sorted in any::<bool>(),
        sentence in "([abcd] ){0,9}",
    ) {
        let mut table = table;
        if sorted {
            table.sort();
        }
        let folder = Folder::new();
        let path = folder.write("table.gz", gzip(lines(&table).as_bytes()));
        let words = ["a", "b", "c"];
        let expected = found_slowly(&table, &words, &sentence);
        prop_assert_eq!(expected, found(&read(&path, &words, 2).unwrap(), &sentence));
    }

    #[test]
    fn entries_that_a_corpus_contains_are_found_in_it(
        table in proptest::collection::vec(("[abcd]( [abc]){0,2}", "[abcd]( [abc]){0,2}"), 1..60),
        texts in proptest::collection::vec("([abcd] ){0,6}", 2..5),
    ) {
        let folder = Folder::new();
        let path = folder.write("table", lines(&table));
        let (mut vocabulary, neighbours) = (Vocabulary::default(), Neighbours::new(None));
        for text in &texts {
            let mut line = neighbours.line();
            for word in text.split_ascii_whitespace() {
                vocabulary.intern(word);
                line.add(word);
            }
        }
        let read = (with_run(1, |run| Paraphrases::read(&path, &vocabulary, &neighbours, run)).unwrap(), vocabulary);
        let spaced: Vec<String> = texts.iter().map(|text| format!(" {text}")).collect();
        for text in &texts {
            let occurs = |(_, _, phrase): &(usize, usize, String)| {
                spaced.iter().any(|text| text.contains(&format!(" {phrase} ")))
            };
            let mut expected = found_slowly(&table, &["a", "b", "c", "d"], text);
            let mut got = found(&read, text);
            expected.retain(occurs);
            got.retain(occurs);
            prop_assert_eq!(expected, got);
        }
    }
}

#[test]
fn entries_whose_words_never_meet_are_left_out() {
    let folder = Folder::new();
    let path = folder.write("table", "0.5\na b\nb a\n0.5\na\nb\n0.5\nb c\na\n0.5\na\nc b\n");
    let (mut vocabulary, neighbours) = (Vocabulary::default(), Neighbours::new(None));
    let mut line = neighbours.line();
    for word in ["a", "b", "c"] {
        vocabulary.intern(word);
        line.add(word);
    }
    let read = (with_run(1, |run| Paraphrases::read(&path, &vocabulary, &neighbours, run)).unwrap(), vocabulary);
    assert_eq!(vec![(0, 1, "b".to_owned()), (1, 2, "a".to_owned())], found(&read, "a b c"));
    assert_eq!(2, read.0.ends.len());
}

#[test]
fn new_neighbours_are_noticed() {
    let first = Neighbours::new(None);
    assert!(!first.have_grown());
    let add = |to: &Neighbours, words: &[&str]| {
        let mut line = to.line();
        words.iter().for_each(|word| line.add(word));
        to.have_grown()
    };
    assert!(!add(&first, &["a"]) && add(&first, &["a", "b"]));
    let second = Neighbours::new(Some(&first));
    assert!(!add(&second, &["a", "b"]) && add(&second, &["b", "a"]));
    assert!(!first.contain(hash("b"), hash("a")) && second.contain(hash("b"), hash("a")));
}
