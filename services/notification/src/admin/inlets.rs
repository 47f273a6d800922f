//! Objects of the proxies of suppliers.

use std::sync::Arc;

use punctual::{Implements, Interface};

use crate::client::{Form, Style};
use crate::cos_event_channel_admin as event_admin;
use crate::cos_notify_channel_admin::{self as admin, ProxyConsumer};
use crate::inlet::{self, Inlet};
use crate::refusal::Refusal;

/// Adds the object of a proxy, with the interface of its kind.
///
/// # Errors
/// Its reference cannot be made.
pub(super) fn serve(inlet: &Arc<Inlet>) -> Result<ProxyConsumer, Refusal> {
    fn added<I>(inlet: &Arc<Inlet>) -> Result<ProxyConsumer, Refusal>
    where
        I: Interface + Implements<Arc<Inlet>> + Into<ProxyConsumer>,
    {
        Ok(serve_plain::<I>(inlet)?.into())
    }
    match (inlet.base.form, inlet.base.style) {
        (Form::Any, Style::Push) => added::<admin::ProxyPushConsumer>(inlet),
        (Form::Any, Style::Pull) => added::<admin::ProxyPullConsumer>(inlet),
        (Form::Structured, Style::Push) => added::<admin::StructuredProxyPushConsumer>(inlet),
        (Form::Structured, Style::Pull) => added::<admin::StructuredProxyPullConsumer>(inlet),
        (Form::Sequence, Style::Push) => added::<admin::SequenceProxyPushConsumer>(inlet),
        (Form::Sequence, Style::Pull) => added::<admin::SequenceProxyPullConsumer>(inlet),
    }
}

/// Adds the object of a proxy with one of its interfaces.
///
/// # Errors
/// Its reference cannot be made.
pub(super) fn serve_plain<I>(inlet: &Arc<Inlet>) -> Result<I, Refusal>
where
    I: Interface + Implements<Arc<Inlet>>,
{
    let servant = inlet::servant(inlet, I::servant(inlet.clone()));
    let objects = &inlet.base.common.objects;
    Ok(objects.add(&objects.id_of(inlet.base.stated.number), servant)?)
}

/// Adds the object of a proxy with the interface of the Event Service that is of its style.
///
/// # Errors
/// Its reference cannot be made.
pub(super) fn serve_as_plain(inlet: &Arc<Inlet>) -> Result<(), Refusal> {
    match inlet.base.style {
        Style::Push => serve_plain::<event_admin::ProxyPushConsumer>(inlet).map(drop),
        Style::Pull => serve_plain::<event_admin::ProxyPullConsumer>(inlet).map(drop),
    }
}
