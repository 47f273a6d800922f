//! A service of groups, members whose servant is a ledger, and their log.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use punctual::fault_tolerance::{FaultTolerance, RequestDurationPolicy};
use punctual::poa::servant_of;
use punctual::policy::Collocation;
use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, RootPoa, SetOverride, SystemException,
    SystemExceptionKind,
};
use punctual_durable::{EventLog, EventStore, FileOptions, FileStore, LogSettings};
use punctual_groups_active::{ActiveMember, ActiveOptions};
use punctual_groups_client::ft::{
    CheckpointableGetStateError, CheckpointableServant, CheckpointableSetStateError, InvalidState,
    PullMonitorableServant, State,
};
use punctual_groups_service::GroupService;
use punctual_groups_service::punctual_managers::Replication;
use punctual_host::Service;
use punctual_jetstream::{JetStreamOptions, JetStreamStore};
use punctual_naming_client::from_text;
use tempfile::TempDir;

use crate::idl::ledger::Refused;
use crate::idl::{Ledger, LedgerEnterError, LedgerServant};

/// Lease of members that are to outlast a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// Time for which calls are repeated, as long as members keep replies.
const REPEATED: Duration = Duration::from_secs(60);

/// Type of the members' group.
pub(crate) const TYPE: &str = "IDL:Ledger:1.0";

/// A service with one active group, until this is dropped.
pub(crate) struct Groups {
    _folder: TempDir,
    pub(crate) service: Arc<GroupService>,
    orb: Orb,
    /// ORB of clients, which repeats their calls.
    pub(crate) client: Orb,
    pub(crate) manager: Replication,
    pub(crate) group: ObjectRef,
    pub(crate) log: Arc<dyn EventLog>,
}

impl Groups {
    /// Serves a group whose log lies in a file.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = log_in(&folder.path().join("log.redb"));
        Self::with_log(folder, log)
    }

    pub(crate) fn with_log(folder: TempDir, log: Arc<dyn EventLog>) -> Self {
        let builder = Orb::builder().configure(|config| {
            config.collocation = Collocation::None;
            config.listen = vec![ListenEndpoint::iiop("127.0.0.1", 0)];
        });
        let orb = builder.build().unwrap();
        let poa = orb.root_poa().unwrap();
        let service = Arc::new(GroupService::in_memory());
        let object = Service::serve(&*service, &poa).unwrap();
        poa.manager().activate().unwrap();
        let client = tolerant();
        let text = orb.object_to_string(&object).unwrap();
        let manager = Replication::from_object(client.string_to_object(&text).unwrap());
        let (group, _) = manager.create_group(TYPE, "active", "").unwrap();
        Self {
            _folder: folder,
            service,
            orb,
            client,
            manager,
            group: group.unwrap(),
            log,
        }
    }

    /// Begins a member with an empty ledger, and waits until it serves.
    pub(crate) fn member(&self, location: &str) -> Member {
        let member = self.begin(location, |_| {});
        self.wait_for(location, &member);
        member
    }

    /// Waits until a member serves.
    pub(crate) fn wait_for(&self, location: &str, member: &Member) {
        until(|| member.active.is_active());
        until(|| self.reference_of(location).is_some());
    }

    /// Begins a member with other options.
    pub(crate) fn begin(&self, location: &str, change: impl FnOnce(&mut ActiveOptions)) -> Member {
        let orb = tolerant();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let book = Arc::new(Book::default());
        let here = |object: &ObjectRef| {
            let text = self.client.object_to_string(object).unwrap();
            orb.string_to_object(&text).unwrap()
        };
        let mut options = ActiveOptions {
            lease: LONG,
            store_after: 10,
            reached_within: LONG,
            patience: LONG,
            ..ActiveOptions::default()
        };
        change(&mut options);
        let active = ActiveMember::begin(
            &Replication::from_object(here(self.manager.as_object())),
            &here(&self.group),
            location,
            self.log.clone(),
            &poa,
            servant_of::<Ledger, _>(book.clone()),
            options,
        );
        Member {
            active: active.unwrap(),
            book,
            orb,
        }
    }

    /// Returns the group as its clients have it, whose calls are repeated.
    pub(crate) fn ledger(&self) -> Ledger {
        self.ledger_of(&self.client)
    }

    /// Returns the group as clients of an ORB have it, whose calls are repeated.
    pub(crate) fn ledger_of(&self, client: &Orb) -> Ledger {
        let current = self.manager.get_object_group_ref(Some(&self.group));
        let text = self.client.object_to_string(&current.unwrap().unwrap());
        let object = client.string_to_object(&text.unwrap()).unwrap();
        let duration = RequestDurationPolicy::policy(REPEATED);
        let object = object.set_policy_overrides(&[duration], SetOverride::Add);
        Ledger::from_object(object.unwrap())
    }

    /// Returns one member, if it has joined.
    pub(crate) fn reference_of(&self, location: &str) -> Option<ObjectRef> {
        let location = from_text(location).unwrap();
        let found = self.manager.get_member_ref(Some(&self.group), &location);
        found.ok().flatten()
    }

    /// Returns one member.
    pub(crate) fn ledger_at(&self, location: &str) -> Ledger {
        Ledger::from_object(self.reference_of(location).unwrap())
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.client.shutdown(true);
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

/// Member with an ORB of its own.
pub(crate) struct Member {
    pub(crate) active: ActiveMember,
    pub(crate) book: Arc<Book>,
    pub(crate) orb: Orb,
}

impl Member {
    /// Ends the member.
    pub(crate) fn end(self) {
        let Self { active, orb, .. } = self;
        drop(active);
        let _ = orb.shutdown(true);
    }
}

/// Opens the log of a group in a file.
pub(crate) fn log_in(path: &Path) -> Arc<dyn EventLog> {
    log_with(path, LogSettings::default())
}

/// Opens the log of a group in a file with other settings.
pub(crate) fn log_with(path: &Path, settings: LogSettings) -> Arc<dyn EventLog> {
    let store = FileStore::open(path, FileOptions::default()).unwrap();
    let name = "ledger".parse().unwrap();
    store.open_log(&name, settings).unwrap()
}

/// Opens the log of a group on a NATS server, by a connection of its own.
pub(crate) fn log_on(url: &str) -> Arc<dyn EventLog> {
    let options = JetStreamOptions {
        // A process that was killed holds its entries for so long, and live ones get theirs again and again.
        acknowledge_wait: Duration::from_secs(1),
        ..JetStreamOptions::new([url])
    };
    let store = JetStreamStore::open(options).unwrap();
    let name = "ledger".parse().unwrap();
    store.open_log(&name, LogSettings::default()).unwrap()
}

/// Returns an ORB that repeats calls to groups, and keeps replies for its members.
pub(crate) fn tolerant() -> Orb {
    let builder = Orb::builder().configure(|config| {
        config.collocation = Collocation::None;
        config.listen = vec![ListenEndpoint::iiop("127.0.0.1", 0)];
    });
    FaultTolerance::extend(builder).unwrap().build().unwrap()
}

/// Lines in the order in which they were entered.
#[derive(Default)]
pub(crate) struct Book {
    lines: Mutex<Vec<String>>,
    /// Number of times that a line was to be entered.
    pub(crate) entered: Mutex<u32>,
    /// Line at which the process ends.
    last: Option<String>,
}

impl Book {
    pub(crate) fn ending_at(line: &str) -> Self {
        Self {
            last: Some(line.to_owned()),
            ..Self::default()
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().clone()
    }
}

impl LedgerServant for Book {
    fn enter(&self, line: &str) -> Result<i32, LedgerEnterError> {
        if self.last.as_deref() == Some(line) {
            std::process::abort();
        }
        *self.entered.lock() += 1;
        let mut lines = self.lines.lock();
        match line {
            "" => Err(Refused {
                why: "empty".to_owned(),
            }
            .into()),
            "impossible" => Err(SystemExceptionKind::NoImplement
                .because("impossible")
                .into()),
            line => {
                lines.push(line.to_owned());
                Ok(i32::try_from(lines.len()).unwrap())
            }
        }
    }

    fn note(&self, line: &str) -> Result<(), SystemException> {
        self.lines.lock().push(line.to_owned());
        Ok(())
    }

    fn entered(&self) -> Result<Vec<String>, SystemException> {
        Ok(self.lines())
    }
}

impl CheckpointableServant for Book {
    fn get_state(&self) -> Result<State, CheckpointableGetStateError> {
        Ok(self.lines.lock().join("\n").into_bytes())
    }

    fn set_state(&self, s: &[u8]) -> Result<(), CheckpointableSetStateError> {
        let text = std::str::from_utf8(s).map_err(|_| InvalidState)?;
        *self.lines.lock() = text
            .split('\n')
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        Ok(())
    }
}

impl PullMonitorableServant for Book {
    fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(true)
    }
}

/// Waits for a condition.
pub(crate) fn until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        thread::sleep(Duration::from_millis(2));
    }
}
