//! Settings of the log service.

use std::path::PathBuf;
use std::time::Duration;

use punctual_host::Problem;
use punctual_host::access::{Rules, check_principal};
use punctual_host::settings::{BIND_NAME, COMPACT, Key, NAMING, PROCESS, Setting, Values, listen};

use crate::limits::Limits;
use crate::service::{LogService, OpenError};

/// Setting for the endpoints at which the log service listens.
pub const LISTEN: Key<Vec<String>> = listen().required();

const STORE: Key<Option<PathBuf>> = Key::path("store")
    .required()
    .doc("The file that logs and their records are kept in; it is created if it does not exist.");
const ALLOW: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO create, change and destroy logs, write and delete records, and no others: an address, a network such as \
         10.0.0.0/8, `local` (Unix sockets, shared memory), `cert:NAME` (a name in a TLS certificate) or `any`. May be \
         given more than once. Without it, every client that reaches the server may.",
    );
const MOST_LOGS: Key<u64> = Key::number("most-logs", 0..=100_000)
    .default("1000")
    .doc("Maximum number of logs; beyond, creating or copying one raises NO_RESOURCES.");
const MOST_RECORDS: Key<u64> = Key::number("most-records", 0..=1_000_000_000)
    .default("1000000")
    .doc(
        "Maximum number of records of all logs; beyond, a log is full: one that wraps replaces its own oldest records, and \
         one that halts raises LogFull.",
    );
const MOST_BYTES: Key<u64> = Key::bytes("most-bytes", 0..=1 << 50)
    .default("1073741824")
    .doc("Maximum number of bytes of the records of all logs; beyond, a log is full.");
const RECORD_BYTES: Key<u64> = Key::bytes("record-bytes", 1..=1 << 30)
    .default("1048576")
    .doc("Maximum number of bytes of one record; a write with a larger one raises IMP_LIMIT, and writes nothing.");
const RECORD_ATTRIBUTES: Key<u64> = Key::number("record-attributes", 0..=10_000)
    .default("64")
    .doc(
        "Maximum number of attributes of one record; beyond, setting them raises InvalidAttribute, and a write IMP_LIMIT.",
    );
const REPLY_RECORDS: Key<u64> = Key::number("reply-records", 1..=1_000_000)
    .default("1000")
    .doc("Maximum number of records in one reply; the others come through an iterator.");
const REPLY_BYTES: Key<u64> = Key::bytes("reply-bytes", 1..=1 << 30)
    .default("1048576")
    .doc("Maximum number of bytes of the records in one reply, which has one record in any case.");
const MOST_ITERATORS: Key<u64> = Key::number("most-iterators", 0..=1_000_000)
    .default("1000")
    .doc("Maximum number of iterators; beyond, the one that was unused longest ends.");
const ITERATOR_IDLE: Key<Duration> = Key::time("iterator-idle")
    .default("300s")
    .doc("Time after which an unused iterator ends.");
const QUERY_STEPS: Key<u64> = Key::number("query-steps", 1..=4_000_000_000)
    .default("100000000")
    .doc(
        "Maximum number of steps that the constraint of one request takes over all records; beyond, it raises IMP_LIMIT.",
    );
const SWEEP_INTERVAL: Key<Duration> = Key::time("sweep-interval").default("10s").doc(
    "Interval at which records whose life has ended are removed from the file, and unused iterators end. Clients do not see \
     such records from the end of their life on.",
);

/// Returns all settings of the log service, in the order of `--help`.
#[must_use]
pub fn settings() -> Vec<&'static Setting> {
    [OWN, PROCESS].concat()
}

/// Settings of the log service's own.
const OWN: &[&Setting] = &[
    &LISTEN.setting,
    &STORE.setting,
    &ALLOW.setting,
    &MOST_LOGS.setting,
    &MOST_RECORDS.setting,
    &MOST_BYTES.setting,
    &RECORD_BYTES.setting,
    &RECORD_ATTRIBUTES.setting,
    &REPLY_RECORDS.setting,
    &REPLY_BYTES.setting,
    &MOST_ITERATORS.setting,
    &ITERATOR_IDLE.setting,
    &QUERY_STEPS.setting,
    &SWEEP_INTERVAL.setting,
    &COMPACT.setting,
    &BIND_NAME.setting,
    &NAMING.setting,
];

const ON_STORES: &str = "name a file that `punctual log serve` made, and that no server has open";

/// Opens the log service that settings describe.
///
/// # Errors
/// The store cannot be opened.
pub fn open(values: &Values) -> Result<LogService, Problem> {
    let path = values.get(&STORE).unwrap_or_default();
    let bad = |error: OpenError| Problem::new(format!("{}: {error}", path.display()), ON_STORES);
    let service = LogService::open(&path).map_err(bad)?;
    if values.get(&COMPACT) {
        service.compact().map_err(bad)?;
    }
    service.set_limits(limits(values));
    service.set_writers(Rules::of(&values.get(&ALLOW))?);
    Ok(service)
}

fn limits(values: &Values) -> Limits {
    Limits {
        logs: values.count(&MOST_LOGS),
        records: values.get(&MOST_RECORDS),
        bytes: values.get(&MOST_BYTES),
        record_bytes: values.count(&RECORD_BYTES),
        attributes: values.count(&RECORD_ATTRIBUTES),
        reply_records: values.count(&REPLY_RECORDS),
        reply_bytes: values.count(&REPLY_BYTES),
        iterators: values.count(&MOST_ITERATORS),
        iterator_idle: values.get(&ITERATOR_IDLE),
        steps: u32::try_from(values.get(&QUERY_STEPS)).unwrap_or(u32::MAX),
        sweep: values.get(&SWEEP_INTERVAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_setting_the_limits_are_as_they_are_in_code() {
        let text = "listen = \"iiop://:0\"\nstore = \"logs\"";
        let values = Values::from_toml(&settings(), "log.toml", text).unwrap();
        assert_eq!(limits(&values), Limits::default());
    }
}
