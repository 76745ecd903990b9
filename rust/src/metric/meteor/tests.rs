use super::*;
use crate::error::Error;
use crate::metric::testing::{self, count_alone, count_segment, made};
use crate::pool::stopped;
use proptest::prelude::*;

fn row(references: &[&str], hypothesis: &str) -> Vec<i64> {
    testing::row("meteor", references, hypothesis)
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
