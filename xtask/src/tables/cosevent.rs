//! Required rows of the table of the Event Service.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/cosevent.md",
    interfaces: INTERFACES,
    others: &[],
};

/// Interfaces of the modules CosEventComm, CosEventChannelAdmin, CosTypedEventComm and CosTypedEventChannelAdmin (Event
/// Service 1.2), and those of omniEvents' factory.
const INTERFACES: &[(&str, &[&str])] = &[
    ("PushConsumer", &["push", "disconnect_push_consumer"]),
    ("PushSupplier", &["disconnect_push_supplier"]),
    (
        "PullSupplier",
        &["pull", "try_pull", "disconnect_pull_supplier"],
    ),
    ("PullConsumer", &["disconnect_pull_consumer"]),
    ("ProxyPushConsumer", &["connect_push_supplier"]),
    ("ProxyPullSupplier", &["connect_pull_consumer"]),
    ("ProxyPullConsumer", &["connect_pull_supplier"]),
    ("ProxyPushSupplier", &["connect_push_consumer"]),
    (
        "ConsumerAdmin",
        &["obtain_push_supplier", "obtain_pull_supplier"],
    ),
    (
        "SupplierAdmin",
        &["obtain_push_consumer", "obtain_pull_consumer"],
    ),
    (
        "EventChannel",
        &["for_consumers", "for_suppliers", "destroy"],
    ),
    ("TypedPushConsumer", &["get_typed_consumer"]),
    ("TypedPullSupplier", &["get_typed_supplier"]),
    (
        "TypedSupplierAdmin",
        &["obtain_typed_push_consumer", "obtain_typed_pull_consumer"],
    ),
    (
        "TypedConsumerAdmin",
        &["obtain_typed_pull_supplier", "obtain_typed_push_supplier"],
    ),
    ("GenericFactory", &["supports", "create_object"]),
    ("PullMonitorable", &["is_alive"]),
    ("EventChannelFactory", &["create_channel", "join_channel"]),
];
