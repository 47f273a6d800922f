//! Members on a log that JetStream keeps. Skipped where there is no `nats-server` (in the path, or named by
//! `PUNCTUAL_NATS_SERVER`).

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
