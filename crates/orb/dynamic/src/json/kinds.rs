//! Types whose JSON form does not follow from the kind of their TypeCode: maps, optional values, `int8`, unions.

use punctual_any::{Label, TypeCode, TypeKind};

/// Returns the key and value types of an IDL map: a sequence of pairs without a name.
pub(super) fn map(type_code: &TypeCode) -> Option<(TypeCode, TypeCode)> {
    let pair = match type_code.kind() {
        TypeKind::Sequence => type_code.content_type().ok()?,
        _ => return None,
    };
    let is_pair = pair.kind() == TypeKind::Struct
        && pair.id() == Ok("")
        && pair.member_count() == Ok(2)
        && pair.member_name(0) == Ok("key")
        && pair.member_name(1) == Ok("value");
    let (key, value) = (pair.member_type(0).ok()?, pair.member_type(1).ok()?);
    let is_name = matches!(
        key.original_type().kind(),
        TypeKind::String
            | TypeKind::WString
            | TypeKind::Enum
            | TypeKind::Octet
            | TypeKind::Short
            | TypeKind::UShort
            | TypeKind::Long
            | TypeKind::ULong
            | TypeKind::LongLong
            | TypeKind::ULongLong
    );
    (is_pair && is_name).then_some((key, value))
}

/// Returns the type of an optional member: a union without a name, over a boolean.
pub(super) fn optional(type_code: &TypeCode) -> Option<TypeCode> {
    let is_optional = type_code.kind() == TypeKind::Union
        && type_code.id() == Ok("")
        && type_code.member_count() == Ok(1)
        && type_code.member_label(0) == Ok(Label::Value(1))
        && type_code
            .discriminator_type()
            .is_ok_and(|of| of.kind() == TypeKind::Boolean);
    is_optional.then(|| type_code.member_type(0).ok()).flatten()
}

/// Returns whether a type is `int8`, or an alias of it: in a TypeCode, `int8` is marked only by an
/// alias of `octet`.
pub(super) fn is_int8(type_code: &TypeCode) -> bool {
    const ID: &str = "IDL:omg.org/CORBA/Int8:1.0";
    const MOST_NAMES: usize = 64;
    let mut type_code = type_code.clone();
    for _ in 0..MOST_NAMES {
        if type_code.kind() != TypeKind::Alias {
            return false;
        }
        if type_code.id() == Ok(ID) {
            return type_code.original_type().kind() == TypeKind::Octet;
        }
        match type_code.content_type() {
            Ok(content) => type_code = content,
            Err(_) => return false,
        }
    }
    false
}

/// Returns whether elements of this type are octets.
pub(crate) fn is_octets(type_code: &TypeCode) -> bool {
    let content = type_code.content_type();
    content.is_ok_and(|content| content.original_type().kind() == TypeKind::Octet)
}

/// Returns whether only one discriminator value selects a union's member, so that the member's name
/// implies the discriminator.
pub(super) fn implies_discriminator(type_code: &TypeCode, member: usize) -> bool {
    let name = type_code.member_name(member);
    let count = type_code.member_count().unwrap_or(0);
    let same = (0..count)
        .filter(|one| type_code.member_name(*one) == name)
        .count();
    same == 1 && type_code.member_label(member) != Ok(Label::Default)
}

/// Returns a number as a value of a union's discriminator type.
pub(crate) fn discriminator(type_code: &TypeCode, number: i128) -> Option<punctual_any::Value> {
    use punctual_any::Value;
    let kind = type_code.discriminator_type().ok()?.original_type().kind();
    Some(match kind {
        TypeKind::Boolean => Value::Boolean(number != 0),
        TypeKind::Char => Value::Char(punctual_cdr::Char(u8::try_from(number).ok()?)),
        TypeKind::WChar => Value::WChar(u32::try_from(number).ok().and_then(char::from_u32)?),
        TypeKind::Octet => Value::Octet(u8::try_from(number).ok()?),
        TypeKind::Short => Value::Short(i16::try_from(number).ok()?),
        TypeKind::UShort => Value::UShort(u16::try_from(number).ok()?),
        TypeKind::Long => Value::Long(i32::try_from(number).ok()?),
        TypeKind::ULong => Value::ULong(u32::try_from(number).ok()?),
        TypeKind::LongLong => Value::LongLong(i64::try_from(number).ok()?),
        TypeKind::ULongLong => Value::ULongLong(u64::try_from(number).ok()?),
        TypeKind::Enum => Value::Enum(u32::try_from(number).ok()?),
        _ => return None,
    })
}

/// Returns a discriminator value as a number; `None` for a value of another type.
pub(crate) fn number(value: &punctual_any::Value) -> Option<i128> {
    use punctual_any::Value;
    Some(match value {
        Value::Boolean(value) => i128::from(*value),
        Value::Char(value) => i128::from(value.0),
        Value::WChar(value) => i128::from(u32::from(*value)),
        Value::Octet(value) => i128::from(*value),
        Value::Short(value) => i128::from(*value),
        Value::UShort(value) => i128::from(*value),
        Value::Long(value) => i128::from(*value),
        Value::ULong(value) | Value::Enum(value) => i128::from(*value),
        Value::LongLong(value) => i128::from(*value),
        Value::ULongLong(value) => i128::from(*value),
        _ => return None,
    })
}
