//! Configuration: one public struct with defaults to override.
//!
//! It comes from code, then a TOML file, then `-ORB…` options, each overriding the one before it. An
//! unknown key or option is an error, and a bad one stops the start.

mod arguments;
mod collocation;
mod concurrency;
mod endpoint;
mod file;
mod initial_reference;
#[cfg(feature = "tls")]
mod tls;

pub use collocation::CollocationScope;
pub(crate) use concurrency::Wording;
pub use concurrency::{Concurrency, PoolSize};
pub use endpoint::ListenEndpoint;
pub(crate) use initial_reference::has_scheme;

use crate::client::Buffering;
use crate::policy::{Collocation, Wait};
use punctual_cdr::{GiopVersion, Limits};
use punctual_link::diop::DiopOptions;
use punctual_link::iiop::IiopOptions;
#[cfg(feature = "reliable")]
use punctual_link::reliable::ReliableOptions;
use punctual_link::shmiop::ShmOptions;
use punctual_link::uiop::UiopOptions;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Connections that clients may hold open here at once. Default 4,096; one more is told to go
    /// (CloseConnection) and logged.
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
    /// How deep upcalls may nest that a thread serves while it waits for a reply of its own
    /// ([`Wait::Reactor`]); deeper ones are refused with TRANSIENT. Default 16.
    pub max_nesting: u32,
    /// Connections to servers that are kept for later calls. At one more, those that no call uses are
    /// closed, the one first that was used longest ago. Default 1,024.
    pub client_connections: usize,
    /// Messages of GIOP 1.2 longer than this many octets are sent in fragments. Default 1 MiB; 0 never
    /// fragments; otherwise at least 1,024. Fragments are received whatever this says.
    pub fragment_size: usize,
    /// Whether messages of GIOP 1.1 are sent in fragments, too. Default off: ORBs do not agree on how
    /// values are aligned behind the seam between two of them.
    pub fragment_giop_1_1: bool,
    /// The newest GIOP version to speak and to publish. Default 1.2.
    pub giop_version: GiopVersion,
    /// How deep forwards of one call may nest before it fails with TRANSIENT. Default 10.
    pub max_forwards: u32,
    /// Lets one-way requests wait, to be sent together. Default none: each is sent at once.
    pub one_way_buffering: Option<Buffering>,
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
            libraries: Vec::new(),
            initial_references: BTreeMap::new(),
            default_initial_reference: None,
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            max_connections: 4096,
            concurrency: Concurrency::default(),
            wait: Wait::default(),
            collocation: Collocation::default(),
            collocation_scope: CollocationScope::default(),
            max_nesting: 16,
            client_connections: 1024,
            fragment_size: 1 << 20,
            fragment_giop_1_1: false,
            giop_version: GiopVersion::V1_2,
            max_forwards: 10,
            one_way_buffering: None,
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

/// Time-outs. `None` waits for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// For setting up a connection, all its addresses and the name look-up together. Default 10 s.
    pub connect: Option<Duration>,
    /// For a whole call, from its start to its reply; a call may have its own
    /// ([`crate::ObjectRef::with_timeout`]). Default none: long calls are legitimate, and a peer
    /// that vanished is noticed by TCP keep-alive within a minute.
    pub call: Option<Duration>,
    /// How long a new peer may keep silent before its first message. Default 30 s.
    pub first_message: Option<Duration>,
    /// How long a peer may take from a message's first octet to its last. Default 30 s.
    pub message: Option<Duration>,
    /// How long a peer may take to accept a reply. Default 30 s.
    pub reply: Option<Duration>,
    /// How long an upcall may take before another thread receives on its connection, if more requests
    /// wait there. Default 20 ms, checked no more often; `None` lets them wait for it.
    pub hand_over: Option<Duration>,
    /// How long a call may wait that an upcall makes which a pool's thread, or the one thread of
    /// reactive endpoints, is in, if it has no time of its own: what it waits for may need that thread.
    /// Default 60 s. Calls that wait by [`Wait::Reactor`] are not bound by it.
    pub nested_call: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Some(Duration::from_secs(10)),
            call: None,
            first_message: Some(Duration::from_secs(30)),
            message: Some(Duration::from_secs(30)),
            reply: Some(Duration::from_secs(30)),
            hand_over: Some(Duration::from_millis(20)),
            nested_call: Some(Duration::from_secs(60)),
        }
    }
}

/// What to print of the messages that come and go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Print each GIOP message, decoded.
    pub giop: bool,
    /// Add a hex dump.
    pub hex: bool,
    /// Show what the messages carry. Off, bodies are redacted to their lengths.
    pub payload: bool,
}

/// A configuration that cannot be used: which key or option, where, and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No such option.
    #[error("unknown option `{option}`{}", suggestion(.nearest))]
    UnknownOption {
        /// As it was given.
        option: String,
        /// What may have been meant.
        nearest: Option<&'static str>,
    },
    /// An option without its value.
    #[error("option `{option}` needs a value: {expected}")]
    MissingValue {
        /// The option.
        option: &'static str,
        /// What the value looks like.
        expected: &'static str,
    },
    /// A value that does not fit.
    #[error("`{value}` does not fit `{key}`: expected {expected}")]
    BadValue {
        /// The option, or the key with its table.
        key: String,
        /// What was given.
        value: String,
        /// What fits.
        expected: String,
    },
    /// A configuration file that cannot be read.
    #[error("cannot read the configuration file `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A configuration file that does not parse.
    #[error("in the configuration file `{}`: {message}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// Line, column, and what is wrong.
        message: String,
    },
}

fn suggestion(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}

impl OrbConfig {
    /// Takes every `-ORB…` option out of `arguments`, obeys it, and returns the rest.
    ///
    /// `-ORBConfigFile` is read before any other option, so that the others override it.
    ///
    /// # Errors
    /// [`ConfigError`] for an unknown option, a missing or a bad value, a bad file.
    pub fn apply_arguments(
        &mut self,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Vec<String>, ConfigError> {
        arguments::apply(self, arguments.into_iter().collect())
    }

    /// Obeys a TOML file.
    ///
    /// # Errors
    /// [`ConfigError`] when it cannot be read, does not parse, has an unknown key or a bad value.
    pub fn apply_file(&mut self, path: impl Into<PathBuf>) -> Result<(), ConfigError> {
        file::apply(self, path.into())
    }

    /// The endpoints to listen at: those configured, or the default one.
    pub(crate) fn endpoints(&self) -> Vec<ListenEndpoint> {
        if self.listen.is_empty() {
            vec![ListenEndpoint::default()]
        } else {
            self.listen.clone()
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
        if self.limits.message < 1024 {
            return Err(bad_value(
                "limits.message",
                self.limits.message,
                "at least 1024 octets",
            ));
        }
        if self.client_connections == 0 {
            return Err(bad_value("client_connections", 0, "at least 1"));
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

fn bad_value(
    key: impl Into<String>,
    value: impl ToString,
    expected: impl Into<String>,
) -> ConfigError {
    ConfigError::BadValue {
        key: key.into(),
        value: value.to_string(),
        expected: expected.into(),
    }
}

/// `1.0`, `1.1` or `1.2`.
fn parse_version(key: &str, text: &str) -> Result<GiopVersion, ConfigError> {
    match text {
        "1.0" => Ok(GiopVersion::V1_0),
        "1.1" => Ok(GiopVersion::V1_1),
        "1.2" => Ok(GiopVersion::V1_2),
        _ => Err(bad_value(key, text, "1.0, 1.1 or 1.2")),
    }
}

/// Words of `-ORBTrace`: `giop`, `hex`, `payload`, with commas between.
fn parse_wait(key: &str, text: &str) -> Result<Wait, ConfigError> {
    match text {
        "read" => Ok(Wait::Read),
        "reactor" => Ok(Wait::Reactor),
        "leader_followers" => Ok(Wait::LeaderFollowers),
        _ => Err(bad_value(key, text, "read, reactor or leader_followers")),
    }
}

fn parse_trace(key: &str, text: &str) -> Result<Trace, ConfigError> {
    let mut trace = Trace::default();
    for word in text.split(',') {
        match word {
            "giop" => trace.giop = true,
            "hex" => (trace.giop, trace.hex) = (true, true),
            "payload" => (trace.giop, trace.payload) = (true, true),
            _ => {
                let expected = "giop, hex or payload, with commas between";
                return Err(bad_value(key, text, expected));
            }
        }
    }
    Ok(trace)
}
