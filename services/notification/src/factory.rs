//! `EventChannelFactory`: all channels of a service.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex;
use punctual::{Implements, SystemException};
use punctual_events::watch::{Watch, Watched};
use punctual_events::{Patience, Timetable, Workers};

use crate::channel::{Channel, Properties, Unsupported};
use crate::common::Common;
use crate::cos_notification::Property;
use crate::cos_notify_channel_admin::{
    ChannelId, ChannelNotFound, EventChannel, EventChannelFactory,
    EventChannelFactoryCreateChannelError, EventChannelFactoryGetEventChannelError,
    EventChannelFactoryServant,
};
use crate::cos_notify_filter::FilterFactory;
use crate::filter::{Factory, Registry};
use crate::hub::{Home, Hub};
use crate::journal::ChannelLog;
use crate::kept;
use crate::notify_ext::{ReconnectionCallback, ReconnectionRegistryServant};
use crate::punctual_notify::{ChannelFactory, ChannelFactoryServant};
use crate::reconnections::Reconnections;
use crate::refusal::Refusal;

/// Object key and id of the factory.
pub(crate) const FACTORY: &str = "NotifyEventChannelFactory";

/// Object id of the factory of filters.
const FILTER_FACTORY: &str = "FilterFactory";

/// All channels, by id.
pub(crate) struct Channels {
    pub(crate) common: Arc<Common>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) reconnections: Arc<Reconnections>,
    state: Mutex<State>,
    /// Held while a channel is made.
    order: Mutex<()>,
    own: Weak<Self>,
}

#[derive(Default)]
struct State {
    channels: BTreeMap<ChannelId, Arc<Channel>>,
    next: ChannelId,
}

impl std::fmt::Debug for Channels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channels").finish_non_exhaustive()
    }
}

impl Channels {
    pub(crate) fn new(common: Arc<Common>) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            reconnections: Reconnections::new(common.clone()),
            common,
            registry: Arc::default(),
            state: Mutex::default(),
            order: Mutex::default(),
            own: own.clone(),
        })
    }

    /// Adds the object of the factory of channels.
    ///
    /// # Errors
    /// Its reference cannot be made.
    pub(crate) fn serve(self: &Arc<Self>) -> Result<EventChannelFactory, Refusal> {
        let objects = &self.common.objects;
        // The reference names the standard's interface, as that of a channel does.
        let servant = <ChannelFactory as Implements<_>>::servant(self.clone());
        Ok(objects.add(FACTORY.as_bytes(), servant)?)
    }

    /// Adds the object of the factory of filters.
    ///
    /// # Errors
    /// Its reference cannot be made.
    pub(crate) fn serve_filters(&self) -> Result<(), Refusal> {
        let objects = &self.common.objects;
        let servant = <FilterFactory as Implements<_>>::servant(self.filters());
        objects.add::<FilterFactory>(FILTER_FACTORY.as_bytes(), servant)?;
        Ok(())
    }

    /// Returns the factory of filters.
    pub(crate) fn filters(&self) -> Factory {
        Factory {
            common: self.common.clone(),
            registry: self.registry.clone(),
        }
    }

    /// Makes a channel, which is served as `serve` says. Blocks.
    ///
    /// # Errors
    /// There are as many as may be; a reference cannot be made; the channel cannot be stored.
    pub(crate) fn add<R>(
        &self,
        properties: Properties,
        serve: impl FnOnce(&Arc<Channel>) -> Result<R, Refusal>,
    ) -> Result<(R, ChannelId), Refusal> {
        // One channel is made at a time; others are found meanwhile.
        let _order = self.order.lock();
        let id = self.next_id()?;
        let number = self.common.objects.number();
        let log = properties.log(&self.common, number, false)?;
        let channel = self.made(id, number, properties, log);
        let made = || -> Result<R, Refusal> {
            channel.complete()?;
            let served = serve(&channel)?;
            // Last, as the record of a channel that cannot be served would stay.
            channel.keep()?;
            Ok(served)
        };
        let served = made().inspect_err(|_| {
            channel.end();
            channel.remove_log();
        })?;
        let mut state = self.state.lock();
        state.next = id.wrapping_add(1).max(0);
        state.channels.insert(id, channel);
        Ok((served, id))
    }

    fn create(&self, properties: Properties) -> Result<(EventChannel, ChannelId), Refusal> {
        self.common.check_access()?;
        self.add(properties, Channel::serve)
    }

    /// Returns the id of the next channel.
    fn next_id(&self) -> Result<ChannelId, Refusal> {
        let state = self.state.lock();
        let limit = self.common.limits.channels;
        match state.channels.len() < limit {
            true => Ok(state.next),
            false => Err(Refusal::Full {
                what: "channels",
                option: "most-channels",
                limit,
            }),
        }
    }

    fn made(
        &self,
        id: ChannelId,
        number: u64,
        properties: Properties,
        log: Option<ChannelLog>,
    ) -> Arc<Channel> {
        let (common, registry) = (self.common.clone(), self.registry.clone());
        let home: Weak<dyn Home> = self.own.clone();
        let properties = (id, number, properties, log);
        Channel::new(common, registry, home, properties)
    }

    /// Makes a channel that was kept, without administrators.
    ///
    /// # Errors
    /// Its reference cannot be made; its log cannot be opened.
    pub(crate) fn restore(
        &self,
        number: u64,
        kept: &kept::Channel,
    ) -> Result<Arc<Channel>, Refusal> {
        let properties = Properties::of_kept(kept);
        let log = properties.log(&self.common, number, true)?;
        let channel = self.made(kept.id, number, properties, log);
        channel.note_kept();
        if !self.common.is_embedded {
            channel.serve()?;
        }
        let mut state = self.state.lock();
        state.next = state.next.max(kept.id.wrapping_add(1).max(0));
        state.channels.insert(kept.id, channel.clone());
        Ok(channel)
    }

    /// Returns all channels.
    pub(crate) fn all(&self) -> Vec<Arc<Channel>> {
        self.state.lock().channels.values().cloned().collect()
    }

    /// Returns a channel.
    pub(crate) fn channel(&self, id: ChannelId) -> Option<Arc<Channel>> {
        self.state.lock().channels.get(&id).cloned()
    }

    /// Drops all channels without a word to their clients: the process ends.
    pub(crate) fn abandon(&self) {
        let channels = std::mem::take(&mut self.state.lock().channels);
        self.common.objects.clear();
        for channel in channels.values() {
            channel.end();
        }
    }
}

impl Home for Channels {
    fn numbers(&self) -> Vec<u64> {
        let state = self.state.lock();
        state.channels.values().map(|one| one.number()).collect()
    }

    fn remove(&self, id: ChannelId) {
        let removed = self.state.lock().channels.remove(&id);
        drop(removed);
    }

    fn factory(&self) -> Result<EventChannelFactory, Refusal> {
        Ok(self.common.objects.reference(FACTORY.as_bytes())?)
    }

    fn filter_factory(&self) -> Result<FilterFactory, Refusal> {
        Ok(self.common.objects.reference(FILTER_FACTORY.as_bytes())?)
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
        let mut watched: Vec<Arc<dyn Watched>> = Vec::new();
        for channel in self.all() {
            watched.extend(
                channel
                    .outlets()
                    .into_iter()
                    .map(|one| one as Arc<dyn Watched>),
            );
            watched.extend(
                channel
                    .inlets()
                    .into_iter()
                    .map(|one| one as Arc<dyn Watched>),
            );
        }
        let left = self.registry.left(&self.common, Instant::now());
        watched.extend(
            left.into_iter()
                .map(|one| Arc::new(one) as Arc<dyn Watched>),
        );
        watched
    }

    fn lost(&self) {
        self.common.metrics.lost_peers.add(1);
    }
}

impl EventChannelFactoryServant for Channels {
    fn create_channel(
        &self,
        initial_qos: &[Property],
        initial_admin: &[Property],
    ) -> Result<(Option<EventChannel>, ChannelId), EventChannelFactoryCreateChannelError> {
        let properties = Properties::of(&self.common, initial_qos, initial_admin);
        let properties = properties.map_err(|unsupported| match unsupported {
            Unsupported::Quality(error) => EventChannelFactoryCreateChannelError::from(error),
            Unsupported::Administration(error) => error.into(),
        })?;
        let created = self
            .common
            .metrics
            .changes
            .count(|| self.create(properties));
        let (channel, id) = created.map_err(SystemException::from)?;
        Ok((Some(channel), id))
    }

    fn get_all_channels(&self) -> Result<Vec<ChannelId>, SystemException> {
        Ok(self.state.lock().channels.keys().copied().collect())
    }

    fn get_event_channel(
        &self,
        id: ChannelId,
    ) -> Result<Option<EventChannel>, EventChannelFactoryGetEventChannelError> {
        let channel = self.channel(id).ok_or(ChannelNotFound)?;
        Ok(Some(channel.reference().map_err(SystemException::from)?))
    }
}

impl ReconnectionRegistryServant for Channels {
    fn register_callback(
        &self,
        reconection: Option<&ReconnectionCallback>,
    ) -> Result<i32, SystemException> {
        Ok(self.reconnections.register(reconection)?)
    }

    fn unregister_callback(&self, id: i32) -> Result<(), SystemException> {
        Ok(self.reconnections.unregister(id)?)
    }

    fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(true)
    }
}

impl ChannelFactoryServant for Channels {}
