//! What requests write, and where they read to.

use super::argument::Argument;
use super::error::InvokeError;
use punctual_any::{Any, TypeCode};
use punctual_cdr::{CdrError, Decoder, Encoder};
use punctual_orb::Context;

/// Where results go.
pub(super) struct Places<'r> {
    pub(super) arguments: &'r [Argument],
    pub(super) return_type: &'r TypeCode,
    pub(super) return_value: &'r mut Any,
    pub(super) returned: &'r mut [Any],
}

impl Places<'_> {
    pub(super) fn read(self, reply: &mut Decoder<'_>) -> Result<(), CdrError> {
        let return_value = self.return_value;
        return_value
            .unmarshal_as(self.return_type, reply)
            .inspect_err(|_| *return_value = Any::default())?;
        let outgoing = self.arguments.iter().zip(self.returned.iter_mut());
        for (argument, place) in outgoing.filter(|(argument, _)| argument.comes_back()) {
            place.unmarshal_as(argument.type_code(), reply)?;
        }
        Ok(())
    }
}

/// What a request may raise.
pub(super) struct Exceptions<'r>(pub(super) &'r [TypeCode]);

impl Exceptions<'_> {
    pub(super) fn read(
        &self,
        id: &str,
        reply: &mut Decoder<'_>,
    ) -> Result<Option<InvokeError>, CdrError> {
        let listed = self.0.iter().find(|one| one.id() == Ok(id));
        let read = listed.map(|type_code| Any::unmarshal_exception(type_code, reply));
        Ok(read.transpose()?.map(InvokeError::User))
    }
}

/// Writes the arguments that go out, and the context.
pub(super) fn put(
    arguments: &[Argument],
    context: Option<&(Vec<String>, Context)>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    for argument in arguments.iter().filter(|argument| argument.goes_out()) {
        if let Some(value) = argument.value() {
            value.marshal_value(out)?;
        }
    }
    if let Some((patterns, context)) = context {
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        context.marshal_matching(&patterns, out)?;
    }
    Ok(())
}
