//! Proxies that are connected for clients whose references a file has.

use super::Side;
use crate::call::Problem;
use crate::notify::channel::failed;
use crate::notify::kinds::{Form, Kind};
use punctual::{Interface, NotNil, ObjectRef};
use punctual_notification::cos_event_comm::{
    PullConsumer, PullSupplier, PushConsumer, PushSupplier,
};
use punctual_notification::cos_notify_channel_admin as admin;
use punctual_notification::cos_notify_channel_admin::{ClientType, ConsumerAdmin, SupplierAdmin};
use punctual_notification::cos_notify_comm as comm;

/// Obtains a proxy of an administrator.
///
/// # Errors
/// The service refuses it.
pub(super) fn obtain(side: Side, admin: &ObjectRef, kind: Kind) -> Result<ObjectRef, Problem> {
    let client = match kind.form {
        Form::Any => ClientType::AnyEvent,
        Form::Structured => ClientType::StructuredEvent,
        Form::Sequence => ClientType::SequenceEvent,
    };
    let admin = admin.clone();
    let object = match side {
        Side::Consumers => {
            let admin = ConsumerAdmin::from_object(admin);
            let (proxy, _) = match kind.is_push {
                true => admin
                    .obtain_notification_push_supplier(client)
                    .map_err(failed)?,
                false => admin
                    .obtain_notification_pull_supplier(client)
                    .map_err(failed)?,
            };
            proxy.not_nil().map_err(failed)?.as_object().clone()
        }
        Side::Suppliers => {
            let admin = SupplierAdmin::from_object(admin);
            let (proxy, _) = match kind.is_push {
                true => admin
                    .obtain_notification_push_consumer(client)
                    .map_err(failed)?,
                false => admin
                    .obtain_notification_pull_consumer(client)
                    .map_err(failed)?,
            };
            proxy.not_nil().map_err(failed)?.as_object().clone()
        }
    };
    Ok(object)
}

/// Calls the operation that connects a client.
macro_rules! connected {
    ($proxy:expr, $client:expr, $of_proxy:ty, $of_client:ty, $operation:ident) => {
        <$of_proxy>::from_object($proxy)
            .$operation(Some(&<$of_client>::from_object($client)))
            .map_err(failed)
    };
}

/// Connects a client to a proxy.
///
/// # Errors
/// The service refuses it.
pub(super) fn connect(
    side: Side,
    kind: Kind,
    proxy: ObjectRef,
    client: ObjectRef,
) -> Result<(), Problem> {
    match side {
        Side::Consumers => connect_consumer(kind, proxy, client),
        Side::Suppliers => connect_supplier(kind, proxy, client),
    }
}

#[rustfmt::skip]
fn connect_consumer(kind: Kind, proxy: ObjectRef, client: ObjectRef) -> Result<(), Problem> {
    match (kind.form, kind.is_push) {
        (Form::Any, true) =>
            connected!(proxy, client, admin::ProxyPushSupplier, PushConsumer, connect_any_push_consumer),
        (Form::Any, false) =>
            connected!(proxy, client, admin::ProxyPullSupplier, PullConsumer, connect_any_pull_consumer),
        (Form::Structured, true) =>
            connected!(proxy, client, admin::StructuredProxyPushSupplier, comm::StructuredPushConsumer, connect_structured_push_consumer),
        (Form::Structured, false) =>
            connected!(proxy, client, admin::StructuredProxyPullSupplier, comm::StructuredPullConsumer, connect_structured_pull_consumer),
        (Form::Sequence, true) =>
            connected!(proxy, client, admin::SequenceProxyPushSupplier, comm::SequencePushConsumer, connect_sequence_push_consumer),
        (Form::Sequence, false) =>
            connected!(proxy, client, admin::SequenceProxyPullSupplier, comm::SequencePullConsumer, connect_sequence_pull_consumer),
    }
}

#[rustfmt::skip]
fn connect_supplier(kind: Kind, proxy: ObjectRef, client: ObjectRef) -> Result<(), Problem> {
    match (kind.form, kind.is_push) {
        (Form::Any, true) =>
            connected!(proxy, client, admin::ProxyPushConsumer, PushSupplier, connect_any_push_supplier),
        (Form::Any, false) =>
            connected!(proxy, client, admin::ProxyPullConsumer, PullSupplier, connect_any_pull_supplier),
        (Form::Structured, true) =>
            connected!(proxy, client, admin::StructuredProxyPushConsumer, comm::StructuredPushSupplier, connect_structured_push_supplier),
        (Form::Structured, false) =>
            connected!(proxy, client, admin::StructuredProxyPullConsumer, comm::StructuredPullSupplier, connect_structured_pull_supplier),
        (Form::Sequence, true) =>
            connected!(proxy, client, admin::SequenceProxyPushConsumer, comm::SequencePushSupplier, connect_sequence_push_supplier),
        (Form::Sequence, false) =>
            connected!(proxy, client, admin::SequenceProxyPullConsumer, comm::SequencePullSupplier, connect_sequence_pull_supplier),
    }
}
