//! Keys of both widths, and their borders. tests/python/test_meteor.py compares alignments with a slow twin.

use super::*;
use crate::metric::meteor::settings::Module;
use proptest::prelude::*;

/// The fast alignment, with keys of 64 or 128 bits.
fn align(matches: &Matches, lengths: [usize; 2], narrow: bool) -> (Vec<Match>, usize) {
    let mut aligner = Aligner::default();
    let (chosen, chunks) = aligner.align_with(matches, lengths, |_, _, _| narrow, &Stop::never()).unwrap();
    let mut chosen = chosen.to_vec();
    chosen.sort_by_key(|found| found.reference);
    (chosen, chunks)
}

/// Matches between texts of up to so many words, and the numbers of words.
fn matches(longest: u32) -> impl Strategy<Value = (Matches, [usize; 2])> {
    (1..longest, 1..longest).prop_flat_map(move |(hypothesis, reference)| {
        let module = || prop::sample::select(Module::ALL[..3].to_vec());
        let single = (module(), 0..hypothesis, 0..reference);
        let phrase = [hypothesis, reference]
            .map(|length| (0..length, 1..4_u32).prop_map(move |(start, more)| (start, more.min(length - start))));
        let phrases = prop::collection::vec(phrase, 0..8);
        (prop::collection::vec(single, 0..3 * longest as usize), phrases).prop_map(move |(mut singles, phrases)| {
            singles.sort_unstable_by_key(|&(module, h, r)| (r, module as usize, h));
            singles.dedup_by_key(|&mut (_, h, r)| (r, h));
            let phrase = |[(hypothesis, hypothesis_length), (reference, reference_length)]: [(u32, u32); 2]| Match {
                module: Module::Paraphrase,
                hypothesis,
                hypothesis_length,
                reference,
                reference_length,
            };
            let mut phrases: Vec<Match> = phrases.into_iter().map(phrase).collect();
            phrases.sort_by_key(|phrase| phrase.reference);
            (Matches::of(&singles, &phrases, reference), [hypothesis as usize, reference as usize])
        })
    })
}

proptest! {
    #![proptest_config(crate::testing::cases(200))]
    #[test]
    fn keys_of_both_widths_choose_the_same_alignment(
        (matches, lengths) in prop_oneof![9 => matches(28), 1 => matches(150)],
    ) {
        prop_assert_eq!(align(&matches, lengths, false), align(&matches, lengths, true));
    }
}

#[test]
fn states_are_compared_before_the_last_chunks_close() {
    // "run runs" and the reference "runs runs": with the last chunk closed, the single match of equal words would win.
    let matches = Matches::of(
        &[(Module::Stem, 0, 0), (Module::Exact, 1, 0), (Module::Stem, 0, 1), (Module::Exact, 1, 1)],
        &[],
        2,
    );
    let (chosen, chunks) = align(&matches, [2, 2], true);
    let modules: Vec<_> = chosen.iter().map(|found| found.module).collect();
    // METEOR 1.5 (-m 'exact stem' -ssOut) counts one chunk, and two matched words on each side.
    assert_eq!((vec![Module::Stem, Module::Exact], 1), (modules, chunks));
}

#[test]
fn keys_have_room_for_what_they_hold() {
    let fits = [(2047, 1 << 25, 255), (2048, 0, 0), (1, 1 << 26, 0), (1, 0, 256)];
    assert_eq!(
        [true, false, false, false],
        fits.map(|(words, distance, most)| <u64 as Key>::fits(words, distance, most))
    );
    let fits = [(1 << 20, 1 << 56, 1 << 20), (1 << 21, 0, 0), (1, 1 << 57, 0), (1, 0, 1 << 21)];
    assert_eq!(
        [true, false, false, false],
        fits.map(|(words, distance, most)| <u128 as Key>::fits(words, distance, most))
    );
}
