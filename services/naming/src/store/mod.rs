//! Where contexts and bindings are kept.
//!
//! A [`Store`] keeps records and knows nothing of names or rules: the tree decides what a change is, one thread at a
//! time commits, and a commit is one transaction, all of it or nothing. What a commit has acknowledged is there after
//! any crash; what it has refused may be there nevertheless (a disk that fails behind the last page), so the service
//! writes again with the next commit what the refused one has touched.
//!
//! A [`SharedStore`] is changed by other servers, too. It takes changes together with what they rest upon ([`Fact`]),
//! and tells of all changes, those of this server among them, in the order that they have come in.

mod choice;
#[cfg(feature = "etcd")]
mod etcd;
mod file;
mod memory;
mod record;
mod shared;
mod ttl;

use std::fmt::Debug;
use thiserror::Error;

pub use choice::Choice;
#[cfg(feature = "etcd")]
pub use etcd::{EtcdOptions, EtcdStore, EtcdTls, EtcdUser};
pub use file::FileStore;
pub use memory::MemoryStore;
pub use shared::{Fact, Follower, SharedStore};
pub use ttl::Ttl;

/// The number of a context, random and never used again. [`ROOT`] is the root context.
pub type ContextId = u64;

/// The root context, which is always there.
pub const ROOT: ContextId = 0;

/// What a name is bound to. A reference is the CDR of its IOR, big-endian; nil is a reference, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An object.
    Object(Box<[u8]>),
    /// A context of this service.
    Context(ContextId),
    /// A context of another server.
    Foreign(Box<[u8]>),
    /// An object, for as long as the binding is renewed. A [`SharedStore`] removes what is not; for other stores the
    /// service does.
    Temporary {
        /// The object.
        reference: Box<[u8]>,
        /// How long it is bound from each renewal on.
        ttl: Ttl,
    },
    /// A group of objects.
    Group {
        /// The context that its members are bound in, which nothing else leads to.
        context: ContextId,
        /// Which of them the name is resolved to.
        choice: Choice,
    },
}

/// One record as it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A context is there, made in another one, its home.
    Create {
        /// Its number.
        context: ContextId,
        /// That of its home.
        home: ContextId,
    },
    /// A context is gone, and the bindings in it, if there are any.
    Destroy(ContextId),
    /// A name is bound.
    Bind {
        /// In which context.
        context: ContextId,
        /// The component, as `id` or `id NUL kind`.
        key: Box<str>,
        /// To what.
        target: Target,
    },
    /// A name is not bound.
    Unbind {
        /// In which context.
        context: ContextId,
        /// The component.
        key: Box<str>,
    },
}

/// Takes what a store has, record by record.
pub trait Loading {
    /// A context other than the root.
    fn context(&mut self, context: ContextId, home: ContextId);

    /// A binding. Those of one context come one after the other, by their keys in order, after all contexts.
    fn binding(&mut self, context: ContextId, key: &str, target: Target);
}

/// Where contexts and bindings are kept.
pub trait Store: Debug + Send + Sync {
    /// A number that tells this store from all others: it is part of the references to its contexts.
    fn identity(&self) -> u64;

    /// Whether a commit waits for a disk or another machine, so that others are to be served meanwhile.
    fn blocks(&self) -> bool {
        true
    }

    /// Bytes that it takes, where it is a file of this machine.
    fn bytes(&self) -> Option<u64> {
        None
    }

    /// The store as one that other servers change, too, if it is one. [`Store::commit`] is not called then.
    fn shared(&self) -> Option<&dyn SharedStore> {
        None
    }

    /// Hands over all records; called once, before any commit.
    ///
    /// # Errors
    /// They cannot be read.
    fn load(&self, loading: &mut dyn Loading) -> Result<(), StoreError>;

    /// Keeps changes, all or nothing, and returns when they are durable. Called by one thread at a time.
    ///
    /// # Errors
    /// They are not kept; see above for what that means.
    fn commit(&self, changes: &[Change]) -> Result<(), StoreError>;
}

/// What is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another server has it open.
    #[error("another naming server has it open; end that one, or name another file")]
    InUse,
    /// It is something else. It was not changed.
    #[error("it is no naming store and was left as it is ({0}); name another file")]
    Foreign(String),
    /// It is one, and damaged. It was not changed on purpose.
    #[error(
        "it is damaged ({0}); move it away, start anew, and `punctual naming import` the last export"
    )]
    Damaged(String),
    /// It cannot be reached now. Nothing was done.
    #[error("it cannot be reached: {0}")]
    Away(String),
    /// It did not say what it has done.
    #[error("it did not say whether it was done: {0}")]
    Unknown(String),
    /// It cannot be read or written.
    #[error("{0}")]
    Io(String),
}
