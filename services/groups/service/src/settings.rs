//! Settings of the service.

use std::path::{Path, PathBuf};
use std::time::Duration;

use punctual_etcd::settings::{ADVICE, check_endpoint, client};
use punctual_host::Problem;
use punctual_host::access::check_principal;
use punctual_host::settings::{BIND_NAME, COMPACT, Key, NAMING, PROCESS, Setting, Values, listen};

use crate::access::Access;
use crate::limits::Limits;
use crate::service::{GroupService, OpenError};
use crate::shared::EtcdOptions;

/// Setting for the endpoints at which the service listens.
pub const LISTEN: Key<Vec<String>> = listen().required();

const STORE: Key<Option<PathBuf>> = Key::path("store").doc(
    "The file that groups, members and states are kept in, so that they are there after a restart; it is created if it does not \
     exist. Without it, they are lost when the service ends.",
);
const ENDPOINTS: Key<Vec<String>> = Key::list("etcd", check_endpoint)
    .value_name("HOST:PORT")
    .requires(&["store"])
    .doc(
        "Keep groups in an etcd cluster, which several servers share, of which one serves at a time: its members as host:port. May \
         be given more than once. `store` is this server's copy then.",
    );
const PREFIX: Key<Option<String>> = Key::text("etcd-prefix")
    .value_name("PREFIX")
    .default("/punctual/groups")
    .requires(&["etcd"])
    .doc("Prefix of the keys in etcd. Servers with the same prefix share their groups.");
const TAKE_OVER: Key<Duration> = Key::time("etcd-take-over")
    .default("5s")
    .requires(&["etcd"])
    .doc(
        "Time after which another server takes over from one that does not renew its right to serve, in whole seconds from 1 s on. \
         It is renewed after each third of this time.",
    );
const ALLOW: Key<Vec<String>> = Key::list("allow", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO make and change groups, and no others: `owner` (Unix sockets, from processes of the same user or of root), \
         `local` (Unix sockets, shared memory), an address, a network such as 10.0.0.0/8, `cert:NAME` (a name in a TLS \
         certificate) or `any`. May be given more than once. Without it, all may.",
    );
const ALLOW_MEMBERS: Key<Vec<String>> = Key::list("allow-members", check_principal)
    .value_name("WHO")
    .doc(
        "Let WHO join groups, renew leases, store states and report loads, and no others but those of `allow`; as for `allow`. \
         Without it, those of `allow` may.",
    );
const CHECK_INTERVAL: Key<Duration> = Key::time("check-interval").default("2s").doc(
    "Time between two questions to each member without a lease, whether it exists. One that fails to answer twice is dead until \
     it answers again: clients are not led to it, and a primary loses its part.",
);
const MONITOR_INTERVAL: Key<Duration> = Key::time("monitor-interval")
    .default("5s")
    .doc("Time between two questions to each load monitor.");
const SHORTEST_LEASE: Key<Duration> = Key::time("shortest-lease").default("30ms").doc(
    "Shortest lease that a member may have; a third of it passes between two renewals, each a request to this service.",
);
const CALL_TIME: Key<Duration> = Key::time("call-time").default("1s").doc(
    "How long a member may take to give or take a state, and how long factories, strategies, monitors, alerts and consumers of \
     faults may take. A strategy that takes longer is not asked for five times as long, and members have their turns.",
);
const WAIT_TIME: Key<Duration> = Key::time("wait-time").default("10s").doc(
    "How long a request waits for the next primary of a passive group. Then its client gets TIMEOUT.",
);
const MOST_GROUPS: Key<u64> = Key::number("most-groups", 0..=1_000_000)
    .default("10000")
    .doc("Maximum number of groups; beyond, IMP_LIMIT is raised.");
const MOST_MEMBERS: Key<u64> = Key::number("most-members", 1..=100_000)
    .default("256")
    .doc("Maximum number of members of a group; beyond, IMP_LIMIT is raised, or Refused.");
const MOST_ALL_MEMBERS: Key<u64> = Key::number("most-all-members", 1..=10_000_000)
    .default("100000")
    .doc("Maximum number of members of all groups; beyond, IMP_LIMIT is raised, or Refused.");
const MOST_PROPERTIES: Key<u64> = Key::number("most-properties", 0..=10_000)
    .default("32")
    .doc("Maximum number of properties of a group or a type; beyond, IMP_LIMIT is raised.");
const MOST_PROPERTY_BYTES: Key<u64> = Key::bytes("most-property-bytes", 0..=1_u64 << 30)
    .default("65536")
    .doc("Maximum length of the properties of a group or a type; beyond, IMP_LIMIT is raised.");
const MOST_LOCATIONS: Key<u64> = Key::number("most-locations", 0..=10_000_000)
    .default("10000")
    .doc("Maximum number of locations with loads, with monitors and with alerts; beyond, IMP_LIMIT is raised.");
const MOST_STATE_BYTES: Key<u64> = Key::bytes("most-state-bytes", 0..=1_u64 << 30)
    .default("1048576")
    .doc("Maximum length of the stored state of a group; beyond, Refused is raised.");
const MOST_UPDATES: Key<u64> = Key::number("most-updates", 0..=65_535)
    .default("1000")
    .doc(
        "Maximum number of updates of a group since its stored state; beyond, its primary stores its whole state. The next primary \
         gets them one after the other.",
    );
const MOST_UPDATE_BYTES: Key<u64> = Key::bytes("most-update-bytes", 0..=1_u64 << 30)
    .default("1048576")
    .doc("Maximum length of the updates of a group since its stored state; beyond, its primary stores its whole state.");
const MOST_ALL_STATE_BYTES: Key<u64> = Key::bytes("most-all-state-bytes", 0..=1_u64 << 40)
    .default("268435456")
    .doc("Maximum length of the stored states and updates of all groups, which are in memory, too; beyond, Refused is raised.");
const MOST_CONSUMERS: Key<u64> = Key::number("most-consumers", 0..=100_000)
    .default("256")
    .doc("Maximum number of consumers of faults, each with a queue of up to 1,000; beyond, IMP_LIMIT is raised.");
const MOST_WAITING: Key<u64> = Key::number("most-waiting", 0..=1_000_000)
    .default("1000")
    .doc(
        "Maximum number of requests that wait for the next primary of one group; beyond, clients get TRANSIENT. \
         `limits.pending_replies` of the ORB bounds those for all groups.",
    );

/// Returns all settings of the service, in the order of `--help`.
#[must_use]
pub fn settings() -> Vec<&'static Setting> {
    [OWN, PROCESS].concat()
}

/// Settings of the service's own.
const OWN: &[&Setting] = &[
    &LISTEN.setting,
    &STORE.setting,
    &ENDPOINTS.setting,
    &PREFIX.setting,
    &punctual_etcd::settings::TIMEOUT.setting,
    &TAKE_OVER.setting,
    &punctual_etcd::settings::TRUSTED.setting,
    &punctual_etcd::settings::CERTIFICATE.setting,
    &punctual_etcd::settings::KEY.setting,
    &punctual_etcd::settings::USER.setting,
    &punctual_etcd::settings::PASSWORD_FILE.setting,
    &ALLOW.setting,
    &ALLOW_MEMBERS.setting,
    &CHECK_INTERVAL.setting,
    &MONITOR_INTERVAL.setting,
    &SHORTEST_LEASE.setting,
    &CALL_TIME.setting,
    &WAIT_TIME.setting,
    &MOST_GROUPS.setting,
    &MOST_MEMBERS.setting,
    &MOST_ALL_MEMBERS.setting,
    &MOST_PROPERTIES.setting,
    &MOST_PROPERTY_BYTES.setting,
    &MOST_LOCATIONS.setting,
    &MOST_STATE_BYTES.setting,
    &MOST_UPDATES.setting,
    &MOST_UPDATE_BYTES.setting,
    &MOST_ALL_STATE_BYTES.setting,
    &MOST_CONSUMERS.setting,
    &MOST_WAITING.setting,
    &COMPACT.setting,
    &BIND_NAME.setting,
    &NAMING.setting,
];

const ON_STORES: &str = "name a file that `punctual group serve` made, and that no server has open";

/// Opens the service that settings describe.
///
/// # Errors
/// The store cannot be opened.
pub fn open(values: &Values) -> Result<GroupService, Problem> {
    let service = stored(values)?;
    service.set_limits(limits(values));
    service.set_check_interval(values.get(&CHECK_INTERVAL));
    let (allow, members) = (values.get(&ALLOW), values.get(&ALLOW_MEMBERS));
    service.set_access(Access::of(&allow, &members)?);
    Ok(service)
}

fn limits(values: &Values) -> Limits {
    Limits {
        groups: values.count(&MOST_GROUPS),
        members: values.count(&MOST_MEMBERS),
        all_members: values.count(&MOST_ALL_MEMBERS),
        properties: values.count(&MOST_PROPERTIES),
        property_bytes: values.count(&MOST_PROPERTY_BYTES),
        locations: values.count(&MOST_LOCATIONS),
        state_bytes: values.count(&MOST_STATE_BYTES),
        updates: values.count(&MOST_UPDATES),
        update_bytes: values.count(&MOST_UPDATE_BYTES),
        all_state_bytes: values.count(&MOST_ALL_STATE_BYTES),
        consumers: values.count(&MOST_CONSUMERS),
        waiting: values.count(&MOST_WAITING),
        wait: values.get(&WAIT_TIME),
        call: values.get(&CALL_TIME),
        shortest_lease: values.get(&SHORTEST_LEASE),
        monitor_interval: values.get(&MONITOR_INTERVAL),
        ..Limits::default()
    }
}

fn stored(values: &Values) -> Result<GroupService, Problem> {
    let Some(path) = values.get(&STORE) else {
        return Ok(GroupService::in_memory());
    };
    if let Some(client) = client(values, &ENDPOINTS)? {
        let options = EtcdOptions {
            client,
            prefix: values.get(&PREFIX).unwrap_or_default(),
            lease: values.get(&TAKE_OVER),
        };
        let service = GroupService::in_etcd(&path, &options);
        return service.map_err(|error| Problem::new(error, ADVICE));
    }
    let bad = |error: OpenError| bad(&path, &error);
    let service = GroupService::open(&path).map_err(bad)?;
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
        let text = "listen = \"iiop://:0\"";
        let values = Values::from_toml(&settings(), "group.toml", text).unwrap();
        assert_eq!(limits(&values), Limits::default());
    }
}
