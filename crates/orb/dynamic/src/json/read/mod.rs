//! JSON to values.
//!
//! The text is read in place, by the type that is wanted, into the octets that the value has in an Any; there is no tree
//! of it in between. Only where the type holds valuetypes, which may lead to one another, is it read into a
//! [`Value`](punctual_any::Value); and where the octets cannot be had, as a string is longer than the limit.

mod any;
mod check;
mod composed;
mod members;
mod paths;
mod simple;
mod target;
mod text;
mod union_;
mod valuetype;
mod whole;

use punctual_any::{TypeCode, TypeKind, Value};
use punctual_cdr::{CdrError, ValueRef};

use super::error::JsonError;
use super::known::KnownTypes;
use super::names::Names;
use super::type_name::parse_type;
use paths::{Paths, Step};
use target::Target;
use text::{Seen, Text};

pub use whole::{any_from_json, any_from_json_text, from_json, from_json_text, members_of_json};

struct Reading<'n, 't> {
    names: &'n dyn Names,
    text: Text<'t>,
    /// Valuetypes that are mentioned again.
    paths: Paths<'t>,
    /// One of the valuetypes: the others are made in its graph.
    graph: Option<ValueRef>,
    known: KnownTypes,
    /// Types that were named.
    named: Vec<(String, TypeCode)>,
    /// Where the members of the structs that are being read begin in the text, all in one vector.
    places: Vec<usize>,
    /// A number as text.
    number: String,
    /// Whether Anys are made of values, too: reading into octets was tried, and the code set does not have all characters.
    by_values: bool,
}

/// Why a part cannot be read into a [`Target`].
enum Failed {
    /// It is no value of its type.
    Json(JsonError),
    /// It is one, but has no octets.
    Cdr(CdrError),
}

impl From<JsonError> for Failed {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl From<CdrError> for Failed {
    fn from(error: CdrError) -> Self {
        Self::Cdr(error)
    }
}

impl<'t> Reading<'_, 't> {
    /// The value that is next.
    fn value<T: Target>(&mut self, type_code: &TypeCode, out: &mut T) -> Result<T::Made, Failed> {
        let json = self.text.see();
        self.seen(type_code, json, out)
    }

    fn seen<T: Target>(
        &mut self,
        type_code: &TypeCode,
        json: Seen<'t>,
        out: &mut T,
    ) -> Result<T::Made, Failed> {
        let original = type_code.original_type();
        match original.kind() {
            TypeKind::Struct | TypeKind::Except => self.structure(&original, &json, out),
            TypeKind::Union => self.union(&original, json, out),
            TypeKind::Sequence | TypeKind::Array => self.elements(&original, &json, out),
            TypeKind::Principal => {
                self.elements(&TypeCode::sequence(&TypeCode::OCTET, 0), &json, out)
            }
            TypeKind::Any => out.any(self, json),
            TypeKind::TypeCode => match json {
                Seen::Text(name) => {
                    let named = self.type_named(&name)?;
                    Ok(out.simple(&original, Value::TypeCode(named))?)
                }
                json => Err(wrong(&original, &json).into()),
            },
            TypeKind::Objref | TypeKind::Component => self.reference(&original, &json, out),
            TypeKind::AbstractInterface if !matches!(json, Seen::Object) => {
                self.reference(&original, &json, out)
            }
            TypeKind::AbstractInterface
            | TypeKind::Value
            | TypeKind::ValueBox
            | TypeKind::Event => self.valuetype(&original, json, out),
            TypeKind::String | TypeKind::WString => {
                let text = simple::text(&original, json)?;
                Ok(out.text(&original, text)?)
            }
            _ => {
                let value = if super::kinds::is_int8(type_code) {
                    simple::int8(type_code, &json)?
                } else {
                    simple::simple(&original, &json, &mut self.number)?
                };
                Ok(out.simple(&original, value)?)
            }
        }
    }

    fn reference<T: Target>(
        &self,
        type_code: &TypeCode,
        json: &Seen<'_>,
        out: &mut T,
    ) -> Result<T::Made, Failed> {
        let found = match json {
            Seen::Null => None,
            Seen::Text(text) => {
                let found = self.names.reference(text).map_err(error)?;
                (!found.is_nil()).then(|| Box::new(found))
            }
            _ => return Err(wrong(type_code, json).into()),
        };
        Ok(out.simple(type_code, Value::Object(found))?)
    }

    fn type_named(&mut self, name: &str) -> Result<TypeCode, JsonError> {
        /// As many as module CORBA names, and some.
        const MOST: usize = 32;
        let named = self.named.iter().find(|(known, _)| known == name);
        if let Some((_, type_code)) = named {
            return Ok(type_code.clone());
        }
        let type_code = parse_type(name, self.names);
        let type_code = type_code.ok_or_else(|| error(format!("there is no type `{name}`")))?;
        if self.named.len() < MOST {
            self.named.push((name.to_owned(), type_code.clone()));
        }
        Ok(type_code)
    }

    /// Does something one step further in.
    fn at<R>(
        &mut self,
        step: Step<'_>,
        visit: impl FnOnce(&mut Self) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        let outer = self.paths.enter(step);
        let result = visit(self);
        self.paths.go_back(outer);
        result.map_err(|failed| match failed {
            Failed::Json(error) => error.within(step).into(),
            failed => failed,
        })
    }
}

/// Something is wrong here. The path is put before it step by step, on the way out.
fn error(message: impl Into<String>) -> JsonError {
    JsonError::new(message)
}

/// What is there is of another type.
fn wrong(type_code: &TypeCode, json: &Seen<'_>) -> JsonError {
    error(format!(
        "{} is wanted, and this is {}",
        wanted(type_code),
        shown(json)
    ))
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
fn shown(json: &Seen<'_>) -> String {
    const LONGEST: usize = 40;
    let text = match json {
        Seen::Object => return "an object".to_owned(),
        Seen::Array => return "an array".to_owned(),
        Seen::Null => return "`null`".to_owned(),
        Seen::Bool(value) => return format!("`{value}`"),
        Seen::Number(number) => return format!("the number {number}"),
        Seen::Text(text) => text,
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("the text \"{}…\"", text.get(..end).unwrap_or_default()),
        None => format!("the text \"{text}\""),
    }
}
