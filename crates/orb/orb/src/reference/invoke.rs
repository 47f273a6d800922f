//! Calls through a reference, for generated stubs.

use super::object::ObjectRef;
use crate::client::{self, Body, RemoteObject};
use crate::collocation;
use crate::exception::{CompletionStatus, OperationError, SystemException, unmarshal_exception};
use crate::operation::NamedOperation;
use punctual_cdr::{CdrError, Decoder, Encoder};

impl ObjectRef {
    /// Makes a two-way request that declares no user exceptions. For generated stubs.
    ///
    /// Blocks until the reply or the call's time-out. `arguments` may run more than once.
    ///
    /// # Errors
    /// The exception that the servant has raised. System exceptions of the ORB: TRANSIENT if no endpoint could be
    /// connected to, COMM_FAILURE if the connection broke, TIMEOUT if the time was up, MARSHAL and BAD_PARAM for values
    /// that cannot be sent or read.
    pub fn invoke<R>(
        &self,
        operation: &NamedOperation<'_>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
        results: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
    ) -> Result<R, SystemException> {
        self.invoke_raising(operation, arguments, results, SystemException::raised)
    }

    /// Makes a two-way request; `exceptions` decodes the user exception with the given repository
    /// id, or returns `None` when the operation does not declare it. For generated stubs.
    ///
    /// # Errors
    /// The exception that the servant has raised. System exceptions of the ORB: TRANSIENT if no
    /// endpoint could be connected to, COMM_FAILURE if the connection broke, TIMEOUT if the time
    /// was up, MARSHAL and BAD_PARAM for values that cannot be sent or read.
    #[inline]
    pub fn invoke_raising<R, E: From<SystemException>>(
        &self,
        operation: &NamedOperation<'_>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
        results: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
        exceptions: impl FnOnce(&str, &mut Decoder<'_>) -> Result<Option<E>, CdrError>,
    ) -> Result<R, E> {
        let unreadable = |error| {
            unmarshal_exception(error, CompletionStatus::Yes).in_context(format_args!(
                "reading the results of `{}`",
                operation.name()
            ))
        };
        let (mut results, mut exceptions) = (Some(results), Some(exceptions));
        let mut outcome = None;
        client::invoke(
            &self.callee(),
            operation,
            &arguments,
            &mut |body, decoder| {
                // A call has one reply.
                outcome = match body {
                    Body::Results => results
                        .take()
                        .map(|results| results(decoder).map_err(|error| unreadable(error).into())),
                    Body::UserException => exceptions.take().map(|exceptions| {
                        let id = decoder.get_string().map_err(unreadable)?;
                        match exceptions(&id, decoder).map_err(unreadable)? {
                            Some(exception) => Err(exception),
                            None => Err(client::unlisted(&id).into()),
                        }
                    }),
                };
            },
        )?;
        outcome.unwrap_or_else(|| Err(client::out_of_place().into()))
    }

    /// Makes a one-way call: returns when the transport has accepted it. For generated stubs.
    ///
    /// # Errors
    /// TRANSIENT, COMM_FAILURE or TIMEOUT if the request could not be sent; MARSHAL and BAD_PARAM
    /// for values that cannot be sent.
    pub fn send(
        &self,
        operation: &NamedOperation<'_>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        client::one_way(&self.callee(), operation, &arguments)
    }

    /// Makes a call. If the object is in this process, calls `here` with the servant, on this
    /// thread; otherwise sends a request, for which `arguments` writes the arguments and `results`
    /// reads the results. For generated stubs.
    ///
    /// For an object known to be in another process, the check reads one byte.
    ///
    /// # Errors
    /// The exception that the servant has raised. System exceptions of the ORB: TRANSIENT if no
    /// endpoint could be connected to, COMM_FAILURE if the connection broke, TIMEOUT if the time
    /// was up, MARSHAL and BAD_PARAM for values that cannot be sent or read.
    #[inline]
    pub fn call<V, R, E>(
        &self,
        operation: &NamedOperation<'_>,
        here: impl FnOnce(&V) -> Result<R, E>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
        results: impl FnOnce(&mut Decoder<'_>) -> Result<R, CdrError>,
    ) -> Result<R, E>
    where
        V: ?Sized + 'static,
        E: OperationError,
    {
        self.call_or_again(
            operation,
            (),
            |(), servant: &V| here(servant),
            arguments,
            |(), reply| results(reply),
            || Some(()),
        )
    }

    /// Makes a call like [`ObjectRef::call`] whose results are written to buffers of the caller.
    /// For generated stubs.
    ///
    /// # Errors
    /// Those of [`ObjectRef::call`].
    #[inline]
    pub fn call_into<V, B, R, E>(
        &self,
        operation: &NamedOperation<'_>,
        buffers: B,
        here: impl FnOnce(B, &V) -> Result<R, E>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
        results: impl FnOnce(B, &mut Decoder<'_>) -> Result<R, CdrError>,
    ) -> Result<R, E>
    where
        V: ?Sized + 'static,
        E: OperationError,
    {
        self.call_or_again(operation, buffers, here, arguments, results, || None)
    }

    #[inline]
    fn call_or_again<V, B, R, E>(
        &self,
        operation: &NamedOperation<'_>,
        buffers: B,
        here: impl FnOnce(B, &V) -> Result<R, E>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
        results: impl FnOnce(B, &mut Decoder<'_>) -> Result<R, CdrError>,
        again: impl FnOnce() -> Option<B>,
    ) -> Result<R, E>
    where
        V: ?Sized + 'static,
        E: OperationError,
    {
        let wire = |object: &Self, buffers| {
            let results = |reply: &mut Decoder<'_>| results(buffers, reply);
            object.invoke_raising(operation, arguments, results, E::raised)
        };
        if self.is_elsewhere() {
            return wire(self, buffers);
        }
        let wire = |buffers, to: Option<RemoteObject>| match to {
            None => wire(self, buffers),
            Some(to) => wire(&self.forwarded(to), buffers),
        };
        collocation::call(self.caller(), operation, buffers, here, wire, again)
    }

    /// Makes a one-way call like [`ObjectRef::call`]. Within the process, its failure is not
    /// reported. For generated stubs.
    ///
    /// # Errors
    /// TRANSIENT, COMM_FAILURE or TIMEOUT if the request cannot be sent; MARSHAL and BAD_PARAM for
    /// values that cannot be sent.
    #[inline]
    pub fn call_one_way<V: ?Sized + 'static>(
        &self,
        operation: &NamedOperation<'_>,
        here: impl FnOnce(&V) -> Result<(), SystemException>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        if self.is_elsewhere() {
            return self.send(operation, arguments);
        }
        let wire = |to: Option<RemoteObject>| match to {
            None => self.send(operation, arguments),
            Some(to) => self.forwarded(to).send(operation, arguments),
        };
        collocation::one_way(self.caller(), operation, here, wire)
    }
}
