//! Settings of the notification service.

#[cfg(feature = "jetstream")]
mod jetstream;

use std::path::PathBuf;
use std::time::Duration;

use punctual_host::Problem;
use punctual_host::access::{Rules, check_principal};
use punctual_host::settings::{BIND_NAME, COMPACT, Key, NAMING, PROCESS, Setting, Values, listen};

use crate::limits::Limits;
use crate::service::{NotificationService, OpenError};

/// Setting for the endpoints at which the notification service listens.
pub const LISTEN: Key<Vec<String>> = listen().required();

const STORE: Key<Option<PathBuf>> = Key::path("store").doc(
    "The file that filters are kept in, and the channels, administrators and connections whose ConnectionReliability is \
     Persistent, so that they are there after a restart, with the events of channels whose EventReliability is Persistent; it is \
     created if it does not exist. Without it, all end with the server, and asking for Persistent raises UnsupportedQoS.",
);
const ALLOW: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO supply events, and create and destroy channels, and no others: an address, a network such as 10.0.0.0/8, \
         `local` (Unix sockets, shared memory), `cert:NAME` (a name in a TLS certificate) or `any`. May be given more \
         than once. Without it, every client that reaches the server may.",
    );
const MOST_CHANNELS: Key<u64> = Key::number("most-channels", 1..=10_000)
    .default("100")
    .doc("Maximum number of channels; beyond, creating one raises IMP_LIMIT.");
const MOST_ADMINS: Key<u64> = Key::number("most-admins", 0..=1_000_000)
    .default("1000")
    .doc("Maximum number of administrators of one channel besides the default ones, for consumers and for suppliers each.");
const MOST_PROXIES: Key<u64> = Key::number("most-proxies", 0..=1_000_000)
    .default("10000")
    .doc("Maximum number of proxies of one channel, for consumers and for suppliers each; beyond, obtaining one raises IMP_LIMIT. A channel's MaxConsumers and MaxSuppliers may be less.");
const QUEUE_EVENTS: Key<u64> = Key::number("queue-events", 1..=1_000_000)
    .default("10000")
    .doc(
        "Maximum number of events in the queue of one consumer; MaxEventsPerConsumer may be less.",
    );
const QUEUE_BYTES: Key<u64> = Key::bytes("queue-bytes", 1..=1 << 40)
    .default("16777216")
    .doc(
        "Maximum number of bytes of the events in the queue of one consumer. The consumers of a channel share the memory of \
         an event.",
    );
const LOG_EVENTS: Key<u64> = Key::number("log-events", 1..=1_000_000_000)
    .default("10000000")
    .doc(
        "Maximum number of persistent events of one channel that consumers have yet to take; beyond, pushing one raises \
         IMP_LIMIT.",
    );
const LOG_BYTES: Key<u64> = Key::bytes("log-bytes", 1..=1 << 40)
    .default("1073741824")
    .doc("Maximum number of bytes of these events. JetStream reserves them when a channel is created.");
const EVENT_BYTES: Key<u64> = Key::bytes("event-bytes", 1..=1 << 30)
    .default("1048576")
    .doc(
        "Maximum number of bytes of one event and its types; beyond, pushing it raises IMP_LIMIT.",
    );
const MOST_BATCH: Key<u64> = Key::number("most-batch", 1..=1_000_000)
    .default("1000")
    .doc("Maximum number of events in one sequence; MaximumBatchSize may be less.");
const MOST_TYPES: Key<u64> = Key::number("most-types", 1..=1_000_000)
    .default("1000")
    .doc("Maximum number of event types that one client offers or subscribes to, and of one constraint.");
const MOST_FILTERS: Key<u64> = Key::number("most-filters", 0..=1_000_000)
    .default("10000")
    .doc("Maximum number of filters of the service, and of those attached to one object.");
const MOST_CONSTRAINTS: Key<u64> = Key::number("most-constraints", 0..=1_000_000)
    .default("1000")
    .doc("Maximum number of constraints of one filter.");
const CONSTRAINT_BYTES: Key<u64> = Key::bytes("constraint-bytes", 0..=1 << 40)
    .default("16777216")
    .doc(
        "Maximum number of bytes of the constraints of all filters: texts, types and values; beyond, adding one raises IMP_LIMIT. \
         Compiled, a text takes several times as much memory.",
    );
const FOREIGN_FILTERS: Key<String> = Key::one_of("foreign-filters", &["refuse", "allow"])
    .default("refuse")
    .doc(
        "Whether filters that are objects of other servers may be attached. With `allow`, every client may have the server send \
         the events of a channel to the place that it names, and events wait for the answer. With `refuse`, attaching one raises \
         NO_IMPLEMENT; those that a store has kept are not asked, and let nothing through.",
    );
const MOST_FOREIGN: Key<u64> = Key::number("most-foreign-filters", 0..=1_000_000)
    .default("100")
    .doc("Maximum number of foreign filters of the service. Each is asked one event at a time, so that as many calls are under way at most.");
const FOREIGN_PER_OBJECT: Key<u64> = Key::number("foreign-filters-per-object", 0..=1_000)
    .default("4")
    .doc("Maximum number of foreign filters of one administrator or proxy, besides its mapping filters.");
const FILTER_TIMEOUT: Key<Duration> = Key::time("filter-timeout").default("1s").doc(
    "Time limit of each call to a foreign filter. After a call without an answer, events count as not matched without a call for \
     `retry`, and after each further one for twice as long, up to `longest-retry`.",
);
const WAITING_PULLS: Key<u64> = Key::number("waiting-pulls", 0..=10_000)
    .default("16")
    .doc("Maximum number of calls of `pull` that wait at one proxy; beyond, they raise TRANSIENT.");
const PULL_INTERVAL: Key<Duration> = Key::time("pull-interval")
    .default("1s")
    .doc("Interval at which a supplier that had no event is asked again.");
const CALL_TIMEOUT: Key<Duration> = Key::time("call-timeout").default("5s").doc(
    "Time limit of each call to a consumer or a supplier. An event whose push takes longer may have arrived; it is not \
     pushed again, and counted as undelivered.",
);
const RETRY: Key<Duration> = Key::time("retry").default("100ms").doc(
    "Time after which a consumer or supplier that could not be reached is called again; each further time is twice as \
     long.",
);
const LONGEST_RETRY: Key<Duration> = Key::time("longest-retry")
    .default("30s")
    .doc("Longest time after which it is called again.");
const GIVE_UP: Key<Option<Duration>> = Key::time_or_never("give-up").default("86400s").doc(
    "Time after which a consumer or supplier is disconnected to which no call has succeeded meanwhile; 0 never gives up. \
     One whose object does not exist is disconnected at once.",
);
const CONNECT_WITHIN: Key<Duration> = Key::time("connect-within")
    .default("3600s")
    .doc("Time after which a proxy that was obtained and not connected is removed.");
const CHECK_INTERVAL: Key<Option<Duration>> =
    Key::time_or_never("check-interval").default("60s").doc(
        "Interval at which connected consumers and suppliers are asked whether they exist; 0 never asks.",
    );
const IDLE: Key<Option<Duration>> = Key::time_or_never("idle").default("86400s").doc(
    "Time after which a proxy is removed whose peer is nil, so that it cannot be asked, and does not call, and a filter that \
     is attached to nothing and not called; 0 keeps them.",
);
const ALLOW_RECONNECT: Key<bool> = Key::flag("allow-reconnect").doc(
    "Let a client connect a proxy that is connected, in place of the client before, which is called no more: for clients that \
     keep their proxies' ids and come back with other references. Without it, connecting such a proxy raises AlreadyConnected.",
);
const MOST_THREADS: Key<u64> = Key::number("most-threads", 1..=10_000).default("16").doc(
    "Maximum number of threads that begin calls to consumers and suppliers, and of those that ask whether they exist. None \
     waits for the reply to a push or a pull.",
);

/// Returns all settings of the notification service, in the order of `--help`.
#[must_use]
pub fn settings() -> Vec<&'static Setting> {
    [OWN, PROCESS].concat()
}

/// Settings of the notification service's own.
const OWN: &[&Setting] = &[
    &LISTEN.setting,
    &STORE.setting,
    &ALLOW.setting,
    &MOST_CHANNELS.setting,
    &MOST_ADMINS.setting,
    &MOST_PROXIES.setting,
    &QUEUE_EVENTS.setting,
    &QUEUE_BYTES.setting,
    &LOG_EVENTS.setting,
    &LOG_BYTES.setting,
    &EVENT_BYTES.setting,
    &MOST_BATCH.setting,
    &MOST_TYPES.setting,
    &MOST_FILTERS.setting,
    &MOST_CONSTRAINTS.setting,
    &CONSTRAINT_BYTES.setting,
    &FOREIGN_FILTERS.setting,
    &MOST_FOREIGN.setting,
    &FOREIGN_PER_OBJECT.setting,
    &FILTER_TIMEOUT.setting,
    &WAITING_PULLS.setting,
    &PULL_INTERVAL.setting,
    &CALL_TIMEOUT.setting,
    &RETRY.setting,
    &LONGEST_RETRY.setting,
    &GIVE_UP.setting,
    &CONNECT_WITHIN.setting,
    &CHECK_INTERVAL.setting,
    &IDLE.setting,
    &ALLOW_RECONNECT.setting,
    &MOST_THREADS.setting,
    #[cfg(feature = "jetstream")]
    &jetstream::SERVERS.setting,
    #[cfg(feature = "jetstream")]
    &jetstream::REPLICAS.setting,
    #[cfg(feature = "jetstream")]
    &jetstream::PREFIX.setting,
    #[cfg(feature = "jetstream")]
    &jetstream::CREDENTIALS.setting,
    #[cfg(feature = "jetstream")]
    &jetstream::TRUSTED.setting,
    #[cfg(feature = "jetstream")]
    &jetstream::CLUSTER.setting,
    #[cfg(feature = "jetstream")]
    &jetstream::FROM_STORE.setting,
    #[cfg(feature = "jetstream")]
    &jetstream::LEASE.setting,
    &COMPACT.setting,
    &BIND_NAME.setting,
    &NAMING.setting,
];

const ON_STORES: &str =
    "name a file that `punctual notify serve` made, and that no server has open";

/// Opens the notification service that settings describe.
///
/// # Errors
/// The store cannot be opened; a grant is wrong.
pub fn open(values: &Values) -> Result<NotificationService, Problem> {
    let service = stored(values)?;
    service.set_limits(limits(values));
    service.set_writers(Rules::of(&values.get(&ALLOW))?);
    Ok(service)
}

fn stored(values: &Values) -> Result<NotificationService, Problem> {
    let Some(path) = values.get(&STORE) else {
        return Ok(NotificationService::in_memory());
    };
    let on_file = || {
        let bad =
            |error: OpenError| Problem::new(format!("{}: {error}", path.display()), ON_STORES);
        let service = NotificationService::open(&path).map_err(bad)?;
        if values.get(&COMPACT) {
            service.compact().map_err(bad)?;
        }
        Ok(service)
    };
    #[cfg(feature = "jetstream")]
    return jetstream::opened(values, &path, ON_STORES, on_file);
    #[cfg(not(feature = "jetstream"))]
    on_file()
}

fn limits(values: &Values) -> Limits {
    Limits {
        channels: values.count(&MOST_CHANNELS),
        admins: values.count(&MOST_ADMINS),
        proxies: values.count(&MOST_PROXIES),
        queue_events: values.count(&QUEUE_EVENTS),
        queue_bytes: values.count(&QUEUE_BYTES),
        log_events: values.count(&LOG_EVENTS),
        log_bytes: values.count(&LOG_BYTES),
        event_bytes: values.count(&EVENT_BYTES),
        batch: values.count(&MOST_BATCH),
        types: values.count(&MOST_TYPES),
        filters: values.count(&MOST_FILTERS),
        constraints: values.count(&MOST_CONSTRAINTS),
        constraint_bytes: values.count(&CONSTRAINT_BYTES),
        foreign_filters: values.get(&FOREIGN_FILTERS) == "allow",
        most_foreign: values.count(&MOST_FOREIGN),
        foreign_per_object: values.count(&FOREIGN_PER_OBJECT),
        filter_timeout: values.get(&FILTER_TIMEOUT),
        waiting_pulls: values.count(&WAITING_PULLS),
        pull_interval: values.get(&PULL_INTERVAL),
        call_timeout: values.get(&CALL_TIMEOUT),
        retry: values.get(&RETRY),
        longest_retry: values.get(&LONGEST_RETRY),
        give_up: values.get(&GIVE_UP),
        connect_within: values.get(&CONNECT_WITHIN),
        check: values.get(&CHECK_INTERVAL),
        idle: values.get(&IDLE),
        reconnect: values.get(&ALLOW_RECONNECT),
        threads: values.count(&MOST_THREADS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_setting_the_limits_are_as_they_are_in_code() {
        let text = "listen = \"iiop://:0\"";
        let values = Values::from_toml(&settings(), "notification.toml", text).unwrap();
        assert_eq!(limits(&values), Limits::default());
    }
}
