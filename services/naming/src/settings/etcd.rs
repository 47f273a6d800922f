//! Settings of a store in etcd.

use std::time::Duration;

use punctual_etcd::settings::{ADVICE, check_endpoint, client};
use punctual_host::Problem;
use punctual_host::settings::{Key, Values};

use crate::service::{NamingService, OpenError};
use crate::store::{EtcdOptions, EtcdStore};

pub(super) const ENDPOINTS: Key<Vec<String>> = Key::list("etcd", check_endpoint)
    .value_name("HOST:PORT")
    .conflicts(&["store", "memory"])
    .doc(
        "Keep bindings in an etcd cluster, which any number of naming servers share: its members as host:port. May be \
         given more than once.",
    );
pub(super) const PREFIX: Key<Option<String>> = Key::text("etcd-prefix")
    .value_name("PREFIX")
    .default("/punctual/naming")
    .requires(&["etcd"])
    .doc("Prefix of the keys in etcd. Servers with the same prefix serve the same names.");
pub(super) const STALENESS: Key<Duration> = Key::time("etcd-staleness")
    .default("3s")
    .requires(&["etcd"])
    .doc("Maximum age of names that are read: after that time without news from etcd, reading raises TRANSIENT.");
pub(super) const READ_STALE: Key<bool> = Key::flag("read-stale")
    .requires(&["etcd"])
    .doc("Go on reading while etcd is unreachable, however old the names are.");

/// Opens the service on a store in etcd, if the settings name a cluster.
pub(super) fn stored(values: &Values) -> Result<Option<NamingService>, Problem> {
    let Some(client) = client(values, &ENDPOINTS)? else {
        return Ok(None);
    };
    let options = EtcdOptions {
        prefix: values.get(&PREFIX).unwrap_or_default(),
        patience: client.patience,
        staleness: values.get(&STALENESS),
        reads_stale: values.get(&READ_STALE),
        tls: client.tls,
        user: client.user,
        ..EtcdOptions::at(client.endpoints)
    };
    let store = EtcdStore::connect(options).map_err(OpenError);
    let service = store.and_then(|store| NamingService::on(Box::new(store)));
    let service = service.map_err(|error| Problem::new(format!("etcd: {error}"), ADVICE))?;
    Ok(Some(service))
}
