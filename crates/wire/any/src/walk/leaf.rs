//! Reading of values without parts.

use std::borrow::Cow;

use punctual_cdr::{CdrError, Decimal, Decoder, LongDouble, Unmarshal, check_bound};

use crate::any::Any;
use crate::kind::TypeKind;
use crate::type_code::{Node, TypeCode};
use crate::value::Value;

/// Reads a value of a type without parts, such as a number or a string.
pub(super) fn leaf(node: &Node, input: &mut Decoder<'_>) -> Result<Value, CdrError> {
    Ok(match node {
        Node::Primitive(kind) => primitive(*kind, input)?,
        Node::Text { is_wide, bound } => Value::String(text(*is_wide, *bound, input)?.into_owned()),
        Node::Fixed { digits, scale } => {
            Value::Fixed(Decimal::unmarshal_as(*digits, *scale, input)?)
        }
        Node::Enum { enumerators, .. } => Value::Enum(enumerator(enumerators.len(), input)?),
        _ => Value::Null,
    })
}

/// Reads a narrow or wide string, and checks its bound; 0 means no bound.
pub(crate) fn text<'d>(
    is_wide: bool,
    bound: u32,
    input: &mut Decoder<'d>,
) -> Result<Cow<'d, str>, CdrError> {
    let text = match is_wide {
        true => Cow::Owned(input.get_wstring()?),
        false => input.get_string()?,
    };
    if bound != 0 {
        check_bound(text.chars().count(), bound)?;
    }
    Ok(text)
}

/// Reads the number of an enumerator of a type that has `count` of them.
pub(crate) fn enumerator(count: usize, input: &mut Decoder<'_>) -> Result<u32, CdrError> {
    let number = input.get_u32()?;
    match (number as usize) < count {
        true => Ok(number),
        false => Err(CdrError::UnknownEnumerator(number)),
    }
}

fn primitive(kind: TypeKind, input: &mut Decoder<'_>) -> Result<Value, CdrError> {
    Ok(match kind {
        TypeKind::Boolean => Value::Boolean(input.get_bool()?),
        TypeKind::Octet => Value::Octet(input.get_u8()?),
        TypeKind::Char => Value::Char(input.get_char()?),
        TypeKind::WChar => Value::WChar(input.get_wchar()?),
        TypeKind::Short => Value::Short(input.get_i16()?),
        TypeKind::UShort => Value::UShort(input.get_u16()?),
        TypeKind::Long => Value::Long(input.get_i32()?),
        TypeKind::ULong => Value::ULong(input.get_u32()?),
        TypeKind::LongLong => Value::LongLong(input.get_i64()?),
        TypeKind::ULongLong => Value::ULongLong(input.get_u64()?),
        TypeKind::Float => Value::Float(input.get_f32()?),
        TypeKind::Double => Value::Double(input.get_f64()?),
        TypeKind::LongDouble => Value::LongDouble(LongDouble::unmarshal(input)?),
        TypeKind::Any => Value::Any(Box::new(Any::unmarshal(input)?)),
        TypeKind::TypeCode => Value::TypeCode(TypeCode::unmarshal(input)?),
        TypeKind::Principal => Value::Octets(input.get_octets()?.to_vec()),
        _ => Value::Null,
    })
}
