//! Request interceptors: objects of the application that are called at certain points of every
//! request.

use super::client_info::ClientRequestInfo;
use super::error::InterceptorError;
use super::server_info::ServerRequestInfo;
use crate::exception::SystemException;

/// Interceptor that is called at points of the requests that an ORB's callers make (CORBA 3.3 part
/// 1, §16.3.5).
///
/// At starting points, interceptors are called in the order of registration; at the ending point,
/// in the reverse order, each one whose starting point has succeeded. They are called on the thread
/// that makes the call, without a lock, and by several threads at once. They may make calls, which
/// are intercepted, too. Exceptions, forwards and their consequences are described in
/// `docs/guide/interceptors.md`.
pub trait ClientRequestInterceptor: Send + Sync {
    /// Returns the name, unique among the ORB's client interceptors. Any number of interceptors may
    /// have an empty name.
    fn name(&self) -> &str {
        ""
    }

    /// Called when a request is about to be sent or, for an object of this process, to be passed to
    /// its servant.
    ///
    /// # Errors
    /// A system exception, which the caller gets, or a forward to another object. The request is
    /// not sent.
    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Called when the reply of an asynchronous call has arrived, and is about to be examined.
    ///
    /// # Errors
    /// A system exception, which the caller gets in place of the reply.
    fn send_poll(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// Called when the call has returned results.
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
    /// A system exception, which the caller gets in place of that exception, or a forward to
    /// another object.
    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Called in all other cases: the call is forwarded or sent again, it was a one-way, or it is
    /// asynchronous and its caller does not wait.
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
/// At starting and intermediate points, interceptors are called in the order of registration, at
/// the ending point in the reverse order. They are called on the thread that serves the request,
/// without a lock, and by several threads at once.
pub trait ServerRequestInterceptor: Send + Sync {
    /// Returns the name, unique among the ORB's server interceptors. Any number of interceptors may
    /// have an empty name.
    fn name(&self) -> &str {
        ""
    }

    /// Called when a request has arrived, before its servant is looked for and any servant manager
    /// is called.
    ///
    /// # Errors
    /// A system exception, which is sent as the reply, or a forward of the caller to another
    /// object.
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
    /// A system exception, which is sent as the reply, or a forward of the caller to another
    /// object.
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Called when the upcall of a request has ended, whatever its result, on the thread that made
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
    /// A system exception, which is sent in place of that exception, or a forward of the caller to
    /// another object.
    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Called in all other cases: the caller is forwarded, or expects no reply.
    ///
    /// # Errors
    /// A system exception, which is sent as the reply, or a forward of the caller to another
    /// object.
    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }
}
