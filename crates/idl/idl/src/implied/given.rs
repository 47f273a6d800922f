//! Replies that an interface may give, with the names and parameters of their handler operations
//! (§17.8.1, §17.8.2).

use std::collections::HashSet;

use super::handlers::Half;
use crate::model::{Attribute, DeclId, Declaration, Direction, Operation, Parameter, Type};
use crate::source::Location;

/// Reply that an operation or attribute of an interface may give.
pub(super) struct PossibleReply {
    pub(super) of: (DeclId, Half),
    /// Name of the operation of the reply handler: `add`, `get_rate`, `set_rate`.
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) location: Location,
}

impl PossibleReply {
    pub(super) fn of_operation(declaration: &Declaration, operation: &Operation) -> Self {
        let mut parameters = Vec::new();
        if operation.returns != Type::Void {
            parameters.push(returned(declaration, &operation.returns));
        }
        let replied = operation.parameters.iter();
        let replied = replied.filter(|parameter| parameter.direction != Direction::In);
        parameters.extend(replied.cloned().map(|parameter| Parameter {
            direction: Direction::In,
            ..parameter
        }));
        Self {
            of: (declaration.id, Half::Main),
            name: declaration.name.clone(),
            parameters,
            location: declaration.location.clone(),
        }
    }

    pub(super) fn of_attribute(
        declaration: &Declaration,
        attribute: &Attribute,
        taken: &mut HashSet<String>,
    ) -> Vec<Self> {
        let mut halves = vec![(
            "get",
            Half::Main,
            vec![returned(declaration, &attribute.ty)],
        )];
        if !attribute.readonly {
            halves.push(("set", Half::Setter, Vec::new()));
        }
        let halves = halves.into_iter().map(|(prefix, half, parameters)| {
            let mut name = format!("{prefix}_{}", declaration.name);
            while !taken.insert(name.clone()) {
                let rest = name.split_off(prefix.len());
                name = format!("{prefix}_ami{rest}");
            }
            Self {
                of: (declaration.id, half),
                name,
                parameters,
                location: declaration.location.clone(),
            }
        });
        halves.collect()
    }
}

/// Returns the result as a parameter, of whose annotations only `@non_nil` matters.
fn returned(declaration: &Declaration, ty: &Type) -> Parameter {
    let annotations = declaration.annotations.iter();
    Parameter {
        name: "ami_return_val".to_owned(),
        direction: Direction::In,
        ty: ty.clone(),
        annotations: annotations
            .filter(|annotation| annotation.name == "non_nil")
            .cloned()
            .collect(),
        location: declaration.location.clone(),
    }
}

/// Returns the name `…_excep` for each reply; where that name is in use, `_ami` is inserted before
/// `_excep` (§17.8.2).
pub(super) fn exception_names_beside(
    given: &[PossibleReply],
    inherited: &HashSet<String>,
) -> Vec<String> {
    let mut taken: HashSet<String> = given.iter().map(|one| one.name.clone()).collect();
    taken.extend(inherited.iter().cloned());
    let names = given.iter().map(|one| {
        let mut name = format!("{}_excep", one.name);
        let mut between = String::new();
        while !taken.insert(name.clone()) {
            between.push_str("_ami");
            name = format!("{}{between}_excep", one.name);
        }
        name
    });
    names.collect()
}

/// Returns the names of an existing handler's exception operations, one for each reply; the handler
/// must have all of them.
pub(super) fn exception_names(
    given: &[PossibleReply],
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    let names = exception_names_beside(given, &HashSet::new());
    names
        .into_iter()
        .zip(given)
        .map(|(name, one)| {
            let longer = format!("{}_ami_excep", one.name);
            match exists(&name) {
                false if exists(&longer) => longer,
                _ => name,
            }
        })
        .collect()
}
