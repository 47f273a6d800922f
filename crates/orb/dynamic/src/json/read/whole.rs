//! Entry points for reading JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use punctual_any::{Any, TypeCode, TypeKind, Value};
use serde_json::Value as JsonValue;
use serde_json::value::RawValue;

use super::super::error::JsonError;
use super::super::kinds;
use super::super::known::KnownTypes;
use super::super::names::Names;
use super::check::check;
use super::misfit::wanted;
use super::paths::Paths;
use super::reading::{ReadFailure, Reading};
use super::target::Tree;
use super::text::{Text, Token};

/// Reads a value of a type. The JSON is first converted to text; callers that have the text use
/// [`from_json_text`] directly.
///
/// # Errors
/// The mismatch, and its path. JSON nested deeper than 128 levels is a mismatch, too.
pub fn from_json(
    type_code: &TypeCode,
    json: &JsonValue,
    names: &dyn Names,
) -> Result<Value, JsonError> {
    let text = json.to_string();
    let json = Json::of_text(type_code, &text)?;
    Whole::new(type_code, json, names)?.value()
}

/// Reads a value of a type from a text. Where a string, character, enum or reference is wanted, a
/// text that is no JSON is taken as the string itself, as typed by a user.
///
/// # Errors
/// The mismatch, and its path.
pub fn from_json_text(
    type_code: &TypeCode,
    text: &str,
    names: &dyn Names,
) -> Result<Value, JsonError> {
    Whole::new(type_code, Json::typed(type_code, text)?, names)?.value()
}

/// Reads an Any of a type from a text, as [`from_json_text`] reads a value, and without making a
/// value unless the type contains valuetypes.
///
/// # Errors
/// The mismatch, and its path.
pub fn any_from_json_text(
    type_code: &TypeCode,
    text: &str,
    names: &dyn Names,
) -> Result<Any, JsonError> {
    Whole::new(type_code, Json::typed(type_code, text)?, names)?.any()
}

/// Reads an Any of a type from JSON within other JSON, for example one of [`members_of_json`].
///
/// # Errors
/// The mismatch, and its path.
pub fn any_from_json(
    type_code: &TypeCode,
    json: &RawValue,
    names: &dyn Names,
) -> Result<Any, JsonError> {
    let json = Json::of_text(type_code, json.get())?;
    Whole::new(type_code, json, names)?.any()
}

/// Returns the members of a JSON object, each to be read by its type; `None` for other JSON.
///
/// # Errors
/// The reason why the text is no JSON.
pub fn members_of_json(
    text: &str,
) -> serde_json::Result<Option<BTreeMap<Cow<'_, str>, &RawValue>>> {
    check(text)?;
    let mut object = Text::new(text);
    let Token::Object = object.next_token() else {
        return Ok(None);
    };
    let mut members = BTreeMap::new();
    while object.more(b'}') {
        let name = object.name();
        members.insert(name, serde_json::from_str(object.part())?);
    }
    Ok(Some(members))
}

/// Text to be read: JSON with its `$ref` paths, or a string.
enum Json<'t> {
    Text(&'t str, Vec<Cow<'t, str>>),
    /// String value as typed by a user, without JSON quotes.
    Unquoted(&'t str),
}

impl<'t> Json<'t> {
    fn of_text(type_code: &TypeCode, text: &'t str) -> Result<Self, JsonError> {
        let paths = check(text).map_err(|error| {
            JsonError::new(format!(
                "expected {}, but the text is not JSON: {error}",
                wanted(type_code)
            ))
        })?;
        Ok(Self::Text(text, paths))
    }

    fn typed(type_code: &TypeCode, text: &'t str) -> Result<Self, JsonError> {
        let original = type_code.original_type();
        let kind = original.kind();
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
            || kinds::is_octets(&original);
        match Self::of_text(type_code, text) {
            Ok(json) => Ok(match Text::new(text).next_token() {
                Token::Text(_) => json,
                // A string is wanted, and the text is one without quotes: `42`, `true`, `{`.
                _ if is_text => Self::Unquoted(text),
                Token::Number(_) if kind == TypeKind::Fixed => Self::Unquoted(text.trim()),
                _ => json,
            }),
            Err(_) if may_be_text => Ok(Self::Unquoted(text)),
            Err(error) => Err(error),
        }
    }
}

/// State of reading a whole text into one value.
struct Whole<'r, 't> {
    type_code: &'r TypeCode,
    json: Token<'t>,
    reading: Reading<'r, 't>,
}

impl<'r, 't> Whole<'r, 't> {
    fn new(
        type_code: &'r TypeCode,
        json: Json<'t>,
        names: &'r dyn Names,
    ) -> Result<Self, JsonError> {
        type_code
            .check()
            .map_err(|error| JsonError::new(error.to_string()))?;
        let (mut text, paths, unquoted) = match json {
            Json::Text(text, paths) => (Text::new(text), paths, None),
            Json::Unquoted(text) => (Text::new(""), Vec::new(), Some(text)),
        };
        let json = match unquoted {
            Some(text) => Token::Text(Cow::Borrowed(text)),
            None => text.next_token(),
        };
        let reading = Reading {
            names,
            text,
            paths: Paths::new(paths),
            graph: None,
            known: KnownTypes::default(),
            named: Vec::new(),
            places: Vec::new(),
            number: String::new(),
            by_values: false,
        };
        Ok(Self {
            type_code,
            json,
            reading,
        })
    }

    fn value(mut self) -> Result<Value, JsonError> {
        // A value with valuetypes is decomposed in any case. Another one may have more elements
        // than a message may hold.
        let octets = match self.type_code.holds_values() {
            Ok(false) => self.octets()?,
            _ => None,
        };
        match octets.and_then(|any| any.value().ok()) {
            Some(value) => Ok(value),
            None => self.tree(),
        }
    }

    fn any(mut self) -> Result<Any, JsonError> {
        if let Some(any) = self.octets()? {
            return Ok(any);
        }
        let value = self.tree()?;
        Any::of_value(self.type_code, &value).map_err(|error| JsonError::new(error.to_string()))
    }

    /// Returns the value marshaled into an Any; `None` if it cannot be marshaled, for example
    /// because a string is longer than the limit.
    fn octets(&mut self) -> Result<Option<Any>, JsonError> {
        let begin = self.reading.text;
        let (type_code, json) = (self.type_code, &self.json);
        let made = self.reading.octets(type_code, |reading, out| {
            reading.seen(type_code, json.clone(), out)
        });
        self.reading.text = begin;
        match made {
            Ok(any) => Ok(Some(any)),
            Err(ReadFailure::Json(error)) => Err(error),
            Err(ReadFailure::Cdr(_)) => {
                self.reading.by_values = true;
                Ok(None)
            }
        }
    }

    fn tree(&mut self) -> Result<Value, JsonError> {
        let value = self
            .reading
            .seen(self.type_code, self.json.clone(), &mut Tree);
        value.map_err(|failed| match failed {
            ReadFailure::Json(error) => error,
            ReadFailure::Cdr(error) => JsonError::new(error.to_string()),
        })
    }
}
