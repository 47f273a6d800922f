//! Object of an interface that the channel calls: each event is a call of it.
//!
//! The object is what the consumer's `get_typed_consumer` returns. A call of a one-way operation is complete when the object
//! has executed it, so that a consumer that blocks or is gone is noticed.

use std::sync::Arc;
use std::time::Duration;

use punctual::dynamic::{InvokeError, Request};
use punctual::{Any, Interface as _, ObjectRef, SystemException, SystemExceptionKind as Kind};

use super::{AskedObject, Interface};
use crate::cos_event_comm::PushConsumer;
use crate::cos_typed_event_comm::TypedPushConsumer;

/// Object of the interface, which the channel calls.
pub(crate) struct Target {
    interface: Arc<Interface>,
    object: AskedObject,
}

impl Target {
    /// Returns a target that is asked for with the first event; `timeout` is the time limit of each call.
    pub(crate) fn new(interface: Arc<Interface>, timeout: Duration) -> Self {
        Self {
            object: AskedObject::new(interface.id(), timeout),
            interface,
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
    /// Those of [`AskedObject::get`].
    pub(crate) fn object(&self, consumer: &PushConsumer) -> Result<&ObjectRef, SystemException> {
        self.object.get("get_typed_consumer", || {
            let typed = TypedPushConsumer::from_object(consumer.as_object().clone());
            typed.get_typed_consumer()
        })
    }
}
