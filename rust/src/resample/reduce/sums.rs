//! The sums of all replicates, for a caller who scores them.

use std::ops::Range;

use super::{Feed, Halves, Keep, Part, Reduction, Shape, Span, check_same, cleared};
use crate::error::Result;
use crate::pool::{PIECE, Patience, Stop};
use crate::resample::kernel::Block;
use crate::resample::{reserved, zeros};

/// The sums of every replicate: those over the drawn units, or over the flipped ones less those of the first system.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    span: Span,
    cells: usize,
    sums: Vec<i64>,
}

impl Sums {
    /// The sums: replicate by replicate, then k × K for each sample.
    pub fn sums(&self) -> &[i64] {
        &self.sums
    }

    /// The same, without a copy.
    pub fn into_sums(self) -> Vec<i64> {
        self.sums
    }

    /// How many sums a replicate has.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The replicates that it is made of.
    ///
    /// # Errors
    /// [`crate::Error::InvalidOption`] before a run.
    pub fn replicates(&self) -> Result<Range<u64>> {
        self.span.get()
    }

    /// Puts those of the replicates that follow behind these.
    ///
    /// # Errors
    /// [`crate::Error::InvalidOption`] if they do not follow, or are of other samples, [`crate::Error::Memory`], and
    /// [`crate::Error::Interrupted`] if told to stop.
    pub fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
        let both = self.span.with(&later.span)?;
        check_same(self.cells == later.cells)?;
        let mut sums = reserved(self.sums.len() + later.sums.len())?;
        let mut patience = Patience::default();
        for piece in self.sums.chunks(PIECE).chain(later.sums.chunks(PIECE)) {
            patience.spend(piece.len(), stop)?;
            sums.extend_from_slice(piece);
        }
        *self = Sums { span: Span(Some(both)), cells: self.cells, sums };
        Ok(())
    }
}

impl Reduction for Sums {
    fn feed(&self) -> Feed<'_> {
        Feed::Sums
    }

    fn begin(&mut self, shape: &Shape, replicates: Range<u64>) -> Result<()> {
        let n = (replicates.end - replicates.start) as usize;
        *self = Sums { cells: shape.cells, sums: zeros(&[n, shape.cells])?, span: Span(Some(replicates)) };
        Ok(())
    }

    fn halves(&mut self) -> Halves<'_> {
        let Sums { span: Span(Some(all)), cells, sums } = self else { unreachable!("it has begun") };
        let (first, cells) = (all.start, *cells);
        let add = move |part: &Part| {
            sums[(part.replicates.start - first) as usize * cells..][..part.sums.len()].copy_from_slice(&part.sums);
            Ok(true)
        };
        (Box::new(ByReplicate { cells }), Box::new(add))
    }
}

struct ByReplicate {
    cells: usize,
}

impl Keep for ByReplicate {
    fn start(&self, part: &mut Part) -> Result<()> {
        let length = self.cells * part.len();
        cleared(&mut part.sums, length)
    }

    fn sums(&self, part: &mut Part, block: &Block<'_>, stop: &Stop<'_>) -> Result<()> {
        let n = block.len();
        let mut of_cell = zeros(&[n])?;
        let mut patience = Patience::default();
        for cell in 0..self.cells {
            patience.spend(n, stop)?;
            block.copy(cell, 0, &mut of_cell);
            part.sums[cell..].iter_mut().step_by(self.cells).zip(&of_cell).for_each(|(out, sum)| *out = *sum);
        }
        Ok(())
    }
}
