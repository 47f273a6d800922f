//! Settings that every service process has, whatever its service.

use std::path::PathBuf;
use std::time::Duration;

use super::{Key, Setting};
use crate::log::LEVELS;

/// Creates the key of the endpoints. A service with a well-known port gives it a default, others make it required.
#[must_use]
pub const fn listen() -> Key<Vec<String>> {
    Key::list("listen", any).value_name("ENDPOINT").doc(
        "Where to listen, as protocol://place, e.g. iiop://:9000. May be given more than once.",
    )
}

/// Accepts any text: the ORB checks endpoints, as it knows its protocols.
fn any(_: &str) -> Result<(), String> {
    Ok(())
}

/// Path of the file with the service's settings.
pub const SETTINGS: Key<Option<PathBuf>> = Key::path("settings").doc(
    "A TOML file with settings of this service: a key for each of these flags, with underscores. The command line \
     goes before it.",
);

/// Address at which health, readiness and metrics are served by HTTP.
pub const STATUS: Key<Option<String>> = Key::text("status").value_name("ADDRESS").doc(
    "Answer /health, /ready and /metrics (Prometheus) by HTTP at this address, as 127.0.0.1:2810, to whoever reaches it.",
);

/// Path of the file to which the service's reference is written.
pub const WRITE_REFERENCE: Key<Option<PathBuf>> =
    Key::path("write-reference").doc("Write the reference to this file, too.");

/// Path of the ORB's configuration file.
pub const CONFIG: Key<Option<PathBuf>> =
    Key::path("config").doc("A configuration file, e.g. with TLS certificates.");

/// Least severity of the log lines that are written.
pub const LOG: Key<String> = Key::one_of("log", &LEVELS)
    .value_name("LEVEL")
    .default("warn")
    .doc("Least severity of the log lines on standard error: error, warn, info or debug.");

/// Time limit for requests in progress at shutdown.
pub const STOP_DEADLINE: Key<Duration> = Key::time("stop-deadline").default("20s").doc(
    "How long requests that have begun may take after SIGTERM or SIGINT. Then the server ends without them, with status 1.",
);

/// Flag for compacting the service's store at start.
pub const COMPACT: Key<bool> = Key::flag("compact").doc(
    "Give unused pages of the store's file back before it is served, which takes time in proportion to the file.",
);

/// Name that is kept bound to the service's reference in a Naming Service.
pub const BIND_NAME: Key<Option<String>> =
    Key::text("bind-name").value_name("NAME").doc(
        "Keep this name bound to the reference in a Naming Service, as plants/repository; contexts are made if need be.",
    );

/// Naming context in which the service's name is bound.
pub const NAMING: Key<Option<String>> = Key::text("naming")
    .value_name("REFERENCE")
    .requires(&["bind-name"])
    .doc(
        "The naming context that --bind-name is in, an IOR: or corbaloc: text. Without it, the ORB's initial reference \
         NameService, or else corbaloc::localhost:2809/NameService.",
    );

/// Settings that every service has in addition to its endpoints.
pub const PROCESS: &[&Setting] = &[
    &STATUS.setting,
    &WRITE_REFERENCE.setting,
    &CONFIG.setting,
    &LOG.setting,
    &STOP_DEADLINE.setting,
    &SETTINGS.setting,
];
