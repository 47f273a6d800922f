//! Observers elsewhere.

use crate::rtec_event_channel_admin::{Observer, ObserverServant};
use crate::wire::{Form, disjunction, plain_consumer, published, write_consumer, write_supplier};
use punctual::stub::{CdrError, Encoder, Operation};
use punctual::{Interface, ObjectRef, SystemException};
use punctual_rtevent::Selector;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Number of failed calls in a row after which an observer is not called any more.
const MOST_FAILURES: u32 = 3;

/// Observer elsewhere. One that is gone delays those who connect by a few time-outs at most.
pub(crate) struct RemoteObserver {
    reference: ObjectRef,
    form: Form,
    /// Calls in a row that failed.
    failures: AtomicU32,
}

impl RemoteObserver {
    /// Makes an observer, whose calls take the given time at most.
    pub(crate) fn new(reference: &Observer, form: Form, timeout: Duration) -> Self {
        Self {
            reference: reference.as_object().with_timeout(timeout),
            form,
            failures: AtomicU32::new(0),
        }
    }

    /// Returns true if the observer is not called any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.failures.load(Ordering::Relaxed) >= MOST_FAILURES
    }

    fn call(
        &self,
        operation: &'static Operation,
        here: impl FnOnce(&dyn ObserverServant) -> Result<(), SystemException>,
        arguments: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) {
        if self.is_gone() {
            return;
        }
        let called = ObjectRef::call(&self.reference, operation, here, arguments, |_| Ok(()));
        match called {
            Ok(()) => self.failures.store(0, Ordering::Relaxed),
            Err(exception) => {
                let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
                tracing::warn!(
                    "an observer does not hear of changes ({failures} of {MOST_FAILURES} failures): {exception}"
                );
            }
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
