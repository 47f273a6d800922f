//! Required rows of docs/events.md: every node of a filter, and every policy of queues and dispatching.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/events.md",
    interfaces: &[],
    others: &[
        NODES,
        CONVENTIONS,
        CONNECTIONS,
        DISPATCHING,
        OVERFLOW,
        CLOCKS,
    ],
};

/// Nodes of filters, by the functions that make them.
const NODES: &[&str] = &[
    "event", "null", "any_of", "all_of", "both", "not", "bitmask", "masked", "timeout", "interval",
    "deadline",
];

const CONVENTIONS: &[&str] = &["prefix", "basic"];

const CONNECTIONS: &[&str] = &[
    "push",
    "change",
    "suspend",
    "disconnect",
    "destroy",
    "observers",
    "gateways",
    "failures",
    "liveness",
];

const DISPATCHING: &[&str] = &["Reactive", "Threads", "Pool", "Lanes", "Dispatcher"];

const OVERFLOW: &[&str] = &[
    "DropOldest",
    "DropNewest",
    "LatestOfSource",
    "Block",
    "Disconnect",
];

const CLOCKS: &[&str] = &["Monotonic", "Manual"];
