//! Error messages for JSON that is not a value of its type.

use punctual_any::{TypeCode, TypeKind};

use super::super::error::JsonError;
use super::super::kinds;
use super::text::Token;

/// Makes an error at this place. The path is prepended step by step, on the way out.
pub(super) fn error(message: impl Into<String>) -> JsonError {
    JsonError::new(message)
}

/// Makes the error of a value of another type.
pub(super) fn wrong(type_code: &TypeCode, json: &Token<'_>) -> JsonError {
    error(format!(
        "expected {}, found {}",
        wanted(type_code),
        shown(json)
    ))
}

/// Returns the name of a type's values.
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

/// Returns a description of the actual value.
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
