//! Annotations.

use super::ConstValue;
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
    /// A name that is no constant in scope, as written; annotations are not declared anywhere,
    /// so the reader of the annotation knows what it means.
    Name(String),
}

impl Annotation {
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
