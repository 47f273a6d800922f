//! Tests that each store passes: [`check`] runs them on a store that a test has opened.
//!
//! Each case has logs of its own, whose names begin with the case's. A store that is shared by
//! several processes passes them as well as one in a file.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "these are tests"
)]

mod limits;
mod readers;
mod support;

use crate::contract::EventStore;

pub use support::Open;

/// Case of the suite.
#[derive(Clone, Copy)]
pub struct Case {
    /// Name, a sentence of behaviour.
    pub name: &'static str,
    run: fn(Open<'_>),
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! cases {
    ($($module:ident :: $case:ident),* $(,)?) => {
        &[$(Case { name: stringify!($case), run: $module::$case }),*]
    };
}

/// All cases.
pub const CASES: &[Case] = cases![
    readers::events_come_in_the_order_of_their_appends_with_all_they_have,
    readers::each_reader_gets_each_event_and_has_acknowledgements_of_its_own,
    readers::a_reader_gets_what_is_appended_after_it_was_added,
    readers::what_was_not_acknowledged_comes_again_in_order_when_the_reader_is_opened_again,
    readers::acknowledgements_in_any_order_survive_that_the_store_is_closed,
    readers::a_reader_says_up_to_where_it_gets_no_events,
    readers::events_that_are_given_back_come_again_first_and_marked,
    readers::a_reader_that_is_in_use_is_not_opened_twice,
    readers::a_removed_reader_holds_no_events_and_its_fetches_fail,
    readers::a_fetch_has_at_most_as_many_events_and_bytes_as_asked,
    readers::a_reader_is_woken_when_events_come,
    readers::a_fetch_waits_for_the_first_event,
    readers::appends_of_many_threads_are_all_delivered_each_thread_in_order,
    limits::an_event_whose_id_is_known_is_not_stored_again,
    limits::a_full_log_refuses_until_readers_acknowledge,
    limits::a_log_that_drops_the_oldest_keeps_the_latest,
    limits::an_event_that_has_expired_is_not_delivered,
    limits::a_log_without_readers_accepts_events_and_keeps_none,
    limits::a_removed_log_is_gone_and_a_new_one_of_its_name_is_empty,
];

/// Runs all cases.
pub fn check(open: Open<'_>) {
    for case in CASES {
        println!("case {}", case.name);
        (case.run)(open);
        remove_all(&*open());
    }
}

/// Removes all logs, which in some stores reserve the room of their quota.
fn remove_all(store: &dyn EventStore) {
    for name in store.log_names().unwrap() {
        store.remove_log(&name).unwrap();
    }
}
