//! `ProxyPushConsumer`: a supplier pushes events into the channel.

use std::sync::Arc;

use punctual::{Any, SystemException};

use crate::channel::Channel;
use crate::cos_event_channel_admin::{
    AlreadyConnected, ProxyPushConsumerConnectPushSupplierError, ProxyPushConsumerServant,
};
use crate::cos_event_comm::{
    Disconnected, PushConsumerPushError, PushConsumerServant, PushSupplier,
};
use crate::kept::ProxyKind as Kind;
use crate::proxy::{Base, Core, Proxy};
use crate::refusal::Refusal;
use crate::typed::Interface;

/// Proxy for a supplier that pushes. Its supplier may be nil: it is then not told of the end.
pub(crate) struct PushConsumerProxy {
    base: Base<PushSupplier>,
    channel: Arc<Channel>,
    /// Interface of a typed proxy.
    interface: Option<Arc<Interface>>,
}

impl PushConsumerProxy {
    pub(crate) fn new(
        channel: Arc<Channel>,
        number: u64,
        interface: Option<Arc<Interface>>,
    ) -> Self {
        let base = Base::new(channel.common.clone(), channel.clone(), number);
        Self {
            base,
            channel,
            interface,
        }
    }

    /// Takes an event of the supplier.
    ///
    /// # Errors
    /// The proxy is not connected; those of [`Channel::publish`].
    pub(crate) fn take(&self, event: &Any) -> Result<(), Refusal> {
        self.base.connection.used()?;
        self.channel.publish(event)
    }

    /// Returns whether the supplier has still to connect.
    pub(crate) fn is_unconnected(&self) -> bool {
        self.base.connection.check_unconnected().is_ok()
    }

    /// Connects the supplier, whose connection is kept already.
    ///
    /// # Errors
    /// The proxy is connected, or has ended.
    pub(crate) fn resume(&self, supplier: Option<PushSupplier>) -> Result<(), Refusal> {
        Ok(self.base.connection.connect(supplier)?)
    }

    fn connect(&self, supplier: Option<PushSupplier>) -> Result<(), Refusal> {
        self.resume(supplier)?;
        let interface = self.interface.as_ref().map(|interface| interface.record());
        let kept = self.base.keep(Kind::PushConsumer, interface);
        kept.inspect_err(|_| {
            let _ = self.base.end(false);
        })
    }
}

impl Proxy for PushConsumerProxy {
    fn end(&self) {
        self.base.end(true);
    }

    fn core(&self) -> &dyn Core {
        &self.base
    }
}

impl PushConsumerServant for PushConsumerProxy {
    fn push(&self, data: &Any) -> Result<(), PushConsumerPushError> {
        self.take(data).map_err(|refusal| match refusal {
            Refusal::Disconnected | Refusal::Destroyed => Disconnected.into(),
            other => SystemException::from(other).into(),
        })
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        let has_ended = self.base.end(true);
        Ok(self.base.ended_by_peer(has_ended)?)
    }
}

impl ProxyPushConsumerServant for PushConsumerProxy {
    fn connect_push_supplier(
        &self,
        push_supplier: Option<&PushSupplier>,
    ) -> Result<(), ProxyPushConsumerConnectPushSupplierError> {
        let connected = self.connect(push_supplier.cloned());
        connected.map_err(|refusal| match refusal {
            Refusal::AlreadyConnected => AlreadyConnected.into(),
            other => SystemException::from(other).into(),
        })
    }
}
