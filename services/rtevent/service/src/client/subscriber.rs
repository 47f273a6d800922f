//! Consumers of channels of other servers.

use super::backoff::Backoff;
use crate::received::Received;
use crate::rtec_event_channel_admin::{
    ConsumerAdmin, EventChannel, ProxyPushSupplier, ProxyPushSupplierConnectPushConsumerError,
    ProxyPushSupplierServant,
};
use crate::rtec_event_comm::PushConsumer;
use crate::wire::{Form, plain_consumer, write_consumer};
use crate::{Data, Event};
use parking_lot::{Condvar, Mutex};
use punctual::stub::{Answered, Encoder, Marshal, Operation, Servant, ServerCall};
use punctual::{
    Implements, Interface, ObjectRef, Poa, SystemException, SystemExceptionKind as Kind,
};
use punctual_exec::ThreadSpec;
use punctual_exec::thread::JoinHandle;
use punctual_rtevent::{Consumer, Dependency, Pushed};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// Options of a [`Subscriber`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscriberOptions {
    /// Fields of events on the wire. Default: all.
    pub form: Form,
    /// Connects as a gateway, which is not shown to the observers of the other channel. Default: false.
    pub is_gateway: bool,
    /// Time between two questions whether the connection still exists. Default: 2 s.
    pub ask: Duration,
    /// Longest time of a call to the other channel. Default: 5 s.
    pub timeout: Duration,
    /// Longest time between two attempts to connect; the first follow after 100 ms, and each waits about twice as
    /// long as the one before. Default: 30 s.
    pub longest_wait: Duration,
}

impl Default for SubscriberOptions {
    fn default() -> Self {
        Self {
            form: Form::default(),
            is_gateway: false,
            ask: Duration::from_secs(2),
            timeout: Duration::from_secs(5),
            longest_wait: Duration::from_secs(30),
        }
    }
}

/// Counts of a subscriber at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubscriberCounts {
    /// The subscriber is connected.
    pub is_connected: bool,
    /// Connections so far: events of the time between two of them are lost.
    pub connections: u64,
    /// Events that came.
    pub events: u64,
    /// Events that the consumer did not take.
    pub refused: u64,
}

/// Consumer of another server's channel. Its thread connects, and connects again when the connection is lost: the
/// channel's process may end, and be started again.
pub struct Subscriber {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    poa: Poa,
    /// Reference to the channel, as text.
    channel: String,
    options: SubscriberOptions,
    consumer: Arc<dyn Consumer<Data>>,
    received: Received,
    state: Mutex<State>,
    changed: Condvar,
}

/// Number of abandoned proxies that are remembered, to be disconnected when their channel answers again.
const MOST_ABANDONED: usize = 16;

/// Connection to a proxy, by an object of its own: what an abandoned proxy pushes reaches nothing.
struct Connection {
    proxy: ProxyPushSupplier,
    object: PushConsumer,
}

#[derive(Default)]
struct State {
    filter: Vec<Dependency>,
    /// The filter has changed since the last subscription.
    is_changed: bool,
    /// The other channel has ended the connection.
    is_lost: bool,
    ends: bool,
    counts: SubscriberCounts,
    problem: Option<String>,
}

impl Subscriber {
    /// Starts a subscriber to the channel of a reference (`corbaloc:…`, `corbaname:…`, `IOR:…`), whose object is
    /// activated in `poa`. Without entries in its filter it is not connected.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(
        poa: &Poa,
        channel: &str,
        filter: Vec<Dependency>,
        options: SubscriberOptions,
        consumer: Arc<dyn Consumer<Data>>,
    ) -> Result<Self, SystemException> {
        let state = State {
            filter,
            ..State::default()
        };
        let shared = Arc::new(Shared {
            poa: poa.clone(),
            channel: channel.to_owned(),
            options,
            consumer,
            received: Received::default(),
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let of_thread = shared.clone();
        let thread = ThreadSpec::named("event subscriber").start(move || of_thread.run());
        let thread = thread.map_err(|error| Kind::NoResources.because(error.to_string()))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Changes the filter: its entries in prefix order.
    pub fn set_filter(&self, filter: Vec<Dependency>) {
        self.setter()(filter);
    }

    /// Returns a function that changes the filter, also when the subscriber has ended.
    pub(crate) fn setter(&self) -> impl Fn(Vec<Dependency>) + Send + Sync + use<> {
        let shared = self.shared.clone();
        move |filter| {
            let mut state = shared.state.lock();
            state.filter = filter;
            state.is_changed = true;
            shared.changed.notify_all();
        }
    }

    /// Returns the counts of the subscriber's events and connections.
    #[must_use]
    pub fn counts(&self) -> SubscriberCounts {
        self.shared.state.lock().counts
    }

    /// Returns the reason why the last attempt to connect has failed; `None` when it is connected.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.shared.state.lock().problem.clone()
    }
}

/// Disconnects, and ends the thread.
impl Drop for Subscriber {
    fn drop(&mut self) {
        self.shared.state.lock().ends = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, that has been reported.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscriber")
            .field("channel", &self.shared.channel)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn run(self: &Arc<Self>) {
        let mut backoff = Backoff::new(Duration::from_millis(100), self.options.longest_wait);
        let (mut connection, mut abandoned) = (None, Vec::new());
        loop {
            let done = self.step(&mut connection);
            let problem = done.as_ref().err().map(ToString::to_string);
            let pause = match &problem {
                None => {
                    abandoned.drain(..).for_each(|proxy| disconnect(&proxy));
                    backoff.reset();
                    self.options.ask
                }
                Some(problem) => {
                    tracing::warn!("the channel {} is not connected: {problem}", self.channel);
                    abandoned.extend(self.abandon(&mut connection));
                    abandoned.truncate(MOST_ABANDONED);
                    backoff.wait()
                }
            };
            if self.ends_within(pause, connection.is_some(), problem) {
                break;
            }
        }
        if let Some(proxy) = self.abandon(&mut connection) {
            disconnect(&proxy);
        }
    }

    /// Takes the next step: connects, subscribes to the events that are wanted now, or asks whether the connection
    /// still exists.
    fn step(self: &Arc<Self>, connection: &mut Option<Connection>) -> Result<(), SystemException> {
        let (filter, is_changed, is_lost) = self.state.lock().take();
        if is_lost {
            self.abandon(connection);
        }
        match connection {
            _ if filter.is_empty() => {
                self.abandon(connection).as_ref().map(disconnect);
            }
            None => *connection = Some(self.connect(&filter)?),
            Some(Connection { proxy, object }) if is_changed => {
                if !self.subscribe(proxy, object, &filter)? {
                    self.abandon(connection).as_ref().map(disconnect);
                    *connection = Some(self.connect(&filter)?);
                }
            }
            Some(Connection { proxy, .. }) => {
                if proxy.as_object().non_existent()? {
                    return Err(Kind::ObjectNotExist.because("the proxy there has ended"));
                }
            }
        }
        Ok(())
    }

    /// Gives a connection up: its object exists no more. Returns its proxy.
    fn abandon(&self, connection: &mut Option<Connection>) -> Option<ProxyPushSupplier> {
        let Connection { proxy, object } = connection.take()?;
        if let Err(error) = self.poa.deactivate(&object) {
            tracing::debug!("the object of an event subscriber is gone: {error}");
        }
        Some(proxy)
    }

    fn connect(self: &Arc<Self>, filter: &[Dependency]) -> Result<Connection, SystemException> {
        let timeout = self.options.timeout;
        let nil = || Kind::InvObjref.because("the channel there returns nil");
        let channel = self.poa.orb().string_to_object(&self.channel)?;
        let channel = EventChannel::narrow(channel.with_timeout(timeout))?;
        let admin = channel.for_consumers()?.ok_or_else(nil)?;
        let admin = ConsumerAdmin::from_object(admin.as_object().with_timeout(timeout));
        let proxy = admin.obtain_push_supplier()?.ok_or_else(nil)?;
        let proxy = ProxyPushSupplier::from_object(proxy.as_object().with_timeout(timeout));
        let object: PushConsumer = self.poa.activate(Receiver(self.clone()))?;
        let subscribed = self.subscribe(&proxy, &object, filter);
        let mut connection = Some(Connection { proxy, object });
        if let Err(exception) = subscribed {
            // A subscription whose answer was lost reaches nothing, and ends when the channel asks for its object.
            self.abandon(&mut connection);
            return Err(exception);
        }
        self.state.lock().counts.connections += 1;
        connection.ok_or_else(nil)
    }

    /// Subscribes to events. Returns `false` if the proxy is connected, and does not change its subscription.
    fn subscribe(
        &self,
        proxy: &ProxyPushSupplier,
        object: &PushConsumer,
        filter: &[Dependency],
    ) -> Result<bool, SystemException> {
        const CONNECT: Operation =
            Operation::two_way("connect_push_consumer").of::<ProxyPushSupplier>();
        let qos = plain_consumer(filter, self.options.is_gateway);
        let here = |servant: &dyn ProxyPushSupplierServant| {
            servant.connect_push_consumer(Some(object), &qos)
        };
        let arguments = |out: &mut Encoder<'_>| {
            object.marshal(out)?;
            write_consumer(self.options.form, &qos, out)
        };
        let connected = ObjectRef::call(proxy.as_object(), &CONNECT, here, arguments, |_| Ok(()));
        match connected {
            Ok(()) => Ok(true),
            Err(ProxyPushSupplierConnectPushConsumerError::AlreadyConnected(_)) => Ok(false),
            Err(ProxyPushSupplierConnectPushConsumerError::TypeError(_)) => {
                Err(Kind::BadParam.because("the channel there refuses the filter"))
            }
            Err(ProxyPushSupplierConnectPushConsumerError::System(exception)) => Err(exception),
        }
    }

    /// Waits until the subscriber's thread has work, at most for `pause`. Returns `true` if the thread is to end.
    fn ends_within(&self, pause: Duration, is_connected: bool, problem: Option<String>) -> bool {
        let mut state = self.state.lock();
        state.counts.is_connected = is_connected;
        state.problem = problem;
        if !state.ends && !state.is_changed && !state.is_lost {
            self.changed.wait_for(&mut state, pause);
        }
        state.ends
    }

    fn take(&self, events: &[Event]) {
        let pushed = self.consumer.push(events);
        let mut state = self.state.lock();
        state.counts.events += events.len() as u64;
        if let Pushed::Failed(text) | Pushed::Gone(text) = pushed {
            state.counts.refused += events.len() as u64;
            tracing::debug!("events of {} are not taken: {text}", self.channel);
        }
    }

    fn lose(&self) {
        self.state.lock().is_lost = true;
        self.changed.notify_all();
    }
}

impl State {
    /// Returns the filter, and whether it has changed or the connection was lost since the last call.
    fn take(&mut self) -> (Vec<Dependency>, bool, bool) {
        let is_changed = std::mem::take(&mut self.is_changed);
        let is_lost = std::mem::take(&mut self.is_lost);
        (self.filter.clone(), is_changed, is_lost)
    }
}

fn disconnect(proxy: &ProxyPushSupplier) {
    if let Err(exception) = proxy.disconnect_push_supplier() {
        tracing::debug!("the other channel does not hear of the end: {exception}");
    }
}

/// Object to which the other channel pushes.
struct Receiver(Arc<Shared>);

impl Implements<Receiver> for PushConsumer {
    fn servant(servant: Receiver) -> Arc<dyn Servant> {
        Arc::new(servant)
    }
}

impl Servant for Receiver {
    fn repository_ids(&self) -> &'static [&'static str] {
        PushConsumer::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Answered {
        match call.operation() {
            "push" => {
                let form = self.0.options.form;
                let events = self.0.received.read(form, call.arguments());
                let events = events.inspect_err(|exception| {
                    tracing::warn!("a push of {} is refused: {exception}", self.0.channel);
                })?;
                self.0.take(&events);
            }
            "disconnect_push_consumer" => self.0.lose(),
            _ => return Err(call.bad_operation()),
        }
        call.reply(|_| Ok(()))
    }
}
