//! Models of several callers of one connection: each gets its own reply, only one reads at a time,
//! and none waits for ever (loom detects that all threads sleep).

use crate::wire::{Answers, Connection, Unanswered, passed};
use crate::{explore, explore_up_to};
use punctual_exec::Deadline;
use punctual_models::loom::sync::Arc;
use punctual_models::loom::thread;

fn at_once(connection: &Arc<Connection>, acts: &[fn(&Connection)]) {
    let threads: Vec<_> = acts
        .iter()
        .map(|&act| {
            let connection = connection.clone();
            thread::spawn(move || act(&connection))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

fn calls(connection: &Connection) {
    connection.call(Deadline::NEVER).unwrap();
}

/// Makes a call whose deadline has passed already. If another caller would have to read its reply,
/// the call either gets its reply or times out.
fn calls_in_no_time(connection: &Connection) {
    if let Err(reason) = connection.call(passed()) {
        assert_eq!(reason, Unanswered::TimedOut);
    }
}

#[test]
fn two_callers_have_their_replies_in_the_order_of_their_requests() {
    explore("two callers, in order", || {
        let connection = Connection::new(Answers::InOrder(2));
        at_once(&connection, &[calls, calls]);
    });
}

#[test]
fn two_callers_have_their_replies_in_the_other_order() {
    explore("two callers, reversed", || {
        let connection = Connection::new(Answers::Reversed(2));
        at_once(&connection, &[calls, calls]);
    });
}

#[test]
fn two_callers_are_answered_one_by_one() {
    explore("two callers, at once", || {
        let connection = Connection::new(Answers::InOrder(1));
        at_once(&connection, &[calls, calls]);
    });
}

#[test]
fn three_callers_have_their_replies_in_any_order() {
    for (name, answers) in [
        ("three callers, at once", Answers::InOrder(1)),
        ("three callers, in order", Answers::InOrder(3)),
        ("three callers, reversed", Answers::Reversed(3)),
    ] {
        explore_up_to(1, name, move || {
            let connection = Connection::new(answers);
            at_once(&connection, &[calls, calls, calls]);
        });
    }
}

#[test]
fn one_that_looks_at_a_quiet_connection_reads_for_those_who_come_meanwhile() {
    explore("a look", || {
        let connection = Connection::new(Answers::InOrder(1));
        at_once(&connection, &[calls, Connection::drain]);
    });
}

#[test]
fn a_caller_whose_time_is_over_as_it_is_chosen_leaves_another_to_read() {
    // The first caller blocks until all have sent, which leaves the preemption for the one that is
    // chosen.
    explore_up_to(1, "time is over", || {
        let connection = Connection::new(Answers::InOrder(3));
        at_once(&connection, &[calls, calls_in_no_time, calls]);
    });
}

#[test]
fn the_reply_to_one_whose_time_is_over_is_read_by_the_next_and_reaches_nobody() {
    explore("late replies", || {
        let connection = Connection::new(Answers::Reversed(2));
        at_once(
            &connection,
            &[calls, |one| {
                calls_in_no_time(one);
                // The place that was given back is taken again.
                let caller = one.callers.register().unwrap();
                assert_eq!(caller.place.slot.poll(), None);
                one.leave(&caller);
            }],
        );
    });
}
