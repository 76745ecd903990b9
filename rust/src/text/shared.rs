//! The n-grams that the texts of a list have in common, for all pairs of texts at once.
//!
//! The t-th occurrence of an n-gram in a text is an item. Two texts share an item if both have the n-gram at least t
//! times, so the number of items that they share is the sum of the smaller counts: the clipped matches. Texts of a list
//! are alike, so most of their items are in many of them. Such frequent items are bits, and the matches of two texts are
//! the bits that both have. Items that are in less than one of 64 texts would be rows of zeros. They are lists of texts
//! instead, so that memory grows with the length of the texts only. Items of a single text match nothing.

use super::joined::Joined;
use super::ngram::{Children, Seen, Vocabulary};
use crate::error::Result;
use crate::memory::{reserved, zeros};
use crate::pool::Stop;
use crate::simd::{Simd, dispatch};

/// The kinds of units whose n-grams are counted: characters and words.
pub(crate) const KINDS: usize = 2;

/// Calls its argument with every unit of a text: the kind, and its spelling.
pub(crate) type Units<'a> = &'a dyn Fn(&str, &mut dyn FnMut(usize, &str));

/// An item.
#[derive(Clone, Copy, Default)]
struct Item {
    /// Which order its n-gram has, counted through all kinds.
    order: u32,
    /// The number of texts that have it.
    texts: u32,
    /// Its n-gram's occurrences. Texts are numbered from 1.
    seen: Seen,
}

/// The texts of a list.
pub(crate) struct Shared {
    texts: usize,
    /// The longest n-gram of each kind.
    orders: [usize; KINDS],
    /// The number of units of each kind, text by text.
    lengths: Vec<[usize; KINDS]>,
    /// The first word of the bits of each order, and at the end the number of words of a text.
    words: Vec<usize>,
    bits: Vec<u64>,
    /// For each text, the rare items it has, with their orders; and for each of them the texts that have it.
    rare: Vec<Vec<(u32, u32)>>,
    starts: Vec<usize>,
    having: Vec<u32>,
}

/// Items that are in less than one of so many texts are rare.
const RARE: usize = 64;

/// The approximate cost of an n-gram in a table, in additions.
const LOOK_UP: usize = 16;

impl Shared {
    /// Reads the texts of a list.
    pub fn new(texts: &[&str], orders: [usize; KINDS], units: Units<'_>, stop: &Stop<'_>) -> Result<Self> {
        let mut reader = Reader::new(orders);
        for text in texts {
            reader.read(text, units, stop)?;
        }
        reader.finish(texts.len(), stop)
    }

    /// The number of orders of all kinds.
    pub fn order(&self) -> usize {
        self.orders.iter().sum()
    }

    /// The number of units of each kind in a text.
    pub fn lengths(&self, text: usize) -> [usize; KINDS] {
        self.lengths[text]
    }

    /// Writes the clipped matches of a text with every text, order by order: those of text j from `j · order` on.
    pub fn matches(&self, text: usize, out: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let (order, width) = (self.order(), self.words[self.order()]);
        stop.charge(self.texts * (width + 2 * order))?;
        let own = &self.bits[text * width..(text + 1) * width];
        common_bits(Simd::best(), own, &self.bits, &self.words, out);
        for &(item, order_of_item) in &self.rare[text] {
            let having = &self.having[self.starts[item as usize]..self.starts[item as usize + 1]];
            stop.charge(having.len())?;
            having.iter().for_each(|&other| out[other as usize * order + order_of_item as usize] += 1);
        }
        // Items of this text alone are not among the bits.
        let itself = &mut out[text * order..(text + 1) * order];
        let (first, second) = itself.split_at_mut(self.orders[0]);
        for (own, length) in [first, second].into_iter().zip(self.lengths[text]) {
            own.iter_mut().enumerate().for_each(|(n, matches)| *matches = length.saturating_sub(n) as i64);
        }
        Ok(())
    }
}

dispatch! {
    /// The number of common bits of one text and each of many, order by order.
    fn common_bits(own: &[u64], all: &[u64], words: &[usize], out: &mut [i64]) {
        if own.is_empty() {
            return out.fill(0);
        }
        for (other, out) in all.chunks_exact(own.len()).zip(out.chunks_exact_mut(words.len() - 1)) {
            for (ends, out) in words.windows(2).zip(out) {
                let both = own[ends[0]..ends[1]].iter().zip(&other[ends[0]..ends[1]]);
                *out = both.map(|(a, b)| i64::from((a & b).count_ones())).sum();
            }
        }
    }
}

/// Reads texts one after another.
#[derive(Default)]
struct Reader {
    orders: [usize; KINDS],
    vocabulary: Vocabulary,
    children: Children,
    items: Vec<Item>,
    /// The items of each text.
    of_texts: Joined<u32>,
    lengths: Vec<[usize; KINDS]>,
    units: [Vec<u32>; KINDS],
}

impl Reader {
    fn new(orders: [usize; KINDS]) -> Self {
        // Items 0 to KINDS − 1 are the empty n-grams of each kind.
        Reader { orders, items: vec![Item::default(); KINDS], ..Reader::default() }
    }

    fn item(&mut self, prefix: u32, label: u32, order: usize) -> u32 {
        let new = self.items.len() as u32;
        let item = self.children.get_or_insert(prefix, label, new);
        if item == new {
            self.items.push(Item { order: order as u32, ..Item::default() });
        }
        item
    }

    fn read(&mut self, text: &str, units: Units<'_>, stop: &Stop<'_>) -> Result<()> {
        let number = 1 + self.lengths.len() as u32;
        let Reader { vocabulary, units: own, orders, .. } = self;
        own.iter_mut().for_each(Vec::clear);
        units(text, &mut |kind, unit| {
            if orders[kind] > 0 {
                own[kind].push(vocabulary.intern(unit));
            }
        });
        self.lengths.push(std::array::from_fn(|kind| self.units[kind].len()));
        for kind in 0..KINDS {
            let (units, first) = (std::mem::take(&mut self.units[kind]), if kind == 0 { 0 } else { self.orders[0] });
            for start in 0..units.len() {
                let ngram = &units[start..units.len().min(start + self.orders[kind])];
                stop.charge(LOOK_UP * ngram.len())?;
                let mut prefix = kind as u32;
                for (n, &unit) in ngram.iter().enumerate() {
                    prefix = self.item(prefix, unit, first + n);
                    // Units have small numbers, so large ones are free for the second occurrence and the later ones.
                    let item = match self.items[prefix as usize].seen.bump(number) {
                        1 => prefix,
                        later => self.item(prefix, u32::MAX - later, first + n),
                    };
                    self.items[item as usize].texts += 1;
                    self.of_texts.push(item);
                }
            }
            self.units[kind] = units;
        }
        self.of_texts.end();
        Ok(())
    }

    /// Divides items into frequent and rare ones.
    fn finish(self, texts: usize, stop: &Stop<'_>) -> Result<Shared> {
        let order: usize = self.orders.iter().sum();
        let is_frequent = |item: &Item| item.texts >= 2 && item.texts as usize * RARE >= texts;
        let mut frequent = vec![0_usize; order];
        self.items.iter().filter(|item| is_frequent(item)).for_each(|item| frequent[item.order as usize] += 1);
        let mut words = vec![0];
        frequent.iter().for_each(|bits| words.push(words[words.len() - 1] + bits.div_ceil(64)));
        // Where each item is: a bit, or its number among the rare ones.
        let mut next_bit: Vec<usize> = words[..order].iter().map(|word| 64 * word).collect();
        let (mut place, mut starts) = (reserved(self.items.len())?, vec![0_usize]);
        for item in &self.items {
            stop.charge(4)?;
            place.push(if is_frequent(item) {
                next_bit[item.order as usize] += 1;
                next_bit[item.order as usize] - 1
            } else if item.texts >= 2 {
                starts.push(starts[starts.len() - 1] + item.texts as usize);
                starts.len() - 2
            } else {
                usize::MAX
            });
        }
        let width = words[order];
        let mut bits: Vec<u64> = zeros(&[texts, width])?;
        let mut having: Vec<u32> = zeros(&[starts[starts.len() - 1]])?;
        let mut filled = starts.clone();
        let mut rare = vec![Vec::new(); texts];
        for (text, items) in self.of_texts.iter().enumerate() {
            for &item in items {
                stop.charge(2)?;
                let (known, place) = (&self.items[item as usize], place[item as usize]);
                if is_frequent(known) {
                    bits[text * width + place / 64] |= 1 << (place % 64);
                } else if known.texts >= 2 {
                    rare[text].push((place as u32, known.order));
                    having[filled[place]] = text as u32;
                    filled[place] += 1;
                }
            }
        }
        Ok(Shared { texts, orders: self.orders, lengths: self.lengths, words, bits, rare, starts, having })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn units(text: &str, emit: &mut dyn FnMut(usize, &str)) {
        let mut buffer = [0; 4];
        text.chars().filter(|c| *c != ' ').for_each(|c| emit(0, c.encode_utf8(&mut buffer)));
        text.split_whitespace().for_each(|word| emit(1, word));
    }

    /// How often a text has each n-gram of an order.
    fn ngrams(text: &str, kind: usize, n: usize) -> HashMap<Vec<String>, i64> {
        let mut own = Vec::new();
        units(text, &mut |of, unit| {
            if of == kind {
                own.push(unit.to_owned())
            }
        });
        let mut counts = HashMap::new();
        own.windows(n).for_each(|ngram| *counts.entry(ngram.to_vec()).or_default() += 1);
        counts
    }

    proptest! {
        #![proptest_config(crate::testing::cases(24))]
        #[test]
        fn matches_are_those_of_two_tables_of_ngrams(
            // More texts than bits of a word, so that some items are rare.
            few in prop::collection::vec("[ab ]{0,12}", 1..9),
            copies in prop_oneof![2 => 1..8_usize, 1 => 18..24_usize],
            orders in prop::array::uniform2(0..5_usize),
        ) {
            prop_assume!(orders != [0, 0]);
            let texts: Vec<String> =
                (0..copies).flat_map(|copy| few.iter().map(move |text| format!("{text} {copy} c{}", copy % 7))).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let shared = Shared::new(&texts, orders, &units, &Stop::never()).unwrap();
            let kinds: Vec<(usize, usize)> =
                (0..KINDS).flat_map(|kind| (1..=orders[kind]).map(move |n| (kind, n))).collect();
            let tables: Vec<Vec<_>> =
                texts.iter().map(|text| kinds.iter().map(|&(kind, n)| ngrams(text, kind, n)).collect()).collect();
            let mut out = vec![7; texts.len() * kinds.len()];
            for (i, own) in tables.iter().enumerate() {
                shared.matches(i, &mut out, &Stop::never()).unwrap();
                for (j, (others, got)) in tables.iter().zip(out.chunks_exact(kinds.len())).enumerate() {
                    for ((own, others), &got) in own.iter().zip(others).zip(got) {
                        let expected: i64 =
                            own.iter().map(|(ngram, &count)| count.min(others.get(ngram).copied().unwrap_or(0))).sum();
                        prop_assert_eq!(expected, got, "{} | {}", texts[i], texts[j]);
                    }
                }
            }
        }
    }

    #[test]
    fn all_paths_count_the_same_bits() {
        let own: Vec<u64> = (0..9_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let all: Vec<u64> = (0..45_u64).map(|i| !i.wrapping_mul(0xD251_1F53_CD9E_8D57)).collect();
        let words = [0, 3, 3, 9];
        let expected: Vec<i64> = (0..5)
            .flat_map(|text| words.windows(2).map(move |ends| (text, ends[0]..ends[1])))
            .map(|(text, range)| range.map(|i| i64::from((own[i] & all[text * 9 + i]).count_ones())).sum())
            .collect();
        for simd in Simd::tested() {
            let mut got = vec![9; 15];
            common_bits(simd, &own, &all, &words, &mut got);
            assert_eq!(expected, got, "{simd:?}");
        }
    }

    #[test]
    fn reading_stops_when_it_is_asked_to() {
        let text = "a b ".repeat(100_000);
        assert!(Shared::new(&[&text], [6, 2], &units, &Stop::at_once()).is_err());
    }
}
