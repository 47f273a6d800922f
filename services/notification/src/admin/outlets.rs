//! Objects of the proxies of consumers.

use std::sync::Arc;

use punctual::asynchronous::Amh;
use punctual::{Implements, Interface};

use crate::client::{Form, Style};
use crate::cos_event_channel_admin as event_admin;
use crate::cos_notify_channel_admin::{self as admin, ProxySupplier};
use crate::outlet::Outlet;
use crate::refusal::Refusal;

/// Adds the object of a proxy, with the interface of its kind.
///
/// # Errors
/// Its reference cannot be made.
pub(super) fn serve(outlet: &Arc<Outlet>) -> Result<ProxySupplier, Refusal> {
    fn added<I>(outlet: &Arc<Outlet>) -> Result<ProxySupplier, Refusal>
    where
        I: Interface + Implements<Amh<Outlet>> + Into<ProxySupplier>,
    {
        let servant = I::servant(Amh::shared(outlet.clone()));
        let objects = &outlet.base.common.objects;
        let id = objects.id_of(outlet.base.stated.number);
        Ok(objects.add::<I>(&id, servant)?.into())
    }
    match (outlet.base.form, outlet.base.style) {
        (Form::Any, Style::Push) => added::<admin::ProxyPushSupplier>(outlet),
        (Form::Any, Style::Pull) => added::<admin::ProxyPullSupplier>(outlet),
        (Form::Structured, Style::Push) => added::<admin::StructuredProxyPushSupplier>(outlet),
        (Form::Structured, Style::Pull) => added::<admin::StructuredProxyPullSupplier>(outlet),
        (Form::Sequence, Style::Push) => added::<admin::SequenceProxyPushSupplier>(outlet),
        (Form::Sequence, Style::Pull) => added::<admin::SequenceProxyPullSupplier>(outlet),
    }
}

/// Adds the object of a proxy with an interface of the Event Service.
///
/// # Errors
/// Its reference cannot be made.
pub(super) fn serve_plain<I>(outlet: &Arc<Outlet>) -> Result<I, Refusal>
where
    I: Interface + Implements<Amh<Outlet>>,
{
    let servant = I::servant(Amh::shared(outlet.clone()));
    let objects = &outlet.base.common.objects;
    Ok(objects.add(&objects.id_of(outlet.base.stated.number), servant)?)
}

/// Adds the object of a proxy with the interface of the Event Service that is of its style.
///
/// # Errors
/// Its reference cannot be made.
pub(super) fn serve_as_plain(outlet: &Arc<Outlet>) -> Result<(), Refusal> {
    match outlet.base.style {
        Style::Push => serve_plain::<event_admin::ProxyPushSupplier>(outlet).map(drop),
        Style::Pull => serve_plain::<event_admin::ProxyPullSupplier>(outlet).map(drop),
    }
}
