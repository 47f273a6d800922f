//! Ancestry of a valuetype: bases, supported interfaces, and the calls of all of them.

use std::collections::HashSet;

use punctual_idl::model::{DeclId, DeclKind, InterfaceFlavour, Specification, ValueFlavour};

use crate::Generator;
use crate::interface::bases;
use crate::interface::call::{self, Call};

/// Returns the base valuetype whose state is the first part of the state of the given valuetype, if
/// it has one.
pub(crate) fn concrete_base(spec: &Specification, id: DeclId) -> Option<DeclId> {
    let is_concrete = |base: &&DeclId| matches!(&spec[**base].kind, DeclKind::ValueType(v) if v.flavour != ValueFlavour::Abstract);
    spec.bases(id).iter().find(is_concrete).copied()
}

/// Returns the types whose members make up the value's state: from the outermost base to the type
/// itself.
pub(super) fn concrete_chain(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let mut chain: Vec<DeclId> =
        std::iter::successors(Some(id), |&id| concrete_base(spec, id)).collect();
    chain.reverse();
    chain
}

/// Returns the base that a value of this type may be truncated to.
pub(super) fn truncatable_to(spec: &Specification, id: DeclId) -> Option<DeclId> {
    match &spec[id].kind {
        DeclKind::ValueType(value) if value.truncatable => concrete_base(spec, id),
        _ => None,
    }
}

/// Returns the valuetype and all its bases, bases first, itself last.
pub(super) fn lineage(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let mut lineage = spec.ancestors(id);
    lineage.push(id);
    lineage
}

/// Returns the interfaces that this type's own declaration supports, with their bases; without
/// those that its bases support.
fn newly_supported(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let mut supported = directly_supported(spec, id);
    if supported.is_empty() {
        return supported;
    }
    let inherited: HashSet<DeclId> = spec
        .ancestors(id)
        .into_iter()
        .flat_map(|base| directly_supported(spec, base))
        .collect();
    supported.retain(|interface| !inherited.contains(interface));
    supported
}

fn directly_supported(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let DeclKind::ValueType(value) = &spec[id].kind else {
        return Vec::new();
    };
    let mut supported = Vec::new();
    for &interface in &value.supports {
        for one in spec.ancestors(interface).into_iter().chain([interface]) {
            if !supported.contains(&one) {
                supported.push(one);
            }
        }
    }
    supported
}

/// Returns all interfaces that values of the type support.
pub(super) fn supported(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let mut all = Vec::new();
    for value in lineage(spec, id) {
        for interface in directly_supported(spec, value) {
            if !all.contains(&interface) {
                all.push(interface);
            }
        }
    }
    all
}

/// Returns whether an interface is abstract.
pub(super) fn is_abstract(spec: &Specification, id: DeclId) -> bool {
    matches!(&spec[id].kind, DeclKind::Interface(i) if i.flavour == InterfaceFlavour::Abstract)
}

/// Returns the methods of the trait for a type's operations: its own calls, and those of interfaces
/// that it supports.
pub(super) fn own_calls<'a>(generator: &'a Generator<'a>, id: DeclId) -> Vec<Call<'a>> {
    let interfaces = newly_supported(generator.spec, id).into_iter();
    interfaces
        .chain([id])
        .flat_map(|owner| call::own(generator, owner))
        .collect()
}

/// Returns whether there is a trait for the type's operations.
pub(super) fn has_operations(generator: &Generator<'_>, id: DeclId) -> bool {
    let mut lineage = lineage(generator.spec, id).into_iter();
    lineage.any(|value| adds_operations(generator.spec, value))
}

/// Returns the type and its bases that have a trait for operations, bases first.
pub(super) fn with_operations(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let mut have = HashSet::new();
    let mut lineage = lineage(spec, id);
    lineage.retain(|&value| {
        let inherits = spec.bases(value).iter().any(|base| have.contains(base));
        let has = inherits || adds_operations(spec, value);
        if has {
            have.insert(value);
        }
        has
    });
    lineage
}

/// Returns whether a type's declaration has operations, or a supported interface.
fn adds_operations(spec: &Specification, id: DeclId) -> bool {
    let supported = directly_supported(spec, id).into_iter();
    supported.chain([id]).any(|owner| {
        spec.children(owner).iter().any(|&child| {
            let kind = &spec[child].kind;
            matches!(kind, DeclKind::Operation(_) | DeclKind::Attribute(_))
        })
    })
}

/// Returns the type whose handle has the methods of a supported interface: the type that states it,
/// or the nearest of its first bases that adds them.
pub(super) fn holder_of_supported(spec: &Specification, id: DeclId, interface: DeclId) -> DeclId {
    let says = lineage(spec, id)
        .into_iter()
        .find(|&value| directly_supported(spec, value).contains(&interface));
    says.map_or(id, |says| bases::holder(spec, id, &spec[says]))
}
