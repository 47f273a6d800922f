//! Division of an interface's bases: the first base, whose reference and skeleton it is built on,
//! and the additions of the others. A value type's handle is built on the handle of its first base
//! in the same way.

use std::collections::HashSet;

use punctual_idl::model::{DeclId, Declaration, Specification};

/// Bases of an interface, each once.
pub(crate) struct Bases {
    /// The first base, followed by its own bases. Their operations are not generated again.
    pub(crate) of_first: Vec<DeclId>,
    /// Bases added by the other bases.
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

    /// Returns whether the operations of `owner` have to be generated for this interface: those of
    /// the interface itself, and those of bases that its first base does not have.
    pub(crate) fn adds(&self, owner: &Declaration) -> bool {
        !self.has_first.contains(&owner.id)
    }
}

/// Names of methods that traits would provide on a derived reference or handle, and which would so
/// hide methods of its first base.
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

/// Returns the interface whose reference type has the methods of `owner`: `interface` itself, or
/// the nearest interface along the chain of first bases that adds them.
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
