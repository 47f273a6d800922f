//! Numbers, text and enumerators.

use std::borrow::Cow;
use std::fmt::Write;

use punctual_any::{TypeCode, TypeKind, Value};
use punctual_cdr::{Char, Decimal, LongDouble};

use super::super::error::JsonError;
use super::super::near::nearest;
use super::misfit::{error, wrong};
use super::text::Token;

/// Reads a value that has no parts and is no text. `digits` is a buffer for a number's digits.
pub(super) fn simple(
    type_code: &TypeCode,
    json: &Token<'_>,
    digits: &mut String,
) -> Result<Value, JsonError> {
    Ok(match type_code.kind() {
        TypeKind::Boolean => match json {
            Token::Bool(value) => Value::Boolean(*value),
            _ => return Err(wrong(type_code, json)),
        },
        TypeKind::Octet => Value::Octet(integer(type_code, json, (0, u8::MAX))?),
        TypeKind::Short => Value::Short(integer(type_code, json, (i16::MIN, i16::MAX))?),
        TypeKind::UShort => Value::UShort(integer(type_code, json, (0, u16::MAX))?),
        TypeKind::Long => Value::Long(integer(type_code, json, (i32::MIN, i32::MAX))?),
        TypeKind::ULong => Value::ULong(integer(type_code, json, (0, u32::MAX))?),
        TypeKind::LongLong => Value::LongLong(integer(type_code, json, (i64::MIN, i64::MAX))?),
        TypeKind::ULongLong => Value::ULongLong(integer(type_code, json, (0, u64::MAX))?),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "rounded to the nearest float"
        )]
        TypeKind::Float => Value::Float(float(type_code, json)? as f32),
        TypeKind::Double => Value::Double(float(type_code, json)?),
        TypeKind::LongDouble => Value::LongDouble(LongDouble::from_f64(float(type_code, json)?)),
        TypeKind::Fixed => fixed(type_code, json, digits)?,
        TypeKind::Char => {
            let character = Char::try_from(character(type_code, json)?);
            Value::Char(character.map_err(|why| error(why.to_string()))?)
        }
        TypeKind::WChar => Value::WChar(character(type_code, json)?),
        TypeKind::Enum => enumerator(type_code, json)?,
        TypeKind::Null | TypeKind::Void if matches!(json, Token::Null) => Value::Null,
        TypeKind::Native | TypeKind::LocalInterface | TypeKind::Home => {
            return Err(error(format!(
                "values of type {type_code} cannot be marshaled"
            )));
        }
        _ => return Err(wrong(type_code, json)),
    })
}

pub(super) fn int8(type_code: &TypeCode, json: &Token<'_>) -> Result<Value, JsonError> {
    let number: i8 = integer(type_code, json, (i8::MIN, i8::MAX))?;
    let [octet] = number.to_ne_bytes();
    Ok(Value::Octet(octet))
}

/// Reads a string or a wide string.
pub(super) fn text<'t>(type_code: &TypeCode, json: Token<'t>) -> Result<Cow<'t, str>, JsonError> {
    let Token::Text(text) = json else {
        return Err(wrong(type_code, &json));
    };
    let bound = type_code.length().unwrap_or(0) as usize;
    // There are no more characters than bytes.
    if bound != 0 && text.len() > bound {
        let count = text.chars().count();
        if count > bound {
            return Err(error(format!(
                "expected text of up to {bound} characters, found {count}"
            )));
        }
    }
    if text.contains('\0') {
        return Err(error("text with a NUL cannot be marshaled"));
    }
    Ok(text)
}

fn integer<T: TryFrom<i128> + std::fmt::Display>(
    type_code: &TypeCode,
    json: &Token<'_>,
    (least, most): (T, T),
) -> Result<T, JsonError> {
    let Token::Number(number) = json else {
        return Err(wrong(type_code, json));
    };
    let whole = number
        .as_i128()
        .or_else(|| number.as_f64().and_then(whole_number));
    let fitting = whole.and_then(|whole| T::try_from(whole).ok());
    fitting.ok_or_else(|| {
        error(format!(
            "expected a whole number from {least} to {most} ({type_code}), found {number}"
        ))
    })
}

fn float(type_code: &TypeCode, json: &Token<'_>) -> Result<f64, JsonError> {
    let number = match json {
        Token::Number(number) => number.as_f64(),
        Token::Text(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    };
    number.ok_or_else(|| wrong(type_code, json))
}

fn fixed(
    type_code: &TypeCode,
    json: &Token<'_>,
    number_text: &mut String,
) -> Result<Value, JsonError> {
    let text = match json {
        Token::Number(number) => {
            number_text.clear();
            // Writing to a string never fails.
            let _ = write!(number_text, "{number}");
            number_text.as_str()
        }
        Token::Text(text) => text,
        _ => return Err(wrong(type_code, json)),
    };
    let number: Decimal = text.parse().map_err(|_| wrong(type_code, json))?;
    let digits = type_code.fixed_digits().unwrap_or(0);
    let scale = type_code.fixed_scale().unwrap_or(0);
    let fitting = number.truncate(scale).ok();
    let fitting = fitting.filter(|fitting| *fitting == number && fitting.digits() <= digits);
    fitting.map(Value::Fixed).ok_or_else(|| {
        error(format!(
            "expected a number of {digits} digits, {scale} of them behind the point, found {text}"
        ))
    })
}

fn character(type_code: &TypeCode, json: &Token<'_>) -> Result<char, JsonError> {
    let Token::Text(text) = json else {
        return Err(wrong(type_code, json));
    };
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(wrong(type_code, json)),
    }
}

fn enumerator(type_code: &TypeCode, json: &Token<'_>) -> Result<Value, JsonError> {
    let count = type_code.member_count().unwrap_or(0);
    let (number, name) = match json {
        Token::Text(name) => (type_code.member_index(name), &**name),
        Token::Number(number) => {
            let number = number
                .as_u64()
                .and_then(|number| usize::try_from(number).ok());
            (number.filter(|number| *number < count), "")
        }
        _ => return Err(wrong(type_code, json)),
    };
    if let Some(number) = number.and_then(|number| u32::try_from(number).ok()) {
        return Ok(Value::Enum(number));
    }
    let names = (0..count).filter_map(|index| type_code.member_name(index).ok());
    let names: Vec<&str> = names.collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", listed(&names)),
    };
    Err(wrong(type_code, json).with_help(Some(help)))
}

/// Returns the first dozen names as a list for an error message.
pub(super) fn listed(names: &[&str]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if names.len() > MOST { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Returns the integer that a floating-point number such as `3.0` equals, up to the limit to which
/// doubles represent all integers.
fn whole_number(number: f64) -> Option<i128> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_whole = number.fract() == 0.0 && number.abs() <= EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small")]
    is_whole.then_some(number as i128)
}
