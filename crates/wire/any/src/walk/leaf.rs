//! Reading of values without parts.

use punctual_cdr::{
    CdrError, Decimal, Decoder, LongDouble, Unmarshal, check_bound as check_length,
};

use crate::any::Any;
use crate::kind::TypeKind;
use crate::type_code::{Node, TypeCode};
use crate::value::Value;

/// Reads a value of a type without parts, such as a number or a string.
pub(super) fn leaf(node: &Node, input: &mut Decoder<'_>) -> Result<Value, CdrError> {
    Ok(match node {
        Node::Primitive(kind) => primitive(*kind, input)?,
        Node::Text { is_wide, bound } => {
            let text = if *is_wide {
                input.get_wstring()?
            } else {
                input.get_string()?.into_owned()
            };
            if *bound != 0 {
                check_length(text.chars().count(), *bound)?;
            }
            Value::String(text)
        }
        Node::Fixed { digits, scale } => {
            Value::Fixed(Decimal::unmarshal_as(*digits, *scale, input)?)
        }
        Node::Enum { enumerators, .. } => {
            let number = input.get_u32()?;
            if number as usize >= enumerators.len() {
                return Err(CdrError::UnknownEnumerator(number));
            }
            Value::Enum(number)
        }
        _ => Value::Null,
    })
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
