//! Text in Anys: Rust has one type for what IDL has many of, narrow and wide, with bounds and without.

use punctual_cdr::CdrError;

use super::{Any, AnyError};
use crate::kind::TypeKind;
use crate::type_code::TypeCode;
use crate::value::Value;

impl Any {
    /// An Any that holds a `wstring` (`from_wstring`). [`Any::new`] makes a `string` of text.
    ///
    /// # Errors
    /// [`CdrError::InnerNul`].
    pub fn of_wide(text: &str) -> Result<Self, CdrError> {
        Self::of_value(&TypeCode::WSTRING, &Value::String(text.to_owned()))
    }

    /// The text of a `string` or `wstring`, with a bound or without.
    ///
    /// # Errors
    /// [`AnyError::TypeMismatch`] if it holds no text; [`AnyError::Cdr`] for octets that are none, and for text beyond its
    /// bound.
    pub fn text(&self) -> Result<String, AnyError> {
        let kind = self.type_code().original_type().kind();
        if matches!(kind, TypeKind::String | TypeKind::WString)
            && let Value::String(text) = self.value()?
        {
            return Ok(text);
        }
        Err(AnyError::mismatch(self.type_code(), "text"))
    }
}
