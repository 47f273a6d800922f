//! IDL declarations that the repository's interfaces cannot define.

use punctual_idl::model::{Annotation, DeclKind, Declaration, Specification, Type as IdlType};

use crate::refusal::Refusal;

/// Refuses declarations that the repository has no definition for: anonymous pairs, and optional
/// members.
pub(super) fn check_definable(
    declaration: &Declaration,
    spec: &Specification,
) -> Result<(), Refusal> {
    let of = |what: &str, name: &str| {
        let scope = declaration.absolute_name();
        Refusal::NotDefinable(format!(
            "{what} `{name}` of `{}`",
            scope.trim_start_matches("::")
        ))
    };
    for member in spec.members(declaration.id) {
        if Annotation::is_set(&member.annotations, "optional") {
            return Err(of("the optional member", &member.name));
        }
        if has_map(&member.ty) {
            return Err(of("the map", &member.name));
        }
    }
    let types: Vec<&IdlType> = match &declaration.kind {
        DeclKind::Typedef(typedef) => vec![&typedef.ty],
        DeclKind::ValueBox(boxed) => vec![&boxed.ty],
        DeclKind::Attribute(attribute) => vec![&attribute.ty],
        DeclKind::Operation(operation) => {
            let parameters = operation.parameters.iter().map(|parameter| &parameter.ty);
            parameters.chain([&operation.returns]).collect()
        }
        _ => Vec::new(),
    };
    match types.into_iter().any(has_map) {
        true => Err(of("a map in", &declaration.name)),
        false => Ok(()),
    }
}

fn has_map(ty: &IdlType) -> bool {
    match ty {
        IdlType::Map { .. } => true,
        IdlType::Sequence { element, .. } | IdlType::Array { element, .. } => has_map(element),
        _ => false,
    }
}
