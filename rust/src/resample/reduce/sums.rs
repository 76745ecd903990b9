//! The sums of counts of all replicates, for callers that score them.

use std::ops::Range;

use super::state::state;
use super::{Accumulate, Input, Partial, Ranged, Reduction, Shape, Span, Stages, check_same, cleared};
use crate::error::Result;
use crate::memory::{reserved, zeros};
use crate::pool::{PIECE, Stop};
use crate::resample::kernel::Block;
use crate::resample::length;

/// The sums of every replicate: over the drawn units, or over the flipped units relative to the first system.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    span: Span,
    cells: usize,
    sums: Vec<i64>,
}

impl Sums {
    /// The sums: replicate by replicate, then sample by sample, k × K each.
    pub fn sums(&self) -> &[i64] {
        &self.sums
    }

    /// The number of sums of a replicate.
    pub fn cells(&self) -> usize {
        self.cells
    }
}

impl Ranged for Sums {
    fn span(&self) -> &Span {
        &self.span
    }

    fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        check_same(self.cells == later.cells)?;
        let mut sums = reserved(self.sums.len() + later.sums.len())?;
        for piece in self.sums.chunks(PIECE).chain(later.sums.chunks(PIECE)) {
            stop.charge(piece.len())?;
            sums.extend_from_slice(piece);
        }
        *self = Sums { span: Span(Some(both)), cells: self.cells, sums };
        Ok(())
    }
}

state!(Sums = 8, [span, cells, sums], |sums| sums.cells.checked_mul(sums.span.len()) == Some(sums.sums.len()));

impl Reduction for Sums {
    fn input(&self) -> Input {
        Input::Sums
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        let n = length(&replicates);
        *self = Sums { cells: shape.cells, sums: zeros(&[n, shape.cells])?, span: Span(Some(replicates)) };
        Ok(())
    }

    fn stages(&mut self) -> Stages<'_> {
        let Sums { span: Span(Some(all)), cells, sums } = self else { unreachable!("it has begun") };
        let (first, cells) = (all.start, *cells);
        let combine = move |partial: &Partial| {
            sums[(partial.replicates.start - first) as usize * cells..][..partial.sums.len()]
                .copy_from_slice(&partial.sums);
            Ok(true)
        };
        (Box::new(ByReplicate { cells }), Box::new(combine))
    }
}

struct ByReplicate {
    cells: usize,
}

impl Accumulate for ByReplicate {
    fn start(&self, partial: &mut Partial) -> Result<()> {
        let length = self.cells * partial.len();
        cleared(&mut partial.sums, length)
    }

    fn sums(&self, partial: &mut Partial, block: &Block<'_>, stop: &Stop<'_>) -> Result<()> {
        let n = block.len();
        let mut cell_sums = zeros(&[n])?;
        for cell in 0..self.cells {
            stop.charge(n)?;
            block.copy(cell, 0, &mut cell_sums);
            partial.sums[cell..].iter_mut().step_by(self.cells).zip(&cell_sums).for_each(|(out, sum)| *out = *sum);
        }
        Ok(())
    }
}
