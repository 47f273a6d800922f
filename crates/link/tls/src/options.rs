//! Options of the TLS link.

use punctual_link::{LinkError, Phase, Properties, TCP_PROPERTIES, tcp_options};
use punctual_sys::tcp::TcpOptions;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Policy of a TLS server on client certificates: none, wanted or required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientCertificate {
    /// The server does not ask clients for a certificate.
    #[default]
    None,
    /// The server asks for a certificate, and also serves clients without one. A certificate that
    /// is sent must be valid.
    Wanted,
    /// The server asks for a certificate, and serves only clients with a valid one.
    Required,
}

/// Version of the TLS protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// TLS version 1.2.
    #[default]
    V1_2,
    /// TLS version 1.3.
    V1_3,
}

/// Error for a text that is not a known value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownValue;

impl FromStr for ClientCertificate {
    type Err = UnknownValue;

    fn from_str(text: &str) -> Result<Self, UnknownValue> {
        match text {
            "none" => Ok(Self::None),
            "wanted" => Ok(Self::Wanted),
            "required" => Ok(Self::Required),
            _ => Err(UnknownValue),
        }
    }
}

impl FromStr for TlsVersion {
    type Err = UnknownValue;

    fn from_str(text: &str) -> Result<Self, UnknownValue> {
        match text {
            "1.2" => Ok(Self::V1_2),
            "1.3" => Ok(Self::V1_3),
            _ => Err(UnknownValue),
        }
    }
}

/// Options of the TLS link.
#[derive(Clone, Debug)]
pub struct TlsOptions {
    /// Certificate of this side in PEM, followed by those that lead to an authority that the peer
    /// trusts. A server needs one, a client where the server asks for it. Default none.
    pub certificate: Option<PathBuf>,
    /// Private key of that certificate in PEM: PKCS #8, PKCS #1 or SEC1, not encrypted. Default
    /// none.
    pub key: Option<PathBuf>,
    /// Authorities that this side trusts, in PEM, any number in each file. A client needs one.
    /// Default none: this system's list is not consulted.
    pub trusted: Vec<PathBuf>,
    /// Lists of certificates that their authorities have revoked (CRL), in PEM, any number in each file. Where there is
    /// one, each certificate of a peer's that leads to an authority has to be on no list, and its issuer has to have
    /// one here; a list that is out of date still counts. Default none: nothing is revoked.
    pub crl: Vec<PathBuf>,
    /// Policy of a server on client certificates. Default none.
    pub client_certificate: ClientCertificate,
    /// Lowest version of TLS that is accepted. Default 1.2.
    pub minimum: TlsVersion,
    /// Name, or IP address, that a server's certificate must be for. Default: the host in its
    /// address.
    pub server_name: Option<String>,
    /// Upper bound of a handshake's duration. A client's own deadline applies as well. Default 10
    /// s.
    pub handshake_timeout: Duration,
    /// Upper bound of handshakes that an acceptor has under way; beyond it, the oldest is dropped
    /// of those whose peers have sent nothing, or of the others, whichever are more. Each takes a
    /// descriptor. Default 256.
    pub handshakes: usize,
    /// Options of each socket. `dont_route` has no effect here.
    pub tcp: TcpOptions,
    /// Upper bound of the connections that wait for their handshake, and of those that wait to be
    /// accepted after it. Default 1,024; the kernel caps the former at `net.core.somaxconn`.
    pub backlog: u16,
    /// Initial size of a lent block, in bytes. Default 4,096: larger messages make it grow.
    pub block: usize,
    /// Size in bytes beyond which blocks are kept only while messages need such, two a thread and
    /// 32 MiB in the process at most; with 0 none is kept. Default 256 KiB.
    pub block_kept: usize,
    /// Processor by which the kernel chooses among endpoints with one address, as for `iiop`
    /// ([`punctual_link::iiop::IiopOptions::incoming_cpu`]). Property `incoming_cpu`. Default none.
    pub incoming_cpu: Option<u32>,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self {
            certificate: None,
            key: None,
            trusted: Vec::new(),
            crl: Vec::new(),
            client_certificate: ClientCertificate::None,
            minimum: TlsVersion::V1_2,
            server_name: None,
            handshake_timeout: Duration::from_secs(10),
            handshakes: 256,
            tcp: TcpOptions::default(),
            backlog: 1024,
            block: 4096,
            block_kept: 256 * 1024,
            incoming_cpu: None,
        }
    }
}

/// Properties that an endpoint or a policy may set beside those of TCP.
const KNOWN: [&str; 3] = ["server_name", "client_certificate", "minimum"];

/// Name of the property that only endpoints have.
const INCOMING_CPU: &str = "incoming_cpu";

/// Returns the names of the properties of connections or of acceptors.
pub(crate) fn known(phase: Phase) -> Vec<&'static str> {
    let mut known = [&TCP_PROPERTIES[..], &KNOWN].concat();
    if phase == Phase::Listen {
        known.push(INCOMING_CPU);
    }
    known
}

impl TlsOptions {
    /// Returns the options of the link overridden by an endpoint's or a policy's properties.
    pub(crate) fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let mut options = self.clone();
        let expected = match phase {
            Phase::Listen => {
                "no_delay, keep_alive, send_buffer, receive_buffer, dscp, pacing_rate, socket_priority, busy_poll_us, \
                 server_name, client_certificate, minimum or incoming_cpu"
            }
            _ => {
                "no_delay, keep_alive, send_buffer, receive_buffer, dscp, pacing_rate, socket_priority, busy_poll_us, \
                 server_name, client_certificate or minimum"
            }
        };
        properties.only(&known(phase), expected, phase)?;
        options.tcp = tcp_options(options.tcp, properties, phase)?;
        options.client_certificate = properties
            .parse("client_certificate", "none, wanted or required", phase)?
            .unwrap_or(options.client_certificate);
        options.minimum = properties
            .parse("minimum", "1.2 or 1.3", phase)?
            .unwrap_or(options.minimum);
        let processor =
            properties.parse(INCOMING_CPU, "the number of a processor, from 0 on", phase)?;
        options.incoming_cpu = processor.or(options.incoming_cpu);
        if let Some(name) = properties.get("server_name") {
            options.server_name = Some(name.to_owned());
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_stand_over_the_links_own_options() {
        let given = Properties::from_iter([
            ("no_delay", "false"),
            ("keep_alive", "false"),
            ("send_buffer", "9000"),
            ("receive_buffer", "9001"),
            ("server_name", "other.example"),
            ("client_certificate", "required"),
            ("minimum", "1.3"),
        ]);
        let options = TlsOptions::default().with(&given, Phase::Connect).unwrap();
        assert!(!options.tcp.no_delay);
        assert_eq!(options.tcp.keep_alive, None);
        assert_eq!(options.tcp.send_buffer, Some(9000));
        assert_eq!(options.tcp.receive_buffer, Some(9001));
        assert_eq!(options.server_name.as_deref(), Some("other.example"));
        assert_eq!(options.client_certificate, ClientCertificate::Required);
        assert_eq!(options.minimum, TlsVersion::V1_3);
        let processor = Properties::from_iter([("incoming_cpu", "1")]);
        let steered = |phase| TlsOptions::default().with(&processor, phase);
        assert_eq!(steered(Phase::Listen).unwrap().incoming_cpu, Some(1));
        assert!(steered(Phase::Connect).is_err());
        for bad in [
            ("no_delay", "perhaps"),
            ("incoming_cpu", "-1"),
            ("cipher", "none"),
            ("client_certificate", "yes"),
            ("minimum", "1.1"),
        ] {
            let given = Properties::from_iter([bad]);
            assert!(TlsOptions::default().with(&given, Phase::Listen).is_err());
        }
    }
}
