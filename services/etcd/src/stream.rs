//! The stream below HTTP: TCP, or TLS over it.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use punctual::protocol::ssliop::{self, TlsOptions};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use thiserror::Error;

/// Certificates with which the members of a cluster and this client authenticate each other. TLS
/// 1.2 at least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// Certificates of the authorities that have issued the members' certificates, in PEM; at least
    /// one. The system's list of authorities is not used. A member's certificate has to be for the
    /// host in its endpoint.
    pub trusted: Vec<PathBuf>,
    /// This client's certificate in PEM, if members require one.
    pub certificate: Option<PathBuf>,
    /// Private key of the client's certificate in PEM, not encrypted.
    pub key: Option<PathBuf>,
}

/// Error in a TLS certificate or key file.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct TlsError(String);

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for TlsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Tls {
    /// Reads the certificate and key files into a TLS configuration.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let mut options = TlsOptions::default();
        options.trusted.clone_from(&self.trusted);
        options.certificate.clone_from(&self.certificate);
        options.key.clone_from(&self.key);
        let config = ssliop::client_config(&options);
        let config = config.map_err(|error| TlsError(error.to_string()))?;
        config.ok_or_else(|| TlsError("no authority is trusted".into()))
    }
}

/// Byte stream of a connection to etcd, with or without TLS.
#[derive(Debug)]
pub(crate) enum Stream {
    Clear(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Connects to `host:port` and performs the TLS handshake. `patience` limits the connecting,
    /// and each later wait.
    pub(crate) fn open(
        endpoint: &str,
        patience: Duration,
        tls: Option<&Arc<ClientConfig>>,
    ) -> io::Result<Self> {
        let mut tcp = connected(endpoint, patience)?;
        let Some(config) = tls else {
            return Ok(Self::Clear(tcp));
        };
        let host = endpoint.rsplit_once(':').map_or(endpoint, |(host, _)| host);
        let host = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        let connection = ClientConnection::new(config.clone(), name);
        let mut connection = connection.map_err(io::Error::other)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut tcp)?;
        }
        Ok(Self::Tls(Box::new(StreamOwned::new(connection, tcp))))
    }

    /// Returns the TCP socket beneath the stream.
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Self::Clear(tcp) => tcp,
            Self::Tls(tls) => tls.get_ref(),
        }
    }
}

fn connected(endpoint: &str, patience: Duration) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in endpoint.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Clear(tcp) => tcp.read(buffer),
            Self::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Clear(tcp) => tcp.write(bytes),
            Self::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Clear(tcp) => tcp.flush(),
            Self::Tls(tls) => tls.flush(),
        }
    }
}
