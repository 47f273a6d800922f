//! `[timeouts]`: time-outs of connections and calls.

use crate::config::settings::bounds::Unit;
use crate::config::settings::section::Section;
use crate::config::settings::setting::{Field, Setting, field};

const fn timeout(key: &'static str, field: Field, doc: &'static str) -> Setting {
    Setting::new(key, field, doc).unit(Unit::Milliseconds)
}

pub(super) const SECTION: Section = Section {
    name: "timeouts",
    doc: "Time-outs of connections and calls, in milliseconds.",
    open: None,
    settings: &[
        timeout(
            "connect_ms",
            field!(timeouts.connect),
            "Time to set up a connection, all its addresses and the name look-up together.",
        )
        .option("-ORBConnectTimeout"),
        timeout(
            "reach_ms",
            field!(timeouts.reach),
            "Time to set up connections for one call, to all endpoints of its reference and of those it is forwarded \
             to.",
        ),
        timeout(
            "call_ms",
            field!(timeouts.call),
            "Time of a whole call, from its start to its reply. None by default: long calls are legitimate, and a \
             peer that vanished is noticed by TCP keep-alive within a minute.",
        )
        .option("-ORBCallTimeout"),
        timeout(
            "first_message_ms",
            field!(timeouts.first_message),
            "Time that a new peer may stay silent before its first message.",
        ),
        timeout(
            "message_ms",
            field!(timeouts.message),
            "Time that a peer may take from a message's first byte to its last.",
        ),
        timeout(
            "idle_ms",
            field!(timeouts.idle),
            "Time that a client's connection may be quiet, with no request in progress, before it is closed \
             (CloseConnection, which loses nothing: clients open another with their next call).",
        ),
        timeout(
            "make_room_ms",
            field!(timeouts.make_room),
            "Minimum time that a connection must have been quiet before it is closed to make room for another, when \
             there are max_connections; 0 never closes one for another.",
        ),
        timeout(
            "reply_ms",
            field!(timeouts.reply),
            "Time that a peer may take to accept a reply.",
        ),
        timeout(
            "answer_ms",
            field!(timeouts.answer),
            "Time that a servant that answers later (AMH) may keep a request, before the ORB answers it with \
             TIMEOUT; a POA may have its own.",
        ),
        timeout(
            "hand_over_ms",
            field!(timeouts.hand_over),
            "Time that an upcall may take before another thread receives on its connection, if more requests wait \
             there. It is checked every 20 ms at most; with 0 they wait for the upcall.",
        ),
        timeout(
            "nested_call_ms",
            field!(timeouts.nested_call),
            "Time that a call may wait which a servant makes on a thread of a pool, or on the one thread of reactive \
             endpoints, unless the call has a time-out of its own: its reply may depend on a request that only this \
             thread could serve. Does not apply to calls that serve requests while they wait (wait = \"reactor\").",
        ),
        timeout(
            "quiet_ms",
            field!(timeouts.quiet),
            "Time without a call after which the next call on a connection first checks, by one system call, whether \
             the server has closed it: a request sent into a closed connection would be neither answered nor safe to \
             repeat. 0 never checks.",
        ),
        timeout(
            "drain_ms",
            field!(timeouts.drain),
            "Time that this check may wait for the rest of a message that has begun to arrive; with 0, as long as \
             the call itself may.",
        ),
        timeout(
            "spare_connection_ms",
            field!(timeouts.spare_connection),
            "Time for which a connection beside the first to its endpoint is kept when it is not needed; 0 keeps it \
             until the ORB ends.",
        ),
    ],
};
