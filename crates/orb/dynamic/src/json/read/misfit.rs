//! Error messages for JSON that is not a value of its type.

use punctual_any::{TypeCode, TypeKind};

use super::super::error::JsonError;
use super::super::kinds;
use super::text::Token;

/// Makes an error with an empty path; the steps of the path are prepended as the error is returned
/// through the callers.
pub(super) fn error(message: impl Into<String>) -> JsonError {
    JsonError::new(message)
}

/// Makes the error for JSON that is not a value of the type.
pub(super) fn wrong(type_code: &TypeCode, json: &Token<'_>) -> JsonError {
    error(format!(
        "expected {}, found {}",
        wanted(type_code),
        shown(json)
    ))
}

/// Returns a description of the JSON that a type's values have: 'an object', for example.
pub(super) fn wanted(type_code: &TypeCode) -> String {
    let original = type_code.original_type();
    let what = match original.kind() {
        TypeKind::Struct | TypeKind::Union | TypeKind::Except | TypeKind::Value => "an object",
        TypeKind::Sequence | TypeKind::Array if kinds::map(&original).is_some() => "an object",
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

/// Returns a description of the JSON value that was found.
fn shown(json: &Token<'_>) -> String {
    const LONGEST: usize = 40;
    let text = match json {
        Token::Object => return "an object".to_owned(),
        Token::Array => return "an array".to_owned(),
        Token::Null => return "`null`".to_owned(),
        Token::Bool(value) => return format!("`{value}`"),
        Token::Number(number) => return format!("the number {number}"),
        Token::Text(text) => text,
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("the text \"{}…\"", text.get(..end).unwrap_or_default()),
        None => format!("the text \"{text}\""),
    }
}
