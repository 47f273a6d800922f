//! A request as a dynamic servant sees it.

use punctual_any::{Any, TypeCode};
use punctual_cdr::Unmarshal;
use punctual_orb::{Context, DispatchError, Dispatched, Orb, ServerCall};
use std::fmt;

/// A request to be answered: CORBA's `ServerRequest`.
///
/// First its arguments are read, of the types that the servant knows the operation to have, then it is
/// answered, once: by results, or by a user exception.
pub struct ServerRequest<'r, 'm> {
    call: &'r mut ServerCall<'m>,
}

impl<'r, 'm> ServerRequest<'r, 'm> {
    pub(super) fn new(call: &'r mut ServerCall<'m>) -> Self {
        Self { call }
    }

    /// The operation's name; an attribute is read by `_get_NAME` and written by `_set_NAME`.
    #[must_use]
    pub fn operation(&self) -> &'m str {
        self.call.operation()
    }

    /// The ORB that received it.
    #[must_use]
    pub fn orb(&self) -> &'m Orb {
        self.call.orb()
    }

    /// Whether anybody waits for an answer.
    #[must_use]
    pub fn expects_reply(&self) -> bool {
        self.call.expects_reply()
    }

    /// Reads the `in` and `inout` arguments, in order.
    ///
    /// # Errors
    /// MARSHAL and its like for what is not of these types.
    pub fn arguments(&mut self, types: &[TypeCode]) -> Result<Vec<Any>, DispatchError> {
        let mut values = vec![Any::default(); types.len()];
        self.arguments_into(types, &mut values)?;
        Ok(values)
    }

    /// The same, into the places of other values, whose memory is used again.
    ///
    /// # Errors
    /// As [`ServerRequest::arguments`].
    pub fn arguments_into(
        &mut self,
        types: &[TypeCode],
        values: &mut Vec<Any>,
    ) -> Result<(), DispatchError> {
        values.resize_with(types.len(), Any::default);
        for (type_code, value) in types.iter().zip(values) {
            value.unmarshal_as(type_code, self.call.arguments())?;
        }
        Ok(())
    }

    /// Reads the values that come along with an operation that has a `context` clause, behind its
    /// arguments (`ctx`).
    ///
    /// # Errors
    /// MARSHAL and its like.
    pub fn context(&mut self) -> Result<Context, DispatchError> {
        Ok(Context::unmarshal(self.call.arguments())?)
    }

    /// Answers with results: what the operation returns, if it returns something, then its `inout` and `out`
    /// arguments, in order.
    ///
    /// # Errors
    /// What to tell the caller when they cannot be marshaled.
    pub fn reply(self, results: &[Any]) -> Result<Dispatched, DispatchError> {
        self.call.reply(|out| {
            results
                .iter()
                .try_for_each(|value| value.marshal_value(out))
        })
    }

    /// Answers with a user exception (`set_exception`).
    ///
    /// # Errors
    /// BAD_PARAM when the value is no exception; what to tell the caller when it cannot be marshaled.
    pub fn raise(self, exception: &Any) -> Result<Dispatched, DispatchError> {
        let type_code = exception.type_code();
        let id = type_code.id().map_err(|_| not_an_exception(type_code))?;
        self.call.raise_as(id, |out| exception.marshal_members(out))
    }

    /// The error for an operation that the object does not have.
    #[must_use]
    pub fn bad_operation(&self) -> DispatchError {
        self.call.bad_operation()
    }

    /// The call itself, for whoever passes it on as it came.
    pub fn as_call(&mut self) -> &mut ServerCall<'m> {
        self.call
    }
}

fn not_an_exception(type_code: &TypeCode) -> DispatchError {
    use punctual_orb::{CompletionStatus, SystemException, SystemExceptionKind, minor};
    SystemException::new(
        SystemExceptionKind::BadParam,
        minor::VALUE,
        CompletionStatus::Yes,
    )
    .with_detail(format!("a value of type {type_code} is not raised"))
    .into()
}

impl fmt::Debug for ServerRequest<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerRequest")
            .field("operation", &self.operation())
            .finish_non_exhaustive()
    }
}
