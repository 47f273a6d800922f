//! The groups' own objects: requests for them are forwarded to members.
//!
//! Requests for a passive group without a primary wait for one, without a thread each.

use std::any::Any;
use std::sync::Arc;

use punctual::asynchronous::PendingReply;
use punctual::poa::{Cookie, DispatchError, Dispatched, ServantLocator, ServerCall};
use punctual::{
    CompletionStatus, ObjectId, ObjectRef, Poa, Servant, SystemException, SystemExceptionKind,
    minor,
};

use crate::engine::Engine;

/// Where a request for a group goes.
#[derive(Debug)]
pub(crate) enum Route {
    To(ObjectRef),
    /// The group gets a primary.
    Later,
    Refused(SystemException),
}

/// Locator of the groups' own objects.
#[derive(Debug)]
pub(crate) struct Locator(pub(crate) Engine);

impl ServantLocator for Locator {
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
                    engine: self.0.clone(),
                    id,
                };
                Ok((Arc::new(waits), Box::new(())))
            }
        }
    }
}

/// Servant of requests that wait for the primary of a group.
struct Waits {
    engine: Engine,
    id: u64,
}

impl Servant for Waits {
    fn repository_ids(&self) -> &'static [&'static str] {
        &[]
    }

    /// `_is_a` and the like wait, too.
    fn is_transparent(&self) -> bool {
        true
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let wait = self.engine.with(|state| state.limits.wait);
        let (pending, dispatched) = call.answer_within(Some(wait))?;
        let route = self.engine.with(|state| {
            let is_vacant = state.is_vacant(self.id) && !state.is_ending;
            let most = state.limits.waiting;
            let waiting = state.waiting.entry(self.id).or_default();
            waiting.retain(PendingReply::is_awaited);
            match is_vacant && waiting.len() < most {
                true => {
                    waiting.push(pending);
                    None
                }
                false => Some(pending),
            }
        });
        if let Some(pending) = route {
            answer(pending, self.engine.route(self.id));
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
