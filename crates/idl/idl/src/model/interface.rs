//! Interfaces, their operations and attributes.

use super::{Annotation, DeclId, Type};
use crate::source::Location;

/// How an interface may be referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceFlavour {
    /// Objects that may be remote.
    Plain,
    /// Object reference or value, known at run time.
    Abstract,
    /// Never leaves its process.
    Local,
}

/// `interface` (CORBA 3.3 part 1, §7.8).
#[derive(Clone, Debug)]
pub struct Interface {
    /// Plain, abstract or local.
    pub flavour: InterfaceFlavour,
    /// Direct bases as written. All of them: [`Specification::ancestors`](super::Specification::ancestors).
    pub bases: Vec<DeclId>,
    /// Types, constants, exceptions, operations and attributes in source order.
    pub body: Vec<DeclId>,
    /// True when only forward declarations of it were found: it can be referred to, and has no
    /// operations. CORBA allows it, and a warning tells of it.
    pub forward_only: bool,
}

/// An operation (§7.14).
#[derive(Clone, Debug)]
pub struct Operation {
    /// Sent without waiting for an answer; then it returns void and has `in` parameters only.
    pub oneway: bool,
    /// What it returns; [`Type::Void`] for nothing.
    pub returns: Type,
    /// Parameters in source order.
    pub parameters: Vec<Parameter>,
    /// Exceptions it may raise, in source order, each once. A native type among them stands for
    /// whatever the language mapping makes of it.
    pub raises: Vec<DeclId>,
    /// The strings of its `context` clause.
    pub context: Vec<String>,
}

/// Which way a parameter travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the server.
    In,
    /// From the server.
    Out,
    /// Both ways.
    InOut,
}

/// A parameter of an operation or a value type's factory.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name, without an escaping underscore.
    pub name: String,
    /// Which way it travels; always [`Direction::In`] for a factory.
    pub direction: Direction,
    /// Its type as written.
    pub ty: Type,
    /// `@…` annotations in source order.
    pub annotations: Vec<Annotation>,
    /// Where its name stands.
    pub location: Location,
}

/// One attribute; `attribute long a, b;` declares two.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// It has no setter.
    pub readonly: bool,
    /// Its type as written.
    pub ty: Type,
    /// What reading may raise: `getraises`, or `raises` of a read-only one.
    pub get_raises: Vec<DeclId>,
    /// What writing may raise: `setraises`.
    pub set_raises: Vec<DeclId>,
}
