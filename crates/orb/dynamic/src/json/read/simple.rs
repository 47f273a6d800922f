//! Numbers, text and enumerators.

use punctual_any::{TypeCode, TypeKind, Value};
use punctual_cdr::{Char, Decimal, LongDouble};
use serde_json::Value as JsonValue;

use super::super::error::JsonError;
use super::super::near::nearest;
use super::Reading;

impl Reading<'_> {
    pub(super) fn simple(
        &self,
        type_code: &TypeCode,
        json: &JsonValue,
    ) -> Result<Value, JsonError> {
        Ok(match type_code.kind() {
            TypeKind::Boolean => match json {
                JsonValue::Bool(value) => Value::Boolean(*value),
                _ => return Err(self.wrong(type_code, json)),
            },
            TypeKind::Octet => Value::Octet(self.integer(type_code, json, (0, u8::MAX))?),
            TypeKind::Short => Value::Short(self.integer(type_code, json, (i16::MIN, i16::MAX))?),
            TypeKind::UShort => Value::UShort(self.integer(type_code, json, (0, u16::MAX))?),
            TypeKind::Long => Value::Long(self.integer(type_code, json, (i32::MIN, i32::MAX))?),
            TypeKind::ULong => Value::ULong(self.integer(type_code, json, (0, u32::MAX))?),
            TypeKind::LongLong => {
                Value::LongLong(self.integer(type_code, json, (i64::MIN, i64::MAX))?)
            }
            TypeKind::ULongLong => {
                Value::ULongLong(self.integer(type_code, json, (0, u64::MAX))?)
            }
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the nearest float is what is meant"
            )]
            TypeKind::Float => Value::Float(self.float(type_code, json)? as f32),
            TypeKind::Double => Value::Double(self.float(type_code, json)?),
            TypeKind::LongDouble => {
                Value::LongDouble(LongDouble::from_f64(self.float(type_code, json)?))
            }
            TypeKind::Fixed => self.fixed(type_code, json)?,
            TypeKind::String | TypeKind::WString => self.text(type_code, json)?,
            TypeKind::Char => {
                let character = self.character(type_code, json)?;
                let character = Char::try_from(character);
                Value::Char(character.map_err(|error| self.error(error.to_string()))?)
            }
            TypeKind::WChar => Value::WChar(self.character(type_code, json)?),
            TypeKind::Enum => self.enumerator(type_code, json)?,
            TypeKind::Null | TypeKind::Void if json.is_null() => Value::Null,
            TypeKind::Native | TypeKind::LocalInterface | TypeKind::Home => {
                return Err(self.error(format!("values of type {type_code} do not travel")));
            }
            _ => return Err(self.wrong(type_code, json)),
        })
    }

    pub(super) fn int8(&self, type_code: &TypeCode, json: &JsonValue) -> Result<Value, JsonError> {
        let number: i8 = self.integer(type_code, json, (i8::MIN, i8::MAX))?;
        let [octet] = number.to_ne_bytes();
        Ok(Value::Octet(octet))
    }

    fn integer<T: TryFrom<i128> + std::fmt::Display>(
        &self,
        type_code: &TypeCode,
        json: &JsonValue,
        (least, most): (T, T),
    ) -> Result<T, JsonError> {
        let JsonValue::Number(number) = json else {
            return Err(self.wrong(type_code, json));
        };
        let whole = number
            .as_i128()
            .or_else(|| number.as_f64().and_then(whole_number));
        let fitting = whole.and_then(|whole| T::try_from(whole).ok());
        fitting.ok_or_else(|| {
            self.error(format!(
                "a whole number from {least} to {most} is wanted ({type_code}), and this is {number}"
            ))
        })
    }

    fn float(&self, type_code: &TypeCode, json: &JsonValue) -> Result<f64, JsonError> {
        let number = match json {
            JsonValue::Number(number) => number.as_f64(),
            JsonValue::String(text) => match text.as_str() {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                _ => None,
            },
            _ => None,
        };
        number.ok_or_else(|| self.wrong(type_code, json))
    }

    fn fixed(&self, type_code: &TypeCode, json: &JsonValue) -> Result<Value, JsonError> {
        let text = match json {
            JsonValue::Number(number) => number.to_string(),
            JsonValue::String(text) => text.clone(),
            _ => return Err(self.wrong(type_code, json)),
        };
        let number: Decimal = text.parse().map_err(|_| self.wrong(type_code, json))?;
        let digits = type_code.fixed_digits().unwrap_or(0);
        let scale = type_code.fixed_scale().unwrap_or(0);
        let fitting = number.truncate(scale).ok();
        let fitting = fitting.filter(|fitting| *fitting == number && fitting.digits() <= digits);
        fitting.map(Value::Fixed).ok_or_else(|| {
            self.error(format!(
                "a number of {digits} digits, {scale} of them behind the point, is wanted, and this is {text}"
            ))
        })
    }

    fn text(&self, type_code: &TypeCode, json: &JsonValue) -> Result<Value, JsonError> {
        let JsonValue::String(text) = json else {
            return Err(self.wrong(type_code, json));
        };
        let bound = type_code.length().unwrap_or(0);
        let count = text.chars().count();
        if bound != 0 && count > bound as usize {
            return Err(self.error(format!(
                "text of up to {bound} characters is wanted, and this has {count}"
            )));
        }
        if text.contains('\0') {
            return Err(self.error("text with a NUL does not travel"));
        }
        Ok(Value::String(text.clone()))
    }

    fn character(&self, type_code: &TypeCode, json: &JsonValue) -> Result<char, JsonError> {
        let text = json.as_str().unwrap_or_default();
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(one), None) => Ok(one),
            _ => Err(self.wrong(type_code, json)),
        }
    }

    fn enumerator(&self, type_code: &TypeCode, json: &JsonValue) -> Result<Value, JsonError> {
        let count = type_code.member_count().unwrap_or(0);
        let number = match json {
            JsonValue::String(name) => type_code.member_index(name),
            JsonValue::Number(number) => {
                let number = number
                    .as_u64()
                    .and_then(|number| usize::try_from(number).ok());
                number.filter(|number| *number < count)
            }
            _ => return Err(self.wrong(type_code, json)),
        };
        if let Some(number) = number.and_then(|number| u32::try_from(number).ok()) {
            return Ok(Value::Enum(number));
        }
        let names = (0..count).filter_map(|index| type_code.member_name(index).ok());
        let names: Vec<&str> = names.collect();
        let near = nearest(json.as_str().unwrap_or_default(), names.iter().copied());
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", listed(&names)),
        };
        Err(self.wrong(type_code, json).with_help(Some(help)))
    }
}

/// Names one after the other, the first dozen of them.
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

/// `3.0` is a whole number, too; up to where doubles have all of them.
fn whole_number(number: f64) -> Option<i128> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_whole = number.fract() == 0.0 && number.abs() <= EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small")]
    is_whole.then_some(number as i128)
}
