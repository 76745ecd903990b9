use std::collections::BTreeMap;
use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::metric::{self, Lists, count_lists};
use crate::pool::Run;

fn parsed(text: &str) -> Result<NBest> {
    parse(text.as_bytes(), "file", &Options::default(), &Stop::never())
}

/// An entry as Moses writes it: sentence, words, dense features and sparse ones.
type Entry = (i64, String, [i32; 3], BTreeMap<String, i32>);

fn lines(entries: &[Entry]) -> String {
    let line = |(id, text, [a, b, c], sparse): &Entry| {
        let sparse: String = sparse.iter().map(|(name, value)| format!(" s_{name}= {value}")).collect();
        format!("{id} ||| {text} ||| lm= {a} tm= {b} {c}{sparse} ||| {a}\n")
    };
    entries.iter().map(line).collect()
}

/// The entries of lists, with sparse features by name.
fn entries(lists: &NBest) -> Vec<Entry> {
    let mut out = Vec::new();
    for (sentence, &id) in lists.ids.iter().enumerate() {
        for entry in lists.entries_of(sentence) {
            assert!(lists.texts_of(sentence).contains(&(lists.text_of[entry] as usize)));
            let dense: Vec<i32> = lists.dense_of(entry).iter().map(|&value| value as i32).collect();
            let (indices, values) = lists.sparse_of(entry);
            let name = |&i: &i32| lists.sparse_names[i as usize].trim_start_matches("s_").to_owned();
            let sparse = indices.iter().map(name).zip(values.iter().map(|&value| value as i32)).collect();
            out.push((id, lists.hypothesis(entry).to_owned(), dense.try_into().unwrap(), sparse));
        }
    }
    out
}

fn some_entries() -> impl Strategy<Value = Vec<Entry>> {
    let sparse = prop::collection::btree_map("[ab]", prop_oneof![-2..0_i32, 1..3_i32], 0..3);
    let entry = (0..3_i64, "[ab]( [ab]){0,2}", prop::array::uniform3(0..2_i32), sparse);
    prop::collection::vec(entry, 1..20).prop_map(|mut entries| {
        entries.sort_by_key(|entry| entry.0);
        entries
    })
}

#[test]
fn a_line_has_room_for_any_number_of_features() {
    // With a look through all names for each of them, this would take minutes.
    const MANY: usize = 20_000;
    let names = |suffix: &str| (0..MANY).map(|i| format!("f{i}{suffix}")).collect::<Vec<_>>();
    let values = |names: &[String], sign: &str| names.iter().map(|name| format!("{name}{sign}1 ")).collect::<String>();
    let (dense, sparse) = (names(""), names("_"));
    let both = format!("{}{}", values(&dense, "= "), values(&sparse, "= "));
    // The sparse labels also come first, where each of them is looked up among the dense ones.
    let swapped = format!("{}{}", values(&sparse, "= "), values(&dense, "= "));
    let labels = parsed(&format!("0 ||| a ||| {both}\n0 ||| b ||| {swapped}\n")).unwrap();
    let pairs = parsed(&format!("0 ||| a ||| {}\n", values(&dense, "="))).unwrap();
    let options = Options { dense: Some(dense.clone()), ..Options::default() };
    let chosen = parse(format!("0 ||| a ||| {}\n", values(&dense, "=")).as_bytes(), "file", &options, &Stop::never());
    let joined = merged(&[&pairs, &pairs], &Stop::never()).unwrap();
    assert_eq!((&dense, &sparse), (&labels.names, &labels.sparse_names));
    for lists in [&pairs, &chosen.unwrap(), &joined] {
        assert_eq!((&dense, &vec![1.0; MANY]), (&lists.names, &lists.dense));
    }
}

proptest! {
    #![proptest_config(crate::testing::cases(24))]

    #[test]
    fn joined_lists_have_every_entry_once_in_order(a in some_entries(), b in some_entries()) {
        let (first, second) = (parsed(&lines(&a)).unwrap(), parsed(&lines(&b)).unwrap());
        let joined = merged(&[&first, &second], &Stop::never()).unwrap();
        let mut expected: Vec<Entry> = Vec::new();
        for id in 0..3 {
            for entry in a.iter().chain(&b).filter(|entry| entry.0 == id) {
                if !expected.contains(entry) {
                    expected.push(entry.clone());
                }
            }
        }
        prop_assert_eq!(expected, entries(&joined));
    }

    #[test]
    fn some_entries_are_selected(all in some_entries(), chosen in prop::collection::vec(any::<bool>(), 20)) {
        let lists = parsed(&lines(&all)).unwrap();
        let rows: Vec<i64> = (0..all.len() as i64).filter(|&row| chosen[row as usize]).collect();
        let some = selected(&lists, &rows, &Stop::never()).unwrap();
        let expected: Vec<Entry> = rows.iter().map(|&row| all[row as usize].clone()).collect();
        prop_assert_eq!(expected, entries(&some));
        prop_assert_eq!(rows.len(), some.totals.len());
    }

    #[test]
    fn entries_are_counted_as_systems_are(all in some_entries(), threads in 1..3_usize) {
        let lists = parsed(&lines(&all)).unwrap();
        let hypothesis = |i: usize| lists.texts.get(i);
        let texts = Lists { offsets: &lists.text_offsets, hypothesis: &hypothesis };
        let references = [vec![Some("a b a"); lists.sentences()]];
        let mut run = Run { threads, watch: &mut |_| Ok(()) };
        for name in ["bleu", "nist", "ter", "meteor"] {
            let metric = metric::metric(name, &[]).unwrap();
            let rows = count_lists(metric.as_ref(), &texts, &references, &mut run).unwrap();
            let rows = by_entry(&lists, &rows, metric.width()).unwrap();
            for sentence in 0..lists.sentences() {
                for entry in lists.entries_of(sentence) {
                    // A system whose other segments are anything.
                    let mut system = vec!["a"; lists.sentences()];
                    system[sentence] = lists.hypothesis(entry);
                    let counts = metric::count(&[metric.as_ref()], &[system], &references, &mut run).unwrap().remove(0);
                    let width = metric.width();
                    prop_assert_eq!(&counts[sentence * width..][..width], &rows[entry * width..][..width], "{}", name);
                }
            }
        }
    }
}

#[test]
fn compressed_files_are_recognised_and_limited() {
    let path = std::env::temp_dir().join(format!("reshuffle-nbest-{}.gz", std::process::id()));
    let text = "0 ||| a ||| 1 2\n".repeat(3);
    let compressed = |text: &str| {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(text.as_bytes()).unwrap();
        writer.finish().unwrap()
    };
    let content = compressed(&text);
    std::fs::write(&path, &content).unwrap();
    let with = |max_input| read(&path, "file", &Options { dense: None, max_input }, &Stop::never());
    assert_eq!(parsed(&text), with(text.len() as u64));
    assert!(with(40).unwrap_err().to_string().starts_with("file: expected at most 40 bytes when decompressed"));
    std::fs::write(&path, &content[..content.len() - 12]).unwrap();
    assert!(with(1000).unwrap_err().to_string().contains("a line that can be read"));
    // The limit ends a line before the damage in it is found.
    let content = compressed(&"a".repeat(1 << 24));
    std::fs::write(&path, &content[..content.len() - 12]).unwrap();
    assert!(with(1000).unwrap_err().to_string().starts_with("file: expected at most 1000 bytes when decompressed"));
    std::fs::remove_file(&path).unwrap();
    assert!(with(1000).unwrap_err().to_string().contains("a file that can be read"));
}

#[test]
fn long_calls_can_be_stopped() {
    let text = "0 ||| a ||| 1 2\n".repeat(1 << 14);
    let stopped = parse(text.as_bytes(), "file", &Options::default(), &Stop::at_once());
    assert_eq!(crate::Error::Interrupted, stopped.unwrap_err());
    let lists = parsed(&text).unwrap();
    assert_eq!(crate::Error::Interrupted, merged(&[&lists], &Stop::at_once()).unwrap_err());
}
