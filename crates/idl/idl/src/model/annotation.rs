//! Annotations.

use super::{ConstValue, DeclId, Type};
use crate::source::Location;

/// Annotation in the form of IDL 4: `@name`, `@name(value)`, `@name(a = 1, b = "x")`.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// Name of the annotation after the `@`, with scopes joined by `::`.
    pub name: String,
    /// Arguments of the annotation, in source order.
    pub arguments: Vec<AnnotationArgument>,
    /// Source position of the annotation's name.
    pub location: Location,
}

/// Argument of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnotationArgument {
    /// Name of the argument; `None` for a lone positional value.
    pub name: Option<String>,
    /// Value of the annotation's argument.
    pub value: AnnotationValue,
}

/// Value of an annotation's argument.
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationValue {
    /// Value of a literal or constant expression.
    Const(ConstValue),
    /// Name, as written, that denotes no constant in scope. In a standard annotation it is one of
    /// the annotation's own words, such as `FINAL` in `@extensibility(FINAL)`.
    Name(String),
}

/// Definition of an annotation (`@annotation`; IDL 4.2, §7.4.15.4.1).
#[derive(Clone, Debug)]
pub struct AnnotationDefinition {
    /// Members, the possible arguments of the annotation, in source order.
    pub members: Vec<AnnotationMember>,
    /// Types and constants declared inside the annotation's definition, in source order.
    pub nested: Vec<DeclId>,
}

/// Member of an annotation's definition.
#[derive(Clone, Debug)]
pub struct AnnotationMember {
    /// Name of the annotation's member, without an escaping underscore.
    pub name: String,
    /// Type of the member's values; [`Type::Any`] if a constant of any type is allowed.
    pub ty: Type,
    /// Value of the member if the annotation's use omits the argument.
    pub default: Option<AnnotationValue>,
    /// Source position of the member's name.
    pub location: Location,
}

impl Annotation {
    /// Returns the annotation called `name`, the last one when there are several.
    pub fn find<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
        annotations.iter().rev().find(|a| a.name == name)
    }

    /// Returns whether a switch like `@optional` is on: `@optional`, `@optional(TRUE)`.
    pub fn is_set(annotations: &[Annotation], name: &str) -> bool {
        Annotation::find(annotations, name).is_some_and(|annotation| {
            !matches!(
                annotation.argument("value"),
                Some(AnnotationValue::Const(ConstValue::Boolean(false)))
            )
        })
    }

    /// Returns the argument called `name`; an unnamed argument counts as the one that is asked for.
    pub fn argument(&self, name: &str) -> Option<&AnnotationValue> {
        let wanted = |argument: &&AnnotationArgument| match &argument.name {
            Some(given) => given == name,
            None => true,
        };
        self.arguments.iter().find(wanted).map(|a| &a.value)
    }

    /// Returns the argument called `name`, if it is a constant.
    pub fn constant(&self, name: &str) -> Option<&ConstValue> {
        match self.argument(name)? {
            AnnotationValue::Const(value) => Some(value),
            AnnotationValue::Name(_) => None,
        }
    }

    /// Returns the text of a lone string argument: `x` of `@rust_name("x")`.
    pub fn text(&self) -> Option<&str> {
        match self.arguments.as_slice() {
            [
                AnnotationArgument {
                    value: AnnotationValue::Const(ConstValue::String(text)),
                    ..
                },
            ] => Some(text),
            _ => None,
        }
    }
}
