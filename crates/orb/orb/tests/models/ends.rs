//! Model of the end of a connection: if it is broken off, all callers are notified; if it is
//! retired, the last caller closes it.

use crate::explore;
use crate::wire::{Answers, Connection, Content, Unanswered};
use punctual_exec::Deadline;
use punctual_models::loom::sync::Arc;
use punctual_models::loom::thread;

fn spawn(
    connection: &Arc<Connection>,
    act: impl FnOnce(&Connection) + Send + 'static,
) -> thread::JoinHandle<()> {
    let connection = connection.clone();
    thread::spawn(move || act(&connection))
}

fn join(threads: impl IntoIterator<Item = thread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Makes a call that the server does not answer, and checks that it fails because the connection is
/// broken off.
fn break_off(connection: &Connection) {
    assert_eq!(connection.call(Deadline::NEVER), Err(Unanswered::Broken));
}

fn may_be_broken_off(connection: &Connection) {
    if let Err(reason) = connection.call(Deadline::NEVER) {
        assert_eq!(reason, Unanswered::Broken);
    }
}

#[test]
fn whoever_waits_learns_that_the_connection_broke() {
    explore("broken off", || {
        let connection = Connection::new(Answers::InOrder(usize::MAX));
        let threads = [(); 2].map(|()| spawn(&connection, break_off));
        connection.break_off();
        join(threads);
    });
}

#[test]
fn a_connection_that_breaks_at_any_moment_lets_each_have_its_reply_or_the_news() {
    explore("broken off between replies", || {
        let connection = Connection::new(Answers::Reversed(2));
        let threads = [(); 2].map(|()| spawn(&connection, may_be_broken_off));
        connection.break_off();
        join(threads);
    });
}

#[test]
fn a_reply_that_was_delivered_is_not_taken_away() {
    explore("delivered first", || {
        let connection = Connection::new(Answers::InOrder(usize::MAX));
        let caller = connection.callers.register().unwrap();
        let id = caller.place.id;
        let breaks = spawn(&connection, Connection::break_off);
        let arrived = connection.callers.deliver(id, Content::Reply(id));
        // Polled before and after the break: the report may be delivered first, and stays then.
        let first = caller.place.slot.poll();
        join([breaks]);
        let expected = match arrived {
            true => Content::Reply(id),
            false => Content::Broken,
        };
        assert_eq!(first, Some(expected));
        connection.leave(&caller);
    });
}

#[test]
fn a_caller_that_gives_up_leaves_its_place_to_others_when_its_reply_has_come() {
    explore("given up", || {
        let connection = Connection::new(Answers::InOrder(usize::MAX));
        let caller = connection.callers.register().unwrap();
        let id = caller.place.id;
        let delivers = spawn(&connection, move |one| {
            one.callers.deliver(id, Content::Reply(id));
        });
        caller.abandon();
        connection.leave(&caller);
        join([delivers]);
        assert_eq!(connection.callers.owed(), 0);
        assert!(connection.callers.is_idle());
        // The same place is used again.
        let next = connection.callers.register().unwrap();
        assert_ne!(next.place.id, id);
        assert!(!connection.callers.deliver(id, Content::Reply(id)));
        connection.leave(&next);
    });
}

#[test]
fn of_the_last_caller_and_whoever_retires_the_connection_one_closes_it() {
    explore("retired", || {
        let connection = Connection::new(Answers::InOrder(1));
        let calls = spawn(&connection, |one| one.call(Deadline::NEVER).unwrap());
        connection.retire();
        join([calls]);
        assert!(connection.retirements() > 0, "nobody has closed it");
    });
}

#[test]
fn a_retired_connection_stays_open_for_the_calls_that_are_left() {
    explore("retired with two left", || {
        let connection = Connection::new(Answers::InOrder(2));
        // Both are registered before: neither may find it closed.
        let (first, second) = (
            connection.callers.register().unwrap(),
            connection.callers.register().unwrap(),
        );
        connection.send(first.place.id);
        connection.send(second.place.id);
        let retires = spawn(&connection, Connection::retire);
        let expected = Content::Reply(first.place.id);
        assert_eq!(connection.wait(&first, Deadline::NEVER), Ok(expected));
        connection.leave(&first);
        let expected = Content::Reply(second.place.id);
        assert_eq!(connection.wait(&second, Deadline::NEVER), Ok(expected));
        assert_eq!(connection.retirements(), 0);
        connection.leave(&second);
        join([retires]);
        assert!(connection.retirements() > 0, "nobody has closed it");
    });
}
