//! Request interceptors: objects of the application that are called at points of every request.

use super::client_info::ClientRequestInfo;
use super::error::InterceptorError;
use super::server_info::ServerRequestInfo;
use crate::exception::SystemException;

/// Interceptor that is called at points of the requests that an ORB's callers make (CORBA 3.3 part
/// 1, §16.3.5).
///
/// Interceptors are called in the order of registration at starting points, in the reverse order at
/// the ending point, each once for each starting point that has succeeded. Called on the thread
/// that makes the call, with no lock held, by several threads at once; it may make calls, which are
/// intercepted, too. Exceptions, forwards and their consequences are described in
/// `docs/guide/interceptors.md`.
pub trait ClientRequestInterceptor: Send + Sync {
    /// Returns the name, unique in the list of interceptors. Any number of interceptors may have an
    /// empty one.
    fn name(&self) -> &str {
        ""
    }

    /// Called when a request is about to be sent, or, for an object of this process, to be given to
    /// its servant.
    ///
    /// # Errors
    /// A system exception, which the caller gets, or a forward to another object. The request is
    /// not sent.
    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Called when the reply of an asynchronous call has come, and is about to be examined.
    ///
    /// # Errors
    /// A system exception, which the caller gets in place of the reply.
    fn send_poll(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// Called when the call has results.
    ///
    /// # Errors
    /// A system exception, which the caller gets in place of the results.
    fn receive_reply(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// Called when the call has ended with an exception, whatever its source.
    ///
    /// # Errors
    /// A system exception, which the caller gets in place of it, or a forward to another object.
    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Called in all other cases: the call is forwarded, or sent once more; it was a one-way; or it
    /// is asynchronous, and its caller goes on.
    ///
    /// # Errors
    /// A system exception, which the caller gets, or a forward to another object.
    fn receive_other(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }
}

/// Interceptor that is called at points of the requests that an ORB serves (CORBA 3.3 part 1,
/// §16.3.8).
///
/// Interceptors are called in the order of registration at starting and intermediate points, in the
/// reverse order at the ending point. Called on the thread that serves the request, with no lock
/// held, by several threads at once.
pub trait ServerRequestInterceptor: Send + Sync {
    /// Returns the name, unique in the list of interceptors. Any number of interceptors may have an
    /// empty one.
    fn name(&self) -> &str {
        ""
    }

    /// Called when a request has come, before its servant is looked for: no servant manager has
    /// been asked.
    ///
    /// # Errors
    /// A system exception as the reply, or a forward of its caller to another object.
    fn receive_request_service_contexts(
        &self,
        info: &mut ServerRequestInfo<'_>,
    ) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Called when the servant has been found, and is about to be called by this thread.
    ///
    /// # Errors
    /// A system exception as the reply, or a forward of its caller to another object.
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Called when the upcall of a request is over, whatever its result, on the thread that made
    /// it, before the ending point. Intended for state that is bound to that thread. (The standard
    /// has no such point.)
    fn upcall_ended(&self, request_id: u32) {
        let _ = request_id;
    }

    /// Called when the servant has returned results.
    ///
    /// # Errors
    /// A system exception, which is sent in place of the results.
    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// Called when the request has ended with an exception, whatever its source.
    ///
    /// # Errors
    /// A system exception, which is sent in place of it, or a forward of its caller to another
    /// object.
    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Called in all other cases: the caller is forwarded, or expects no reply.
    ///
    /// # Errors
    /// A system exception as the reply, or a forward of its caller to another object.
    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }
}
