//! Interface between the ORB and an object adapter: the adapter is given an object key and a call,
//! and answers with a reply or an error.

use super::call::{Dispatched, ServerCall};
use super::pending_location::LocateRequest;
use crate::adapter::{Collocated, DispatchError, Location};
use crate::urgency::{Urgency, UrgencyStrategy, WaitingRequest};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// Object adapter: finds objects by their keys and dispatches calls to them.
pub trait ObjectAdapter: Send + Sync {
    /// Dispatches a call to the object. May be called by several threads at once.
    ///
    /// # Errors
    /// The exception for the caller.
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError>;

    /// Returns the location of the object, without activating it.
    fn locate(&self, object_key: &[u8]) -> Location;

    /// Answers a LocateRequest as [`locate`](Self::locate) does, or returns `None` and answers it later
    /// ([`LocateRequest::answer_later`]).
    fn locate_or_later(&self, object_key: &[u8], request: &LocateRequest<'_>) -> Option<Location> {
        let _ = request;
        Some(self.locate(object_key))
    }

    /// Returns access to the object for callers of this process. The result is kept with a
    /// reference and used for each call. Returns `None` if the object is unknown or does not allow
    /// such calls; requests are sent in that case.
    fn collocated(&self, object_key: &[u8]) -> Option<Arc<dyn Collocated>> {
        let _ = object_key;
        None
    }

    /// Returns the part of an object key that identifies the object: references with equal parts
    /// and equal endpoints are equivalent. A key may contain more, such as the object's last
    /// location.
    fn name_in<'k>(&self, object_key: &'k [u8]) -> Cow<'k, [u8]> {
        Cow::Borrowed(object_key)
    }

    /// Returns the urgency of a queued request for an object. `strategy` computes it from the
    /// policies of the object's adapter and the urgency that follows from these.
    fn urgency(
        &self,
        object_key: &[u8],
        request: WaitingRequest<'_>,
        strategy: &dyn UrgencyStrategy,
    ) -> Urgency {
        let _ = object_key;
        strategy.urgency(&request)
    }

    /// Returns `true` if the object may be called over a connection that this side has opened
    /// (bidirectional GIOP).
    fn is_bidirectional(&self, object_key: &[u8]) -> bool {
        let _ = object_key;
        false
    }

    /// Checks the configuration when the application starts to run the ORB ([`crate::Orb::run`]),
    /// and logs problems that would prevent requests from being served.
    fn warn_before_run(&self) {}

    /// Releases the calls that the adapter holds back, as the ORB shuts down.
    fn shut_down(&self);

    /// Waits until no call is in progress. Called during the ORB's shutdown, when no new call can
    /// begin.
    fn wait_until_idle(&self) {}

    /// Releases the adapter's objects after the end of the ORB.
    fn release(&self);

    /// Returns the adapter as `Any`, for a downcast to its own type.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}
