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
use crate::cos_typed_event_channel_admin::{TypedProxyPullSupplier, TypedProxyPushConsumer};
use crate::kept::{Connection, EventInterface, ProxyKind as Kind};
use crate::proxy::Proxy;
use crate::pull_consumer::PullConsumerProxy;
use crate::pull_supplier::PullSupplierProxy;
use crate::push_consumer::PushConsumerProxy;
use crate::push_supplier::PushSupplierProxy;
use crate::refusal::Refusal;
use crate::typed::{
    self, PullExit, PullInterface, TypedEntrance, TypedPullConsumerProxy, TypedPullSupplierProxy,
    TypedPushConsumerProxy, TypedPushSupplierProxy, id_of_object,
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
    let proxy = PullSupplierProxy::new(channel.clone(), number, None);
    let servant = <ProxyPullSupplier as Implements<_>>::servant(Amh::shared(proxy.clone()));
    added(channel, number, proxy, servant)
}

/// Makes a proxy for a supplier that is pulled from.
///
/// # Errors
/// As of [`push_consumer`].
pub(crate) fn pull_consumer(channel: &Arc<Channel>) -> Result<ProxyPullConsumer, Refusal> {
    let number = channel.common.objects.number();
    let proxy = PullConsumerProxy::new(channel.clone(), number, None);
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

/// Makes a proxy for a consumer that pulls by an object of `Pull<I>`, where I is the interface.
///
/// # Errors
/// As of [`typed_push_consumer`]; there is no `Pull<I>`, or the IDL has another one.
pub(crate) fn typed_pull_supplier(
    channel: &Arc<Channel>,
    interface: Arc<typed::Interface>,
) -> Result<TypedProxyPullSupplier, Refusal> {
    let pulled = checked_to_pull(channel, interface)?;
    let number = channel.common.objects.number();
    Ok(made_typed_pull_supplier(channel, number, pulled)?.0)
}

/// Makes a proxy for a supplier from whose object of `Pull<I>` is pulled, where I is the interface.
///
/// # Errors
/// As of [`typed_pull_supplier`].
pub(crate) fn typed_pull_consumer(
    channel: &Arc<Channel>,
    interface: Arc<typed::Interface>,
) -> Result<ProxyPullConsumer, Refusal> {
    let pulled = checked_to_pull(channel, interface)?;
    let number = channel.common.objects.number();
    Ok(made_typed_pull_consumer(channel, number, pulled)?.0)
}

fn made_typed_consumer(
    channel: &Arc<Channel>,
    number: u64,
    interface: Arc<typed::Interface>,
) -> Result<(TypedProxyPushConsumer, Arc<PushConsumerProxy>), Refusal> {
    add_operations(channel, &interface)?;
    let proxy = PushConsumerProxy::new(channel.clone(), number, Some(interface.clone()));
    let proxy = Arc::new(proxy);
    let entrance = dynamic_servant(TypedEntrance {
        proxy: proxy.clone(),
        interface: interface.clone(),
    });
    let typed = |entrance| {
        let proxy = proxy.clone();
        let typed = TypedPushConsumerProxy { proxy, entrance };
        <TypedProxyPushConsumer as Implements<_>>::servant(typed)
    };
    let called = (interface.id(), entrance);
    let reference = added_with(channel, number, proxy.clone(), called, typed)?;
    Ok((reference, proxy))
}

fn made_typed_pull_supplier(
    channel: &Arc<Channel>,
    number: u64,
    pulled: PullInterface,
) -> Result<(TypedProxyPullSupplier, Arc<PullSupplierProxy>), Refusal> {
    let interface = pulled.interface().clone();
    let filter = add_operations(channel, &interface)?;
    let proxy = PullSupplierProxy::new(channel.clone(), number, Some((interface, filter)));
    let id = pulled.id().to_owned();
    let exit = dynamic_servant(PullExit {
        proxy: proxy.clone(),
        interface: pulled,
    });
    let typed = |object| {
        let proxy = proxy.clone();
        let servant = Amh::new(TypedPullSupplierProxy { proxy, object });
        <TypedProxyPullSupplier as Implements<_>>::servant(servant)
    };
    let reference = added_with(channel, number, proxy.clone(), (&id, exit), typed)?;
    Ok((reference, proxy))
}

fn made_typed_pull_consumer(
    channel: &Arc<Channel>,
    number: u64,
    pulled: PullInterface,
) -> Result<(ProxyPullConsumer, Arc<PullConsumerProxy>), Refusal> {
    add_operations(channel, pulled.interface())?;
    let proxy = PullConsumerProxy::new(channel.clone(), number, Some(pulled));
    let servant = Amh::new(TypedPullConsumerProxy::new(proxy.clone()));
    let servant = <ProxyPullConsumer as Implements<_>>::servant(servant);
    Ok((added(channel, number, proxy.clone(), servant)?, proxy))
}

/// Adds a typed proxy to its channel, the object that its peer calls, with its repository id, and that of the proxy.
fn added_with<I: Interface>(
    channel: &Arc<Channel>,
    number: u64,
    proxy: Arc<dyn Proxy>,
    (interface, called): (&str, Arc<dyn Servant>),
    servant: impl FnOnce(ObjectRef) -> Arc<dyn Servant>,
) -> Result<I, Refusal> {
    channel.add(number, proxy.clone())?;
    let objects = &channel.common.objects;
    let id = objects.id_of(number);
    let made = objects.add_of(&id_of_object(&id), interface, called);
    let made = made.and_then(|object| objects.add(&id, servant(object)));
    made.map_err(|error| {
        proxy.end();
        error.into()
    })
}

/// Returns the interface `Pull<I>`, where I is the interface, for a new proxy.
///
/// # Errors
/// As of [`pulled`]; the IDL has another `Pull<I>`.
fn checked_to_pull(
    channel: &Channel,
    interface: Arc<typed::Interface>,
) -> Result<PullInterface, Refusal> {
    let pulled = pulled(channel, interface)?;
    let checked = channel.common.interfaces.check_pulled(&pulled);
    checked.map_err(|reason| unsupported(pulled.id(), reason))?;
    Ok(pulled)
}

/// Returns the interface `Pull<I>`, where I is the interface.
///
/// # Errors
/// There is none, or its events would be too large.
fn pulled(channel: &Channel, interface: Arc<typed::Interface>) -> Result<PullInterface, Refusal> {
    let id = interface.id().to_owned();
    let made = PullInterface::of(interface, channel.limits().event_bytes);
    made.map_err(|reason| unsupported(&id, reason))
}

fn unsupported(id: &str, reason: String) -> Refusal {
    let id = id.to_owned();
    Refusal::Unsupported { id, reason }
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
    added.map_err(|reason| unsupported(interface.id(), reason))
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
        (Kind::PullSupplier, Some(interface)) => {
            let pulled = pulled(channel, interface)?;
            let (_, proxy) = made_typed_pull_supplier(channel, number, pulled)?;
            return proxy.resume(peer.map(Interface::from_object));
        }
        (Kind::PullConsumer, Some(interface)) => {
            let peer = peer.ok_or(Refusal::Nil("supplier"))?;
            let pulled = pulled(channel, interface)?;
            let (_, proxy) = made_typed_pull_consumer(channel, number, pulled)?;
            return proxy.resume(Interface::from_object(peer));
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
            let proxy = PullSupplierProxy::new(channel.clone(), number, None);
            let servant = <ProxyPullSupplier as Implements<_>>::servant(Amh::shared(proxy.clone()));
            added::<ProxyPullSupplier>(channel, number, proxy.clone(), servant)?;
            proxy.resume(peer.map(Interface::from_object))
        }
        Kind::PullConsumer => {
            let peer = peer.ok_or(Refusal::Nil("supplier"))?;
            let proxy = PullConsumerProxy::new(channel.clone(), number, None);
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
