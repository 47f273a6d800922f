//! The notification service: its limits, its start and its end.

use std::fmt;
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use punctual::Poa;
use punctual_events::{Objects, watch};
use punctual_host::access::Rules;
use punctual_host::metrics::Exposition;

use crate::common::Common;
use crate::cos_notify_channel_admin::EventChannelFactory;
use crate::factory::Channels;
use crate::limits::Limits;
use crate::metrics::{Gauges, Metrics};
use crate::refusal::Refusal;

/// Name of the adapter.
const ADAPTER: &str = "NotificationService";

/// Notification service, whose clones share the same channels.
#[derive(Clone)]
pub struct NotificationService(Arc<Shared>);

#[derive(Default)]
struct Shared {
    options: RwLock<Options>,
    metrics: Arc<Metrics>,
    channels: OnceLock<Arc<Channels>>,
}

/// Settings that apply when the service is served.
#[derive(Clone, Debug, Default)]
struct Options {
    limits: Limits,
    writers: Rules<()>,
}

impl fmt::Debug for NotificationService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotificationService")
            .field("is_served", &self.0.channels.get().is_some())
            .finish()
    }
}

impl NotificationService {
    /// Returns a service whose channels and events end with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self(Arc::default())
    }

    /// Sets the limits, which apply when the service is served.
    pub fn set_limits(&self, limits: Limits) {
        self.0.options.write().limits = limits;
    }

    /// Sets the peers that may create channels and supply events, which applies when the service is served. Without a
    /// grant, all may.
    pub fn set_writers(&self, writers: Rules<()>) {
        self.0.options.write().writers = writers;
    }

    /// Serves the service, once, by an adapter below `parent`, which requests reach through its manager. Returns the
    /// reference to the factory of channels.
    ///
    /// # Errors
    /// The adapter or a thread cannot be made; the service is served already.
    pub fn serve(&self, parent: &Poa) -> Result<EventChannelFactory, Refusal> {
        let Options { limits, writers } = self.0.options.read().clone();
        let identity = getrandom::u64();
        let identity = identity.map_err(|error| Refusal::NoResources(error.to_string()))?;
        let gone = Box::new(|_: &str| None);
        let objects = Objects::new(parent, ADAPTER, (identity, 1), gone)?;
        let metrics = self.0.metrics.clone();
        let common = Arc::new(Common::start(limits, metrics, writers, objects)?);
        let channels = Channels::new(common);
        let factory = channels.serve()?;
        watch::begin(&channels);
        let twice = || Refusal::NoResources("the notification service is served already".into());
        self.0.channels.set(channels).map_err(|_| twice())?;
        Ok(factory)
    }

    /// Answers all calls that wait, and lets none wait from now on, so that the ORB can be shut down.
    pub fn end_waiting(&self) {
        let Some(channels) = self.0.channels.get() else {
            return;
        };
        channels.common.begin_ending();
        for channel in channels.all() {
            for outlet in channel.outlets() {
                outlet.release_calls();
            }
        }
    }

    /// Ends the threads of the service, and drops its channels.
    pub fn stop(&self) {
        self.end_waiting();
        if let Some(channels) = self.0.channels.get() {
            channels.common.stop();
            channels.abandon();
        }
    }

    /// Returns the numbers of channels, of proxies, and of events in the queues of all consumers.
    #[must_use]
    pub fn size(&self) -> (usize, usize, usize) {
        let channels = self.0.channels.get().map(|channels| channels.all());
        let channels = channels.unwrap_or_default();
        let proxies = channels.iter().map(|channel| channel.count()).sum();
        let outlets = channels.iter().flat_map(|channel| channel.outlets());
        let queued = outlets.map(|outlet| outlet.queued()).sum();
        (channels.len(), proxies, queued)
    }

    /// Appends the service's metrics to the exposition.
    pub fn write_metrics(&self, out: &mut Exposition) {
        let (channels, proxies, queued) = self.size();
        let gauges = Gauges {
            channels,
            proxies,
            queued,
        };
        self.0.metrics.write(out, gauges);
    }
}
