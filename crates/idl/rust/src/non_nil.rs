//! References that are not nil unless the IDL says `@non_nil(FALSE)`: the option `non_nil`.
//!
//! As if `@non_nil` stood at each parameter, result, attribute and member that is a reference or a value. Elements of
//! sequences, and all that is in the state of valuetypes, may be nil as ever: a value begins with nothing in it. What other
//! crates have generated is as they have it.

use punctual_idl::model::{Annotation, DeclKind, Declaration, Member, Specification, Type};
use punctual_idl::source::Location;

use crate::types::{Form, form};
use crate::{Options, extern_scope};

/// The specification with the annotation wherever it applies.
pub(crate) fn everywhere(specification: &Specification, options: &Options) -> Specification {
    let in_states = in_states(specification);
    let mut annotated = specification.clone();
    for declaration in &mut annotated.declarations {
        let is_free = !in_states[declaration.id.index()];
        if is_free && extern_scope(options, declaration).is_none() {
            annotate(specification, declaration);
        }
    }
    annotated
}

/// What the states of valuetypes are made of, by declaration.
fn in_states(spec: &Specification) -> Vec<bool> {
    let mut marked = vec![false; spec.declarations.len()];
    for declaration in &spec.declarations {
        let DeclKind::ValueType(value) = &declaration.kind else {
            continue;
        };
        for state in &value.state {
            spec.contains(&state.member.ty, |part| {
                if let Type::Named(id) = part {
                    marked[id.index()] = !matches!(spec[*id].kind, DeclKind::ValueType(_));
                }
                false
            });
        }
    }
    marked
}

fn annotate(spec: &Specification, declaration: &mut Declaration) {
    let location = declaration.location.clone();
    let own = &mut declaration.annotations;
    match &mut declaration.kind {
        DeclKind::Operation(operation) => {
            add(spec, &operation.returns, own, &location);
            for parameter in &mut operation.parameters {
                add(
                    spec,
                    &parameter.ty,
                    &mut parameter.annotations,
                    &parameter.location,
                );
            }
        }
        DeclKind::Attribute(attribute) => add(spec, &attribute.ty, own, &location),
        DeclKind::Struct(structure) => members(spec, &mut structure.members),
        DeclKind::Exception(exception) => members(spec, &mut exception.members),
        DeclKind::ValueType(value) => {
            let factories = value.factories.iter_mut();
            for parameter in factories.flat_map(|factory| &mut factory.parameters) {
                add(
                    spec,
                    &parameter.ty,
                    &mut parameter.annotations,
                    &parameter.location,
                );
            }
        }
        DeclKind::Union(union) => {
            for case in &mut union.cases {
                members(spec, std::slice::from_mut(&mut case.member));
            }
        }
        _ => {}
    }
}

fn members(spec: &Specification, members: &mut [Member]) {
    for member in members {
        add(spec, &member.ty, &mut member.annotations, &member.location);
    }
}

/// Says it of what says nothing.
fn add(spec: &Specification, ty: &Type, annotations: &mut Vec<Annotation>, location: &Location) {
    let may_be_nil = matches!(form(spec, ty), Form::Reference | Form::Local);
    if may_be_nil && Annotation::find(annotations, "non_nil").is_none() {
        annotations.push(Annotation {
            name: "non_nil".to_owned(),
            arguments: Vec::new(),
            location: location.clone(),
        });
    }
}
