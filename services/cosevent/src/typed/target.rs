//! Object of an interface that the channel calls: each event is a call of it.
//!
//! The object is what the consumer's `get_typed_consumer` returns. A call of a one-way operation is complete when the object
//! has executed it, so that a consumer that blocks or is gone is noticed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use punctual::dynamic::{InvokeError, Request};
use punctual::policy::SyncScope;
use punctual::{
    Any, Interface as _, ObjectRef, Policy, SetOverride, SystemException,
    SystemExceptionKind as Kind,
};

use super::Interface;
use crate::cos_event_comm::PushConsumer;
use crate::cos_typed_event_comm::TypedPushConsumer;

/// Object of the interface, which the channel calls.
pub(crate) struct Target {
    interface: Arc<Interface>,
    object: OnceLock<ObjectRef>,
    /// Time limit of each call.
    timeout: Duration,
}

impl Target {
    /// Returns a target that is asked for with the first event.
    pub(crate) fn new(interface: Arc<Interface>, timeout: Duration) -> Self {
        Self {
            interface,
            object: OnceLock::new(),
            timeout,
        }
    }

    /// Calls the operation that an event is of.
    ///
    /// # Errors
    /// Those of the call. A user exception arrives as UNKNOWN.
    pub(crate) fn push(&self, consumer: &PushConsumer, event: &Any) -> Result<(), SystemException> {
        let object = self.object(consumer)?;
        let Some(operation) = self.interface.of_type(event.type_code()) else {
            // The channel filters such events.
            return Ok(());
        };
        let mut request = Request::new(object, &operation.name);
        // One argument that is encoded as all of them.
        request.add_in("arguments", event.clone());
        if operation.is_oneway {
            return request.send_oneway();
        }
        request.invoke().map_err(|error| match error {
            InvokeError::System(exception) => exception,
            InvokeError::User(exception) => Kind::Unknown.because(format!(
                "`{}` raised {}",
                operation.name,
                exception.type_code()
            )),
        })
    }

    /// Returns the object of the consumer; asks for it the first time.
    ///
    /// # Errors
    /// Those of the calls; INV_OBJREF if the consumer has no object of the interface.
    pub(crate) fn object(&self, consumer: &PushConsumer) -> Result<&ObjectRef, SystemException> {
        if let Some(object) = self.object.get() {
            return Ok(object);
        }
        let typed = TypedPushConsumer::from_object(consumer.as_object().clone());
        let object = typed
            .get_typed_consumer()?
            .ok_or_else(|| self.misfit("nil"))?;
        let scope = [Policy::SyncScope(SyncScope::WithTarget)];
        let object = object.set_policy_overrides(&scope, SetOverride::Add)?;
        let object = object.with_timeout(self.timeout);
        if !object.is_a(self.interface.id())? {
            return Err(self.misfit("an object of another interface"));
        }
        Ok(self.object.get_or_init(|| object))
    }

    fn misfit(&self, returned: &str) -> SystemException {
        Kind::InvObjref.because(format!(
            "`get_typed_consumer` returned {returned}, and the proxy's interface is {:?}",
            self.interface.id()
        ))
    }
}
