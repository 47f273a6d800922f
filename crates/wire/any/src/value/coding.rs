//! Values from their encoding, and back.

use punctual_cdr::{CdrError, Decoder, Encoder};

use super::Value;
use crate::any::Any;
use crate::type_code::TypeCode;
use crate::walk;

impl Value {
    /// Reads a value of this type.
    ///
    /// Memory is in proportion to the bytes read, and limited as a whole: many small elements stay
    /// encoded until they are accessed (see [`Elements`](super::Elements)).
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`], and errors of the encoding.
    pub fn unmarshal(type_code: &TypeCode, input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let types = type_code.arena().shapes()?;
        walk::read(types, type_code, None, input)
    }

    /// Writes the value as one of this type.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`]; [`CdrError::Invalid`] if it does not match the type; errors of
    /// the target encoding.
    pub fn marshal(&self, type_code: &TypeCode, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let types = type_code.arena().shapes()?;
        walk::write(types, type_code.at(), self, out)
    }
}

impl Any {
    /// Decodes the value.
    ///
    /// # Errors
    /// As [`Value::unmarshal`].
    pub fn value(&self) -> Result<Value, CdrError> {
        let types = self.type_code().arena().shapes()?;
        self.read(|input| walk::read(types, self.type_code(), self.body(), input))
    }

    /// Makes an Any that holds this value.
    ///
    /// # Errors
    /// As [`Value::marshal`].
    pub fn of_value(type_code: &TypeCode, value: &Value) -> Result<Self, CdrError> {
        let types = type_code.arena().shapes()?;
        Self::written(type_code, |out| {
            walk::write_without_id(types, type_code.at(), value, out)
        })
    }
}
