//! Operations on the tree, and their results.

use crate::access::Requester;
use crate::cos_naming::{Name, NameComponent};
use crate::store::{Choice, ContextId, Target};

/// Requested change to the naming tree, with its context and its requester.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Id of the naming context on which the operation was called.
    pub(crate) context: ContextId,
    pub(crate) wanted: RequestedChange,
    pub(crate) by: Requester,
}

/// Kind of change. Its names have been checked against the limits.
#[derive(Clone, Debug)]
pub(crate) enum RequestedChange {
    /// Operations `bind` and `bind_context`, or with `replaces` `rebind` and `rebind_context`.
    Bind {
        name: Name,
        target: Target,
        replaces: bool,
    },
    Unbind {
        name: Name,
    },
    NewContext,
    BindNewContext {
        name: Name,
    },
    Destroy,
    /// Removal of temporary bindings that have expired.
    Expire,
    /// Creation of a group that is bound to a name.
    BindGroup {
        name: Name,
        choice: Choice,
    },
    /// Binding of a member in a group: the name without its last component leads to the group.
    Join {
        name: Name,
        target: Target,
    },
    /// Unbinding of a member of an object group.
    Leave {
        name: Name,
    },
    /// Removal of bindings, if they are unchanged: of dead members, or of a group that could not be made, with its members.
    Lapse(Vec<Removal>),
}

/// Binding that is to be removed, with the target that it has.
#[derive(Clone, Debug)]
pub(crate) struct Removal {
    pub(crate) context: ContextId,
    pub(crate) key: Box<str>,
    pub(crate) target: Target,
}

/// Result of a change to the naming tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// Success of an operation that has no result.
    It,
    /// Success of an operation that created a context, with its number.
    Context(ContextId),
}

impl Operation {
    fn name(&self) -> &[NameComponent] {
        match &self.wanted {
            RequestedChange::Bind { name, .. }
            | RequestedChange::Unbind { name }
            | RequestedChange::BindNewContext { name }
            | RequestedChange::BindGroup { name, .. }
            | RequestedChange::Join { name, .. }
            | RequestedChange::Leave { name } => name,
            RequestedChange::NewContext
            | RequestedChange::Destroy
            | RequestedChange::Expire
            | RequestedChange::Lapse(_) => &[],
        }
    }

    /// Returns an upper bound of the number of records that the operation reads or changes.
    pub(crate) fn size(&self) -> usize {
        match &self.wanted {
            RequestedChange::Lapse(bindings) => bindings.len() + 2,
            _ => self.name().len() + 2,
        }
    }

    /// Returns the length in bytes of the operation's name and reference.
    pub(crate) fn bytes(&self) -> usize {
        let name: usize = self
            .name()
            .iter()
            .map(|one| one.id.len() + one.kind.len())
            .sum();
        let target = match &self.wanted {
            RequestedChange::Bind { target, .. } | RequestedChange::Join { target, .. } => target,
            _ => return name,
        };
        match target {
            Target::Object(bytes)
            | Target::Foreign(bytes)
            | Target::Temporary {
                reference: bytes, ..
            } => name + bytes.len(),
            Target::Context(_) | Target::Group { .. } => name,
        }
    }
}
