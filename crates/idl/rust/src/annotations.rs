//! Effects of annotations other than `@rust_name`; `constraints` generates code for those on
//! members.
//!
//! `@optional` members of structs and exceptions are `Option`s, and are encoded as a boolean before
//! the value (see `punctual-cdr`'s `map`). `@default` is a member's value in `Default`, and
//! `@default_literal` that of an enum. `@min`, `@max` and `@range` of such members are checked when
//! they are marshaled. `@value` of enumerators is the result of the enum's `value`; on the wire
//! plain CDR has their positions. All others are kept in the model without effect.

use punctual_idl::model::{Annotation, ConstValue, Enumerator, Member, Primitive, Type};

/// Returns `true` for a member or parameter with `@non_nil`.
pub(crate) fn is_non_nil(annotations: &[Annotation]) -> bool {
    Annotation::is_set(annotations, "non_nil")
}

/// Returns whether a member is optional.
pub(crate) fn is_optional(member: &Member) -> bool {
    Annotation::is_set(&member.annotations, "optional")
}

/// Returns a member's default value, where its IDL states one.
pub(crate) fn default(member: &Member) -> Option<&ConstValue> {
    let default = Annotation::find(&member.annotations, "default")?.constant("value");
    default.filter(|_| !is_optional(member))
}

/// Returns whether the enumerator is the enum's default.
pub(crate) fn is_default_literal(enumerator: &Enumerator) -> bool {
    Annotation::is_set(&enumerator.annotations, "default_literal")
}

/// Returns whether a member's values are checked when they are marshaled.
pub(crate) fn is_checked(scope_type: &Type, member: &Member) -> bool {
    matches!(scope_type, Type::Primitive(_)) && {
        let (least, most) = range(member);
        least.or(most).is_some()
    }
}

/// Returns the least and the greatest value that a member may have.
pub(crate) fn range(member: &Member) -> (Option<&ConstValue>, Option<&ConstValue>) {
    let find = |name| Annotation::find(&member.annotations, name);
    let range = find("range");
    let bound = |name| {
        let alone = find(name).and_then(|annotation| annotation.constant("value"));
        alone.or_else(|| range.and_then(|range| range.constant(name)))
    };
    (bound("min"), bound("max"))
}

/// Returns the floating-point value of a member's `@default`, if it has one. The generated code
/// permits the lint of clippy that takes such a value for a constant like π.
pub(crate) fn float_lints(member: &Member) -> Option<f64> {
    match (default(member)?, &member.ty) {
        (_, Type::Primitive(Primitive::LongDouble)) => None,
        (ConstValue::Float(value), _) => Some(*value),
        _ => None,
    }
}
