//! What changes the tree, as it is asked for and as it was done.

use crate::access::Requester;
use crate::cos_naming::{Name, NameComponent};
use crate::store::{Choice, ContextId, Target};

/// A change that somebody asks for.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// The context that was called.
    pub(crate) context: ContextId,
    pub(crate) wanted: Wanted,
    pub(crate) by: Requester,
}

/// Which change. Names are checked.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// `bind`, `bind_context`; with `replaces` `rebind`, `rebind_context`.
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
    /// Removes the temporary bindings whose time has come.
    Expire,
    /// Makes a group and binds a name to it.
    BindGroup {
        name: Name,
        choice: Choice,
    },
    /// Binds a member in the group that the name without its last component leads to.
    Join {
        name: Name,
        target: Target,
    },
    /// Unbinds one.
    Leave {
        name: Name,
    },
    /// Unbinds members that are bound as they were when they were found dead.
    Lapse(Vec<Lapsing>),
}

/// A member that is to be unbound.
#[derive(Clone, Debug)]
pub(crate) struct Lapsing {
    pub(crate) context: ContextId,
    pub(crate) key: Box<str>,
    pub(crate) target: Target,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// What was wanted, of which there is nothing to say.
    It,
    /// A context was made.
    Context(ContextId),
}

impl Operation {
    fn name(&self) -> &[NameComponent] {
        match &self.wanted {
            Wanted::Bind { name, .. }
            | Wanted::Unbind { name }
            | Wanted::BindNewContext { name }
            | Wanted::BindGroup { name, .. }
            | Wanted::Join { name, .. }
            | Wanted::Leave { name } => name,
            Wanted::NewContext | Wanted::Destroy | Wanted::Expire | Wanted::Lapse(_) => &[],
        }
    }

    /// How many records it looks at or changes, at most.
    pub(crate) fn size(&self) -> usize {
        match &self.wanted {
            Wanted::Lapse(members) => members.len() + 2,
            _ => self.name().len() + 2,
        }
    }

    /// How many bytes its name and reference have.
    pub(crate) fn bytes(&self) -> usize {
        let name: usize = self
            .name()
            .iter()
            .map(|one| one.id.len() + one.kind.len())
            .sum();
        let target = match &self.wanted {
            Wanted::Bind { target, .. } | Wanted::Join { target, .. } => target,
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
