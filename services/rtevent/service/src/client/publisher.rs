//! Suppliers of channels of other servers.

use super::backoff::Backoff;
use crate::Event;
use crate::rtec_event_channel_admin::{
    EventChannel, ProxyPushConsumer, ProxyPushConsumerConnectPushSupplierError,
    ProxyPushConsumerServant, SupplierAdmin,
};
use crate::rtec_event_comm::{PushConsumer, PushConsumerServant, PushSupplier};
use crate::wire::{Form, plain, published, write_events, write_supplier};
use parking_lot::Mutex;
use punctual::stub::{Encoder, Marshal, Operation};
use punctual::{Interface, ObjectRef, Orb, SystemException, SystemExceptionKind as Kind};
use punctual_rtevent::Selector;
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
    orb: Orb,
    /// Reference to the channel, as text.
    channel: String,
    form: Form,
    selectors: Vec<Selector>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    proxy: Option<ProxyPushConsumer>,
    backoff: Backoff,
    /// Earliest time of the next attempt to connect.
    next: Instant,
    counts: PublisherCounts,
}

impl Publisher {
    /// Makes a publisher to the channel of a reference (`corbaloc:…`, `corbaname:…`, `IOR:…`), which connects with the
    /// first push.
    #[must_use]
    pub fn new(orb: &Orb, channel: &str, form: Form, selectors: Vec<Selector>) -> Self {
        let state = State {
            proxy: None,
            backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(30)),
            next: Instant::now(),
            counts: PublisherCounts::default(),
        };
        Self {
            orb: orb.clone(),
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
        self.proxy(&mut state).map(drop)
    }

    /// Returns what has been counted.
    #[must_use]
    pub fn counts(&self) -> PublisherCounts {
        self.state.lock().counts
    }

    fn send(&self, state: &mut State, events: &[Event]) -> Result<(), SystemException> {
        const PUSH: Operation = Operation::one_way("push").of::<PushConsumer>();
        let proxy = self.proxy(state)?;
        let sent = ObjectRef::call_one_way(
            proxy.as_object(),
            &PUSH,
            |servant: &dyn PushConsumerServant| servant.push(&plain(events, None)),
            |out| write_events(self.form, events, None, out),
        );
        sent.inspect_err(|_| {
            state.proxy = None;
            state.next = Instant::now() + state.backoff.wait();
        })
    }

    fn proxy(&self, state: &mut State) -> Result<ProxyPushConsumer, SystemException> {
        if let Some(proxy) = &state.proxy {
            return Ok(proxy.clone());
        }
        if Instant::now() < state.next {
            return Err(
                Kind::Transient.because("the channel is not connected, and will be tried again")
            );
        }
        match self.connected() {
            Ok(proxy) => {
                state.backoff.reset();
                state.counts.connections += 1;
                state.proxy = Some(proxy.clone());
                Ok(proxy)
            }
            Err(exception) => {
                state.next = Instant::now() + state.backoff.wait();
                Err(exception)
            }
        }
    }

    fn connected(&self) -> Result<ProxyPushConsumer, SystemException> {
        const CONNECT: Operation =
            Operation::two_way("connect_push_supplier").of::<ProxyPushConsumer>();
        let nil = || Kind::InvObjref.because("the channel there returns nil");
        let channel = self
            .orb
            .string_to_object(&self.channel)?
            .with_timeout(TIMEOUT);
        let admin = EventChannel::narrow(channel)?
            .for_suppliers()?
            .ok_or_else(nil)?;
        let admin = SupplierAdmin::from_object(admin.as_object().with_timeout(TIMEOUT));
        let proxy = admin.obtain_push_consumer()?.ok_or_else(nil)?;
        let qos = published(&self.selectors);
        let here =
            |servant: &dyn ProxyPushConsumerServant| servant.connect_push_supplier(None, &qos);
        let arguments = |out: &mut Encoder<'_>| {
            Option::<PushSupplier>::None.marshal(out)?;
            write_supplier(self.form, &qos, out)
        };
        let object = proxy.as_object().with_timeout(TIMEOUT);
        let connected = ObjectRef::call(&object, &CONNECT, here, arguments, |_| Ok(()));
        match connected {
            Ok(()) => Ok(proxy),
            Err(ProxyPushConsumerConnectPushSupplierError::System(exception)) => Err(exception),
            Err(error) => Err(Kind::BadInvOrder.because(error.to_string())),
        }
    }
}

/// Disconnects.
impl Drop for Publisher {
    fn drop(&mut self) {
        if let Some(proxy) = self.state.get_mut().proxy.take() {
            let proxy = ProxyPushConsumer::from_object(proxy.as_object().with_timeout(TIMEOUT));
            // A channel that is gone has no connection any more.
            let _ = proxy.disconnect_push_consumer();
        }
    }
}
