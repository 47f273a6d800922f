//! The factory of event logs, whose consumers get the events that its logs send themselves.

use std::sync::Arc;

use punctual::{Any, SystemException};
use punctual_cosevent::{EmbeddedChannel, EventService, Gate};
use punctual_events::cos_event_channel_admin::{
    ConsumerAdminServant, ProxyPullSupplier, ProxyPushSupplier,
};

use super::factory::{Creating, Factory, alarming, closed};
use crate::ds_event_log_admin::{
    EventLog, EventLogFactoryCreateError, EventLogFactoryCreateWithIdError, EventLogFactoryServant,
};
use crate::ds_log_admin::{LogFullActionType, LogId, Threshold};
use crate::notices::Tell;
use crate::refusal::Refusal;

/// Object key and id of the factory.
pub(crate) const EVENT_FACTORY: &str = "EventLogFactory";

/// Channel of the events that logs send themselves.
#[derive(Debug)]
pub(crate) struct Announcements(EmbeddedChannel);

/// Gate of a channel to which clients do not push.
struct Closed;

impl Announcements {
    /// Makes the channel.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn new(events: &EventService) -> Result<Arc<Self>, Refusal> {
        let channel = events.embedded_channel(Arc::new(Closed));
        let channel = channel.map_err(|refusal| Refusal::NoResources(refusal.to_string()))?;
        Ok(Arc::new(Self(channel)))
    }
}

impl Tell for Announcements {
    fn tell(&self, event: Any) {
        self.0.deliver(event);
    }
}

impl Gate for Closed {
    fn pass(&self, _: &Any) -> Result<bool, SystemException> {
        Err(closed())
    }
}

impl Creating for Arc<Announcements> {
    type More = ();
}

impl ConsumerAdminServant for Factory<Arc<Announcements>> {
    fn obtain_push_supplier(&self) -> Result<Option<ProxyPushSupplier>, SystemException> {
        Ok(Some(self.kind.0.obtain_push_supplier()?))
    }

    fn obtain_pull_supplier(&self) -> Result<Option<ProxyPullSupplier>, SystemException> {
        Ok(Some(self.kind.0.obtain_pull_supplier()?))
    }
}

impl EventLogFactoryServant for Factory<Arc<Announcements>> {
    fn create(
        &self,
        full_action: LogFullActionType,
        max_size: u64,
        thresholds: &[Threshold],
    ) -> Result<(Option<EventLog>, LogId), EventLogFactoryCreateError> {
        let settings = alarming::<EventLogFactoryCreateError>(full_action, max_size, thresholds)?;
        Ok(self.created(settings, ())?)
    }

    fn create_with_id(
        &self,
        id: LogId,
        full_action: LogFullActionType,
        max_size: u64,
        thresholds: &[Threshold],
    ) -> Result<Option<EventLog>, EventLogFactoryCreateWithIdError> {
        let settings =
            alarming::<EventLogFactoryCreateWithIdError>(full_action, max_size, thresholds)?;
        self.created_with_id(id, settings, ())
    }
}
