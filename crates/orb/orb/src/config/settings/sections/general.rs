//! Settings before the first table of the configuration file.

use crate::config::initial_reference;
use crate::config::settings::bounds::Unit;
use crate::config::settings::section::Section;
use crate::config::settings::setting::{Setting, field};

/// Longest time for which a one-way may be held back, in microseconds: an hour.
const LONGEST_GATHER: u64 = 3_600_000_000;

/// Maximum length of a server's id, which is in its object keys, in bytes.
const LONGEST_ID: usize = 255;

/// Checks the id of a server.
fn check_server_id(id: &str) -> Result<(), String> {
    match id.len() <= LONGEST_ID && !id.contains([':', '/', '\0']) {
        true => Ok(()),
        false => Err(format!(
            "a text of up to {LONGEST_ID} bytes without `:` and `/`"
        )),
    }
}

pub(super) const SECTION: Section = Section {
    name: "",
    doc: "",
    open: None,
    settings: &[
        Setting::new(
            "listen",
            field!(listen),
            "Endpoints to listen at, protocol://place each. Without a host: on all interfaces; port 0: one of the \
             kernel's choice. A protocol is a messaging protocol (giop where none is named), perhaps an adapter, and \
             a link: uiop:///run/app/orb, giop_lite+uiop://, reliable+diop://:0. The default is one TCP endpoint on \
             all interfaces.",
        )
        .option("-ORBListenEndpoints")
        .example("[\"iiop://:0\"]"),
        Setting::new(
            "client_protocols",
            field!(client_protocols),
            "Protocols that calls may use, in order of preference, e.g. shmiop, uiop, iiop. Empty: every one that is \
             registered, in the order of a reference's profiles.",
        )
        .option("-ORBClientProtocols"),
        Setting::new(
            "security",
            field!(security),
            "Protection of calls over a network: by TLS where a reference offers it and this ORB has it, never in \
             clear when it fails (prefer); by TLS or not at all (require); by the first endpoint of the reference \
             that works (off).",
        )
        .option("-ORBSecurity"),
        Setting::new(
            "char_code_set",
            field!(char_code_set),
            "Code set of char and string on the wire, where both sides have it; the native one in references of this \
             ORB. iso-8859-1 is for peers that convert UTF-8 wrongly, as TAO's translator does.",
        )
        .option("-ORBCharCodeSet"),
        Setting::new(
            "foreign_local_endpoints",
            field!(foreign_local_endpoints),
            "If true, references that came from another host may lead to Unix sockets and shared memory of this one. \
             Otherwise a peer's reference cannot make this process connect to a socket of its own host.",
        ),
        Setting::new(
            "giop_version",
            field!(giop_version),
            "Newest version of GIOP to speak and to publish.",
        )
        .option("-ORBGIOPVersion"),
        Setting::new(
            "trace",
            field!(trace),
            "Prints each message: decoded (giop), with a hex dump (hex), with the values that it carries (payload). \
             Prints why requests are held back, too.",
        )
        .option("-ORBTrace")
        .example("\"giop,hex\""),
        Setting::new(
            "record",
            field!(record),
            "Measures execution times, response times and periods of upcalls, and writes them to this file, as JSON, when \
             the ORB has shut down. `punctual schedule record` makes a model of it (schedules.md).",
        )
        .option("-ORBRecord")
        .example("\"measured.json\""),
        Setting::new(
            "timeline",
            field!(timeline),
            "Records when each request was read, served and answered, in 96 MiB of memory, and writes it to this file when \
             the ORB has shut down. ui.perfetto.dev draws it; `punctual timeline join` joins it with those of other processes; `punctual schedule compare` shows a plan beside it \
             (schedules.md).",
        )
        .option("-ORBTimeline")
        .example("\"timeline.json\""),
        Setting::new(
            "default_initial_reference",
            field!(default_initial_reference),
            "Beginning of the URL of initial references without one of their own: this, a / and the name.",
        )
        .option("-ORBDefaultInitRef")
        .form("the beginning of a URL, e.g. corbaloc::host:2809")
        .example("\"corbaloc::names.example:2809\"")
        .checked(initial_reference::check_prefix),
        Setting::new(
            "max_connections",
            field!(max_connections),
            "Maximum number of connections that clients may hold open here. To accept one more, the ORB closes the \
             one that was quiet for longest (at least timeouts.make_room_ms) of the host that has most. Where none \
             was quiet, the new one is closed (CloseConnection) and logged. An eighth beyond the limit is reserved \
             for hosts that have few connections. Where the process may have fewer descriptors open (RLIMIT_NOFILE), \
             there are fewer: 854 of 1,024.",
        )
        .at_least(1),
        Setting::new(
            "client_connections",
            field!(client_connections),
            "Maximum number of connections to servers that are kept for later calls. Beyond it, the ORB closes those \
             that no call uses, the least recently used first.",
        )
        .at_least(1),
        Setting::new(
            "connections_per_endpoint",
            field!(connections_per_endpoint),
            "Maximum number of connections to one endpoint, over which threads are spread that call there at the \
             same time; they count among client_connections. Default: as many as the machine has processors, up to \
             16. With 1, all threads share one.",
        )
        .at_least(1)
        .by_machine("2"),
        Setting::new(
            "wait",
            field!(wait),
            "How calls wait for their replies, where no policy sets it: reading the connection (read); serving other \
             requests meanwhile, as the one thread of reactive endpoints does (reactor); with the threads of a pool \
             (leader_followers).",
        )
        .option("-ORBWait"),
        Setting::new(
            "collocation",
            field!(collocation),
            "How calls on objects of this process go, where no policy sets it: without a request, through the checks \
             of their POA (thru_poa); past these (direct); as requests (none).",
        )
        .option("-ORBCollocation"),
        Setting::new(
            "collocation_scope",
            field!(collocation_scope),
            "ORBs whose objects count as objects of this process: every ORB of the process that has this scope \
             (process), or the ORB itself (orb).",
        )
        .option("-ORBCollocationScope"),
        Setting::new(
            "reply_handlers",
            field!(reply_handlers),
            "Threads that run the handlers of asynchronous calls: the one that reads replies (thread), the main \
             thread in Orb::run (run), the main thread, which then reads the replies, too (reactor), threads blocked in a synchronous call on the same connection (callers).",
        )
        .option("-ORBReplyHandlers"),
        Setting::new(
            "bidirectional",
            field!(bidirectional),
            "Callbacks by the client's own connection, through NAT and firewalls (bidirectional GIOP), where no \
             policy sets it: no (normal), or where both sides allow them (both). A client's callback objects need a \
             POA with that policy.",
        )
        .option("-ORBBidirectional"),
        Setting::new(
            "max_nesting",
            field!(max_nesting),
            "Maximum nesting of upcalls that a thread serves while it waits for a reply of its own (wait = \
             \"reactor\"). Deeper ones are refused with TRANSIENT.",
        ),
        Setting::new(
            "cancel_requests",
            field!(cancel_requests),
            "If true, the ORB sends CancelRequest for abandoned calls: after a time-out, and when a poller or future \
             is dropped. Servers may ignore it.",
        ),
        Setting::new(
            "fragment_size",
            field!(fragment_size),
            "Length beyond which messages of GIOP 1.2 are sent in fragments; 0 never fragments. Fragments are \
             received in any case.",
        )
        .option("-ORBFragmentSize")
        .unit(Unit::Bytes)
        .at_least(1024)
        .or_zero(),
        Setting::new(
            "fragment_giop_1_1",
            field!(fragment_giop_1_1),
            "If true, messages of GIOP 1.1 are sent in fragments, too. ORBs do not agree on the alignment of values \
             behind the boundary between two of these.",
        ),
        Setting::new(
            "max_forwards",
            field!(max_forwards),
            "Maximum nesting of forwards of one call before it fails with TRANSIENT.",
        ),
        Setting::new(
            "one_way_gather_us",
            field!(one_way_gather),
            "Time for which the transport may hold back one of many requests in a row, to put several into one packet \
             (TCP): one-ways, and deferred calls until a caller waits for a reply. The operating system has each when \
             its call returns; the last one usually leaves within six times as long, or with the next request of \
             another kind. 0 lets each leave at once.",
        )
        .unit(Unit::Microseconds)
        .at_most(LONGEST_GATHER),
        Setting::new(
            "implementation_repository",
            field!(implementation_repository),
            "If true, objects of persistent POAs are reached through the Implementation Repository (the initial reference \
             ImplRepoService), which starts their server when it does not run: their references have its endpoints, and \
             the POAs register there when they become active. `punctual imr` serves one.",
        )
        .option("-ORBUseImR"),
        Setting::new(
            "server_id",
            field!(server_id),
            "Id of the server for interceptors and for the Implementation Repository, in which a persistent POA is then \
             ID:NAME instead of NAME.",
        )
        .option("-ORBServerId")
        .form("a text of up to 255 bytes without `:` and `/`")
        .example("\"plant-7\"")
        .checked(check_server_id),
    ],
};
