//! Decoded values, for code that does not know their types at compile time.

mod default;
mod dynamic;
mod elements;
mod state;

use punctual_cdr::{
    CdrError, Char, Decimal, Decoder, Encoder, Graph, HoldsValues, LongDouble, ValueRef,
};
use punctual_ior::Ior;

use crate::any::Any;
use crate::type_code::TypeCode;
use crate::walk;

pub use dynamic::{DynamicFactory, DynamicValue, FormalType};
pub use elements::Elements;

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

// A short element of a peer's message may become one of these: larger variants stand behind a
// pointer.
const _: () = assert!(size_of::<Value>() <= 32);

impl Value {
    /// Reads a value of this type.
    ///
    /// Memory is in proportion to the bytes read, and limited as a whole: many small elements stay
    /// encoded until they are accessed (see [`Elements`]).
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`], and errors of the encoding.
    pub fn unmarshal(type_code: &TypeCode, input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let types = type_code.arena().shapes()?;
        walk::read(types, type_code, None, input)
    }

    /// Writes the value as one of this type.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`]; [`CdrError::Invalid`] if it does not match the type; errors of
    /// the target encoding.
    pub fn marshal(&self, type_code: &TypeCode, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let types = type_code.arena().shapes()?;
        walk::write(types, type_code.at(), self, out)
    }
}

impl Any {
    /// Decodes the value.
    ///
    /// # Errors
    /// As [`Value::unmarshal`].
    pub fn value(&self) -> Result<Value, CdrError> {
        let types = self.type_code().arena().shapes()?;
        self.read(|input| walk::read(types, self.type_code(), self.body(), input))
    }

    /// Makes an Any that holds this value.
    ///
    /// # Errors
    /// As [`Value::marshal`].
    pub fn of_value(type_code: &TypeCode, value: &Value) -> Result<Self, CdrError> {
        let types = type_code.arena().shapes()?;
        Self::written(type_code, |out| {
            walk::write_without_id(types, type_code.at(), value, out)
        })
    }
}

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
