//! Stores of contexts and bindings.
//!
//! A [`Store`] keeps records and knows nothing of names or rules: the tree determines the changes,
//! one thread at a time commits, and a commit is one transaction, all of it or nothing. An
//! acknowledged commit survives any crash; a refused one is undone by the next commit.
//!
//! A [`SharedStore`] is changed by other servers, too. It takes changes together with the facts
//! that they depend on ([`Fact`]), and reports all changes, including those of this server, in the
//! order in which they were made.

mod change;
mod contract;
#[cfg(feature = "etcd")]
mod etcd;
mod file;
mod memory;
mod record;
mod shared;

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
pub use punctual_naming_client::Ttl;
pub use shared::{Fact, Follower, SharedStore};
