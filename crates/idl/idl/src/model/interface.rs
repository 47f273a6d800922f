//! Interfaces, their operations and attributes.

use super::{Annotation, DeclId, RtInfo, Type};
use crate::source::Location;

/// Kind of an interface, which decides what its references can denote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceFlavour {
    /// Neither abstract nor local: a reference denotes an object, which may be remote.
    Plain,
    /// Abstract: denotes an object or a value; which of them is known at run time.
    Abstract,
    /// Local: denotes an object of this process; the reference cannot be sent.
    Local,
}

/// Interface type (`interface`; CORBA 3.3 part 1, §7.8).
#[derive(Clone, Debug)]
pub struct Interface {
    /// Kind of interface: plain, abstract or local.
    pub flavour: InterfaceFlavour,
    /// Direct bases as written. [`Specification::ancestors`](super::Specification::ancestors)
    /// returns all of them.
    pub bases: Vec<DeclId>,
    /// Types, constants, exceptions, operations and attributes in source order.
    pub body: Vec<DeclId>,
    /// `true` if only forward declarations of the interface were found: it can be referred to, and
    /// has no operations. CORBA allows it, and a warning reports it.
    pub forward_only: bool,
}

/// Operation of an interface or value type (§7.14).
#[derive(Clone, Debug)]
pub struct Operation {
    /// `true` if the operation is sent without waiting for an answer; then it returns void and has
    /// `in` parameters only.
    pub oneway: bool,
    /// Type of the operation's result; [`Type::Void`] for none.
    pub returns: Type,
    /// Parameters of the operation, in source order.
    pub parameters: Vec<Parameter>,
    /// Exceptions that the operation may raise, in source order, each once. A native type among
    /// them stands for whatever the language mapping makes of it.
    pub raises: Vec<DeclId>,
    /// Strings of the operation's `context` clause.
    pub context: Vec<String>,
    /// Timing of the operation, if it has `@rt`.
    pub rt: Option<Box<RtInfo>>,
}

/// Direction of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Parameter passed from client to server (`in`).
    In,
    /// Parameter passed from server to client (`out`).
    Out,
    /// Parameter passed in both directions (`inout`).
    InOut,
}

/// Parameter of an operation or a value type's factory.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name of the parameter, without an escaping underscore.
    pub name: String,
    /// Direction of the parameter; always [`Direction::In`] for a value type's factory.
    pub direction: Direction,
    /// Type of the parameter, as written.
    pub ty: Type,
    /// Annotations (`@…`) of the parameter, in source order.
    pub annotations: Vec<Annotation>,
    /// Source position of the parameter's name.
    pub location: Location,
}

/// Attribute of one declarator: `attribute long a, b;` declares two attributes.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// `true` if the attribute has no setter.
    pub readonly: bool,
    /// Type of the attribute, as written.
    pub ty: Type,
    /// Exceptions that reading may raise: `getraises`, or `raises` of a read-only one.
    pub get_raises: Vec<DeclId>,
    /// Exceptions that writing the attribute may raise (`setraises`).
    pub set_raises: Vec<DeclId>,
    /// Timing of reading and writing, if the attribute has `@rt`.
    pub rt: Option<Box<RtInfo>>,
}
