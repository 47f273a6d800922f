//! The body of a reply that brings a system exception (CORBA 3.3 part 2, §9.4.3.2):
//! `string repository id, ulong minor, ulong completion status`.

use punctual_cdr::{CdrError, Decoder, Encoder, NarrowCodeSet};

/// A system exception as it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemExceptionBody<'m> {
    /// Which exception, for example `IDL:omg.org/CORBA/MARSHAL:1.0`.
    pub repository_id: &'m str,
    /// The minor code, with its vendor in the upper bits.
    pub minor: u32,
    /// Whether the operation was done: 0 yes, 1 no, 2 maybe. A peer may send anything.
    pub completed: u32,
}

impl<'m> SystemExceptionBody<'m> {
    /// Reads the body.
    ///
    /// # Errors
    /// A [`CdrError`] that tells what is malformed.
    pub fn decode(input: &mut Decoder<'m>) -> Result<Self, CdrError> {
        Ok(Self {
            repository_id: input.get_identifier()?,
            minor: input.get_u32()?,
            completed: input.get_u32()?,
        })
    }

    /// Writes the body.
    ///
    /// # Errors
    /// What a repository id cannot be: [`CdrError::InnerNul`], [`CdrError::LengthOverLimit`].
    pub fn encode(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_string_in(NarrowCodeSet::Utf8, self.repository_id)?;
        out.put_u32(self.minor);
        out.put_u32(self.completed);
        Ok(())
    }
}
