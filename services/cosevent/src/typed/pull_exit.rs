//! `TypedProxyPullSupplier`: a consumer pulls events by an object of `Pull<I>`, whose calls wait without a thread.

use std::borrow::Cow;
use std::sync::Arc;

use punctual::dynamic::{DynamicImplementation, ServerRequest};
use punctual::poa::{DispatchError, Dispatched};
use punctual::{Any, ObjectRef, Response};

use super::{PullInterface, PullOperation};
use crate::cos_event_channel_admin::{
    ProxyPullSupplierAmhServant, ProxyPullSupplierConnectPullConsumerError,
};
use crate::cos_event_comm::{
    PullConsumer, PullSupplierAmhServant, PullSupplierPullError, PullSupplierTryPullError,
};
use crate::cos_typed_event_channel_admin::TypedProxyPullSupplierAmhServant;
use crate::cos_typed_event_comm::TypedPullSupplierAmhServant;
use crate::pull_supplier::PullSupplierProxy;

/// Servant of a typed proxy for a consumer. Its `pull` and `try_pull` return the events as Anys.
pub(crate) struct TypedPullSupplierProxy {
    pub(crate) proxy: Arc<PullSupplierProxy>,
    /// Object of `Pull<I>`, which the consumer calls.
    pub(crate) object: ObjectRef,
}

impl PullSupplierAmhServant for TypedPullSupplierProxy {
    fn pull(&self, response: Response<Any, PullSupplierPullError>) {
        self.proxy.pull(response);
    }

    fn try_pull(&self, response: Response<(Any, bool), PullSupplierTryPullError>) {
        self.proxy.try_pull(response);
    }

    fn disconnect_pull_supplier(&self, response: Response<()>) {
        self.proxy.disconnect_pull_supplier(response);
    }
}

impl ProxyPullSupplierAmhServant for TypedPullSupplierProxy {
    fn connect_pull_consumer(
        &self,
        response: Response<(), ProxyPullSupplierConnectPullConsumerError>,
        pull_consumer: Option<&PullConsumer>,
    ) {
        self.proxy.connect_pull_consumer(response, pull_consumer);
    }
}

impl TypedPullSupplierAmhServant for TypedPullSupplierProxy {
    fn get_typed_supplier(&self, response: Response<Option<ObjectRef>>) {
        let _ = response.reply(Some(self.object.clone()));
    }
}

impl TypedProxyPullSupplierAmhServant for TypedPullSupplierProxy {}

/// Object of `Pull<I>`, by which a consumer pulls.
pub(crate) struct PullExit {
    pub(crate) proxy: Arc<PullSupplierProxy>,
    pub(crate) interface: PullInterface,
}

impl DynamicImplementation for PullExit {
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
        request.arguments(&[])?;
        let (response, deferred) = request.answer_later()?;
        match operation {
            PullOperation::Pull(place) => self.proxy.pull_typed(place, response),
            PullOperation::Try(place) => {
                let nothing = self.interface.nothing(place);
                self.proxy.try_pull_typed(place, nothing, response);
            }
        }
        Ok(deferred)
    }
}
