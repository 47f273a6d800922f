//! Stores of contexts and bindings.
//!
//! A [`Store`] keeps records and knows nothing of names or rules: the tree decides what a change is, one thread at a
//! time commits, and a commit is one transaction, all of it or nothing. What a commit has acknowledged is there after
//! any crash; what it has refused is not there after the next commit.
//!
//! A [`SharedStore`] is changed by other servers, too. It takes changes together with what they rest upon ([`Fact`]),
//! and tells of all changes, those of this server among them, in the order that they have come in.

mod change;
mod contract;
#[cfg(feature = "etcd")]
mod etcd;
mod file;
mod memory;
mod record;
mod shared;
mod ttl;

pub use change::{Change, ContextId, Loading, ROOT, Target};
pub use contract::Store;
#[cfg(feature = "etcd")]
pub use etcd::{EtcdOptions, EtcdStore, EtcdTls, EtcdUser};
pub use file::FileStore;
#[cfg(feature = "etcd")]
pub(crate) use file::KIND;
pub use memory::MemoryStore;
pub use punctual_groups::Choice;
pub use punctual_host::store::StoreError;
pub use shared::{Fact, Follower, SharedStore};
pub use ttl::Ttl;
