//! What annotations say, beyond `@rust_name`; `constraints` makes code of what they say of members.
//!
//! `@optional` members of structs and exceptions are `Option`s, and travel as a boolean before the
//! value (`punctual-cdr`'s `map` says why). `@default` is what `Default` gives a member, and
//! `@default_literal` what it gives an enum. `@min`, `@max` and `@range` of such members are
//! checked when they are marshaled. `@value` of enumerators is what the enum's `value` says; on the
//! wire plain CDR has their positions. All others are kept in the model, and change nothing.

use punctual_idl::model::{Annotation, ConstValue, Enumerator, Member, Primitive, Type};

/// True for a member or parameter that says `@non_nil`.
pub(crate) fn is_non_nil(annotations: &[Annotation]) -> bool {
    Annotation::is_set(annotations, "non_nil")
}

/// Whether a member need not be there.
pub(crate) fn is_optional(member: &Member) -> bool {
    Annotation::is_set(&member.annotations, "optional")
}

/// What a member starts from, where its IDL says so.
pub(crate) fn default(member: &Member) -> Option<&ConstValue> {
    let default = Annotation::find(&member.annotations, "default")?.constant("value");
    default.filter(|_| !is_optional(member))
}

/// Whether the enumerator is the one to start from.
pub(crate) fn is_default_literal(enumerator: &Enumerator) -> bool {
    Annotation::is_set(&enumerator.annotations, "default_literal")
}

/// Whether a member's values are checked when they are marshaled.
pub(crate) fn is_checked(scope_type: &Type, member: &Member) -> bool {
    matches!(scope_type, Type::Primitive(_)) && {
        let (least, most) = range(member);
        least.or(most).is_some()
    }
}

/// The least and the greatest value that a member may have.
pub(crate) fn range(member: &Member) -> (Option<&ConstValue>, Option<&ConstValue>) {
    let find = |name| Annotation::find(&member.annotations, name);
    let range = find("range");
    let bound = |name| {
        let alone = find(name).and_then(|annotation| annotation.constant("value"));
        alone.or_else(|| range.and_then(|range| range.constant(name)))
    };
    (bound("min"), bound("max"))
}

/// True for a default that clippy takes for a constant of mathematics.
pub(crate) fn float_lints(member: &Member) -> Option<f64> {
    match (default(member)?, &member.ty) {
        (_, Type::Primitive(Primitive::LongDouble)) => None,
        (ConstValue::Float(value), _) => Some(*value),
        _ => None,
    }
}
