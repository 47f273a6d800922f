//! Types and constant values.

use super::DeclId;

/// Basic type of a fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Primitive {
    /// IDL type `boolean`.
    Boolean,
    /// `octet`: 8 bits like `uint8`, but never converted in transmission
    Octet,
    /// IDL type `char`, of 8 bits.
    Char,
    /// IDL type `wchar`.
    WChar,
    /// IDL type `short` or `int16`.
    Short,
    /// IDL type `unsigned short` or `uint16`.
    UShort,
    /// IDL type `long` or `int32`.
    Long,
    /// IDL type `unsigned long` or `uint32`.
    ULong,
    /// IDL type `long long` or `int64`.
    LongLong,
    /// IDL type `unsigned long long` or `uint64`.
    ULongLong,
    /// IDL type `int8` (IDL 4).
    Int8,
    /// IDL type `uint8` (IDL 4).
    UInt8,
    /// IDL type `float`.
    Float,
    /// IDL type `double`.
    Double,
    /// IDL type `long double`.
    LongDouble,
}

impl Primitive {
    /// Returns the IDL keywords of the basic type, such as `unsigned long`.
    pub fn idl_name(self) -> &'static str {
        match self {
            Primitive::Boolean => "boolean",
            Primitive::Octet => "octet",
            Primitive::Char => "char",
            Primitive::WChar => "wchar",
            Primitive::Short => "short",
            Primitive::UShort => "unsigned short",
            Primitive::Long => "long",
            Primitive::ULong => "unsigned long",
            Primitive::LongLong => "long long",
            Primitive::ULongLong => "unsigned long long",
            Primitive::Int8 => "int8",
            Primitive::UInt8 => "uint8",
            Primitive::Float => "float",
            Primitive::Double => "double",
            Primitive::LongDouble => "long double",
        }
    }

    /// Returns the least and the greatest value of an integer type (octet is one), else `None`.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            Primitive::Octet | Primitive::UInt8 => (0, u8::MAX.into()),
            Primitive::Int8 => (i8::MIN.into(), i8::MAX.into()),
            Primitive::Short => (i16::MIN.into(), i16::MAX.into()),
            Primitive::UShort => (0, u16::MAX.into()),
            Primitive::Long => (i32::MIN.into(), i32::MAX.into()),
            Primitive::ULong => (0, u32::MAX.into()),
            Primitive::LongLong => (i64::MIN.into(), i64::MAX.into()),
            Primitive::ULongLong => (0, u64::MAX.into()),
            _ => return None,
        })
    }

    /// Returns `true` for `float`, `double` and `long double`.
    pub fn is_floating(self) -> bool {
        matches!(
            self,
            Primitive::Float | Primitive::Double | Primitive::LongDouble
        )
    }
}

/// Type as written in the IDL source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Type `void`, which is only allowed as an operation's result.
    Void,
    /// Basic type of a fixed size.
    Primitive(Primitive),
    /// Type `string` or `string<bound>`.
    String {
        /// Largest number of characters in the string; `None` if it is unbounded.
        bound: Option<u32>,
    },
    /// Type `wstring` or `wstring<bound>`.
    WString {
        /// Largest number of characters in the wide string; `None` if it is unbounded.
        bound: Option<u32>,
    },
    /// Type `sequence<element>` or `sequence<element, bound>`.
    Sequence {
        /// Type of the sequence's elements.
        element: Box<Type>,
        /// Largest number of elements in the sequence; `None` if it is unbounded.
        bound: Option<u32>,
    },
    /// Array type of a declarator such as `element name[2][3]`.
    Array {
        /// Type of the elements; never itself an anonymous array.
        element: Box<Type>,
        /// Dimensions of the array, the outermost one first; none is 0.
        dimensions: Vec<u32>,
    },
    /// Type `map<key, value>` or `map<key, value, bound>` (IDL 4).
    Map {
        /// Type of the keys; never contains a floating-point number.
        key: Box<Type>,
        /// Type of the map's values.
        value: Box<Type>,
        /// Largest number of pairs in the map; `None` if it is unbounded.
        bound: Option<u32>,
    },
    /// Type `fixed<digits, scale>`.
    Fixed {
        /// Number of decimal digits of the fixed-point type, 1 to 31.
        digits: u16,
        /// Number of digits after the decimal point, 0 to `digits`.
        scale: u16,
    },
    /// Type `any`.
    Any,
    /// Pseudo-object type `CORBA::TypeCode`.
    TypeCode,
    /// Type `Object`, the base of all interfaces.
    Object,
    /// Type `ValueBase`, the base of all value types.
    ValueBase,
    /// Named type: a struct, union, enum, bitmask, bitset, typedef, interface, value type, boxed
    /// value type or native type.
    Named(DeclId),
}

/// Value of a constant expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstValue {
    /// Value of any integer type, `octet` included.
    Integer(i128),
    /// Value of `float` (already rounded to it), `double` or `long double`. Never NaN or infinite.
    Float(f64),
    /// Boolean value, `TRUE` or `FALSE`.
    Boolean(bool),
    /// Character of ISO 8859-1.
    Char(u8),
    /// Wide character.
    WChar(char),
    /// String of ISO 8859-1 characters; never contains U+0000.
    String(String),
    /// Wide string; never contains U+0000.
    WString(String),
    /// Enum and the position of the enumerator in it.
    Enumerator(DeclId, usize),
    /// Fixed-point number.
    Fixed(FixedValue),
}

/// Decimal number of up to 31 digits: ± `digits` × 10^-`scale`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedValue {
    /// `true` if the number is below zero; never set for zero.
    pub negative: bool,
    /// Decimal digits without a point, most significant first, at least one and at least
    /// `scale` of them.
    pub digits: String,
    /// Number of digits after the decimal point.
    pub scale: u16,
}
