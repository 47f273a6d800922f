//! Client of ours at a peer's channel: one object that is a supplier and a consumer of each kind.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use punctual::{Any, SystemException};
use punctual_notification::cos_event_comm::{
    Disconnected, PullConsumerServant, PullSupplierPullError, PullSupplierServant,
    PullSupplierTryPullError, PushConsumerPushError, PushConsumerServant, PushSupplierServant,
};
use punctual_notification::cos_notification::{EventType, StructuredEvent};
use punctual_notification::cos_notify_comm as comm;

use crate::Failure;
use crate::sides::LIMIT;

/// Supplier and consumer that keeps what it receives, and has events to be pulled. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Client(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Numbers of the events that were pushed to it.
    received: Vec<i32>,
    /// Sizes of the sequences that were pushed to it.
    batches: Vec<usize>,
    supplies: VecDeque<StructuredEvent>,
    ends: usize,
}

/// Returns the number of an event.
pub(super) fn number(event: &StructuredEvent) -> i32 {
    event.remainder_of_body.extract().unwrap_or(-1)
}

/// Returns the number in an Any, or that of the event in it.
pub(super) fn number_in(data: &Any) -> i32 {
    let event = data.extract::<StructuredEvent>();
    data.extract()
        .unwrap_or_else(|_| event.as_ref().map_or(-1, number))
}

impl Client {
    /// Waits until so many events have been pushed to it, and returns their numbers in ascending order: peers do not
    /// promise the order of arrival.
    ///
    /// # Errors
    /// Fewer have come in time.
    pub(super) fn first(&self, count: usize) -> Result<Vec<i32>, Failure> {
        let state = self.wait_until(|state| state.received.len() >= count)?;
        let mut first = state.received.clone();
        first.truncate(count);
        first.sort_unstable();
        Ok(first)
    }

    /// Waits until so many sequences have been pushed to it, and returns their sizes.
    ///
    /// # Errors
    /// Fewer have come in time.
    pub(super) fn batches(&self, count: usize) -> Result<Vec<usize>, Failure> {
        Ok(self
            .wait_until(|state| state.batches.len() >= count)?
            .batches
            .clone())
    }

    /// Waits until it has been told of the end of so many connections.
    ///
    /// # Errors
    /// It has not been told in time.
    pub(super) fn wait_for_ends(&self, ends: usize) -> Result<(), Failure> {
        self.wait_until(|state| state.ends >= ends).map(|_| ())
    }

    /// Returns the number of events that have been pushed to it so far.
    pub(super) fn received(&self) -> usize {
        self.state().received.len()
    }

    /// Adds an event to those that are pulled from it.
    pub(super) fn supply(&self, event: StructuredEvent) {
        self.state().supplies.push_back(event);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a panic left is still a list.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(&self, holds: impl Fn(&State) -> bool) -> Result<MutexGuard<'_, State>, Failure> {
        let waited = self
            .0
            .changed
            .wait_timeout_while(self.state(), LIMIT, |state| !holds(state));
        let (state, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
        match outcome.timed_out() {
            false => Ok(state),
            true => Err(format!("it has only {state:?} after {LIMIT:?}").into()),
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.0.changed.notify_all();
    }

    fn next(&self) -> Option<StructuredEvent> {
        self.state().supplies.pop_front()
    }

    fn ended(&self) -> Result<(), SystemException> {
        self.change(|state| state.ends += 1);
        Ok(())
    }
}

impl comm::NotifyPublishServant for Client {
    fn offer_change(
        &self,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), comm::NotifyPublishOfferChangeError> {
        Ok(())
    }
}

impl comm::NotifySubscribeServant for Client {
    fn subscription_change(
        &self,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), comm::NotifySubscribeSubscriptionChangeError> {
        Ok(())
    }
}

impl PushConsumerServant for Client {
    fn push(&self, data: &Any) -> Result<(), PushConsumerPushError> {
        self.change(|state| state.received.push(number_in(data)));
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl PullConsumerServant for Client {
    fn disconnect_pull_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl PushSupplierServant for Client {
    fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

/// Returns the number of an event in an Any.
pub(super) fn any_of(event: &StructuredEvent) -> Any {
    // A number has no form that an Any could not hold.
    Any::new(&number(event)).unwrap_or_default()
}

impl PullSupplierServant for Client {
    fn pull(&self) -> Result<Any, PullSupplierPullError> {
        let event = self.next().ok_or(Disconnected)?;
        Ok(any_of(&event))
    }

    fn try_pull(&self) -> Result<(Any, bool), PullSupplierTryPullError> {
        let event = self.next();
        let has_event = event.is_some();
        Ok((any_of(&event.unwrap_or_default()), has_event))
    }

    fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::PushConsumerServant for Client {}
impl comm::PullConsumerServant for Client {}
impl comm::PushSupplierServant for Client {}
impl comm::PullSupplierServant for Client {}

impl comm::StructuredPushConsumerServant for Client {
    fn push_structured_event(
        &self,
        event: &StructuredEvent,
    ) -> Result<(), comm::StructuredPushConsumerPushStructuredEventError> {
        self.change(|state| state.received.push(number(event)));
        Ok(())
    }

    fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::StructuredPullConsumerServant for Client {
    fn disconnect_structured_pull_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::StructuredPushSupplierServant for Client {
    fn disconnect_structured_push_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::StructuredPullSupplierServant for Client {
    fn pull_structured_event(
        &self,
    ) -> Result<StructuredEvent, comm::StructuredPullSupplierPullStructuredEventError> {
        Ok(self.next().ok_or(Disconnected)?)
    }

    fn try_pull_structured_event(
        &self,
    ) -> Result<(StructuredEvent, bool), comm::StructuredPullSupplierTryPullStructuredEventError>
    {
        let event = self.next();
        let has_event = event.is_some();
        Ok((event.unwrap_or_default(), has_event))
    }

    fn disconnect_structured_pull_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::SequencePushConsumerServant for Client {
    fn push_structured_events(
        &self,
        events: &[StructuredEvent],
    ) -> Result<(), comm::SequencePushConsumerPushStructuredEventsError> {
        self.change(|state| {
            state.batches.push(events.len());
            state.received.extend(events.iter().map(number));
        });
        Ok(())
    }

    fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::SequencePullConsumerServant for Client {
    fn disconnect_sequence_pull_consumer(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::SequencePushSupplierServant for Client {
    fn disconnect_sequence_push_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}

impl comm::SequencePullSupplierServant for Client {
    fn pull_structured_events(
        &self,
        _: i32,
    ) -> Result<Vec<StructuredEvent>, comm::SequencePullSupplierPullStructuredEventsError> {
        Ok(vec![self.next().ok_or(Disconnected)?])
    }

    fn try_pull_structured_events(
        &self,
        _: i32,
    ) -> Result<(Vec<StructuredEvent>, bool), comm::SequencePullSupplierTryPullStructuredEventsError>
    {
        let events: Vec<StructuredEvent> = self.next().into_iter().collect();
        let has_event = !events.is_empty();
        Ok((events, has_event))
    }

    fn disconnect_sequence_pull_supplier(&self) -> Result<(), SystemException> {
        self.ended()
    }
}
