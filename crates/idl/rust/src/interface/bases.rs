//! What an interface has from its first base, whose reference and skeleton it is built on, and what other bases add.
//! A value type's handle is built on its first base's alike.

use std::collections::HashSet;

use punctual_idl::model::{DeclId, Declaration, Specification};

/// The interfaces that one derives from, each once.
pub(crate) struct Bases {
    /// The first base, then what that derives from. None of its operations is written again.
    pub(crate) of_first: Vec<DeclId>,
    /// What the other bases add.
    pub(crate) others: Vec<DeclId>,
    has_first: HashSet<DeclId>,
}

impl Bases {
    pub(crate) fn of(spec: &Specification, interface: DeclId) -> Self {
        let Some(&first) = spec.bases(interface).first() else {
            return Self {
                of_first: Vec::new(),
                others: Vec::new(),
                has_first: HashSet::new(),
            };
        };
        let mut of_first = vec![first];
        of_first.extend(spec.ancestors(first).into_iter().rev());
        let mut others = spec.ancestors(interface);
        let has_first: HashSet<DeclId> = of_first.iter().copied().collect();
        others.retain(|base| !has_first.contains(base));
        Self {
            of_first,
            others,
            has_first,
        }
    }

    pub(crate) fn first(&self) -> Option<DeclId> {
        self.of_first.first().copied()
    }

    /// Whether an interface's operations have to be written of this one: its own and those that other bases add.
    pub(crate) fn adds(&self, owner: &Declaration) -> bool {
        !self.has_first.contains(&owner.id)
    }
}

/// Methods that a derived reference or handle would have of a trait instead of those of its first base.
pub(crate) const HIDDEN: &[&str] = &[
    "adopt",
    "as_mut",
    "as_object",
    "as_ref",
    "as_value",
    "borrow",
    "borrow_mut",
    "clone",
    "clone_from",
    "cmp",
    "deref",
    "eq",
    "fmt",
    "hash",
    "into",
    "marshal",
    "marshal_nilable",
    "ne",
    "object",
    "partial_cmp",
    "to_owned",
    "try_into",
    "type_id",
];

/// Whose reference has the methods of an owner: that of the interface, or the next of its first bases that adds them.
pub(crate) fn holder(spec: &Specification, interface: DeclId, owner: &Declaration) -> DeclId {
    let mut holder = interface;
    loop {
        let bases = Bases::of(spec, holder);
        match bases.first() {
            Some(first) if !bases.adds(owner) => holder = first,
            _ => return holder,
        }
    }
}
