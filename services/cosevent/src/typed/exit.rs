//! `ProxyPushSupplier` of a typed channel: the consumer is asked for its object by `connect_push_consumer`.

use std::sync::Arc;

use punctual::{Response, SystemException};
use punctual_events::peer::bounded;

use super::asked::{Connecting, is_misfit};
use super::{Interface, Target};
use crate::cos_event_channel_admin::{
    AlreadyConnected, ProxyPushSupplierAmhServant, ProxyPushSupplierConnectPushConsumerError,
    TypeError,
};
use crate::cos_event_comm::{PushConsumer, PushSupplierAmhServant};
use crate::push_supplier::PushSupplierProxy;
use crate::refusal::Refusal;

/// Servant of a typed proxy for a consumer.
pub(crate) struct TypedPushSupplierProxy {
    proxy: Arc<PushSupplierProxy>,
    interface: Arc<Interface>,
    /// Consumer that is being asked for its object.
    connecting: Connecting,
}

impl TypedPushSupplierProxy {
    pub(crate) fn new(proxy: Arc<PushSupplierProxy>, interface: Arc<Interface>) -> Self {
        Self {
            proxy,
            interface,
            connecting: Connecting::default(),
        }
    }

    /// Checks that a consumer can be connected, and begins to.
    ///
    /// # Errors
    /// It is nil; the proxy is connected, or has ended.
    fn begin(&self, consumer: Option<&PushConsumer>) -> Result<PushConsumer, Refusal> {
        let consumer = consumer.cloned().ok_or(Refusal::Nil("consumer"))?;
        self.proxy.check_unconnected()?;
        self.connecting.begin()?;
        Ok(consumer)
    }
}

/// Asks the consumer for its object, and connects it.
fn connect(
    proxy: &PushSupplierProxy,
    interface: Arc<Interface>,
    consumer: PushConsumer,
) -> Result<(), ProxyPushSupplierConnectPushConsumerError> {
    let common = proxy.common();
    if common.is_ending() {
        return Err(SystemException::from(Refusal::Ending).into());
    }
    let timeout = common.limits.call_timeout;
    let target = Target::new(interface, timeout);
    let asked = bounded(&consumer, timeout);
    if let Err(exception) = target.object(&asked) {
        if is_misfit(&exception) {
            tracing::info!("a consumer cannot be connected: {exception}");
            return Err(TypeError.into());
        }
        return Err(exception.in_context("`get_typed_consumer`").into());
    }
    let connected = proxy.connect(consumer, Some(target));
    connected.map_err(|refusal| match refusal {
        Refusal::AlreadyConnected => AlreadyConnected.into(),
        other => SystemException::from(other).into(),
    })
}

impl PushSupplierAmhServant for TypedPushSupplierProxy {
    fn disconnect_push_supplier(&self, response: Response<()>) {
        let ended = self.proxy.disconnect().map_err(SystemException::from);
        let _ = response.answer(ended);
    }
}

impl ProxyPushSupplierAmhServant for TypedPushSupplierProxy {
    fn connect_push_consumer(
        &self,
        response: Response<(), ProxyPushSupplierConnectPushConsumerError>,
        push_consumer: Option<&PushConsumer>,
    ) {
        let consumer = match self.begin(push_consumer) {
            Ok(consumer) => consumer,
            Err(refusal) => {
                let _ = match refusal {
                    Refusal::AlreadyConnected => response.raise(AlreadyConnected),
                    other => response.fail(other),
                };
                return;
            }
        };
        let (proxy, interface) = (self.proxy.clone(), self.interface.clone());
        let connecting = self.connecting.clone();
        // The consumer may not answer.
        self.proxy.common().checks.run(move || {
            let connected = connect(&proxy, interface, consumer);
            connecting.end();
            let _ = response.answer(connected);
        });
    }
}
