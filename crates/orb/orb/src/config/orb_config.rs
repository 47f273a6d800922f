//! All settings of an ORB.

use super::budgets::Budgets;
use super::collocation::CollocationScope;
use super::concurrency::Concurrency;
use super::endpoint::ListenEndpoint;
use super::error::{ConfigError, bad_value};
use super::fault_tolerance::FaultToleranceSettings;
use super::initial_reference;
use super::real_time::RealTimeSettings;
use super::reply_handlers::ReplyHandlers;
use super::settings;
use super::timeouts::Timeouts;
use super::trace::Trace;
use crate::policy::{
    Bidirectional, BufferCapacity, Buffering, CharCodeSet, ClientProtocols, Collocation, Defaults,
    Otherwise, Security, Wait,
};
use punctual_cdr::{GiopVersion, Limits};
use punctual_link::diop::DiopOptions;
use punctual_link::iiop::IiopOptions;
#[cfg(feature = "reliable")]
use punctual_link::reliable::ReliableOptions;
#[cfg(feature = "shared-memory")]
use punctual_link::shmiop::ShmOptions;
use punctual_link::uiop::UiopOptions;
use punctual_sys::processor;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of an ORB.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OrbConfig {
    /// Endpoints to listen at, opened when the first POA needs them. Default: one TCP endpoint on
    /// all interfaces, at a port of the kernel's choice; one of TLS with [`Security::Require`],
    /// which allows only endpoints of TLS and of this host alone.
    pub listen: Vec<ListenEndpoint>,
    /// Protocols that calls may use, in order of preference, e.g. `shmiop`, `uiop`, `iiop`. Empty
    /// (the default): every one that is registered, in the order of a reference's profiles.
    pub client_protocols: Vec<String>,
    /// Encryption of calls, where no policy says otherwise (`-ORBSecurity require`, `prefer` or
    /// `off`). Default: calls are encrypted if the reference offers TLS and `tls` is set. With
    /// `require` the ORB does not listen on unencrypted network endpoints either.
    pub security: Security,
    /// Code set of `char` and `string` on the wire, where no policy says otherwise and both sides
    /// have it (`-ORBCharCodeSet utf-8` or `iso-8859-1`); references of this ORB announce it as the
    /// native code set. Default UTF-8.
    pub char_code_set: CharCodeSet,
    /// If true, references that came from another host may contain Unix sockets and shared memory
    /// of this host. Default false: otherwise a peer's reference could make this process connect to
    /// any socket of its host.
    pub foreign_local_endpoints: bool,
    /// Shared libraries to load links from (`punctual_plugin`), each then available by its link's
    /// name. Without the feature `plugins` none can be loaded, and the ORB does not start.
    pub libraries: Vec<PathBuf>,
    /// Initial references by name, each an `IOR:`, `corbaloc:` or `file://` text
    /// (`-ORBInitRef Name=…`).
    pub initial_references: BTreeMap<String, String>,
    /// Prefix of the URL for names that `initial_references` lacks, e.g. `corbaloc::host:2809`
    /// (`-ORBDefaultInitRef`).
    pub default_initial_reference: Option<String>,
    /// Time-outs for connecting and for calls.
    pub timeouts: Timeouts,
    /// Limits on what a peer may send; `limits.message` also limits what is sent.
    pub limits: Limits,
    /// Limits on the resources that all peers together use in this process.
    pub budgets: Budgets,
    /// Maximum number of connections that clients may hold open here at once. Default 4,096. To
    /// accept one more, the ORB closes the longest idle connection (idle for at least
    /// `timeouts.make_room`) of the host that has the most connections. If none is idle, the new
    /// connection is closed (CloseConnection) and logged; an eighth beyond the limit is reserved
    /// for hosts that have few connections. Where the process may have fewer descriptors open
    /// (`RLIMIT_NOFILE`, `ulimit -n`), the limit is lower: 854 for 1,024 descriptors.
    pub max_connections: usize,
    /// Concurrency strategy of endpoints that do not set their own. Default: a thread for each
    /// connection.
    pub concurrency: Concurrency,
    /// Method by which calls wait for their replies, where no policy says otherwise. Default: the
    /// caller reads the connection ([`Wait::Read`]).
    pub wait: Wait,
    /// Method by which objects of this process are called, where no policy says otherwise
    /// (`-ORBCollocation`). Default: without a request, through the object adapter.
    pub collocation: Collocation,
    /// ORBs whose objects count as objects of this process (`-ORBCollocationScope`). Default: every
    /// ORB of the process.
    pub collocation_scope: CollocationScope,
    /// Threads that run reply handlers (`-ORBReplyHandlers`). Default: the one that reads replies.
    pub reply_handlers: ReplyHandlers,
    /// Settings of Real-time CORBA, which the program's RTORB applies (`RtConfig::configured`). The
    /// ORB does not start if the RTORB has other settings, or there is none. Default: none.
    pub real_time: RealTimeSettings,
    /// Settings of Fault Tolerant CORBA, in programs that use it. The ORB does not start with settings that differ from the
    /// default if the program does not.
    pub fault_tolerance: FaultToleranceSettings,
    /// Maximum nesting of upcalls that a thread serves while it waits for a reply of its own
    /// ([`Wait::Reactor`]); deeper ones are refused with TRANSIENT. Default 16.
    pub max_nesting: u32,
    /// If true, the ORB sends CancelRequest for abandoned calls: after a time-out, and when a
    /// poller or future is dropped. Servers may ignore it. Default true.
    pub cancel_requests: bool,
    /// Maximum number of connections to servers that are kept for later calls. When there are more,
    /// the ORB closes connections that no call uses, the least recently used first. Default 1,024.
    pub client_connections: usize,
    /// Maximum number of connections to one endpoint, over which threads are spread that call
    /// objects there concurrently ([`crate::Mux::Adaptive`]); they count among
    /// `client_connections`. Default: as many as the machine has processors, up to 16; with 1 all
    /// threads share one.
    pub connections_per_endpoint: usize,
    /// Length in bytes above which messages of GIOP 1.2 are sent in fragments. Default 4 MiB; 0
    /// never fragments; otherwise at least 1,024. Fragments are received in any case.
    pub fragment_size: usize,
    /// If true, messages of GIOP 1.1 are sent in fragments, too. Default false: ORBs do not agree
    /// on the alignment of values after the boundary between two fragments.
    pub fragment_giop_1_1: bool,
    /// Newest GIOP version to speak and to publish. Default 1.2.
    pub giop_version: GiopVersion,
    /// Maximum nesting of forwards of one call before it fails with TRANSIENT. Default 10.
    pub max_forwards: u32,
    /// Conditions for sending buffered one-way requests together. Default none: each is sent at
    /// once.
    pub one_way_buffering: Option<Buffering>,
    /// Permission for servers to call back by a client's own connection (bidirectional GIOP), where
    /// no policy says otherwise. Default: not permitted.
    pub bidirectional: Bidirectional,
    /// Capacity of a connection's buffer, and the treatment of requests beyond that. Default 8 MiB,
    /// and the caller sends.
    pub buffer_capacity: BufferCapacity,
    /// Time for which the transport may hold back one of many requests in a row, to put several into
    /// one packet (TCP): one-ways, and deferred calls until a caller waits for a reply. Each request
    /// has been passed to the operating system when its call returns; the last one is usually sent
    /// within six times this time, or with the next request of another kind. Default 50 µs; zero
    /// sends each one at once. Key `one_way_gather_us`.
    pub one_way_gather: Duration,
    /// If true, objects of persistent POAs are reached through the Implementation Repository (the initial reference
    /// `ImplRepoService`): their references have its endpoints, and these POAs register there when they become active
    /// (`-ORBUseImR`). Default false.
    pub implementation_repository: bool,
    /// Id of the server for interceptors and for the Implementation Repository, in which a persistent POA of this ORB is
    /// then `ID:NAME` instead of `NAME` (`-ORBServerId`). Default: none.
    pub server_id: Option<String>,
    /// Options of connections over TCP (IIOP).
    pub iiop: IiopOptions,
    /// Options of connections over Unix domain sockets.
    pub uiop: UiopOptions,
    /// Options of connections over shared memory.
    #[cfg(feature = "shared-memory")]
    pub shmiop: ShmOptions,
    /// Options of messages over UDP datagrams (DIOP).
    pub diop: DiopOptions,
    /// Options of the link adapter that makes datagrams reliable.
    #[cfg(feature = "reliable")]
    pub reliable: ReliableOptions,
    /// Options of TLS. Default none, in which case the link `ssliop` is not available.
    #[cfg(feature = "tls")]
    pub tls: Option<punctual_tls::TlsOptions>,
    /// Properties of connections and acceptors by link, e.g. `spin_us` of `shmiop`, overridden by
    /// those of endpoints and policies. Each link documents its own.
    pub link_properties: BTreeMap<String, BTreeMap<String, String>>,
    /// Parts of each message to print, if any (`-ORBTrace`).
    pub trace: Trace,
    /// File to which the measured times of upcalls are written when the ORB has shut down
    /// ([`crate::measurement`], `-ORBRecord`). Default: none, and upcalls are not measured.
    pub record: Option<PathBuf>,
    /// File to which the timeline of requests is written when the ORB has shut down ([`crate::timeline`],
    /// `-ORBTimeline`). Default: none, and no timeline is recorded.
    pub timeline: Option<PathBuf>,
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
            fault_tolerance: FaultToleranceSettings::default(),
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
            implementation_repository: false,
            server_id: None,
            iiop: IiopOptions::default(),
            uiop: UiopOptions::default(),
            #[cfg(feature = "shared-memory")]
            shmiop: ShmOptions::default(),
            diop: DiopOptions::default(),
            #[cfg(feature = "reliable")]
            reliable: ReliableOptions::default(),
            #[cfg(feature = "tls")]
            tls: None,
            link_properties: BTreeMap::new(),
            trace: Trace::default(),
            record: None,
            timeline: None,
        }
    }
}

impl OrbConfig {
    /// Returns the endpoints to listen at: the configured ones, or the default one, which is
    /// unencrypted unless protection is required.
    pub(crate) fn endpoints(&self) -> Vec<ListenEndpoint> {
        match (self.listen.is_empty(), self.security) {
            (true, Security::Require) => vec![ListenEndpoint::new("ssliop", ":0")],
            (true, _) => vec![ListenEndpoint::default()],
            (false, _) => self.listen.clone(),
        }
    }

    /// Returns the values that apply where no policy is set, with these properties of connections.
    pub(crate) fn policy_defaults(
        &self,
        properties: BTreeMap<String, BTreeMap<String, String>>,
    ) -> Defaults {
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
            properties,
        }
    }

    /// Checks that no setting needs a feature without which this program was built.
    fn check_features(&self) -> Result<(), ConfigError> {
        let without = |key, value: &dyn Display, feature| {
            let expected =
                format!("nothing, as this program was built without the feature `{feature}`");
            Err(bad_value(key, value, expected))
        };
        if cfg!(not(feature = "message-trace")) && self.trace.giop {
            return without("trace", &"giop", "message-trace");
        }
        if !Bidirectional::IS_BUILT_IN && self.bidirectional == Bidirectional::Both {
            return without("bidirectional", &"both", "bidirectional");
        }
        let files = [("record", &self.record), ("timeline", &self.timeline)];
        for (key, file) in files {
            if let Some(file) = file.as_ref().filter(|_| cfg!(not(feature = "recordings"))) {
                return without(key, &file.display(), "recordings");
            }
        }
        Ok(())
    }

    /// Checks the settings that are not checked elsewhere, before the ORB starts.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        settings::check(self)?;
        self.check_features()?;
        if self.timeouts.spare_connection == Some(Duration::ZERO) {
            let expected = "none, or more than 0";
            return Err(bad_value("timeouts.spare_connection", 0, expected));
        }
        for (name, reference) in &self.initial_references {
            let bad =
                |expected| bad_value(format!("initial_references.{name}"), reference, expected);
            initial_reference::check(reference).map_err(bad)?;
        }
        if let Some(prefix) = &self.default_initial_reference {
            let bad = |expected| bad_value("default_initial_reference", prefix, expected);
            initial_reference::check_prefix(prefix).map_err(bad)?;
        }
        Ok(())
    }
}
