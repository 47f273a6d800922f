//! Records of a store, and their changes.

use punctual_groups::Choice;

use super::Ttl;

/// Number of a context, random and never reused. [`ROOT`] is the root context.
pub type ContextId = u64;

/// Number of the root context, which always exists.
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
    /// An object that is bound as long as the binding is renewed. A
    /// [`SharedStore`](super::SharedStore) removes bindings that are not renewed; for other stores
    /// the service does.
    Temporary {
        /// Reference to the object.
        reference: Box<[u8]>,
        /// Time to live, counted from each renewal.
        ttl: Ttl,
    },
    /// A group of objects.
    Group {
        /// Number of the context that contains the members' bindings. No name leads to it.
        context: ContextId,
        /// Strategy for choosing a member.
        choice: Choice,
    },
}

/// Change of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A context is created in another one, its home.
    Create {
        /// Number of the context.
        context: ContextId,
        /// Number of its home.
        home: ContextId,
    },
    /// A context is removed, with its bindings, if there are any.
    Destroy(ContextId),
    /// A name is bound.
    Bind {
        /// Number of the context.
        context: ContextId,
        /// Component of the name, as `id` or `id NUL kind`.
        key: Box<str>,
        /// Target of the binding.
        target: Target,
    },
    /// A name is unbound.
    Unbind {
        /// Number of the context.
        context: ContextId,
        /// Component of the name.
        key: Box<str>,
    },
}

/// Receiver of a store's contents, record by record.
pub trait Loading {
    /// Takes a context other than the root.
    fn context(&mut self, context: ContextId, home: ContextId);

    /// Takes a binding. The bindings of a context are passed one after the other, in the order of
    /// their keys; all contexts are passed before.
    fn binding(&mut self, context: ContextId, key: &str, target: Target);
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_target_has_no_more_bytes_for_its_time_to_live() {
        assert_eq!(size_of::<Target>(), 24);
    }
}
