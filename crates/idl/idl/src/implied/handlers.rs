//! Reply handlers, and the interfaces that they belong to.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::DeclId;

/// Implied reply handlers (AMI) of a specification's interfaces.
#[derive(Clone, Debug, Default)]
pub struct Handlers {
    pub(super) interfaces: BTreeMap<DeclId, DeclId>,
    pub(super) handlers: BTreeSet<DeclId>,
    pub(super) replies: BTreeMap<(DeclId, Half), Reply>,
    /// `true` if the IDL source itself declares the module `Messaging`.
    pub(super) messaging_is_declared: bool,
}

/// Kind of call that a reply belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Half {
    /// Call of an operation, or reading of an attribute.
    Main,
    /// Writing of an attribute.
    Setter,
}

/// Pair of a handler's operations that deliver replies to one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Operation of the reply handler that receives the results of the call.
    pub results: DeclId,
    /// Operation of the reply handler that receives an exception: `…_excep`.
    pub exception: DeclId,
}

impl Handlers {
    /// Returns the implied reply handler of an interface.
    pub fn of(&self, interface: DeclId) -> Option<DeclId> {
        self.interfaces.get(&interface).copied()
    }

    /// Returns each interface that has a handler, with the handler, in the order of the interfaces'
    /// ids.
    pub fn all(&self) -> impl Iterator<Item = (DeclId, DeclId)> {
        self.interfaces.iter().map(|(id, handler)| (*id, *handler))
    }

    /// Returns whether the interface is the handler of another.
    pub fn is_handler(&self, interface: DeclId) -> bool {
        self.handlers.contains(&interface)
    }

    /// Returns the handler operations for replies to an operation, or to one half of an attribute.
    pub fn reply(&self, operation: DeclId, half: Half) -> Option<Reply> {
        self.replies.get(&(operation, half)).copied()
    }
}

/// Returns whether a name is in a module of the standard, whose interfaces get no handlers.
pub(super) fn is_standard(scoped_name: &[String]) -> bool {
    scoped_name
        .first()
        .is_some_and(|module| module == "CORBA" || module == "Messaging")
}
