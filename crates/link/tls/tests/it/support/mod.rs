//! Support: authorities, certificates, and their files.

#![allow(dead_code, unreachable_pub, reason = "no test uses all of it")]

use punctual_exec::Deadline;
use punctual_link::{Acceptor, Address, Connection, Link, LinkError, Properties};
use punctual_tls::{NAME, Ssliop, TlsOptions};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    IsCa, KeyIdMethod, KeyPair, RevokedCertParams, date_time_ymd,
};
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

pub const LIMIT: Duration = Duration::from_secs(20);

pub fn limit() -> Deadline {
    Deadline::after(LIMIT)
}

/// Certificate authority for tests, with a folder for the certificates that it issues.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // A unique name.
        let name = folder.path().display().to_string();
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let this = Self { issuer, folder };
        std::fs::write(this.file("ca.pem"), this.issuer.pem()).unwrap();
        this
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Issues a certificate, and writes it and its key to `name.pem` and `name.key`.
    pub fn issue(&self, name: &str, hosts: &[&str], change: impl FnOnce(&mut CertificateParams)) {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.file(&format!("{name}.pem")), certificate.pem()).unwrap();
        std::fs::write(self.file(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }

    /// Writes a list of the revoked certificates with these serial numbers to `name`.
    pub fn revoke(&self, name: &str, serials: &[u64]) {
        let revoked = |serial: &u64| RevokedCertParams {
            serial_number: (*serial).into(),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2024, 2, 1),
            crl_number: 1.into(),
            issuing_distribution_point: None,
            revoked_certs: serials.iter().map(revoked).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = list.signed_by(&self.issuer).unwrap();
        std::fs::write(self.file(name), list.pem().unwrap()).unwrap();
    }

    /// Returns TLS options with the certificate and key issued under the given name.
    pub fn with(&self, name: &str) -> TlsOptions {
        TlsOptions {
            certificate: Some(self.file(&format!("{name}.pem"))),
            key: Some(self.file(&format!("{name}.key"))),
            ..TlsOptions::default()
        }
    }

    /// Returns options of a client that trusts this authority and has no certificate.
    pub fn trusting(&self) -> TlsOptions {
        TlsOptions {
            trusted: vec![self.file("ca.pem")],
            ..TlsOptions::default()
        }
    }
}

pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Makes an authority that has issued `server` and `client`.
pub fn authority() -> Authority {
    let authority = Authority::new();
    authority.issue("server", &LOOPBACK, |_| ());
    authority.issue("client", &["client.example"], |_| ());
    authority
}

pub fn here() -> Address {
    Address::new(NAME, "127.0.0.1:0")
}

pub fn listen(options: TlsOptions) -> (Ssliop, Box<dyn Acceptor>) {
    let link = Ssliop::new(options).unwrap();
    let acceptor = link.listen(&here(), &Properties::NONE).unwrap();
    (link, acceptor)
}

pub fn connect(
    options: TlsOptions,
    acceptor: &dyn Acceptor,
) -> Result<Arc<dyn Connection>, LinkError> {
    let link = Ssliop::new(options).unwrap();
    link.connect(acceptor.address(), &Properties::NONE, limit())
}

pub fn send(connection: &dyn Connection, octets: &[u8]) {
    connection.send(&[IoSlice::new(octets)], limit()).unwrap();
}

pub fn receive(connection: &dyn Connection, length: usize) -> Vec<u8> {
    let mut block = connection.lend(0);
    while block.len() < length {
        connection.receive(&mut block, length, limit()).unwrap();
    }
    block.to_vec()
}

/// Checks that data can be sent in both directions over a connection.
pub fn talk(client: &dyn Connection, server: &dyn Connection) {
    send(client, b"hello");
    assert_eq!(receive(server, 5), b"hello");
    send(server, b"and back");
    assert_eq!(receive(client, 8), b"and back");
}

/// Returns the reason of the first handshake that failed at this link.
pub fn refusal(link: &Ssliop) -> String {
    let deadline = limit();
    loop {
        if let Some(refusal) = link.refusals().into_iter().next() {
            return refusal.reason;
        }
        assert!(!deadline.has_passed(), "nothing was refused");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
