//! All settings of an ORB.

use super::bounds;
use super::budgets::Budgets;
use super::collocation::CollocationScope;
use super::concurrency::Concurrency;
use super::endpoint::ListenEndpoint;
use super::error::{ConfigError, bad_value};
use super::initial_reference;
use super::real_time::RealTimeSettings;
use super::reply_handlers::ReplyHandlers;
use super::timeouts::Timeouts;
use super::values::Trace;
use crate::policy::{
    Bidirectional, BufferCapacity, Buffering, CharCodeSet, ClientProtocols, Collocation, Defaults,
    Otherwise, Security, Wait,
};
use punctual_cdr::{GiopVersion, Limits};
use punctual_link::diop::DiopOptions;
use punctual_link::iiop::IiopOptions;
#[cfg(feature = "reliable")]
use punctual_link::reliable::ReliableOptions;
use punctual_link::shmiop::ShmOptions;
use punctual_link::uiop::UiopOptions;
use punctual_sys::processor;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A one-way is kept back for no longer than this, whatever is asked for.
const LONGEST_GATHER: Duration = Duration::from_secs(3600);

/// What an ORB is started with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OrbConfig {
    /// Where to listen, once a POA wants to be reached. Default: one TCP endpoint on all
    /// interfaces, at a port of the kernel's choice.
    pub listen: Vec<ListenEndpoint>,
    /// Protocols that calls may go out by, in order of preference, e.g. `shmiop`, `uiop`, `iiop`.
    /// Empty (the default): every one that is registered, in the order of a reference's profiles.
    pub client_protocols: Vec<String>,
    /// Whether calls are protected on their way, where no policy says otherwise (`-ORBSecurity require`, `prefer` or
    /// `off`). Default: where a reference offers TLS and `tls` is set, always.
    pub security: Security,
    /// Which code set `char` and `string` travel in, where no policy says otherwise and both sides have it
    /// (`-ORBCharCodeSet utf-8` or `iso-8859-1`); the native one in references of this ORB. Default UTF-8.
    pub char_code_set: CharCodeSet,
    /// Whether references that came from another host may lead to Unix sockets and shared memory of this one. Default
    /// no: otherwise a peer's reference could make this process connect to any socket of its host.
    pub foreign_local_endpoints: bool,
    /// Shared libraries to load links from (`punctual_plugin`), each known by its link's name then. None can be
    /// loaded without the feature `plugins`: the ORB does not start then.
    pub libraries: Vec<PathBuf>,
    /// Initial references by name, each an `IOR:`, `corbaloc:` or `file://` text
    /// (`-ORBInitRef Name=…`).
    pub initial_references: BTreeMap<String, String>,
    /// Prefix of the URL for names that `initial_references` lacks, e.g. `corbaloc::host:2809`
    /// (`-ORBDefaultInitRef`).
    pub default_initial_reference: Option<String>,
    /// Time-outs.
    pub timeouts: Timeouts,
    /// Limits on what a peer may send; `limits.message` also bounds what is sent.
    pub limits: Limits,
    /// Limits on what all peers together have this process hold.
    pub budgets: Budgets,
    /// Connections that clients may hold open here at once. Default 4,096. To accept one more, the ORB closes the connection that
    /// was quiet for longest (at least `timeouts.make_room`) of the host that has most. Where none was quiet, the new one is closed
    /// (CloseConnection) and logged; an eighth beyond the limit is reserved for hosts that have few connections. Where the
    /// process may have fewer descriptors open (`RLIMIT_NOFILE`, `ulimit -n`), there are fewer: 854 of 1,024.
    pub max_connections: usize,
    /// How endpoints that do not say so themselves serve their connections. Default: a thread for each.
    pub concurrency: Concurrency,
    /// How calls wait for their replies, where no policy says otherwise. Default: by reading.
    pub wait: Wait,
    /// How calls on objects of this process go, where no policy says otherwise (`-ORBCollocation`).
    /// Default: without a request, through the object adapter.
    pub collocation: Collocation,
    /// Whose objects are taken for such (`-ORBCollocationScope`). Default: those of every ORB of the process.
    pub collocation_scope: CollocationScope,
    /// Which threads run reply handlers (`-ORBReplyHandlers`). Default: the one that reads replies.
    pub reply_handlers: ReplyHandlers,
    /// What is configured of Real-time CORBA, which is for the program's RTORB to obey (`RtConfig::configured`). The ORB does
    /// not start where that has anything else, or there is none. Default: nothing.
    pub real_time: RealTimeSettings,
    /// How deep upcalls may nest that a thread serves while it waits for a reply of its own
    /// ([`Wait::Reactor`]); deeper ones are refused with TRANSIENT. Default 16.
    pub max_nesting: u32,
    /// Whether the ORB sends CancelRequest for calls that nobody waits for any more: after a time-out, and when a poller or future
    /// is dropped. Servers may ignore it. Default true.
    pub cancel_requests: bool,
    /// Connections to servers that are kept for later calls. When there are more, the ORB closes connections that no call uses,
    /// the least recently used first. Default 1,024.
    pub client_connections: usize,
    /// Connections to one endpoint that threads spread over which call there at the same time
    /// ([`crate::Mux::Adaptive`]), at most; they count among `client_connections`. Default: as many as the machine has
    /// processors, up to 16; 1 has all share one.
    pub connections_per_endpoint: usize,
    /// Messages of GIOP 1.2 longer than this many octets are sent in fragments. Default 4 MiB; 0 never
    /// fragments; otherwise at least 1,024. Fragments are received whatever this says.
    pub fragment_size: usize,
    /// Whether messages of GIOP 1.1 are sent in fragments, too. Default off: ORBs do not agree on how
    /// values are aligned behind the seam between two of them.
    pub fragment_giop_1_1: bool,
    /// The newest GIOP version to speak and to publish. Default 1.2.
    pub giop_version: GiopVersion,
    /// How deep forwards of one call may nest before it fails with TRANSIENT. Default 10.
    pub max_forwards: u32,
    /// Buffers one-way requests, and sends several together. Default none: each is sent at once.
    pub one_way_buffering: Option<Buffering>,
    /// Whether servers may call back by a client's own connection (bidirectional GIOP), where no policy says so. Not by default.
    pub bidirectional: Bidirectional,
    /// How much a connection's buffer holds, and what happens to requests beyond that. Default 8 MiB, and the caller sends.
    pub buffer_capacity: BufferCapacity,
    /// How long the transport may hold back one of many one-way requests in a row, to put several into one packet (TCP). The
    /// operating system has each when its call returns; the last one usually leaves within six times as long, or with the next
    /// request that is no one-way. Default 50 µs; zero lets each leave at once.
    /// Key `one_way_gather_us`.
    pub one_way_gather: Duration,
    /// Options of TCP connections.
    pub iiop: IiopOptions,
    /// Options of Unix sockets.
    pub uiop: UiopOptions,
    /// Options of shared memory.
    pub shmiop: ShmOptions,
    /// Options of datagrams.
    pub diop: DiopOptions,
    /// Options of the adapter that makes datagrams reliable.
    #[cfg(feature = "reliable")]
    pub reliable: ReliableOptions,
    /// Options of TLS. Default none: the link `ssliop` is not there.
    #[cfg(feature = "tls")]
    pub tls: Option<punctual_tls::TlsOptions>,
    /// Properties of connections and acceptors by link, e.g. `spin_us` of `shmiop`, under those of
    /// endpoints and policies. Each link says which it knows.
    pub link_properties: BTreeMap<String, BTreeMap<String, String>>,
    /// What to print of each message, if anything (`-ORBTrace`).
    pub trace: Trace,
}

impl Default for OrbConfig {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            client_protocols: Vec::new(),
            security: Security::default(),
            char_code_set: CharCodeSet::default(),
            foreign_local_endpoints: false,
            libraries: Vec::new(),
            initial_references: BTreeMap::new(),
            default_initial_reference: None,
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            budgets: Budgets::default(),
            max_connections: 4096,
            concurrency: Concurrency::default(),
            wait: Wait::default(),
            collocation: Collocation::default(),
            collocation_scope: CollocationScope::default(),
            real_time: RealTimeSettings::default(),
            reply_handlers: ReplyHandlers::default(),
            max_nesting: 16,
            cancel_requests: true,
            client_connections: 1024,
            connections_per_endpoint: processor::online().clamp(1, 16),
            fragment_size: 4 << 20,
            fragment_giop_1_1: false,
            giop_version: GiopVersion::V1_2,
            max_forwards: 10,
            one_way_buffering: None,
            buffer_capacity: BufferCapacity::default(),
            bidirectional: Bidirectional::default(),
            one_way_gather: Duration::from_micros(50),
            iiop: IiopOptions::default(),
            uiop: UiopOptions::default(),
            shmiop: ShmOptions::default(),
            diop: DiopOptions::default(),
            #[cfg(feature = "reliable")]
            reliable: ReliableOptions::default(),
            #[cfg(feature = "tls")]
            tls: None,
            link_properties: BTreeMap::new(),
            trace: Trace::default(),
        }
    }
}

impl OrbConfig {
    /// The endpoints to listen at: those configured, or the default one.
    pub(crate) fn endpoints(&self) -> Vec<ListenEndpoint> {
        if self.listen.is_empty() {
            vec![ListenEndpoint::default()]
        } else {
            self.listen.clone()
        }
    }

    /// What holds for calls where no policy says anything.
    pub(crate) fn policy_defaults(&self) -> Defaults {
        let preferred = (!self.client_protocols.is_empty()).then(|| self.client_protocols.clone());
        Defaults {
            roundtrip: self.timeouts.call,
            protocols: preferred.map(|preferred| ClientProtocols {
                preferred,
                otherwise: Otherwise::Raise,
            }),
            wait: self.wait,
            collocation: self.collocation,
            security: self.security,
            char_code_set: self.char_code_set,
            buffering: self.one_way_buffering,
            buffer_capacity: self.buffer_capacity,
            bidirectional: self.bidirectional,
            properties: self.link_properties.clone(),
        }
    }

    /// What the ORB can't check elsewhere, before it starts.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.fragment_size != 0 && self.fragment_size < 1024 {
            return Err(bad_value(
                "fragment_size",
                self.fragment_size,
                "0, or at least 1024 octets",
            ));
        }
        bounds::check(&self.limits, &self.budgets)?;
        if self.client_connections == 0 {
            return Err(bad_value("client_connections", 0, "at least 1"));
        }
        if self.one_way_gather > LONGEST_GATHER {
            let given = format!("{:?}", self.one_way_gather);
            return Err(bad_value("one_way_gather", given, "at most an hour"));
        }
        if self.timeouts.spare_connection == Some(Duration::ZERO) {
            return Err(bad_value(
                "timeouts.spare_connection",
                0,
                "none, or more than 0",
            ));
        }
        if self.connections_per_endpoint == 0 {
            return Err(bad_value("connections_per_endpoint", 0, "at least 1"));
        }
        if self.max_connections == 0 {
            return Err(bad_value("max_connections", 0, "at least 1"));
        }
        for (name, reference) in &self.initial_references {
            let key = format!("initial_references.{name}");
            initial_reference::check(&key, reference, reference)?;
        }
        if let Some(prefix) = &self.default_initial_reference {
            initial_reference::check_prefix("default_initial_reference", prefix)?;
        }
        Ok(())
    }
}
