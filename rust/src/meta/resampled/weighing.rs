//! Systems and segments that are drawn several times, and what that makes of the weights of cells and groups.

use super::Material;
use crate::meta::Grouping;

/// How often one replicate takes each system, and each segment.
#[derive(Clone, Copy)]
pub(super) struct OfReplicate<'a> {
    pub systems: &'a [u32],
    pub segments: &'a [u32],
}

/// The same for several replicates, one after another.
pub(super) struct Copies {
    pub systems: Vec<u32>,
    pub segments: Vec<u32>,
}

impl Copies {
    /// Those of a replicate, given the shape of the matrix.
    pub(super) fn of(&self, replicate: usize, [systems, segments]: [usize; 2]) -> OfReplicate<'_> {
        OfReplicate {
            systems: &self.systems[replicate * systems..][..systems],
            segments: &self.segments[replicate * segments..][..segments],
        }
    }
}

/// How copies of systems and segments become weights of cells and groups.
#[derive(Clone, Copy)]
pub(super) struct Weighing<'a> {
    pub material: &'a Material,
    pub grouping: Grouping,
}

impl Weighing<'_> {
    /// The weight of a cell within its group.
    pub fn cell(&self, cell: u32, OfReplicate { systems, segments }: OfReplicate<'_>) -> u32 {
        let system = || systems[self.material.system(cell) as usize];
        let segment = || segments[self.material.segment(cell) as usize];
        match self.grouping {
            Grouping::None => system() * segment(),
            Grouping::System => segment(),
            Grouping::Item => system(),
        }
    }

    /// The weight of a group in the mean.
    pub fn group(&self, number: usize, OfReplicate { systems, segments }: OfReplicate<'_>) -> u32 {
        match self.grouping {
            Grouping::None => 1,
            Grouping::System => systems[number],
            Grouping::Item => segments[number],
        }
    }
}
