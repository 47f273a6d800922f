//! Body of a reply with a system exception (CORBA 3.3 part 2, §9.4.3.2): `string repository id,
//! ulong minor, ulong completion status`.

use punctual_cdr::{CdrError, Decoder, Encoder, NarrowCodeSet};

/// System exception, as encoded in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemExceptionBody<'m> {
    /// Repository id of the exception, for example `IDL:omg.org/CORBA/MARSHAL:1.0`.
    pub repository_id: &'m str,
    /// Minor code, with its vendor in the upper bits.
    pub minor: u32,
    /// Completion status of the operation: 0 yes, 1 no, 2 maybe. A peer may send any number.
    pub completed: u32,
}

impl<'m> SystemExceptionBody<'m> {
    /// Reads the body of a reply with a system exception.
    ///
    /// # Errors
    /// A [`CdrError`] for a malformed body.
    pub fn decode(input: &mut Decoder<'m>) -> Result<Self, CdrError> {
        Ok(Self {
            repository_id: input.get_identifier()?,
            minor: input.get_u32()?,
            completed: input.get_u32()?,
        })
    }

    /// Writes the body of a reply with a system exception.
    ///
    /// # Errors
    /// Those of an invalid repository id: [`CdrError::InnerNul`], [`CdrError::LengthOverLimit`].
    pub fn encode(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_string_in(NarrowCodeSet::Utf8, self.repository_id)?;
        out.put_u32(self.minor);
        out.put_u32(self.completed);
        Ok(())
    }
}
