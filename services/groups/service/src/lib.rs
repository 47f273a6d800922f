//! Object groups as a service: the ReplicationManager of Fault Tolerant CORBA, and TAO's LoadManager, over one store.
//!
//! A group has members, each at a location of its own. Of a balanced group, clients are led to a member that a strategy chooses;
//! of a passive one, to its primary. A member may have a lease, which it renews ([`punctual_groups_client`]); without one it is
//! asked whether it lives.
//!
//! | module | contents |
//! |---|---|
//! | `state` | what is stored of groups, what is known of members, what is due |
//! | `engine` | changes, failover, balancing, factories |
//! | `properties`, `strategy` | what properties there are, and what follows from them |
//! | `names`, `location` | locations as text |
//! | `shared` | groups in etcd |
//! | `forward` | the groups' own objects, which forward |
//! | `revisions` | which groups have changed since when, for those who follow them |
//! | `history` | latest changes of members |
//! | `faults` | consumers of faults |
//! | `servant` | the managers' interfaces |
//! | `fault_notifier` | the FaultNotifier's interface |
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod bounded;
mod engine;
mod fault_notifier;
mod faults;
mod forward;
mod history;
mod limits;
mod location;
mod log;
mod names;
mod properties;
mod refusal;
mod revisions;
mod servant;
mod service;
mod settings;
mod shared;
mod state;
mod storage;
mod strategy;

pub use access::Access;
pub use history::{Change, ChangeKind};
pub use limits::Limits;
pub use punctual_etcd::{ClientOptions, Tls as EtcdTls, User as EtcdUser};
pub use service::{FAULT_NOTIFIER, GroupService, LOAD_MANAGER, OpenError};
pub use settings::{LISTEN, open, settings};
pub use shared::{EtcdOptions, EtcdRecords};

include!(concat!(env!("OUT_DIR"), "/managers.rs"));

/// Rust code generated from the IDL for the stored form of groups.
#[allow(clippy::module_inception)]
mod stored {
    include!(concat!(env!("OUT_DIR"), "/kept.rs"));
}

use stored::kept;
