//! Proxies are made: for administrators, and anew for connections that were kept.

use std::sync::Arc;

use punctual::asynchronous::Amh;
use punctual::dynamic::dynamic_servant;
use punctual::{Implements, Interface, ObjectRef, Servant};
use punctual_rtevent::Filter;

use crate::channel::Channel;
use crate::cos_event_channel_admin::{
    ProxyPullConsumer, ProxyPullSupplier, ProxyPushConsumer, ProxyPushSupplier,
};
use crate::cos_typed_event_channel_admin::TypedProxyPushConsumer;
use crate::kept::{Connection, EventInterface, ProxyKind as Kind};
use crate::proxy::Proxy;
use crate::pull_consumer::PullConsumerProxy;
use crate::pull_supplier::PullSupplierProxy;
use crate::push_consumer::PushConsumerProxy;
use crate::push_supplier::PushSupplierProxy;
use crate::refusal::Refusal;
use crate::typed::{
    self, TypedEntrance, TypedPushConsumerProxy, TypedPushSupplierProxy, id_of_entrance,
};

/// Makes a proxy for a supplier that pushes.
///
/// # Errors
/// The channel has as many proxies as it may have, or has been destroyed.
pub(crate) fn push_consumer(channel: &Arc<Channel>) -> Result<ProxyPushConsumer, Refusal> {
    let number = channel.common.objects.number();
    let proxy = Arc::new(PushConsumerProxy::new(channel.clone(), number, None));
    let servant = <ProxyPushConsumer as Implements<_>>::servant(proxy.clone());
    added(channel, number, proxy, servant)
}

/// Makes a proxy for a consumer that pulls.
///
/// # Errors
/// As of [`push_consumer`].
pub(crate) fn pull_supplier(channel: &Arc<Channel>) -> Result<ProxyPullSupplier, Refusal> {
    let number = channel.common.objects.number();
    let proxy = PullSupplierProxy::new(channel.clone(), number);
    let servant = <ProxyPullSupplier as Implements<_>>::servant(Amh::shared(proxy.clone()));
    added(channel, number, proxy, servant)
}

/// Makes a proxy for a supplier that is pulled from.
///
/// # Errors
/// As of [`push_consumer`].
pub(crate) fn pull_consumer(channel: &Arc<Channel>) -> Result<ProxyPullConsumer, Refusal> {
    let number = channel.common.objects.number();
    let proxy = PullConsumerProxy::new(channel.clone(), number);
    let servant = <ProxyPullConsumer as Implements<_>>::servant(proxy.clone());
    added(channel, number, proxy, servant)
}

/// Makes a proxy for a consumer that is pushed to.
///
/// # Errors
/// As of [`push_consumer`].
pub(crate) fn push_supplier(channel: &Arc<Channel>) -> Result<ProxyPushSupplier, Refusal> {
    let number = channel.common.objects.number();
    let proxy = PushSupplierProxy::new(channel.clone(), number, None);
    let servant = <ProxyPushSupplier as Implements<_>>::servant(proxy.clone());
    added(channel, number, proxy, servant)
}

/// Makes a proxy for a supplier that calls an interface.
///
/// # Errors
/// As of [`push_consumer`]; the interface has operations that are known otherwise.
pub(crate) fn typed_push_consumer(
    channel: &Arc<Channel>,
    interface: Arc<typed::Interface>,
) -> Result<TypedProxyPushConsumer, Refusal> {
    let number = channel.common.objects.number();
    Ok(made_typed_consumer(channel, number, interface)?.0)
}

/// Makes a proxy for a consumer whose object of an interface is called.
///
/// # Errors
/// As of [`typed_push_consumer`].
pub(crate) fn typed_push_supplier(
    channel: &Arc<Channel>,
    interface: Arc<typed::Interface>,
) -> Result<ProxyPushSupplier, Refusal> {
    let number = channel.common.objects.number();
    Ok(made_typed_supplier(channel, number, interface)?.0)
}

fn made_typed_consumer(
    channel: &Arc<Channel>,
    number: u64,
    interface: Arc<typed::Interface>,
) -> Result<(TypedProxyPushConsumer, Arc<PushConsumerProxy>), Refusal> {
    add_operations(channel, &interface)?;
    let proxy = PushConsumerProxy::new(channel.clone(), number, Some(interface.clone()));
    let proxy = Arc::new(proxy);
    let objects = &channel.common.objects;
    channel.add(number, proxy.clone())?;
    let id = objects.id_of(number);
    let entrance = TypedEntrance {
        proxy: proxy.clone(),
        interface: interface.clone(),
    };
    let servant = dynamic_servant(entrance);
    let made = objects.add_of(&id_of_entrance(&id), interface.id(), servant);
    let made = made.and_then(|entrance| {
        let proxy = proxy.clone();
        let typed = TypedPushConsumerProxy { proxy, entrance };
        let servant = <TypedProxyPushConsumer as Implements<_>>::servant(typed);
        objects.add(&id, servant)
    });
    match made {
        Ok(reference) => Ok((reference, proxy)),
        Err(error) => {
            proxy.end();
            Err(error.into())
        }
    }
}

fn made_typed_supplier(
    channel: &Arc<Channel>,
    number: u64,
    interface: Arc<typed::Interface>,
) -> Result<(ProxyPushSupplier, Arc<PushSupplierProxy>), Refusal> {
    let filter = add_operations(channel, &interface)?;
    let typed = Some((interface.clone(), filter));
    let proxy = PushSupplierProxy::new(channel.clone(), number, typed);
    let servant = Amh::new(TypedPushSupplierProxy::new(proxy.clone(), interface));
    let servant = <ProxyPushSupplier as Implements<_>>::servant(servant);
    Ok((added(channel, number, proxy.clone(), servant)?, proxy))
}

/// Adds the operations of an interface to those of the channel, and returns the filter of its events.
///
/// # Errors
/// One of them is known with other parameters, or there are too many.
fn add_operations(channel: &Channel, interface: &typed::Interface) -> Result<Filter, Refusal> {
    let added = channel.operations().add(interface);
    added.map_err(|reason| Refusal::Unsupported {
        id: interface.id().to_owned(),
        reason,
    })
}

/// Makes the proxy of a connection that was kept, with the interface of a typed one, and connects it.
///
/// # Errors
/// As of [`push_consumer`] and [`typed_push_consumer`]; the reference to the peer is missing.
pub(crate) fn restored(
    channel: &Arc<Channel>,
    number: u64,
    (kept, interface): (&Connection, Option<&EventInterface>),
    peer: Option<ObjectRef>,
) -> Result<(), Refusal> {
    let interface = interface.map(|record| Arc::new(typed::Interface::new(record.clone())));
    match (kept.kind, interface) {
        (Kind::PushConsumer, Some(interface)) => {
            let (_, proxy) = made_typed_consumer(channel, number, interface)?;
            return proxy.resume(peer.map(Interface::from_object));
        }
        (Kind::PushSupplier, Some(interface)) => {
            let peer = peer.ok_or(Refusal::Nil("consumer"))?;
            let (_, proxy) = made_typed_supplier(channel, number, interface)?;
            return proxy.resume(Interface::from_object(peer));
        }
        _ => {}
    }
    match kept.kind {
        Kind::PushConsumer => {
            let proxy = Arc::new(PushConsumerProxy::new(channel.clone(), number, None));
            let servant = <ProxyPushConsumer as Implements<_>>::servant(proxy.clone());
            added::<ProxyPushConsumer>(channel, number, proxy.clone(), servant)?;
            proxy.resume(peer.map(Interface::from_object))
        }
        Kind::PullSupplier => {
            let proxy = PullSupplierProxy::new(channel.clone(), number);
            let servant = <ProxyPullSupplier as Implements<_>>::servant(Amh::shared(proxy.clone()));
            added::<ProxyPullSupplier>(channel, number, proxy.clone(), servant)?;
            proxy.resume(peer.map(Interface::from_object))
        }
        Kind::PullConsumer => {
            let peer = peer.ok_or(Refusal::Nil("supplier"))?;
            let proxy = PullConsumerProxy::new(channel.clone(), number);
            let servant = <ProxyPullConsumer as Implements<_>>::servant(proxy.clone());
            added::<ProxyPullConsumer>(channel, number, proxy.clone(), servant)?;
            proxy.resume(Interface::from_object(peer))
        }
        Kind::PushSupplier => {
            let peer = peer.ok_or(Refusal::Nil("consumer"))?;
            let proxy = PushSupplierProxy::new(channel.clone(), number, None);
            let servant = <ProxyPushSupplier as Implements<_>>::servant(proxy.clone());
            added::<ProxyPushSupplier>(channel, number, proxy.clone(), servant)?;
            proxy.resume(Interface::from_object(peer))
        }
    }
}

/// Adds a proxy to its channel, and its object.
fn added<I: Interface>(
    channel: &Arc<Channel>,
    number: u64,
    proxy: Arc<dyn Proxy>,
    servant: Arc<dyn Servant>,
) -> Result<I, Refusal> {
    channel.add(number, proxy.clone())?;
    let objects = &channel.common.objects;
    let reference = objects.add(&objects.id_of(number), servant);
    if reference.is_err() {
        proxy.end();
    }
    Ok(reference?)
}
