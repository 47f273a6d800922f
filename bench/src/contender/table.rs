//! Table of all contenders.

use crate::peer::Program;
use crate::{omniorb, outsider};

/// Name of the baseline for TCP: raw sockets without an ORB.
pub const RAW_TCP: &str = "raw-tcp";
/// Name of the baseline for Unix sockets: raw sockets without an ORB.
pub const RAW_UNIX: &str = "raw-unix";
const RAW_TCP_SPIN: &str = "raw-tcp-spin";
const RAW_UNIX_SPIN: &str = "raw-unix-spin";
pub(super) const RAW_SHM: &str = "raw-shm";
/// Kind of program that runs a contender's server and client.
#[derive(Clone, Copy)]
pub(super) enum Runs {
    /// Program of [`crate::peer`].
    Peer(Program),
    /// Program of [`crate::outsider`], built outside the workspace as users build theirs.
    Outsider,
    /// Program that uses omniORB.
    OmniOrb,
}

/// Table entry that describes a contender.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) floor: &'static str,
    pub(super) spins: bool,
    pub(super) runs: Runs,
    pub(super) server: &'static [&'static str],
    pub(super) client: &'static [&'static str],
}

const fn raw(name: &'static str, program: Program, spins: bool, about: &'static str) -> Entry {
    Entry {
        name,
        about,
        floor: name,
        spins,
        runs: Runs::Peer(program),
        server: &[],
        client: &[],
    }
}

const fn ours(
    name: &'static str,
    floor: &'static str,
    about: &'static str,
    server: &'static [&'static str],
    client: &'static [&'static str],
) -> Entry {
    Entry {
        name,
        about,
        floor,
        spins: false,
        runs: Runs::Peer(Program::Punctual),
        server,
        client,
    }
}

/// Command-line option of the ORB that sets a server's endpoint.
const LISTEN: &str = "-ORBListenEndpoints";

/// Returns a variant of Punctual whose server has these arguments.
const fn over(
    name: &'static str,
    floor: &'static str,
    about: &'static str,
    server: &'static [&'static str],
) -> Entry {
    ours(name, floor, about, server, &[])
}

const fn spinning(entry: Entry) -> Entry {
    Entry {
        spins: true,
        ..entry
    }
}

/// All contenders. An ORB refuses options that it does not know; the contender is then skipped, and
/// the ORB's message is reported as the reason.
pub(super) const KNOWN: &[Entry] = &[
    raw(RAW_TCP, Program::RawTcp, false, "TCP that blocks"),
    raw(RAW_UNIX, Program::RawUnix, false, "Unix sockets that block"),
    raw(RAW_TCP_SPIN, Program::RawTcpSpin, true, "TCP that spins"),
    raw(
        RAW_UNIX_SPIN,
        Program::RawUnixSpin,
        true,
        "Unix sockets that spin",
    ),
    raw(RAW_SHM, Program::RawShm, true, "shared memory that spins"),
    ours("punctual", RAW_TCP, "TCP", &[], &[]),
    Entry {
        name: outsider::NAME,
        about: "TCP, a crate of its own with a plain release profile",
        floor: RAW_TCP,
        spins: false,
        runs: Runs::Outsider,
        server: &[],
        client: &[],
    },
    ours(
        "punctual-context",
        RAW_TCP,
        "requests with a service context, as a priority is",
        &[],
        &["--context"],
    ),
    ours(
        "punctual-intercepted",
        RAW_TCP,
        "an interceptor at either end that does nothing",
        &["--intercepted"],
        &["--intercepted"],
    ),
    ours(
        "punctual-group",
        RAW_TCP,
        "an object group of one member, whose replies are kept for repeats",
        &["--group"],
        &["--group"],
    ),
    ours(
        "punctual-recorded",
        RAW_TCP,
        "the server measures its upcalls (`-ORBRecord`)",
        &["--", "-ORBRecord", "/dev/null"],
        &[],
    ),
    ours(
        "punctual-lane",
        RAW_TCP,
        "Real-time CORBA: the client's priority, to an endpoint of a lane",
        &["--lane"],
        &["--lane"],
    ),
    ours(
        "punctual-poller",
        RAW_TCP,
        "asynchronous void calls, one at a time, by a poller",
        &[],
        &["--deferred", "poller"],
    ),
    ours(
        "punctual-handler",
        RAW_TCP,
        "asynchronous void calls, one at a time, by a reply handler",
        &[],
        &["--deferred", "handler"],
    ),
    ours(
        "punctual-future",
        RAW_TCP,
        "asynchronous void calls, one at a time, by a future",
        &[],
        &["--deferred", "future"],
    ),
    ours(
        "punctual-dii",
        RAW_TCP,
        "calls by the dynamic invocation interface",
        &[],
        &["--dii"],
    ),
    ours(
        "punctual-dsi",
        RAW_TCP,
        "a servant by the dynamic skeleton interface",
        &["--dsi"],
        &[],
    ),
    over(
        "punctual-uiop",
        RAW_UNIX,
        "Unix sockets",
        &["--", LISTEN, "uiop://"],
    ),
    over(
        "punctual-shmiop",
        RAW_UNIX,
        "shared memory",
        &["--", LISTEN, "shmiop://"],
    ),
    spinning(ours(
        "punctual-shmiop-spin",
        RAW_SHM,
        "shared memory that spins",
        &["--", LISTEN, "shmiop:///spin_us=1000"],
        &["--property", "shmiop.spin_us=1000"],
    )),
    spinning(ours(
        "punctual-spin",
        RAW_TCP_SPIN,
        "TCP that spins",
        &[
            "--",
            LISTEN,
            "iiop://127.0.0.1:0/spin_us=1000&spin_always=true",
        ],
        &[
            "--property",
            "iiop.spin_us=1000",
            "--property",
            "iiop.spin_always=true",
        ],
    )),
    spinning(ours(
        "punctual-uiop-spin",
        RAW_UNIX_SPIN,
        "Unix sockets that spin",
        &["--", LISTEN, "uiop:///spin_us=1000&spin_always=true"],
        &[
            "--property",
            "uiop.spin_us=1000",
            "--property",
            "uiop.spin_always=true",
        ],
    )),
    over(
        "punctual-reactive",
        RAW_TCP,
        "TCP, one reactive thread",
        &["--", LISTEN, "iiop://127.0.0.1:0/concurrency=reactive"],
    ),
    over(
        "punctual-lf",
        RAW_TCP,
        "TCP, Leader/Followers pool",
        &[
            "--",
            LISTEN,
            "iiop://127.0.0.1:0/concurrency=leader_followers",
        ],
    ),
    over(
        "punctual-uiop-reactive",
        RAW_UNIX,
        "Unix sockets, one reactive thread",
        &["--", LISTEN, "uiop://|concurrency=reactive"],
    ),
    over(
        "punctual-uiop-lf",
        RAW_UNIX,
        "Unix sockets, Leader/Followers pool",
        &["--", LISTEN, "uiop://|concurrency=leader_followers"],
    ),
    Entry {
        name: omniorb::NAME,
        about: "TCP",
        floor: RAW_TCP,
        spins: false,
        runs: Runs::OmniOrb,
        server: &[],
        client: &[],
    },
    Entry {
        name: "omniorb-unix",
        about: "Unix sockets",
        floor: RAW_UNIX,
        spins: false,
        runs: Runs::OmniOrb,
        server: &["--link", "unix"],
        client: &[],
    },
];
