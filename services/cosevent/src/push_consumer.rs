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

/// Proxy for a supplier that pushes. Its supplier may be nil: it is then not told of the end.
pub(crate) struct PushConsumerProxy {
    base: Base<PushSupplier>,
    channel: Arc<Channel>,
}

impl PushConsumerProxy {
    pub(crate) fn new(channel: Arc<Channel>, number: u64) -> Self {
        let base = Base::new(channel.common.clone(), channel.clone(), number);
        Self { base, channel }
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
        self.base.keep(Kind::PushConsumer).inspect_err(|_| {
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
        let pushed = self.base.connection.used().map_err(Refusal::from);
        let pushed = pushed.and_then(|()| self.channel.publish(data));
        pushed.map_err(|refusal| match refusal {
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
