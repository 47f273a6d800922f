//! Records of a store, and their changes.

use punctual_groups::Choice;

use super::Ttl;

/// Number of a context, random and never reused. [`ROOT`] is the root context.
pub type ContextId = u64;

/// Id of the root context, which always exists.
pub const ROOT: ContextId = 0;

/// Target that a name is bound to. A reference is the CDR of its IOR, big-endian; nil is a reference, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Encoded reference to an object.
    Object(Box<[u8]>),
    /// Id of a naming context of this service.
    Context(ContextId),
    /// Encoded reference to a naming context of another server.
    Foreign(Box<[u8]>),
    /// An object that is bound as long as the binding is renewed. A
    /// [`SharedStore`](super::SharedStore) removes bindings that are not renewed; for other stores
    /// the service does.
    Temporary {
        /// Encoded reference to the temporarily bound object.
        reference: Box<[u8]>,
        /// Time to live of the binding, counted from each renewal.
        ttl: Ttl,
    },
    /// Group of objects from which a member is chosen at each resolution.
    Group {
        /// Number of the context that contains the members' bindings. No name leads to it.
        context: ContextId,
        /// Strategy for choosing a member of the group.
        choice: Choice,
    },
}

/// Change of one record in the naming store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A context is created in another one, its home.
    Create {
        /// Id of the new context.
        context: ContextId,
        /// Id of the context in which the new context is created.
        home: ContextId,
    },
    /// A context is removed, with its bindings, if there are any.
    Destroy(ContextId),
    /// A name is bound in a context.
    Bind {
        /// Id of the context in which the name is bound.
        context: ContextId,
        /// Component of the name, as `id` or `id NUL kind`.
        key: Box<str>,
        /// Target to which the name is bound.
        target: Target,
    },
    /// A name is unbound in a context.
    Unbind {
        /// Id of the context in which the name is unbound.
        context: ContextId,
        /// Component of the unbound name, as `id` or `id NUL kind`.
        key: Box<str>,
    },
}

/// Receiver of a naming store's contents, record by record.
pub trait Loading {
    /// Receives a context other than the root, with the context in which it was created.
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
