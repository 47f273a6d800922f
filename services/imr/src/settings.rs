//! Settings of the repository and of activators.

mod etcd;

use std::path::{Path, PathBuf};
use std::time::Duration;

use punctual_host::Problem;
use punctual_host::access::check_principal;
use punctual_host::settings::{BIND_NAME, COMPACT, Key, NAMING, PROCESS, Setting, Values, listen};

use crate::access::Access;
use crate::activator::ActivatorService;
use crate::limits::Limits;
use crate::locator::{LocatorService, OpenError};

/// Setting for the endpoints at which the repository or an activator listens.
pub const LISTEN: Key<Vec<String>> = listen().required();

const STORE: Key<Option<PathBuf>> = Key::path("store").doc(
    "The file that servers and activators are kept in, so that they are there after a restart; it is created if it does not \
     exist. Without it, they are lost when the repository ends.",
);
const ACTIVATOR: Key<Option<String>> = Key::text("activator").value_name("NAME").doc(
    "Start processes of servers here, under this activator's name. Without it, there have to be activators: \
     `punctual imr activator`.",
);
const SHELL: Key<bool> = Key::flag("shell").doc(
    "Have command lines run by /bin/sh. Without it, they are split at blanks, with quotation marks, and nothing else in them \
     has a meaning.",
);
const ALLOW: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO administer servers, whose commands are run, and register activators, and no others: `owner` (Unix sockets, from \
         processes of the same user or of root), `local` (Unix sockets, shared memory), an address, a network such as 10.0.0.0/8, \
         `cert:NAME` (a name in a TLS certificate) or `any`. May be given more than once. Without it, `owner` alone may.",
    );
const ALLOW_SERVERS: Key<Vec<String>> = Key::list("allow-servers", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO register as a server that runs, and say that it ends, and no others; as for `allow`. Without it, processes of \
         this host may: `local`, 127.0.0.0/8 and ::1.",
    );
const ALLOW_START: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO have this activator start and end processes, and no others: `owner` (Unix sockets, from processes of the same \
         user or of root), `local` (Unix sockets, shared memory), an address, a network such as 10.0.0.0/8, `cert:NAME` (a \
         name in a TLS certificate) or `any`. May be given more than once. Without it, `owner` alone may.",
    );
const ADDED_ONLY: Key<bool> = Key::flag("added-only").doc(
    "Refuse servers that were not added by an administrator (NotFound). Without it, a server that registers is known from then \
     on, without a command to start it by.",
);
const START_TIME: Key<Duration> = Key::time("start-time").default("60s").doc(
    "How long a started server may take to register. Then its clients get TRANSIENT, and its process is ended (SIGKILL).",
);
const END_TIME: Key<Duration> = Key::time("end-time").default("30s").doc(
    "How long a process that has said that it ends, or answers no longer, may take to end before another one is started beside it. \
     Meanwhile clients wait.",
);
const PING_TIME: Key<Duration> = Key::time("ping-time").default("10s").doc(
    "How long a server may take to answer whether it lives, before a client is led to it. One that does not answer is taken for \
     slow, not for dead: the client is led to it all the same.",
);
const SETTLE_TIME: Key<Duration> = Key::time("settle-time").default("1s").doc(
    "How long a server has to live after it has registered, for its start not to count as failed.",
);
const FIRST_PAUSE: Key<Duration> = Key::time("first-pause").default("500ms").doc(
    "Time after a failed start before a client causes another one; each further failure doubles it. Meanwhile clients get \
     TRANSIENT.",
);
const LONGEST_PAUSE: Key<Duration> = Key::time("longest-pause")
    .default("60s")
    .doc("Longest time between starts for clients after many have failed.");
const MOST_SERVERS: Key<u64> = Key::number("most-servers", 0..=1_000_000)
    .default("10000")
    .doc("Maximum number of servers; beyond, IMP_LIMIT is raised.");
const MOST_ACTIVATORS: Key<u64> = Key::number("most-activators", 0..=100_000)
    .default("1000")
    .doc("Maximum number of activators; beyond, IMP_LIMIT is raised.");
const MOST_WAITING: Key<u64> = Key::number("most-waiting", 1..=1_000_000)
    .default("10000")
    .doc(
        "Maximum number of clients that wait for one server; beyond, they get TRANSIENT. `limits.pending_replies` of the ORB \
         bounds those of all servers.",
    );
const LOCATOR: Key<Option<String>> = Key::text("locator").value_name("REFERENCE").doc(
    "The repository, an IOR:, corbaloc: or file:// text. Without it, the ORB's initial reference ImplRepoService.",
);
const NAME: Key<Option<String>> = Key::text("name")
    .value_name("NAME")
    .doc("Name of the activator, which servers are added with. Without it, the name of the host.");

/// Returns all settings of the repository, in the order of `--help`.
#[must_use]
pub fn settings() -> Vec<&'static Setting> {
    [OWN, PROCESS].concat()
}

/// Returns all settings of an activator, in the order of `--help`.
#[must_use]
pub fn activator_settings() -> Vec<&'static Setting> {
    [OF_ACTIVATOR, PROCESS].concat()
}

/// Settings of the repository's own.
const OWN: &[&Setting] = &[
    &LISTEN.setting,
    &STORE.setting,
    &etcd::ENDPOINTS.setting,
    &etcd::PREFIX.setting,
    &punctual_etcd::settings::TIMEOUT.setting,
    &etcd::TAKE_OVER.setting,
    &punctual_etcd::settings::TRUSTED.setting,
    &punctual_etcd::settings::CERTIFICATE.setting,
    &punctual_etcd::settings::KEY.setting,
    &punctual_etcd::settings::USER.setting,
    &punctual_etcd::settings::PASSWORD_FILE.setting,
    &ACTIVATOR.setting,
    &SHELL.setting,
    &ALLOW.setting,
    &ALLOW_SERVERS.setting,
    &ADDED_ONLY.setting,
    &START_TIME.setting,
    &END_TIME.setting,
    &PING_TIME.setting,
    &SETTLE_TIME.setting,
    &FIRST_PAUSE.setting,
    &LONGEST_PAUSE.setting,
    &MOST_SERVERS.setting,
    &MOST_ACTIVATORS.setting,
    &MOST_WAITING.setting,
    &COMPACT.setting,
    &BIND_NAME.setting,
    &NAMING.setting,
];

/// Settings of an activator's own.
const OF_ACTIVATOR: &[&Setting] = &[
    &LISTEN.setting,
    &LOCATOR.setting,
    &NAME.setting,
    &SHELL.setting,
    &ALLOW_START.setting,
    &BIND_NAME.setting,
    &NAMING.setting,
];

const ON_STORES: &str = "name a file that `punctual imr serve` made, and that no server has open";
const ON_THREADS: &str = "the system must let this process start threads";

/// Opens the repository that settings describe.
///
/// # Errors
/// The store cannot be opened.
pub fn open(values: &Values) -> Result<LocatorService, Problem> {
    let service = stored(values)?;
    service.set_limits(limits(values));
    let (allow, servers) = (values.get(&ALLOW), values.get(&ALLOW_SERVERS));
    service.set_access(Access::of(&allow, &servers)?);
    service.set_added_only(values.get(&ADDED_ONLY));
    if let Some(name) = values.get(&ACTIVATOR) {
        let started = service.set_activator(&name, values.get(&SHELL));
        started.map_err(|error| Problem::new(error, ON_THREADS))?;
    }
    Ok(service)
}

/// Makes the activator that settings describe.
///
/// # Errors
/// Its thread cannot be started.
pub fn open_activator(values: &Values) -> Result<ActivatorService, Problem> {
    let name = values.get(&NAME).unwrap_or_else(host_name);
    let service = ActivatorService::new(&name, values.get(&LOCATOR), values.get(&SHELL));
    let service = service.map_err(|error| Problem::new(error, ON_THREADS))?;
    let access = Access::of(&values.get(&ALLOW_START), &[])?;
    service.set_allowed(access.administrators);
    Ok(service)
}

fn limits(values: &Values) -> Limits {
    Limits {
        servers: values.count(&MOST_SERVERS),
        activators: values.count(&MOST_ACTIVATORS),
        waiting: values.count(&MOST_WAITING),
        start: values.get(&START_TIME),
        end: values.get(&END_TIME),
        ping: values.get(&PING_TIME),
        settle: values.get(&SETTLE_TIME),
        first_pause: values.get(&FIRST_PAUSE),
        longest_pause: values.get(&LONGEST_PAUSE),
    }
}

fn host_name() -> String {
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    match name.is_empty() {
        true => "localhost".to_owned(),
        false => name,
    }
}

fn stored(values: &Values) -> Result<LocatorService, Problem> {
    if let Some(service) = etcd::stored(values)? {
        return Ok(service);
    }
    let Some(path) = values.get(&STORE) else {
        return Ok(LocatorService::in_memory());
    };
    let bad = |error: OpenError| bad(&path, &error);
    let service = LocatorService::open(&path).map_err(bad)?;
    if values.get(&COMPACT) {
        service.compact().map_err(bad)?;
    }
    Ok(service)
}

fn bad(path: &Path, error: &OpenError) -> Problem {
    Problem::new(format!("{}: {error}", path.display()), ON_STORES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_setting_limits_are_as_they_are_in_code() {
        let values = Values::from_toml(&settings(), "imr.toml", "listen = \"iiop://:0\"").unwrap();
        assert_eq!(limits(&values), Limits::default());
    }

    #[test]
    fn an_activator_has_the_name_of_its_host_by_default() {
        let text = "listen = \"uiop://\"";
        let values = Values::from_toml(&activator_settings(), "activator.toml", text).unwrap();
        let activator = open_activator(&values).unwrap();
        assert!(format!("{activator:?}").contains(&host_name()));
    }
}
