//! Resolved model: the content of an IDL file once every name is resolved to its declaration.
//!
//! A [`Specification`] owns all declarations in one arena and refers to them by [`DeclId`].
//! Invariants that hold for every specification that `compile` returns:
//!
//! - every `DeclId` in it is valid, and names a declaration of the kind that its context allows (a
//!   base of an interface is an interface, a raised name is an exception or a native type, and so
//!   on);
//! - forward declarations are gone: the id of a forward declaration is the id of its definition,
//!   and a body lists a declaration once, where it is defined;
//! - inheritance has no cycles, typedefs end at a type, recursion passes through a sequence
//!   (or through a value type, whose members are references);
//! - constants, bounds and labels are values that lie in the range of their types;
//! - everything is in source order, and nothing depends on the order of a hash table.
//!
//! Types stay as they were written: a member of a typedef's type names the typedef.
//! [`Specification::resolve`] looks through typedefs.

mod annotation;
mod bits;
mod constructed;
mod interface;
mod queries;
mod rt;
mod types;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::source::{FileId, Location, SourceFile};

pub use annotation::{
    Annotation, AnnotationArgument, AnnotationDefinition, AnnotationMember, AnnotationValue,
};
pub use bits::{Bitfield, Bitmask, Bitset, Flag};
pub use constructed::{
    Case, Const, Enum, Enumerator, Exception, Label, Member, Struct, Typedef, Union,
};
pub use interface::{Attribute, Direction, Interface, InterfaceFlavour, Operation, Parameter};
pub use rt::{RtInfo, RtLevel, RtValue};
pub use types::{ConstValue, FixedValue, Primitive, Type};
pub use value::{Factory, StateMember, ValueBox, ValueFlavour, ValueType};

/// Identifier of a [`Declaration`] within its [`Specification`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeclId(pub(crate) u32);

impl DeclId {
    /// Returns the position of the declaration in [`Specification::declarations`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Compiled IDL file together with all its includes.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// Files that were read, the main file first. [`FileId`] indexes it.
    pub files: Vec<Arc<SourceFile>>,
    /// All declarations, in the order in which they were first seen.
    pub declarations: Vec<Declaration>,
    /// Declarations of the global scope in source order, those of included files among them. A
    /// reopened module is listed once for each of its parts.
    pub definitions: Vec<DeclId>,
    /// Event types of the structs and unions with `@event`: the stated number, or the CRC-32 of the
    /// repository id without its highest bit. From 2^31 on, stated numbers are negative here, as
    /// TAO's `EventType` is a `long`.
    pub event_types: BTreeMap<DeclId, i32>,
}

/// Named entity of IDL: module, type, constant, operation, …
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Identifier of the declaration within its specification.
    pub id: DeclId,
    /// Simple name of the declaration as written, without an escaping underscore.
    pub name: String,
    /// Names of all scopes from the global one down to this: `["CosNaming", "Name"]`.
    pub scoped_name: Vec<String>,
    /// Repository id of the declaration: `IDL:omg.org/CosNaming/Name:1.0` (CORBA 3.3 part 1,
    /// §14.7).
    pub repository_id: String,
    /// Scope that it was written in, `None` for the global one. In a reopened module this is the
    /// part of the module, not the first one.
    pub parent: Option<DeclId>,
    /// Lines of the IDL comment directly before the declaration, without comment markers.
    pub doc: Vec<String>,
    /// Annotations (`@…`) of the declaration, in source order.
    pub annotations: Vec<Annotation>,
    /// Source position of the declared name.
    pub location: Location,
    /// `true` if the declaration stands in the main file rather than in an included one.
    pub in_main_file: bool,
    /// Kind of the declaration, with its details.
    pub kind: DeclKind,
}

/// Kind of a declaration, with its details.
#[derive(Clone, Debug)]
pub enum DeclKind {
    /// Declaration of a `module`.
    Module(Module),
    /// Declaration of an `interface`: plain, abstract or local.
    Interface(Interface),
    /// Operation of an interface or value type.
    Operation(Operation),
    /// Single declarator of an attribute.
    Attribute(Attribute),
    /// Single declarator of a `typedef`.
    Typedef(Typedef),
    /// Declaration of a `struct`.
    Struct(Struct),
    /// Declaration of an `exception`.
    Exception(Exception),
    /// Declaration of a `union`.
    Union(Union),
    /// Declaration of an `enum`.
    Enum(Enum),
    /// Declaration of a `bitmask` (IDL 4).
    Bitmask(Bitmask),
    /// Declaration of a `bitset` (IDL 4).
    Bitset(Bitset),
    /// Declaration of a constant (`const`).
    Const(Const),
    /// `@annotation` of IDL 4: the definition of an annotation. It generates no code.
    Annotation(AnnotationDefinition),
    /// Declaration of a `native` type.
    Native,
    /// Declaration of a `valuetype` with a body.
    ValueType(ValueType),
    /// Declaration of a `valuetype` that boxes another type.
    ValueBox(ValueBox),
}

impl DeclKind {
    /// Returns the construct's name for messages: "interface", "struct", "boxed value type", …
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

/// Part of a module: the text between one pair of braces.
#[derive(Clone, Debug)]
pub struct Module {
    /// Id of the first part of the module; equal to the id of this part when this is the first.
    pub first_part: DeclId,
    /// Declarations in this part of the module, in source order.
    pub body: Vec<DeclId>,
}

impl Declaration {
    /// Returns the declaration's name with all its scopes: `::CosNaming::Name`.
    pub fn absolute_name(&self) -> String {
        self.scoped_name
            .iter()
            .fold(String::new(), |mut text, name| {
                text.push_str("::");
                text.push_str(name);
                text
            })
    }

    /// Returns the file that contains the declaration.
    pub fn file(&self) -> FileId {
        self.location.file
    }

    /// Returns the annotation called `name`, the last one when there are several.
    pub fn annotation(&self, name: &str) -> Option<&Annotation> {
        Annotation::find(&self.annotations, name)
    }
}
