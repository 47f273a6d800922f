//! Annotations that the standard defines (IDL 4.2, §8.3), and those of this compiler.

use super::parameter::{AllowedValues, Parameter};
use crate::model::{Primitive, Type};

/// Names of all annotations that are known without a definition.
pub(super) const NAMES: &[&str] = &[
    "ami",
    "appendable",
    "autoid",
    "bit_bound",
    "default",
    "default_literal",
    "default_nested",
    "event",
    "extensibility",
    "external",
    "final",
    "hashid",
    "id",
    "ignore_literal_names",
    "interpreted",
    "key",
    "max",
    "min",
    "must_understand",
    "mutable",
    "nested",
    "non_nil",
    "oneway",
    "optional",
    "position",
    "range",
    "rust_name",
    "service",
    "try_construct",
    "unit",
    "value",
    "verbatim",
];

/// Returns `true` if an annotation changes the code that is generated for a member, parameter or definition.
pub(super) fn has_an_effect(name: &str) -> bool {
    matches!(
        name.strip_prefix("::").unwrap_or(name),
        "bit_bound"
            | "default"
            | "default_literal"
            | "interpreted"
            | "max"
            | "min"
            | "non_nil"
            | "oneway"
            | "optional"
            | "position"
            | "range"
            | "rust_name"
            | "value"
    )
}

/// Returns the parameters of the annotation `name`; `None` for an unknown one.
pub(super) fn parameters(name: &str) -> Option<Vec<Parameter>> {
    let name = name.strip_prefix("::").unwrap_or(name);
    Some(match name {
        "final" | "appendable" | "mutable" | "default_literal" => Vec::new(),
        "optional"
        | "key"
        | "must_understand"
        | "external"
        | "nested"
        | "oneway"
        | "ami"
        | "default_nested"
        | "ignore_literal_names"
        | "non_nil"
        | "interpreted" => switch(),
        "event" => vec![named("type", primitive(Primitive::ULong), false)],
        "id" => vec![value(primitive(Primitive::ULong), true)],
        "position" | "bit_bound" => vec![value(primitive(Primitive::UShort), true)],
        "value" | "default" | "min" | "max" => vec![value(AllowedValues::Anything, true)],
        "range" => vec![
            named("min", AllowedValues::Anything, true),
            named("max", AllowedValues::Anything, true),
        ],
        "unit" | "rust_name" => vec![value(text(), true)],
        "hashid" => vec![value(text(), false)],
        "service" => vec![named("platform", text(), false)],
        "autoid" => vec![value(AllowedValues::Word(&["SEQUENTIAL", "HASH"]), false)],
        "extensibility" => {
            let kinds = AllowedValues::Word(&["FINAL", "APPENDABLE", "MUTABLE"]);
            vec![value(kinds, true)]
        }
        "try_construct" => {
            let actions = AllowedValues::Word(&["DISCARD", "USE_DEFAULT", "TRIM"]);
            vec![value(actions, false)]
        }
        "verbatim" => {
            let places = AllowedValues::Word(&[
                "BEGIN_FILE",
                "BEFORE_DECLARATION",
                "BEGIN_DECLARATION",
                "END_DECLARATION",
                "AFTER_DECLARATION",
                "END_FILE",
            ]);
            vec![
                named("language", text(), false),
                named("placement", places, false),
                named("text", text(), true),
            ]
        }
        _ => return None,
    })
}

/// Returns the parameters of a switch: on unless stated otherwise.
fn switch() -> Vec<Parameter> {
    vec![Parameter {
        name: "value".to_owned(),
        wanted: AllowedValues::Of(Type::Primitive(Primitive::Boolean)),
        required: false,
    }]
}

fn value(wanted: AllowedValues, required: bool) -> Parameter {
    named("value", wanted, required)
}

fn named(name: &str, wanted: AllowedValues, required: bool) -> Parameter {
    Parameter {
        name: name.to_owned(),
        wanted,
        required,
    }
}

fn primitive(primitive: Primitive) -> AllowedValues {
    AllowedValues::Of(Type::Primitive(primitive))
}

fn text() -> AllowedValues {
    AllowedValues::Of(Type::String { bound: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_suggested_is_known() {
        for name in NAMES {
            assert!(parameters(name).is_some(), "{name}");
        }
        assert!(parameters("optionl").is_none());
    }
}
