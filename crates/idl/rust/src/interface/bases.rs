//! What an interface has from its first base, whose reference and skeleton it is built on, and what other bases add.

use punctual_idl::model::{DeclId, Declaration, Specification};

/// The interfaces that one derives from, each once.
pub(super) struct Bases {
    /// The first base, then what that derives from. None of its operations is written again.
    pub(super) of_first: Vec<DeclId>,
    /// What the other bases add.
    pub(super) others: Vec<DeclId>,
}

impl Bases {
    pub(super) fn of(spec: &Specification, interface: DeclId) -> Self {
        let Some(&first) = spec.bases(interface).first() else {
            return Self {
                of_first: Vec::new(),
                others: Vec::new(),
            };
        };
        let mut of_first = vec![first];
        of_first.extend(spec.ancestors(first).into_iter().rev());
        let mut others = spec.ancestors(interface);
        others.retain(|base| !of_first.contains(base));
        Self { of_first, others }
    }

    pub(super) fn first(&self) -> Option<DeclId> {
        self.of_first.first().copied()
    }

    /// Whether an interface's operations have to be written of this one: its own and those that other bases add.
    pub(super) fn adds(&self, owner: &Declaration) -> bool {
        !self.of_first.contains(&owner.id)
    }
}
