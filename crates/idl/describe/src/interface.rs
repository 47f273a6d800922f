//! Interfaces, operations and exceptions as data.

use punctual_any::{
    AttributeDescription, ExceptionDescription, InterfaceDescription, OperationDescription,
    ParameterDescription, ParameterMode,
};
use punctual_idl::model::{
    Attribute, DeclId, DeclKind, Declaration, Direction, Operation, Specification,
};

use crate::types::{type_code, type_of};

/// Returns all declared interfaces, those of included files among them, in source order.
pub fn interfaces(specification: &Specification) -> impl Iterator<Item = &Declaration> {
    let is_interface = |one: &&Declaration| matches!(one.kind, DeclKind::Interface(_));
    specification.declarations.iter().filter(is_interface)
}

/// Describes an interface with the operations and attributes of its own and of all its bases, these
/// first; returns `None` for any other declaration. A valuetype is described by its own operations.
#[must_use]
pub fn interface(specification: &Specification, id: DeclId) -> Option<InterfaceDescription> {
    let declared = &specification[id];
    if !matches!(
        declared.kind,
        DeclKind::Interface(_) | DeclKind::ValueType(_)
    ) {
        return None;
    }
    let mut description = InterfaceDescription {
        name: declared.name.clone(),
        id: declared.repository_id.clone(),
        defined_in: enclosing(specification, declared),
        version: version(&declared.repository_id),
        operations: Vec::new(),
        attributes: Vec::new(),
        bases: specification
            .bases(id)
            .iter()
            .map(|base| specification[*base].repository_id.clone())
            .collect(),
        type_code: type_code(specification, id)?,
    };
    for member in specification.all_operations(id) {
        let declared = &specification[member];
        match &declared.kind {
            DeclKind::Operation(one) => {
                let operation = describe_operation(specification, declared, one);
                description.operations.push(operation);
            }
            DeclKind::Attribute(one) => {
                let attribute = describe_attribute(specification, declared, one);
                description.attributes.push(attribute);
            }
            _ => {}
        }
    }
    Some(description)
}

/// Describes an operation; returns `None` for any other declaration.
#[must_use]
pub fn operation(specification: &Specification, id: DeclId) -> Option<OperationDescription> {
    let declared = &specification[id];
    match &declared.kind {
        DeclKind::Operation(one) => Some(describe_operation(specification, declared, one)),
        _ => None,
    }
}

/// Describes an exception; returns `None` for any other declaration.
#[must_use]
pub fn exception(specification: &Specification, id: DeclId) -> Option<ExceptionDescription> {
    let declared = &specification[id];
    if !matches!(declared.kind, DeclKind::Exception(_)) {
        return None;
    }
    Some(ExceptionDescription {
        name: declared.name.clone(),
        id: declared.repository_id.clone(),
        type_code: type_code(specification, id)?,
    })
}

fn describe_operation(
    specification: &Specification,
    declared: &Declaration,
    operation: &Operation,
) -> OperationDescription {
    let parameters = operation.parameters.iter().map(|one| ParameterDescription {
        name: one.name.clone(),
        type_code: type_of(specification, &one.ty),
        mode: match one.direction {
            Direction::In => ParameterMode::In,
            Direction::Out => ParameterMode::Out,
            Direction::InOut => ParameterMode::InOut,
        },
    });
    OperationDescription {
        name: declared.name.clone(),
        id: declared.repository_id.clone(),
        oneway: operation.oneway,
        result: type_of(specification, &operation.returns),
        parameters: parameters.collect(),
        exceptions: exceptions(specification, &operation.raises),
        contexts: operation.context.clone(),
    }
}

fn describe_attribute(
    specification: &Specification,
    declared: &Declaration,
    attribute: &Attribute,
) -> AttributeDescription {
    AttributeDescription {
        name: declared.name.clone(),
        id: declared.repository_id.clone(),
        type_code: type_of(specification, &attribute.ty),
        readonly: attribute.readonly,
        get_exceptions: exceptions(specification, &attribute.get_raises),
        put_exceptions: exceptions(specification, &attribute.set_raises),
    }
}

fn exceptions(specification: &Specification, raised: &[DeclId]) -> Vec<ExceptionDescription> {
    let raised = raised.iter();
    raised
        .filter_map(|one| exception(specification, *one))
        .collect()
}

/// Returns the repository id of the scope that encloses a declaration; empty in the global scope.
fn enclosing(specification: &Specification, declared: &Declaration) -> String {
    let parent = declared.parent.map(|parent| &specification[parent]);
    parent.map_or_else(String::new, |parent| parent.repository_id.clone())
}

/// Returns the version of a repository id: `1.0` of `IDL:Foo:1.0`.
fn version(repository_id: &str) -> String {
    let version = repository_id.rsplit_once(':').map(|(_, version)| version);
    version.unwrap_or("1.0").to_owned()
}
