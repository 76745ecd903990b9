use super::*;
use crate::error::Error;
use crate::metric::testing::{self, count_alone, count_segment, made};
use crate::pool::{stopped, with_run};
use proptest::prelude::*;

fn row(references: &[&str], hypothesis: &str) -> Vec<i64> {
    testing::row("meteor", references, hypothesis)
}

fn score(row: &[i64]) -> f64 {
    made("meteor").score(row)
}

#[test]
fn worked_by_hand() {
    // "cats" and "cat" have the same stem; "the" and "on" are function words. The chunks are "the cats" and "on the mat".
    let counts = row(&["the cat sat on the mat"], "the cats on the mat");
    assert_eq!([5, 6, 3, 3], counts[..4]);
    assert_eq!([1, 1, 3, 3, 1, 1, 0, 0], counts[4..12]);
    assert_eq!([0; 8], counts[12..20]);
    assert_eq!([2, 5, 5], counts[20..]);
    // P = (.75·(1 + .6) + .25·3)/(.75·2 + .25·3), R has .75·3 + .25·3 below; F = PR/(.85P + .15R).
    let (p, r) = (1.95 / 2.25, 1.95 / 3.0);
    let expected = 100.0 * p * r / (0.85 * p + 0.15 * r) * (1.0 - 0.6 * (2.0_f64 / 5.0).powf(0.2));
    assert!((score(&counts) - expected).abs() < 1e-12);
}

#[test]
fn perfect_segments_have_no_chunk() {
    let chunks = |reference, hypothesis| row(&[reference], hypothesis)[20];
    assert_eq!(
        [0, 1, 1, 2],
        [("a b c", "a b c"), ("a b c", "a b"), ("a b", "a b c"), ("a b", "b a")].map(|(r, h)| chunks(r, h))
    );
    assert_eq!(100.0, score(&row(&["a b c"], "a b c")));
}

#[test]
fn texts_without_words_score_0() {
    for (reference, hypothesis, lengths) in [("", "", [0, 0]), ("a", "", [0, 1]), ("", "a b", [2, 0])] {
        let counts = row(&[reference], hypothesis);
        assert_eq!((&lengths[..], 0, 0.0), (&counts[..2], counts[21], score(&counts)));
    }
}

#[test]
fn the_first_of_the_best_references_counts() {
    // METEOR 1.5 takes the first reference if all score 0.
    assert_eq!(0, row(&["", "z", "w w"], "q")[1]);
    assert_eq!(3, row(&["z", "z y x", "z z x"], "y x")[1]);
    assert_eq!(2, row(&["z y x", "y x", "x y"], "y x")[1]);
}

#[test]
fn words_that_are_known_are_not_prepared_again() {
    let meteor = Meteor::new(&Options::resolve("meteor", SPEC.options, &[]).unwrap()).unwrap();
    let known = || meteor.lexicon.lock().unwrap().clone().unwrap();
    let first = count_segment(&meteor, &["the cat sat"], "cats sit");
    let before = known();
    assert_eq!(first, count_segment(&meteor, &["the cat sat"], "cats sit"));
    count_segment(&meteor, &["cats"], "the");
    assert!(Arc::ptr_eq(&before, &known()));
    assert_eq!(row(&["the dogs"], "a dog sat"), count_segment(&meteor, &["the dogs"], "a dog sat"));
    assert_eq!((5, 8), (before.vocabulary.len(), known().vocabulary.len()));
    assert_eq!(first, count_segment(&meteor, &["the cat sat"], "cats sit"));
}

#[test]
fn counts_are_the_same_for_any_number_of_threads() {
    let words = ["the cats run", "a cat runs , the dog too", "", "run , run , run , ran", "cat"];
    let column = |step: usize| (0..700).map(|i| words[i * step % 5]).collect::<Vec<_>>();
    let references = [column(1).into_iter().map(Some).collect::<Vec<_>>()];
    let (meteor, systems) = (made("meteor"), [column(2), column(3)]);
    let counted = |threads| with_run(threads, |run| count_alone(meteor.as_ref(), &systems, &references, run)).unwrap();
    assert_eq!(counted(1), counted(3));
}

#[test]
fn words_that_are_repeated_very_often_are_aligned() {
    let (hypothesis, reference) = ("a ".repeat(300), "a ".repeat(250) + "b" + &" a".repeat(49));
    let counts = row(&[&reference], &hypothesis);
    assert_eq!([300, 300, 2, 299, 299], [counts[0], counts[1], counts[20], counts[21], counts[22]]);
}

#[test]
fn a_very_long_segment_can_be_stopped() {
    let (hypothesis, reference) = ("a ".repeat(100_000), "a ".repeat(100_000) + "b");
    let begun = std::time::Instant::now();
    let got =
        stopped(1, 3, |run| count_alone(made("meteor").as_ref(), &[vec![hypothesis]], &[vec![Some(reference)]], run));
    assert_eq!(Err(Error::Interrupted), got);
    assert!(begun.elapsed() < std::time::Duration::from_secs(10));
}

proptest! {
    #![proptest_config(crate::testing::cases(128))]
    #[test]
    fn any_words_can_be_counted_in_any_language(
        language in prop::sample::select(settings::LANGUAGES.iter().map(|language| language.code).collect::<Vec<_>>()),
        hypothesis in "\\PC{0,30}|[a-zäöüßéèêçñåøæœıİşğțșăîűőãõà' ]{0,60}|[а-яё ]{0,60}",
        reference in "\\PC{0,30}|[a-zäöüßéèêçñåøæœıİşğțșăîűőãõà' ]{0,60}|[а-яё ]{0,60}",
    ) {
        let meteor = made(&format!("meteor language={language}"));
        let counts = count_segment(meteor.as_ref(), &[&reference], &hypothesis);
        prop_assert!(counts[21] <= counts[0] && counts[22] <= counts[1] && counts[20] <= counts[21].min(counts[22]));
        let score = meteor.score(&counts);
        prop_assert!((0.0..=100.0).contains(&score), "{}", score);
    }
}

#[test]
fn very_long_words_take_no_time() {
    for language in settings::LANGUAGES {
        let meteor = made(&format!("meteor language={}", language.code));
        for piece in ["ing", "ы", "ß", "y"] {
            let long = piece.repeat(20_000);
            assert_eq!([1, 1], count_segment(meteor.as_ref(), &[&format!("{long}a")], &long)[..2]);
        }
    }
}
