//! Text in Anys: one Rust type stands for several IDL types, narrow and wide, bounded and
//! unbounded.

use punctual_cdr::CdrError;

use super::{Any, AnyError};
use crate::kind::TypeKind;
use crate::type_code::TypeCode;
use crate::value::Value;

impl Any {
    /// Makes an Any that holds a `wstring` (`from_wstring`). [`Any::new`] makes a `string` of text.
    ///
    /// # Errors
    /// [`CdrError::InnerNul`].
    pub fn of_wide(text: &str) -> Result<Self, CdrError> {
        Self::of_value(&TypeCode::WSTRING, &Value::String(text.to_owned()))
    }

    /// Returns the text of a `string` or `wstring`, bounded or unbounded.
    ///
    /// # Errors
    /// [`AnyError::TypeMismatch`] if it holds no text; [`AnyError::Cdr`] for malformed text, and
    /// text beyond its bound.
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
