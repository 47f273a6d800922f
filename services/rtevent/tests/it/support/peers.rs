//! Consumers, suppliers and observers that record what they are called with.

use parking_lot::{Condvar, Mutex};
use punctual_rtevent::{
    Alive, Channel, ChannelOptions, Consumer, ConsumerHandle, Event, Filter, Header, Publications,
    Pushed, Reason, Subscription, Supplier, SupplierHandle,
};
use std::sync::Arc;

/// Event whose data are a number.
pub(crate) type Numbered = Event<u64>;

/// Returns an event of a type and source.
pub(crate) fn event(kind: i32, source: i32, data: u64) -> Numbered {
    Event::new(Header::new(kind, source), data)
}

/// Consumer that keeps the data of all events, push by push.
#[derive(Default)]
pub(crate) struct Recorder {
    state: Mutex<Recorded>,
    changed: Condvar,
}

#[derive(Default)]
struct Recorded {
    pushes: Vec<Vec<Numbered>>,
    reasons: Vec<Reason>,
    answer: Option<Pushed>,
    alive: Option<Alive>,
}

impl Recorder {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Returns the data of each push.
    pub(crate) fn pushes(&self) -> Vec<Vec<u64>> {
        let data = |push: &Vec<Numbered>| push.iter().map(|event| event.data).collect();
        self.state.lock().pushes.iter().map(data).collect()
    }

    /// Returns the data of all events.
    pub(crate) fn data(&self) -> Vec<u64> {
        self.pushes().concat()
    }

    /// Returns all events, and forgets them.
    pub(crate) fn take(&self) -> Vec<Numbered> {
        std::mem::take(&mut self.state.lock().pushes).concat()
    }

    /// Returns the reasons of disconnections.
    pub(crate) fn reasons(&self) -> Vec<Reason> {
        self.state.lock().reasons.clone()
    }

    /// Answers pushes so from now on.
    pub(crate) fn answer(&self, answer: Pushed) {
        self.state.lock().answer = Some(answer);
    }

    /// Answers so whether it is alive.
    pub(crate) fn set_alive(&self, alive: Alive) {
        self.state.lock().alive = Some(alive);
    }

    /// Waits until this number of events has come.
    pub(crate) fn wait_for(&self, events: usize) {
        let mut state = self.state.lock();
        while state.pushes.iter().map(Vec::len).sum::<usize>() < events {
            self.changed.wait(&mut state);
        }
    }

    /// Waits until the channel has disconnected it.
    pub(crate) fn wait_for_disconnection(&self) {
        let mut state = self.state.lock();
        while state.reasons.is_empty() {
            self.changed.wait(&mut state);
        }
    }
}

impl Consumer<u64> for Recorder {
    fn push(&self, events: &[Numbered]) -> Pushed {
        let mut state = self.state.lock();
        state.pushes.push(events.to_vec());
        self.changed.notify_all();
        state.answer.clone().unwrap_or(Pushed::Done)
    }

    fn disconnected(&self, reason: &Reason) {
        self.state.lock().reasons.push(reason.clone());
        self.changed.notify_all();
    }

    fn is_alive(&self) -> Alive {
        self.state.lock().alive.unwrap_or(Alive::Yes)
    }
}

/// Supplier that hears nothing.
pub(crate) struct Silent;

impl Supplier for Silent {}

/// Consumer made of a function.
pub(crate) struct Calls<F>(pub(crate) F);

impl<F: Fn(&[Numbered]) -> Pushed + Send + Sync> Consumer<u64> for Calls<F> {
    fn push(&self, events: &[Numbered]) -> Pushed {
        (self.0)(events)
    }
}

/// Channel with one supplier.
pub(crate) struct Setting {
    pub(crate) channel: Channel<u64>,
    pub(crate) supplier: SupplierHandle<u64>,
}

impl Setting {
    pub(crate) fn new(options: ChannelOptions) -> Self {
        let channel = Channel::new(options).unwrap();
        let supplier = channel
            .connect_supplier(Publications::default(), Arc::new(Silent))
            .unwrap();
        Self { channel, supplier }
    }

    /// Connects a recorder.
    pub(crate) fn record(
        &self,
        subscription: Subscription,
    ) -> (Arc<Recorder>, ConsumerHandle<u64>) {
        let recorder = Recorder::new();
        let handle = self
            .channel
            .connect_consumer(subscription, recorder.clone())
            .unwrap();
        (recorder, handle)
    }

    /// Connects a recorder with a filter.
    pub(crate) fn filter(&self, filter: Filter) -> (Arc<Recorder>, ConsumerHandle<u64>) {
        self.record(Subscription::new(filter))
    }

    /// Pushes one event.
    pub(crate) fn push(&self, kind: i32, source: i32, data: u64) {
        self.supplier.push(&[event(kind, source, data)]).unwrap();
    }
}
