//! Consumers elsewhere.

use crate::proxy::Proxies;
use crate::rtec_event_comm::{PushConsumer, PushConsumerServant};
use crate::wire::{Form, plain, write_shared};
use crate::{Data, Event};
use parking_lot::RwLock;
use punctual::stub::Operation;
use punctual::{Interface, ObjectId, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_rtevent::{Alive, Consumer, Pushed, Reason};
use std::sync::Weak;
use std::time::Duration;

/// Consumer elsewhere, to which the channel pushes by one-way calls.
pub(crate) struct RemoteConsumer {
    /// Reference under the policies of pushes; another one after a reconnection.
    reference: RwLock<PushConsumer>,
    form: Form,
    timeout: Duration,
    proxy: ObjectId,
    proxies: Weak<Proxies>,
}

impl RemoteConsumer {
    /// Makes the consumer of a proxy.
    pub(crate) fn new(
        reference: PushConsumer,
        form: Form,
        timeout: Duration,
        proxy: ObjectId,
        proxies: Weak<Proxies>,
    ) -> Self {
        Self {
            reference: RwLock::new(reference),
            form,
            timeout,
            proxy,
            proxies,
        }
    }

    /// Replaces the reference.
    pub(crate) fn replace(&self, reference: PushConsumer) {
        *self.reference.write() = reference;
    }

    fn send(&self, events: &[Event]) -> Result<(), SystemException> {
        const PUSH: Operation = Operation::one_way("push").of::<PushConsumer>();
        let reference = self.reference.read().clone();
        let here = |servant: &dyn PushConsumerServant| {
            let sent = self.form.now();
            servant.push(&plain(events, sent))
        };
        let object = reference.as_object();
        ObjectRef::call_one_way(object, &PUSH, here, |out| {
            write_shared(self.form, events, out)
        })
    }
}

impl Consumer<Data> for RemoteConsumer {
    fn push(&self, events: &[Event]) -> Pushed {
        match self.send(events) {
            Ok(()) => Pushed::Done,
            Err(exception) if exception.kind() == Kind::ObjectNotExist => {
                Pushed::Gone(exception.to_string())
            }
            Err(exception) => Pushed::Failed(exception.to_string()),
        }
    }

    fn disconnected(&self, reason: &Reason) {
        if let Some(proxies) = self.proxies.upgrade() {
            proxies.remove(&self.proxy);
        }
        if matches!(reason, Reason::Gone(_)) {
            return;
        }
        // No answer is awaited: a consumer that hangs holds up nothing.
        const END: Operation = Operation::one_way("disconnect_push_consumer").of::<PushConsumer>();
        let reference = self.reference.read().clone();
        let told = ObjectRef::call_one_way(
            reference.as_object(),
            &END,
            |servant: &dyn PushConsumerServant| servant.disconnect_push_consumer(),
            |_| Ok(()),
        );
        if let Err(exception) = told {
            tracing::debug!("a consumer does not hear of its disconnection: {exception}");
        }
    }

    fn is_alive(&self) -> Alive {
        let reference = self.reference.read().as_object().with_timeout(self.timeout);
        alive(reference.non_existent())
    }
}

/// Returns what the answer to `_non_existent` says.
pub(super) fn alive(answer: Result<bool, SystemException>) -> Alive {
    match answer {
        Ok(false) => Alive::Yes,
        Ok(true) => Alive::No,
        Err(exception) if exception.kind() == Kind::ObjectNotExist => Alive::No,
        Err(_) => Alive::Unknown,
    }
}
