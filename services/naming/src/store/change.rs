//! Records of a store, and how they change.

use punctual_groups::Choice;

use super::ttl::Ttl;

/// The number of a context, random and never used again. [`ROOT`] is the root context.
pub type ContextId = u64;

/// The root context, which is always there.
pub const ROOT: ContextId = 0;

/// Target that a name is bound to. A reference is the CDR of its IOR, big-endian; nil is a reference, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An object.
    Object(Box<[u8]>),
    /// A context of this service.
    Context(ContextId),
    /// A context of another server.
    Foreign(Box<[u8]>),
    /// An object, for as long as the binding is renewed. A [`SharedStore`](super::SharedStore) removes bindings that
    /// are not renewed; for other stores the service does.
    Temporary {
        /// The object.
        reference: Box<[u8]>,
        /// Time that it is bound from each renewal on.
        ttl: Ttl,
    },
    /// A group of objects.
    Group {
        /// The context that its members are bound in, which nothing else leads to.
        context: ContextId,
        /// Strategy by which one of them is chosen.
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
        /// Number of its home.
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
