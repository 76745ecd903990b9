//! Porter's stemmer (Porter 1980, Program 14(3)) with the extensions that NLTK has by default, as ROUGE's Python package
//! uses it. Snowball's "porter" and "english" give other stems.

/// A condition on what is left of a word without its suffix.
type Condition = fn(&[u8]) -> bool;

/// A suffix, what replaces it, and the condition under which it does.
type Rule = (&'static str, &'static str, Condition);

/// Words with a stem of their own.
const IRREGULAR: [(&str, &str); 16] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

const PLURALS: [Rule; 4] = [("sses", "ss", always), ("ies", "i", always), ("ss", "ss", always), ("s", "", always)];

const DOUBLE_SUFFIXES: [Rule; 20] = [
    ("ational", "ate", is_long),
    ("tional", "tion", is_long),
    ("enci", "ence", is_long),
    ("anci", "ance", is_long),
    ("izer", "ize", is_long),
    ("bli", "ble", is_long),
    ("entli", "ent", is_long),
    ("eli", "e", is_long),
    ("ousli", "ous", is_long),
    ("ization", "ize", is_long),
    ("ation", "ate", is_long),
    ("ator", "ate", is_long),
    ("alism", "al", is_long),
    ("iveness", "ive", is_long),
    ("fulness", "ful", is_long),
    ("ousness", "ous", is_long),
    ("aliti", "al", is_long),
    ("iviti", "ive", is_long),
    ("biliti", "ble", is_long),
    ("fulli", "ful", is_long),
];

const NOUNS_AND_ADJECTIVES: [Rule; 7] = [
    ("icate", "ic", is_long),
    ("ative", "", is_long),
    ("alize", "al", is_long),
    ("iciti", "ic", is_long),
    ("ical", "ic", is_long),
    ("ful", "", is_long),
    ("ness", "", is_long),
];

const LAST_SUFFIXES: [Rule; 19] = [
    ("al", "", is_longer),
    ("ance", "", is_longer),
    ("ence", "", is_longer),
    ("er", "", is_longer),
    ("ic", "", is_longer),
    ("able", "", is_longer),
    ("ible", "", is_longer),
    ("ant", "", is_longer),
    ("ement", "", is_longer),
    ("ment", "", is_longer),
    ("ent", "", is_longer),
    ("ion", "", |stem| is_longer(stem) && matches!(stem.last(), Some(b's' | b't'))),
    ("ou", "", is_longer),
    ("ism", "", is_longer),
    ("ate", "", is_longer),
    ("iti", "", is_longer),
    ("ous", "", is_longer),
    ("ive", "", is_longer),
    ("ize", "", is_longer),
];

/// Replaces a word of a–z and 0–9 by its stem.
pub(crate) fn stem(word: &mut Vec<u8>) {
    if let Some((_, stem)) = IRREGULAR.iter().find(|(irregular, _)| irregular.as_bytes() == word.as_slice()) {
        replace(word, word.len(), stem);
        return;
    }
    if word.len() <= 2 {
        return;
    }
    if word.len() == 4 && word.ends_with(b"ies") {
        word.pop();
    } else {
        apply(&PLURALS, word);
    }
    remove_participle(word);
    if let [rest @ .., b'y'] = word.as_slice()
        && rest.len() > 1
        && is_consonant(rest, rest.len() - 1)
    {
        replace(word, 1, "i");
    }
    // What is left of -alli may have another suffix.
    if word.ends_with(b"alli") && is_long(&word[..word.len() - 4]) {
        word.truncate(word.len() - 2);
    }
    // The l of -logi counts as part of the stem.
    if !apply(&DOUBLE_SUFFIXES, word) && word.ends_with(b"logi") && is_long(&word[..word.len() - 3]) {
        word.pop();
    }
    apply(&NOUNS_AND_ADJECTIVES, word);
    apply(&LAST_SUFFIXES, word);
    if let [rest @ .., b'e'] = word.as_slice()
        && (is_longer(rest) || measure(rest) == 1 && !ends_cvc(rest))
    {
        word.pop();
    }
    if word.ends_with(b"ll") && is_longer(&word[..word.len() - 1]) {
        word.pop();
    }
}

/// Removes -eed, -ed and -ing, and repairs what is left: `hopping` becomes `hop`, and `filing` becomes `file`.
fn remove_participle(word: &mut Vec<u8>) {
    let n = word.len();
    if word.ends_with(b"ied") {
        return replace(word, 3, if n == 4 { "ie" } else { "i" });
    }
    if word.ends_with(b"eed") {
        return if is_long(&word[..n - 3]) {
            word.truncate(n - 1)
        };
    }
    let suffix = if word.ends_with(b"ed") { 2 } else { 3 };
    if suffix == 3 && !word.ends_with(b"ing") || !has_vowel(&word[..n - suffix]) {
        return;
    }
    word.truncate(n - suffix);
    let is_double = matches!(word.as_slice(), [.., a, b] if a == b) && is_consonant(word, word.len() - 1);
    if [b"at", b"bl", b"iz"].iter().any(|end| word.ends_with(*end)) {
        word.push(b'e');
    } else if is_double {
        if !matches!(word.last(), Some(b'l' | b's' | b'z')) {
            word.pop();
        }
    } else if measure(word) == 1 && ends_cvc(word) {
        word.push(b'e');
    }
}

/// Applies the first rule whose suffix the word has, if its condition holds. Is there one?
fn apply(rules: &[Rule], word: &mut Vec<u8>) -> bool {
    let found = rules.iter().find(|(suffix, ..)| word.ends_with(suffix.as_bytes()));
    if let Some((suffix, replacement, condition)) = found
        && condition(&word[..word.len() - suffix.len()])
    {
        replace(word, suffix.len(), replacement);
    }
    found.is_some()
}

fn replace(word: &mut Vec<u8>, suffix: usize, replacement: &str) {
    word.truncate(word.len() - suffix);
    word.extend_from_slice(replacement.as_bytes());
}

/// Which characters are consonants: all but vowels, and y unless it follows a consonant.
fn consonants(stem: &[u8]) -> impl Iterator<Item = bool> {
    let mut previous = false;
    stem.iter().map(move |&letter| {
        previous = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !previous,
            _ => true,
        };
        previous
    })
}

fn is_consonant(word: &[u8], at: usize) -> bool {
    consonants(&word[..=at]).last().unwrap_or(false)
}

/// Porter's m: how often a consonant follows a vowel.
fn measure(stem: &[u8]) -> usize {
    let mut after_vowel = false;
    let follows = |consonant: bool| std::mem::replace(&mut after_vowel, !consonant) && consonant;
    consonants(stem).map(follows).filter(|&follows| follows).count()
}

fn always(_: &[u8]) -> bool {
    true
}

fn is_long(stem: &[u8]) -> bool {
    measure(stem) > 0
}

fn is_longer(stem: &[u8]) -> bool {
    measure(stem) > 1
}

fn has_vowel(stem: &[u8]) -> bool {
    consonants(stem).any(|consonant| !consonant)
}

/// Does it end in consonant, vowel, consonant, the last of them not w, x or y? NLTK: or is it a vowel and a consonant?
fn ends_cvc(word: &[u8]) -> bool {
    let n = word.len();
    let last = |m: usize| (n - m..n).map(|at| is_consonant(word, at)).collect::<Vec<_>>();
    n == 2 && last(2) == [false, true]
        || n > 2 && last(3) == [true, false, true] && !matches!(word[n - 1], b'w' | b'x' | b'y')
}
