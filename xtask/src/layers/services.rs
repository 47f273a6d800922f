//! Layers of the services.

use super::Allowed;
use super::names::{
    CONSTRAINT, DURABLE, ETCD, EVENTS, EXEC, GROUPS, GROUPS_CLIENT, GROUPS_REQUESTS,
    GROUPS_SERVICE, HOST, IOR, JETSTREAM, LOG, NAMING_CLIENT, NOTIFICATION, RTEVENT,
    RTEVENT_SERVICE, SCHEDULING, SCHEDULING_RUNTIME, SYS,
};

/// Crates of the services, each with those on which it may depend.
pub(super) const SERVICES: &[Allowed] = &[
    // Programs of their own, on the facade; first what they stand on.
    (
        HOST,
        &["punctual", "punctual-observe", EXEC, SYS, "punctual-build"],
    ),
    (ETCD, &["punctual", HOST]),
    // Logs of events, in a file of the host's.
    (DURABLE, &[EXEC, HOST]),
    // The same on JetStream.
    (JETSTREAM, &[EXEC, HOST, DURABLE]),
    (GROUPS, &["punctual", EXEC, IOR]),
    (
        "punctual-ifr",
        &[
            "punctual",
            HOST,
            "punctual-idl",
            "punctual-idl-describe",
            "punctual-build",
        ],
    ),
    // Servers that start on demand.
    (
        "punctual-imr",
        &["punctual", ETCD, EXEC, HOST, "punctual-build"],
    ),
    // The wire crate has names as text.
    (NAMING_CLIENT, &["punctual", IOR, EXEC, "punctual-build"]),
    // Events without an ORB; threads with native priorities.
    (RTEVENT, &[SYS, EXEC]),
    // Analysis without an ORB; it uses the compiler's diagnostics.
    (SCHEDULING, &["punctual-idl"]),
    // Plans kept by an ORB.
    (
        SCHEDULING_RUNTIME,
        &[
            "punctual",
            "punctual-build",
            "punctual-idl",
            SCHEDULING,
            SYS,
            EXEC,
        ],
    ),
    // What services that call suppliers and consumers share.
    (
        EVENTS,
        &["punctual", EXEC, HOST, NAMING_CLIENT, "punctual-build"],
    ),
    // Object groups, and their members.
    (
        GROUPS_CLIENT,
        &["punctual", EXEC, NAMING_CLIENT, "punctual-build"],
    ),
    (
        GROUPS_SERVICE,
        &[
            "punctual",
            IOR,
            EXEC,
            HOST,
            ETCD,
            EVENTS,
            GROUPS,
            GROUPS_CLIENT,
            NAMING_CLIENT,
            "punctual-build",
        ],
    ),
    // Names, whose groups may be those of a group service.
    (
        "punctual-naming",
        &[
            "punctual",
            IOR,
            EXEC,
            HOST,
            ETCD,
            GROUPS,
            GROUPS_CLIENT,
            // A group service beside the names, for tests.
            GROUPS_SERVICE,
            NAMING_CLIENT,
            "punctual-build",
        ],
    ),
    // Members that run requests from records, and log them.
    (
        GROUPS_REQUESTS,
        &[
            "punctual",
            EXEC,
            HOST,
            NAMING_CLIENT,
            GROUPS_CLIENT,
            GROUPS_SERVICE,
            "punctual-build",
        ],
    ),
    // Members that run all requests in the order of a log.
    (
        "punctual-groups-active",
        &[
            GROUPS_REQUESTS,
            "punctual",
            EXEC,
            HOST,
            DURABLE,
            JETSTREAM,
            NAMING_CLIENT,
            GROUPS_CLIENT,
            GROUPS_SERVICE,
            "punctual-build",
        ],
    ),
    (
        "punctual-cosevent",
        &[
            "punctual",
            EVENTS,
            HOST,
            NAMING_CLIENT,
            RTEVENT,
            // Typed events have the operations of interfaces in IDL.
            "punctual-idl",
            "punctual-idl-describe",
            "punctual-naming",
            // Its tests ask one.
            "punctual-ifr",
            "punctual-build",
        ],
    ),
    (
        NOTIFICATION,
        &[
            "punctual",
            EVENTS,
            HOST,
            CONSTRAINT,
            DURABLE,
            JETSTREAM,
            "punctual-build",
        ],
    ),
    (
        LOG,
        &[
            "punctual",
            // An event log is an event channel.
            "punctual-cosevent",
            EVENTS,
            HOST,
            CONSTRAINT,
            // A notify log is a channel of the Notification Service.
            NOTIFICATION,
            "punctual-build",
        ],
    ),
    (
        RTEVENT_SERVICE,
        &[
            "punctual",
            EXEC,
            HOST,
            RTEVENT,
            SCHEDULING_RUNTIME,
            SYS,
            "punctual-build",
        ],
    ),
    (
        "punctual-scheduler",
        &[
            "punctual",
            HOST,
            SCHEDULING,
            "punctual-idl",
            "punctual-idl-describe",
            "punctual-build",
        ],
    ),
];
