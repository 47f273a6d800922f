//! Meaning of each node.

use super::support::passed;
use punctual_rtevent::Filter;

/// Types and sources of the events that most tests push.
const EVENTS: [(i32, i32); 6] = [(16, 1), (17, 1), (16, 2), (18, 3), (-16, -1), (17, 2)];

fn alone(filter: Filter) -> Vec<u64> {
    let pushes = passed(filter, &EVENTS);
    assert!(pushes.iter().all(|push| push.len() == 1), "{pushes:?}");
    pushes.concat()
}

#[test]
fn zero_matches_every_type_and_every_source() {
    assert_eq!(alone(Filter::event(16, 1)), [0]);
    assert_eq!(alone(Filter::event(16, 0)), [0, 2]);
    assert_eq!(alone(Filter::event(0, 1)), [0, 1]);
    assert_eq!(alone(Filter::event(0, 0)), [0, 1, 2, 3, 4, 5]);
    assert_eq!(alone(Filter::event(-16, 0)), [4]);
}

#[test]
fn null_accepts_every_event_and_nothing_none() {
    assert_eq!(alone(Filter::null()), [0, 1, 2, 3, 4, 5]);
    assert!(alone(Filter::nothing()).is_empty());
}

#[test]
fn a_bitmask_needs_a_bit_of_both_masks_and_the_child() {
    let filter = |kind, source| Filter::bitmask(kind, source, Filter::null());
    assert_eq!(alone(filter(1, -1)), [1, 5]);
    assert_eq!(alone(filter(-1, 2)), [2, 3, 4, 5]);
    assert_eq!(alone(filter(1, 2)), [5]);
    assert!(alone(filter(0, -1)).is_empty());
    let child = Filter::event(0, 1);
    assert_eq!(alone(Filter::bitmask(1, -1, child)), [1]);
}

#[test]
fn a_masked_type_compares_values_under_masks() {
    let filter = Filter::masked((0x10, 0x01), (0x10, 0x01));
    assert_eq!(alone(filter), [0, 1, 3, 4]);
    assert_eq!(alone(Filter::masked((-1, 0), (17, 0))), [1, 5]);
    assert_eq!(alone(Filter::masked((0, -1), (0, 2))), [2, 5]);
    // A value with bits outside of its mask is never met.
    assert!(alone(Filter::masked((0x10, 0), (0x11, 0))).is_empty());
}

#[test]
fn a_disjunction_passes_an_event_once_for_all_children() {
    let filter = Filter::any_of([Filter::event(16, 0), Filter::event(0, 1), Filter::null()]);
    assert_eq!(alone(filter), [0, 1, 2, 3, 4, 5]);
    assert!(alone(Filter::any_of([])).is_empty());
}

#[test]
fn a_logical_and_needs_one_event_that_all_children_accept() {
    let filter = Filter::both([Filter::event(16, 0), Filter::event(0, 2)]);
    assert_eq!(alone(filter), [2]);
    assert_eq!(alone(Filter::both([])), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_negation_accepts_what_its_child_does_not() {
    assert_eq!(alone(Filter::not(Filter::event(16, 0))), [1, 3, 4, 5]);
    let twice = Filter::not(Filter::not(Filter::event(16, 0)));
    assert_eq!(alone(twice), [0, 2]);
    let limited = Filter::both([Filter::event(16, 0), Filter::not(Filter::event(0, 2))]);
    assert_eq!(alone(limited), [0]);
}

#[test]
fn a_conjunction_passes_the_whole_set_once_and_begins_anew() {
    let filter = || Filter::all_of([Filter::event(16, 0), Filter::event(17, 0)]);
    let events = [(16, 1), (16, 2), (17, 1), (17, 2), (18, 0), (16, 3)];
    // The second event of type 16 is a repeat.
    assert_eq!(passed(filter(), &events), [vec![0, 2], vec![3, 5]]);
    assert!(passed(Filter::all_of([]), &events).is_empty());
}

#[test]
fn a_conjunction_of_the_same_child_twice_takes_two_events() {
    let filter = Filter::all_of([Filter::event(16, 0), Filter::event(16, 0)]);
    assert_eq!(passed(filter, &[(16, 1), (16, 2), (16, 3)]), [vec![0, 1]]);
}

#[test]
fn a_conjunction_of_conjunctions_passes_the_sets_in_the_order_of_their_completion() {
    let pair = |first, second| Filter::all_of([Filter::event(first, 0), Filter::event(second, 0)]);
    let filter = Filter::all_of([pair(16, 17), pair(18, 19)]);
    let events = [(16, 0), (18, 0), (19, 0), (16, 0), (17, 0), (17, 0)];
    assert_eq!(passed(filter, &events), [vec![1, 2, 0, 4]]);
}

#[test]
fn a_disjunction_passes_what_its_first_accepting_child_passes() {
    let pair = Filter::all_of([Filter::event(16, 0), Filter::event(17, 0)]);
    let filter = Filter::any_of([pair, Filter::event(17, 0)]);
    // The conjunction accepts type 17, so that the second child never gets it.
    let events = [(17, 0), (17, 0), (16, 0)];
    assert_eq!(passed(filter, &events), [vec![0, 2]]);
}

#[test]
fn what_reaches_the_consumer_empties_all_conjunctions() {
    let pair = Filter::all_of([Filter::event(16, 0), Filter::event(17, 0)]);
    let filter = Filter::any_of([Filter::event(20, 0), pair]);
    let events = [(16, 0), (20, 0), (17, 0), (16, 0)];
    assert_eq!(passed(filter, &events), [vec![1], vec![2, 3]]);
}

#[test]
fn a_negation_of_a_conjunction_collects_nothing() {
    let pair = Filter::all_of([Filter::event(16, 0), Filter::event(17, 0)]);
    assert_eq!(alone(Filter::not(pair)), [3, 4]);
}
