//! What a valuetype has of others: bases, supported interfaces, and the calls of all of them.

use punctual_idl::model::{DeclId, DeclKind, InterfaceFlavour, Specification, ValueFlavour};

use crate::Generator;
use crate::interface::call::{self, Call};

/// The base whose state is the first part of this one's.
pub(crate) fn concrete_base(spec: &Specification, id: DeclId) -> Option<DeclId> {
    let is_concrete = |base: &&DeclId| matches!(&spec[**base].kind, DeclKind::ValueType(v) if v.flavour != ValueFlavour::Abstract);
    spec.bases(id).iter().find(is_concrete).copied()
}

/// The types whose states are in the state, the innermost first, the type itself last.
pub(super) fn concrete_chain(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let mut chain: Vec<DeclId> =
        std::iter::successors(Some(id), |&id| concrete_base(spec, id)).collect();
    chain.reverse();
    chain
}

/// The types that a value of this one may be cut down to, nearest first.
pub(super) fn truncatable_to(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let next = |id: &DeclId| match &spec[*id].kind {
        DeclKind::ValueType(value) if value.truncatable => concrete_base(spec, *id),
        _ => None,
    };
    std::iter::successors(next(&id), next).collect()
}

/// All valuetypes that it is, bases first, itself last.
pub(super) fn lineage(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let mut lineage = spec.ancestors(id);
    lineage.push(id);
    lineage
}

/// The interfaces that this type's own declaration says it supports, with their bases; without those that its
/// bases support.
fn newly_supported(spec: &Specification, id: DeclId) -> Vec<DeclId> {
    let inherited: Vec<DeclId> = spec
        .ancestors(id)
        .into_iter()
        .flat_map(|base| directly_supported(spec, base))
        .collect();
    let mut supported = directly_supported(spec, id);
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

/// All interfaces that values of the type support.
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

/// Whether an interface is abstract.
pub(super) fn is_abstract(spec: &Specification, id: DeclId) -> bool {
    matches!(&spec[id].kind, DeclKind::Interface(i) if i.flavour == InterfaceFlavour::Abstract)
}

/// What the trait for a type's operations holds: its own calls, and those of interfaces that it supports.
pub(super) fn own_calls<'a>(generator: &'a Generator<'a>, id: DeclId) -> Vec<Call<'a>> {
    let interfaces = newly_supported(generator.spec, id).into_iter();
    interfaces
        .chain([id])
        .flat_map(|owner| call::own(generator, owner))
        .collect()
}

/// Whether there is a trait for the type's operations.
pub(super) fn has_operations(generator: &Generator<'_>, id: DeclId) -> bool {
    let mut lineage = lineage(generator.spec, id).into_iter();
    lineage.any(|value| !own_calls(generator, value).is_empty())
}
