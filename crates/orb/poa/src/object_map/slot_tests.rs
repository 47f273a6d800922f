//! Tests of slots. They are not in `slot.rs`, as the loom models include that file whole.

use super::entry::Entry;
use super::slot::{Slot, Unpinned};

#[test]
fn an_object_takes_one_cache_line() {
    assert_eq!(size_of::<Slot<Entry>>(), 64);
}

#[test]
fn a_slot_is_filled_when_it_is_free_and_closed_once() {
    let slot = Slot::new();
    assert_eq!(slot.fill(1), Ok(0));
    assert_eq!(slot.fill(2), Err(2));
    assert_eq!(slot.skip(), None);
    let (pin, other) = (slot.pin(0).unwrap(), slot.pin(0).unwrap());
    assert!(pin.close());
    assert!(!other.close());
    assert_eq!(slot.fill(2), Err(2));
    assert!(matches!(other.unpin(), Unpinned::NoWork));
    let Unpinned::Last(last) = pin.unpin() else {
        panic!("nobody is left");
    };
    assert_eq!(slot.fill(2), Err(2));
    assert!(last.free());
    assert_eq!(slot.skip(), Some(1));
    assert_eq!(slot.fill(2), Ok(2));
}

#[test]
fn a_slot_whose_generations_are_used_up_is_not_used_again() {
    let slot = Slot::aged(u32::MAX);
    assert_eq!(slot.skip(), None);
    assert_eq!(slot.fill(1), Ok(u32::MAX));
    let pin = slot.pin(u32::MAX).unwrap();
    pin.close();
    let Unpinned::Last(last) = pin.unpin() else {
        panic!("nobody is left");
    };
    assert!(!last.free());
}
