//! Members that are processes: this test program, started again for one test.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;

use punctual::poa::servant_of;
use punctual::{Interface, ObjectRef, RootPoa};
use punctual_groups_requests::{LoggedMember, LoggedOptions};
use rustix::process::{Pid, Signal, kill_process};

use crate::idl::Register;
use crate::members::options;
use crate::support::{Counter, SHORT, Served, tolerant, until};

/// Variables of the environment that say what a member does.
const MANAGER: &str = "MEMBER_MANAGER";
const GROUP: &str = "MEMBER_GROUP";
const NAME: &str = "MEMBER_NAME";
const FILE: &str = "MEMBER_FILE";
const DIES_AT: &str = "MEMBER_DIES_AT";
const CHECKPOINT_AFTER: &str = "MEMBER_CHECKPOINT_AFTER";

/// Process of a member, which is killed when this is dropped.
pub(crate) struct Process(Child);

impl Process {
    /// Starts a member with a short lease, and waits until it has joined. It ends when it runs the request that leads to the sum
    /// `dies_at`.
    pub(crate) fn start(
        served: &Served,
        group: &ObjectRef,
        name: &str,
        (dies_at, checkpoint_after): (i32, usize),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        let text = |object: &ObjectRef| served.client.object_to_string(object).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "process::process_of_a_member", "--nocapture"])
            .env(MANAGER, text(served.replication.as_object()))
            .env(GROUP, text(group))
            .env(NAME, name)
            .env(FILE, &file)
            .env(DIES_AT, dies_at.to_string())
            .env(CHECKPOINT_AFTER, checkpoint_after.to_string())
            .stdin(Stdio::null());
        let process = Self(command.spawn().unwrap());
        until(|| file.exists());
        process
    }

    pub(crate) fn kill(&self) {
        let pid = i32::try_from(self.0.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
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

#[test]
fn process_of_a_member() {
    let Ok(manager) = std::env::var(MANAGER) else {
        return;
    };
    let variable = |name: &str| std::env::var(name).unwrap();
    let orb = tolerant();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let counter = Counter::named(&variable(NAME));
    let dies_at = variable(DIES_AT).parse().unwrap();
    counter.dies_at.store(dies_at, Ordering::SeqCst);
    let member = LoggedMember::begin(
        &orb.string_to_object(&manager).unwrap(),
        &orb.string_to_object(&variable(GROUP)).unwrap(),
        &variable(NAME),
        &poa,
        servant_of::<Register, _>(counter),
        LoggedOptions {
            lease: SHORT,
            checkpoint_after: variable(CHECKPOINT_AFTER).parse().unwrap(),
            ..options()
        },
    )
    .unwrap();
    until(|| member.has_joined());
    std::fs::write(PathBuf::from(variable(FILE)), "").unwrap();
    orb.run();
}
