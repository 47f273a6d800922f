//! `[tcp]`: options of TCP connections.

use crate::config::settings::bounds::Unit;
use crate::config::settings::section::Section;
use crate::config::settings::setting::{Field, Setting, field};

/// Largest value of TCP_KEEPIDLE and TCP_KEEPINTVL, in seconds.
const LONGEST_KEEP_ALIVE: u64 = 32_767;

pub(super) const SECTION: Section = Section {
    name: "tcp",
    doc: "Options of TCP connections (tcp(7)).",
    open: None,
    settings: &[
        Setting::new(
            "no_delay",
            field!(iiop.tcp.no_delay),
            "TCP_NODELAY: sends small messages at once. Without it, a request waits for the acknowledgement of the one \
             before it.",
        ),
        Setting::new(
            "dont_route",
            field!(iiop.tcp.dont_route),
            "MSG_DONTROUTE: sends only to hosts on a network that this one is on.",
        ),
        Setting::new(
            "keep_alive",
            field!(iiop.tcp.keep_alive),
            "SO_KEEPALIVE: probes silent connections, and so notices a peer that vanished.",
        ),
        Setting::new(
            "keep_alive_idle_s",
            Field {
                path: "iiop.tcp.keep_alive.idle",
                slot: |draft| &mut draft.keep_alive.idle,
            },
            "TCP_KEEPIDLE: silence before the first probe.",
        )
        .unit(Unit::Seconds)
        .at_least(1)
        .at_most(LONGEST_KEEP_ALIVE),
        Setting::new(
            "keep_alive_interval_s",
            Field {
                path: "iiop.tcp.keep_alive.interval",
                slot: |draft| &mut draft.keep_alive.interval,
            },
            "TCP_KEEPINTVL: time between probes.",
        )
        .unit(Unit::Seconds)
        .at_least(1)
        .at_most(LONGEST_KEEP_ALIVE),
        Setting::new(
            "keep_alive_probes",
            Field {
                path: "iiop.tcp.keep_alive.probes",
                slot: |draft| &mut draft.keep_alive.probes,
            },
            "TCP_KEEPCNT: number of unanswered probes after which the connection is dead.",
        )
        .at_least(1)
        .at_most(127),
        Setting::new(
            "user_timeout_ms",
            field!(iiop.tcp.user_timeout),
            "TCP_USER_TIMEOUT: time that sent data may stay unacknowledged before the connection is dead; 0 leaves it \
             to the kernel (about 15 minutes).",
        )
        .unit(Unit::Milliseconds),
        Setting::new(
            "send_buffer",
            field!(iiop.tcp.send_buffer),
            "SO_SNDBUF. Default: the kernel tunes it.",
        )
        .unit(Unit::Bytes)
        .example("262144"),
        Setting::new(
            "receive_buffer",
            field!(iiop.tcp.receive_buffer),
            "SO_RCVBUF. Default: the kernel tunes it.",
        )
        .unit(Unit::Bytes)
        .example("262144"),
    ],
};
