//! Kinds of types.

/// Kind of a type, with the numbers of CORBA's `TCKind` (CORBA 3.3 part 2, §9.3.5.1, table 9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum TypeKind {
    Null = 0,
    Void = 1,
    Short = 2,
    Long = 3,
    UShort = 4,
    ULong = 5,
    Float = 6,
    Double = 7,
    Boolean = 8,
    Char = 9,
    Octet = 10,
    Any = 11,
    TypeCode = 12,
    Principal = 13,
    Objref = 14,
    Struct = 15,
    Union = 16,
    Enum = 17,
    String = 18,
    Sequence = 19,
    Array = 20,
    Alias = 21,
    Except = 22,
    LongLong = 23,
    ULongLong = 24,
    LongDouble = 25,
    WChar = 26,
    WString = 27,
    Fixed = 28,
    Value = 29,
    ValueBox = 30,
    Native = 31,
    AbstractInterface = 32,
    LocalInterface = 33,
    Component = 34,
    Home = 35,
    Event = 36,
}

impl TypeKind {
    /// All kinds of types, in the order of their numbers.
    pub const ALL: [Self; 37] = [
        Self::Null,
        Self::Void,
        Self::Short,
        Self::Long,
        Self::UShort,
        Self::ULong,
        Self::Float,
        Self::Double,
        Self::Boolean,
        Self::Char,
        Self::Octet,
        Self::Any,
        Self::TypeCode,
        Self::Principal,
        Self::Objref,
        Self::Struct,
        Self::Union,
        Self::Enum,
        Self::String,
        Self::Sequence,
        Self::Array,
        Self::Alias,
        Self::Except,
        Self::LongLong,
        Self::ULongLong,
        Self::LongDouble,
        Self::WChar,
        Self::WString,
        Self::Fixed,
        Self::Value,
        Self::ValueBox,
        Self::Native,
        Self::AbstractInterface,
        Self::LocalInterface,
        Self::Component,
        Self::Home,
        Self::Event,
    ];

    /// Returns the kind with this number, if there is one.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        let place = usize::try_from(number).ok()?;
        Self::ALL.get(place).copied()
    }

    /// Returns the number of the type kind, as encoded in TypeCodes.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Returns whether the kind alone identifies the type: it has neither parameters nor a
    /// repository id.
    #[must_use]
    pub const fn is_primitive(self) -> bool {
        matches!(
            self,
            Self::Null
                | Self::Void
                | Self::Short
                | Self::Long
                | Self::UShort
                | Self::ULong
                | Self::Float
                | Self::Double
                | Self::Boolean
                | Self::Char
                | Self::Octet
                | Self::Any
                | Self::TypeCode
                | Self::Principal
                | Self::LongLong
                | Self::ULongLong
                | Self::LongDouble
                | Self::WChar
        )
    }

    /// Returns the IDL keyword of a type of this kind, or the keyword that its declaration begins
    /// with.
    #[must_use]
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Void => "void",
            Self::Short => "short",
            Self::Long => "long",
            Self::UShort => "unsigned short",
            Self::ULong => "unsigned long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Boolean => "boolean",
            Self::Char => "char",
            Self::Octet => "octet",
            Self::Any => "any",
            Self::TypeCode => "TypeCode",
            Self::Principal => "Principal",
            Self::Objref => "interface",
            Self::Struct => "struct",
            Self::Union => "union",
            Self::Enum => "enum",
            Self::String => "string",
            Self::Sequence => "sequence",
            Self::Array => "array",
            Self::Alias => "typedef",
            Self::Except => "exception",
            Self::LongLong => "long long",
            Self::ULongLong => "unsigned long long",
            Self::LongDouble => "long double",
            Self::WChar => "wchar",
            Self::WString => "wstring",
            Self::Fixed => "fixed",
            Self::Value => "valuetype",
            Self::ValueBox => "valuetype",
            Self::Native => "native",
            Self::AbstractInterface => "abstract interface",
            Self::LocalInterface => "local interface",
            Self::Component => "component",
            Self::Home => "home",
            Self::Event => "eventtype",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_number_and_no_other_number_has_a_kind() {
        for (number, kind) in (0..).zip(TypeKind::ALL) {
            assert_eq!(kind.number(), number);
            assert_eq!(TypeKind::from_number(number), Some(kind));
        }
        assert_eq!(TypeKind::from_number(37), None);
        assert_eq!(TypeKind::from_number(u32::MAX), None);
    }
}
