//! Members on a log that JetStream keeps. Skipped where there is no `nats-server` (in the path, or named by
//! `PUNCTUAL_NATS_SERVER`).

use std::collections::BTreeSet;

use crate::nats::Nats;
use crate::support::{Groups, log_on, until};

#[test]
fn members_share_a_log_on_jetstream() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let mut groups = Groups::with_log(tempfile::tempdir().unwrap(), log_on(&nats.url));
    let first = groups.member("a");
    // A connection of its own.
    groups.log = log_on(&nats.url);
    let second = groups.member("b");
    for number in 1..=30 {
        let at = ["a", "b"][number % 2];
        groups
            .ledger_at(at)
            .enter(&format!("line {number}"))
            .unwrap();
    }
    until(|| {
        [&first, &second]
            .iter()
            .all(|one| one.book.lines().len() == 30)
    });
    assert_eq!(first.book.lines(), second.book.lines());
    first.end();
    assert_eq!(groups.ledger().enter("on").unwrap(), 31);
    let first = groups.member("a");
    until(|| first.book.lines().len() == 31);
    assert_eq!(first.book.lines(), second.book.lines());
}

#[test]
fn a_burst_of_more_entries_than_a_reader_may_have_open_reaches_all_members() {
    const BURST: usize = 3_000;
    let Some(nats) = Nats::start() else {
        return;
    };
    let mut groups = Groups::with_log(tempfile::tempdir().unwrap(), log_on(&nats.url));
    let first = groups.member("a");
    groups.log = log_on(&nats.url);
    let second = groups.member("b");
    let ledger = groups.ledger_at("b");
    for number in 0..BURST {
        ledger.note(&format!("line {number}")).unwrap();
    }
    for member in [&first, &second] {
        until(|| member.book.lines().len() == BURST);
        // Under load a server may begin one-ways of a client in another order.
        let lines: BTreeSet<String> = member.book.lines().into_iter().collect();
        assert_eq!(lines.len(), BURST, "each was run once");
        assert_eq!(member.book.lines(), first.book.lines());
    }
    // A member that was away for longer than the window begins, too.
    second.end();
    let ledger = groups.ledger_at("a");
    for number in 0..BURST {
        ledger.note(&format!("later {number}")).unwrap();
    }
    let second = groups.member("b");
    for member in [&first, &second] {
        until(|| member.book.lines().len() == 2 * BURST);
    }
    assert_eq!(first.book.lines(), second.book.lines());
}
