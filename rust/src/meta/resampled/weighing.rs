//! Systems and segments that are drawn several times, and what that makes of the weights of cells and groups.

use super::Material;
use crate::meta::Grouping;

/// Copies of systems and of segments.
pub(super) type Numbers<'a> = (&'a [u32], &'a [u32]);

/// The copies of systems and of segments in some replicates.
pub(super) struct Copies {
    pub systems: Vec<u32>,
    pub segments: Vec<u32>,
}

impl Copies {
    /// Those of a replicate, given the shape of the matrix.
    pub(super) fn of(&self, replicate: usize, [systems, segments]: [usize; 2]) -> Numbers<'_> {
        (&self.systems[replicate * systems..][..systems], &self.segments[replicate * segments..][..segments])
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
    pub fn cell(&self, cell: u32, (systems, segments): Numbers<'_>) -> u32 {
        let system = || systems[self.material.system(cell) as usize];
        let segment = || segments[self.material.segment(cell) as usize];
        match self.grouping {
            Grouping::None => system() * segment(),
            Grouping::System => segment(),
            Grouping::Item => system(),
        }
    }

    /// The weight of a group in the mean.
    pub fn group(&self, number: usize, (systems, segments): Numbers<'_>) -> u32 {
        match self.grouping {
            Grouping::None => 1,
            Grouping::System => systems[number],
            Grouping::Item => segments[number],
        }
    }
}
