//! Logs that are channels of the Notification Service: each event that the log's filter lets through is a record.

use std::sync::Arc;

use parking_lot::RwLock;
use punctual::{Implements, Interface, Servant, SystemException};
use punctual_events::cos_event_channel_admin as event_admin;
use punctual_notification::cos_notification::{
    AdminPropertiesAdminServant, AdminPropertiesAdminSetAdminError, NamedPropertyRange, Property,
    QoSAdminServant, QoSAdminSetQosError, QoSAdminValidateQosError,
};
use punctual_notification::cos_notify_channel_admin::{
    AdminId, ConsumerAdmin, EventChannel, EventChannelFactory, EventChannelGetConsumeradminError,
    EventChannelGetSupplieradminError, EventChannelServant, InterFilterGroupOperator,
    SupplierAdmin,
};
use punctual_notification::cos_notify_filter::{Filter, FilterFactory};
use punctual_notification::{EmbeddedChannel, EmbeddedChannels, EventFilter, Gate, Incoming};

use super::delegation::delegate;
use super::event_log::written;
use super::log::{Kind, ServedLog};
use crate::ds_event_log_admin::EventLogServant;
use crate::ds_notify_log_admin::{NotifyLog, NotifyLogServant};
use crate::kept::Content;
use crate::log::Log;
use crate::logs::{Logs, Notify};
use crate::refusal::Refusal;

type Result<T, E = SystemException> = std::result::Result<T, E>;

/// Channel of a log, and its gate.
#[derive(Debug)]
pub(crate) struct Channel {
    channels: EmbeddedChannels,
    channel: EmbeddedChannel,
    recorder: Arc<Recorder>,
}

/// Gate that writes events into a log.
#[derive(Debug)]
struct Recorder {
    log: Arc<Log>,
    filter: RwLock<Option<EventFilter>>,
}

/// Makes the servant of a log with a channel, which takes events from now on.
///
/// # Errors
/// The log has no channel, or the channel cannot be opened.
pub(crate) fn serve(
    channels: &EmbeddedChannels,
    logs: &Arc<Logs>,
    log: &Arc<Log>,
    notify: Option<Notify>,
) -> Result<Arc<dyn Servant>, Refusal> {
    let absent = || Refusal::NoResources(format!("the channel of log {} was not kept", log.id()));
    let Notify { channel, filter } = notify.ok_or_else(absent)?;
    let recorder = Arc::new(Recorder {
        log: log.clone(),
        filter: RwLock::new(filter),
    });
    let objects = &logs.common.objects;
    let own: NotifyLog = objects.reference(&objects.id_of(log.number()))?;
    let own = EventChannel::from_object(own.as_object().clone());
    let channel = Channel {
        channel: channels.open(channel, recorder.clone(), Some(own))?,
        channels: channels.clone(),
        recorder,
    };
    let servant = ServedLog::new(logs, log, channel);
    Ok(<NotifyLog as Implements<_>>::servant(servant))
}

impl Gate for Recorder {
    fn pass(&self, events: &[Incoming<'_>]) -> Result<bool> {
        let filter = self.filter.read().clone();
        let is_record = |event: &&Incoming<'_>| filter.as_ref().is_none_or(|one| event.meets(one));
        let records = events.iter().filter(is_record).map(|event| Content {
            attr_list: Vec::new(),
            info: event.to_any(),
        });
        let records: Vec<_> = records.collect();
        match records.is_empty() {
            true => Ok(self.log.forwards()),
            false => written(&self.log, records),
        }
    }
}

impl Kind for Channel {
    fn copied(&self) -> Result<Option<Notify>, Refusal> {
        Ok(Some(Notify {
            channel: self.channels.make(self.channel.properties())?,
            filter: self.recorder.filter.read().clone(),
        }))
    }

    fn take_back(&self, notify: &Notify) {
        remove(&self.channels, notify);
    }
}

/// Removes the channel of a log that there is not, or not any more.
pub(super) fn remove(channels: &EmbeddedChannels, notify: &Notify) {
    if let Err(refusal) = channels.remove(notify.channel) {
        tracing::warn!("the channel of a log is removed at the next start: {refusal}");
    }
}

impl ServedLog<Channel> {
    fn operations(&self) -> &dyn EventChannelServant {
        self.kind.channel.operations()
    }
}

impl NotifyLogServant for ServedLog<Channel> {
    fn get_filter(&self) -> Result<Option<Filter>> {
        let filter = self.kind.recorder.filter.read();
        Ok(filter.as_ref().map(|filter| filter.reference().clone()))
    }

    fn set_filter(&self, filter: Option<&Filter>) -> Result<()> {
        let Channel {
            channels,
            channel,
            recorder,
        } = &self.kind;
        let filter = filter.map(|filter| channels.filter(filter)).transpose()?;
        let notify = Notify {
            channel: channel.id(),
            filter,
        };
        let kept = notify.to_kept();
        let changed = self.log.change_filter(kept, || {
            let reference = |filter: &Option<EventFilter>| {
                let filter = filter.as_ref();
                filter.map(|filter| filter.reference().clone())
            };
            let after = reference(&notify.filter);
            let before = std::mem::replace(&mut *recorder.filter.write(), notify.filter);
            (reference(&before), after)
        });
        Ok(changed?)
    }
}

impl EventLogServant for ServedLog<Channel> {}

delegate!(QoSAdminServant, ServedLog<Channel>, {
    fn get_qos(&self) -> Result<Vec<Property>>;
    fn set_qos(&self, qos: &[Property]) -> Result<(), QoSAdminSetQosError>;
    fn validate_qos(
        &self,
        required_qos: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, QoSAdminValidateQosError>;
});

delegate!(AdminPropertiesAdminServant, ServedLog<Channel>, {
    fn get_admin(&self) -> Result<Vec<Property>>;
    fn set_admin(&self, admin: &[Property]) -> Result<(), AdminPropertiesAdminSetAdminError>;
});

impl event_admin::EventChannelServant for ServedLog<Channel> {
    fn for_consumers(&self) -> Result<Option<event_admin::ConsumerAdmin>> {
        event_admin::EventChannelServant::for_consumers(self.operations())
    }

    fn for_suppliers(&self) -> Result<Option<event_admin::SupplierAdmin>> {
        event_admin::EventChannelServant::for_suppliers(self.operations())
    }

    fn destroy(&self) -> Result<()> {
        self.logs.destroy(&self.log)?;
        let notify = Notify {
            channel: self.kind.channel.id(),
            filter: None,
        };
        remove(&self.kind.channels, &notify);
        Ok(())
    }
}

delegate!(EventChannelServant, ServedLog<Channel>, {
    fn my_factory(&self) -> Result<Option<EventChannelFactory>>;
    fn default_consumer_admin(&self) -> Result<Option<ConsumerAdmin>>;
    fn default_supplier_admin(&self) -> Result<Option<SupplierAdmin>>;
    fn default_filter_factory(&self) -> Result<Option<FilterFactory>>;
    fn new_for_consumers(
        &self,
        op: InterFilterGroupOperator,
    ) -> Result<(Option<ConsumerAdmin>, AdminId)>;
    fn new_for_suppliers(
        &self,
        op: InterFilterGroupOperator,
    ) -> Result<(Option<SupplierAdmin>, AdminId)>;
    fn get_consumeradmin(
        &self,
        id: AdminId,
    ) -> Result<Option<ConsumerAdmin>, EventChannelGetConsumeradminError>;
    fn get_supplieradmin(
        &self,
        id: AdminId,
    ) -> Result<Option<SupplierAdmin>, EventChannelGetSupplieradminError>;
    fn get_all_consumeradmins(&self) -> Result<Vec<AdminId>>;
    fn get_all_supplieradmins(&self) -> Result<Vec<AdminId>>;
});
