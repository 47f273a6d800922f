//! Gateways from channels of other servers: what consumers here subscribe to is subscribed there.

use super::backoff::Backoff;
use super::crossing;
use crate::rtec_event_channel_admin::{
    ConsumerAdmin, ConsumerQos, EventChannel, ProxyPushSupplier,
    ProxyPushSupplierConnectPushConsumerError, ProxyPushSupplierServant,
};
use crate::rtec_event_comm::PushConsumer;
use crate::wire::{Form, disjunction, read_events, write_consumer};
use crate::{Data, Event};
use parking_lot::{Condvar, Mutex};
use punctual::stub::Servant;
use punctual::stub::{Answered, Encoder, Marshal, Operation, ServerCall};
use punctual::{
    Implements, Interface, ObjectRef, Orb, Poa, SystemException, SystemExceptionKind as Kind,
};
use punctual_rtevent::{Observer, Selector, SupplierHandle};
use std::any::Any;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two questions whether the connection still exists.
const ASK: Duration = Duration::from_secs(2);

/// Longest time of a call to the other channel.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Counts of a gateway at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteCounts {
    /// The gateway is connected.
    pub is_connected: bool,
    /// Connections so far: events of the time between two of them are lost.
    pub connections: u64,
    /// Events that came, those whose `ttl` was 0 included.
    pub received: u64,
    /// Events that were passed on.
    pub passed: u64,
}

/// Gateway from another server's channel. Its thread connects, and connects again when the connection is lost.
pub(crate) struct Remote {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    orb: Orb,
    /// Reference to the channel, as text.
    channel: String,
    form: Form,
    supplier: SupplierHandle<Data>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    wanted: Vec<Selector>,
    /// What is wanted has changed since the last subscription.
    is_changed: bool,
    /// The other channel has ended the connection.
    is_lost: bool,
    ends: bool,
    counts: RemoteCounts,
}

impl Remote {
    /// Starts a gateway, whose object is activated in `poa`.
    ///
    /// # Errors
    /// The object cannot be activated, or the thread not be started.
    pub(crate) fn start(
        orb: Orb,
        poa: &Poa,
        channel: String,
        form: Form,
        supplier: SupplierHandle<Data>,
    ) -> Result<Self, String> {
        let shared = Arc::new(Shared {
            orb,
            channel,
            form,
            supplier,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let object: PushConsumer = poa
            .activate(GatewayConsumer(shared.clone()))
            .map_err(|error| error.to_string())?;
        let of_thread = shared.clone();
        let thread = std::thread::Builder::new().name("event gateway".to_owned());
        let thread = thread
            .spawn(move || of_thread.run(&object))
            .map_err(|error| error.to_string())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Returns the observer by which the gateway learns what is subscribed to here.
    pub(crate) fn observer(&self) -> Arc<dyn Observer> {
        self.shared.clone()
    }

    /// Returns what has been counted.
    pub(crate) fn counts(&self) -> RemoteCounts {
        self.shared.state.lock().counts
    }
}

/// Disconnects, and ends the thread.
impl Drop for Remote {
    fn drop(&mut self) {
        self.shared.state.lock().ends = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, that has been reported.
            let _ = thread.join();
        }
    }
}

impl Observer for Shared {
    fn consumers_changed(&self, subscriptions: &[Selector]) {
        let mut state = self.state.lock();
        state.wanted = subscriptions.to_vec();
        state.is_changed = true;
        self.changed.notify_all();
    }

    fn suppliers_changed(&self, _: &[Selector]) {}
}

impl Shared {
    fn run(&self, object: &PushConsumer) {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(30));
        let mut connection = None;
        loop {
            let pause = match self.step(&mut connection, object) {
                Ok(()) => {
                    backoff.reset();
                    ASK
                }
                Err(exception) => {
                    tracing::warn!(
                        "the gateway from {} is not connected: {exception}",
                        self.channel
                    );
                    connection = None;
                    backoff.wait()
                }
            };
            if self.ends_within(pause, connection.is_some()) {
                break;
            }
        }
        if let Some(proxy) = connection {
            disconnect(&proxy);
        }
    }

    /// Does what is to be done: connects, subscribes to what is wanted now, or asks whether the connection still exists.
    fn step(
        &self,
        connection: &mut Option<ProxyPushSupplier>,
        object: &PushConsumer,
    ) -> Result<(), SystemException> {
        let (wanted, is_changed, is_lost) = self.state.lock().take();
        if is_lost {
            *connection = None;
        }
        match connection {
            _ if wanted.is_empty() => {
                connection.take().as_ref().map(disconnect);
            }
            None => *connection = Some(self.connect(object, &wanted)?),
            Some(proxy) if is_changed => {
                if !self.subscribe(proxy, object, &wanted)? {
                    disconnect(proxy);
                    *connection = Some(self.connect(object, &wanted)?);
                }
            }
            Some(proxy) => {
                if proxy.as_object().non_existent()? {
                    return Err(Kind::ObjectNotExist.because("the proxy there has ended"));
                }
            }
        }
        Ok(())
    }

    fn connect(
        &self,
        object: &PushConsumer,
        wanted: &[Selector],
    ) -> Result<ProxyPushSupplier, SystemException> {
        let channel = self
            .orb
            .string_to_object(&self.channel)?
            .with_timeout(TIMEOUT);
        let nil = || Kind::InvObjref.because("the channel there returns nil");
        let channel = EventChannel::narrow(channel)?;
        let admin = channel.for_consumers()?.ok_or_else(nil)?;
        let admin = ConsumerAdmin::from_object(admin.as_object().with_timeout(TIMEOUT));
        let proxy = admin.obtain_push_supplier()?.ok_or_else(nil)?;
        let proxy = ProxyPushSupplier::from_object(proxy.as_object().with_timeout(TIMEOUT));
        self.subscribe(&proxy, object, wanted)?;
        self.state.lock().counts.connections += 1;
        Ok(proxy)
    }

    /// Subscribes to events. Returns `false` if the proxy is connected, and does not change its subscription.
    fn subscribe(
        &self,
        proxy: &ProxyPushSupplier,
        object: &PushConsumer,
        wanted: &[Selector],
    ) -> Result<bool, SystemException> {
        const CONNECT: Operation =
            Operation::two_way("connect_push_consumer").of::<ProxyPushSupplier>();
        let qos = ConsumerQos {
            is_gateway: true,
            ..disjunction(wanted)
        };
        let here = |servant: &dyn ProxyPushSupplierServant| {
            servant.connect_push_consumer(Some(object), &qos)
        };
        let arguments = |out: &mut Encoder<'_>| {
            object.marshal(out)?;
            write_consumer(self.form, &qos, out)
        };
        let connected = ObjectRef::call(proxy.as_object(), &CONNECT, here, arguments, |_| Ok(()));
        match connected {
            Ok(()) => Ok(true),
            Err(ProxyPushSupplierConnectPushConsumerError::AlreadyConnected(_)) => Ok(false),
            Err(ProxyPushSupplierConnectPushConsumerError::TypeError(_)) => {
                Err(Kind::BadParam.because("the channel there refuses the subscription"))
            }
            Err(ProxyPushSupplierConnectPushConsumerError::System(exception)) => Err(exception),
        }
    }

    /// Waits until something is to be done, at most for `pause`. Returns `true` if that is to end.
    fn ends_within(&self, pause: Duration, is_connected: bool) -> bool {
        let mut state = self.state.lock();
        state.counts.is_connected = is_connected;
        if !state.ends && !state.is_changed && !state.is_lost {
            self.changed.wait_for(&mut state, pause);
        }
        state.ends
    }

    fn take(&self, events: &[Event]) {
        let passed: Vec<_> = crossing(events).collect();
        {
            let counts = &mut self.state.lock().counts;
            counts.received += events.len() as u64;
            counts.passed += passed.len() as u64;
        }
        if passed.is_empty() {
            return;
        }
        if let Err(error) = self.supplier.push(&passed) {
            tracing::debug!("events of {} are not taken: {error}", self.channel);
        }
    }

    fn lose(&self) {
        self.state.lock().is_lost = true;
        self.changed.notify_all();
    }
}

impl State {
    /// Returns what is wanted, and whether that has changed or the connection was lost since the last call.
    fn take(&mut self) -> (Vec<Selector>, bool, bool) {
        let is_changed = std::mem::take(&mut self.is_changed);
        (
            self.wanted.clone(),
            is_changed,
            std::mem::take(&mut self.is_lost),
        )
    }
}

fn disconnect(proxy: &ProxyPushSupplier) {
    if let Err(exception) = proxy.disconnect_push_supplier() {
        tracing::debug!("the other channel does not hear of the end: {exception}");
    }
}

/// Object to which the other channel pushes.
struct GatewayConsumer(Arc<Shared>);

impl Implements<GatewayConsumer> for PushConsumer {
    fn servant(servant: GatewayConsumer) -> Arc<dyn Servant> {
        Arc::new(servant)
    }
}

impl Servant for GatewayConsumer {
    fn repository_ids(&self) -> &'static [&'static str] {
        PushConsumer::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Answered {
        match call.operation() {
            "push" => {
                let events = self.0.form.read(call.arguments(), read_events)?;
                self.0.take(&events);
            }
            "disconnect_push_consumer" => self.0.lose(),
            _ => return Err(call.bad_operation()),
        }
        call.reply(|_| Ok(()))
    }
}
