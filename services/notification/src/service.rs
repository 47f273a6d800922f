//! The notification service: its limits, its start and its end.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Mutex, RwLock};
use punctual::Poa;
use punctual_constraint::Constraint;
use punctual_durable::{DurableError, EventStore, FileOptions, FileStore};
use punctual_events::{Objects, watch};
use punctual_host::Turn;
use punctual_host::access::Rules;
use punctual_host::metrics::Exposition;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{SharedFrom, SharedRecords, StoreError, StoreFile};
use thiserror::Error;

use crate::common::Common;
use crate::cos_notify_channel_admin::{ChannelId, EventChannelFactory};
use crate::embedded::EmbeddedChannels;
use crate::factory::Channels;
use crate::filter::EventFilter;
use crate::journal::{Journal, check_left};
use crate::limits::Limits;
use crate::metrics::{Gauges, Metrics};
use crate::punctual_notify::ChannelCounts;
use crate::refusal::Refusal;
use crate::restoring::restore;
use crate::storage::{KIND, Kept, Storage};
use crate::tail::Tail;

/// Name of the adapter.
const ADAPTER: &str = "NotificationService";

/// Notification service, whose clones share the same channels.
#[derive(Clone)]
pub struct NotificationService(Arc<Shared>);

struct Shared {
    options: RwLock<Options>,
    metrics: Arc<Metrics>,
    /// File of the service, until it stops.
    storage: RwLock<Option<Arc<Storage>>>,
    /// Store of persistent events, until the service stops.
    events: Mutex<Option<Arc<dyn EventStore>>>,
    channels: OnceLock<Arc<Channels>>,
    /// Records that the service shares with other servers, if it does.
    cluster: Option<Cluster>,
}

/// Records that several servers share, of which one serves at a time.
struct Cluster {
    /// File of this server, which is a copy of the records while it serves.
    path: PathBuf,
    records: Mutex<Option<Arc<dyn SharedRecords>>>,
    from: SharedFrom,
    turn: Arc<dyn Turn>,
}

/// Channel, with what it has counted.
#[derive(Clone, Debug)]
pub struct ChannelLook {
    /// Id of the channel.
    pub id: ChannelId,
    /// Name of the channel; empty without one.
    pub name: String,
    /// What it has counted.
    pub counts: ChannelCounts,
}

/// Settings that apply when the service is served.
#[derive(Clone, Debug, Default)]
struct Options {
    limits: Limits,
    writers: Rules<()>,
}

/// Reason why a notification service cannot be opened.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the notification service cannot be opened: {0}")]
pub struct OpenError(#[from] pub StoreError);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for NotificationService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotificationService")
            .field("is_stored", &self.storage().is_some())
            .field("is_served", &self.is_served())
            .finish()
    }
}

impl NotificationService {
    /// Returns a service whose channels and events end with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(None, None)
    }

    /// Opens the service in a file, which is created if need be: channels, administrators and connections whose
    /// ConnectionReliability is Persistent stay after a restart, and so do filters, and the events of channels whose
    /// EventReliability is Persistent.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or has other contents.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::on(StoreFile::open(path, KIND)?)
    }

    /// Opens the service in a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, faults: Faults) -> Result<Self, OpenError> {
        let file = StoreFile::open_with_faults(path, KIND, faults)?;
        Self::on(file)
    }

    fn on(file: StoreFile) -> Result<Self, OpenError> {
        let file = Arc::new(file);
        let events = FileStore::on(file.clone(), FileOptions::default());
        let events = events.map_err(|error| match error {
            DurableError::Store(error) => error,
            other => StoreError::io(other),
        })?;
        Ok(Self::with(Some(Storage::new(file)), Some(Arc::new(events))))
    }

    /// Makes the service one that several servers have, of which one serves at a time: what stays after a restart is in the
    /// records that they share, and in a file of this server, which is made a copy of the records when it is served. The
    /// events of channels whose EventReliability is Persistent are in `events`, which they share, too. To be served when
    /// the [turn](punctual_host::Turn) has come.
    #[must_use]
    pub fn clustered<C>(path: &Path, cluster: Arc<C>, events: Arc<dyn EventStore>) -> Self
    where
        C: SharedRecords + Turn + 'static,
    {
        Self::of_cluster(path, cluster, events, SharedFrom::Records)
    }

    /// Makes the service one that several servers have, as [`clustered`](Self::clustered) does, with the records of a file
    /// that was served by one server: they become the shared ones when it is served, which have to be empty, or those of the
    /// file already. Serving it fails if the file has events that would be lost.
    #[must_use]
    pub fn clustered_from_store<C>(
        path: &Path,
        cluster: Arc<C>,
        events: Arc<dyn EventStore>,
    ) -> Self
    where
        C: SharedRecords + Turn + 'static,
    {
        Self::of_cluster(path, cluster, events, SharedFrom::File)
    }

    fn of_cluster<C>(
        path: &Path,
        cluster: Arc<C>,
        events: Arc<dyn EventStore>,
        from: SharedFrom,
    ) -> Self
    where
        C: SharedRecords + Turn + 'static,
    {
        let cluster = Cluster {
            path: path.to_owned(),
            from,
            records: Mutex::new(Some(cluster.clone())),
            turn: cluster,
        };
        Self::having(None, Some(events), Some(cluster))
    }

    fn with(storage: Option<Storage>, events: Option<Arc<dyn EventStore>>) -> Self {
        Self::having(storage, events, None)
    }

    fn having(
        storage: Option<Storage>,
        events: Option<Arc<dyn EventStore>>,
        cluster: Option<Cluster>,
    ) -> Self {
        Self(Arc::new(Shared {
            cluster,
            options: RwLock::default(),
            metrics: Arc::default(),
            storage: RwLock::new(storage.map(Arc::new)),
            events: Mutex::new(events),
            channels: OnceLock::new(),
        }))
    }

    /// Makes the service part of another one, in whose file channels, connections and filters are kept: see
    /// [`embed`](Self::embed).
    #[must_use]
    pub fn within(file: Arc<StoreFile>) -> Self {
        Self::with(Some(Storage::new(file)), None)
    }

    /// Returns the right to serve, where several servers have the service.
    pub(crate) fn turn(&self) -> Option<Arc<dyn Turn>> {
        let cluster = self.0.cluster.as_ref()?;
        Some(cluster.turn.clone())
    }

    /// Returns whether the service is served by this process now.
    pub(crate) fn is_served(&self) -> bool {
        self.0.channels.get().is_some()
    }

    /// Opens the copy of the records that several servers share, if they do.
    fn open_copy(&self) -> Result<(), StoreError> {
        let Some(cluster) = &self.0.cluster else {
            return Ok(());
        };
        let Some(records) = cluster.records.lock().take() else {
            return Ok(());
        };
        if cluster.from == SharedFrom::File {
            check_left(&cluster.path, &*records)?;
        }
        let file = StoreFile::open_shared(&cluster.path, KIND, records, cluster.from)?;
        *self.0.storage.write() = Some(Arc::new(Storage::new(file)));
        Ok(())
    }

    fn storage(&self) -> Option<Arc<Storage>> {
        self.0.storage.read().clone()
    }

    /// Returns unused pages of the service's file to the file system. Takes time in proportion to the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn compact(&self) -> Result<bool, OpenError> {
        match self.storage() {
            Some(storage) => Ok(storage.file().compact()?),
            None => Ok(false),
        }
    }

    /// Sets the store of persistent events, in place of the service's file. It applies when the service is served, and only
    /// to one that was opened in a file, which has the channels and connections.
    pub fn set_event_store(&self, events: Arc<dyn EventStore>) {
        *self.0.events.lock() = Some(events);
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

    /// Serves the service, once, by an adapter below `parent`, which requests reach through its manager. What was kept is
    /// there again; if the ORB's endpoints stay the same, so do the references. Returns the reference to the factory of
    /// channels.
    ///
    /// # Errors
    /// The adapter or a thread cannot be made; the file cannot be read or written; the service is served already.
    pub fn serve(&self, parent: &Poa) -> Result<EventChannelFactory, Refusal> {
        let (channels, kept) = self.start(parent, false)?;
        let served = channels.serve().and_then(|factory| {
            restore(&channels, parent.orb(), &kept, &[])?;
            Ok(factory)
        });
        let factory = served.inspect_err(|_| end(&channels))?;
        self.begin(channels.clone())?;
        channels.reconnections.call_all(&factory);
        Ok(factory)
    }

    /// Serves channels of another service, once, by an adapter below `parent`, in place of [`serve`](Self::serve): clients
    /// get no factory of channels. Of the channels that were kept, those with the ids `attached` are there again, and the
    /// others are removed. Returns the channels, and the filters with the numbers `filters`, whether clients have destroyed
    /// them or not.
    ///
    /// # Errors
    /// As of [`serve`](Self::serve).
    pub fn embed(
        &self,
        parent: &Poa,
        attached: &[ChannelId],
        filters: &[u64],
    ) -> Result<(EmbeddedChannels, HashMap<u64, EventFilter>), Refusal> {
        let (channels, mut kept) = self.start(parent, true)?;
        let removals = kept.leave_out_channels_but(attached);
        channels.common.keep(removals)?;
        let restored = restore(&channels, parent.orb(), &kept, filters);
        let restored = restored.inspect_err(|_| end(&channels))?;
        let found = filters
            .iter()
            .filter_map(|number| Some((*number, restored.external(*number).ok()?)));
        let found = found.collect();
        self.begin(channels.clone())?;
        Ok((EmbeddedChannels::new(channels), found))
    }

    /// Starts the threads, and serves the factory of filters; returns what was kept, too.
    fn start(&self, parent: &Poa, is_embedded: bool) -> Result<(Arc<Channels>, Kept), Refusal> {
        let Options { limits, writers } = self.0.options.read().clone();
        self.open_copy()?;
        let (kept, numbers) = self.begin_run()?;
        let gone = Box::new(|_: &str| None);
        let objects = Objects::new(parent, ADAPTER, numbers, gone)?;
        let (metrics, storage) = (self.0.metrics.clone(), self.storage());
        let events = self.0.events.lock().clone().filter(|_| storage.is_some());
        let journal = events.map(|events| Journal::new(events, numbers.0, &limits, self.turn()));
        let common = Common::start(
            limits,
            metrics,
            writers,
            objects,
            storage,
            journal,
            is_embedded,
        )?;
        let channels = Channels::new(Arc::new(common));
        channels.serve_filters()?;
        Ok((channels, kept))
    }

    /// Watches clients from now on.
    fn begin(&self, channels: Arc<Channels>) -> Result<(), Refusal> {
        watch::begin(&channels);
        let twice = |_| Refusal::NoResources("the notification service is served already".into());
        self.0.channels.set(channels).map_err(twice)
    }

    /// Returns what was kept, the identity of the service's objects, and the first number of those to come.
    fn begin_run(&self) -> Result<(Kept, (u64, u64)), Refusal> {
        if let Some(storage) = self.storage() {
            let (file, first) = (storage.file(), storage.begin_run()?);
            return Ok((Kept::read(file)?, (file.identity(), first)));
        }
        // The identity is new with each run.
        let identity = getrandom::u64();
        let identity = identity.map_err(|error| Refusal::NoResources(error.to_string()))?;
        Ok((Kept::default(), (identity, 1)))
    }

    /// Answers all calls that wait, and lets none wait from now on, so that the ORB can be shut down: neither for events, nor
    /// long for servers that have these and do not answer.
    pub fn end_waiting(&self) {
        if let Some(events) = &*self.0.events.lock() {
            events.end_waiting();
        }
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

    /// Ends the threads of the service, and drops its channels. What is kept stays in the store.
    pub fn stop(&self) {
        self.end_waiting();
        if let Some(channels) = self.0.channels.get() {
            end(channels);
        }
        let events = self.0.events.lock().take();
        drop(events);
        let storage = self.0.storage.write().take();
        drop(storage);
        if let Some(cluster) = &self.0.cluster {
            let records = cluster.records.lock().take();
            drop(records);
        }
    }

    /// Returns all channels, each with what it has counted, and the counts of at most so many of its consumers and of its
    /// suppliers.
    #[must_use]
    pub fn channels(&self, most: u32) -> Vec<ChannelLook> {
        let channels = self.0.channels.get().map(|channels| channels.all());
        let looks = channels.unwrap_or_default().into_iter();
        let looks = looks.map(|channel| ChannelLook {
            id: channel.id,
            name: channel.name(),
            counts: channel.counted(most),
        });
        looks.collect()
    }

    /// Returns the events of a channel that meet a constraint from now on; `None` if there is no such channel.
    #[must_use]
    pub fn tail(&self, channel: ChannelId, constraint: Constraint) -> Option<Tail> {
        let channel = self.0.channels.get()?.channel(channel)?;
        Some(Tail::new(&channel, constraint))
    }

    /// Returns the numbers of channels, of proxies, and of events in the queues of all consumers.
    #[must_use]
    pub fn size(&self) -> (usize, usize, usize) {
        let channels = self.0.channels.get().map(|channels| channels.all());
        let channels = channels.unwrap_or_default();
        let proxies = channels.iter().map(|channel| channel.count()).sum();
        let outlets = channels.iter().flat_map(|channel| channel.outlets());
        let now = Instant::now();
        let queued = outlets.map(|outlet| outlet.backlog(now).queued).sum();
        (channels.len(), proxies, queued)
    }

    /// Appends the service's metrics to the exposition.
    pub fn write_metrics(&self, out: &mut Exposition) {
        let (channels, proxies, queued) = self.size();
        let served = self.0.channels.get();
        let gauges = Gauges {
            channels,
            proxies,
            filters: served.map_or(0, |channels| channels.registry.len()),
            queued,
        };
        self.0.metrics.write(out, gauges);
        if let Some(storage) = self.storage() {
            storage.write_metrics(out);
        }
    }
}

/// Ends the threads of channels, drops them, and closes their store of events.
fn end(channels: &Channels) {
    channels.common.stop();
    channels.abandon();
    if let Some(journal) = &channels.common.journal {
        journal.close();
    }
}
