//! Request that a dynamic servant receives.

use super::details::ServedOperation;
use crate::request::InvokeError;
use punctual_any::{Any, OperationDescription, ParameterMode, TypeCode};
use punctual_cdr::{CdrError, Unmarshal};
use punctual_orb::{Context, DispatchError, Dispatched, Orb, ServerCall};
use punctual_poa::Response;
use std::fmt;
use std::sync::Arc;

/// Request that a dynamic servant has to answer: CORBA's `ServerRequest`.
///
/// First its arguments are read, by the types that the servant knows for the operation, then it is
/// answered, once: by results, or by a user exception; at once, or later
/// ([`ServerRequest::answer_later`]).
pub struct ServerRequest<'r, 'm> {
    call: &'r mut ServerCall<'m>,
    /// Values of the operation's `context` clause, which are read with the arguments.
    context: Option<Context>,
}

impl<'r, 'm> ServerRequest<'r, 'm> {
    pub(super) fn new(call: &'r mut ServerCall<'m>) -> Self {
        Self {
            call,
            context: None,
        }
    }

    /// Returns the operation's name; an attribute is read by `_get_NAME` and written by
    /// `_set_NAME`.
    #[must_use]
    pub fn operation(&self) -> &'m str {
        self.call.operation()
    }

    /// Returns the ORB that received the request.
    #[must_use]
    pub fn orb(&self) -> &'m Orb {
        self.call.orb()
    }

    /// Returns whether the client waits for a reply.
    #[must_use]
    pub fn expects_reply(&self) -> bool {
        self.call.expects_reply()
    }

    /// Reads the `in` and `inout` arguments, in order. Interceptors are then called for the request
    /// (CORBA 3.3 part 1, §16.3.8), with all these arguments as `in` arguments;
    /// [`ServerRequest::arguments_of`] gives interceptors the whole description of the operation.
    ///
    /// # Errors
    /// MARSHAL and similar exceptions for octets that are not of these types; the exception of an
    /// interceptor, which is then the request's answer.
    pub fn arguments(&mut self, types: &[TypeCode]) -> Result<Vec<Any>, DispatchError> {
        let mut values = vec![Any::default(); types.len()];
        self.arguments_into(types, &mut values)?;
        Ok(values)
    }

    /// Reads the arguments as [`ServerRequest::arguments`] does, into existing Anys, whose buffers
    /// are reused.
    ///
    /// # Errors
    /// Those of [`ServerRequest::arguments`].
    pub fn arguments_into(
        &mut self,
        types: &[TypeCode],
        values: &mut Vec<Any>,
    ) -> Result<(), DispatchError> {
        values.resize_with(types.len(), Any::default);
        for (type_code, value) in types.iter().zip(values.iter_mut()) {
            value.unmarshal_as(type_code, self.call.arguments())?;
        }
        if self.call.is_intercepted() {
            let details = ServedOperation::unknown(values.clone());
            self.call.tell_arguments(Some(Arc::new(details)))?;
        }
        Ok(())
    }

    /// Reads the `in` and `inout` arguments of an operation, in order, and the values of its
    /// `context` clause ([`ServerRequest::context`]). Interceptors then know its arguments,
    /// results, exceptions and context.
    ///
    /// # Errors
    /// Those of [`ServerRequest::arguments`].
    pub fn arguments_of(
        &mut self,
        operation: &OperationDescription,
    ) -> Result<Vec<Any>, DispatchError> {
        let parameters = operation.parameters.iter();
        let incoming = parameters.filter(|one| one.mode != ParameterMode::Out);
        let values = incoming.map(|parameter| -> Result<Any, CdrError> {
            let mut value = Any::default();
            value.unmarshal_as(&parameter.type_code, self.call.arguments())?;
            Ok(value)
        });
        let values = values.collect::<Result<Vec<Any>, CdrError>>()?;
        let context = match operation.contexts.is_empty() {
            true => Context::new(),
            false => Context::unmarshal(self.call.arguments())?,
        };
        if self.call.is_intercepted() {
            let details = ServedOperation::of(operation, values.clone(), context.clone());
            self.call.tell_arguments(Some(Arc::new(details)))?;
        }
        self.context = Some(context);
        Ok(values)
    }

    /// Reads the values of an operation's `context` clause, behind its arguments (`ctx`).
    ///
    /// # Errors
    /// MARSHAL and similar exceptions.
    pub fn context(&mut self) -> Result<Context, DispatchError> {
        match self.context.take() {
            Some(context) => Ok(context),
            None => Ok(Context::unmarshal(self.call.arguments())?),
        }
    }

    /// Answers with results: the return value, if there is one, then the `inout` and `out`
    /// arguments, in order.
    ///
    /// # Errors
    /// The caller's exception if they cannot be marshaled.
    pub fn reply(self, results: &[Any]) -> Result<Dispatched, DispatchError> {
        self.call.tell_arguments(None)?;
        reply(self.call, results)
    }

    /// Answers with a user exception (`set_exception`).
    ///
    /// # Errors
    /// BAD_PARAM if the value is no exception; the caller's exception if it cannot be marshaled.
    pub fn raise(self, exception: &Any) -> Result<Dispatched, DispatchError> {
        self.call.tell_arguments(None)?;
        raise(self.call, exception)
    }

    /// Defers the answer: it is then given through the returned [`Response`], from any thread,
    /// within `timeouts.answer` or the POA's `AnswerTimeout`. Meanwhile the request occupies no
    /// thread. [`Response::reply`] takes the results as [`ServerRequest::reply`] does, and
    /// [`Response::raise`] an [`InvokeError`]. Allocates.
    ///
    /// ```no_run
    /// # use punctual_dynamic::{DynamicImplementation, ServerRequest};
    /// # use punctual_orb::{DispatchError, Dispatched};
    /// # struct Clerk;
    /// # impl DynamicImplementation for Clerk {
    /// # fn primary_interface(&self) -> std::borrow::Cow<'_, str> { "IDL:Clerk:1.0".into() }
    /// fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
    ///     request.arguments(&[])?;
    ///     let (response, deferred) = request.answer_later()?;
    ///     std::thread::spawn(move || response.reply(Vec::new()));
    ///     Ok(deferred)
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// TRANSIENT if too many requests wait to be answered, or the POA is being destroyed;
    /// NO_RESOURCES if no timer can be set for the time-out.
    pub fn answer_later(
        self,
    ) -> Result<(Response<Vec<Any>, InvokeError>, Dispatched), DispatchError> {
        Response::of(self.call, answer)
    }

    /// Returns the error for an operation that the object does not have.
    #[must_use]
    pub fn bad_operation(&self) -> DispatchError {
        self.call.bad_operation()
    }

    /// Returns the underlying call, for servants that pass it on unchanged; interceptors see it by
    /// [`ServerCall::tell_arguments`].
    pub fn as_call(&mut self) -> &mut ServerCall<'m> {
        self.call
    }
}

#[inline]
fn reply(call: &mut ServerCall<'_>, results: &[Any]) -> Result<Dispatched, DispatchError> {
    call.reply(|out| {
        results
            .iter()
            .try_for_each(|value| value.marshal_value(out))
    })
}

fn raise(call: &mut ServerCall<'_>, exception: &Any) -> Result<Dispatched, DispatchError> {
    let type_code = exception.type_code();
    let id = type_code.id().map_err(|_| not_an_exception(type_code))?;
    call.raise_as(id, |out| exception.marshal_members(out))
}

/// Writes the answer of a [`Response`] into the reply.
fn answer(
    result: Result<Vec<Any>, InvokeError>,
    call: &mut ServerCall<'_>,
) -> Result<Dispatched, DispatchError> {
    match result {
        Ok(results) => reply(call, &results),
        Err(InvokeError::User(exception)) => raise(call, &exception),
        Err(InvokeError::System(exception)) => Err(exception.into()),
    }
}

fn not_an_exception(type_code: &TypeCode) -> DispatchError {
    use punctual_orb::{CompletionStatus, SystemException, SystemExceptionKind, minor};
    SystemException::new(
        SystemExceptionKind::BadParam,
        minor::VALUE,
        CompletionStatus::Yes,
    )
    .with_detail(format!(
        "a value of type {type_code} cannot be raised: it is not an exception"
    ))
    .into()
}

impl fmt::Debug for ServerRequest<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerRequest")
            .field("operation", &self.operation())
            .finish_non_exhaustive()
    }
}
