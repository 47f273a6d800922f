//! The service: a channel, its proxies, and rules of access.

use crate::Data;
use crate::federation::{Federation, UdpCounts, UdpLink};
use crate::inspect;
use crate::options::{Convention, ServiceOptions};
use crate::peer::RemoteObserver;
use crate::proxy::Proxies;
use crate::punctual_events::ChannelCounts;
use crate::received::Received;
use crate::refusal::Refusal;
use crate::reports::Log;
use crate::rtec_event_channel_admin::Observer;
use crate::rtec_udp_admin::AddrServer;
use crate::wire::{Form, Subscribed};
use parking_lot::{Mutex, RwLock};
use punctual::protocol::endpoints_of;
use punctual::stub::{CdrError, Decoder};
use punctual::{ObjectRef, SystemException};
use punctual_host::access::Rules;
use punctual_host::metrics::Exposition;
use punctual_rtevent::{
    Channel, ConsumerHandle, Filter, ObserverId, OptionsError, Schedule, Subscription,
};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use thiserror::Error;

/// Real-time event service with one channel; clones share it.
#[derive(Clone)]
pub struct EventService(Arc<Shared>);

struct Shared {
    channel: Channel<Data>,
    options: ServiceOptions,
    peers: RwLock<Rules<()>>,
    proxies: Arc<Proxies>,
    received: Received,
    observers: Mutex<Observers>,
    federation: Mutex<Option<Federation>>,
    addresses: OnceLock<AddrServer>,
    refused: AtomicU64,
    log: Arc<Log>,
}

/// Reason why a service cannot be opened.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the event channel cannot be made: {0}")]
pub struct OpenError(#[from] pub OptionsError);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for EventService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventService")
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}

/// Observers that peers have appended, by their handles.
#[derive(Default)]
struct Observers {
    next: u32,
    by_handle: HashMap<u32, (ObserverId, Arc<RemoteObserver>)>,
}

impl EventService {
    /// Makes a service with an empty channel.
    ///
    /// # Errors
    /// An option is out of its range.
    pub fn new(mut options: ServiceOptions) -> Result<Self, OpenError> {
        let log = Arc::new(Log::before(options.channel.reports.take()));
        options.channel.reports = Some(log.clone());
        if let (None, Some(scheduler)) = (&options.channel.schedule, &options.scheduler) {
            let scheduler: Arc<dyn Schedule> = scheduler.clone();
            options.channel.schedule = Some(scheduler);
        }
        Ok(Self(Arc::new(Shared {
            channel: Channel::new(options.channel.clone())?,
            options,
            peers: RwLock::default(),
            proxies: Arc::default(),
            received: Received::default(),
            observers: Mutex::default(),
            federation: Mutex::default(),
            addresses: OnceLock::new(),
            refused: AtomicU64::new(0),
            log,
        })))
    }

    /// Returns the channel. Suppliers and consumers of this process may connect to it directly, without the ORB.
    #[must_use]
    pub fn channel(&self) -> &Channel<Data> {
        &self.0.channel
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &ServiceOptions {
        &self.0.options
    }

    /// Sets the peers that may use the channel from now on. Without a grant, all may.
    pub fn set_peers(&self, peers: Rules<()>) {
        *self.0.peers.write() = peers;
    }

    /// Returns the counts of the links over UDP, as [`Federation::udp_counts`] does; none before the service is served.
    #[must_use]
    pub fn udp_counts(&self) -> Vec<(UdpLink, UdpCounts)> {
        let federation = self.0.federation.lock();
        federation
            .as_ref()
            .map(Federation::udp_counts)
            .unwrap_or_default()
    }

    /// Returns what the channel has counted, with the counts of at most so many consumers, those with the largest lag
    /// first, and of no more than 1,000.
    #[must_use]
    pub fn counts(&self, most_consumers: usize) -> ChannelCounts {
        let statistics = self.0.channel.statistics();
        let counts = inspect::counts(&statistics, most_consumers, |id| self.0.log.peer(id));
        ChannelCounts {
            lost: self.0.log.total(),
            refused: self.0.refused.load(Ordering::Relaxed),
            ..counts
        }
    }

    /// Notes that a consumer is at the first endpoint of a reference.
    pub(crate) fn note_peer(&self, consumer: &ConsumerHandle<Data>, reference: &ObjectRef) {
        let endpoints = endpoints_of(reference.orb(), reference.ior());
        let endpoint = endpoints.first();
        let address = endpoint.map(|one| format!("{}://{}", one.protocol, one.address.place()));
        self.0.log.set_peer(consumer, address.unwrap_or_default());
    }

    /// Appends the service's metrics to the exposition.
    pub fn write_metrics(&self, out: &mut Exposition) {
        crate::metrics::write(&self.0.channel.statistics(), out);
        let help = "Events that consumers have lost: dropped, suspended, failed, or queued when they were disconnected.";
        out.counter("lost_events_total", help, self.0.log.total());
        if let Some(federation) = &*self.0.federation.lock() {
            crate::metrics::write_links(federation, out);
        }
        let help = "Pushes of suppliers that were refused.";
        out.counter(
            "refused_pushes_total",
            help,
            self.0.refused.load(Ordering::Relaxed),
        );
    }

    /// Returns the proxies' objects.
    pub(crate) fn proxies(&self) -> &Arc<Proxies> {
        &self.0.proxies
    }

    /// Returns the events of suppliers elsewhere, whose memory is reused.
    pub(crate) fn received(&self) -> &Received {
        &self.0.received
    }

    /// Checks whether the peer of the current request may use the channel.
    ///
    /// # Errors
    /// Access is denied.
    pub(crate) fn check_access(&self) -> Result<(), Refusal> {
        let peers = self.0.peers.read();
        match peers.permits(&peers.requester(), |()| true) {
            true => Ok(()),
            false => Err(Refusal::NotPermitted),
        }
    }

    /// Reads the last argument of a request to connect. What cannot be read is logged, as exceptions have no text on the
    /// wire.
    ///
    /// # Errors
    /// MARSHAL.
    pub(crate) fn read<T>(
        &self,
        input: &mut Decoder<'_>,
        read: fn(Form, &mut Decoder<'_>) -> Result<T, CdrError>,
    ) -> Result<T, SystemException> {
        let value = self.0.options.form.read(input, read);
        value.inspect_err(|exception| tracing::warn!("a peer cannot connect: {exception}"))
    }

    /// Returns the subscription that a consumer asks for.
    ///
    /// # Errors
    /// Its filter is none.
    pub(crate) fn subscription(&self, qos: &Subscribed) -> Result<Subscription, Refusal> {
        let options = &self.0.options;
        let filter = match options.convention {
            Convention::Prefix => Filter::from_prefix(&qos.dependencies),
            Convention::Basic => Filter::from_basic(&qos.dependencies),
            Convention::Either => Filter::from_prefix(&qos.dependencies)
                .or_else(|error| Filter::from_basic(&qos.dependencies).map_err(|_| error)),
        };
        let filter = filter.map_err(|error| Refusal::Connect(error.into()))?;
        let level = match qos.is_gateway {
            true => options.gateway_level,
            false => options.level,
        };
        let mut subscription = Subscription::new(filter).level(level).queue(options.queue);
        subscription.is_gateway = qos.is_gateway;
        Ok(subscription)
    }

    /// Counts a refused push, and logs the first, second, fourth and so on.
    pub(crate) fn count_refused(&self, refusal: &dyn fmt::Display) {
        let count = self.0.refused.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::warn!(
                "{count} pushes of suppliers were refused so far, the last one: {refusal}"
            );
        }
    }

    /// Appends an observer, and returns its handle.
    ///
    /// # Errors
    /// There are too many, or the channel has been destroyed.
    pub(crate) fn observe(&self, observer: &Observer) -> Result<u32, Refusal> {
        let options = &self.0.options;
        self.forget_gone_observers();
        if self.0.observers.lock().by_handle.len() >= options.most_observers {
            return Err(Refusal::Full {
                what: "observers",
                setting: "most-observers",
                limit: options.most_observers,
            });
        }
        let remote = RemoteObserver::new(observer, options.form, options.push_timeout);
        let remote = Arc::new(remote);
        // Not under the lock: the observer is called at once.
        let id = self.0.channel.append_observer(remote.clone());
        let mut observers = self.0.observers.lock();
        observers.next = observers.next.wrapping_add(1);
        let handle = observers.next;
        observers.by_handle.insert(handle, (id, remote));
        Ok(handle)
    }

    /// Removes an observer. Returns `false` if there is none with the handle.
    pub(crate) fn forget(&self, handle: u32) -> bool {
        let removed = self.0.observers.lock().by_handle.remove(&handle);
        removed
            .map(|(id, _)| self.0.channel.remove_observer(id))
            .is_some()
    }

    fn forget_gone_observers(&self) {
        let gone: Vec<_> = {
            let observers = self.0.observers.lock();
            let all = observers.by_handle.iter();
            let gone = all.filter(|(_, (_, remote))| remote.is_gone());
            gone.map(|(handle, _)| *handle).collect()
        };
        for handle in gone {
            self.forget(handle);
        }
    }

    /// Returns the server of the addresses of events by UDP (`RtecUDPAdmin::AddrServer`); `None` before the service is
    /// served.
    #[must_use]
    pub fn address_server(&self) -> Option<AddrServer> {
        self.0.addresses.get().cloned()
    }

    /// Keeps the server of addresses. Does nothing if there is one.
    pub(crate) fn keep_address_server(&self, addresses: AddrServer) {
        let _ = self.0.addresses.set(addresses);
    }

    /// Keeps the links to other channels until the service ends.
    pub(crate) fn keep(&self, federation: Federation) {
        *self.0.federation.lock() = Some(federation);
    }
}
