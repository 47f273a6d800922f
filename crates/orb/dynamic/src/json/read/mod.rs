//! JSON to values.

mod composed;
mod simple;
mod valuetype;

use std::collections::HashMap;
use std::fmt::{self, Write};

use punctual_any::{Any, TypeCode, TypeKind, Value};
use punctual_cdr::ValueRef;
use serde_json::Value as JsonValue;

use super::error::JsonError;
use super::names::Names;
use super::type_name::parse_type;

/// Reads a value of a type.
///
/// # Errors
/// What does not fit, and where.
pub fn from_json(
    type_code: &TypeCode,
    json: &JsonValue,
    names: &dyn Names,
) -> Result<Value, JsonError> {
    let mut reading = Reading {
        names,
        path: String::new(),
        values: HashMap::new(),
        graph: None,
    };
    type_code
        .check()
        .map_err(|error| JsonError::new("", error.to_string()))?;
    reading.value(type_code, json)
}

/// Reads a value of a type from a text. Where a string, character, enum or reference is wanted, a text that is no
/// JSON is that itself, as one types it.
///
/// # Errors
/// What does not fit, and where.
pub fn from_json_text(
    type_code: &TypeCode,
    text: &str,
    names: &dyn Names,
) -> Result<Value, JsonError> {
    let kind = type_code.original_type().kind();
    let is_text = matches!(kind, TypeKind::String | TypeKind::WString);
    let may_be_text = is_text
        || matches!(
            kind,
            TypeKind::Char
                | TypeKind::WChar
                | TypeKind::Enum
                | TypeKind::Objref
                | TypeKind::AbstractInterface
                | TypeKind::TypeCode
                | TypeKind::Any
                | TypeKind::Fixed
        )
        || super::kinds::is_octets(&type_code.original_type());
    match serde_json::from_str::<JsonValue>(text) {
        // A string is wanted, and there is one without its quotes: `42`, `true`, `{`.
        Ok(json) if is_text && !json.is_string() => {
            from_json(type_code, &JsonValue::String(text.to_owned()), names)
        }
        Ok(json @ JsonValue::Number(_)) if kind == TypeKind::Fixed => {
            let _ = json;
            from_json(type_code, &JsonValue::String(text.trim().to_owned()), names)
        }
        Ok(json) => from_json(type_code, &json, names),
        Err(_) if may_be_text => from_json(type_code, &JsonValue::String(text.to_owned()), names),
        Err(error) => Err(JsonError::new(
            "",
            format!(
                "{} is wanted, and this is no JSON: {error}",
                wanted(type_code)
            ),
        )),
    }
}

struct Reading<'n> {
    names: &'n dyn Names,
    /// Where in the JSON this is: `.legs[2].name`.
    path: String,
    /// Valuetypes by the paths at which they were begun.
    values: HashMap<String, ValueRef>,
    /// One of them: the others are made in its graph.
    graph: Option<ValueRef>,
}

impl Reading<'_> {
    fn value(&mut self, type_code: &TypeCode, json: &JsonValue) -> Result<Value, JsonError> {
        let original = type_code.original_type();
        match original.kind() {
            TypeKind::Struct | TypeKind::Except => self.structure(&original, json),
            TypeKind::Union => self.union(&original, json),
            TypeKind::Sequence | TypeKind::Array => self.elements(&original, json),
            TypeKind::Principal => self.elements(&TypeCode::sequence(&TypeCode::OCTET, 0), json),
            TypeKind::Any => self.any(json),
            TypeKind::TypeCode => match json {
                JsonValue::String(name) => self.type_named(name).map(Value::TypeCode),
                _ => Err(self.wrong(&original, json)),
            },
            TypeKind::Objref | TypeKind::Component => self.reference(&original, json),
            TypeKind::AbstractInterface => match json {
                JsonValue::Object(_) => self.valuetype(&original, json),
                _ => self.reference(&original, json),
            },
            TypeKind::Value | TypeKind::ValueBox | TypeKind::Event => {
                self.valuetype(&original, json)
            }
            _ if super::kinds::is_int8(type_code) => self.int8(type_code, json),
            _ => self.simple(&original, json),
        }
    }

    fn reference(&self, type_code: &TypeCode, json: &JsonValue) -> Result<Value, JsonError> {
        match json {
            JsonValue::Null => Ok(Value::Object(None)),
            JsonValue::String(text) => {
                let found = self.names.reference(text);
                let found = found.map_err(|error| self.error(error))?;
                Ok(Value::Object((!found.is_nil()).then(|| Box::new(found))))
            }
            _ => Err(self.wrong(type_code, json)),
        }
    }

    fn any(&mut self, json: &JsonValue) -> Result<Value, JsonError> {
        let any = |any: Any| Value::Any(Box::new(any));
        let (type_code, json, is_within) = match json {
            JsonValue::Null => return Ok(any(Any::default())),
            JsonValue::Bool(_) => (TypeCode::BOOLEAN, json, false),
            JsonValue::String(_) => (TypeCode::STRING, json, false),
            JsonValue::Number(number) if number.is_f64() => (TypeCode::DOUBLE, json, false),
            JsonValue::Number(number) => match number.as_i64().map(i32::try_from) {
                Some(Ok(_)) => (TypeCode::LONG, json, false),
                Some(Err(_)) => (TypeCode::LONG_LONG, json, false),
                None => (TypeCode::ULONG_LONG, json, false),
            },
            JsonValue::Object(members) => match (members.get("type"), members.get("value")) {
                (Some(JsonValue::String(name)), value) => {
                    let type_code = self.at(format_args!(".type"), |this| this.type_named(name))?;
                    (type_code, value.unwrap_or(&JsonValue::Null), true)
                }
                _ => return Err(self.no_type()),
            },
            JsonValue::Array(_) => return Err(self.no_type()),
        };
        let value = if is_within {
            self.at(format_args!(".value"), |this| this.value(&type_code, json))?
        } else {
            self.value(&type_code, json)?
        };
        let made = Any::of_value(&type_code, &value);
        made.map(any).map_err(|error| self.error(error.to_string()))
    }

    fn no_type(&self) -> JsonError {
        let help = r#"write {"type": "sequence<long>", "value": [1, 2]}"#;
        self.error("an any needs its type, where that does not show")
            .with_help(Some(help.to_owned()))
    }

    fn type_named(&self, name: &str) -> Result<TypeCode, JsonError> {
        parse_type(name, self.names).ok_or_else(|| self.error(format!("there is no type `{name}`")))
    }

    /// Does something one step further in.
    fn at<R>(&mut self, step: fmt::Arguments<'_>, visit: impl FnOnce(&mut Self) -> R) -> R {
        let end = self.path.len();
        // A string takes all there is.
        let _ = self.path.write_fmt(step);
        let result = visit(self);
        self.path.truncate(end);
        result
    }

    fn error(&self, message: impl Into<String>) -> JsonError {
        JsonError::new(&self.path, message)
    }

    /// What is there is of another type.
    fn wrong(&self, type_code: &TypeCode, json: &JsonValue) -> JsonError {
        self.error(format!(
            "{} is wanted, and this is {}",
            wanted(type_code),
            shown(json)
        ))
    }
}

/// What a type's values are called.
fn wanted(type_code: &TypeCode) -> String {
    let original = type_code.original_type();
    let what = match original.kind() {
        TypeKind::Struct | TypeKind::Union | TypeKind::Except | TypeKind::Value => "an object",
        TypeKind::Sequence | TypeKind::Array if super::kinds::map(&original).is_some() => {
            "an object"
        }
        TypeKind::Sequence | TypeKind::Array => "an array",
        TypeKind::Enum => "an enumerator",
        TypeKind::String | TypeKind::WString => "text",
        TypeKind::Char | TypeKind::WChar => "a character",
        TypeKind::Boolean => "`true` or `false`",
        TypeKind::Objref | TypeKind::AbstractInterface => "a reference",
        TypeKind::TypeCode => "the name of a type",
        TypeKind::Void | TypeKind::Null => "`null`",
        TypeKind::Any => "a value of any type",
        _ => "a number",
    };
    match type_code.kind() {
        TypeKind::Void | TypeKind::Null | TypeKind::Any | TypeKind::TypeCode => what.to_owned(),
        _ => format!("{what} ({type_code})"),
    }
}

/// What is there.
fn shown(json: &JsonValue) -> String {
    const LONGEST: usize = 40;
    let text = match json {
        JsonValue::Object(_) => return "an object".to_owned(),
        JsonValue::Array(_) => return "an array".to_owned(),
        JsonValue::Null => return "`null`".to_owned(),
        JsonValue::Bool(value) => return format!("`{value}`"),
        JsonValue::Number(number) => return format!("the number {number}"),
        JsonValue::String(text) => text,
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("the text \"{}…\"", text.get(..end).unwrap_or_default()),
        None => format!("the text \"{text}\""),
    }
}
