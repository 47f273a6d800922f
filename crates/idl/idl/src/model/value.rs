//! Value types and their state.

use super::{Annotation, DeclId, Member, Parameter, Type};
use crate::source::Location;

/// Kind of a value type, according to how its state is marshaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFlavour {
    /// The members of the state are marshaled in order.
    Plain,
    /// Custom value type, whose state is marshaled by user code.
    Custom,
    /// Not marshaled: an abstract value type has no state.
    Abstract,
}

/// Value type (`valuetype`, §7.9).
#[derive(Clone, Debug)]
pub struct ValueType {
    /// Kind of the value type: plain, custom or abstract.
    pub flavour: ValueFlavour,
    /// `true` if the value's state may be truncated to that of its first base.
    pub truncatable: bool,
    /// Base value types as written; a concrete one can only be the first.
    pub bases: Vec<DeclId>,
    /// Interfaces that the value type supports, as written.
    pub supports: Vec<DeclId>,
    /// State members of the value type, in source order.
    pub state: Vec<StateMember>,
    /// Initializers (`factory`) of the value type, in source order.
    pub factories: Vec<Factory>,
    /// Types, constants, exceptions, operations and attributes in source order.
    pub body: Vec<DeclId>,
    /// `true` if only forward declarations of the value type were found. CORBA allows it, and a
    /// warning reports it. Nothing is known of its state, so it counts as abstract: values that
    /// derive from it can be passed on.
    pub forward_only: bool,
}

/// State member of a value type.
#[derive(Clone, Debug)]
pub struct StateMember {
    /// `true` if the member is `public` rather than `private`.
    pub public: bool,
    /// Name, type and annotations of the state member.
    pub member: Member,
}

/// Initializer of a value type.
#[derive(Clone, Debug)]
pub struct Factory {
    /// Name of the initializer, without an escaping underscore.
    pub name: String,
    /// Parameters of the initializer in source order, all of them `in`.
    pub parameters: Vec<Parameter>,
    /// Exceptions that the initializer may raise.
    pub raises: Vec<DeclId>,
    /// Lines of the IDL comment directly before the definition.
    pub doc: Vec<String>,
    /// Annotations (`@…`) of the initializer, in source order.
    pub annotations: Vec<Annotation>,
    /// Source position of the initializer's name.
    pub location: Location,
}

/// Value type that boxes another type: `valuetype Name Type;`
#[derive(Clone, Debug)]
pub struct ValueBox {
    /// Boxed type, as written.
    pub ty: Type,
}
