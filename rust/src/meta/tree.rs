//! A tree of partial sums over classes (Fenwick 1994, doi:10.1002/spe.4380240306). Node 0 is not used.

/// The nodes whose sum is that of all classes before this one.
#[inline(always)]
pub(super) fn visit_before(class: usize, mut visit: impl FnMut(usize)) {
    let mut node = class;
    while node > 0 {
        visit(node);
        node &= node - 1;
    }
}

/// The nodes whose sums include this class.
#[inline(always)]
pub(super) fn visit_after(class: usize, classes: usize, mut visit: impl FnMut(usize)) {
    let mut node = class + 1;
    while node <= classes {
        visit(node);
        node += node & node.wrapping_neg();
    }
}
