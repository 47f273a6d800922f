//! Constants and labels as values of their types.

use punctual::stub::Marshal;
use punctual::{Any, TypeCode, Typed};
use punctual_idl::model::{ConstValue, FixedValue, Primitive, Specification, Type as IdlType};

use crate::refusal::Refusal;

/// Returns a constant as a value of its type.
pub(super) fn constant_value(
    spec: &Specification,
    value: &ConstValue,
    ty: &IdlType,
    type_code: &TypeCode,
) -> Result<Any, Refusal> {
    let primitive = match spec.resolve(ty) {
        IdlType::Primitive(primitive) => *primitive,
        _ => Primitive::Long,
    };
    match value {
        ConstValue::Integer(value) => integer(*value, primitive, type_code),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the front end has rounded it"
        )]
        ConstValue::Float(value) if primitive == Primitive::Float => {
            typed(&(*value as f32), type_code)
        }
        ConstValue::Float(value) if primitive == Primitive::LongDouble => {
            typed(&punctual::LongDouble::from(*value), type_code)
        }
        ConstValue::Float(value) => typed(value, type_code),
        ConstValue::Boolean(value) => typed(value, type_code),
        ConstValue::Char(value) => typed(&punctual::Char(*value), type_code),
        ConstValue::WChar(value) => typed(value, type_code),
        ConstValue::String(value) => typed(value, type_code),
        ConstValue::WString(value) => {
            let text = punctual::any::Value::String(value.clone());
            Any::of_value(type_code, &text).map_err(unfit)
        }
        ConstValue::Enumerator(_, index) => {
            typed(&u32::try_from(*index).unwrap_or(u32::MAX), type_code)
        }
        ConstValue::Fixed(value) => {
            let number = fixed(value)?;
            Any::of_value(type_code, &punctual::any::Value::Fixed(number)).map_err(unfit)
        }
    }
}

fn integer(value: i128, primitive: Primitive, type_code: &TypeCode) -> Result<Any, Refusal> {
    let out = |_| Refusal::Invalid("a constant is out of its type's range");
    match primitive {
        Primitive::Octet | Primitive::UInt8 => typed(&u8::try_from(value).map_err(out)?, type_code),
        Primitive::Int8 => typed(&i8::try_from(value).map_err(out)?, type_code),
        Primitive::Short => typed(&i16::try_from(value).map_err(out)?, type_code),
        Primitive::UShort => typed(&u16::try_from(value).map_err(out)?, type_code),
        Primitive::ULong => typed(&u32::try_from(value).map_err(out)?, type_code),
        Primitive::LongLong => typed(&i64::try_from(value).map_err(out)?, type_code),
        Primitive::ULongLong => typed(&u64::try_from(value).map_err(out)?, type_code),
        _ => typed(&i32::try_from(value).map_err(out)?, type_code),
    }
}

fn fixed(value: &FixedValue) -> Result<punctual::Decimal, Refusal> {
    let (whole, part) = value
        .digits
        .split_at(value.digits.len().saturating_sub(value.scale.into()));
    let sign = if value.negative { "-" } else { "" };
    format!("{sign}{whole}.{part}").parse().map_err(unfit)
}

pub(super) fn any<T: Typed + Marshal>(value: &T) -> Result<Any, Refusal> {
    Any::new(value).map_err(unfit)
}

fn typed<T: Marshal>(value: &T, type_code: &TypeCode) -> Result<Any, Refusal> {
    Any::with_type(type_code, value).map_err(unfit)
}

fn unfit(_: impl std::error::Error) -> Refusal {
    Refusal::Invalid("a constant does not fit its type")
}
