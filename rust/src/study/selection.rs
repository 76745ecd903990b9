//! How the test set of a simulation is chosen.

use crate::error::{Error, Result};
use crate::simd::Simd;
use crate::stream::{Purpose, Stream, fill};

/// How units are chosen from a population.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// With replacement.
    Replace,
    /// Without replacement, in the order of the population.
    Subset,
    /// All of them.
    Fixed,
}

/// The choice of units, or of groups of units, and of those in which the two systems are swapped.
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    /// How they are chosen.
    pub sampling: Sampling,
    /// How many are drawn; None for as many as there are.
    pub size: Option<usize>,
    /// The probability of a swap in multiples of 2^-32, at most 2^32.
    pub swapped: u64,
}

/// The test set of a simulation: for each of its units, the unit of the population, and 1 if the systems are swapped,
/// else 0. The buffers are reused.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub units: Vec<u32>,
    pub swapped: Vec<u8>,
    /// Chosen groups, and whether they are swapped.
    groups: (Vec<u32>, Vec<u8>),
    keys: Vec<(u64, u32)>,
    words: Vec<u64>,
}

/// Units that are drawn and swapped together: the members of each group in the order of the population.
#[derive(Debug)]
pub(super) struct Groups {
    members: Vec<u32>,
    /// Where the members of each group begin, and the end of the last.
    starts: Vec<usize>,
}

impl Groups {
    /// From the group of each unit.
    pub fn new(groups: &[u32]) -> Result<Self> {
        if let Some(&group) = groups.iter().find(|&&group| group as usize >= groups.len()) {
            return Err(Error::OutOfRange { what: "group".into(), index: group as usize, len: groups.len() });
        }
        let count = groups.iter().max().map_or(0, |&largest| largest as usize + 1);
        let mut starts = vec![0; count + 1];
        groups.iter().for_each(|&group| starts[group as usize + 1] += 1);
        if let Some(group) = (0..count).find(|&group| starts[group + 1] == 0) {
            return Err(Error::Empty { what: format!("units of group {group}") });
        }
        (0..count).for_each(|group| starts[group + 1] += starts[group]);
        let (mut next, mut members) = (starts.clone(), vec![0; groups.len()]);
        for (unit, &group) in (0..).zip(groups) {
            members[next[group as usize]] = unit;
            next[group as usize] += 1;
        }
        Ok(Groups { members, starts })
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, group: u32) -> &[u32] {
        &self.members[self.starts[group as usize]..self.starts[group as usize + 1]]
    }
}

impl Selection {
    /// Chooses from `n` units, or from all groups, with the seed of a simulation.
    pub(super) fn choose(&self, seed: u64, n: usize, groups: Option<&Groups>, out: &mut Chosen) {
        let Chosen { units, swapped, groups: (of_groups, swapped_groups), keys, words } = out;
        let Some(groups) = groups else {
            return self.draw(seed, n, (units, swapped), keys, words);
        };
        self.draw(seed, groups.len(), (of_groups, swapped_groups), keys, words);
        units.clear();
        swapped.clear();
        for (&group, &swap) in of_groups.iter().zip(&*swapped_groups) {
            units.extend_from_slice(groups.of(group));
            swapped.resize(units.len(), swap);
        }
    }

    fn draw(
        &self,
        seed: u64,
        n: usize,
        (units, swapped): (&mut Vec<u32>, &mut Vec<u8>),
        keys: &mut Vec<(u64, u32)>,
        words: &mut Vec<u64>,
    ) {
        let size = self.size.unwrap_or(n);
        let chosen = Stream::new(seed, Purpose::Selection, 0);
        units.clear();
        match self.sampling {
            Sampling::Replace => {
                units.resize(size, 0);
                chosen.indices(n as u32).fill(units);
            }
            Sampling::Subset => {
                // Those with the smallest keys.
                words.resize(n, 0);
                fill(Simd::best(), &chosen, 0, words);
                keys.clear();
                keys.extend(words.iter().copied().zip(0..));
                if size < n {
                    keys.select_nth_unstable(size);
                }
                units.extend(keys.iter().take(size).map(|&(_, unit)| unit));
                units.sort_unstable();
            }
            Sampling::Fixed => units.extend(0..n as u32),
        }
        // The j-th is swapped if the j-th 32-bit number of its stream is below the threshold.
        words.resize(units.len().div_ceil(2), 0);
        fill(Simd::best(), &Stream::new(seed, Purpose::Assignment, 0), 0, words);
        let below = |number: u64| u8::from(number < self.swapped);
        swapped.clear();
        swapped.extend(words.iter().flat_map(|&word| [below(word & 0xFFFF_FFFF), below(word >> 32)]).take(units.len()));
    }
}
