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

    /// The text of a `string` or `wstring`, whatever its bound.
    ///
    /// # Errors
    /// [`AnyError::TypeMismatch`] if it holds no text; [`AnyError::Cdr`] for octets that are none.
    pub fn text(&self) -> Result<String, AnyError> {
        match self.type_code().original_type().kind() {
            TypeKind::String => Ok(self.read(|input| Ok(input.get_string()?.into_owned()))?),
            TypeKind::WString => Ok(self.read(|input| input.get_wstring())?),
            _ => Err(AnyError::mismatch(self.type_code(), "text")),
        }
    }
}
