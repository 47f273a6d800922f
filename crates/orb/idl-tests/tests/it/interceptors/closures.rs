//! Interceptors that are closures, for tests of a single behaviour.

use punctual::SystemException;
use punctual::interceptor::{
    ClientRequestInfo, ClientRequestInterceptor, InterceptorError, ServerRequestInfo,
    ServerRequestInterceptor,
};

/// Interceptor that calls a closure at every point with the point's name.
pub(crate) struct AtClient<F>(pub(crate) F);

pub(crate) struct AtServer<F>(pub(crate) F);

type Done = Result<(), InterceptorError>;

fn raised(done: Done) -> Result<(), SystemException> {
    done.map_err(|error| match error {
        InterceptorError::System(exception) => exception,
        InterceptorError::ForwardRequest(_) => panic!("it cannot be said there"),
    })
}

impl<F> ClientRequestInterceptor for AtClient<F>
where
    F: Fn(&'static str, &mut ClientRequestInfo<'_>) -> Done + Send + Sync,
{
    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Done {
        (self.0)("send_request", info)
    }

    fn send_poll(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        raised((self.0)("send_poll", info))
    }

    fn receive_reply(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        raised((self.0)("receive_reply", info))
    }

    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Done {
        (self.0)("receive_exception", info)
    }

    fn receive_other(&self, info: &mut ClientRequestInfo<'_>) -> Done {
        (self.0)("receive_other", info)
    }
}

impl<F> ServerRequestInterceptor for AtServer<F>
where
    F: Fn(&'static str, &mut ServerRequestInfo<'_>) -> Done + Send + Sync,
{
    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Done {
        (self.0)("receive_request_service_contexts", info)
    }

    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Done {
        (self.0)("receive_request", info)
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        raised((self.0)("send_reply", info))
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Done {
        (self.0)("send_exception", info)
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Done {
        (self.0)("send_other", info)
    }
}
