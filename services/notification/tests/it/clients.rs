//! Client of the tests: supplier and consumer of every kind.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};
use punctual::{Any, SystemException};
use punctual_notification::cos_event_comm::{
    Disconnected, PullConsumerServant, PullSupplierPullError, PullSupplierServant,
    PullSupplierTryPullError, PushConsumerPushError, PushConsumerServant, PushSupplierServant,
};
use punctual_notification::cos_notification::{EventType, StructuredEvent};
use punctual_notification::cos_notify_comm as comm;

use crate::support::until;

/// Client that keeps what it receives, and has events to be pulled. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Peer(Arc<State>);

/// Event as a client has received it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Received {
    Any(Any),
    Structured(Box<StructuredEvent>),
}

#[derive(Default)]
struct State {
    received: Mutex<Vec<Received>>,
    /// Sizes of the sequences that were received.
    batches: Mutex<Vec<usize>>,
    supplies: Mutex<VecDeque<Received>>,
    /// Types that were added and removed, a line for each change.
    changes: Mutex<Vec<String>>,
    is_blocked: Mutex<bool>,
    unblocked: Condvar,
    begun: AtomicUsize,
    disconnects: AtomicUsize,
    refuses: Mutex<Option<SystemException>>,
}

impl Peer {
    pub(crate) fn received(&self) -> Vec<Received> {
        self.0.received.lock().clone()
    }

    /// Returns the numbers of the structured events that were received.
    pub(crate) fn numbers(&self) -> Vec<i32> {
        let received = self.0.received.lock();
        let numbers = received.iter().map(|one| match one {
            Received::Any(any) => any.extract().unwrap(),
            Received::Structured(event) => event.remainder_of_body.extract().unwrap(),
        });
        numbers.collect()
    }

    /// Waits until so many have been received, and returns their numbers.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<i32> {
        until(|| self.0.received.lock().len() >= count);
        self.numbers()
    }

    pub(crate) fn batches(&self) -> Vec<usize> {
        self.0.batches.lock().clone()
    }

    pub(crate) fn changes(&self) -> Vec<String> {
        self.0.changes.lock().clone()
    }

    pub(crate) fn supply(&self, event: Received) {
        self.0.supplies.lock().push_back(event);
    }

    /// Returns whether all events to be pulled are gone.
    pub(crate) fn supplies_nothing(&self) -> bool {
        self.0.supplies.lock().is_empty()
    }

    /// Lets each push wait until the client is unblocked.
    pub(crate) fn block(&self, is_blocked: bool) {
        *self.0.is_blocked.lock() = is_blocked;
        self.0.unblocked.notify_all();
    }

    /// Makes each push raise an exception, or none.
    pub(crate) fn refuse(&self, with: Option<SystemException>) {
        *self.0.refuses.lock() = with;
    }

    pub(crate) fn begun(&self) -> usize {
        self.0.begun.load(Ordering::SeqCst)
    }

    pub(crate) fn disconnects(&self) -> usize {
        self.0.disconnects.load(Ordering::SeqCst)
    }

    fn receive(&self, events: Vec<Received>) -> Result<(), SystemException> {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
        let mut is_blocked = self.0.is_blocked.lock();
        while *is_blocked {
            self.0.unblocked.wait(&mut is_blocked);
        }
        drop(is_blocked);
        if let Some(refusal) = self.0.refuses.lock().clone() {
            return Err(refusal);
        }
        self.0.received.lock().extend(events);
        Ok(())
    }

    fn structured(&self) -> Option<StructuredEvent> {
        match self.0.supplies.lock().pop_front()? {
            Received::Structured(event) => Some(*event),
            Received::Any(_) => None,
        }
    }

    fn any(&self) -> Option<Any> {
        match self.0.supplies.lock().pop_front()? {
            Received::Any(any) => Some(any),
            Received::Structured(event) => Any::new(&*event).ok(),
        }
    }

    fn changed(&self, added: &[EventType], removed: &[EventType]) {
        let shown = |sign: char, types: &[EventType]| -> String {
            let types = types
                .iter()
                .map(|one| format!("{sign}{}/{} ", one.domain_name, one.type_name));
            types.collect()
        };
        let line = format!("{}{}", shown('+', added), shown('-', removed));
        self.0.changes.lock().push(line.trim_end().to_owned());
    }

    fn ended(&self) -> Result<(), SystemException> {
        self.0.disconnects.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl comm::NotifyPublishServant for Peer {
    fn offer_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), comm::NotifyPublishOfferChangeError> {
        self.changed(added, removed);
        Ok(())
    }
}

impl comm::NotifySubscribeServant for Peer {
    fn subscription_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), comm::NotifySubscribeSubscriptionChangeError> {
        self.changed(added, removed);
        Ok(())
    }
}

impl PushConsumerServant for Peer {
    fn push(&self, data: &Any) -> Result<(), PushConsumerPushError> {
        Ok(self.receive(vec![Received::Any(data.clone())])?)
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl PullConsumerServant for Peer {
    fn disconnect_pull_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl PushSupplierServant for Peer {
    fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl PullSupplierServant for Peer {
    fn pull(&self) -> Result<Any, PullSupplierPullError> {
        self.any().ok_or_else(|| Disconnected.into())
    }

    fn try_pull(&self) -> Result<(Any, bool), PullSupplierTryPullError> {
        let event = self.any();
        let has_event = event.is_some();
        Ok((event.unwrap_or_default(), has_event))
    }

    fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::PushConsumerServant for Peer {}
impl comm::PullConsumerServant for Peer {}
impl comm::PushSupplierServant for Peer {}
impl comm::PullSupplierServant for Peer {}

impl comm::StructuredPushConsumerServant for Peer {
    fn push_structured_event(
        &self,
        notification: &StructuredEvent,
    ) -> Result<(), comm::StructuredPushConsumerPushStructuredEventError> {
        let event = Received::Structured(Box::new(notification.clone()));
        Ok(self.receive(vec![event])?)
    }

    fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::StructuredPullConsumerServant for Peer {
    fn disconnect_structured_pull_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::StructuredPushSupplierServant for Peer {
    fn disconnect_structured_push_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::StructuredPullSupplierServant for Peer {
    fn pull_structured_event(
        &self,
    ) -> Result<StructuredEvent, comm::StructuredPullSupplierPullStructuredEventError> {
        self.structured().ok_or_else(|| Disconnected.into())
    }

    fn try_pull_structured_event(
        &self,
    ) -> Result<(StructuredEvent, bool), comm::StructuredPullSupplierTryPullStructuredEventError>
    {
        let event = self.structured();
        let has_event = event.is_some();
        Ok((event.unwrap_or_default(), has_event))
    }

    fn disconnect_structured_pull_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::SequencePushConsumerServant for Peer {
    fn push_structured_events(
        &self,
        notifications: &[StructuredEvent],
    ) -> Result<(), comm::SequencePushConsumerPushStructuredEventsError> {
        self.0.batches.lock().push(notifications.len());
        let events = notifications.iter();
        let events = events.map(|event| Received::Structured(Box::new(event.clone())));
        Ok(self.receive(events.collect())?)
    }

    fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::SequencePullConsumerServant for Peer {
    fn disconnect_sequence_pull_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::SequencePushSupplierServant for Peer {
    fn disconnect_sequence_push_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::SequencePullSupplierServant for Peer {
    fn pull_structured_events(
        &self,
        _: i32,
    ) -> Result<Vec<StructuredEvent>, comm::SequencePullSupplierPullStructuredEventsError> {
        Err(Disconnected.into())
    }

    fn try_pull_structured_events(
        &self,
        max_number: i32,
    ) -> Result<(Vec<StructuredEvent>, bool), comm::SequencePullSupplierTryPullStructuredEventsError>
    {
        let most = usize::try_from(max_number).unwrap();
        let events: Vec<_> = std::iter::from_fn(|| self.structured())
            .take(most)
            .collect();
        let has_event = !events.is_empty();
        Ok((events, has_event))
    }

    fn disconnect_sequence_pull_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}
