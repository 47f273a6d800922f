//! `[limits]`. Below the lower bounds no call would succeed; above the upper bounds the limits would
//! have no effect.
//!
//! Zero does not mean "no limit" here, as it does for times: a limit of zero would reject every
//! message.

use crate::config::settings::bounds::Unit;
use crate::config::settings::section::Section;
use crate::config::settings::setting::{Setting, field};

/// Minimum of the settings `string` and `sequence`: system exceptions are identified by strings of
/// up to 45 bytes, and objects by keys, which are sequences.
const LEAST_TEXT: u64 = 64;

/// Minimum of `received`: only messages of more than 16 KiB count.
const LEAST_RECEIVED: u64 = 16 << 10;

/// Maximum of `threads`: Linux allows at most four times as many threads for all processes
/// together.
const MOST_THREADS: u64 = 1 << 20;

/// Maximum of `message`: the length of a message has 32 bits on the wire.
const LONGEST_MESSAGE: u64 = 4 << 30;

pub(super) const SECTION: Section = Section {
    name: "limits",
    doc: "Limits on what a peer may send, and on the resources that all peers together may use.",
    open: None,
    settings: &[
        Setting::new(
            "message",
            field!(limits.message),
            "Longest message, header included, fragments put together; what is sent is bounded by it, too. The \
             receiver answers a longer one with MessageError and closes the connection. So it does with a message in \
             more than 1,024 fragments, if these are also more than one for each 512 bytes of this limit.",
        )
        .option("-ORBMaxMessageSize")
        .unit(Unit::Bytes)
        .at_least(1024)
        .at_most(LONGEST_MESSAGE),
        Setting::new(
            "string",
            field!(limits.string),
            "Longest string or wide string as encoded, without a terminating NUL. A longer one raises MARSHAL.",
        )
        .unit(Unit::Bytes)
        .at_least(LEAST_TEXT),
        Setting::new(
            "sequence",
            field!(limits.sequence),
            "Largest number of elements of one sequence. A longer sequence raises MARSHAL. A sequence that announces \
             more elements than its message has bytes for is refused whatever this limit is.",
        )
        .unit(Unit::Count("elements"))
        .at_least(LEAST_TEXT),
        Setting::new(
            "nesting",
            field!(limits.nesting),
            "Deepest nesting of values of recursive types, in levels; up to 1,000 is safe on a thread with the usual \
             stack. A deeper value raises MARSHAL.",
        )
        .at_least(1),
        Setting::new(
            "values",
            field!(limits.values),
            "Largest number of values (of valuetypes) in one message. More raise MARSHAL. A value may take as little \
             as 4 bytes of a message, and takes some 200 in memory.",
        )
        .at_least(1),
        Setting::new(
            "fragments_pending",
            field!(limits.fragments_pending),
            "Largest number of unfinished fragmented messages on one connection. One more closes the connection.",
        )
        .at_least(1),
        Setting::new(
            "fragments_bytes",
            field!(limits.fragments_bytes),
            "Largest number of bytes that the unfinished fragmented messages of one connection may hold together. \
             More close the connection.",
        )
        .unit(Unit::Bytes)
        .at_least(1024),
        Setting::new(
            "received",
            field!(budgets.received),
            "Bytes of messages longer than 16 KiB that are arriving, whose requests or replies are in progress, or that \
             are replies that have not been sent; of requests that servants keep to answer later; and of results that \
             servants count. Default: a quarter of the memory, at most 4 GiB. When there are more, the ORB closes the \
             largest connection of the peer that holds most, or answers NO_RESOURCES if that is a reply that was just \
             made; one peer (a host) may hold three quarters.",
        )
        .unit(Unit::Bytes)
        .at_least(LEAST_RECEIVED)
        .by_machine("4294967296"),
        Setting::new(
            "threads",
            field!(budgets.threads),
            "Threads beyond one for each connection, which receive while other threads of their connection are in \
             upcalls. Default: one for each MiB of memory, from 64 to 4,096. The last quarter is for connections that \
             have fewer than 8.",
        )
        .unit(Unit::Count("threads"))
        .at_least(1)
        .at_most(MOST_THREADS)
        .by_machine("4096"),
        Setting::new(
            "requests_per_connection",
            field!(budgets.requests_per_connection),
            "Requests of one connection that may be in upcalls at once, on threads of their own. Further requests \
             wait.",
        )
        .at_least(1),
        Setting::new(
            "pending_replies_per_connection",
            field!(budgets.pending_replies_per_connection),
            "Requests of one connection that servants will answer later (AMH). Default: three quarters of \
             pending_replies, at most 131,072.",
        )
        .at_least(1)
        .by_machine("131072"),
        Setting::new(
            "pending_replies",
            field!(budgets.pending_replies),
            "Requests of all connections that servants will answer later (AMH). Default: one for each 4 KiB of \
             memory, from 16,384 to 1,048,576. Further requests are answered with TRANSIENT.",
        )
        .at_least(1)
        .by_machine("1048576"),
        Setting::new(
            "endpoints",
            field!(budgets.endpoints),
            "Endpoints of a reference that are read, and that one call tries, including those it is forwarded to.",
        )
        .at_least(1),
    ],
};
