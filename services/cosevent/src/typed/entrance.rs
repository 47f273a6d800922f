//! `TypedProxyPushConsumer`: a supplier calls an object of the interface, and each call is an event.

use std::borrow::Cow;
use std::sync::Arc;

use punctual::dynamic::{DynamicImplementation, ServerRequest};
use punctual::poa::{DispatchError, Dispatched};
use punctual::{Any, ObjectRef, SystemException};

use super::Interface;
use crate::cos_event_channel_admin::{
    ProxyPushConsumerConnectPushSupplierError, ProxyPushConsumerServant,
};
use crate::cos_event_comm::{PushConsumerPushError, PushConsumerServant, PushSupplier};
use crate::cos_typed_event_channel_admin::TypedProxyPushConsumerServant;
use crate::cos_typed_event_comm::TypedPushConsumerServant;
use crate::push_consumer::PushConsumerProxy;
use crate::refusal::Refusal;

/// Servant of a typed proxy for a supplier. An event that is pushed as an Any passes, too.
pub(crate) struct TypedPushConsumerProxy {
    pub(crate) proxy: Arc<PushConsumerProxy>,
    /// Object of the interface, which the supplier calls.
    pub(crate) entrance: ObjectRef,
}

impl PushConsumerServant for TypedPushConsumerProxy {
    fn push(&self, data: &Any) -> Result<(), PushConsumerPushError> {
        self.proxy.push(data)
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.proxy.disconnect_push_consumer()
    }
}

impl ProxyPushConsumerServant for TypedPushConsumerProxy {
    fn connect_push_supplier(
        &self,
        push_supplier: Option<&PushSupplier>,
    ) -> Result<(), ProxyPushConsumerConnectPushSupplierError> {
        self.proxy.connect_push_supplier(push_supplier)
    }
}

impl TypedPushConsumerServant for TypedPushConsumerProxy {
    fn get_typed_consumer(&self) -> Result<Option<ObjectRef>, SystemException> {
        Ok(Some(self.entrance.clone()))
    }
}

impl TypedProxyPushConsumerServant for TypedPushConsumerProxy {}

/// Object of the interface, whose calls are events.
pub(crate) struct TypedEntrance {
    pub(crate) proxy: Arc<PushConsumerProxy>,
    pub(crate) interface: Arc<Interface>,
}

impl DynamicImplementation for TypedEntrance {
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.interface.id())
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.interface.is_a(repository_id)
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        let Some(operation) = self.interface.named(request.operation()) else {
            return Err(request.bad_operation());
        };
        let mut read = request.arguments(std::slice::from_ref(&operation.parameters))?;
        let event = read.pop().unwrap_or_default();
        let taken = self.proxy.take(&event).map_err(|refusal| match refusal {
            Refusal::Disconnected if self.proxy.is_unconnected() => Refusal::NotConnected,
            other => other,
        });
        taken.map_err(SystemException::from)?;
        request.reply(&[])
    }
}
