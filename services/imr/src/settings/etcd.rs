//! Settings of a store in etcd.

use std::time::Duration;

use punctual_etcd::settings::{ADVICE, check_endpoint, client};
use punctual_host::Problem;
use punctual_host::settings::{Key, Values};

use crate::locator::{EtcdOptions, LocatorService};

pub(super) const ENDPOINTS: Key<Vec<String>> = Key::list("etcd", check_endpoint)
    .value_name("HOST:PORT")
    .conflicts(&["store", "activator"])
    .doc(
        "Keep servers and activators in an etcd cluster, which any number of repositories share: its members as host:port. May be \
         given more than once. Processes are started by activators of their own, as `punctual imr activator`.",
    );
pub(super) const PREFIX: Key<Option<String>> = Key::text("etcd-prefix")
    .value_name("PREFIX")
    .default("/punctual/imr")
    .requires(&["etcd"])
    .doc("Prefix of the keys in etcd. Repositories with the same prefix share their servers.");
pub(super) const TAKE_OVER: Key<Duration> = Key::time("etcd-take-over")
    .default("5s")
    .requires(&["etcd"])
    .doc(
        "Time after which the other repositories take over the starts of one that shows no sign of life, in whole seconds from 1 s \
         on. It shows one after each third of this time.",
    );

/// Opens the service on a store in etcd, if the settings name a cluster.
pub(super) fn stored(values: &Values) -> Result<Option<LocatorService>, Problem> {
    let Some(client) = client(values, &ENDPOINTS)? else {
        return Ok(None);
    };
    let options = EtcdOptions {
        client,
        prefix: values.get(&PREFIX).unwrap_or_default(),
        lease: values.get(&TAKE_OVER),
    };
    let service = LocatorService::in_etcd(&options);
    service
        .map(Some)
        .map_err(|error| Problem::new(format!("etcd: {error}"), ADVICE))
}
