//! Settings of the Naming Service.

#[cfg(feature = "etcd")]
mod etcd;

use std::path::PathBuf;
use std::time::Duration;

use punctual_host::Problem;
use punctual_host::access::parse_grant;
use punctual_host::settings::{COMPACT, Key, PROCESS, Setting, Values, listen};

use crate::access::Access;
use crate::hosted::NamingServer;
use crate::limits::Limits;
use crate::servant::ServeOptions;
use crate::service::{NamingService, OpenError};
use crate::store::{FileStore, StoreError};

/// Setting for the endpoints at which the naming service listens.
pub const LISTEN: Key<Vec<String>> = listen().default("iiop://:2809");

const STORE: Key<Option<PathBuf>> = Key::path("store")
    .default("names.redb")
    .doc("The file that bindings are kept in; it is created if it does not exist.");
const MEMORY: Key<bool> = Key::flag("memory")
    .conflicts(&["store"])
    .doc("Keep bindings in memory only: they are lost when the server ends.");
const ALLOW: Key<Vec<String>> = Key::list("allow", check_grant)
    .value_name("[CONTEXT]=WHO")
    .doc(
        "Grant of the right to change a context: CONTEXT=WHO, where WHO is an address, a network such as 10.0.0.0/8, `local` (Unix sockets, \
         shared memory), `cert:NAME` (a name in a TLS certificate) or `any`. It covers the context and all that were \
         made below it; without a CONTEXT, everything. May be given more than once.",
    );
const NO_FEDERATION: Key<bool> = Key::flag("no-federation").doc(
    "Do not resolve names through contexts of other servers: clients must do so themselves (CannotProceed).",
);
const FEDERATION_TIMEOUT: Key<Duration> = Key::time("federation-timeout")
    .default("5s")
    .doc("Time limit of a call to another server.");
const GROUP_CHECK: Key<Option<Duration>> = Key::time_or_never("group-check").default("10s").doc(
    "Interval of calls of `_non_existent` to the members of groups, which connect to the addresses in their \
     references. A member that does not answer twice in a row is skipped. 0 is never, and so is --no-federation.",
);
const GROUP_REMOVE: Key<Option<Duration>> = Key::time_or_never("group-remove")
    .default("60s")
    .doc("Time after which a dead member is removed; 0 is never.");
const GROUP_SERVICE: Key<Option<String>> = Key::text("group-service")
    .value_name("REFERENCE")
    .doc(
        "Group service that has the groups of names: the `IOR:` or `corbaloc:` text of the ReplicationManager of `punctual group \
         serve`. Members that the store has of groups move there, for good; its settings hold for them instead of --group-check, \
         --group-remove and its limits beside --most-members. All servers of the same names are to have the same one.",
    );
const MOST_MEMBERS: Key<u64> = Key::number("most-members", 0..=u64::MAX)
    .default("1000")
    .doc("Maximum number of members of a group.");
const MOST_COMPONENTS: Key<u64> = Key::number("most-components", 1..=u64::MAX)
    .default("128")
    .doc("Maximum number of components of a name.");
const MOST_COMPONENT_BYTES: Key<u64> = Key::bytes("most-component-bytes", 1..=u64::MAX)
    .default("1024")
    .doc("Maximum number of bytes of a component's id and kind together.");
const MOST_CONTEXTS: Key<u64> = Key::number("most-contexts", 0..=u64::MAX)
    .default("1000000")
    .doc("Maximum number of contexts of the service.");
const MOST_DEPTH: Key<u64> = Key::number("most-depth", 1..=u64::MAX)
    .default("1000")
    .doc("Maximum depth of contexts made in one another below the root.");
const MOST_BINDINGS: Key<u64> = Key::number("most-bindings", 0..=u64::MAX)
    .default("10000000")
    .doc("Maximum number of bindings of the service.");
const MOST_BYTES: Key<Option<u64>> = Key::optional_bytes("most-bytes", 0..=u64::MAX).doc(
    "Maximum number of bytes that all bindings and contexts take in memory: keys, references, and about 200 for each; \
     beyond, binding raises NO_RESOURCES. By default a quarter of the memory of the machine or the control group.",
);
const MOST_ITERATORS: Key<u64> = Key::number("most-iterators", 0..=u64::MAX)
    .default("1000")
    .doc("Maximum number of binding iterators that exist at a time.");
const ITERATOR_IDLE: Key<Duration> = Key::time("iterator-idle")
    .default("10min")
    .doc("Time after which an unused binding iterator is destroyed.");

/// Returns all settings of the service, in the order of `--help`.
#[must_use]
pub fn settings() -> Vec<&'static Setting> {
    [OWN, PROCESS].concat()
}

/// Settings of the naming service.
const OWN: &[&Setting] = &[
    &LISTEN.setting,
    &STORE.setting,
    &MEMORY.setting,
    #[cfg(feature = "etcd")]
    &etcd::ENDPOINTS.setting,
    #[cfg(feature = "etcd")]
    &etcd::PREFIX.setting,
    #[cfg(feature = "etcd")]
    &punctual_etcd::settings::TIMEOUT.setting,
    #[cfg(feature = "etcd")]
    &etcd::STALENESS.setting,
    #[cfg(feature = "etcd")]
    &etcd::READ_STALE.setting,
    #[cfg(feature = "etcd")]
    &punctual_etcd::settings::TRUSTED.setting,
    #[cfg(feature = "etcd")]
    &punctual_etcd::settings::CERTIFICATE.setting,
    #[cfg(feature = "etcd")]
    &punctual_etcd::settings::KEY.setting,
    #[cfg(feature = "etcd")]
    &punctual_etcd::settings::USER.setting,
    #[cfg(feature = "etcd")]
    &punctual_etcd::settings::PASSWORD_FILE.setting,
    &ALLOW.setting,
    &NO_FEDERATION.setting,
    &FEDERATION_TIMEOUT.setting,
    &GROUP_CHECK.setting,
    &GROUP_REMOVE.setting,
    &GROUP_SERVICE.setting,
    &MOST_MEMBERS.setting,
    &MOST_COMPONENTS.setting,
    &MOST_COMPONENT_BYTES.setting,
    &MOST_CONTEXTS.setting,
    &MOST_DEPTH.setting,
    &MOST_BINDINGS.setting,
    &MOST_BYTES.setting,
    &MOST_ITERATORS.setting,
    &ITERATOR_IDLE.setting,
    &COMPACT.setting,
];

fn check_grant(text: &str) -> Result<(), String> {
    parse_grant(text).map(drop)
}

const ON_STORES: &str = "--store names another file, --memory does without";
const ON_DAMAGE: &str =
    "`punctual naming import` takes the last export; --store names another file";
const ON_NAMES: &str = "see `punctual naming --help` on names";

/// Opens the service that the settings specify.
///
/// # Errors
/// The store cannot be opened; a grant's context is not a name.
pub fn open(values: &Values) -> Result<NamingServer, Problem> {
    let service = stored(values)?;
    service.set_limits(limits(values));
    service.set_access(access(values)?);
    if let Some(reference) = values.get(&GROUP_SERVICE) {
        service.keep_groups_at(reference);
    }
    let options = ServeOptions {
        federated: !values.get(&NO_FEDERATION),
        federated_timeout: values.get(&FEDERATION_TIMEOUT),
        group_check: values.get(&GROUP_CHECK),
        group_remove: values.get(&GROUP_REMOVE),
    };
    Ok(NamingServer { service, options })
}

/// Returns the file that the settings keep bindings in; `None` if they are in memory or in etcd.
#[must_use]
pub fn store_file(values: &Values) -> Option<PathBuf> {
    let is_elsewhere = values.get(&MEMORY) || values.given("etcd").is_some();
    (!is_elsewhere).then(|| values.get(&STORE).unwrap_or_default())
}

fn limits(values: &Values) -> Limits {
    let defaults = Limits::default();
    let bytes = values.get(&MOST_BYTES);
    Limits {
        name_components: values.count(&MOST_COMPONENTS),
        component_bytes: values.count(&MOST_COMPONENT_BYTES),
        contexts: values.count(&MOST_CONTEXTS),
        depth: values.count(&MOST_DEPTH),
        bindings: values.count(&MOST_BINDINGS),
        bytes: bytes.map_or(defaults.bytes, |bytes| {
            usize::try_from(bytes).unwrap_or(usize::MAX)
        }),
        members: values.count(&MOST_MEMBERS),
        iterators: values.count(&MOST_ITERATORS),
        iterator_idle: values.get(&ITERATOR_IDLE),
        ..defaults
    }
}

fn access(values: &Values) -> Result<Access, Problem> {
    let mut access = Access::default();
    for text in values.get(&ALLOW) {
        let (below, to) = parse_grant(&text).map_err(|error| Problem::new(error, ON_NAMES))?;
        access.grant(&below, to).map_err(|refusal| {
            let message = format!("--allow {below}: {refusal}");
            Problem::new(message, ON_NAMES)
        })?;
    }
    Ok(access)
}

fn stored(values: &Values) -> Result<NamingService, Problem> {
    if values.get(&MEMORY) {
        let service = NamingService::in_memory();
        return service.map_err(|error| Problem::new(error, ON_STORES));
    }
    #[cfg(feature = "etcd")]
    if let Some(service) = etcd::stored(values)? {
        return Ok(service);
    }
    let path = store_file(values).unwrap_or_default();
    let bad = |error: OpenError| {
        let help = match error.0 {
            StoreError::Damaged(_) => ON_DAMAGE,
            _ => ON_STORES,
        };
        Problem::new(format!("{}: {error}", path.display()), help)
    };
    let store = FileStore::open(&path).map_err(|error| bad(OpenError(error)))?;
    if values.get(&COMPACT) {
        let compacted = store.compact();
        compacted.map_err(|error| bad(OpenError(error)))?;
    }
    NamingService::on(Box::new(store)).map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_setting_the_service_is_as_it_is_in_code() {
        let values = Values::from_toml(&settings(), "naming.toml", "memory = true").unwrap();
        assert_eq!(limits(&values), Limits::default());
        assert_eq!(open(&values).unwrap().options, ServeOptions::default());
        assert_eq!(values.get(&LISTEN), ["iiop://:2809"]);
    }

    #[test]
    fn the_settings_file_says_what_the_flags_do() {
        let text = "memory = true\nmost_bindings = 7\nallow = [\"plants=local\", \"=10.0.0.0/8\"]\n\
                    group_remove = 0\nfederation_timeout = \"200ms\"";
        let values = Values::from_toml(&settings(), "naming.toml", text).unwrap();
        assert_eq!(limits(&values).bindings, 7);
        let options = open(&values).unwrap().options;
        assert_eq!(options.group_remove, None);
        assert_eq!(options.federated_timeout, Duration::from_millis(200));
        let text = "memory = true\nallow = \"plants=nobody\"";
        let wrong = Values::from_toml(&settings(), "naming.toml", text).unwrap_err();
        assert!(wrong.to_string().contains("naming.toml, line 2"), "{wrong}");
    }
}
