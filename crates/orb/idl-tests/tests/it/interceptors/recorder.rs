//! Interceptors that record their calls, and take one action at one point, as the test prescribes.

use punctual::interceptor::{
    ClientRequestInfo, ClientRequestInterceptor, InterceptorError, ReplyStatus, ServerRequestInfo,
    ServerRequestInterceptor,
};
use punctual::{CompletionStatus, ObjectRef, SystemException, SystemExceptionKind as Kind};
use std::sync::{Arc, Mutex};

/// Minor code of the system exceptions that recording interceptors raise.
pub(crate) const RAISED: u32 = 0x5055_0f01;

/// Action of a recording interceptor at an interception point.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Raise,
    Panic,
    Forward(ObjectRef),
}

/// Interception points, those of a client before those of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    SendRequest,
    SendPoll,
    ReceiveReply,
    ReceiveException,
    ReceiveOther,
    ReceiveContexts,
    ReceiveRequest,
    SendReply,
    SendException,
    SendOther,
}

/// Call of an interceptor: the interceptor's name, the interception point, and the reply status at
/// that time.
pub(crate) type Called = (&'static str, Point, Option<ReplyStatus>);

/// Action that one interceptor takes at its next call at a point.
pub(crate) type Planned = Option<(&'static str, Point, Action)>;

/// State that the recording interceptors of one test share.
#[derive(Debug, Default)]
pub(crate) struct Records {
    called: Mutex<Vec<Called>>,
    /// Planned action: the interceptor, the point and the action. Removed once it is taken.
    planned: Mutex<Planned>,
}

impl Records {
    /// Plans the action of one recorder at its next call at a point.
    pub(crate) fn plan(&self, planned: Planned) {
        *self.planned.lock().unwrap() = planned;
    }

    /// Returns the calls recorded since the last `take`, of the recorders whose names begin with
    /// `whose`.
    pub(crate) fn take(&self, whose: &str) -> Vec<Called> {
        let mut called = self.called.lock().unwrap();
        let (taken, left) = called
            .drain(..)
            .partition(|(name, ..)| name.starts_with(whose));
        *called = left;
        taken
    }

    fn call(
        &self,
        name: &'static str,
        point: Point,
        status: Option<ReplyStatus>,
    ) -> Result<(), InterceptorError> {
        self.called.lock().unwrap().push((name, point, status));
        let mut planned = self.planned.lock().unwrap();
        let is_now = planned
            .as_ref()
            .is_some_and(|(who, at, _)| (*who, *at) == (name, point));
        let action = if is_now { planned.take() } else { None };
        drop(planned);
        match action {
            None => Ok(()),
            // The point decides the completion status, whatever the interceptor sets.
            Some((.., Action::Raise)) => {
                let maybe = CompletionStatus::Maybe;
                Err(SystemException::new(Kind::NoPermission, RAISED, maybe).into())
            }
            Some((.., Action::Panic)) => panic!("an interceptor panics on purpose"),
            Some((.., Action::Forward(to))) => Err(InterceptorError::forward(&to)),
        }
    }

    fn call_that_raises(
        &self,
        name: &'static str,
        point: Point,
        status: Option<ReplyStatus>,
    ) -> Result<(), SystemException> {
        self.call(name, point, status).map_err(|error| match error {
            InterceptorError::System(exception) => exception,
            InterceptorError::ForwardRequest(_) => unreachable!("it cannot be said there"),
        })
    }
}

/// Interceptor of client or server requests that records its interception points, by name.
pub(crate) struct Recorder(pub(crate) &'static str, pub(crate) Arc<Records>);

impl ClientRequestInterceptor for Recorder {
    fn name(&self) -> &str {
        self.0
    }

    fn send_request(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.1.call(self.0, Point::SendRequest, None)
    }

    fn send_poll(&self, _: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        self.1.call_that_raises(self.0, Point::SendPoll, None)
    }

    fn receive_reply(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        let status = info.reply_status().ok();
        self.1.call_that_raises(self.0, Point::ReceiveReply, status)
    }

    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let status = info.reply_status().ok();
        self.1.call(self.0, Point::ReceiveException, status)
    }

    fn receive_other(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        let status = info.reply_status().ok();
        self.1.call(self.0, Point::ReceiveOther, status)
    }
}

impl ServerRequestInterceptor for Recorder {
    fn name(&self) -> &str {
        self.0
    }

    fn receive_request_service_contexts(
        &self,
        _: &mut ServerRequestInfo<'_>,
    ) -> Result<(), InterceptorError> {
        self.1.call(self.0, Point::ReceiveContexts, None)
    }

    fn receive_request(&self, _: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.1.call(self.0, Point::ReceiveRequest, None)
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        let status = info.reply_status().ok();
        self.1.call_that_raises(self.0, Point::SendReply, status)
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let status = info.reply_status().ok();
        self.1.call(self.0, Point::SendException, status)
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let status = info.reply_status().ok();
        self.1.call(self.0, Point::SendOther, status)
    }
}
