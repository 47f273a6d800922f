//! Options of a store in etcd.

use std::time::Duration;

use punctual_etcd::{ClientOptions, Tls, User};

/// Options of a naming store in an etcd cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdOptions {
    /// Addresses of the members to call, as `host:port`. One is enough; others are tried when it
    /// fails.
    pub endpoints: Vec<String>,
    /// Prefix of all keys. Servers with the same one serve the same names. Default: `/punctual/naming`.
    pub prefix: String,
    /// Time that a call to etcd may take. Default: 2 s.
    pub patience: Duration,
    /// Maximum age of the copy from which names are resolved. Each server writes to etcd three
    /// times within this time. Default: 3 s.
    pub staleness: Duration,
    /// True if names are resolved from an older copy when etcd cannot be reached. Default: false,
    /// which raises TRANSIENT.
    pub reads_stale: bool,
    /// TLS, and the authorities of the members' certificates. Default: none, so that everything is
    /// sent unencrypted.
    pub tls: Option<Tls>,
    /// User of etcd, if it requires authentication. Without TLS, name and password are sent
    /// unencrypted. Default: none.
    pub user: Option<User>,
}

impl EtcdOptions {
    /// Returns the default options for a cluster with members at these addresses.
    #[must_use]
    pub fn at(endpoints: Vec<String>) -> Self {
        Self {
            endpoints,
            prefix: "/punctual/naming".to_owned(),
            patience: Duration::from_secs(2),
            staleness: Duration::from_secs(3),
            reads_stale: false,
            tls: None,
            user: None,
        }
    }

    /// Returns the part of the options that configures the etcd client.
    pub(super) fn client(&self) -> ClientOptions {
        ClientOptions {
            endpoints: self.endpoints.clone(),
            patience: self.patience,
            tls: self.tls.clone(),
            user: self.user.clone(),
        }
    }
}
