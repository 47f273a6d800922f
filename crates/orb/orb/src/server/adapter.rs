//! The seam between the ORB and an object adapter: an object key and a call go in, a reply or an
//! error comes out.

use super::call::{Dispatched, ServerCall};
use crate::adapter::{Collocated, DispatchError, Location};
use crate::urgency::{Urgency, UrgencyStrategy, WaitingRequest};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// Finds objects by their keys and lets them answer.
pub trait ObjectAdapter: Send + Sync {
    /// Lets the object answer. Called by any thread, by several at once.
    ///
    /// # Errors
    /// What to tell the caller instead of a result.
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError>;

    /// Where the object is, without waking it.
    fn locate(&self, object_key: &[u8]) -> Location;

    /// The object, for callers of this process: kept with a reference, asked for each call. `None` when it is
    /// not known, or is not called that way; requests are sent then.
    fn collocated(&self, object_key: &[u8]) -> Option<Arc<dyn Collocated>> {
        let _ = object_key;
        None
    }

    /// What of an object key names the object: references that agree in it, and in where they lead, are
    /// equivalent. A key may say more, such as where its object was last.
    fn name_in<'k>(&self, object_key: &'k [u8]) -> Cow<'k, [u8]> {
        Cow::Borrowed(object_key)
    }

    /// Returns the urgency of a request for an object that waits until a thread is free, by a strategy, which is told the
    /// policies of the object's adapter and the urgency by these.
    fn urgency(
        &self,
        object_key: &[u8],
        request: WaitingRequest<'_>,
        strategy: &dyn UrgencyStrategy,
    ) -> Urgency {
        let _ = object_key;
        strategy.urgency(&request)
    }

    /// Whether the object may be called by a connection that this side has opened (bidirectional GIOP).
    fn is_bidirectional(&self, object_key: &[u8]) -> bool {
        let _ = object_key;
        false
    }

    /// The application has begun to run the ORB ([`crate::Orb::run`]): what will keep requests from being served is
    /// worth a line in the log.
    fn look_before_run(&self) {}

    /// The ORB shuts down: calls that are held back are to be let go.
    fn shut_down(&self);

    /// Returns when no call is in progress. The ORB shuts down: none begins.
    fn wait_until_idle(&self) {}

    /// The ORB is over: objects are to be let go.
    fn release(&self);

    /// The adapter as its own type, for whoever installed it.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}
