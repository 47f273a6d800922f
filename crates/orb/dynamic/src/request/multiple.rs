//! Several requests at once (CORBA 3.3 part 1, §11.3: `send_multiple_requests_…`,
//! `poll_next_response`, `get_next_response`).
//!
//! In the standard, the ORB keeps all deferred requests of a process in one list. Here each group
//! that was sent together is a [`DeferredRequests`]: a sender gets only the responses of its own
//! requests.

use super::deferred::out_of_order;
use super::{InvokeError, Request};
use punctual_orb::{
    Orb, PollableId, PollableKey, PollableSet, PollableSetError, SystemException, minor,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// Operations of the DII that send several requests at once.
pub trait MultipleRequests {
    /// Sends the requests, one after the other, and waits for no reply
    /// (`send_multiple_requests_oneway`).
    ///
    /// # Errors
    /// The error of the first request that could not be sent; those after it are not sent.
    fn send_multiple_requests_oneway(&self, requests: &[Request]) -> Result<(), SystemException>;

    /// Sends the requests, one after the other; their responses are fetched as they come
    /// (`send_multiple_requests_deferred`).
    ///
    /// # Errors
    /// The error of [`Request::send_deferred`] of the first request that cannot be sent in its
    /// present state; then no request is sent.
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
            // If this fails, the earlier requests are cancelled, as they are dropped.
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

/// Request sent deferred, together with its response.
#[derive(Debug)]
pub struct DeferredResponse {
    /// Index of the request, in the order in which they were given.
    pub index: usize,
    /// Request, with the results and `out` arguments from the reply.
    pub request: Request,
    /// Success of the request, or the error.
    pub outcome: Result<(), InvokeError>,
}

impl DeferredRequests {
    /// Returns whether a response has arrived that was not fetched (`poll_next_response`). Does not
    /// wait.
    pub fn poll_next_response(&mut self) -> bool {
        self.set.get_ready_pollable(Duration::ZERO).is_ok()
    }

    /// Waits for the next response, and takes it (`get_next_response`).
    ///
    /// # Errors
    /// BAD_INV_ORDER (minor code 11) if all have been fetched.
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

    /// Returns the number of responses that have not been fetched.
    #[must_use]
    pub fn number_left(&self) -> usize {
        self.set.number_left()
    }
}
