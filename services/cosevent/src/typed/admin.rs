//! Objects of a typed channel: the channel, its administrator for consumers, and that for suppliers.

use std::sync::{Arc, Weak};

use punctual::asynchronous::Amh;
use punctual::{Implements, OperationError, Response, SystemException};

use super::{Found, Interface, obtain as typed, pulled_of};
use crate::admin::{Destroyer, consumers_of, suppliers_of};
use crate::channel::Channel;
use crate::cos_event_channel_admin::{
    ConsumerAdminAmhServant, ProxyPullConsumer, ProxyPullSupplier, ProxyPushConsumer,
    ProxyPushSupplier, SupplierAdminAmhServant,
};
use crate::cos_typed_event_channel_admin::{
    InterfaceNotSupported, NoSuchImplementation, TypedConsumerAdmin, TypedConsumerAdminAmhServant,
    TypedConsumerAdminObtainTypedPullSupplierError, TypedConsumerAdminObtainTypedPushSupplierError,
    TypedEventChannel, TypedEventChannelServant, TypedProxyPullSupplier, TypedProxyPushConsumer,
    TypedSupplierAdmin, TypedSupplierAdminAmhServant,
    TypedSupplierAdminObtainTypedPullConsumerError, TypedSupplierAdminObtainTypedPushConsumerError,
};
use crate::obtain;
use crate::refusal::Refusal;

/// Adds the three objects of a typed channel; `id` is that of the channel.
///
/// # Errors
/// A reference cannot be made.
pub(crate) fn add(
    channel: &Arc<Channel>,
    id: &[u8],
    destroyer: Weak<dyn Destroyer>,
) -> Result<TypedEventChannel, Refusal> {
    let objects = &channel.common.objects;
    let servant = Amh::new(ConsumersOf(channel.clone()));
    let consumers = objects.add(
        &consumers_of(id),
        <TypedConsumerAdmin as Implements<_>>::servant(servant),
    )?;
    let servant = Amh::new(SuppliersOf(channel.clone()));
    let suppliers = objects.add(
        &suppliers_of(id),
        <TypedSupplierAdmin as Implements<_>>::servant(servant),
    )?;
    let servant = ServedChannel {
        channel: channel.clone(),
        consumers,
        suppliers,
        destroyer,
    };
    Ok(objects.add(id, <TypedEventChannel as Implements<_>>::servant(servant))?)
}

/// Servant of a typed channel.
struct ServedChannel {
    channel: Arc<Channel>,
    consumers: TypedConsumerAdmin,
    suppliers: TypedSupplierAdmin,
    destroyer: Weak<dyn Destroyer>,
}

impl TypedEventChannelServant for ServedChannel {
    fn for_consumers(&self) -> Result<Option<TypedConsumerAdmin>, SystemException> {
        Ok(Some(self.consumers.clone()))
    }

    fn for_suppliers(&self) -> Result<Option<TypedSupplierAdmin>, SystemException> {
        Ok(Some(self.suppliers.clone()))
    }

    fn destroy(&self) -> Result<(), SystemException> {
        let destroyer = self.destroyer.upgrade().ok_or(Refusal::Ending)?;
        Ok(destroyer.destroy(&self.channel)?)
    }
}

/// Answers a request for a proxy that pulls events, or of which they are pulled, by the interface `Pull<I>` with the id; as
/// [`obtained`] does by the interface I.
fn obtained_to_pull<R, E>(
    channel: &Arc<Channel>,
    id: &str,
    response: Response<Option<R>, E>,
    obtain: fn(&Arc<Channel>, Arc<Interface>) -> Result<R, Refusal>,
    unsupported: fn() -> E,
) where
    R: 'static,
    E: OperationError + From<SystemException> + Send + 'static,
    Response<Option<R>, E>: Send,
{
    match pulled_of(id) {
        Some(interface) => obtained(channel, &interface, response, obtain, unsupported),
        None => {
            channel.common.interfaces.log(id, &NO_PULL);
            let _ = response.raise(unsupported());
        }
    }
}

/// Answers a request for a proxy of an interface, later if only the Interface Repository knows it. `unsupported` is the
/// exception if its calls cannot be events.
fn obtained<R, E>(
    channel: &Arc<Channel>,
    id: &str,
    response: Response<Option<R>, E>,
    obtain: fn(&Arc<Channel>, Arc<Interface>) -> Result<R, Refusal>,
    unsupported: fn() -> E,
) where
    R: 'static,
    E: OperationError + From<SystemException> + Send + 'static,
    Response<Option<R>, E>: Send,
{
    let answer = move |channel: &Arc<Channel>, id: &str, found: Found| {
        let Found::Interface(interface) = found else {
            return Err(unsupported());
        };
        match obtain(channel, interface) {
            Ok(proxy) => Ok(Some(proxy)),
            Err(Refusal::Unsupported { reason, .. }) => {
                channel.common.interfaces.log(id, &reason);
                Err(unsupported())
            }
            Err(other) => Err(SystemException::from(other).into()),
        }
    };
    match channel.common.interfaces.find(id) {
        Found::Unasked => {
            let (channel, id) = (channel.clone(), id.to_owned());
            let common = channel.common.clone();
            // The repository may not answer.
            common.checks.run(move || {
                let asked = match channel.common.is_ending() {
                    true => Err(SystemException::from(Refusal::Ending)),
                    false => channel.common.interfaces.ask(&id),
                };
                let _ = response.answer(match asked {
                    Ok(found) => answer(&channel, &id, found),
                    Err(exception) => Err(E::from(exception)),
                });
            });
        }
        found => {
            let _ = response.answer(answer(channel, id, found));
        }
    }
}

/// Administrator for the consumers of a typed channel.
struct ConsumersOf(Arc<Channel>);

impl ConsumerAdminAmhServant for ConsumersOf {
    fn obtain_push_supplier(&self, response: Response<Option<ProxyPushSupplier>>) {
        let obtained = obtain::push_supplier(&self.0);
        let _ = response.answer(obtained.map(Some).map_err(SystemException::from));
    }

    fn obtain_pull_supplier(&self, response: Response<Option<ProxyPullSupplier>>) {
        let obtained = obtain::pull_supplier(&self.0);
        let _ = response.answer(obtained.map(Some).map_err(SystemException::from));
    }
}

impl TypedConsumerAdminAmhServant for ConsumersOf {
    fn obtain_typed_pull_supplier(
        &self,
        response: Response<
            Option<TypedProxyPullSupplier>,
            TypedConsumerAdminObtainTypedPullSupplierError,
        >,
        supported_interface: &str,
    ) {
        let obtain = typed::pull_supplier;
        obtained_to_pull(&self.0, supported_interface, response, obtain, || {
            InterfaceNotSupported.into()
        });
    }

    fn obtain_typed_push_supplier(
        &self,
        response: Response<
            Option<ProxyPushSupplier>,
            TypedConsumerAdminObtainTypedPushSupplierError,
        >,
        uses_interface: &str,
    ) {
        let obtain = typed::push_supplier;
        obtained(&self.0, uses_interface, response, obtain, || {
            NoSuchImplementation.into()
        });
    }
}

/// Administrator for the suppliers of a typed channel.
struct SuppliersOf(Arc<Channel>);

impl SupplierAdminAmhServant for SuppliersOf {
    fn obtain_push_consumer(&self, response: Response<Option<ProxyPushConsumer>>) {
        let permitted = self.0.common.check_access();
        let obtained = permitted.and_then(|()| obtain::push_consumer(&self.0));
        let _ = response.answer(obtained.map(Some).map_err(SystemException::from));
    }

    fn obtain_pull_consumer(&self, response: Response<Option<ProxyPullConsumer>>) {
        let permitted = self.0.common.check_access();
        let obtained = permitted.and_then(|()| obtain::pull_consumer(&self.0));
        let _ = response.answer(obtained.map(Some).map_err(SystemException::from));
    }
}

impl TypedSupplierAdminAmhServant for SuppliersOf {
    fn obtain_typed_push_consumer(
        &self,
        response: Response<
            Option<TypedProxyPushConsumer>,
            TypedSupplierAdminObtainTypedPushConsumerError,
        >,
        supported_interface: &str,
    ) {
        if let Err(refusal) = self.0.common.check_access() {
            let _ = response.fail(refusal);
            return;
        }
        let obtain = typed::push_consumer;
        obtained(&self.0, supported_interface, response, obtain, || {
            InterfaceNotSupported.into()
        });
    }

    fn obtain_typed_pull_consumer(
        &self,
        response: Response<
            Option<ProxyPullConsumer>,
            TypedSupplierAdminObtainTypedPullConsumerError,
        >,
        uses_interface: &str,
    ) {
        if let Err(refusal) = self.0.common.check_access() {
            let _ = response.fail(refusal);
            return;
        }
        let obtain = typed::pull_consumer;
        obtained_to_pull(&self.0, uses_interface, response, obtain, || {
            NoSuchImplementation.into()
        });
    }
}

const NO_PULL: &str = "it is not of the form `IDL:SCOPE/PullNAME:VERSION`, which interfaces of events that are pulled have";
