//! Types of a request's arguments and results, used to marshal the request, to unmarshal its reply,
//! and to inform interceptors.

use super::argument::Argument;
use super::error::InvokeError;
use punctual_any::{Any, TypeCode};
use punctual_cdr::{CdrError, Decoder, Encoder};
use punctual_orb::{ArgumentValues, Context, OperationDetails};

/// Types and values of a request's arguments, results and exceptions.
#[derive(Clone, Debug)]
pub(super) struct Details {
    pub(super) arguments: Vec<Argument>,
    pub(super) return_type: TypeCode,
    pub(super) exceptions: Vec<TypeCode>,
    pub(super) context: Option<(Vec<String>, Context)>,
}

impl Details {
    /// Creates the description of a request without arguments and results.
    pub(super) const fn none() -> Self {
        Self {
            arguments: Vec::new(),
            return_type: TypeCode::VOID,
            exceptions: Vec::new(),
            context: None,
        }
    }

    /// Writes the `in` and `inout` arguments, and the context.
    #[inline]
    pub(super) fn put(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        for argument in self.arguments.iter().filter(|argument| argument.goes_out()) {
            if let Some(value) = argument.value() {
                value.marshal_value(out)?;
            }
        }
        if let Some((patterns, context)) = &self.context {
            let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
            context.marshal_matching(&patterns, out)?;
        }
        Ok(())
    }

    /// Reads a reply's results: the return value, and the `inout` and `out` values, each into the
    /// element of its argument.
    // Inlined into a synchronous call; deferred ones call it.
    #[inline(always)]
    pub(super) fn read(
        &self,
        (return_value, returned): (&mut Any, &mut [Any]),
        reply: &mut Decoder<'_>,
    ) -> Result<(), CdrError> {
        return_value
            .unmarshal_as(&self.return_type, reply)
            .inspect_err(|_| *return_value = Any::default())?;
        let outgoing = self.arguments.iter().zip(returned.iter_mut());
        for (argument, place) in outgoing.filter(|(argument, _)| argument.comes_back()) {
            place.unmarshal_as(argument.type_code(), reply)?;
        }
        Ok(())
    }

    /// Returns the user exception of a reply, if it is one of those that the request expects.
    pub(super) fn raised(
        &self,
        id: &str,
        reply: &mut Decoder<'_>,
    ) -> Result<Option<InvokeError>, CdrError> {
        let listed = self.exceptions.iter().find(|one| one.id() == Ok(id));
        let read = listed.map(|type_code| Any::unmarshal_exception(type_code, reply));
        Ok(read.transpose()?.map(InvokeError::User))
    }
}

impl OperationDetails for Details {
    fn arguments(&self) -> ArgumentValues {
        let value = |one: &Argument| {
            let value = one.value().filter(|_| one.goes_out());
            (one.mode(), value.cloned().unwrap_or_default())
        };
        self.arguments.iter().map(value).collect()
    }

    fn exceptions(&self) -> Vec<TypeCode> {
        self.exceptions.clone()
    }

    fn contexts(&self) -> Vec<String> {
        self.context
            .as_ref()
            .map(|(patterns, _)| patterns.clone())
            .unwrap_or_default()
    }

    fn operation_context(&self) -> Context {
        let Some((patterns, context)) = &self.context else {
            return Context::new();
        };
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        context.matching(&patterns)
    }

    fn results(&self, reply: &mut Decoder<'_>) -> Result<(Any, ArgumentValues), CdrError> {
        let mut result = Any::default();
        result.unmarshal_as(&self.return_type, reply)?;
        let mut arguments = self.arguments();
        let places = arguments.iter_mut().zip(&self.arguments);
        for ((_, value), argument) in places.filter(|(_, argument)| argument.comes_back()) {
            let mut returned = Any::default();
            returned.unmarshal_as(argument.type_code(), reply)?;
            *value = returned;
        }
        Ok((result, arguments))
    }
}
