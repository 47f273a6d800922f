//! Channels of a service: the default one, and those that clients create and destroy.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use punctual::{Interface, ObjectRef, Orb, RootPoa};
use punctual_events::Patience;
use punctual_events::names::{Bound, NamesToBind, below};
use punctual_events::watch::{Watch, Watched};
use punctual_events::{Timetable, Workers};

use crate::admin::{self, Destroyer};
use crate::channel::Channel;
use crate::common::Common;
use crate::cos_event_channel_admin::{ConsumerAdmin, SupplierAdmin};
use crate::cos_typed_event_channel_admin::TypedEventChannel;
use crate::criteria::{Properties, check_name};
use crate::gate::Gate;
use crate::kept;
use crate::omni_events::EventChannel;
use crate::proxy::{Owner, Proxy, WatchedProxy};
use crate::refusal::Refusal;
use crate::storage::Change;
use crate::typed;

/// Object key and id of the default channel.
pub(crate) const DEFAULT: &str = "EventChannel";

/// Number of the default channel.
const DEFAULT_NUMBER: u64 = 0;

/// Object key and id of the typed channel.
pub(crate) const TYPED: &str = "TypedEventChannel";

/// Number of the typed channel, which no other object has.
const TYPED_NUMBER: u64 = u64::MAX;

/// All channels, by their numbers.
pub(crate) struct Channels {
    pub(crate) common: Arc<Common>,
    orb: Orb,
    names: NamesToBind,
    state: Mutex<State>,
    own: Weak<Self>,
}

#[derive(Default)]
struct State {
    channels: BTreeMap<u64, Entry>,
    by_name: BTreeMap<String, u64>,
}

struct Entry {
    channel: Arc<Channel>,
    reference: ObjectRef,
    bound: Option<Bound>,
}

impl std::fmt::Debug for Channels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channels").finish_non_exhaustive()
    }
}

impl Channels {
    pub(crate) fn new(common: Arc<Common>, orb: Orb, names: NamesToBind) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            common,
            orb,
            names,
            state: Mutex::default(),
            own: own.clone(),
        })
    }

    pub(crate) fn orb(&self) -> &Orb {
        &self.orb
    }

    /// Makes the default channel.
    ///
    /// # Errors
    /// A thread or a reference that cannot be made.
    pub(crate) fn make_default(&self) -> Result<EventChannel, Refusal> {
        let made = self.made(DEFAULT_NUMBER, Properties::default(), None)?;
        Ok(EventChannel::from_object(made))
    }

    /// Makes the typed channel of the service's own.
    ///
    /// # Errors
    /// A thread or a reference that cannot be made.
    pub(crate) fn make_typed(&self) -> Result<TypedEventChannel, Refusal> {
        let properties = Properties {
            is_typed: true,
            ..Properties::default()
        };
        let made = self.made(TYPED_NUMBER, properties, None)?;
        Ok(TypedEventChannel::from_object(made))
    }

    /// Makes a channel for a client.
    ///
    /// # Errors
    /// Access is denied; the maximum number of channels exists; the name is taken or wrong; the channel cannot be stored.
    pub(crate) fn create(&self, properties: Properties) -> Result<ObjectRef, Refusal> {
        self.common.check_access()?;
        if let Some(name) = &properties.name {
            check_name(name).map_err(Refusal::BadName)?;
        }
        let number = self.common.objects.number();
        let record = (record_of(&properties), properties.is_typed);
        let created = || {
            let reference = self.made(number, properties, None)?;
            let kept = self.common.keep(Change::Channel(number, Some(record)));
            kept.inspect_err(|_| self.remove(number))?;
            Ok(reference)
        };
        self.common.metrics.changes.count(created)
    }

    /// Makes a channel that was kept.
    ///
    /// # Errors
    /// As of [`create`](Self::create).
    pub(crate) fn restore(
        &self,
        number: u64,
        kept: &kept::Channel,
        is_typed: bool,
    ) -> Result<(), Refusal> {
        let properties = Properties {
            is_typed,
            ..properties_of(kept)
        };
        self.made(number, properties, None).map(drop)
    }

    /// Returns the channel with a number.
    pub(crate) fn get(&self, number: u64) -> Option<Arc<Channel>> {
        let state = self.state.lock();
        Some(state.channels.get(&number)?.channel.clone())
    }

    /// Returns the channel with a name; `None` for a typed one, which has another interface.
    pub(crate) fn find(&self, name: &str) -> Option<EventChannel> {
        let state = self.state.lock();
        let number = match name {
            DEFAULT => &DEFAULT_NUMBER,
            name => state.by_name.get(name)?,
        };
        let entry = state.channels.get(number)?;
        let is_typed = entry.channel.properties().is_typed;
        (!is_typed).then(|| EventChannel::from_object(entry.reference.clone()))
    }

    /// Returns all channels.
    pub(crate) fn all(&self) -> Vec<Arc<Channel>> {
        let state = self.state.lock();
        let channels = state.channels.values();
        channels.map(|entry| entry.channel.clone()).collect()
    }

    /// Returns all proxies of all channels.
    pub(crate) fn proxies(&self) -> Vec<Arc<dyn Proxy>> {
        let channels = self.all();
        channels
            .iter()
            .flat_map(|channel| channel.proxies())
            .collect()
    }

    /// Drops all channels without ending their connections: the process ends.
    pub(crate) fn abandon(&self) {
        let state = std::mem::take(&mut *self.state.lock());
        self.common.objects.clear();
        for entry in state.channels.values() {
            entry.channel.abandon();
        }
    }

    /// Makes a channel with a gate, which is not kept, and returns its number.
    ///
    /// # Errors
    /// A thread or a reference that cannot be made; the maximum number of channels exists.
    pub(crate) fn make_gated(&self, gate: Arc<dyn Gate>) -> Result<u64, Refusal> {
        let number = self.common.objects.number();
        self.made(number, Properties::default(), Some(gate))?;
        Ok(number)
    }

    fn made(
        &self,
        number: u64,
        properties: Properties,
        gate: Option<Arc<dyn Gate>>,
    ) -> Result<ObjectRef, Refusal> {
        let (name, is_typed) = (properties.name.clone(), properties.is_typed);
        let channel = Channel::new(self.common.clone(), number, properties, gate)?;
        let (id, destroyer) = (self.id_of(number), self.own.clone());
        let reference = match is_typed {
            true => typed::add(&channel, &id, destroyer)?.as_object().clone(),
            false => admin::add(&channel, &id, destroyer)?.as_object().clone(),
        };
        let entry = Entry {
            channel: channel.clone(),
            reference: reference.clone(),
            bound: None,
        };
        let inserted = self.insert(number, name.as_deref(), entry);
        inserted.inspect_err(|_| {
            admin::remove(&channel, &self.id_of(number));
            channel.destroy();
        })?;
        if let Some(name) = name {
            self.publish(number, &name, &reference);
        }
        Ok(reference)
    }

    fn insert(&self, number: u64, name: Option<&str>, entry: Entry) -> Result<(), Refusal> {
        let mut state = self.state.lock();
        let limit = self.common.limits.channels;
        let made = state.channels.keys().filter(|one| !is_own(**one)).count();
        if !is_own(number) && made >= limit {
            return Err(Refusal::Full {
                what: "channels",
                option: "most-channels",
                limit,
            });
        }
        if let Some(name) = name {
            let taken = || Refusal::NameTaken(name.to_owned());
            // The typed channel has its name whether it is served or not.
            if state.by_name.contains_key(name) || name == TYPED {
                return Err(taken());
            }
            // Also refuses names of other objects of this process.
            let table = self.orb.ior_table();
            let table = table.map_err(|exception| Refusal::NoResources(exception.to_string()))?;
            table.bind(name, &entry.reference).map_err(|_| taken())?;
            state.by_name.insert(name.to_owned(), number);
        }
        state.channels.insert(number, entry);
        Ok(())
    }

    /// Binds the channel's name in the Naming Service, if the settings say where.
    fn publish(&self, number: u64, name: &str, reference: &ObjectRef) {
        let Some(context) = &self.names.channels else {
            return;
        };
        let name = below(context, name);
        match self.names.bind(&self.orb, &name, reference) {
            Ok(bound) => {
                let mut state = self.state.lock();
                if let Some(entry) = state.channels.get_mut(&number) {
                    entry.bound = Some(bound);
                }
            }
            Err(exception) => tracing::warn!("the name `{name}` is not bound: {exception}"),
        }
    }

    /// Returns references to the administrators of a channel.
    ///
    /// # Errors
    /// They cannot be made.
    pub(crate) fn administrators(
        &self,
        number: u64,
    ) -> Result<(ConsumerAdmin, SupplierAdmin), Refusal> {
        admin::references(&self.common.objects, &self.id_of(number))
    }

    /// Removes a channel, and ends its connections.
    pub(crate) fn remove(&self, number: u64) {
        let entry = {
            let mut state = self.state.lock();
            let Some(entry) = state.channels.remove(&number) else {
                return;
            };
            if let Some(name) = &entry.channel.properties().name {
                state.by_name.remove(name);
                if let Ok(table) = self.orb.ior_table() {
                    let _ = table.unbind(name);
                }
            }
            entry
        };
        admin::remove(&entry.channel, &self.id_of(number));
        entry.channel.destroy();
        if let Some(bound) = entry.bound {
            self.common.checks.run(move || bound.unbind());
        }
    }

    fn id_of(&self, number: u64) -> Vec<u8> {
        match number {
            DEFAULT_NUMBER => DEFAULT.as_bytes().to_vec(),
            TYPED_NUMBER => TYPED.as_bytes().to_vec(),
            number => self.common.objects.id_of(number),
        }
    }
}

impl Watch for Channels {
    fn patience(&self) -> Patience {
        self.common.limits.patience()
    }

    fn timetable(&self) -> &Timetable {
        &self.common.timetable
    }

    fn askers(&self) -> &Workers {
        &self.common.checks
    }

    fn watched(&self) -> Vec<Arc<dyn Watched>> {
        let watched = |proxy| Arc::new(WatchedProxy(proxy)) as Arc<dyn Watched>;
        self.proxies().into_iter().map(watched).collect()
    }

    fn lost(&self) {
        self.common.metrics.lost_peers.add(1);
    }
}

impl Destroyer for Channels {
    /// Destroys a channel. The service's own ones lose their connections, and stay.
    fn destroy(&self, channel: &Arc<Channel>) -> Result<(), Refusal> {
        self.common.check_access()?;
        let number = channel.number();
        let destroyed = || {
            if is_own(number) {
                channel.disconnect_all();
                return Ok(());
            }
            self.common.keep(Change::Channel(number, None))?;
            self.remove(number);
            Ok(())
        };
        self.common.metrics.changes.count(destroyed)
    }
}

/// Returns whether a channel is one of the service, and not of a client.
const fn is_own(number: u64) -> bool {
    matches!(number, DEFAULT_NUMBER | TYPED_NUMBER)
}

fn record_of(properties: &Properties) -> kept::Channel {
    let number = |count: Option<usize>| count.unwrap_or_default() as u64;
    let millis = properties.pull_interval.unwrap_or_default().as_millis();
    kept::Channel {
        name: properties.name.clone().unwrap_or_default(),
        filter_id: properties.filter_id.clone().unwrap_or_default(),
        pull_interval_ms: u64::try_from(millis).unwrap_or(u64::MAX),
        queue_events: number(properties.queue_events),
        proxies: number(properties.proxies),
    }
}

fn properties_of(kept: &kept::Channel) -> Properties {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let count = |count: u64| usize::try_from(count).ok().filter(|count| *count > 0);
    let interval = Some(kept.pull_interval_ms).filter(|millis| *millis > 0);
    Properties {
        name: text(&kept.name),
        pull_interval: interval.map(Duration::from_millis),
        queue_events: count(kept.queue_events),
        proxies: count(kept.proxies),
        filter_id: text(&kept.filter_id),
        is_typed: false,
    }
}
