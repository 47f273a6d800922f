//! The event service: its settings, its store, its start and its end.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use punctual::{Implements, Orb, Poa};
use punctual_events::names::{Bound, NamesToBind};
use punctual_events::watch;
use punctual_events::{Keeper, Objects, Timetable, Workers};
use punctual_host::access::Rules;
use punctual_host::metrics::Exposition;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{StoreError, StoreFile};
use punctual_rtevent::{Pool, PoolOptions, ThreadSpec};
use thiserror::Error;

use crate::channels::Channels;
use crate::common::{Common, Started};
use crate::cos_typed_event_channel_admin::TypedEventChannel;
use crate::embedded::EmbeddedChannel;
use crate::factory::{FACTORY, Factory};
use crate::gate::Gate;
use crate::gone;
use crate::limits::Limits;
use crate::metrics::{Gauges, Metrics};
use crate::omni_events::{EventChannel, EventChannelFactory};
use crate::refusal::Refusal;
use crate::restoring;
use crate::storage::{KIND, Kept, Storage};
use crate::typed::{Catalogue, EventInterfaces};

/// Name of the adapter.
const ADAPTER: &str = "EventService";

/// Event service, whose clones share the same channels.
#[derive(Clone)]
pub struct EventService(Arc<Shared>);

struct Shared {
    options: RwLock<Options>,
    metrics: Arc<Metrics>,
    storage: Option<Arc<Storage>>,
    served: OnceLock<Served>,
}

/// Settings that apply when the service is served.
#[derive(Clone, Debug, Default)]
struct Options {
    limits: Limits,
    writers: Rules<()>,
    names: NamesToBind,
    interfaces: EventInterfaces,
}

/// Parts of a service that is served.
struct Served {
    channels: Arc<Channels>,
    factory_name: Mutex<Option<Bound>>,
}

/// References to a service: its default channel, its factory, and its typed channel.
#[derive(Clone, Debug)]
pub struct Root {
    /// Default channel.
    pub channel: EventChannel,
    /// Factory of channels.
    pub factory: EventChannelFactory,
    /// Typed channel, if the service knows interfaces ([`EventService::set_interfaces`]).
    pub typed_channel: Option<TypedEventChannel>,
}

/// Reason why an event service cannot be opened.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the event service cannot be opened: {0}")]
pub struct OpenError(#[from] pub StoreError);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for EventService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventService")
            .field("is_stored", &self.0.storage.is_some())
            .field("is_served", &self.0.served.get().is_some())
            .finish()
    }
}

impl EventService {
    /// Returns a service whose channels end with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(None)
    }

    /// Opens the service in a file, which is created if need be: channels and connections stay after a restart, events
    /// do not.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or has other contents.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self::with(Some(StoreFile::open(path, KIND)?)))
    }

    /// Opens the service in a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, faults: Faults) -> Result<Self, OpenError> {
        let file = StoreFile::open_with_faults(path, KIND, faults)?;
        Ok(Self::with(Some(file)))
    }

    fn with(file: Option<StoreFile>) -> Self {
        Self(Arc::new(Shared {
            options: RwLock::default(),
            metrics: Arc::default(),
            storage: file.map(|file| Arc::new(Storage::new(file))),
            served: OnceLock::new(),
        }))
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

    /// Sets the names that the service binds when it is served.
    pub fn set_names(&self, names: NamesToBind) {
        self.0.options.write().names = names;
    }

    /// Sets the interfaces of typed events, which applies when the service is served. Without any it has no typed channel.
    pub fn set_interfaces(&self, interfaces: EventInterfaces) {
        self.0.options.write().interfaces = interfaces;
    }

    /// Returns unused pages of the service's file to the file system. Takes time in proportion to the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn compact(&self) -> Result<bool, OpenError> {
        match &self.0.storage {
            Some(storage) => Ok(storage.file().compact()?),
            None => Ok(false),
        }
    }

    /// Serves the service, once, by an adapter below `parent`, which requests reach through its manager. Connections
    /// that were kept are there again. If the ORB's endpoints stay the same, so do the references.
    ///
    /// # Errors
    /// The adapter or a thread cannot be made; the file cannot be read; the service is served already.
    pub fn serve(&self, parent: &Poa) -> Result<Root, Refusal> {
        let options = self.0.options.read().clone();
        let (channels, kept) = self.start(parent, &options)?;
        let channel = channels.make_default()?;
        let factory = channels.common.objects.add(
            FACTORY.as_bytes(),
            <EventChannelFactory as Implements<_>>::servant(Factory(channels.clone())),
        )?;
        let has_typed_events =
            channels.common.interfaces.has_sources() || !kept.interfaces.is_empty();
        let typed_channel = match has_typed_events {
            true => Some(channels.make_typed()?),
            false => None,
        };
        let root = Root {
            channel,
            factory,
            typed_channel,
        };
        restoring::restore(&channels, kept);
        watch::begin(&channels);
        let factory_name = bound_factory(parent.orb(), &options.names, &root)?;
        self.set_served(channels, factory_name)?;
        Ok(root)
    }

    /// Serves the channels of another service in its place: neither a default channel nor a factory.
    ///
    /// # Errors
    /// As of [`serve`](Self::serve).
    pub fn embed(&self, parent: &Poa) -> Result<(), Refusal> {
        let options = self.0.options.read().clone();
        let (channels, _) = self.start(parent, &options)?;
        watch::begin(&channels);
        self.set_served(channels, None)
    }

    /// Makes a channel of another service, with a gate for events of suppliers.
    ///
    /// # Errors
    /// The service is not served; there are as many channels as may be; a thread or a reference cannot be made.
    pub fn embedded_channel(&self, gate: Arc<dyn Gate>) -> Result<EmbeddedChannel, Refusal> {
        let served = self.0.served.get().ok_or(Refusal::Ending)?;
        EmbeddedChannel::new(&served.channels, gate)
    }

    fn set_served(
        &self,
        channels: Arc<Channels>,
        factory_name: Option<Bound>,
    ) -> Result<(), Refusal> {
        let served = Served {
            channels,
            factory_name: Mutex::new(factory_name),
        };
        let twice = |_| Refusal::NoResources("the event service is served already".to_owned());
        self.0.served.set(served).map_err(twice)
    }

    /// Starts the threads, and makes the adapter; also returns what the store has kept.
    fn start(&self, parent: &Poa, options: &Options) -> Result<(Arc<Channels>, Kept), Refusal> {
        let Options {
            limits,
            writers,
            names,
            interfaces,
        } = options.clone();
        let (kept, next) = match &self.0.storage {
            Some(storage) => (Kept::read(storage.file())?, storage.begin_run()?),
            // The identity is new with each run.
            None => (Kept::default(), 1),
        };
        let is_waiting = Arc::default();
        let started = Started {
            interfaces: Catalogue::new(&interfaces, parent.orb(), limits.call_timeout)?,
            objects: Objects::new(
                parent,
                ADAPTER,
                (self.identity()?, next),
                gone::servants(&is_waiting),
            )?,
            workers: Workers::new("event-pulls", limits.threads).map_err(refused)?,
            checks: Workers::new("event-checks", limits.threads).map_err(refused)?,
            timetable: Timetable::start("event-times").map_err(refused)?,
            dispatcher: Arc::new(Pool::new(pool_options(&limits)).map_err(refused)?),
            keeper: Keeper::start("event-records", self.0.storage.clone()).map_err(refused)?,
            is_waiting,
        };
        let metrics = self.0.metrics.clone();
        let common = Arc::new(Common::new(limits, metrics, writers, started));
        Ok((Channels::new(common, parent.orb().clone(), names), kept))
    }

    /// Answers all calls that wait, and lets none wait from now on, so that the ORB can be shut down.
    pub fn end_waiting(&self) {
        let Some(served) = self.0.served.get() else {
            return;
        };
        served.channels.common.begin_ending();
        for proxy in served.channels.proxies() {
            proxy.release_calls();
        }
    }

    /// Ends the threads of the service, and drops its channels. Connections that are kept stay in the store.
    pub fn stop(&self) {
        self.end_waiting();
        if let Some(served) = self.0.served.get() {
            served.channels.common.stop();
            served.channels.abandon();
            let factory_name = served.factory_name.lock().take();
            drop(factory_name);
        }
    }

    /// Returns the numbers of channels and of proxies.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let Some(served) = self.0.served.get() else {
            return (0, 0);
        };
        let channels = served.channels.all();
        let proxies = channels.iter().map(|channel| channel.count()).sum();
        (channels.len(), proxies)
    }

    /// Appends the service's metrics to the exposition.
    pub fn write_metrics(&self, out: &mut Exposition) {
        let (channels, proxies) = self.size();
        self.0.metrics.write(out, Gauges { channels, proxies });
        if let Some(storage) = &self.0.storage {
            storage.write_metrics(out);
        }
    }

    fn identity(&self) -> Result<u64, Refusal> {
        match &self.0.storage {
            Some(storage) => Ok(storage.file().identity()),
            None => getrandom::u64().map_err(refused),
        }
    }
}

fn refused(error: impl fmt::Display) -> Refusal {
    Refusal::NoResources(error.to_string())
}

fn pool_options(limits: &Limits) -> PoolOptions {
    let most = limits.threads.max(1);
    PoolOptions {
        thread: ThreadSpec::named("event-pushes"),
        threads: most.min(4),
        most_threads: most,
        ..PoolOptions::default()
    }
}

fn bound_factory(orb: &Orb, names: &NamesToBind, root: &Root) -> Result<Option<Bound>, Refusal> {
    let Some(name) = &names.factory else {
        return Ok(None);
    };
    let bound = names.bind(orb, name, punctual::Interface::as_object(&root.factory));
    let bound = bound.map_err(|exception| Refusal::BadName(format!("`{name}`: {exception}")))?;
    Ok(Some(bound))
}
