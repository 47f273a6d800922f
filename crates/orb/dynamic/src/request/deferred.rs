//! Deferred synchronous requests: sent now, their results fetched later (CORBA 3.3 part 1,
//! §11.2.2).
//!
//! They use the same mechanism as other asynchronous calls: a waiting caller reads on its own
//! thread; for a [`PollableSet`] a thread of the ORB reads. A request that is dropped before its
//! response has arrived is cancelled.

use super::Request;
use super::error::InvokeError;
use super::handled::deliver;
use super::phase::Phase;
use punctual_cdr::Encoder;
use punctual_orb::{
    CompletionStatus, DeferredRequest, Interface, Pollable, PollableSet, SystemException,
    SystemExceptionKind as Kind, minor,
};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

impl Request {
    /// Sends the request, and does not wait for its response (`send_deferred`). It can be sent
    /// again when the response has been fetched.
    ///
    /// The request carries the values that the arguments have at this call. It is sent as a
    /// message, even to objects of this process. An error in sending is delivered as its response.
    ///
    /// # Errors
    /// BAD_PARAM for an argument that has no value; BAD_INV_ORDER (minor code 10) while a response
    /// is outstanding.
    pub fn send_deferred(&mut self) -> Result<(), SystemException> {
        self.check()?;
        if let Phase::Sent(_) = self.phase {
            return Err(out_of_order(
                minor::REQUEST_ALREADY_SENT,
                "the response of the request is outstanding",
            ));
        }
        self.phase = Phase::Sent(Box::new(self.begin()));
        Ok(())
    }

    /// Sends the request, with the values that the arguments have now.
    fn begin(&self) -> DeferredRequest {
        let details = Arc::new(self.details.clone());
        let written = details.clone();
        let marshal = move |out: &mut Encoder<'_>| written.put(out);
        self.object
            .send_deferred(self.operation.clone(), details, marshal)
    }

    /// Sends the request, and calls `handler` once, with the request and the outcome, when its
    /// response arrives. The call is made on the thread that reads replies
    /// (`docs/guide/asynchrony.md`); the request then has its results, as after
    /// [`Request::invoke`].
    ///
    /// An error in sending is delivered as its response.
    ///
    /// # Errors
    /// Those of [`Request::send_deferred`]; the handler is not called.
    pub fn sendc_with(
        mut self,
        handler: impl FnOnce(Self, Result<(), InvokeError>) + Send + 'static,
    ) -> Result<(), SystemException> {
        self.send_deferred()?;
        let Phase::Sent(sent) = std::mem::replace(&mut self.phase, Phase::Retrieved) else {
            return Ok(());
        };
        sent.when_done(move |sent| {
            let outcome = self.take_response(sent);
            handler(self, outcome);
        });
        Ok(())
    }

    /// Sends the request, and delivers its response to a reply handler (`sendc`): an object of the
    /// handler interface that is implied by the IDL of the called object's interface
    /// (`AMI_ClerkHandler` of `Clerk`), in this process or any other. This does not wait for the
    /// delivery; a handler that cannot be reached or raises an exception is logged.
    ///
    /// # Errors
    /// Those of [`Request::sendc_with`].
    pub fn sendc(self, handler: &impl Interface) -> Result<(), SystemException> {
        let handler = handler.as_object().clone();
        self.sendc_with(move |request, outcome| deliver(&handler, &request, outcome))
    }

    /// Returns whether the response has arrived (`poll_response`). Does not wait.
    ///
    /// # Errors
    /// BAD_INV_ORDER for a request that was not sent (minor code 11), or whose response was fetched
    /// (12).
    pub fn poll_response(&mut self) -> Result<bool, SystemException> {
        Ok(self.sent()?.is_ready(Duration::ZERO))
    }

    /// Waits for the response, and takes it: the return value, `out` and `inout` arguments (`get_response`).
    ///
    /// # Errors
    /// Those of [`Request::invoke`], and of [`Request::poll_response`].
    pub fn get_response(&mut self) -> Result<(), InvokeError> {
        self.sent()?;
        let Phase::Sent(sent) = std::mem::replace(&mut self.phase, Phase::Retrieved) else {
            return Ok(());
        };
        self.take_response(*sent)
    }

    fn take_response(&mut self, sent: DeferredRequest) -> Result<(), InvokeError> {
        self.make_places();
        let (details, places) = (
            &self.details,
            (&mut self.return_value, &mut self.returned[..]),
        );
        sent.finish(
            |reply| details.read(places, reply),
            |id, reply| details.raised(id, reply),
        )?;
        self.take_returned();
        Ok(())
    }

    /// Makes an empty set for waiting for several calls, to which this request can be added
    /// (`create_dii_pollable`, `create_pollable_set`).
    #[must_use]
    pub fn create_pollable_set(&self) -> PollableSet {
        PollableSet::new()
    }

    fn sent(&mut self) -> Result<&mut DeferredRequest, SystemException> {
        match &mut self.phase {
            Phase::Sent(sent) => Ok(sent),
            Phase::NotSent => Err(out_of_order(
                minor::REQUEST_NOT_SENT,
                "the request was not sent",
            )),
            Phase::Retrieved => Err(out_of_order(
                minor::RESPONSE_ALREADY_RETRIEVED,
                "the response has been fetched",
            )),
        }
    }
}

/// A request that was not sent counts as ready, so that fetching its response returns the error
/// instead of waiting.
impl Pollable for Request {
    fn is_ready(&mut self, timeout: Duration) -> bool {
        self.sent().is_ok_and(|sent| sent.is_ready(timeout)) || self.sent().is_err()
    }

    fn look(&mut self, waker: &Waker) -> bool {
        match self.sent() {
            Ok(sent) => sent.look(waker),
            Err(_) => true,
        }
    }
}

pub(super) fn out_of_order(minor: u32, detail: &str) -> SystemException {
    SystemException::new(Kind::BadInvOrder, minor, CompletionStatus::No).with_detail(detail)
}
