//! Requests whose replies are lost with their member run once: members are processes, which end while a request runs. Skipped
//! where there is no `nats-server`, as a log in a file is one process's own.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use punctual::poa::servant_of;
use punctual::{CompletionStatus, Interface, RootPoa, SystemExceptionKind};
use punctual_groups_active::{ActiveMember, ActiveOptions};
use punctual_groups_service::punctual_managers::Replication;

use crate::idl::{Ledger, LedgerEnterError};
use crate::nats::Nats;
use crate::support::{Book, Groups, LONG, log_on, tolerant, until};

/// Variables of the environment that say what a member's process does.
const MANAGER: &str = "MEMBER_MANAGER";
const GROUP: &str = "MEMBER_GROUP";
const LOCATION: &str = "MEMBER_LOCATION";
const LOG: &str = "MEMBER_LOG";
const LAST: &str = "MEMBER_LAST";
const LEASE: &str = "MEMBER_LEASE";

/// Process of a member, which is killed when this is dropped.
pub(crate) struct Process(Child);

impl Process {
    /// Starts a member that ends when it runs the request to enter a line.
    fn start(groups: &Groups, nats: &Nats, location: &str, last: &str) -> Self {
        Self::begin(groups, nats, location, (last, LONG))
    }

    /// Starts a member with a lease.
    pub(crate) fn with_lease(
        groups: &Groups,
        nats: &Nats,
        location: &str,
        lease: Duration,
    ) -> Self {
        Self::begin(groups, nats, location, ("never", lease))
    }

    fn begin(
        groups: &Groups,
        nats: &Nats,
        location: &str,
        (last, lease): (&str, Duration),
    ) -> Self {
        let text = |object: &_| groups.client.object_to_string(object).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "repeats::process_of_a_member", "--nocapture"])
            .env(MANAGER, text(groups.manager.as_object()))
            .env(GROUP, text(&groups.group))
            .env(LOCATION, location)
            .env(LOG, &nats.url)
            .env(LAST, last)
            .env(LEASE, lease.as_millis().to_string())
            .stdin(Stdio::null());
        let process = Self(command.spawn().unwrap());
        until(|| groups.reference_of(location).is_some());
        process
    }

    /// Sends the process a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let process = self.0.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &process]).status();
        assert!(sent.unwrap().success());
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a member, in a process that another test has started for it.
#[test]
fn process_of_a_member() {
    let Ok(manager) = std::env::var(MANAGER) else {
        return;
    };
    let set = |name| std::env::var(name).unwrap();
    let orb = tolerant();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let object = |text: &str| orb.string_to_object(text).unwrap();
    let book = Arc::new(Book::ending_at(&set(LAST)));
    let options = ActiveOptions {
        lease: Duration::from_millis(set(LEASE).parse().unwrap()),
        patience: LONG,
        ..ActiveOptions::default()
    };
    let member = ActiveMember::begin(
        &Replication::from_object(object(&manager)),
        &object(&set(GROUP)),
        &set(LOCATION),
        log_on(&set(LOG)),
        &poa,
        servant_of::<Ledger, _>(book),
        options,
    )
    .unwrap();
    until(|| member.failure().is_some());
}

#[test]
fn a_request_whose_member_ends_is_repeated_at_another_one_and_runs_once() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let groups = Groups::with_log(tempfile::tempdir().unwrap(), log_on(&nats.url));
    // The first member of the reference, which clients call first.
    let mut first = Process::start(&groups, &nats, "a", "once");
    let second = groups.member("b");
    let ledger = groups.ledger();
    assert_eq!(ledger.enter("before").unwrap(), 1);
    // Its process ends after the request came into the log, and before the client has its answer.
    assert_eq!(ledger.enter("once").unwrap(), 2);
    until(|| first.has_ended());
    assert_eq!(ledger.enter("after").unwrap(), 3);
    assert_eq!(second.book.lines(), ["before", "once", "after"]);
    assert_eq!(
        *second.book.entered.lock(),
        3,
        "no repeat has reached the servant"
    );
    // Another process at the same place has it once, too.
    let _again = Process::start(&groups, &nats, "a", "never");
    until(|| groups.ledger_at("a").enter("on").is_ok());
    assert_eq!(
        groups.ledger_at("a").entered().unwrap(),
        ["before", "once", "after", "on"]
    );
    until(|| second.book.lines().len() == 4);
}

#[test]
fn one_client_does_not_use_up_the_room_for_replies_of_all() {
    let groups = Groups::new();
    let member = groups.begin("a", |options| options.most_replies_of_client = 3);
    groups.wait_for("a", &member);
    let (ledger, other) = (groups.ledger(), tolerant());
    for number in 1..=3 {
        assert_eq!(ledger.enter("much").unwrap(), number);
    }
    let Err(LedgerEnterError::System(refused)) = ledger.enter("too much") else {
        panic!("its reply is not kept");
    };
    assert_eq!(refused.kind(), SystemExceptionKind::NoResources);
    assert_eq!(refused.completed(), CompletionStatus::No);
    assert_eq!(groups.ledger_of(&other).enter("little").unwrap(), 4);
    other.shutdown(true).unwrap();
}

#[test]
fn a_member_whose_servant_cannot_be_called_leaves_the_group() {
    let groups = Groups::new();
    let first = groups.begin("a", |options| options.reached_within = Duration::ZERO);
    groups.wait_for("a", &first);
    let second = groups.member("b");
    assert_eq!(groups.ledger_at("b").enter("one").unwrap(), 1);
    until(|| first.book.lines().len() == 1);
    // Its ORB serves no more: the log's next request does not reach its servant.
    first.orb.shutdown(true).unwrap();
    assert_eq!(groups.ledger_at("b").enter("two").unwrap(), 2);
    until(|| first.active.failure().is_some());
    assert_eq!(first.book.lines(), ["one"]);
    assert!(second.active.is_active());
}
