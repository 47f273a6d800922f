//! Client of etcd for services whose data several processes share: calls and watches through etcd's
//! JSON gateway.
//!
//! | module | contents |
//! |---|---|
//! | `api` | the [`Client`], transactions and their parts, records, what a watch reports |
//! | `lease` | leases of the keys of one commit |
//! | `http` | as much of HTTP/1.1 as the gateway needs |
//! | `stream` | TCP, or TLS over it |
//! | `settings` | settings that services with a store in etcd share |
//!
//! The meaning of keys is each service's own. Calls block their thread, at most until a time-out;
//! there is no async runtime.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod api;
mod http;
mod lease;
pub mod settings;
mod stream;

pub use api::{
    Changed, Client, ClientOptions, Failure, Keys, Record, User, WatchReport, delete, delete_all,
    number, put, records, revision, watch_report, when_empty, when_equal, when_leased,
    when_present,
};
pub use http::Lines;
pub use lease::Leases;
pub use stream::{Tls, TlsError};
