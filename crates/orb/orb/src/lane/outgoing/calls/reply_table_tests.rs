//! Tests of the reply table with one thread; the models run it with several.

use super::reply_table::{GENERATIONS, MAX_WAITING, ReplyPlace, ReplyTable, index_of};
use super::slot::{LeftBehind, Woken};
use punctual_exec::Deadline;

fn leave(table: &ReplyTable<u32>, place: &ReplyPlace<'_, u32>) {
    place.slot.end();
    table.give_back(place.id);
}

#[test]
fn ids_are_even_and_a_stale_one_finds_nobody() {
    let table = ReplyTable::default();
    let first = table.register().unwrap();
    assert_eq!(first.id % 2, 0);
    assert!(table.deliver(first.id, 1));
    leave(&table, &first);
    let second = table.register().unwrap();
    assert_eq!(index_of(first.id), index_of(second.id));
    assert_ne!(first.id, second.id);
    assert!(!table.deliver(first.id, 2));
    assert!(!table.deliver(second.id | 1, 3));
    assert!(!table.deliver(u32::MAX, 4));
    assert_eq!(second.slot.poll(), None);
    assert!(table.deliver(second.id, 5));
    assert_eq!(second.slot.poll(), Some(5));
}

#[test]
fn ids_of_the_other_side_are_odd_and_are_found_by_no_even_one() {
    let table = ReplyTable::odd();
    let place = table.register().unwrap();
    assert_eq!(place.id % 2, 1);
    assert!(!table.deliver(place.id - 1, 1));
    assert!(table.deliver(place.id, 2));
    assert_eq!(place.slot.poll(), Some(2));
}

#[test]
fn generations_wrap_within_the_id() {
    let table = ReplyTable::default();
    for count in 0..=GENERATIONS {
        let place = table.register().unwrap();
        assert!(table.deliver(place.id, count));
        leave(&table, &place);
    }
}

#[test]
fn the_table_is_bounded() {
    let table = ReplyTable::<u32>::default();
    let kept: Vec<_> = (0..MAX_WAITING)
        .map(|_| table.register().unwrap())
        .collect();
    assert!(table.register().is_none());
    leave(&table, &kept[MAX_WAITING - 1]);
    assert!(table.register().is_some());
}

#[test]
fn what_goes_to_all_takes_no_reply_away() {
    let table = ReplyTable::default();
    let (waits, has_it) = (table.register().unwrap(), table.register().unwrap());
    assert!(table.deliver(has_it.id, 1));
    table.deliver_to_all(|| 2, |_| false);
    assert_eq!(waits.slot.poll(), Some(2));
    assert_eq!(has_it.slot.poll(), Some(1));
}

#[test]
fn only_a_caller_that_waits_is_chosen_as_reader() {
    let table = ReplyTable::<u32>::default();
    let (sends, is_done) = (table.register().unwrap(), table.register().unwrap());
    let waits = table.register().unwrap();
    waits.slot.will_wait();
    is_done.slot.will_wait();
    assert!(!is_done.slot.stop_waiting());
    table.promote_one();
    assert_eq!(waits.slot.sleep(Deadline::NEVER), Woken::Promoted);
    assert_eq!(sends.slot.end(), LeftBehind::Nothing);
    assert_ne!(is_done.slot.end(), LeftBehind::Reading);
    assert_eq!(waits.slot.end(), LeftBehind::Reading);
}

#[test]
fn a_slot_serves_its_next_caller_anew() {
    let table = ReplyTable::default();
    let first = table.register().unwrap();
    assert!(table.deliver(first.id, 1));
    leave(&table, &first);
    let again = table.register().unwrap();
    assert_eq!(again.slot.poll(), None);
    again.slot.will_wait();
    table.promote_one();
    assert_eq!(again.slot.sleep(Deadline::NEVER), Woken::Promoted);
}

#[test]
fn more_callers_than_a_row_has_places_find_theirs() {
    let table = ReplyTable::default();
    let places: Vec<_> = (0..200).map(|_| table.register().unwrap()).collect();
    for (number, place) in places.iter().enumerate() {
        assert!(table.deliver(place.id, number));
    }
    for (number, place) in places.iter().enumerate() {
        assert_eq!(place.slot.poll(), Some(number));
    }
    assert!(!table.is_idle());
    for place in &places {
        place.slot.end();
        table.give_back(place.id);
    }
    assert!(table.is_idle());
}

#[test]
fn a_place_whose_reply_is_owed_is_taken_again_only_when_that_has_come() {
    let table = ReplyTable::default();
    let given_up = table.register().unwrap();
    given_up.slot.end();
    table.keep_owed(given_up.id);
    assert_eq!(table.owed(), 1);
    assert!(table.is_idle());
    let other = table.register().unwrap();
    assert_ne!(index_of(other.id), index_of(given_up.id));
    assert!(!table.deliver(given_up.id, 1));
    assert_eq!(table.owed(), 0);
    let next = table.register().unwrap();
    assert_eq!(index_of(next.id), index_of(given_up.id));
    assert_ne!(next.id, given_up.id);
    assert!(!table.deliver(given_up.id, 2));
    assert_eq!(next.slot.poll(), None);
}
