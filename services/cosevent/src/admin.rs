//! A channel's own objects: the channel, its administrator for consumers, and that for suppliers.

use std::sync::{Arc, Weak};

use punctual::{Implements, SystemException};
use punctual_events::Objects;

use crate::channel::Channel;
use crate::cos_event_channel_admin::{
    ConsumerAdmin, ConsumerAdminServant, EventChannelServant as CosEventChannelServant,
    ProxyPullConsumer, ProxyPullSupplier, ProxyPushConsumer, ProxyPushSupplier, SupplierAdmin,
    SupplierAdminServant,
};
use crate::ft::PullMonitorableServant;
use crate::obtain;
use crate::omni_events::{EventChannel, EventChannelServant};
use crate::refusal::Refusal;

type Result<T> = std::result::Result<T, SystemException>;

/// Owner of channels, which destroys them.
pub(crate) trait Destroyer: Send + Sync {
    /// Destroys a channel.
    ///
    /// # Errors
    /// The peer may not; it cannot be stored.
    fn destroy(&self, channel: &Arc<Channel>) -> std::result::Result<(), Refusal>;
}

/// Adds the three objects of a channel; `id` is that of the channel.
///
/// # Errors
/// A reference cannot be made.
pub(crate) fn add(
    channel: &Arc<Channel>,
    id: &[u8],
    destroyer: Weak<dyn Destroyer>,
) -> std::result::Result<EventChannel, Refusal> {
    let objects = &channel.common.objects;
    let consumers: ConsumerAdmin = objects.add(
        &consumers_of(id),
        <ConsumerAdmin as Implements<_>>::servant(ConsumersOf(channel.clone())),
    )?;
    let suppliers: SupplierAdmin = objects.add(
        &suppliers_of(id),
        <SupplierAdmin as Implements<_>>::servant(SuppliersOf(channel.clone())),
    )?;
    let servant = ServedChannel {
        channel: channel.clone(),
        consumers,
        suppliers,
        destroyer,
    };
    Ok(objects.add(id, <EventChannel as Implements<_>>::servant(servant))?)
}

/// Returns references to the administrators of the channel with an id.
///
/// # Errors
/// They cannot be made.
pub(crate) fn references(
    objects: &Objects,
    id: &[u8],
) -> std::result::Result<(ConsumerAdmin, SupplierAdmin), Refusal> {
    let consumers = objects.reference(&consumers_of(id))?;
    Ok((consumers, objects.reference(&suppliers_of(id))?))
}

/// Removes the objects of a channel.
pub(crate) fn remove(channel: &Channel, id: &[u8]) {
    let objects = &channel.common.objects;
    for id in [id.to_vec(), consumers_of(id), suppliers_of(id)] {
        objects.remove(&id);
    }
}

/// Returns the id of a channel's administrator for consumers.
pub(crate) fn consumers_of(id: &[u8]) -> Vec<u8> {
    [id, b"/consumers"].concat()
}

/// Returns the id of a channel's administrator for suppliers.
pub(crate) fn suppliers_of(id: &[u8]) -> Vec<u8> {
    [id, b"/suppliers"].concat()
}

/// Servant of a channel.
struct ServedChannel {
    channel: Arc<Channel>,
    consumers: ConsumerAdmin,
    suppliers: SupplierAdmin,
    destroyer: Weak<dyn Destroyer>,
}

impl CosEventChannelServant for ServedChannel {
    fn for_consumers(&self) -> Result<Option<ConsumerAdmin>> {
        Ok(Some(self.consumers.clone()))
    }

    fn for_suppliers(&self) -> Result<Option<SupplierAdmin>> {
        Ok(Some(self.suppliers.clone()))
    }

    fn destroy(&self) -> Result<()> {
        let destroyer = self.destroyer.upgrade().ok_or(Refusal::Ending)?;
        Ok(destroyer.destroy(&self.channel)?)
    }
}

impl PullMonitorableServant for ServedChannel {
    fn is_alive(&self) -> Result<bool> {
        Ok(true)
    }
}

impl EventChannelServant for ServedChannel {}

/// Administrator for the consumers of a channel.
struct ConsumersOf(Arc<Channel>);

impl ConsumerAdminServant for ConsumersOf {
    fn obtain_push_supplier(&self) -> Result<Option<ProxyPushSupplier>> {
        Ok(Some(obtain::push_supplier(&self.0)?))
    }

    fn obtain_pull_supplier(&self) -> Result<Option<ProxyPullSupplier>> {
        Ok(Some(obtain::pull_supplier(&self.0)?))
    }
}

/// Administrator for the suppliers of a channel.
struct SuppliersOf(Arc<Channel>);

impl SupplierAdminServant for SuppliersOf {
    fn obtain_push_consumer(&self) -> Result<Option<ProxyPushConsumer>> {
        self.0.common.check_access()?;
        Ok(Some(obtain::push_consumer(&self.0)?))
    }

    fn obtain_pull_consumer(&self) -> Result<Option<ProxyPullConsumer>> {
        self.0.common.check_access()?;
        Ok(Some(obtain::pull_consumer(&self.0)?))
    }
}
