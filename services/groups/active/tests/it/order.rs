//! All members run all requests, in one order.

use std::thread;

use punctual::config::GiopVersion;
use punctual::policy::CharCodeSet;
use punctual::{Interface, Orb, SystemExceptionKind};
use punctual_groups_client::ft::{Checkpointable, CheckpointableSetStateError};

use crate::idl::{Ledger, LedgerEnterError};
use crate::support::{Groups, until};

#[test]
fn requests_to_all_members_are_run_by_all_in_one_order() {
    const EACH: usize = 50;
    let groups = Groups::new();
    let members = ["a", "b", "c"].map(|location| (location, groups.member(location)));
    let numbers: Vec<(i32, String)> = thread::scope(|scope| {
        let clients = members.iter().map(|(location, _)| {
            let ledger = groups.ledger_at(location);
            scope.spawn(move || {
                let lines = (0..EACH).map(|number| format!("{location}{number}"));
                let entered = lines.map(|line| (ledger.enter(&line).unwrap(), line));
                entered.collect::<Vec<_>>()
            })
        });
        let clients: Vec<_> = clients.collect();
        clients
            .into_iter()
            .flat_map(|one| one.join().unwrap())
            .collect()
    });
    for (_, member) in &members {
        until(|| member.book.lines().len() == 3 * EACH);
        for (number, line) in &numbers {
            let place = usize::try_from(*number).unwrap() - 1;
            assert_eq!(
                &member.book.lines()[place],
                line,
                "its client was told this number"
            );
        }
        assert_eq!(member.book.lines(), members[0].1.book.lines());
    }
}

#[test]
fn exceptions_are_results_and_one_ways_have_their_place() {
    let groups = Groups::new();
    let members = ["a", "b"].map(|location| groups.member(location));
    let ledger = groups.ledger_at("a");
    ledger.note("first").unwrap();
    assert_eq!(ledger.enter("second").unwrap(), 2);
    let Err(LedgerEnterError::Refused(refused)) = ledger.enter("") else {
        panic!("it is empty");
    };
    assert_eq!(refused.why, "empty");
    let Err(LedgerEnterError::System(raised)) = ledger.enter("impossible") else {
        panic!("it is impossible");
    };
    assert_eq!(raised.kind(), SystemExceptionKind::NoImplement);
    assert_eq!(groups.ledger_at("b").enter("third").unwrap(), 3);
    assert_eq!(ledger.entered().unwrap(), ["first", "second", "third"]);
    for member in &members {
        until(|| member.book.lines().len() == 3);
        assert!(member.active.is_active(), "{:?}", member.active.failure());
    }
}

#[test]
fn clients_in_any_giop_version_and_code_sets_are_served_by_all() {
    let groups = Groups::new();
    let members = ["a", "b"].map(|location| groups.member(location));
    let text = groups
        .client
        .object_to_string(&groups.reference_of("a").unwrap())
        .unwrap();
    let mut number = 0;
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        for narrow in [CharCodeSet::Iso8859_1, CharCodeSet::Utf8] {
            let builder = Orb::builder().configure(|config| {
                config.giop_version = version;
                config.char_code_set = narrow;
            });
            let client = builder.build().unwrap();
            let ledger = Ledger::from_object(client.string_to_object(&text).unwrap());
            number += 1;
            assert_eq!(ledger.enter(&format!("Zürich {number}")).unwrap(), number);
            client.shutdown(true).unwrap();
        }
    }
    for member in &members {
        until(|| member.book.lines().len() == 6);
        assert_eq!(member.book.lines()[5], "Zürich 6");
    }
}

#[test]
fn clients_transfer_no_states_and_ask_whether_a_member_lives() {
    let groups = Groups::new();
    let member = groups.member("a");
    let ledger = groups.ledger_at("a");
    assert!(ledger.is_alive().unwrap());
    let states = Checkpointable::from_object(ledger.as_object().clone());
    let Err(CheckpointableSetStateError::System(refused)) = states.set_state(b"forged") else {
        panic!("a client has set the state");
    };
    assert_eq!(refused.kind(), SystemExceptionKind::NoPermission);
    assert!(states.get_state().is_err());
    assert!(member.book.lines().is_empty());
}
