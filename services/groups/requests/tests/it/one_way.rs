//! Requests without a reply.

use punctual::dynamic::Request;

use crate::members::{Member, logged};
use crate::process::Process;
use crate::support::{Served, add_at_last, register, until};

#[test]
fn a_one_way_request_is_logged_and_the_next_primary_runs_it_once() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let first = Member::join(&served, &group, "a");
    until(|| served.primary(id).as_deref() == Some("a"));
    let client = register(&served.reference(&group));
    assert_eq!(client.add().unwrap(), 1);
    let one_way = || Request::new(&client, "add").send_oneway().unwrap();
    for sum in 2..=4 {
        one_way();
        until(|| first.counter.value_now() == sum);
    }
    // What has been run is in the log.
    assert_eq!(logged(&served, id), 3);
    let second = Member::join(&served, &group, "b");
    first.leave();
    until(|| served.primary(id).as_deref() == Some("b"));
    assert_eq!(second.counter.value_now(), 4);
    assert_eq!(add_at_last(&client), 5);
}

#[test]
fn a_one_way_request_whose_member_ends_while_it_runs_was_stored_before_and_is_run_by_the_next() {
    // With a checkpoint before each request, and without.
    for checkpoint_after in [0, 100] {
        let served = Served::new();
        let (group, id) = served.group("warm-passive", "");
        let mut first = Process::start(&served, &group, "a", (3, checkpoint_after));
        until(|| served.primary(id).as_deref() == Some("a"));
        let second = Member::join(&served, &group, "b");
        let client = register(&served.reference(&group));
        assert_eq!((client.add().unwrap(), client.add().unwrap()), (1, 2));
        Request::new(&client, "add").send_oneway().unwrap();
        until(|| first.has_ended());
        until(|| served.primary(id).as_deref() == Some("b"));
        assert_eq!(second.counter.value_now(), 3);
        assert_eq!(add_at_last(&client), 4);
    }
}
