//! Members that begin later, come back, or are the last.

use crate::support::{Groups, until};

#[test]
fn a_member_that_begins_later_takes_the_state_and_all_that_follows() {
    let groups = Groups::new();
    let first = groups.member("a");
    let ledger = groups.ledger();
    for number in 1..=25 {
        assert_eq!(ledger.enter(&format!("line {number}")).unwrap(), number);
    }
    let second = groups.member("b");
    assert_eq!(second.book.lines(), first.book.lines());
    assert_eq!(
        *second.book.entered.lock(),
        0,
        "no request reached it twice"
    );
    assert_eq!(groups.ledger_at("b").enter("after").unwrap(), 26);
    until(|| first.book.lines().len() == 26);
    // A member that comes back begins with an empty servant.
    second.end();
    assert_eq!(ledger.enter("while it was away").unwrap(), 27);
    let second = groups.member("b");
    until(|| second.book.lines().len() == 27);
    assert_eq!(second.book.lines(), first.book.lines());
}

#[test]
fn a_group_whose_members_have_all_ended_comes_back_with_all_requests() {
    let groups = Groups::new();
    let first = groups.member("a");
    let ledger = groups.ledger();
    // The last state is stored after twenty.
    for number in 1..=25 {
        assert_eq!(ledger.enter(&format!("line {number}")).unwrap(), number);
    }
    let lines = first.book.lines();
    first.end();
    let first = groups.member("a");
    until(|| first.book.lines().len() == 25);
    assert_eq!(first.book.lines(), lines);
    assert_eq!(groups.ledger().enter("on").unwrap(), 26);
}

#[test]
fn a_member_that_lacks_what_follows_the_state_waits_for_one_that_has_it() {
    let groups = Groups::new();
    let first = groups.member("a");
    let ledger = groups.ledger();
    for number in 1..=5 {
        assert_eq!(ledger.enter(&format!("line {number}")).unwrap(), number);
    }
    first.end();
    // It has none of the five requests, and the stored state has none either.
    let late = groups.begin("late", |_| {});
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(!late.active.is_active());
    assert!(groups.reference_of("late").is_none(), "it is no member yet");
    let first = groups.member("a");
    until(|| late.active.is_active());
    assert_eq!(late.book.lines(), first.book.lines());
    assert_eq!(late.book.lines().len(), 5);
}

#[test]
fn the_log_forgets_what_a_stored_state_has() {
    let groups = Groups::new();
    let _members = ["a", "b"].map(|location| groups.member(location));
    let ledger = groups.ledger();
    for number in 1..=100 {
        assert_eq!(ledger.enter(&format!("line {number}")).unwrap(), number);
    }
    // All but those after the last state, and what says that it is stored.
    until(|| groups.log.status().unwrap().events < 15);
}
