//! Damaged inputs: whatever readers, tokenizers, metrics and states are given, they return a result or an error.
//!
//! Each test takes a valid input, damages it, and calls everything that reads it. Overflow checks and debug assertions are
//! on. `RESHUFFLE_FUZZ=N` sets how many inputs each test tries, as of all properties.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::{process, thread};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::Union;

use super::with_run;
use reshuffle::Result;
use reshuffle::metric::{
    self, Expression, File, Formula, Kind as OptionKind, METRICS, MetricSpec, OptionSpec, Resource, Value,
};
use reshuffle::pool::Stop;
use reshuffle::resample::reduce::{self, AnyReduction, run_all};
use reshuffle::resample::{Alternative, Kind, Plan, Resampler, Sample};
use reshuffle::stats::SuffStats;
use reshuffle::text::tokenize::TOKENIZERS;
use reshuffle::text::{conllu, scored};
use reshuffle::tune::lists::{self, NBest, Options};
use reshuffle::tune::templates::{self, Template, Texts, Wanted};

/// What is put into inputs: what the formats mean by something, and the ends of ranges of numbers and characters.
const PIECES: [&[u8]; 46] = [
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\0",
    b"\x1c",
    b"\xff",
    b"\xc3",
    "\u{85}".as_bytes(),
    "\u{2028}".as_bytes(),
    "é".as_bytes(),
    "日本".as_bytes(),
    "😀".as_bytes(),
    "e\u{301}".as_bytes(),
    "İ".as_bytes(),
    "½".as_bytes(),
    b"|||",
    b"=",
    b":",
    b"-",
    b".",
    b"#",
    b"\"",
    b"\\u",
    b"\\ud83d",
    b"{",
    b"[",
    b"}",
    b"]",
    b",",
    b"&amp;",
    b"<skipped>",
    b"_",
    b"-1",
    b"0",
    b"1e999",
    b"nan",
    b"-inf",
    b"1e-400",
    b"18446744073709551616",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"4294967296",
    b"0.1000000000000000055511151231257827",
    b"2147483648",
]; // of numbers, each is beyond a type

/// One damage.
#[derive(Debug, Clone)]
enum Damage {
    Cut(Index, Index),
    Insert(Index, &'static [u8]),
    Replace(Index, u8),
    /// Repeats a part so many times.
    Repeat(Index, Index, usize),
    /// Puts a copy of a part elsewhere.
    Copy(Index, Index, Index),
}

impl Damage {
    fn apply(&self, input: &mut Vec<u8>) {
        let place = |index: &Index, length: usize| index.index(length + 1);
        let part = |a: &Index, b: &Index, length: usize| {
            let (a, b) = (place(a, length), place(b, length));
            a.min(b)..a.max(b)
        };
        match self {
            Damage::Cut(a, b) => drop(input.drain(part(a, b, input.len()))),
            Damage::Insert(at, piece) => {
                drop(input.splice(place(at, input.len())..place(at, input.len()), piece.iter().copied()))
            }
            Damage::Replace(at, byte) => {
                let at = at.index(input.len().max(1));
                input.iter_mut().skip(at).take(1).for_each(|old| *old = *byte);
            }
            Damage::Repeat(a, b, times) => {
                let part = part(a, b, input.len());
                let more = input[part.clone()].repeat((*times).min(2000 / part.len().max(1)));
                input.splice(part.end..part.end, more);
            }
            Damage::Copy(a, b, to) => {
                let copy = input[part(a, b, input.len())].to_vec();
                let to = place(to, input.len());
                input.splice(to..to, copy);
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<Index>;
    prop_oneof![
        (place(), place()).prop_map(|(a, b)| Damage::Cut(a, b)),
        (place(), select(&PIECES[..])).prop_map(|(at, piece)| Damage::Insert(at, piece)),
        (place(), any::<u8>()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (place(), place(), select(vec![1, 2, 70, 700])).prop_map(|(a, b, times)| Damage::Repeat(a, b, times)),
        (place(), place(), place()).prop_map(|(a, b, to)| Damage::Copy(a, b, to)),
    ]
}

/// One of these inputs, damaged in up to four places.
fn damaged(valid: &[&'static str]) -> impl Strategy<Value = Vec<u8>> + use<> {
    (select(valid.to_vec()), prop::collection::vec(damage(), 0..5)).prop_map(|(valid, damages)| {
        let mut input = valid.as_bytes().to_vec();
        damages.iter().for_each(|damage| damage.apply(&mut input));
        input
    })
}

/// The same as text.
fn text(valid: &'static [&'static str]) -> impl Strategy<Value = String> {
    damaged(valid).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// Calls `body` with the path of a file with these bytes.
fn with_file<T>(bytes: &[u8], body: impl FnOnce(&Path) -> T) -> T {
    let path = std::env::temp_dir().join(format!("reshuffle-damaged-{:?}-{}", thread::current().id(), process::id()));
    std::fs::write(&path, bytes).unwrap();
    let result = body(&path);
    std::fs::remove_file(path).unwrap();
    result
}

fn serial<T>(body: impl FnOnce(&Stop<'_>) -> Result<T>) -> Result<T> {
    with_run(|run| run.serial(body))
}

const LINES: &[&str] = &[
    "Hello, world. It's 3.14 o'clock &amp; -5 & <skipped>!",
    "The ferry leaves at nine; \"nobody\" saw the U.S.A. — 1,000.5-2",
    "日本語、中文。 한국어 ½ € e\u{301} \u{2028} İstanbul",
    "a a a a b b",
    "",
];

const PARSES: &[&str] = &[
    "# text\n1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\t_\t_\t0\troot\t_\t_\n\n1\tit\tit\tPRON\t_\t_\t0\troot\t_\t_",
    "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t0\troot\t_\t_\n2\tle\tle\tDET\t_\t_\t1\tdet\t_\t_\n2.1\tx\tx\t_\t_\t_\t_\t_\t_\t_\n",
];

const COMET: &[&str] = &[
    r#"{"a": [{"src": "x", "mt": "\u00e9\ud83d\ude00\"\n", "COMET": 0.5, "other": 3}, {"COMET": -1e-3, "mt": "é", "src": ""}], "b": [{"src": "x", "mt": "y", "COMET": 1.0}, {"src": "", "mt": "", "COMET": 2E2}]}"#,
    r#"{"a": [{"COMET": 0.25}]}"#,
];

const FORMULAS: &[&str] = &[
    "100 * edits / chars",
    "where(hits >= 1, log(hits / `a b`), -2 ** -1) + max(edits, 0.5e1)",
    "f_beta(hits, edits, chars, 2) + macro_f(hits, edits, chars, hits, chars, edits)",
    "perplexity(edits, chars) ^ 2 - sqrt(abs(mean(hits)))",
];

const KBEST: &[&str] = &[
    "0 ||| a b ||| 1 2\n0 ||| b ||| 3 4\n1 ||| a ||| 5 6\n",
    "0 ||| a b ||| lm= -1.5 s_a= 2 d= 0 1 ||| -7 ||| 0=0 1=1 ||| 0-0 1-1\n0 ||| b ||| lm= 3 d= 4 5 ||| 1 ||| 0-1=0-0 ||| 0-0\n",
    "3 ||| a ||| lm=1 s=2\n5 ||| b ||| s=3\n",
];

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![select(vec![0, 1, -1, 2, 1 << 31, 1 << 45, -(1 << 45), i64::MAX, i64::MIN]), any::<i64>(), 0..60_i64]
}

/// A value for an option, which may be of another kind, or out of range.
fn value(kind: OptionKind) -> BoxedStrategy<Value> {
    let names = match kind {
        OptionKind::Choice(names) | OptionKind::Choices(names) => names(),
        _ => vec!["other"],
    };
    let real = select(vec![0.0, -0.0, 0.5, 1.0, 2.0, 1e6, 1e300, -1.0, f64::NAN, f64::INFINITY]);
    let usual = match kind {
        OptionKind::Flag => any::<bool>().prop_map(Value::Flag).boxed(),
        OptionKind::Integer(low, high) => (low..=high.min(low + 9)).prop_map(Value::Integer).boxed(),
        OptionKind::Real(..) => real.clone().prop_map(Value::Real).boxed(),
        OptionKind::Reals(..) => prop::collection::vec(0.0..=1.0, 0..6).prop_map(Value::Reals).boxed(),
        OptionKind::Choice(_) => select(names.clone()).prop_map(|name| Value::Name(name.into())).boxed(),
        OptionKind::Choices(_) => prop::collection::vec(select(names.clone()), 1..4)
            .prop_map(|names| Value::Names(names.into_iter().map(Into::into).collect()))
            .boxed(),
        OptionKind::Path => Just(Value::Unset).boxed(),
    };
    let other = prop_oneof![
        number().prop_map(Value::Integer),
        real.clone().prop_map(Value::Real),
        prop::collection::vec(real, 0..4).prop_map(Value::Reals),
        select(names).prop_map(|name| Value::Name(name.into())),
    ];
    prop_oneof![9 => usual, 1 => other].boxed()
}

/// The number of a metric in the registry, and values for up to three of its options.
fn metric() -> impl Strategy<Value = (usize, Vec<(&'static str, Value)>)> {
    (0..METRICS.len()).prop_flat_map(|number| {
        let with_name = |option: &OptionSpec| {
            let name = option.name;
            value(option.kind).prop_map(move |value| (name, value)).boxed()
        };
        let options: Vec<_> = METRICS[number].options.iter().map(with_name).collect();
        let values = match options.len() {
            0 => Just(Vec::new()).boxed(),
            _ => prop::collection::vec(Union::new(options), 0..4).boxed(),
        };
        (Just(number), values)
    })
}

/// Counts texts, and scores what was counted, or any other counts.
fn use_metric(metric: &dyn metric::Metric, texts: &[Vec<&str>], references: &[Vec<Option<&str>>], other: &[i64]) {
    let width = metric.width();
    assert_eq!(metric.columns().len(), width);
    let counted = with_run(|run| metric::count(&[metric], texts, references, run));
    for row in counted.iter().flat_map(|counts| counts[0].chunks_exact(width)) {
        assert!(metric.score(row).is_finite() && metric.segment_score(row).is_finite(), "{row:?}");
    }
    let other: Vec<i64> = other.iter().copied().cycle().take(2 * width).collect();
    let (mut scores, mut slopes) = ([0.0; 2], vec![0.0; 2 * width]);
    metric.scores(&other, &mut scores);
    metric.gradients(&other, &scores, &mut slopes);
    let _ = (metric.details(&other[..width]), metric.signature(), metric.segment_signature());
}

/// Everything that can be done with lists.
fn use_lists(all: &NBest) -> Result<()> {
    assert_eq!((all.entries(), all.sentences()), (all.indptr.len() - 1, all.offsets.len() - 1));
    (0..all.entries()).for_each(|entry| _ = (all.hypothesis(entry), all.sparse_of(entry), all.dense_of(entry)));
    serial(|stop| lists::varies(all, stop))?;
    let odd: Vec<i64> = (0..all.entries() as i64).filter(|entry| entry % 2 == 1).collect();
    let some = serial(|stop| lists::selected(all, &odd, stop))?;
    let entries = |lists: &[&NBest]| serial(|stop| Ok(lists::merged(lists, stop)?.entries()));
    assert_eq!(entries(&[all])?, entries(&[all, &some])?, "entries that are there already are left out");
    Ok(())
}

/// METEOR's files by purpose, and WordNet's.
const FILES: &[(&str, &[&str])] = &[
    ("function", &["the\n\n of \n"]),
    ("prefixes", &["# No dogs\r\nDr\r\n\r\nNo #NUMERIC_ONLY# \r\n"]),
    ("meteor", &["big\n1 2\nlarge\n2\n", "goose\ngeese\n"]),
    (
        "wordnet",
        &[
            "  1 licence\ncat n 1 0 1 0 00000007\nrun n 2 1 @ 2 0 00000001 00000002\n",
            "geese goose\n",
            "run v 1 0 1 0 00000001\n",
            "ran run\n",
        ],
    ),
];

/// Reductions of each kind with a state, with what they take.
fn reductions() -> Vec<(Kind<'static>, AnyReduction)> {
    let (by, side) = (|| vec![(0, 1), (1, 2)], || Alternative::TwoSided);
    let histograms = |of| AnyReduction::Histograms(reduce::Histograms::new(by(), of));
    vec![
        (Kind::Shuffles, AnyReduction::Tally(reduce::Tally::new(by(), side(), vec![1.0; 2]))),
        (Kind::Shuffles, AnyReduction::MaxT(reduce::MaxT::new(by(), side(), vec![1.0; 2], vec![1.0; 2], vec![0]))),
        (Kind::Shuffles, AnyReduction::Spread(reduce::Spread::new(by()))),
        (Kind::Shuffles, AnyReduction::Series(reduce::Series::new(by()))),
        (Kind::Shuffles, histograms(reduce::Statistics::HalfOfShuffles)),
        (Kind::Draws(&[]), AnyReduction::Sums(reduce::Sums::default())),
        (Kind::Draws(&[]), AnyReduction::Draws(reduce::Draws::default())),
        (Kind::Draws(&[]), AnyReduction::Moments(reduce::Moments::default())),
        (Kind::Permutations, AnyReduction::PermutedTally(reduce::PermutedTally::new(by(), vec![1.0; 2]))),
        (Kind::Permutations, histograms(reduce::Statistics::Permutations)),
    ]
}

/// Runs a reduction on a few replicates of small counts.
fn computed((kind, mut reduction): (Kind<'_>, AnyReduction)) -> Result<AnyReduction> {
    let length = metric::metric("length", &[])?;
    let counts: Vec<i64> = (0..3 * 5 * length.width() as i64).map(|i| 1 + i * i % 7).collect();
    let sample = Sample::new(length.clone(), SuffStats::new(&counts, 3, 5, length.width())?)?;
    with_run(|run| {
        let resampler = Resampler::prepare(&[sample], kind, run)?;
        run_all(&resampler, (Plan::Seeded(1), 0..65), std::slice::from_mut(&mut reduction), run)
    })?;
    Ok(reduction)
}

fn wrong_word() -> impl Strategy<Value = u64> {
    let floats = [2.0, 3.0, -1.0, 1e300, 5e-324, f64::NAN, f64::INFINITY].map(f64::to_bits);
    let ends = [1 << 31, 1 << 53, 1 << 62, 1 << 63, (1 << 63) + 1, u64::MAX, 64, 65];
    prop_oneof![select([floats.as_slice(), &ends].concat()), 0..9_u64, any::<u64>()]
}

proptest! {
    #![proptest_config(crate::testing::cases(48))]

    #[test]
    fn tokenizers(line in text(LINES)) {
        for tokenizer in TOKENIZERS {
            tokenizer.tokenize(&line, &mut |token| assert!(!token.is_empty(), "{}", tokenizer.name));
        }
    }

    #[test]
    fn formulas(formula in text(FORMULAS), totals in prop::collection::vec(number(), 1..9)) {
        let columns = ["edits", "chars", "hits", "a b", "segments"].map(|name| (name.to_owned(), 1.0));
        if let Ok(formula) = Expression::new("metric".into(), &formula, &columns, true) {
            let width = formula.width();
            let totals: Vec<i64> = totals.into_iter().cycle().take(2 * width).collect();
            let (mut scores, mut slopes) = ([0.0; 2], vec![0.0; 2 * width]);
            formula.scores(&totals, &mut scores);
            formula.gradients(&totals, &scores, &mut slopes);
            assert!(scores.iter().all(|score| score.is_nan() || score.is_finite()), "{:?}", scores);
        }
    }

    #[test]
    fn metrics(
        (number, options) in metric(), lines in [text(LINES), text(LINES), text(LINES)], parses in [text(PARSES), text(PARSES)],
        other in prop::collection::vec(number(), 1..9), missing: bool,
    ) {
        let spec = &METRICS[number];
        let texts = if spec.reads_parses { &parses[..] } else { &lines };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let second = Some(texts[0]).filter(|_| !missing);
        let references = [vec![Some(texts[0]), Some(texts[1])], vec![Some(texts[1]), second]];
        if let Ok(metric) = spec.make(&options, Vec::new()) {
            use_metric(&*metric, &[vec![texts[1], texts[texts.len() - 1]], vec![texts[0]; 2]], &references, &other);
        }
    }

    #[test]
    fn parses_in_conllu(block in text(PARSES)) {
        let _ = conllu::sentences(&block, |words| {
            assert!(words.iter().all(|word| word.head <= words.len()));
            Ok(())
        });
    }

    #[test]
    fn scores_of_comet(file in damaged(COMET)) {
        if let Some(scored) = serial(|stop| scored::read(&file, stop)).unwrap() {
            prop_assert!(scored.scores.iter().all(|score| score.is_finite()));
            prop_assert_eq!(0, scored.scores.len() % scored.systems.len());
        }
    }

    #[test]
    fn lists_of_candidates(
        file in damaged(KBEST),
        dense in prop::option::of(prop::collection::vec(select(vec!["lm", "s_a", "d_0", "F_0", ""]), 0..3)),
    ) {
        let dense = dense.map(|names| names.into_iter().map(Into::into).collect());
        let options = Options { dense, max_input: 0 };
        if let Ok(found) = serial(|stop| lists::parse(&file, "file", &options, stop)) {
            use_lists(&found).unwrap();
        }
    }

    #[test]
    fn templates_of_features(
        lines in [text(LINES), text(LINES)], segments in text(&["0-1=0-0 2=1", "0=0 1=1"]),
        kinds in prop::collection::vec(select(vec!["ngram:1", "ngram:3", "presence:2", "phrase", "words"]), 0..4),
        edges: bool, minimum in 0..3_usize,
    ) {
        let [hypotheses, segmentations] = [[lines[0].as_str(), &lines[1]], [segments.as_str(), "0=0"]];
        let (sources, segmentations) = (Some(&[lines[1].as_str(), "a b"][..]), Some(&segmentations[..]));
        let texts = Texts { starts: &[0, 1, 2], hypotheses: &hypotheses, sources, segmentations };
        let templates = kinds.iter().map(|kind| Template::named(kind)).collect::<Result<_>>().unwrap();
        let wanted = Wanted { templates, edges, minimum, known: None };
        let made = serial(|stop| templates::features(&texts, &wanted, stop));
        prop_assert!(made.is_err() || made.is_ok_and(|made| made.features.len() == made.values.len()));
    }

    #[test]
    fn files_of_meteor(
        (purpose, mut contents) in select(FILES).prop_flat_map(|(purpose, valid)| {
            (Just(purpose), valid.iter().map(|file| damaged(&[file])).collect::<Vec<_>>())
        }),
        lacks_one in prop::bool::weighted(0.1),
        line in text(LINES),
    ) {
        if lacks_one {
            contents.pop();
        }
        let files = contents.into_iter().map(|bytes| File { name: "file".into(), contents: Arc::new(bytes) }).collect();
        let resource = Resource { purpose: purpose.into(), digest: "0".into(), files };
        if let Ok(metric) = MetricSpec::named("meteor").unwrap().make(&[], vec![resource]) {
            let references = [vec![Some("the cat runs large goose"), Some("a")]];
            use_metric(&*metric, &[vec!["the cats ran . Dr geese", &line]], &references, &[1, 2]);
        }
    }

    #[test]
    fn compressed_files(
        list in damaged(KBEST), table in damaged(&["0.5\nthe cat\na cat\n1.0E-4\nran\nruns off\n"]),
        damages in prop::collection::vec(damage(), 0..3),
    ) {
        let packed = |text: &[u8]| {
            let mut bytes = gzip(text);
            damages.iter().for_each(|damage| damage.apply(&mut bytes));
            bytes
        };
        let options = Options { dense: None, max_input: 1 << 20 };
        let read = with_file(&packed(&list), |path| serial(|stop| lists::read(path, "file", &options, stop)));
        if let Ok(found) = read {
            use_lists(&found).unwrap();
        }
        with_file(&packed(&table), |path| {
            let file = File { name: path.to_str().unwrap().into(), contents: Arc::new([]) };
            let resource = Resource { purpose: "paraphrases".into(), digest: "0".into(), files: vec![file] };
            let metric = MetricSpec::named("meteor").unwrap().make(&[], vec![resource]).unwrap();
            use_metric(&*metric, &[vec!["the cat ran"]], &[vec![Some("a cat runs off")]], &[1, 2]);
        });
    }

    #[test]
    fn states(
        number in 0..reductions().len(), words in prop::collection::vec((any::<Index>(), wrong_word()), 0..4),
        cut in prop::option::of(any::<Index>()), near: bool,
    ) {
        let reduction = reductions().swap_remove(number).1;
        let valid = computed(reductions().swap_remove(number)).unwrap();
        let mut state = valid.state().unwrap();
        for (place, word) in words {
            let places = if near { state.len().min(12) } else { state.len() };
            state[place.index(places)] = word;
        }
        if let Some(cut) = cut {
            state.truncate(cut.index(state.len() + 1));
        }
        let mut read = reduction;
        if read.set_state(&state).is_ok() {
            let again = read.state().unwrap();
            prop_assert_eq!(&state, &again);
            for (mut first, second) in [(read.clone(), valid.clone()), (valid, read)] {
                let _ = serial(|stop| first.merge(&second, stop));
            }
        }
    }
}
