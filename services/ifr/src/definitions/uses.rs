//! References between definitions.

use std::collections::HashSet;

use super::Definitions;
use crate::refusal::Refusal;
use crate::store::{Details, Number, Type};

/// Maximum nesting of anonymous types. Each takes two levels of the encoding, and readers accept 64
/// in all.
pub(super) const DEEPEST_TYPE: usize = 24;

impl Definitions {
    /// Checks that all definitions referred to exist, and that types do not nest too deep.
    pub(super) fn check_uses(&self, what: &Details) -> Result<(), Refusal> {
        for ty in types(what) {
            if depth(ty) > DEEPEST_TYPE {
                return Err(Refusal::TooDeep);
            }
        }
        match uses(what).iter().all(|number| self.get(*number).is_some()) {
            true => Ok(()),
            false => Err(Refusal::NoSuchDefinition),
        }
    }

    /// Checks that values of a type do not contain themselves, and that no definition inherits from
    /// itself.
    pub(super) fn check_finite(&self, number: Number) -> Result<(), Refusal> {
        let mut seen = HashSet::new();
        let mut pending = self.get(number).map(|d| holds(&d.what)).unwrap_or_default();
        while let Some(next) = pending.pop() {
            if next == number {
                return Err(Refusal::TooDeep);
            }
            if seen.insert(next) {
                pending.extend(self.get(next).map(|d| holds(&d.what)).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Returns a definition outside the given ones that refers to one of them.
    pub(super) fn user_outside(&self, doomed: &[Number]) -> Option<Number> {
        let doomed: HashSet<Number> = doomed.iter().copied().collect();
        let needs_one = |what: &Details| uses(what).iter().any(|number| doomed.contains(number));
        self.iter()
            .find(|(number, definition)| !doomed.contains(number) && needs_one(&definition.what))
            .map(|(number, _)| number)
    }
}

/// Returns the IDL types that the details of a definition mention.
pub(super) fn types(what: &Details) -> Vec<&Type> {
    match what {
        Details::Constant(constant) => vec![&constant.kind],
        Details::Struct(members) | Details::Exception(members) => {
            members.iter().map(|member| &member.kind).collect()
        }
        Details::Union(union) => {
            let members = union.members.iter().map(|member| &member.kind);
            members.chain([&union.discriminator]).collect()
        }
        Details::Alias(ty) | Details::ValueBox(ty) => vec![ty],
        Details::Attribute(attribute) => vec![&attribute.kind],
        Details::Operation(operation) => {
            let accepted = operation.accepted.iter().map(|parameter| &parameter.kind);
            accepted.chain([&operation.result]).collect()
        }
        Details::ValueMember(member) => vec![&member.kind],
        Details::Value(value) => {
            let parameters = value.factories.iter().flat_map(|f| &f.parameters);
            parameters.map(|parameter| &parameter.kind).collect()
        }
        Details::Enum(_)
        | Details::Interface(_)
        | Details::AbstractInterface(_)
        | Details::LocalInterface(_)
        | Details::Unlabeled(_) => Vec::new(),
    }
}

/// Returns the numbers of all definitions that the details of a definition refer to.
fn uses(what: &Details) -> Vec<Number> {
    let mut numbers: Vec<Number> = types(what).into_iter().filter_map(named).collect();
    match what {
        Details::Operation(operation) => numbers.extend(&operation.raised),
        Details::Interface(bases)
        | Details::AbstractInterface(bases)
        | Details::LocalInterface(bases) => numbers.extend(bases),
        Details::Value(value) => {
            numbers.extend(value.base.iter().chain(&value.abstract_bases));
            numbers.extend(&value.supported);
        }
        _ => {}
    }
    numbers
}

/// Returns the definitions that a value of the type contains, or that it inherits from: a cycle of
/// these would make values infinite.
fn holds(what: &Details) -> Vec<Number> {
    match what {
        Details::Struct(_) | Details::Union(_) | Details::Exception(_) | Details::Alias(_) => {
            let held = types(what)
                .into_iter()
                .filter(|ty| !is_behind_a_sequence(ty));
            held.filter_map(named).collect()
        }
        Details::Interface(_) | Details::AbstractInterface(_) | Details::LocalInterface(_) => {
            uses(what)
        }
        // Members of a valuetype may be nil, and parameters of factories are not part of it.
        Details::Value(value) => {
            let bases = value.base.iter().chain(&value.abstract_bases);
            bases.chain(&value.supported).copied().collect()
        }
        _ => Vec::new(),
    }
}

fn is_behind_a_sequence(ty: &Type) -> bool {
    match ty {
        Type::Sequence(_) => true,
        Type::Array(several) => several.of.iter().any(is_behind_a_sequence),
        _ => false,
    }
}

/// Returns the definition in a type, if there is one.
fn named(ty: &Type) -> Option<Number> {
    match ty {
        Type::Defined(number) => Some(*number),
        Type::Sequence(several) | Type::Array(several) => several.of.first().and_then(named),
        _ => None,
    }
}

pub(super) fn depth(ty: &Type) -> usize {
    match ty {
        Type::Sequence(several) | Type::Array(several) => 1 + several.of.first().map_or(0, depth),
        _ => 0,
    }
}
