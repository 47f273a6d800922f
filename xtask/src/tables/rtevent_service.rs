//! Required rows of docs/rtevent-service.md: every operation of TAO's interfaces, every kind of link, and what pushes share.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/rtevent-service.md",
    interfaces: INTERFACES,
    others: &[LINKS, PUSHES],
};

const LINKS: &[&str] = &["reference", "udp", "multicast"];

/// What pushes to several consumers, and one after the other, share.
const PUSHES: &[&str] = &["encoding", "memory"];

/// Interfaces of RtecEventComm and RtecEventChannelAdmin (TAO 2.2.1), and of PunctualEvents.
const INTERFACES: &[(&str, &[&str])] = &[
    ("PushConsumer", &["push", "disconnect_push_consumer"]),
    ("PushSupplier", &["disconnect_push_supplier"]),
    (
        "ProxyPushSupplier",
        &[
            "connect_push_consumer",
            "suspend_connection",
            "resume_connection",
        ],
    ),
    ("ProxyPushConsumer", &["connect_push_supplier"]),
    ("ConsumerAdmin", &["obtain_push_supplier"]),
    ("SupplierAdmin", &["obtain_push_consumer"]),
    ("Observer", &["update_consumer", "update_supplier"]),
    (
        "EventChannel",
        &[
            "for_consumers",
            "for_suppliers",
            "destroy",
            "append_observer",
            "remove_observer",
        ],
    ),
    ("AddrServer", &["get_addr", "get_address"]),
    ("Channel", &["counts"]),
];
