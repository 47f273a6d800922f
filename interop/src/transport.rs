//! Transports over which two ORBs are tested with each other, and the options that each transport
//! needs at both ORBs.

use crate::matrix::Version;
use crate::role::Role;
use crate::tls::Tls;
use punctual::ListenEndpoint;
use punctual::protocol::ssliop::TlsOptions;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Transport between the two sides. Each side listens on it only, so that a call that succeeds has
/// used this transport.
#[derive(Debug)]
pub(crate) enum Transport {
    /// TCP over the loopback interface.
    Tcp,
    /// Unix sockets; the peer's sockets are in this folder.
    Unix(TempDir),
    /// TLS over the loopback interface.
    Tls(Tls),
    /// Shared memory, which Punctual alone supports.
    SharedMemory,
}

impl Transport {
    /// Returns the endpoint at which an ORB of ours listens.
    pub(crate) fn our_endpoint(&self) -> ListenEndpoint {
        match self {
            Self::Tcp => ListenEndpoint::iiop("127.0.0.1", 0),
            Self::Unix(_) => ListenEndpoint::new("uiop", ""),
            Self::Tls(_) => ListenEndpoint::new("ssliop", "127.0.0.1:0"),
            Self::SharedMemory => ListenEndpoint::new("shmiop", ""),
        }
    }

    /// Returns the TLS options of an ORB of ours.
    pub(crate) fn our_tls(&self, role: Role) -> Option<TlsOptions> {
        match self {
            Self::Tls(tls) => Some(tls.options(role)),
            Self::Tcp | Self::Unix(_) | Self::SharedMemory => None,
        }
    }

    /// Adds the options for this transport to the peer's command.
    pub(crate) fn tell_peer(&self, command: &mut Command, version: Version, role: Role) {
        let endpoint = match self {
            // References of omniORB's lead to Unix sockets from GIOP 1.2 on: before it, calls back go
            // over TCP.
            Self::Unix(_) if version == Version::V1_2 => {
                format!("giop:unix:{}", self.their_socket(role).display())
            }
            Self::Tls(tls) if tls.has_certificate(role) => "giop:ssl:127.0.0.1:".to_owned(),
            Self::Tcp | Self::Unix(_) | Self::Tls(_) | Self::SharedMemory => {
                "giop:tcp:127.0.0.1:".to_owned()
            }
        };
        command.args(["-ORBendPoint", &endpoint]);
        if let Self::Tls(tls) = self {
            tls.tell_peer(command, role);
        }
    }

    fn their_socket(&self, role: Role) -> PathBuf {
        match self {
            Self::Unix(folder) => folder.path().join(match role {
                Role::Client => "client",
                Role::Server => "server",
            }),
            Self::Tcp | Self::Tls(_) | Self::SharedMemory => PathBuf::new(),
        }
    }

    /// Returns a URL of the peer's object with the given key.
    pub(crate) fn corbaloc(&self, version: &str, port: u16, key: &str) -> String {
        match self {
            Self::Tcp => format!("corbaloc:iiop:{version}@127.0.0.1:{port}/{key}"),
            Self::Unix(_) => {
                let socket = self.their_socket(Role::Server);
                format!("corbaloc:uiop:{version}@{}|{key}", socket.display())
            }
            Self::SharedMemory => String::new(),
            Self::Tls(_) => format!("corbaloc:ssliop:{version}@127.0.0.1:{port}/{key}"),
        }
    }
}
