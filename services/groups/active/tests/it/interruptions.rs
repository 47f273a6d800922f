//! Members that are stopped, two at one location, and logs that hang or are full. What needs JetStream is skipped where there is no
//! `nats-server`.

use std::time::Duration;

use punctual::{CompletionStatus, Interface, SystemException, SystemExceptionKind as Kind};
use punctual_durable::{LogSettings, Quota};
use punctual_groups_service::Limits;

use crate::idl::{Ledger, LedgerEnterError};
use crate::nats::Nats;
use crate::repeats::Process;
use crate::support::{Groups, log_on, log_with, until};

/// Lease of members that are stopped for longer.
const SHORT: Duration = Duration::from_secs(1);

/// Returns limits with so many bytes of a state.
fn states_of(bytes: usize) -> Limits {
    let mut limits = Limits::default();
    limits.state_bytes = bytes;
    limits
}

fn raised(entered: Result<i32, LedgerEnterError>) -> Option<SystemException> {
    match entered {
        Err(LedgerEnterError::System(exception)) => Some(exception),
        Ok(_) | Err(LedgerEnterError::Refused(_)) => None,
    }
}

#[test]
fn a_member_that_was_stopped_for_longer_than_its_lease_answers_with_the_present_state() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let groups = Groups::with_log(tempfile::tempdir().unwrap(), log_on(&nats.url));
    let first = Process::with_lease(&groups, &nats, "a", SHORT);
    let stopped = groups.ledger_at("a");
    let second = groups.member("b");
    until(|| stopped.enter("before").is_ok());
    first.signal("STOP");
    until(|| groups.reference_of("a").is_none());
    let ledger = groups.ledger_at("b");
    for number in 0..30 {
        ledger.enter(&format!("meanwhile {number}")).unwrap();
    }
    first.signal("CONT");
    let lines = second.book.lines();
    assert!(lines.len() > 30);
    let mut answer = Vec::new();
    until(|| match stopped.entered() {
        Ok(lines) => {
            answer = lines;
            true
        }
        Err(_) => false,
    });
    assert_eq!(answer, lines);
    until(|| groups.reference_of("a").is_some());
}

#[test]
fn a_process_at_the_location_of_a_member_that_answers_leaves_again() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let mut groups = Groups::with_log(tempfile::tempdir().unwrap(), log_on(&nats.url));
    let first = groups.member("a");
    let ledger = groups.ledger_at("a");
    assert_eq!(ledger.enter("one").unwrap(), 1);
    // Another connection, as another process has it.
    groups.log = log_on(&nats.url);
    let second = groups.begin("a", |_| {});
    until(|| second.active.failure().is_some());
    let why = second.active.failure().unwrap();
    assert!(why.contains("the location a"), "{why}");
    for number in 2..=20 {
        assert_eq!(ledger.enter("on").unwrap(), number);
    }
    assert!(first.active.is_active(), "{:?}", first.active.failure());
    assert_eq!(first.book.lines().len(), 20);
    assert!(second.book.lines().is_empty());
}

#[test]
fn a_stopped_process_whose_place_another_one_has_taken_leaves_when_it_goes_on() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let groups = Groups::with_log(tempfile::tempdir().unwrap(), log_on(&nats.url));
    let mut first = Process::with_lease(&groups, &nats, "a", SHORT);
    let second = groups.member("b");
    until(|| groups.ledger_at("b").enter("one").is_ok());
    first.signal("STOP");
    until(|| groups.reference_of("a").is_none());
    let mut later = Process::with_lease(&groups, &nats, "a", Duration::from_secs(60));
    first.signal("CONT");
    until(|| first.has_ended());
    until(|| groups.ledger_at("a").enter("two").is_ok());
    assert_eq!(
        groups.ledger_at("a").entered().unwrap(),
        second.book.lines()
    );
    assert!(!later.has_ended());
}

#[test]
fn a_log_that_hangs_costs_clients_their_own_time_outs_and_members_nothing() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let mut groups = Groups::with_log(tempfile::tempdir().unwrap(), log_on(&nats.url));
    let first = groups.begin("a", |options| options.most_waiting_bytes = 20_000);
    groups.wait_for("a", &first);
    groups.log = log_on(&nats.url);
    let second = groups.member("b");
    let ledger = groups.ledger_at("a");
    assert_eq!(ledger.enter("one").unwrap(), 1);
    nats.freeze();
    let impatient = Ledger::from_object(ledger.as_object().with_timeout(SHORT / 2));
    let timed_out = raised(impatient.enter("two")).unwrap();
    assert_eq!(timed_out.kind(), Kind::Timeout);
    assert_eq!(timed_out.completed(), CompletionStatus::Maybe);
    // The requests that wait are bounded by their bytes, too.
    let long = "x".repeat(6_000);
    let mut refused = None;
    until(|| {
        let exception = raised(impatient.enter(&long)).unwrap();
        let is_refused = exception.kind() != Kind::Timeout;
        refused = is_refused.then_some(exception);
        is_refused
    });
    let refused = refused.unwrap();
    assert_eq!(refused.kind(), Kind::Transient);
    assert_eq!(refused.completed(), CompletionStatus::No);
    nats.thaw();
    until(|| ledger.enter("last").is_ok());
    let lines = ledger.entered().unwrap();
    assert_eq!(lines[0], "one");
    assert!(lines.iter().filter(|line| *line == "two").count() <= 1);
    // One waited to be appended, and others for that.
    assert!(lines.iter().filter(|line| **line == long).count() <= 3);
    until(|| second.book.lines().len() >= lines.len());
    assert_eq!(second.book.lines(), first.book.lines());
    for member in [&first, &second] {
        assert!(member.active.is_active(), "{:?}", member.active.failure());
    }
}

#[test]
fn a_full_log_refuses_requests_until_the_state_can_be_stored() {
    let folder = tempfile::tempdir().unwrap();
    let quota = Quota {
        events: 8,
        ..Quota::default()
    };
    let log = log_with(
        &folder.path().join("log.redb"),
        LogSettings {
            quota,
            ..LogSettings::default()
        },
    );
    let groups = Groups::with_log(folder, log);
    let member = groups.begin("a", |options| options.store_after = 1_000);
    groups.wait_for("a", &member);
    groups.service.set_limits(states_of(0));
    let ledger = groups.ledger_at("a");
    let mut entered = 0;
    let refused = loop {
        match raised(ledger.enter("line")) {
            None => entered += 1,
            Some(exception) => break exception,
        }
    };
    assert_eq!(refused.kind(), Kind::NoResources);
    assert_eq!(refused.completed(), CompletionStatus::No);
    assert!((1..=8).contains(&entered), "{entered}");
    assert_eq!(member.book.lines().len(), entered);
    assert!(member.active.is_active());
    // The primary stores the state since the log is full, although fewer entries have come than it waits for.
    groups.service.set_limits(Limits::default());
    until(|| ledger.enter("again").is_ok());
    assert_eq!(member.book.lines().len(), entered + 1);
}

#[test]
fn a_group_whose_state_is_too_long_goes_on_and_members_begin_when_there_is_room() {
    let groups = Groups::new();
    let first = groups.member("a");
    groups.service.set_limits(states_of(100));
    let ledger = groups.ledger_at("a");
    for number in 1..=30 {
        assert_eq!(ledger.enter("a line of the ledger").unwrap(), number);
    }
    let late = groups.begin("late", |_| {});
    for number in 31..=40 {
        assert_eq!(ledger.enter("a line of the ledger").unwrap(), number);
    }
    assert!(!late.active.is_active(), "it has no state");
    assert!(late.active.failure().is_none() && first.active.is_active());
    groups.service.set_limits(Limits::default());
    until(|| late.active.is_active());
    until(|| late.book.lines().len() == 40);
    assert_eq!(late.book.lines(), first.book.lines());
}
