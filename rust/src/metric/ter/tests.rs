//! Compares the search of Tercom with a slow twin. tests/python compares that of sacreBLEU with sacreBLEU itself.

use super::search::Variant;
use super::*;
use crate::metric::testing::row;
use crate::pool::Stop;
use crate::text::edit::{self, Reference};
use crate::text::ngram::Token;
use proptest::prelude::*;

type Text = Vec<Token>;

const NEVER: u32 = 1_000_000;

/// The edits by the definition, step by step.
fn slowly(hypothesis: &[Token], reference: &[Token]) -> usize {
    if hypothesis.is_empty() || reference.is_empty() {
        return hypothesis.len().max(reference.len());
    }
    let (mut current, mut done) = (hypothesis.to_vec(), 0);
    loop {
        let matrix = matrix(&current, reference);
        let distance = matrix[current.len()][reference.len()];
        let (places, wrong, wrong_reference) = align(&matrix, &current, reference);
        let (mut best, mut gain) = (None, 0);
        for shift in shifts(&current, reference, &places, &wrong, &wrong_reference) {
            // A gain of more than 2L ends the search at length L.
            if gain > 2 * shift.1 as i64 {
                break;
            }
            let text = shifted(&current, shift);
            let after = self::matrix(&text, reference)[text.len()][reference.len()];
            if i64::from(distance) - i64::from(after) > gain {
                (best, gain) = (Some(text), i64::from(distance) - i64::from(after));
            }
        }
        match best {
            Some(text) => (current, done) = (text, done + 1),
            None => return done + distance as usize,
        }
    }
}

fn align(matrix: &[Vec<u32>], hypothesis: &[Token], reference: &[Token]) -> (Vec<i32>, Vec<bool>, Vec<bool>) {
    let (mut i, mut j) = (hypothesis.len(), reference.len());
    let (mut places, mut wrong, mut wrong_reference) = (vec![0; j], vec![true; i], vec![true; j]);
    while i > 0 || j > 0 {
        let differ = i > 0 && j > 0 && hypothesis[i - 1] != reference[j - 1];
        if i > 0 && j > 0 && matrix[i][j] == matrix[i - 1][j - 1] + u32::from(differ) {
            (i, j) = (i - 1, j - 1);
            (places[j], wrong[i], wrong_reference[j]) = (i as i32, differ, differ);
        } else if i > 0 && matrix[i][j] == matrix[i - 1][j] + 1 {
            i -= 1;
        } else {
            j -= 1;
            places[j] = i as i32 - 1;
        }
    }
    (places, wrong, wrong_reference)
}

fn cell(matrix: &[Vec<u32>], hypothesis: &[Token], reference: &[Token], i: usize, j: usize) -> u32 {
    let mut cost = if (i, j) == (0, 0) { 0 } else { NEVER };
    if i > 0 && j > 0 {
        cost = cost.min(matrix[i - 1][j - 1] + u32::from(hypothesis[i - 1] != reference[j - 1]));
    }
    if i > 0 {
        cost = cost.min(matrix[i - 1][j] + 1);
    }
    if j > 0 {
        cost = cost.min(matrix[i][j - 1] + 1);
    }
    cost.min(NEVER)
}

/// The matrix; pruned cells are NEVER.
fn matrix(hypothesis: &[Token], reference: &[Token]) -> Vec<Vec<u32>> {
    let (rows, columns) = (hypothesis.len(), reference.len());
    let mut matrix = vec![vec![NEVER; columns + 1]; rows + 1];
    for i in 0..=rows {
        // The best cost at which this word of the hypothesis is matched or replaced. A cell that is much worse is
        // not continued, except after the last word.
        let entered = (1..=columns)
            .filter(|_| i > 0)
            .map(|j| matrix[i - 1][j - 1] + u32::from(hypothesis[i - 1] != reference[j - 1]));
        let limit = entered.min().filter(|&best| i < rows && best < NEVER).map_or(NEVER - 1, |best| best + 20);
        for j in 0..=columns {
            let cost = cell(&matrix, hypothesis, reference, i, j);
            matrix[i][j] = if cost > limit { NEVER } else { cost };
        }
    }
    matrix
}

/// The shifts as (start, length, target), in the order of preference, from the alignment and which words are wrong.
fn shifts(
    hypothesis: &[Token],
    reference: &[Token],
    places: &[i32],
    wrong: &[bool],
    wrong_reference: &[bool],
) -> Vec<(usize, usize, usize)> {
    let mut shifts = Vec::new();
    for start in 0..hypothesis.len() {
        let here = start as i32;
        let computed = |length: usize| {
            let phrase = &hypothesis[start..start + length];
            (0..reference.len()).filter(move |&j| reference[j..].starts_with(phrase))
        };
        let near = |j: usize| places[j] != here && places[j] - here <= 50 && here - places[j] <= 51;
        if !computed(1).any(near) {
            continue;
        }
        for length in 1..=10.min(hypothesis.len() - start) {
            let end = start + length;
            if wrong[start..end].contains(&true) {
                let allowed = |&j: &usize| !(here..end as i32).contains(&places[j]) && (places[j] - here).abs() <= 50;
                let allowed: Vec<usize> = computed(length).filter(allowed).collect();
                for &j in &allowed {
                    if !wrong_reference[j..j + length].contains(&true) {
                        continue;
                    }
                    if j == 0 {
                        shifts.push((start, length, 0));
                    }
                    for at in j.saturating_sub(1)..j + length {
                        if places[at] != here && (at == j || places[at] != places[j]) {
                            shifts.push((start, length, (places[at] + 1) as usize));
                        }
                    }
                }
                if allowed.is_empty() {
                    break;
                }
            } else if computed(length).next().is_none() {
                break;
            }
        }
    }
    shifts.sort_by_key(|&(_, length, _)| std::cmp::Reverse(length));
    shifts
}

fn shifted(words: &[Token], (start, length, target): (usize, usize, usize)) -> Text {
    let (phrase, rest) = without(words, start, length);
    let at = match target {
        _ if target > start + length => target - length,
        _ if target > start => (target - 1).min(rest.len()),
        _ => target,
    };
    insert(rest, at, &phrase)
}

fn without(words: &[Token], start: usize, length: usize) -> (Text, Text) {
    let mut rest = words.to_vec();
    let phrase = rest.drain(start..start + length).collect();
    (phrase, rest)
}

fn insert(mut words: Text, at: usize, phrase: &[Token]) -> Text {
    words.splice(at..at, phrase.iter().copied());
    words
}

fn line(text: &[Token]) -> String {
    text.iter().map(|word| format!("w{word} ")).collect()
}

fn edits(hypothesis: &[Token], reference: &[Token]) -> usize {
    row("ter variant=tercom", &[&line(reference)], &line(hypothesis))[0] as usize
}

fn text(vocabulary: Token, longest: usize) -> impl Strategy<Value = Text> {
    prop::collection::vec(0..vocabulary, 0..longest)
}

/// A reference, and a hypothesis in which some of its pieces are moved and some words are replaced.
fn moved(longest: usize) -> impl Strategy<Value = (Text, Text)> {
    let moves = prop::collection::vec((0..longest, 1..9usize, 0..longest), 0..5);
    let others = prop::collection::vec((0..longest, 0..30u32), 0..9);
    (1..200u32, moves, others).prop_flat_map(move |(vocabulary, moves, others)| {
        text(vocabulary, longest).prop_map(move |reference| {
            let mut hypothesis = reference.clone();
            for &(from, length, to) in &moves {
                if from + length <= hypothesis.len() {
                    let (phrase, rest) = without(&hypothesis, from, length);
                    let at = to.min(rest.len());
                    hypothesis = insert(rest, at, &phrase);
                }
            }
            for &(at, word) in &others {
                match hypothesis.get_mut(at) {
                    Some(place) if word > 3 => *place = word,
                    Some(_) => drop(hypothesis.remove(at)),
                    None => hypothesis.push(word),
                }
            }
            (hypothesis, reference)
        })
    })
}

proptest! {
    #![proptest_config(crate::testing::cases(40))]

    #[test]
    fn searches_equal_the_twin_on_short_texts(hypothesis in text(4, 14), reference in text(4, 14)) {
        prop_assert_eq!(slowly(&hypothesis, &reference), edits(&hypothesis, &reference));
    }

    #[test]
    fn searches_equal_the_twin_where_phrases_have_moved((hypothesis, reference) in moved(60)) {
        prop_assert_eq!(slowly(&hypothesis, &reference), edits(&hypothesis, &reference));
    }

    #[test]
    fn cut_matrices_are_those_of_the_twin(hypothesis in text(40, 90), reference in text(40, 150)) {
        check_cut_matrices(&hypothesis, &reference)?;
    }

    #[test]
    fn words_that_are_not_in_the_reference_widen_the_beam(
        (mut hypothesis, reference) in moved(90),
        unknown_words in prop::collection::vec(prop::bool::weighted(0.4), 90),
    ) {
        for (word, _) in hypothesis.iter_mut().zip(unknown_words).filter(|&(_, unknown)| unknown) {
            *word = UNKNOWN_WORD;
        }
        check_cut_matrices(&hypothesis, &reference)?;
        prop_assert_eq!(slowly(&hypothesis, &reference), edits(&hypothesis, &reference));
    }
}

/// Above every number in the reference.
const UNKNOWN_WORD: Token = 200;

fn check_cut_matrices(hypothesis: &[Token], reference: &[Token]) -> std::result::Result<(), TestCaseError> {
    if hypothesis.is_empty() || reference.is_empty() {
        return Ok(());
    }
    let number = |word: &Token| if reference.contains(word) { word + 1 } else { edit::UNKNOWN_WORD };
    let [hypothesis, reference] = [hypothesis, reference].map(|text| text.iter().map(number).collect::<Text>());
    let (hypothesis, reference) = (hypothesis.as_slice(), reference.as_slice());
    let mut reference_bits = Reference::default();
    reference_bits.set(reference, UNKNOWN_WORD as usize, &Stop::never()).unwrap();
    let (rows, columns) = (hypothesis.len(), reference.len());
    let full = edit::tests::distances(hypothesis, reference)[rows][columns];
    let (mut band, mut beam) = (SacreBleu::default(), Tercom::default());
    beam.begin(hypothesis);
    let never = &Stop::never();
    let in_band = band.distance(hypothesis, &reference_bits, never).unwrap();
    let in_beam = beam.distance(hypothesis, &reference_bits, never).unwrap();
    prop_assert_eq!(matrix(hypothesis, reference)[rows][columns] as usize, in_beam);
    prop_assert!(full == in_band || !band.is_exact(rows, columns, full));
    prop_assert!(full == in_beam || !beam.is_exact(rows, columns, full));
    Ok(())
}
