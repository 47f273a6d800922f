//! Constructed types, exceptions, and constants.

use super::{Annotation, ConstValue, DeclId, Type};
use crate::source::Location;

/// Single declarator of a typedef; an array declarator gives [`Type::Array`].
#[derive(Clone, Debug)]
pub struct Typedef {
    /// Type that the name stands for, as written.
    pub ty: Type,
}

/// Member of a struct, an exception or a union's case.
#[derive(Clone, Debug)]
pub struct Member {
    /// Name, without an escaping underscore.
    pub name: String,
    /// Type as written; an array declarator gives [`Type::Array`].
    pub ty: Type,
    /// Lines of the IDL comment directly before the definition.
    pub doc: Vec<String>,
    /// `@…` annotations in source order.
    pub annotations: Vec<Annotation>,
    /// Source position of the name.
    pub location: Location,
}

/// `struct` (§7.11.2).
#[derive(Clone, Debug)]
pub struct Struct {
    /// Members in source order; at least one.
    pub members: Vec<Member>,
    /// Types that were declared inside a member's type, in source order.
    pub nested: Vec<DeclId>,
}

/// `exception` (§7.13).
#[derive(Clone, Debug)]
pub struct Exception {
    /// Members in source order; maybe none.
    pub members: Vec<Member>,
    /// Types that were declared inside a member's type, in source order.
    pub nested: Vec<DeclId>,
}

/// `union` (§7.11.2).
#[derive(Clone, Debug)]
pub struct Union {
    /// Discriminator's type as written: an integer, char, wchar, boolean or enum, or a typedef of
    /// one.
    pub discriminator: Type,
    /// Cases in source order; at least one.
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
    /// Labels in source order; at least one.
    pub labels: Vec<Label>,
    /// Member of the case.
    pub member: Member,
}

/// Label of a union.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    /// `case value:`, of the discriminator's type.
    Value(ConstValue),
    /// `default:`; at most one in a union.
    Default,
}

/// `enum` (§7.11.2.4).
#[derive(Clone, Debug)]
pub struct Enum {
    /// Enumerators in source order; the position is the value on the wire.
    pub enumerators: Vec<Enumerator>,
}

/// Value of an enum. Its name lives in the scope that the enum lives in.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// Name, without an escaping underscore.
    pub name: String,
    /// Names of all scopes from the global one down: the enum's own name is not among them.
    pub scoped_name: Vec<String>,
    /// Lines of the IDL comment directly before the definition.
    pub doc: Vec<String>,
    /// `@…` annotations in source order.
    pub annotations: Vec<Annotation>,
    /// Source position of the name.
    pub location: Location,
}

/// `const` (§7.10).
#[derive(Clone, Debug)]
pub struct Const {
    /// Type as written. For `fixed`, which is written without digits, digits and scale are those of
    /// the value.
    pub ty: Type,
    /// Value, in the range of the type.
    pub value: ConstValue,
}
