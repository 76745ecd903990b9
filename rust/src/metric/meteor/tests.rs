use super::*;
use crate::metric::count_segment;

fn meteor() -> Meteor {
    Meteor::new(&Options::resolve("meteor", SPEC.options, &[]).unwrap()).unwrap()
}

#[test]
fn worked_by_hand() {
    // "cats" and "cat" have the same stem. The chunks are "the", and "on the mat"; "on" is no neighbour of "cats".
    let row = count_segment(&meteor(), &["the cat sat on the mat"], "the cats on the mat");
    assert_eq!([5, 6], row[..2]);
    assert_eq!([1, 1], [row[8] + row[10], row[9] + row[11]]);
    assert_eq!([2, 5, 5], row[20..]);
}
