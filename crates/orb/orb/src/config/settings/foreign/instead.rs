//! What stands here for options of other ORBs.

/// What to use instead of an option, or why there is no counterpart.
#[derive(Clone, Copy)]
pub(super) struct Instead {
    /// Replacement text to show for an option on the command line.
    pub(super) option: &'static str,
    /// Text about the configuration file; a line of the file in it is within backquotes, its key with its table.
    #[cfg_attr(
        not(feature = "config-files"),
        expect(dead_code, reason = "for errors in files")
    )]
    pub(super) key: &'static str,
}

/// Makes replacement texts for the command line and for the configuration file.
pub(super) const fn either(option: &'static str, key: &'static str) -> Instead {
    Instead { option, key }
}

/// Makes one replacement text for both the command line and the configuration file.
pub(super) const fn both(text: &'static str) -> Instead {
    either(text, text)
}

pub(super) const LISTEN: Instead = either(
    "use `-ORBListenEndpoints iiop://host:port`",
    "use `listen = [\"iiop://host:2809\"]`",
);
pub(super) const PUBLISH: Instead =
    both("use `hostname_in_ior` and `port_in_ior`, options of an endpoint");
pub(super) const TLS: Instead = either(
    "use the table [tls] of the file (`-ORBConfigFile`)",
    "use `tls.certificate = \"server.pem\"`, `tls.key = \"server.key\"` and `tls.trusted = [\"authority.pem\"]`",
);
pub(super) const VERIFY: Instead = either(
    "use client_certificate in the table [tls] of the file (`-ORBConfigFile`)",
    "use `tls.client_certificate = \"required\"`; the certificate of a server is always checked",
);
pub(super) const FILE: Instead = either(
    "use the file (`-ORBConfigFile`), in TOML: `punctual config` prints one",
    "leave it out, this is the file: `punctual config` prints one with all keys",
);
pub(super) const TRACE: Instead = either(
    "use `-ORBTrace giop` for messages, and a subscriber of `tracing` for the log",
    "use `trace = \"giop\"` for messages, and a subscriber of `tracing` for the log",
);
pub(super) const SUBSCRIBER: Instead = both(
    "leave it out, the program's subscriber of `tracing` decides what a line of the log shows",
);
pub(super) const CALL_TIME: Instead = either(
    "use `-ORBCallTimeout`, in milliseconds",
    "use `timeouts.call_ms = 2000`",
);
pub(super) const CONNECT_TIME: Instead = either(
    "use `-ORBConnectTimeout`, in milliseconds",
    "use `timeouts.connect_ms = 2000`",
);
pub(super) const IDLE: Instead = either(
    "use idle_ms in the table [timeouts] of the file (`-ORBConfigFile`)",
    "use `timeouts.idle_ms = 180000`",
);
pub(super) const CONNECTIONS: Instead = either(
    "use client_connections and max_connections of the file (`-ORBConfigFile`)",
    "use `client_connections = 1000` and `max_connections = 1000`",
);
pub(super) const PER_ENDPOINT: Instead = either(
    "use connections_per_endpoint of the file (`-ORBConfigFile`)",
    "use `connections_per_endpoint = 5`",
);
pub(super) const EXCLUSIVE: Instead = both("use the policy `Mux::Exclusive`");
pub(super) const MESSAGE: Instead = either(
    "use `-ORBMaxMessageSize`, in bytes",
    "use `limits.message = 67108864`, in bytes",
);
pub(super) const VERSION: Instead =
    either("use `-ORBGIOPVersion 1.2`", "use `giop_version = \"1.2\"`");
pub(super) const CHARS: Instead = either(
    "use `-ORBCharCodeSet utf-8` or `iso-8859-1`",
    "use `char_code_set = \"utf-8\"` or `char_code_set = \"iso-8859-1\"`",
);
pub(super) const WIDE: Instead = both("leave it out, wide text is UTF-16");
pub(super) const BIDIRECTIONAL: Instead = either(
    "use `-ORBBidirectional both`, on both sides",
    "use `bidirectional = \"both\"`, on both sides",
);
pub(super) const PROTOCOLS: Instead = either(
    "use `-ORBClientProtocols uiop,iiop`; rules by address are not there",
    "use `client_protocols = [\"uiop\", \"iiop\"]`; rules by address are not there",
);
pub(super) const POOL: Instead = either(
    "use `-ORBConcurrency leader_followers,max_threads=16`",
    "use a table [concurrency] with strategy = \"leader_followers\" and max_threads = 16",
);
pub(super) const STRATEGY: Instead = either(
    "use `-ORBConcurrency thread_per_connection` or `leader_followers`",
    "use `concurrency.strategy = \"thread_per_connection\"` or `concurrency.strategy = \"leader_followers\"`",
);
pub(super) const HAND_OVER: Instead = either(
    "use hand_over_ms in the table [timeouts] of the file (`-ORBConfigFile`)",
    "use `timeouts.hand_over_ms = 20`",
);
pub(super) const NAME_SERVICE: Instead = either(
    "use `-ORBInitRef NameService=corbaloc::host:2809/NameService`",
    "use `initial_references.NameService = \"corbaloc::host:2809/NameService\"`",
);
pub(super) const INITIAL: Instead = either(
    "use `-ORBInitRef`, which takes the name of any service and its reference",
    "use the table [initial_references], which takes the name of any service and its reference",
);
pub(super) const HELP: Instead = either(
    "use `punctual config --options`, which lists the options",
    "use `punctual config`, which prints a file with all keys and their defaults",
);
pub(super) const NEEDLESS: Instead = both("leave it out, nothing here depends on it");
pub(super) const INTERNAL: Instead = both(
    "leave it out, it has no counterpart here: it tunes the inside of that ORB, which is built in another way",
);
pub(super) const DEFECTS: Instead =
    both("leave it out, it has no counterpart here: it is for ORBs that depart from the standard");
pub(super) const BY_RESULT: Instead =
    both("leave it out, calls return each exception as an error in their `Result`");
