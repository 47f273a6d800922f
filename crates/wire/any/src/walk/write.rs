//! Encoding of decoded values.

use punctual_cdr::{CdrError, Encoder, Marshal, check_bound as check_length};
use punctual_ior::Ior;

use super::{check_bound, discriminator, marshal_id, no_such_value};
use crate::kind::TypeKind;
use crate::type_code::{Index, Member, Node, Shapes, Union};
use crate::value::{UnionValue, Value};

/// Writes a value.
///
/// # Errors
/// [`CdrError::Invalid`] if it does not match the type; errors of the target encoding.
pub(crate) fn write(
    types: Shapes<'_>,
    at: Index,
    value: &Value,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    let at = types.shape(at).original;
    if let Node::Exception { name, .. } = types.node(at) {
        marshal_id(&name.id, out)?;
    }
    write_without_id(types, at, value, out)
}

/// Writes as [`write`] does, but only the members of an exception.
pub(crate) fn write_without_id(
    types: Shapes<'_>,
    at: Index,
    value: &Value,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    match (types.node(at), value) {
        (Node::Primitive(kind), value) => primitive(*kind, value, out),
        (Node::Text { is_wide, bound }, Value::String(text)) => {
            if *bound != 0 {
                check_length(text.chars().count(), *bound)?;
            }
            if *is_wide {
                out.put_wstring(text)
            } else {
                out.put_string(text)
            }
        }
        (Node::Fixed { digits, scale }, Value::Fixed(number)) => {
            number.marshal_as(*digits, *scale, out)
        }
        (Node::Enum { enumerators, .. }, Value::Enum(number)) => {
            if *number as usize >= enumerators.len() {
                return Err(CdrError::UnknownEnumerator(*number));
            }
            out.put_u32(*number);
            Ok(())
        }
        (Node::Sequence { element, bound }, value) => {
            let length = length(value)?;
            check_bound(length, *bound)?;
            out.put_length(length)?;
            elements(types, *element, value, out)
        }
        (
            Node::Array {
                element,
                length: all,
            },
            value,
        ) => {
            if length(value)? != *all as usize {
                return Err(CdrError::Invalid("wrong array length"));
            }
            elements(types, *element, value, out)
        }
        (Node::Alias { .. }, value) => {
            write_without_id(types, types.shape(at).original, value, out)
        }
        (Node::Struct { members, .. } | Node::Exception { members, .. }, Value::Struct(values)) => {
            structure(types, members, values, out)
        }
        (Node::Union(union), Value::Union(value)) => union_(types, union, value, out),
        (Node::Interface { kind, .. }, value) => interface(*kind, value, out),
        (Node::Value(_) | Node::ValueBox { .. }, Value::Valuetype(value)) => {
            out.put_value(value.as_ref())
        }
        (Node::Recursive { .. }, _) => Err(no_such_value()),
        _ => Err(other_type()),
    }
}

fn other_type() -> CdrError {
    CdrError::Invalid("the value has another type")
}

fn length(value: &Value) -> Result<usize, CdrError> {
    match value {
        Value::Octets(octets) => Ok(octets.len()),
        Value::Sequence(elements) => Ok(elements.len()),
        _ => Err(other_type()),
    }
}

fn elements(
    types: Shapes<'_>,
    element: Index,
    value: &Value,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    match value {
        Value::Octets(octets) if types.is_octet(element) => {
            out.put_bytes(octets);
            Ok(())
        }
        Value::Sequence(values) => values.each(|value| write(types, element, value, out)),
        _ => Err(other_type()),
    }
}

fn union_(
    types: Shapes<'_>,
    union: &Union,
    value: &UnionValue,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    discriminator::write(types, union.discriminator, value.discriminator, out)?;
    let chosen = union
        .chosen(value.discriminator)
        .map(|place| place as usize);
    let chosen = chosen.and_then(|place| union.members.get(place));
    match (chosen, &value.member) {
        (Some(member), Some(value)) => write(types, member.at, value, out),
        (None, None) => Ok(()),
        _ => Err(CdrError::UnknownDiscriminator),
    }
}

fn structure(
    types: Shapes<'_>,
    members: &[Member],
    values: &[Value],
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    if members.len() != values.len() {
        return Err(CdrError::Invalid("wrong number of struct members"));
    }
    let mut pairs = members.iter().zip(values);
    pairs.try_for_each(|(member, value)| write(types, member.at, value, out))
}

fn interface(kind: TypeKind, value: &Value, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    match (kind, value) {
        (TypeKind::Objref | TypeKind::Component, Value::Object(_)) => {}
        (TypeKind::AbstractInterface, Value::Object(Some(_))) => out.put_bool(true),
        // Null counts as neither an object nor a value.
        (TypeKind::AbstractInterface, Value::Object(None)) => {
            out.put_bool(false);
            return out.put_value(None);
        }
        (TypeKind::AbstractInterface, Value::Valuetype(value)) => {
            out.put_bool(false);
            return out.put_value(value.as_ref());
        }
        _ => return Err(other_type()),
    }
    match value {
        Value::Object(Some(reference)) => reference.marshal(out),
        _ => Ior::nil().marshal(out),
    }
}

fn primitive(kind: TypeKind, value: &Value, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    match (kind, value) {
        (TypeKind::Null | TypeKind::Void, Value::Null) => {}
        (TypeKind::Boolean, Value::Boolean(value)) => out.put_bool(*value),
        (TypeKind::Octet, Value::Octet(value)) => out.put_u8(*value),
        (TypeKind::Char, Value::Char(value)) => out.put_char(*value)?,
        (TypeKind::WChar, Value::WChar(value)) => out.put_wchar(*value)?,
        (TypeKind::Short, Value::Short(value)) => out.put_i16(*value),
        (TypeKind::UShort, Value::UShort(value)) => out.put_u16(*value),
        (TypeKind::Long, Value::Long(value)) => out.put_i32(*value),
        (TypeKind::ULong, Value::ULong(value)) => out.put_u32(*value),
        (TypeKind::LongLong, Value::LongLong(value)) => out.put_i64(*value),
        (TypeKind::ULongLong, Value::ULongLong(value)) => out.put_u64(*value),
        (TypeKind::Float, Value::Float(value)) => out.put_f32(*value),
        (TypeKind::Double, Value::Double(value)) => out.put_f64(*value),
        (TypeKind::LongDouble, Value::LongDouble(value)) => value.marshal(out)?,
        (TypeKind::Any, Value::Any(value)) => value.marshal(out)?,
        (TypeKind::TypeCode, Value::TypeCode(value)) => value.marshal(out)?,
        (TypeKind::Principal, Value::Octets(octets)) => out.put_octets(octets)?,
        _ => return Err(other_type()),
    }
    Ok(())
}
