//! The factory of notify logs, whose consumers get the events that its logs send themselves.

use std::sync::Arc;

use punctual::{Any, SystemException};
use punctual_events::cos_event_channel_admin as event_admin;
use punctual_notification::cos_notification::{
    EventType, NamedPropertyRange, Property, QoSAdminServant, QoSAdminSetQosError,
    QoSAdminValidateQosError, UnsupportedAdmin, UnsupportedQoS,
};
use punctual_notification::cos_notify_channel_admin::{
    AdminId, ChannelId, ClientType, ConsumerAdminGetProxySupplierError,
    ConsumerAdminObtainNotificationPullSupplierError,
    ConsumerAdminObtainNotificationPushSupplierError, ConsumerAdminServant, EventChannel,
    InterFilterGroupOperator, ProxyId, ProxySupplier,
};
use punctual_notification::cos_notify_comm::{
    NotifySubscribeServant, NotifySubscribeSubscriptionChangeError,
};
use punctual_notification::cos_notify_filter::{
    Filter, FilterAdminGetFilterError, FilterAdminRemoveFilterError, FilterAdminServant, FilterId,
    MappingFilter,
};
use punctual_notification::{
    ChannelProperties, EmbeddedChannel, EmbeddedChannels, Gate, Incoming, Unsupported,
};

use super::delegation::delegate;
use super::factory::{Creating, Factory, alarming, closed};
use super::notify_log::remove;
use crate::ds_log_admin::{Log, LogFullActionType, LogId, Threshold};
use crate::ds_notify_log_admin::{
    NotifyLog, NotifyLogFactoryCreateError, NotifyLogFactoryCreateWithIdError,
    NotifyLogFactoryServant,
};
use crate::kept;
use crate::logs::{Attributes, Logs, NotCreated, Notify};
use crate::notices::Tell;
use crate::refusal::Refusal;
use crate::storage::{Change, Kept, Storage};

type Result<T, E = SystemException> = std::result::Result<T, E>;

/// Object key and id of the factory.
pub(crate) const NOTIFY_FACTORY: &str = "NotifyLogFactory";

/// Number, in the store, of the factory's own channel among those of logs, whose numbers are greater.
const OWN: u64 = 0;

/// Channel of the events that logs send themselves, and the channels of logs.
pub(crate) struct Notices {
    channels: EmbeddedChannels,
    channel: EmbeddedChannel,
    consumers: Arc<dyn ConsumerAdminServant>,
}

impl std::fmt::Debug for Notices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notices").finish_non_exhaustive()
    }
}

/// Gate of a channel to which clients do not push.
struct Closed;

impl Notices {
    /// Opens the channel that was kept, or a new one.
    ///
    /// # Errors
    /// It cannot be made or stored.
    pub(crate) fn new(
        channels: &EmbeddedChannels,
        storage: &Storage,
        kept: &Kept,
    ) -> Result<Arc<Self>, Refusal> {
        let mut logs = kept.notify_logs.iter();
        let own = logs.find(|(number, _)| *number == OWN);
        let open = |id: ChannelId| channels.open(id, Arc::new(Closed), None);
        // One that could not be made anew was reported.
        let channel = match own.and_then(|(_, own)| open(own.channel).ok()) {
            Some(channel) => channel,
            None => open(made(channels, storage)?)?,
        };
        Ok(Arc::new(Self {
            consumers: channel.consumers()?,
            channels: channels.clone(),
            channel,
        }))
    }
}

/// Makes the factory's channel.
fn made(channels: &EmbeddedChannels, storage: &Storage) -> Result<ChannelId, Refusal> {
    let properties = channels.properties(&[], &[]);
    let properties = properties.map_err(|_| {
        Refusal::NoResources("a channel cannot have its usual properties".to_owned())
    })?;
    let channel = channels.make(properties)?;
    storage.change(Change::NotifyLog(
        OWN,
        kept::NotifyLog { channel, filter: 0 },
    ))?;
    Ok(channel)
}

impl Tell for Notices {
    fn tell(&self, event: Any) {
        if let Err(refusal) = self.channel.deliver(&event) {
            tracing::debug!("an event of a log reaches no consumer: {refusal}");
        }
    }
}

impl Gate for Closed {
    fn pass(&self, _: &[Incoming<'_>]) -> Result<bool> {
        Err(closed())
    }
}

impl Factory<Arc<Notices>> {
    fn operations(&self) -> &dyn ConsumerAdminServant {
        &*self.kind.consumers
    }

    fn properties<E: From<UnsupportedQoS> + From<UnsupportedAdmin>>(
        &self,
        quality: &[Property],
        administration: &[Property],
    ) -> Result<ChannelProperties, E> {
        let properties = self.kind.channels.properties(quality, administration);
        properties.map_err(|unsupported| match unsupported {
            Unsupported::Quality(error) => error.into(),
            Unsupported::Administration(error) => error.into(),
        })
    }
}

impl Creating for Arc<Notices> {
    type More = ChannelProperties;

    /// Creates a log with a channel.
    fn create(
        &self,
        logs: &Arc<Logs>,
        id: Option<LogId>,
        settings: kept::Log,
        channel: ChannelProperties,
    ) -> Result<(Log, LogId), NotCreated> {
        logs.common.check_access()?;
        let notify = Notify {
            channel: self.channels.make(channel).map_err(Refusal::from)?,
            filter: None,
        };
        let attributes = Attributes {
            settings,
            notify: Some(notify.clone()),
        };
        let created = logs.create(id, attributes);
        created.inspect_err(|_| remove(&self.channels, &notify))
    }
}

impl NotifyLogFactoryServant for Factory<Arc<Notices>> {
    fn create(
        &self,
        full_action: LogFullActionType,
        max_size: u64,
        thresholds: &[Threshold],
        initial_qos: &[Property],
        initial_admin: &[Property],
    ) -> Result<(Option<NotifyLog>, LogId), NotifyLogFactoryCreateError> {
        let settings = alarming::<NotifyLogFactoryCreateError>(full_action, max_size, thresholds)?;
        let channel = self.properties::<NotifyLogFactoryCreateError>(initial_qos, initial_admin)?;
        Ok(self.created(settings, channel)?)
    }

    fn create_with_id(
        &self,
        id: LogId,
        full_action: LogFullActionType,
        max_size: u64,
        thresholds: &[Threshold],
        initial_qos: &[Property],
        initial_admin: &[Property],
    ) -> Result<Option<NotifyLog>, NotifyLogFactoryCreateWithIdError> {
        let settings =
            alarming::<NotifyLogFactoryCreateWithIdError>(full_action, max_size, thresholds)?;
        let channel =
            self.properties::<NotifyLogFactoryCreateWithIdError>(initial_qos, initial_admin)?;
        self.created_with_id(id, settings, channel)
    }
}

delegate!(QoSAdminServant, Factory<Arc<Notices>>, {
    fn get_qos(&self) -> Result<Vec<Property>>;
    fn set_qos(&self, qos: &[Property]) -> Result<(), QoSAdminSetQosError>;
    fn validate_qos(
        &self,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, QoSAdminValidateQosError>;
});

delegate!(NotifySubscribeServant, Factory<Arc<Notices>>, {
    fn subscription_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), NotifySubscribeSubscriptionChangeError>;
});

delegate!(FilterAdminServant, Factory<Arc<Notices>>, {
    fn add_filter(&self, new_filter: Option<&Filter>) -> Result<FilterId>;
    fn remove_filter(&self, filter: FilterId) -> Result<(), FilterAdminRemoveFilterError>;
    fn get_filter(&self, filter: FilterId) -> Result<Option<Filter>, FilterAdminGetFilterError>;
    fn get_all_filters(&self) -> Result<Vec<FilterId>>;
    fn remove_all_filters(&self) -> Result<()>;
});

delegate!(event_admin::ConsumerAdminServant, Factory<Arc<Notices>>, {
    fn obtain_push_supplier(&self) -> Result<Option<event_admin::ProxyPushSupplier>>;
    fn obtain_pull_supplier(&self) -> Result<Option<event_admin::ProxyPullSupplier>>;
});

delegate!(ConsumerAdminServant, Factory<Arc<Notices>>, {
    fn my_id(&self) -> Result<AdminId>;
    fn my_channel(&self) -> Result<Option<EventChannel>>;
    fn my_operator(&self) -> Result<InterFilterGroupOperator>;
    fn priority_filter(&self) -> Result<Option<MappingFilter>>;
    fn set_priority_filter(&self, value: Option<&MappingFilter>) -> Result<()>;
    fn lifetime_filter(&self) -> Result<Option<MappingFilter>>;
    fn set_lifetime_filter(&self, value: Option<&MappingFilter>) -> Result<()>;
    fn pull_suppliers(&self) -> Result<Vec<ProxyId>>;
    fn push_suppliers(&self) -> Result<Vec<ProxyId>>;
    fn get_proxy_supplier(
        &self,
        proxy_id: ProxyId,
    ) -> Result<Option<ProxySupplier>, ConsumerAdminGetProxySupplierError>;
    fn obtain_notification_pull_supplier(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxySupplier>, ProxyId), ConsumerAdminObtainNotificationPullSupplierError>;
    fn obtain_notification_push_supplier(
        &self,
        ctype: ClientType,
    ) -> Result<(Option<ProxySupplier>, ProxyId), ConsumerAdminObtainNotificationPushSupplierError>;
    fn destroy(&self) -> Result<()>;
});
