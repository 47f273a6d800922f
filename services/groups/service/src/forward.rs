//! The groups' own objects: requests for them are forwarded to members.
//!
//! Requests for a passive group without a primary wait for one, without a thread each.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use punctual::asynchronous::PendingReply;
use punctual::poa::{Cookie, DispatchError, Dispatched, ServantLocator, ServerCall};
use punctual::{
    CompletionStatus, ObjectId, ObjectRef, Poa, Servant, SystemException, SystemExceptionKind,
    minor,
};

/// Destination of a request for a group.
#[derive(Debug)]
pub(crate) enum Route {
    To(ObjectRef),
    /// The group gets a primary.
    Later,
    Refused(SystemException),
}

/// Groups whose requests are forwarded.
pub(crate) trait Routes: Clone + Send + Sync + 'static {
    /// Returns where a request for a group goes.
    fn route(&self, id: u64) -> Route;

    /// Returns the time for which a request waits for a primary.
    fn wait_time(&self) -> Duration;

    /// Keeps a request until the group has a primary; returns it if the group has one, or too many wait.
    fn keep(&self, id: u64, pending: PendingReply) -> Option<PendingReply>;
}

/// Locator of the groups' own objects.
#[derive(Debug)]
pub(crate) struct Locator<R>(pub(crate) R);

impl<R: Routes> ServantLocator for Locator<R> {
    fn preinvoke(
        &self,
        id: &ObjectId,
        _poa: &Poa,
        _operation: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError> {
        let id = <[u8; 8]>::try_from(id.as_bytes()).map_err(|_| unknown())?;
        let id = u64::from_be_bytes(id);
        match self.0.route(id) {
            Route::To(object) => Err(DispatchError::forward(&object)),
            Route::Refused(exception) => Err(exception.into()),
            Route::Later => {
                let waits = Waits {
                    groups: self.0.clone(),
                    id,
                };
                Ok((Arc::new(waits), Box::new(())))
            }
        }
    }
}

/// Servant of requests that wait for the primary of a group.
struct Waits<R> {
    groups: R,
    id: u64,
}

impl<R: Routes> Servant for Waits<R> {
    fn repository_ids(&self) -> &'static [&'static str] {
        &[]
    }

    /// `_is_a` and the like wait, too.
    fn is_transparent(&self) -> bool {
        true
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let (pending, dispatched) = call.answer_within(Some(self.groups.wait_time()))?;
        if let Some(pending) = self.groups.keep(self.id, pending) {
            answer(pending, self.groups.route(self.id));
        }
        Ok(dispatched)
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

/// Answers a request that has waited. A client that has gone is no error.
pub(crate) fn answer(pending: PendingReply, route: Route) {
    let answer: DispatchError = match route {
        Route::To(object) => DispatchError::forward(&object),
        Route::Later => no_primary().into(),
        Route::Refused(exception) => exception.into(),
    };
    let _has_gone = pending.answer(|_| Err(answer));
}

/// Refuses a request that has waited.
pub(crate) fn refuse(pending: PendingReply) {
    answer(pending, Route::Later);
}

fn no_primary() -> SystemException {
    SystemExceptionKind::Transient.because("the group has no primary at present")
}

/// Returns the exception for a group that does not exist.
pub(crate) fn unknown() -> SystemException {
    let kind = SystemExceptionKind::ObjectNotExist;
    SystemException::new(kind, minor::NOT_ACTIVE, CompletionStatus::No)
        .with_detail("there is no such object group")
}
