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
fn templates_have_names() {
    assert_eq!(Template::Presence(9), Template::named("presence:9").unwrap());
    for unknown in ["ngram", "ngram:0", "ngram:10", "words:2", "Phrase", ""] {
        assert!(Template::named(unknown).is_err(), "{unknown}");
    }
}
