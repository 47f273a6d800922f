//! What changes the tree, as it is asked for and as it was done.

use crate::access::Requester;
use crate::cos_naming::{Name, NameComponent};
use crate::store::{ContextId, Target};

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
            | Wanted::BindNewContext { name } => name,
            Wanted::NewContext | Wanted::Destroy | Wanted::Expire => &[],
        }
    }

    /// How many records it looks at or changes, at most.
    pub(crate) fn size(&self) -> usize {
        self.name().len() + 2
    }

    /// How many bytes its name and reference have.
    pub(crate) fn bytes(&self) -> usize {
        let name: usize = self
            .name()
            .iter()
            .map(|one| one.id.len() + one.kind.len())
            .sum();
        let reference = match &self.wanted {
            Wanted::Bind {
                target:
                    Target::Object(bytes)
                    | Target::Foreign(bytes)
                    | Target::Temporary {
                        reference: bytes, ..
                    },
                ..
            } => bytes.len(),
            _ => 0,
        };
        name + reference
    }
}
