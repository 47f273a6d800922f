//! Filters whose groups count their children.

use super::support::{ALL, ANY, BITMASK, BOTH, MASKED, NOT, entry, timer};
use punctual_rtevent::{Filter, codes};
use std::time::Duration;

#[test]
fn no_entries_are_a_filter_that_accepts_nothing() {
    let none: [punctual_rtevent::Header; 0] = [];
    assert_eq!(Filter::from_prefix(&none), Ok(Filter::nothing()));
    assert_eq!(Filter::from_basic(&none), Ok(Filter::nothing()));
}

#[test]
fn groups_nest_by_their_counts() {
    let entries = [
        entry(ANY, 3),
        entry(ALL, 2),
        entry(16, 1),
        entry(17, 0),
        entry(BOTH, 1),
        entry(ANY, 0),
        entry(NOT, 0),
        entry(18, 0),
    ];
    let expected = Filter::any_of([
        Filter::all_of([Filter::event(16, 1), Filter::event(17, 0)]),
        Filter::both([Filter::any_of([])]),
        Filter::not(Filter::event(18, 0)),
    ]);
    assert_eq!(Filter::from_prefix(&entries), Ok(expected));
}

#[test]
fn masks_and_values_stand_in_entries_of_their_own() {
    let entries = [
        entry(ALL, 2),
        entry(BITMASK, 0),
        entry(codes::CONJUNCTION, 3),
        entry(16, 0),
        entry(MASKED, 0),
        entry(0xff, 0),
        entry(codes::NEGATION, 0),
    ];
    let expected = Filter::all_of([
        Filter::bitmask(codes::CONJUNCTION, 3, Filter::event(16, 0)),
        Filter::masked((0xff, 0), (codes::NEGATION, 0)),
    ]);
    assert_eq!(Filter::from_prefix(&entries), Ok(expected));
}

#[test]
fn timers_have_their_length_in_the_time_of_creation() {
    let entries = [
        entry(ANY, 3),
        timer(codes::TIMEOUT, 10),
        timer(codes::INTERVAL_TIMEOUT, 20),
        timer(codes::DEADLINE_TIMEOUT, 30),
    ];
    let expected = Filter::any_of([
        Filter::timeout(Duration::from_micros(1)),
        Filter::interval(Duration::from_micros(2)),
        Filter::deadline(Duration::from_micros(3)),
    ]);
    assert_eq!(Filter::from_prefix(&entries), Ok(expected));
}

#[test]
fn other_codes_are_types() {
    for code in [0, 1, 2, 3, 7, 15, 16, -1, i32::MAX, i32::MIN] {
        let filter = Filter::from_prefix(&[entry(code, 5)]);
        assert_eq!(filter, Ok(Filter::event(code, 5)));
    }
}
