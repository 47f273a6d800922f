//! Observers elsewhere.

use crate::rtec_event_channel_admin::{Observer, ObserverServant};
use crate::wire::{Form, disjunction, plain_consumer, published, write_consumer, write_supplier};
use punctual::stub::{CdrError, Encoder, Operation};
use punctual::{Interface, ObjectRef, SystemException};
use punctual_rtevent::Selector;
use std::time::Duration;

/// Observer elsewhere.
pub(crate) struct RemoteObserver {
    reference: ObjectRef,
    form: Form,
}

impl RemoteObserver {
    /// Makes an observer, whose calls take the given time at most.
    pub(crate) fn new(reference: &Observer, form: Form, timeout: Duration) -> Self {
        Self {
            reference: reference.as_object().with_timeout(timeout),
            form,
        }
    }

    fn call(
        &self,
        operation: &'static Operation,
        here: impl FnOnce(&dyn ObserverServant) -> Result<(), SystemException>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) {
        let called = ObjectRef::call(&self.reference, operation, here, arguments, |_| Ok(()));
        if let Err(exception) = called {
            tracing::warn!("an observer does not hear of changes: {exception}");
        }
    }
}

impl punctual_rtevent::Observer for RemoteObserver {
    fn consumers_changed(&self, subscriptions: &[Selector]) {
        const UPDATE: Operation = Operation::two_way("update_consumer").of::<Observer>();
        let qos = plain_consumer(&disjunction(subscriptions), false);
        let here = |servant: &dyn ObserverServant| servant.update_consumer(&qos);
        self.call(&UPDATE, here, |out| write_consumer(self.form, &qos, out));
    }

    fn suppliers_changed(&self, publications: &[Selector]) {
        const UPDATE: Operation = Operation::two_way("update_supplier").of::<Observer>();
        let qos = published(publications);
        let here = |servant: &dyn ObserverServant| servant.update_supplier(&qos);
        self.call(&UPDATE, here, |out| write_supplier(self.form, &qos, out));
    }
}
