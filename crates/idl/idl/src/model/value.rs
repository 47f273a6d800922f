//! Value types and their state.

use super::{Annotation, DeclId, Member, Parameter, Type};
use crate::source::Location;

/// How a value type travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFlavour {
    /// By its state.
    Plain,
    /// By marshaling code that the user writes.
    Custom,
    /// Not at all: it has no state.
    Abstract,
}

/// `valuetype` (§7.9).
#[derive(Clone, Debug)]
pub struct ValueType {
    /// Plain, custom or abstract.
    pub flavour: ValueFlavour,
    /// Its state may be cut down to that of its first base.
    pub truncatable: bool,
    /// Base value types as written; a concrete one can only be the first.
    pub bases: Vec<DeclId>,
    /// Interfaces that it supports, as written.
    pub supports: Vec<DeclId>,
    /// State members in source order.
    pub state: Vec<StateMember>,
    /// `factory` initializers in source order.
    pub factories: Vec<Factory>,
    /// Types, constants, exceptions, operations and attributes in source order.
    pub body: Vec<DeclId>,
    /// True when only forward declarations of it were found. CORBA allows it, and a warning tells
    /// of it. Nothing is known of its state, so it counts as abstract: values that derive from it
    /// can be passed on.
    pub forward_only: bool,
}

/// A state member of a value type.
#[derive(Clone, Debug)]
pub struct StateMember {
    /// `public` rather than `private`.
    pub public: bool,
    /// The member.
    pub member: Member,
}

/// A value type's initializer.
#[derive(Clone, Debug)]
pub struct Factory {
    /// The name, without an escaping underscore.
    pub name: String,
    /// Parameters in source order, all `in`.
    pub parameters: Vec<Parameter>,
    /// Exceptions it may raise.
    pub raises: Vec<DeclId>,
    /// Lines of the comment directly before it.
    pub doc: Vec<String>,
    /// `@…` annotations in source order.
    pub annotations: Vec<Annotation>,
    /// Where its name stands.
    pub location: Location,
}

/// `valuetype Name Type;`
#[derive(Clone, Debug)]
pub struct ValueBox {
    /// What it boxes, as written.
    pub ty: Type,
}
