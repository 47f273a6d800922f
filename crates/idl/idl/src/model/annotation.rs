//! Annotations.

use super::{ConstValue, DeclId, Type};
use crate::source::Location;

/// An annotation in the form of IDL 4: `@name`, `@name(value)`, `@name(a = 1, b = "x")`.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// The name after the `@`, scopes joined by `::`.
    pub name: String,
    /// Its arguments in source order.
    pub arguments: Vec<AnnotationArgument>,
    /// Where its name stands.
    pub location: Location,
}

/// One argument of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnotationArgument {
    /// `None` for a lone positional value.
    pub name: Option<String>,
    /// The value.
    pub value: AnnotationValue,
}

/// What an annotation's argument says.
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationValue {
    /// A literal or a constant expression.
    Const(ConstValue),
    /// A name that is no constant in scope, as written: an enumerator of the annotation's own.
    Name(String),
}

/// `@annotation` (IDL 4.2, §7.4.15.4.1).
#[derive(Clone, Debug)]
pub struct AnnotationDefinition {
    /// What an annotation of this name says, in source order.
    pub members: Vec<AnnotationMember>,
    /// Types and constants that were declared inside, in source order.
    pub nested: Vec<DeclId>,
}

/// One thing that an annotation says.
#[derive(Clone, Debug)]
pub struct AnnotationMember {
    /// The name, without an escaping underscore.
    pub name: String,
    /// The type of its values; [`Type::Any`] where each constant is allowed.
    pub ty: Type,
    /// What is meant where nothing is said.
    pub default: Option<AnnotationValue>,
    /// Where its name stands.
    pub location: Location,
}

impl Annotation {
    /// The annotation of that name, the last one when there are several.
    pub fn find<'a>(annotations: &'a [Annotation], name: &str) -> Option<&'a Annotation> {
        annotations.iter().rev().find(|a| a.name == name)
    }

    /// Whether a switch like `@optional` is on: `@optional`, `@optional(TRUE)`.
    pub fn is_set(annotations: &[Annotation], name: &str) -> bool {
        Annotation::find(annotations, name).is_some_and(|annotation| {
            !matches!(
                annotation.argument("value"),
                Some(AnnotationValue::Const(ConstValue::Boolean(false)))
            )
        })
    }

    /// The argument of that name; one without a name stands for any.
    pub fn argument(&self, name: &str) -> Option<&AnnotationValue> {
        let wanted = |argument: &&AnnotationArgument| match &argument.name {
            Some(given) => given == name,
            None => true,
        };
        self.arguments.iter().find(wanted).map(|a| &a.value)
    }

    /// The constant that is the argument of that name.
    pub fn constant(&self, name: &str) -> Option<&ConstValue> {
        match self.argument(name)? {
            AnnotationValue::Const(value) => Some(value),
            AnnotationValue::Name(_) => None,
        }
    }

    /// The text of a lone string argument: `x` of `@rust_name("x")`.
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
