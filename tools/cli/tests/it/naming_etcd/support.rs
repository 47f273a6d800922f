//! Naming servers that use etcd, and a host whose connection can be cut.

use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) use super::etcd::Etcd;
pub(crate) use crate::support::Process;
use crate::support::serve;
use punctual::{Interface, ObjectRef, OperationError, Orb, SystemExceptionKind};
use punctual_naming::cos_naming::{NameComponent, NamingContext, NamingContextUnbindError};

/// A naming server that uses etcd, and its root context.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) root: NamingContext,
}

impl Server {
    pub(crate) fn start(orb: &Orb, etcd: &Etcd, options: &[&str]) -> Self {
        Self::start_at(orb, &etcd.at, options)
    }

    /// Starts a naming server that calls these members of etcd.
    pub(crate) fn start_at(orb: &Orb, members: &str, options: &[&str]) -> Self {
        let mut command = serve(&["--etcd", members]);
        // On a busy machine etcd may take longer than a server waits for it by default.
        for [option, time] in [["--etcd-timeout", "60s"], ["--etcd-staleness", "60s"]] {
            if !options.contains(&option) {
                command.args([option, time]);
            }
        }
        command.args(options).stderr(Stdio::inherit());
        Self::started(orb, command)
    }

    /// Starts a naming server by a command that prints the root context's reference.
    pub(crate) fn started(orb: &Orb, mut command: Command) -> Self {
        command.stdout(Stdio::piped());
        let mut process = Process(command.spawn().unwrap());
        let root = orb.string_to_object(&process.reference()).unwrap();
        let root = NamingContext::from_object(root);
        Self { process, root }
    }

    /// Returns the names in the root, once the server knows all acknowledged changes.
    pub(crate) fn listed(&self) -> Vec<String> {
        // A refusal is given only after all acknowledged changes are known.
        let missing = patiently(|| self.root.unbind(&name("nothing is bound so")));
        assert!(
            matches!(missing, Err(NamingContextUnbindError::NotFound(_))),
            "{missing:?}"
        );
        let (listed, _) = patiently(|| self.root.list(1000)).unwrap();
        listed
            .iter()
            .map(|one| one.binding_name[0].id.clone())
            .collect()
    }
}

/// Repeats a call while it raises TRANSIENT: on a busy machine etcd may take longer than a server
/// with a short time-out waits for it.
pub(crate) fn patiently<T, E: OperationError>(call: impl Fn() -> Result<T, E>) -> Result<T, E> {
    loop {
        match call() {
            Err(error) if is_transient(&error) => std::thread::sleep(Duration::from_millis(1)),
            ended => return ended,
        }
    }
}

pub(crate) fn is_transient(error: &impl OperationError) -> bool {
    error.system().map(|raised| raised.kind()) == Some(SystemExceptionKind::Transient)
}

pub(crate) fn name(id: &str) -> [NameComponent; 1] {
    [NameComponent {
        id: id.to_owned(),
        kind: String::new(),
    }]
}

pub(crate) fn object(orb: &Orb, number: usize) -> ObjectRef {
    orb.string_to_object(&format!("corbaloc::127.0.0.1:1/{number}"))
        .unwrap()
}

/// Network namespace that acts as another host, with a cable to this one; removed when dropped.
pub(crate) struct Host(pub(crate) String);

pub(crate) const HERE: &str = "198.18.78.1";

impl Host {
    pub(crate) fn new() -> Result<Self, String> {
        let host = Self(format!("pct-n{}", std::process::id()));
        ip(&format!("netns add {}", host.0))?;
        let name = &host.0;
        for command in [
            format!("link add pctn0 type veth peer name pctn1 netns {name}"),
            format!("address add {HERE}/30 dev pctn0"),
            "link set pctn0 up".to_owned(),
            format!("-n {name} address add 198.18.78.2/30 dev pctn1"),
            format!("-n {name} link set pctn1 up"),
        ] {
            ip(&command)?;
        }
        Ok(host)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = ip("link del pctn0");
        let _ = ip(&format!("netns del {}", self.0));
    }
}

pub(crate) fn ip(arguments: &str) -> Result<(), String> {
    let done = Command::new("ip").args(arguments.split(' ')).output();
    let done = done.map_err(|error| format!("ip: {error}"))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}
