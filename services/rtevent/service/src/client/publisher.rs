//! Suppliers of channels of other servers.

use super::backoff::Backoff;
use crate::Event;
use crate::rtec_event_channel_admin::{
    EventChannel, ProxyPushConsumer, ProxyPushConsumerConnectPushSupplierError,
    ProxyPushConsumerServant, SupplierAdmin,
};
use crate::rtec_event_comm::{
    PushConsumer, PushConsumerServant, PushSupplier, PushSupplierServant,
};
use crate::wire::{Form, plain, published, write_events, write_supplier};
use parking_lot::Mutex;
use punctual::stub::{Encoder, Marshal, Operation};
use punctual::{Interface, ObjectRef, Poa, SystemException, SystemExceptionKind as Kind};
use punctual_rtevent::Selector;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time of a call that connects at most.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Counts of a publisher at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PublisherCounts {
    /// Connections so far.
    pub connections: u64,
    /// Events that were sent.
    pub events: u64,
    /// Events that could not be sent, as the channel was not there.
    pub lost: u64,
}

/// Supplier of another server's channel, which connects again when the channel's process has been started again.
#[derive(Debug)]
pub struct Publisher {
    poa: Poa,
    /// Reference to the channel, as text.
    channel: String,
    form: Form,
    selectors: Vec<Selector>,
    state: Mutex<State>,
}

/// Connection to a proxy, and the object by which the channel sees whether the supplier exists.
#[derive(Clone, Debug)]
struct Connection {
    proxy: ProxyPushConsumer,
    object: PushSupplier,
    is_ended: Arc<AtomicBool>,
}

/// Object of the supplier, which notes that the channel has ended the connection.
struct End(Arc<AtomicBool>);

impl PushSupplierServant for End {
    fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        self.0.store(true, Ordering::Relaxed);
        Ok(())
    }
}

#[derive(Debug)]
struct State {
    connection: Option<Connection>,
    /// Proxy whose channel did not answer, to be disconnected when it does.
    abandoned: Option<ProxyPushConsumer>,
    backoff: Backoff,
    /// Earliest time of the next attempt to connect.
    next: Instant,
    counts: PublisherCounts,
}

impl Publisher {
    /// Makes a publisher to the channel of a reference (`corbaloc:…`, `corbaname:…`, `IOR:…`), which connects with the
    /// first push. Its object is activated in `poa`.
    #[must_use]
    pub fn new(poa: &Poa, channel: &str, form: Form, selectors: Vec<Selector>) -> Self {
        let state = State {
            connection: None,
            abandoned: None,
            backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(30)),
            next: Instant::now(),
            counts: PublisherCounts::default(),
        };
        Self {
            poa: poa.clone(),
            channel: channel.to_owned(),
            form,
            selectors,
            state: Mutex::new(state),
        }
    }

    /// Pushes events by a one-way call. After a failure, the next pushes fail at once until it is time for another
    /// attempt to connect.
    ///
    /// # Errors
    /// The events are lost: the channel cannot be reached. Those that it received and lost when it ended are not
    /// known.
    pub fn push(&self, events: &[Event]) -> Result<(), SystemException> {
        let mut state = self.state.lock();
        let sent = self.send(&mut state, events);
        match &sent {
            Ok(()) => state.counts.events += events.len() as u64,
            Err(_) => state.counts.lost += events.len() as u64,
        }
        sent
    }

    /// Connects now, if there is no connection.
    ///
    /// # Errors
    /// The channel cannot be reached.
    pub fn connect(&self) -> Result<(), SystemException> {
        let mut state = self.state.lock();
        self.connection(&mut state).map(drop)
    }

    /// Returns the counts of the publisher's events and connections.
    #[must_use]
    pub fn counts(&self) -> PublisherCounts {
        self.state.lock().counts
    }

    fn send(&self, state: &mut State, events: &[Event]) -> Result<(), SystemException> {
        const PUSH: Operation = Operation::one_way("push").of::<PushConsumer>();
        let connection = self.connection(state)?;
        let sent = ObjectRef::call_one_way(
            connection.proxy.as_object(),
            &PUSH,
            |servant: &dyn PushConsumerServant| servant.push(&plain(events, None)),
            |out| write_events(self.form, events, None, out),
        );
        sent.inspect_err(|_| {
            self.abandon(state);
            state.next = Instant::now() + state.backoff.wait();
        })
    }

    fn connection(&self, state: &mut State) -> Result<Connection, SystemException> {
        if let Some(connection) = &state.connection {
            if !connection.is_ended.load(Ordering::Relaxed) {
                return Ok(connection.clone());
            }
            self.abandon(state);
        }
        if Instant::now() < state.next {
            return Err(
                Kind::Transient.because("the channel is not connected, and will be tried again")
            );
        }
        match self.connected() {
            Ok(connection) => {
                state.backoff.reset();
                state.counts.connections += 1;
                state.connection = Some(connection.clone());
                state.abandoned.take().as_ref().map(disconnect);
                Ok(connection)
            }
            Err(exception) => {
                state.next = Instant::now() + state.backoff.wait();
                Err(exception)
            }
        }
    }

    /// Gives the connection up: its object exists no more, so that the channel ends it, too.
    fn abandon(&self, state: &mut State) {
        if let Some(connection) = state.connection.take() {
            self.deactivate(&connection.object);
            state.abandoned = Some(connection.proxy);
        }
    }

    fn deactivate(&self, object: &PushSupplier) {
        if let Err(error) = self.poa.deactivate(object) {
            tracing::debug!("the object of an event publisher is gone: {error}");
        }
    }

    fn connected(&self) -> Result<Connection, SystemException> {
        const CONNECT: Operation =
            Operation::two_way("connect_push_supplier").of::<ProxyPushConsumer>();
        let nil = || Kind::InvObjref.because("the channel there returns nil");
        let channel = self.poa.orb().string_to_object(&self.channel)?;
        let channel = EventChannel::narrow(channel.with_timeout(TIMEOUT))?;
        let admin = channel.for_suppliers()?.ok_or_else(nil)?;
        let admin = SupplierAdmin::from_object(admin.as_object().with_timeout(TIMEOUT));
        let proxy = admin.obtain_push_consumer()?.ok_or_else(nil)?;
        let is_ended = Arc::new(AtomicBool::new(false));
        let supplier: PushSupplier = self.poa.activate(End(is_ended.clone()))?;
        let qos = published(&self.selectors);
        let here = |servant: &dyn ProxyPushConsumerServant| {
            servant.connect_push_supplier(Some(&supplier), &qos)
        };
        let arguments = |out: &mut Encoder<'_>| {
            supplier.marshal(out)?;
            write_supplier(self.form, &qos, out)
        };
        let target = proxy.as_object().with_timeout(TIMEOUT);
        let connected = ObjectRef::call(&target, &CONNECT, here, arguments, |_| Ok(()));
        let exception = match connected {
            Ok(()) => {
                return Ok(Connection {
                    proxy,
                    object: supplier,
                    is_ended,
                });
            }
            Err(ProxyPushConsumerConnectPushSupplierError::System(exception)) => exception,
            Err(error) => Kind::BadInvOrder.because(error.to_string()),
        };
        self.deactivate(&supplier);
        Err(exception)
    }
}

fn disconnect(proxy: &ProxyPushConsumer) {
    let proxy = ProxyPushConsumer::from_object(proxy.as_object().with_timeout(TIMEOUT));
    if let Err(exception) = proxy.disconnect_push_consumer() {
        tracing::debug!("the channel does not hear of the end: {exception}");
    }
}

/// Disconnects.
impl Drop for Publisher {
    fn drop(&mut self) {
        if let Some(connection) = self.state.get_mut().connection.take() {
            disconnect(&connection.proxy);
            self.deactivate(&connection.object);
        }
    }
}
