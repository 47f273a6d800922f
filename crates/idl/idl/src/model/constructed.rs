//! Constructed types, exceptions, and constants.

use super::{Annotation, ConstValue, DeclId, Type};
use crate::source::Location;

/// Single declarator of a typedef; an array declarator gives [`Type::Array`].
#[derive(Clone, Debug)]
pub struct Typedef {
    /// Type for which the typedef's name stands, as written.
    pub ty: Type,
}

/// Member of a struct, an exception or a union's case.
#[derive(Clone, Debug)]
pub struct Member {
    /// Name of the member, without an escaping underscore.
    pub name: String,
    /// Type of the member as written; an array declarator gives [`Type::Array`].
    pub ty: Type,
    /// Lines of the IDL comment directly before the definition.
    pub doc: Vec<String>,
    /// Annotations (`@…`) of the member, in source order.
    pub annotations: Vec<Annotation>,
    /// Source position of the member's name.
    pub location: Location,
}

/// Structure type (`struct`, §7.11.2).
#[derive(Clone, Debug)]
pub struct Struct {
    /// Members of the structure in source order; at least one.
    pub members: Vec<Member>,
    /// Types that were declared inside a member's type, in source order.
    pub nested: Vec<DeclId>,
}

/// User exception (`exception`, §7.13).
#[derive(Clone, Debug)]
pub struct Exception {
    /// Members of the exception in source order; may be empty.
    pub members: Vec<Member>,
    /// Types that were declared inside a member's type, in source order.
    pub nested: Vec<DeclId>,
}

/// Union type (`union`, §7.11.2).
#[derive(Clone, Debug)]
pub struct Union {
    /// Discriminator's type as written: an integer, char, wchar, boolean or enum, or a typedef of
    /// one.
    pub discriminator: Type,
    /// Cases of the union in source order; at least one.
    pub cases: Vec<Case>,
    /// `true` if the union has no `default:` though some discriminator values have no label: with
    /// such a value, the union holds nothing else.
    pub implicit_default: bool,
    /// Types that were declared inside the union, in source order.
    pub nested: Vec<DeclId>,
}

/// Member of a union with the labels that select it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Labels of the union's case in source order; at least one.
    pub labels: Vec<Label>,
    /// Member that the union's case selects.
    pub member: Member,
}

/// Label of a union's case.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// Label `case value:`, with a value of the discriminator's type.
    Value(ConstValue),
    /// Label `default:`; at most one in a union.
    Default,
}

/// Enumeration type (`enum`, §7.11.2.4).
#[derive(Clone, Debug)]
pub struct Enum {
    /// Enumerators in source order; the position is the value on the wire.
    pub enumerators: Vec<Enumerator>,
}

/// Value of an enum. Its name lives in the scope that the enum lives in.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// Name of the enumerator, without an escaping underscore.
    pub name: String,
    /// Names of all scopes from the global one down: the enum's own name is not among them.
    pub scoped_name: Vec<String>,
    /// Lines of the IDL comment directly before the definition.
    pub doc: Vec<String>,
    /// Annotations (`@…`) of the enumerator, in source order.
    pub annotations: Vec<Annotation>,
    /// Source position of the enumerator's name.
    pub location: Location,
}

/// Constant (`const`, §7.10).
#[derive(Clone, Debug)]
pub struct Const {
    /// Type as written. For `fixed`, which is written without digits, digits and scale are those of
    /// the value.
    pub ty: Type,
    /// Value of the constant, in the range of its type.
    pub value: ConstValue,
}
