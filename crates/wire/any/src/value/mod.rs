//! Decoded values, for code that does not know their types at compile time.

mod coding;
mod default;
mod dynamic;
mod elements;
mod state;

use std::sync::Arc;

use punctual_cdr::{Char, Decimal, Graph, HoldsValues, LongDouble, ValueRef};
use punctual_ior::Ior;

use crate::any::{Any, Body};
use crate::type_code::TypeCode;

pub use dynamic::{DynamicFactory, DynamicValue, FormalType};

/// Value of any type. Its exact type is given by a TypeCode that is kept separately: a string may
/// be wide, and a struct an exception.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    /// Value of the types `null` and `void`.
    Null,
    Boolean(bool),
    Octet(u8),
    Short(i16),
    UShort(u16),
    Long(i32),
    ULong(u32),
    LongLong(i64),
    ULongLong(u64),
    Float(f32),
    Double(f64),
    LongDouble(LongDouble),
    Fixed(Decimal),
    Char(Char),
    WChar(char),
    /// Narrow or wide string.
    String(String),
    /// Number of the enumerator, counted from 0.
    Enum(u32),
    /// Sequence or array of octets, or a Principal.
    Octets(Vec<u8>),
    /// Elements of any other sequence or array.
    Sequence(Elements),
    /// Values of the members of a struct or exception.
    Struct(Vec<Value>),
    Union(Box<UnionValue>),
    Any(Box<Any>),
    TypeCode(TypeCode),
    /// Object reference; `None` for nil.
    Object(Option<Box<Ior>>),
    /// Valuetype; `None` for null.
    Valuetype(Option<ValueRef>),
}

/// Decoded union.
#[derive(Clone, Debug, PartialEq)]
pub struct UnionValue {
    /// Value of the discriminator, as a number (see [`crate::Label`]).
    pub discriminator: i128,
    /// Value of the selected member, if the discriminator selects one.
    pub member: Option<Value>,
}

/// Elements of a sequence or array.
///
/// Elements that were read stay encoded until they are accessed: a `boolean` takes one byte on the
/// wire and 32 as a [`Value`]. They are checked when they are read, and decoded one after the other
/// by [`Elements::each`], or all at once by [`Elements::to_vec`]. A few elements in a message are
/// decoded at once, and so are elements that contain valuetypes, also in Anys, as these may be
/// shared.
///
/// The encoding lives in the Any that it was read from, or in a copy, until the last of its
/// elements is dropped. Sequences of sequences are skipped over once for each level that is
/// accessed.
#[derive(Clone)]
pub struct Elements(Form);

#[derive(Clone)]
enum Form {
    Values(Vec<Value>),
    Octets(Box<Octets>),
}

/// Part of an Any's encoding, which lives until the last of its elements is dropped.
#[derive(Clone)]
struct Octets {
    /// Type of the elements in the sequence or array.
    element: TypeCode,
    body: Arc<Body>,
    /// Offset of the first element in the Any's encoding, including padding before the element.
    at: usize,
    length: usize,
}

// A short element of a peer's message may become one of these: larger variants stand behind a
// pointer.
const _: () = assert!(size_of::<Value>() <= 32);

impl HoldsValues for Value {
    fn adopt(&mut self, graph: &Graph) {
        match self {
            Self::Valuetype(value) => value.adopt(graph),
            Self::Sequence(elements) => elements.adopt(graph),
            Self::Struct(values) => values.adopt(graph),
            Self::Union(union) => union.member.adopt(graph),
            _ => {}
        }
    }
}
