use super::*;

fn wanted(names: &[&str]) -> Wanted<'static> {
    let templates = names.iter().map(|name| Template::named(name).unwrap()).collect();
    Wanted { templates, edges: false, minimum: 1, known: None }
}

fn named(features: &Features) -> Vec<Vec<(&str, f64)>> {
    let row = |ends: &[i64]| {
        let range = ends[0] as usize..ends[1] as usize;
        range.map(|i| (&*features.names[features.features[i] as usize], features.values[i])).collect()
    };
    features.starts.windows(2).map(row).collect()
}

const TEXTS: Texts<'static> = Texts {
    starts: &[0, 2, 3],
    hypotheses: &["a b a b", "a b", "b c"],
    sources: Some(&["x y", "z"]),
    segmentations: Some(&["0=0-1 1=2-3", "0-1=0-1", "0=0 0=1"]),
};

#[test]
fn n_grams_are_counted_and_those_that_all_candidates_share_are_left_out() {
    let found = features(&TEXTS, &wanted(&["ngram:1", "ngram:2", "presence:2"]), &Stop::never()).unwrap();
    let first = vec![
        ("ngram:1=a", 2.0),
        ("ngram:1=b", 2.0),
        ("ngram:2=a b", 2.0),
        ("ngram:2=b a", 1.0),
        ("presence:2=b a", 1.0),
    ];
    let second = vec![("ngram:1=a", 1.0), ("ngram:1=b", 1.0), ("ngram:2=a b", 1.0)];
    assert_eq!(vec![first, second, vec![("ngram:1=b", 1.0)]], named(&found));
}

#[test]
fn pairs_of_phrases_and_of_words_need_the_source() {
    let found = features(&TEXTS, &wanted(&["phrase"]), &Stop::never()).unwrap();
    let first = vec![("phrase=x ||| a b", 1.0), ("phrase=y ||| a b", 1.0)];
    assert_eq!(vec![first, vec![("phrase=x y ||| a b", 1.0)], vec![]], named(&found));
    let texts = Texts { hypotheses: &["a", "b", "b c"], ..TEXTS };
    let found = features(&texts, &wanted(&["words"]), &Stop::never()).unwrap();
    assert_eq!(vec![("words=x a", 1.0), ("words=y a", 1.0)], named(&found)[0]);
    let texts = Texts { sources: None, ..TEXTS };
    let message = features(&texts, &wanted(&["words"]), &Stop::never()).unwrap_err().to_string();
    assert_eq!("sources for the template Words: expected at least one, got none", message);
    let texts = Texts { segmentations: Some(&["0=0-1 1=2-4", "0", "0"]), ..TEXTS };
    let message = features(&texts, &wanted(&["phrase"]), &Stop::never()).unwrap_err().to_string();
    let expected = "segment 1: expected a phrase pair such as 0-1=0, of 2 source and 4 target words, got \"1=2-4\"";
    assert_eq!(expected, message);
}

#[test]
fn known_features_keep_their_numbers() {
    let known = ["ngram:1=c", "ngram:1=q", "ngram:1=a"];
    let wanted = Wanted { known: Some(&known), ..wanted(&["ngram:1"]) };
    let found = features(&TEXTS, &wanted, &Stop::never()).unwrap();
    assert_eq!(known.to_vec(), found.names);
    assert_eq!((vec![0, 1, 2, 3], vec![2, 2, 0], vec![2.0, 1.0, 1.0]), (found.starts, found.features, found.values));
}

#[test]
fn templates_have_names() {
    assert_eq!(Template::Presence(9), Template::named("presence:9").unwrap());
    for unknown in ["ngram", "ngram:0", "ngram:10", "words:2", "Phrase", ""] {
        assert!(Template::named(unknown).is_err(), "{unknown}");
    }
}
