//! Proxies are made: for administrators, and anew for connections that were kept.

use std::sync::Arc;

use punctual::asynchronous::Amh;
use punctual::{Implements, Interface, ObjectRef, Servant};

use crate::channel::Channel;
use crate::cos_event_channel_admin::{
    ProxyPullConsumer, ProxyPullSupplier, ProxyPushConsumer, ProxyPushSupplier,
};
use crate::kept::{Connection, ProxyKind as Kind};
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
    let proxy = Arc::new(PushConsumerProxy::new(channel.clone(), number));
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
    let proxy = PushSupplierProxy::new(channel.clone(), number);
    let servant = <ProxyPushSupplier as Implements<_>>::servant(proxy.clone());
    added(channel, number, proxy, servant)
}

/// Makes the proxy of a connection that was kept, and connects it.
///
/// # Errors
/// As of [`push_consumer`]; the reference to the peer is missing.
pub(crate) fn restored(
    channel: &Arc<Channel>,
    number: u64,
    kept: &Connection,
    peer: Option<ObjectRef>,
) -> Result<(), Refusal> {
    match kept.kind {
        Kind::PushConsumer => {
            let proxy = Arc::new(PushConsumerProxy::new(channel.clone(), number));
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
            let proxy = PushSupplierProxy::new(channel.clone(), number);
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
