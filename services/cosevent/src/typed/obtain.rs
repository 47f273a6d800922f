//! Typed proxies are made: for administrators, and anew for connections that were kept.

use std::sync::Arc;

use punctual::asynchronous::Amh;
use punctual::dynamic::dynamic_servant;
use punctual::{Implements, ObjectRef, Servant};
use punctual_rtevent::Filter;

use super::{
    Interface, PullExit, PullInterface, TypedEntrance, TypedPullConsumerProxy,
    TypedPullSupplierProxy, TypedPushConsumerProxy, TypedPushSupplierProxy, id_of_object,
};
use crate::channel::Channel;
use crate::cos_event_channel_admin::{ProxyPullConsumer, ProxyPushSupplier};
use crate::cos_typed_event_channel_admin::{TypedProxyPullSupplier, TypedProxyPushConsumer};
use crate::kept::ProxyKind as Kind;
use crate::obtain::added;
use crate::proxy::Proxy;
use crate::pull_consumer::PullConsumerProxy;
use crate::pull_supplier::PullSupplierProxy;
use crate::push_consumer::PushConsumerProxy;
use crate::push_supplier::PushSupplierProxy;
use crate::refusal::Refusal;

/// Makes a proxy for a supplier that calls an interface.
///
/// # Errors
/// As of [`push_consumer`]; the interface has operations that are known otherwise.
pub(crate) fn push_consumer(
    channel: &Arc<Channel>,
    interface: Arc<Interface>,
) -> Result<TypedProxyPushConsumer, Refusal> {
    let number = channel.common.objects.number();
    Ok(made_push_consumer(channel, number, interface)?.0)
}

/// Makes a proxy for a consumer whose object of an interface is called.
///
/// # Errors
/// As of [`push_consumer`].
pub(crate) fn push_supplier(
    channel: &Arc<Channel>,
    interface: Arc<Interface>,
) -> Result<ProxyPushSupplier, Refusal> {
    let number = channel.common.objects.number();
    Ok(made_push_supplier(channel, number, interface)?.0)
}

/// Makes a proxy for a consumer that pulls by an object of `Pull<I>`, where I is the interface.
///
/// # Errors
/// As of [`push_consumer`]; there is no `Pull<I>`, or the IDL has another one.
pub(crate) fn pull_supplier(
    channel: &Arc<Channel>,
    interface: Arc<Interface>,
) -> Result<TypedProxyPullSupplier, Refusal> {
    let pulled = checked_to_pull(channel, interface)?;
    let number = channel.common.objects.number();
    Ok(made_pull_supplier(channel, number, pulled)?.0)
}

/// Makes a proxy for a supplier from whose object of `Pull<I>` is pulled, where I is the interface.
///
/// # Errors
/// As of [`pull_supplier`].
pub(crate) fn pull_consumer(
    channel: &Arc<Channel>,
    interface: Arc<Interface>,
) -> Result<ProxyPullConsumer, Refusal> {
    let pulled = checked_to_pull(channel, interface)?;
    let number = channel.common.objects.number();
    Ok(made_pull_consumer(channel, number, pulled)?.0)
}

/// Makes the proxy of a connection that was kept, with its interface, and connects it.
///
/// # Errors
/// As of [`push_consumer`]; the reference to the peer is missing.
pub(crate) fn restored(
    channel: &Arc<Channel>,
    number: u64,
    (kind, interface): (Kind, Arc<Interface>),
    peer: Option<ObjectRef>,
) -> Result<(), Refusal> {
    let peer_of = |what| peer.clone().ok_or(Refusal::Nil(what));
    match kind {
        Kind::PushConsumer => {
            let (_, proxy) = made_push_consumer(channel, number, interface)?;
            proxy.resume(peer.map(punctual::Interface::from_object))
        }
        Kind::PullSupplier => {
            let (_, proxy) = made_pull_supplier(channel, number, pulled(channel, interface)?)?;
            proxy.resume(peer.map(punctual::Interface::from_object))
        }
        Kind::PullConsumer => {
            let peer = peer_of("supplier")?;
            let (_, proxy) = made_pull_consumer(channel, number, pulled(channel, interface)?)?;
            proxy.resume(punctual::Interface::from_object(peer))
        }
        Kind::PushSupplier => {
            let peer = peer_of("consumer")?;
            let (_, proxy) = made_push_supplier(channel, number, interface)?;
            proxy.resume(punctual::Interface::from_object(peer))
        }
    }
}

fn made_push_consumer(
    channel: &Arc<Channel>,
    number: u64,
    interface: Arc<Interface>,
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

fn made_pull_supplier(
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

fn made_pull_consumer(
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

fn made_push_supplier(
    channel: &Arc<Channel>,
    number: u64,
    interface: Arc<Interface>,
) -> Result<(ProxyPushSupplier, Arc<PushSupplierProxy>), Refusal> {
    let filter = add_operations(channel, &interface)?;
    let typed = Some((interface.clone(), filter));
    let proxy = PushSupplierProxy::new(channel.clone(), number, typed);
    let servant = Amh::new(TypedPushSupplierProxy::new(proxy.clone(), interface));
    let servant = <ProxyPushSupplier as Implements<_>>::servant(servant);
    Ok((added(channel, number, proxy.clone(), servant)?, proxy))
}

/// Adds a typed proxy to its channel, the object that its peer calls, with its repository id, and that of the proxy.
fn added_with<I: punctual::Interface>(
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

/// Adds the operations of an interface to those of the channel, and returns the filter of its events.
///
/// # Errors
/// One of them is known with other parameters, or there are too many.
fn add_operations(channel: &Channel, interface: &Interface) -> Result<Filter, Refusal> {
    let added = channel.operations().add(interface);
    added.map_err(|reason| unsupported(interface.id(), reason))
}

/// Returns the interface `Pull<I>`, where I is the interface, for a new proxy.
///
/// # Errors
/// As of [`pulled`]; the IDL has another `Pull<I>`.
fn checked_to_pull(channel: &Channel, interface: Arc<Interface>) -> Result<PullInterface, Refusal> {
    let pulled = pulled(channel, interface)?;
    let checked = channel.common.interfaces.check_pulled(&pulled);
    checked.map_err(|reason| unsupported(pulled.id(), reason))?;
    Ok(pulled)
}

/// Returns the interface `Pull<I>`, where I is the interface.
///
/// # Errors
/// There is none, or its events would be too large.
fn pulled(channel: &Channel, interface: Arc<Interface>) -> Result<PullInterface, Refusal> {
    let id = interface.id().to_owned();
    let made = PullInterface::of(interface, channel.limits().event_bytes);
    made.map_err(|reason| unsupported(&id, reason))
}

fn unsupported(id: &str, reason: String) -> Refusal {
    let id = id.to_owned();
    Refusal::Unsupported { id, reason }
}
