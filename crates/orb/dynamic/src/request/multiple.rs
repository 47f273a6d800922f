//! Several requests at once (CORBA 3.3 part 1, §11.3: `send_multiple_requests_…`, `poll_next_response`, `get_next_response`).
//!
//! The standard has the ORB keep all deferred requests of a process in one place. Here each group that was sent together is
//! a [`DeferredRequests`]: who sends requests gets their responses, and nobody else's.

use super::deferred::out_of_order;
use super::{InvokeError, Request};
use punctual_orb::{
    Orb, PollableId, PollableKey, PollableSet, PollableSetError, SystemException, minor,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// Sends several requests at once.
pub trait MultipleRequests {
    /// Sends the requests, one after the other, and waits for no reply (`send_multiple_requests_oneway`).
    ///
    /// # Errors
    /// That of the first that could not be sent; those behind it are not sent.
    fn send_multiple_requests_oneway(&self, requests: &[Request]) -> Result<(), SystemException>;

    /// Sends the requests, one after the other, whose responses are fetched as they come
    /// (`send_multiple_requests_deferred`).
    ///
    /// # Errors
    /// That of [`Request::send_deferred`], of the first request that cannot be sent as it is; none is in flight then.
    fn send_multiple_requests_deferred(
        &self,
        requests: Vec<Request>,
    ) -> Result<DeferredRequests, SystemException>;
}

impl MultipleRequests for Orb {
    fn send_multiple_requests_oneway(&self, requests: &[Request]) -> Result<(), SystemException> {
        requests.iter().try_for_each(Request::send_oneway)
    }

    fn send_multiple_requests_deferred(
        &self,
        requests: Vec<Request>,
    ) -> Result<DeferredRequests, SystemException> {
        let mut sent = DeferredRequests::default();
        for (index, mut request) in requests.into_iter().enumerate() {
            // Those before are cancelled where this fails, as they are dropped.
            request.send_deferred()?;
            let key = sent.set.add_pollable(request);
            sent.keys.insert(key.id(), (index, key));
        }
        Ok(sent)
    }
}

/// Requests that were sent together, and whose responses have not been fetched.
#[derive(Debug, Default)]
pub struct DeferredRequests {
    set: PollableSet,
    keys: BTreeMap<PollableId, (usize, PollableKey<Request>)>,
}

/// A request with its response.
#[derive(Debug)]
pub struct DeferredResponse {
    /// Which of the requests it is, in the order in which they were given.
    pub index: usize,
    /// The request, with what came back.
    pub request: Request,
    /// Whether it has succeeded.
    pub outcome: Result<(), InvokeError>,
}

impl DeferredRequests {
    /// Whether a response is there that was not fetched (`poll_next_response`). Does not wait.
    pub fn poll_next_response(&mut self) -> bool {
        self.set.get_ready_pollable(Duration::ZERO).is_ok()
    }

    /// Waits for the response that comes next, and takes it (`get_next_response`).
    ///
    /// # Errors
    /// BAD_INV_ORDER (minor code 11) when all have been fetched.
    pub fn get_next_response(&mut self) -> Result<DeferredResponse, SystemException> {
        let none_left = || out_of_order(minor::REQUEST_NOT_SENT, "no request is outstanding");
        let ready = match self.set.get_ready_pollable(Duration::MAX) {
            Ok(ready) => ready,
            Err(PollableSetError::System(exception)) => return Err(exception),
            Err(_) => return Err(none_left()),
        };
        let (index, key) = self.keys.remove(&ready).ok_or_else(none_left)?;
        let mut request = self.set.remove(key).map_err(|_| none_left())?;
        let outcome = request.get_response();
        Ok(DeferredResponse {
            index,
            request,
            outcome,
        })
    }

    /// How many responses have not been fetched.
    #[must_use]
    pub fn number_left(&self) -> usize {
        self.set.number_left()
    }
}
