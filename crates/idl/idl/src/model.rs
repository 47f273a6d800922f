//! The resolved model: what an IDL file says once every name has found its declaration.
//!
//! A [`Specification`] owns all declarations in one arena and refers to them by [`DeclId`].
//! Invariants that hold for every specification that `compile` returns:
//!
//! - every `DeclId` in it is valid, and names a declaration of the kind that its place allows
//!   (a base of an interface is an interface, a raised name is an exception, and so on);
//! - forward declarations are gone: the id of a forward declaration is the id of its definition,
//!   and a body lists a declaration once, where it is defined;
//! - inheritance has no cycles, typedefs end at a type, recursion passes through a sequence
//!   (or through a value type, whose members are references);
//! - constants, bounds and labels are values that lie in the range of their types;
//! - everything is in source order, and nothing depends on the order of a hash table.
//!
//! Types stay as they were written: a member of a typedef's type names the typedef.
//! [`Specification::resolve`] looks through.

mod annotation;
mod bits;
mod queries;
mod types;

use std::sync::Arc;

use crate::source::{FileId, Location, SourceFile};

pub use annotation::{
    Annotation, AnnotationArgument, AnnotationDefinition, AnnotationMember, AnnotationValue,
};
pub use bits::{Bitfield, Bitmask, Bitset, Flag};
pub use types::{ConstValue, FixedValue, Primitive, Type};

/// Identifies a [`Declaration`] within its [`Specification`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeclId(pub(crate) u32);

impl DeclId {
    /// The position in [`Specification::declarations`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One compiled IDL file together with all that it includes.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// Every file that was read, the main file first. [`FileId`] indexes it.
    pub files: Vec<Arc<SourceFile>>,
    /// All declarations, in the order in which they were first seen.
    pub declarations: Vec<Declaration>,
    /// The declarations of the global scope in source order, included files' among them.
    /// A module that is reopened is listed once for each of its parts.
    pub definitions: Vec<DeclId>,
}

/// A named thing: module, type, constant, operation, …
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its own id.
    pub id: DeclId,
    /// The simple name as written, without an escaping underscore.
    pub name: String,
    /// All names from the global scope down to this one: `["CosNaming", "Name"]`.
    pub scoped_name: Vec<String>,
    /// The repository id: `IDL:omg.org/CosNaming/Name:1.0` (CORBA 3.3 part 1, §14.7).
    pub repository_id: String,
    /// The scope that it was written in, `None` for the global one. For what lies in a reopened
    /// module this is the part of the module, not the first one.
    pub parent: Option<DeclId>,
    /// Lines of the comment directly before it, without comment markers.
    pub doc: Vec<String>,
    /// `@…` annotations in source order.
    pub annotations: Vec<Annotation>,
    /// Where its name stands in its definition.
    pub location: Location,
    /// False when it came by `#include`.
    pub in_main_file: bool,
    /// What it is.
    pub kind: DeclKind,
}

/// What a declaration is, with all that belongs to it.
#[derive(Clone, Debug)]
pub enum DeclKind {
    /// `module`.
    Module(Module),
    /// `interface`, plain, abstract or local.
    Interface(Interface),
    /// An operation of an interface or value type.
    Operation(Operation),
    /// One declarator of an attribute.
    Attribute(Attribute),
    /// One declarator of a `typedef`.
    Typedef(Typedef),
    /// `struct`.
    Struct(Struct),
    /// `exception`.
    Exception(Exception),
    /// `union`.
    Union(Union),
    /// `enum`.
    Enum(Enum),
    /// `bitmask` of IDL 4.
    Bitmask(Bitmask),
    /// `bitset` of IDL 4.
    Bitset(Bitset),
    /// `const`.
    Const(Const),
    /// `@annotation` of IDL 4: what annotations of that name may say. Nothing of the program.
    Annotation(AnnotationDefinition),
    /// `native`.
    Native,
    /// `valuetype` with a body.
    ValueType(ValueType),
    /// `valuetype` that boxes one type.
    ValueBox(ValueBox),
}

impl DeclKind {
    /// The construct's name for messages: "interface", "struct", "boxed value type", …
    pub fn describe(&self) -> &'static str {
        match self {
            DeclKind::Module(_) => "module",
            DeclKind::Interface(i) => match i.flavour {
                InterfaceFlavour::Plain => "interface",
                InterfaceFlavour::Abstract => "abstract interface",
                InterfaceFlavour::Local => "local interface",
            },
            DeclKind::Operation(_) => "operation",
            DeclKind::Attribute(_) => "attribute",
            DeclKind::Typedef(_) => "typedef",
            DeclKind::Struct(_) => "struct",
            DeclKind::Exception(_) => "exception",
            DeclKind::Union(_) => "union",
            DeclKind::Enum(_) => "enum",
            DeclKind::Bitmask(_) => "bitmask",
            DeclKind::Bitset(_) => "bitset",
            DeclKind::Const(_) => "constant",
            DeclKind::Annotation(_) => "annotation",
            DeclKind::Native => "native type",
            DeclKind::ValueType(v) if v.flavour == ValueFlavour::Abstract => "abstract value type",
            DeclKind::ValueType(_) => "value type",
            DeclKind::ValueBox(_) => "boxed value type",
        }
    }
}

/// One part of a module: the text between one pair of braces.
#[derive(Clone, Debug)]
pub struct Module {
    /// The module's first part; its own id when this is it.
    pub first_part: DeclId,
    /// What this part declares, in source order.
    pub body: Vec<DeclId>,
}

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
    /// Direct bases as written. All of them: [`Specification::ancestors`].
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
    /// Exceptions it may raise, in source order, each once.
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

/// One declarator of a typedef; an array declarator gives [`Type::Array`].
#[derive(Clone, Debug)]
pub struct Typedef {
    /// What the name stands for, as written.
    pub ty: Type,
}

/// A member of a struct, an exception or a union's case.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name, without an escaping underscore.
    pub name: String,
    /// Its type as written; an array declarator gives [`Type::Array`].
    pub ty: Type,
    /// Lines of the comment directly before it.
    pub doc: Vec<String>,
    /// `@…` annotations in source order.
    pub annotations: Vec<Annotation>,
    /// Where its name stands.
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
    /// The discriminator's type as written: an integer, char, wchar, boolean or enum, or a
    /// typedef of one.
    pub discriminator: Type,
    /// Cases in source order; at least one.
    pub cases: Vec<Case>,
    /// No `default:` though some discriminator values have no label: with such a value, the
    /// union holds nothing else.
    pub implicit_default: bool,
    /// Types that were declared inside the union, in source order.
    pub nested: Vec<DeclId>,
}

/// One member of a union with the labels that select it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Labels in source order; at least one.
    pub labels: Vec<Label>,
    /// The member.
    pub member: Member,
}

/// A union's label.
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
    /// In source order; the position is the value on the wire.
    pub enumerators: Vec<Enumerator>,
}

/// A value of an enum. Its name lives in the scope that the enum lives in.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// The name, without an escaping underscore.
    pub name: String,
    /// All names from the global scope down: the enum's own name is not among them.
    pub scoped_name: Vec<String>,
    /// Lines of the comment directly before it.
    pub doc: Vec<String>,
    /// `@…` annotations in source order.
    pub annotations: Vec<Annotation>,
    /// Where its name stands.
    pub location: Location,
}

/// `const` (§7.10).
#[derive(Clone, Debug)]
pub struct Const {
    /// The type as written. For `fixed`, which is written without digits, digits and scale are
    /// those of the value.
    pub ty: Type,
    /// Its value, in the range of the type.
    pub value: ConstValue,
}

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

impl Declaration {
    /// The name with all its scopes: `::CosNaming::Name`.
    pub fn absolute_name(&self) -> String {
        self.scoped_name
            .iter()
            .fold(String::new(), |mut text, name| {
                text.push_str("::");
                text.push_str(name);
                text
            })
    }

    /// The file that it was defined in.
    pub fn file(&self) -> FileId {
        self.location.file
    }

    /// The annotation of that name, the last one when there are several.
    pub fn annotation(&self, name: &str) -> Option<&Annotation> {
        Annotation::find(&self.annotations, name)
    }
}
