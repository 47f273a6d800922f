//! Model of the reply table: a place belongs to one caller at a time, and late replies reach no
//! caller.

use crate::explore;
use crate::reply_table::{ReplyPlace, ReplyTable};
use crate::slot::Woken;
use punctual_exec::Deadline;
use punctual_models::loom::cell::UnsafeCell;
use punctual_models::loom::sync::Arc;
use punctual_models::loom::thread;

/// Reply table with data that only the owner of a place may access, so that loom detects a place
/// with two owners.
struct Places {
    table: ReplyTable<u32>,
    held: [UnsafeCell<()>; 3],
}

impl Places {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            table: ReplyTable::default(),
            held: [(); 3].map(|()| UnsafeCell::new(())),
        })
    }

    fn take_and_leave(&self) {
        let place = self.table.register().unwrap();
        self.held[crate::reply_table::index_of(place.id)].with_mut(|_| ());
        self.leave(&place);
    }

    fn leave(&self, place: &ReplyPlace<'_, u32>) {
        place.slot.end();
        self.table.give_back(place.id);
    }
}

/// Difference of the ids of two successive callers of one place.
const A_GENERATION: u32 = 2 << 17;

#[test]
fn no_place_is_taken_twice() {
    explore("places", || {
        let places = Places::new();
        let threads = [(); 2].map(|()| {
            let places = places.clone();
            thread::spawn(move || {
                places.take_and_leave();
                places.take_and_leave();
            })
        });
        places.take_and_leave();
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(places.table.is_idle());
    });
}

#[test]
fn a_late_reply_reaches_nobody_also_when_the_place_is_taken_anew() {
    explore("late", || {
        let places = Places::new();
        let first = places.table.register().unwrap();
        let late = first.id;
        let delivers = {
            let places = places.clone();
            thread::spawn(move || places.table.deliver(late, 1))
        };
        let had = first.slot.poll();
        places.leave(&first);
        let second = places.table.register().unwrap();
        assert_ne!(second.id, late);
        assert_eq!(second.slot.poll(), None, "the reply of the one before");
        let delivered = delivers.join().unwrap();
        assert!(delivered || had.is_none());
        assert_eq!(second.slot.poll(), None);
        // Its own reply reaches it, regardless of the caller before.
        assert!(places.table.deliver(second.id, 2));
        assert_eq!(second.slot.poll(), Some(2));
        places.leave(&second);
    });
}

#[test]
fn a_place_whose_caller_read_its_own_reply_has_nothing_left_for_the_next() {
    explore("late, behind a reader", || {
        let places = Places::new();
        let first = places.table.register().unwrap();
        // Replies to that place's earlier and later callers reach no caller.
        let late = first.id.wrapping_sub(A_GENERATION);
        let early = first.id + A_GENERATION;
        let delivers = {
            let places = places.clone();
            thread::spawn(move || {
                assert!(!places.table.deliver(late, 1));
                places.table.deliver(early, 3)
            })
        };
        first.slot.end_as_reader();
        places.table.give_back(first.id);
        let second = places.table.register().unwrap();
        assert_eq!(second.id, early);
        let delivered = delivers.join().unwrap();
        let polled = second.slot.poll();
        assert!(delivered || polled.is_none());
        places.leave(&second);
    });
}

#[test]
fn a_place_that_is_left_with_its_delivery_has_nothing_for_the_next() {
    explore("left with its delivery", || {
        let places = Places::new();
        let first = places.table.register().unwrap();
        let id = first.id;
        let delivers = {
            let places = places.clone();
            // The second one is a reply too many.
            thread::spawn(move || [1, 2].map(|content| places.table.deliver(id, content)))
        };
        let taken = first.slot.end_with_content();
        match taken {
            Some(content) => {
                assert_eq!(content, 1);
                places.table.give_back(id);
            }
            None => places.leave(&first),
        }
        let second = places.table.register().unwrap();
        assert_ne!(second.id, id);
        assert_eq!(second.slot.poll(), None);
        let [delivered, _] = delivers.join().unwrap();
        assert!(delivered || taken.is_none());
        assert_eq!(second.slot.poll(), None);
        assert!(places.table.deliver(second.id, 3));
        assert_eq!(second.slot.end_with_content(), Some(3));
        places.table.give_back(second.id);
        assert!(places.table.is_idle());
    });
}

#[test]
fn one_that_sleeps_is_woken_by_its_reply_or_by_its_turn() {
    explore("woken", || {
        let places = Places::new();
        let place = places.table.register().unwrap();
        let id = place.id;
        place.slot.will_wait();
        let threads = [
            {
                let places = places.clone();
                thread::spawn(move || assert!(places.table.deliver(id, 7)))
            },
            {
                let places = places.clone();
                thread::spawn(move || {
                    let _promoted = places.table.promote_one();
                })
            },
        ];
        loop {
            match place.slot.sleep(Deadline::NEVER) {
                Woken::Delivered(content) => {
                    assert_eq!(content, 7);
                    break;
                }
                Woken::Promoted => place.slot.will_wait(),
                Woken::TimedOut => unreachable!("no deadline"),
            }
        }
        for thread in threads {
            thread.join().unwrap();
        }
        places.leave(&place);
    });
}
