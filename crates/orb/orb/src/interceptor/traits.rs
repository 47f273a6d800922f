//! What an interceptor is: an object of the application that is called at points of every request.

use super::client_info::ClientRequestInfo;
use super::error::InterceptorError;
use super::server_info::ServerRequestInfo;
use crate::exception::SystemException;

/// Is called at points of the requests that an ORB's callers make (CORBA 3.3 part 1, §16.3.5).
///
/// In the order of registration at starting points, in the reverse order at the ending point, each once for each
/// starting point that has succeeded. Called on the thread that makes the call, with no lock held, by several threads
/// at once; it may make calls, which are intercepted, too. What it raises, what it forwards, and what follows is
/// told in `docs/guide/interceptors.md`.
pub trait ClientRequestInterceptor: Send + Sync {
    /// Tells it from others of the list. Any number may be without one.
    fn name(&self) -> &str {
        ""
    }

    /// A request is about to be sent, or, of an object of this process, to be given to its servant.
    ///
    /// # Errors
    /// A system exception, which the caller gets, or a forward to another object. The request is not sent.
    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// The reply of an asynchronous call has come, and is about to be looked at.
    ///
    /// # Errors
    /// A system exception, which the caller gets in place of the reply.
    fn send_poll(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// The call has results.
    ///
    /// # Errors
    /// A system exception, which the caller gets in place of the results.
    fn receive_reply(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// The call has ended with an exception, of whoever raised it.
    ///
    /// # Errors
    /// A system exception, which the caller gets in place of it, or a forward to another object.
    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Neither: the call is forwarded, or sent once more; it was a one-way; or it is asynchronous, and its caller goes on.
    ///
    /// # Errors
    /// A system exception, which the caller gets, or a forward to another object.
    fn receive_other(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }
}

/// Is called at points of the requests that an ORB serves (CORBA 3.3 part 1, §16.3.8).
///
/// In the order of registration at starting and intermediate points, in the reverse order at the ending point. Called on
/// the thread that serves the request, with no lock held, by several threads at once.
pub trait ServerRequestInterceptor: Send + Sync {
    /// Tells it from others of the list. Any number may be without one.
    fn name(&self) -> &str {
        ""
    }

    /// A request has come, and its servant is not looked for yet: no servant manager has been asked.
    ///
    /// # Errors
    /// A system exception, which the request is answered with, or a forward of its caller to another object.
    fn receive_request_service_contexts(
        &self,
        info: &mut ServerRequestInfo<'_>,
    ) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// The servant is there, and is about to be called by this thread.
    ///
    /// # Errors
    /// A system exception, which the request is answered with, or a forward of its caller to another object.
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// The upcall of a request is over, whatever has come of it: called on the thread that was in it, before the ending
    /// point. For what is bound to that thread. (The standard has no such point.)
    fn upcall_ended(&self, request_id: u32) {
        let _ = request_id;
    }

    /// The servant has returned results.
    ///
    /// # Errors
    /// A system exception, which the request is answered with in place of the results.
    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// The request has ended with an exception, of whoever raised it.
    ///
    /// # Errors
    /// A system exception, which the request is answered with in place of it, or a forward of its caller to another object.
    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }

    /// Neither: the caller is sent elsewhere, or waits for no answer.
    ///
    /// # Errors
    /// A system exception, which the request is answered with, or a forward of its caller to another object.
    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let _ = info;
        Ok(())
    }
}
