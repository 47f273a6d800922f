//! Exceptions in Anys and replies: in both, the repository id precedes the members.

use super::Any;
use crate::type_code::{Node, TypeCode};
use crate::walk::{members, pass_id};
use punctual_cdr::{CdrError, Decoder, Encoder, Environment};
use std::sync::Arc;

impl Any {
    /// Reads the members of a user exception, whose repository id has been read and is the type's.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`] for a type that is not an exception, and errors of the encoding.
    pub fn unmarshal_exception(
        type_code: &TypeCode,
        input: &Decoder<'_>,
    ) -> Result<Self, CdrError> {
        let types = type_code.arena().shapes()?;
        let shape = types.shape(type_code.at());
        let Node::Exception { members: all, .. } = types.node(shape.original) else {
            return Err(CdrError::BadTypeCode("the type is not an exception"));
        };
        let write = |out: &mut Encoder<'_>| members(types, type_code, all, &mut input.clone(), out);
        let mut this = Self::written(type_code, write)?;
        if shape.holds.has_live()
            && let Some(body) = this.body.as_mut().and_then(Arc::get_mut)
        {
            body.environment = input.coding().environment.map(Environment::share);
        }
        Ok(this)
    }

    /// Writes the members of a user exception without its repository id.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`] for a type that is not an exception; errors of the target
    /// encoding.
    pub fn marshal_members(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let types = self.type_code.arena().shapes()?;
        let original = types.shape(self.type_code.at()).original;
        let Node::Exception { name, members: all } = types.node(original) else {
            return Err(CdrError::BadTypeCode("the type is not an exception"));
        };
        self.read(|input| {
            pass_id(&name.id, input);
            members(types, &self.type_code, all, input, out)
        })
    }
}
