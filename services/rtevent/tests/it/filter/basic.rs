//! Filters whose groups reach to the next group.

use super::support::{ALL, ANY, BITMASK, BOTH, MASKED, NOT, entry};
use punctual_rtevent::{Filter, FilterError};

#[test]
fn a_group_has_all_that_follows_whatever_its_source_says() {
    for source in [0, 1, 7, -3] {
        let entries = [entry(ALL, source), entry(16, 0), entry(17, 2)];
        let expected = Filter::all_of([Filter::event(16, 0), Filter::event(17, 2)]);
        assert_eq!(Filter::from_basic(&entries), Ok(expected));
    }
}

#[test]
fn masks_belong_to_their_entry_and_a_negation_has_the_one_that_follows() {
    let entries = [
        entry(ANY, 0),
        entry(BITMASK, 0),
        entry(ALL, BOTH),
        entry(16, 0),
        entry(NOT, 0),
        entry(MASKED, 0),
        entry(ANY, 0),
        entry(ALL, 0),
        entry(NOT, 0),
        entry(17, 0),
        entry(18, 0),
    ];
    let expected = Filter::any_of([
        Filter::bitmask(ALL, BOTH, Filter::event(16, 0)),
        Filter::not(Filter::masked((ANY, 0), (ALL, 0))),
        Filter::not(Filter::event(17, 0)),
        Filter::event(18, 0),
    ]);
    assert_eq!(Filter::from_basic(&entries), Ok(expected));
}

#[test]
fn a_negation_of_a_group_is_one_tree() {
    let entries = [entry(NOT, 0), entry(ANY, 0), entry(16, 0), entry(17, 0)];
    let group = Filter::any_of([Filter::event(16, 0), Filter::event(17, 0)]);
    assert_eq!(Filter::from_basic(&entries), Ok(Filter::not(group)));
}

#[test]
fn a_second_group_is_left_over() {
    let entries = [entry(ANY, 0), entry(16, 0), entry(ALL, 0), entry(17, 0)];
    let refused = Filter::from_basic(&entries);
    assert_eq!(refused, Err(FilterError::Leftover { at: 2 }));
    let entries = [entry(16, 0), entry(ANY, 0), entry(17, 0)];
    let refused = Filter::from_basic(&entries);
    assert_eq!(refused, Err(FilterError::Leftover { at: 1 }));
}

#[test]
fn a_group_inside_of_a_group_is_refused() {
    let entries = [
        entry(ANY, 0),
        entry(16, 0),
        entry(NOT, 0),
        entry(ALL, 0),
        entry(17, 0),
    ];
    let refused = Filter::from_basic(&entries);
    assert_eq!(refused, Err(FilterError::NestedGroup { at: 3, group: 0 }));
}
