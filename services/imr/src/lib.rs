//! The Implementation Repository: servers that start when clients call them, with the interfaces of TAO.
//!
//! References of a server's persistent objects have the repository's endpoints ([`implementation_repository`];
//! `-ORBUseImR`). The first request of a client comes here. If the server runs, the client is forwarded to it; if not, an
//! activator starts it, and all clients that come meanwhile wait, without a thread each, until it has registered. Later calls
//! go to the server directly.
//!
//! A [`LocatorService`] is the repository, and an [`ActivatorService`] starts processes on another host or for another user.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod activator;
mod key;
mod limits;
mod locator;
mod mistake;
mod settings;

pub use access::Access;
pub use activator::{ActivatorService, BadCommand, CannotStart, Processes, split};
pub use limits::Limits;
pub use locator::{EtcdOptions, LocatorService, OpenError};
pub use mistake::{Mistake, check_server};
pub use punctual_etcd::{ClientOptions, Tls as EtcdTls, User as EtcdUser};
pub use settings::{LISTEN, activator_settings, open, open_activator, settings};

include!(concat!(env!("OUT_DIR"), "/ImplementationRepository.rs"));

/// Rust code generated from the IDL for the stored form of servers.
#[allow(clippy::module_inception)]
mod stored {
    include!(concat!(env!("OUT_DIR"), "/kept.rs"));
}

use stored::kept;
