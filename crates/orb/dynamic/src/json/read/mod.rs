//! JSON to values.
//!
//! The text is read in place, by the expected type, into the octets that the value has in an Any,
//! without an intermediate tree. A [`Value`] is then made from these octets. Two kinds of values
//! are made directly from the text: those with valuetypes, which refer to one another, and those
//! that cannot be marshaled because a string is longer than the limit or has a character that no
//! code set has.

mod any;
mod check;
mod composed;
mod members;
mod misfit;
mod paths;
mod reading;
mod simple;
mod target;
mod text;
mod union_;
mod valuetype;
mod whole;

use punctual_any::{TypeCode, TypeKind, Value};

use misfit::{error, wrong};
use reading::{ReadFailure, Reading};
use target::Target;
use text::Token;

pub use whole::{any_from_json, any_from_json_text, from_json, from_json_text, members_of_json};

impl<'t> Reading<'_, 't> {
    /// Reads the next value of the text, as one of the given type.
    fn value<T: Target>(
        &mut self,
        type_code: &TypeCode,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        let json = self.text.next_token();
        self.seen(type_code, json, out)
    }

    fn seen<T: Target>(
        &mut self,
        type_code: &TypeCode,
        json: Token<'t>,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
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
                Token::Text(name) => {
                    let named = self.type_named(&name)?;
                    Ok(out.simple(&original, Value::TypeCode(named))?)
                }
                json => Err(wrong(&original, &json).into()),
            },
            TypeKind::Objref | TypeKind::Component => self.reference(&original, &json, out),
            TypeKind::AbstractInterface if !matches!(json, Token::Object) => {
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
        json: &Token<'_>,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        let found = match json {
            Token::Null => None,
            Token::Text(text) => {
                let found = self.names.reference(text).map_err(error)?;
                (!found.is_nil()).then(|| Box::new(found))
            }
            _ => return Err(wrong(type_code, json).into()),
        };
        Ok(out.simple(type_code, Value::Object(found))?)
    }
}
