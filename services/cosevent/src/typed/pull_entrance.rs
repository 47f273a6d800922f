//! `ProxyPullConsumer` of a typed channel: the supplier is asked for its object by `connect_pull_supplier`.

use std::sync::Arc;

use punctual::{Response, SystemException};
use punctual_events::peer::bounded;

use super::asked::{Connecting, is_misfit};
use crate::cos_event_channel_admin::{
    AlreadyConnected, ProxyPullConsumerAmhServant, ProxyPullConsumerConnectPullSupplierError,
    TypeError,
};
use crate::cos_event_comm::{PullConsumerAmhServant, PullSupplier};
use crate::pull_consumer::PullConsumerProxy;
use crate::refusal::Refusal;

/// Servant of a typed proxy for a supplier that is pulled from.
pub(crate) struct TypedPullConsumerProxy {
    proxy: Arc<PullConsumerProxy>,
    /// Supplier that is being asked for its object.
    connecting: Connecting,
}

impl TypedPullConsumerProxy {
    pub(crate) fn new(proxy: Arc<PullConsumerProxy>) -> Self {
        Self {
            proxy,
            connecting: Connecting::default(),
        }
    }

    /// Checks that a supplier can be connected, and begins to.
    ///
    /// # Errors
    /// It is nil; the proxy is connected, or has ended.
    fn begin(&self, supplier: Option<&PullSupplier>) -> Result<PullSupplier, Refusal> {
        let supplier = supplier.cloned().ok_or(Refusal::Nil("supplier"))?;
        self.proxy.check_unconnected()?;
        self.connecting.begin()?;
        Ok(supplier)
    }
}

/// Asks the supplier for its object, and connects it.
fn connect(
    proxy: &PullConsumerProxy,
    supplier: PullSupplier,
) -> Result<(), ProxyPullConsumerConnectPullSupplierError> {
    let common = proxy.common();
    if common.is_ending() {
        return Err(SystemException::from(Refusal::Ending).into());
    }
    let asked = bounded(&supplier, common.limits.call_timeout);
    if let Err(exception) = proxy.ask(&asked) {
        if is_misfit(&exception) {
            tracing::info!("a supplier cannot be connected: {exception}");
            return Err(TypeError.into());
        }
        return Err(exception.in_context("`get_typed_supplier`").into());
    }
    proxy.connect(supplier).map_err(|refusal| match refusal {
        Refusal::AlreadyConnected => AlreadyConnected.into(),
        other => SystemException::from(other).into(),
    })
}

impl PullConsumerAmhServant for TypedPullConsumerProxy {
    fn disconnect_pull_consumer(&self, response: Response<()>) {
        let ended = self.proxy.disconnect().map_err(SystemException::from);
        let _ = response.answer(ended);
    }
}

impl ProxyPullConsumerAmhServant for TypedPullConsumerProxy {
    fn connect_pull_supplier(
        &self,
        response: Response<(), ProxyPullConsumerConnectPullSupplierError>,
        pull_supplier: Option<&PullSupplier>,
    ) {
        let supplier = match self.begin(pull_supplier) {
            Ok(supplier) => supplier,
            Err(refusal) => {
                let _ = match refusal {
                    Refusal::AlreadyConnected => response.raise(AlreadyConnected),
                    other => response.fail(other),
                };
                return;
            }
        };
        let (proxy, connecting) = (self.proxy.clone(), self.connecting.clone());
        // The supplier may not answer.
        self.proxy.common().checks.run(move || {
            let connected = connect(&proxy, supplier);
            connecting.end();
            let _ = response.answer(connected);
        });
    }
}
