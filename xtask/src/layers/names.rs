//! Names of crates on which several others depend.

pub(super) const NAMING_CLIENT: &str = "punctual-naming-client";
pub(super) const EVENTS: &str = "punctual-events";
pub(super) const CONSTRAINT: &str = "punctual-constraint";
pub(super) const HOST: &str = "punctual-host";
pub(super) const DURABLE: &str = "punctual-durable";
pub(super) const ETCD: &str = "punctual-etcd";
pub(super) const LOG: &str = "punctual-log";
pub(super) const JETSTREAM: &str = "punctual-jetstream";
pub(super) const NOTIFICATION: &str = "punctual-notification";
pub(super) const RTEVENT: &str = "punctual-rtevent";
pub(super) const RTEVENT_SERVICE: &str = "punctual-rtevent-service";
pub(super) const SCHEDULING: &str = "punctual-scheduling";
pub(super) const SCHEDULING_RUNTIME: &str = "punctual-scheduling-runtime";
pub(super) const GROUPS: &str = "punctual-groups";
pub(super) const GROUPS_CLIENT: &str = "punctual-groups-client";
pub(super) const GROUPS_REQUESTS: &str = "punctual-groups-requests";
pub(super) const GROUPS_SERVICE: &str = "punctual-groups-service";
pub(super) const CDR: &str = "punctual-cdr";
pub(super) const IOR: &str = "punctual-ior";
pub(super) const GIOP: &str = "punctual-giop";
pub(super) const ANY: &str = "punctual-any";
pub(super) const SYS: &str = "punctual-sys";
pub(super) const EXEC: &str = "punctual-exec";
pub(super) const HEAP: &str = "punctual-heap";
pub(super) const MODELS: &str = "punctual-models";
pub(super) const LINK: &str = "punctual-link";
