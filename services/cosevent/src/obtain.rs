//! Proxies are made: for administrators, and anew for connections that were kept.

use std::sync::Arc;

use punctual::asynchronous::Amh;
use punctual::{Implements, Interface, ObjectRef, Servant};

use crate::channel::Channel;
use crate::cos_event_channel_admin::{
    ProxyPullConsumer, ProxyPullSupplier, ProxyPushConsumer, ProxyPushSupplier,
};
use crate::kept::ProxyKind as Kind;
use crate::proxy::Proxy;
use crate::pull_consumer::PullConsumerProxy;
use crate::pull_supplier::PullSupplierProxy;
use crate::push_consumer::PushConsumerProxy;
use crate::push_supplier::PushSupplierProxy;
use crate::refusal::Refusal;

/// Makes a proxy for a supplier that pushes.
///
/// # Errors
/// The channel has as many proxies as it may have, or has been destroyed.
pub(crate) fn push_consumer(channel: &Arc<Channel>) -> Result<ProxyPushConsumer, Refusal> {
    let number = channel.common.objects.number();
    Ok(made_push_consumer(channel, number)?.0)
}

/// Makes a proxy for a consumer that pulls.
///
/// # Errors
/// As of [`push_consumer`].
pub(crate) fn pull_supplier(channel: &Arc<Channel>) -> Result<ProxyPullSupplier, Refusal> {
    let number = channel.common.objects.number();
    Ok(made_pull_supplier(channel, number)?.0)
}

/// Makes a proxy for a supplier that is pulled from.
///
/// # Errors
/// As of [`push_consumer`].
pub(crate) fn pull_consumer(channel: &Arc<Channel>) -> Result<ProxyPullConsumer, Refusal> {
    let number = channel.common.objects.number();
    Ok(made_pull_consumer(channel, number)?.0)
}

/// Makes a proxy for a consumer that is pushed to.
///
/// # Errors
/// As of [`push_consumer`].
pub(crate) fn push_supplier(channel: &Arc<Channel>) -> Result<ProxyPushSupplier, Refusal> {
    let number = channel.common.objects.number();
    Ok(made_push_supplier(channel, number)?.0)
}

/// Makes the proxy of a connection that was kept, and connects it.
///
/// # Errors
/// As of [`push_consumer`]; the reference to the peer is missing.
pub(crate) fn restored(
    channel: &Arc<Channel>,
    number: u64,
    kind: Kind,
    peer: Option<ObjectRef>,
) -> Result<(), Refusal> {
    let peer_of = |what| peer.clone().ok_or(Refusal::Nil(what));
    match kind {
        Kind::PushConsumer => {
            let (_, proxy) = made_push_consumer(channel, number)?;
            proxy.resume(peer.map(Interface::from_object))
        }
        Kind::PullSupplier => {
            let (_, proxy) = made_pull_supplier(channel, number)?;
            proxy.resume(peer.map(Interface::from_object))
        }
        Kind::PullConsumer => {
            let peer = peer_of("supplier")?;
            let (_, proxy) = made_pull_consumer(channel, number)?;
            proxy.resume(Interface::from_object(peer))
        }
        Kind::PushSupplier => {
            let peer = peer_of("consumer")?;
            let (_, proxy) = made_push_supplier(channel, number)?;
            proxy.resume(Interface::from_object(peer))
        }
    }
}

fn made_push_consumer(
    channel: &Arc<Channel>,
    number: u64,
) -> Result<(ProxyPushConsumer, Arc<PushConsumerProxy>), Refusal> {
    let proxy = Arc::new(PushConsumerProxy::new(channel.clone(), number, None));
    let servant = <ProxyPushConsumer as Implements<_>>::servant(proxy.clone());
    Ok((added(channel, number, proxy.clone(), servant)?, proxy))
}

fn made_pull_supplier(
    channel: &Arc<Channel>,
    number: u64,
) -> Result<(ProxyPullSupplier, Arc<PullSupplierProxy>), Refusal> {
    let proxy = PullSupplierProxy::new(channel.clone(), number, None);
    let servant = <ProxyPullSupplier as Implements<_>>::servant(Amh::shared(proxy.clone()));
    Ok((added(channel, number, proxy.clone(), servant)?, proxy))
}

fn made_pull_consumer(
    channel: &Arc<Channel>,
    number: u64,
) -> Result<(ProxyPullConsumer, Arc<PullConsumerProxy>), Refusal> {
    let proxy = PullConsumerProxy::new(channel.clone(), number, None);
    let servant = <ProxyPullConsumer as Implements<_>>::servant(proxy.clone());
    Ok((added(channel, number, proxy.clone(), servant)?, proxy))
}

fn made_push_supplier(
    channel: &Arc<Channel>,
    number: u64,
) -> Result<(ProxyPushSupplier, Arc<PushSupplierProxy>), Refusal> {
    let proxy = PushSupplierProxy::new(channel.clone(), number, None);
    let servant = <ProxyPushSupplier as Implements<_>>::servant(proxy.clone());
    Ok((added(channel, number, proxy.clone(), servant)?, proxy))
}

/// Adds a proxy to its channel, and its object.
///
/// # Errors
/// As of [`push_consumer`].
pub(crate) fn added<I: Interface>(
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
