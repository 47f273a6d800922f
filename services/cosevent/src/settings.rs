//! Settings of the event service.

use std::path::{Path, PathBuf};
use std::time::Duration;

use punctual_events::names::NamesToBind;
use punctual_host::Problem;
use punctual_host::access::{Rules, check_principal};
use punctual_host::settings::{BIND_NAME, COMPACT, Key, NAMING, PROCESS, Setting, Values, listen};

use crate::limits::{Discard, Limits, Pulling};
use crate::service::{EventService, OpenError};
use crate::typed::EventInterfaces;

/// Setting for the endpoints at which the event service listens.
pub const LISTEN: Key<Vec<String>> = listen().required();

const STORE: Key<Option<PathBuf>> = Key::path("store").doc(
    "The file that channels and connections are kept in, so that they are there after a restart; it is created if it does \
     not exist. Events are not kept. Without it, all of them end with the server.",
);
const ALLOW: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO supply events, and create and destroy channels, and no others: an address, a network such as 10.0.0.0/8, \
         `local` (Unix sockets, shared memory), `cert:NAME` (a name in a TLS certificate) or `any`. May be given more \
         than once. Without it, every client that reaches the server may.",
    );
const BIND_FACTORY: Key<Option<String>> = Key::text("bind-factory").value_name("NAME").doc(
    "Keep this name bound to the factory of channels in a Naming Service; programs of omniEvents look for \
     EventChannelFactory.",
);
const BIND_CHANNELS: Key<Option<String>> = Key::text("bind-channels").value_name("NAME").doc(
    "Keep each channel that is created with a name bound by it in this naming context, while the channel exists.",
);
const IDL: Key<Vec<PathBuf>> = Key::paths("idl").doc(
    "An IDL file with interfaces whose operations are events of the typed channel, which is then at \
     corbaloc:iiop:HOST:PORT/TypedEventChannel. May be given more than once.",
);
const INCLUDE: Key<Vec<PathBuf>> = Key::paths("include")
    .value_name("DIR")
    .requires(&["idl"])
    .doc("Search this folder for files that the IDL includes. May be given more than once.");
const IFR: Key<Option<String>> = Key::text("ifr").value_name("REFERENCE").doc(
    "An Interface Repository that describes interfaces of typed events, an IOR: or corbaloc: text, asked once for each \
     interface that is not in the IDL. Without it, the ORB's initial reference InterfaceRepository, if it has one.",
);
const MOST_CHANNELS: Key<u64> = Key::number("most-channels", 0..=10_000)
    .default("100")
    .doc("Maximum number of channels that clients create; beyond, it raises NO_RESOURCES.");
const MOST_PROXIES: Key<u64> = Key::number("most-proxies", 0..=1_000_000)
    .default("10000")
    .doc("Maximum number of proxies of one channel; beyond, obtaining one raises NO_RESOURCES.");
const QUEUE_EVENTS: Key<u64> = Key::number("queue-events", 1..=1_000_000)
    .default("1023")
    .doc(
        "Maximum number of events in the queue of one consumer; channels can be created with less.",
    );
const QUEUE_BYTES: Key<u64> = Key::bytes("queue-bytes", 1..=1 << 40)
    .default("16777216")
    .doc(
        "Maximum number of bytes of the events in the queue of one consumer. The consumers of a channel share the memory of \
         an event.",
    );
const DISCARD: Key<String> = Key::one_of("discard", &["oldest", "newest"])
    .default("oldest")
    .doc("Events that a full queue gives up: its oldest ones, or the new one. They are counted.");
const EVENT_BYTES: Key<u64> = Key::bytes("event-bytes", 1..=1 << 30)
    .default("1048576")
    .doc("Maximum number of bytes of one event and its type; beyond, `push` raises IMP_LIMIT.");
const WAITING_PULLS: Key<u64> = Key::number("waiting-pulls", 0..=10_000)
    .default("16")
    .doc(
        "Maximum number of calls of `pull`, and of each `pull_` operation of typed events, that wait at one proxy; \
         beyond, they raise TRANSIENT.",
    );
const PULL_INTERVAL: Key<Duration> = Key::time("pull-interval").default("1s").doc(
    "Interval at which a supplier that had no event is asked again; channels can be created with another one.",
);
const PULL_BY: Key<String> = Key::one_of("pull-by", &["try_pull", "pull"])
    .default("try_pull")
    .doc(
        "Operation by which suppliers are pulled from: `try_pull`, again after --pull-interval when there was no event; \
         `pull`, which suppliers answer when they have one, so that it comes at once. It is for suppliers that wait: \
         those of omniEvents raise TRANSIENT instead, which counts as a failure.",
    );
const CALL_TIMEOUT: Key<Duration> = Key::time("call-timeout").default("5s").doc(
    "Time limit of each call to a consumer or a supplier. An event whose push takes longer is lost for that consumer, and \
     counted.",
);
const MOST_FAILURES: Key<u64> = Key::number("most-failures", 1..=1_000_000)
    .default("4")
    .doc("Number of calls that fail in succession until a consumer or supplier is disconnected.");
const CONNECT_WITHIN: Key<Duration> = Key::time("connect-within")
    .default("60s")
    .doc("Time after which a proxy that was obtained and not connected is removed.");
const CHECK_INTERVAL: Key<Option<Duration>> =
    Key::time_or_never("check-interval").default("60s").doc(
        "Interval at which connected consumers and suppliers are asked whether they exist; 0 never asks. Those that do not \
         are disconnected, so that a server that is gone occupies nothing.",
    );
const IDLE: Key<Option<Duration>> = Key::time_or_never("idle").default("86400s").doc(
    "Time after which a proxy is removed whose peer is nil, so that it cannot be asked, and does not call; 0 keeps it.",
);
const MOST_THREADS: Key<u64> = Key::number("most-threads", 1..=10_000).default("64").doc(
    "Maximum number of threads that push to consumers, of those that pull from suppliers, and of those that ask whether \
     peers exist. More than four start only while peers keep them waiting.",
);

/// Returns all settings of the event service, in the order of `--help`.
#[must_use]
pub fn settings() -> Vec<&'static Setting> {
    [OWN, PROCESS].concat()
}

/// Settings of the event service's own.
const OWN: &[&Setting] = &[
    &LISTEN.setting,
    &STORE.setting,
    &ALLOW.setting,
    &IDL.setting,
    &INCLUDE.setting,
    &IFR.setting,
    &MOST_CHANNELS.setting,
    &MOST_PROXIES.setting,
    &QUEUE_EVENTS.setting,
    &QUEUE_BYTES.setting,
    &DISCARD.setting,
    &EVENT_BYTES.setting,
    &WAITING_PULLS.setting,
    &PULL_INTERVAL.setting,
    &PULL_BY.setting,
    &CALL_TIMEOUT.setting,
    &MOST_FAILURES.setting,
    &CONNECT_WITHIN.setting,
    &CHECK_INTERVAL.setting,
    &IDLE.setting,
    &MOST_THREADS.setting,
    &COMPACT.setting,
    &BIND_NAME.setting,
    &BIND_FACTORY.setting,
    &BIND_CHANNELS.setting,
    &NAMING.setting,
];

const ON_STORES: &str =
    "name a file that `punctual events cos serve` made, and that no server has open";

const ON_IDL: &str =
    "name IDL that compiles with --idl, and the folders of its includes with --include";

/// Opens the event service that settings describe.
///
/// # Errors
/// The store cannot be opened; IDL does not compile.
pub fn open(values: &Values) -> Result<EventService, Problem> {
    let service = stored(values)?;
    service.set_limits(limits(values));
    service.set_writers(Rules::of(&values.get(&ALLOW))?);
    service.set_names(NamesToBind {
        naming: values.get(&NAMING),
        factory: values.get(&BIND_FACTORY),
        channels: values.get(&BIND_CHANNELS),
    });
    service.set_interfaces(interfaces(values)?);
    Ok(service)
}

fn interfaces(values: &Values) -> Result<EventInterfaces, Problem> {
    let mut interfaces = EventInterfaces {
        repository: values.get(&IFR),
        ..EventInterfaces::default()
    };
    for file in values.get(&IDL) {
        let added = interfaces.add_idl(&file, &values.get(&INCLUDE));
        added.map_err(|messages| {
            let message = format!("{} does not compile:\n{messages}", file.display());
            Problem::new(message, ON_IDL)
        })?;
    }
    Ok(interfaces)
}

fn limits(values: &Values) -> Limits {
    Limits {
        channels: values.count(&MOST_CHANNELS),
        proxies: values.count(&MOST_PROXIES),
        queue_events: values.count(&QUEUE_EVENTS),
        queue_bytes: values.count(&QUEUE_BYTES),
        discard: match values.get(&DISCARD).as_str() {
            "newest" => Discard::Newest,
            _ => Discard::Oldest,
        },
        event_bytes: values.count(&EVENT_BYTES),
        waiting_pulls: values.count(&WAITING_PULLS),
        pull_interval: values.get(&PULL_INTERVAL),
        pulling: match values.get(&PULL_BY).as_str() {
            "pull" => Pulling::Wait,
            _ => Pulling::Try,
        },
        call_timeout: values.get(&CALL_TIMEOUT),
        failures: u32::try_from(values.get(&MOST_FAILURES)).unwrap_or(u32::MAX),
        connect_within: values.get(&CONNECT_WITHIN),
        check: values.get(&CHECK_INTERVAL),
        idle: values.get(&IDLE),
        threads: values.count(&MOST_THREADS),
    }
}

fn stored(values: &Values) -> Result<EventService, Problem> {
    let Some(path) = values.get(&STORE) else {
        return Ok(EventService::in_memory());
    };
    let bad = |error: OpenError| bad(&path, &error);
    let service = EventService::open(&path).map_err(bad)?;
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
    fn without_a_setting_the_limits_are_as_they_are_in_code() {
        let text = "listen = \"iiop://:0\"";
        let values = Values::from_toml(&settings(), "cosevent.toml", text).unwrap();
        assert_eq!(limits(&values), Limits::default());
    }
}
