//! TypeCodes made of others, one at a time (CORBA's `create_…_tc`).

use super::node::{ValueModifier, Visibility};
use super::{Label, TypeBuilder, TypeCode, TypeIndex, UnionDescription, ValueDescription};
use crate::kind::TypeKind;

macro_rules! simple {
    ($($name:ident $kind:ident;)*) => {
        impl TypeCode {$(
            #[doc = concat!("`", stringify!($kind), "`, which its kind says all of.")]
            pub const $name: Self = Self::simple(TypeKind::$kind);
        )*}
    };
}

simple! {
    NULL Null;
    VOID Void;
    SHORT Short;
    LONG Long;
    USHORT UShort;
    ULONG ULong;
    FLOAT Float;
    DOUBLE Double;
    BOOLEAN Boolean;
    CHAR Char;
    OCTET Octet;
    ANY Any;
    TYPE_CODE TypeCode;
    PRINCIPAL Principal;
    LONG_LONG LongLong;
    ULONG_LONG ULongLong;
    LONG_DOUBLE LongDouble;
    WCHAR WChar;
    STRING String;
    WSTRING WString;
}

impl TypeCode {
    /// Makes a `string`, of up to `bound` characters unless that is 0.
    #[must_use]
    pub fn string(bound: u32) -> Self {
        build(|types| types.string(bound))
    }

    /// Makes a `wstring`, of up to `bound` characters unless that is 0.
    #[must_use]
    pub fn wstring(bound: u32) -> Self {
        build(|types| types.wstring(bound))
    }

    /// Makes a `sequence`, of up to `bound` elements unless that is 0.
    #[must_use]
    pub fn sequence(element: &Self, bound: u32) -> Self {
        build(|types| {
            let element = types.include(element);
            types.sequence(element, bound)
        })
    }

    /// Makes the TypeCode of an array with one dimension.
    #[must_use]
    pub fn array(element: &Self, length: u32) -> Self {
        build(|types| {
            let element = types.include(element);
            types.array(element, length)
        })
    }

    /// Makes the TypeCode of a `fixed` type.
    #[must_use]
    pub fn fixed(digits: u16, scale: i16) -> Self {
        build(|types| types.fixed(digits, scale))
    }

    /// Makes the TypeCode of a struct.
    #[must_use]
    pub fn structure(id: &str, name: &str, members: &[(&str, Self)]) -> Self {
        build(|types| types.structure(id, name, |types| include_all(types, members)))
    }

    /// Makes the TypeCode of an exception.
    #[must_use]
    pub fn exception(id: &str, name: &str, members: &[(&str, Self)]) -> Self {
        build(|types| types.exception(id, name, |types| include_all(types, members)))
    }

    /// Makes the TypeCode of a union.
    #[must_use]
    pub fn union_(
        id: &str,
        name: &str,
        discriminator: &Self,
        members: &[(Label, &str, Self)],
    ) -> Self {
        build(|types| {
            types.union_(id, name, |types| UnionDescription {
                discriminator: types.include(discriminator),
                members: members
                    .iter()
                    .map(|(label, name, member)| (*label, *name, types.include(member)))
                    .collect(),
            })
        })
    }

    /// Makes the TypeCode of an enum.
    #[must_use]
    pub fn enumeration(id: &str, name: &str, enumerators: &[&str]) -> Self {
        build(|types| types.enumeration(id, name, enumerators))
    }

    /// Makes the TypeCode of an alias, another name for a type.
    #[must_use]
    pub fn alias(id: &str, name: &str, of: &Self) -> Self {
        build(|types| types.alias(id, name, |types| types.include(of)))
    }

    /// Makes the TypeCode of references to objects of an interface.
    #[must_use]
    pub fn interface(id: &str, name: &str) -> Self {
        build(|types| types.interface(id, name))
    }

    /// Makes an abstract interface: a reference or a valuetype.
    #[must_use]
    pub fn abstract_interface(id: &str, name: &str) -> Self {
        build(|types| types.abstract_interface(id, name))
    }

    /// Makes a local interface, which has no values on the wire.
    #[must_use]
    pub fn local_interface(id: &str, name: &str) -> Self {
        build(|types| types.local_interface(id, name))
    }

    /// Makes a native type, which has no values on the wire.
    #[must_use]
    pub fn native(id: &str, name: &str) -> Self {
        build(|types| types.native(id, name))
    }

    /// Makes the TypeCode of a valuetype.
    #[must_use]
    pub fn value(
        id: &str,
        name: &str,
        modifier: ValueModifier,
        concrete_base: Option<&Self>,
        members: &[(&str, Self, Visibility)],
    ) -> Self {
        build(|types| {
            types.value(id, name, modifier, |types| ValueDescription {
                concrete_base: concrete_base.map(|base| types.include(base)),
                members: members
                    .iter()
                    .map(|(name, member, seen)| (*name, types.include(member), *seen))
                    .collect(),
            })
        })
    }

    /// Makes the TypeCode of a boxed value.
    #[must_use]
    pub fn value_box(id: &str, name: &str, of: &Self) -> Self {
        build(|types| types.value_box(id, name, |types| types.include(of)))
    }

    /// Makes a placeholder for the type with this id, of which it is going to be a part: making
    /// that type replaces it. Until then it can be in types, but neither be sent nor describe a
    /// value.
    #[must_use]
    pub fn recursive(id: &str) -> Self {
        build(|types| types.recursive(id))
    }
}

fn build(describe: impl FnOnce(&mut TypeBuilder) -> TypeIndex) -> TypeCode {
    let mut types = TypeBuilder::default();
    let root = describe(&mut types);
    types.finish(root)
}

fn include_all<'n>(
    types: &mut TypeBuilder,
    members: &[(&'n str, TypeCode)],
) -> Vec<(&'n str, TypeIndex)> {
    members
        .iter()
        .map(|(name, member)| (*name, types.include(member)))
        .collect()
}
