//! TLS: certificates made for the run, and the options of both sides.

use crate::Failure;
use crate::role::Role;
use punctual::protocol::ssliop::{ClientCertificate, TlsOptions, TlsVersion};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Host name in the TLS certificates of both sides.
const HOST: &str = "127.0.0.1";

/// Names of the certificates that the test authority issues: Punctual's and the peer's.
const OURS: &str = "ours";
const THEIRS: &str = "theirs";

/// Certificate authority, and a folder with the certificates that it has issued: one for each side.
#[derive(Debug)]
pub(crate) struct Authority {
    folder: TempDir,
}

impl Authority {
    /// Makes an authority with the given name.
    ///
    /// # Errors
    /// Its files could not be made.
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let this = Self {
            folder: tempfile::tempdir()?,
        };
        std::fs::write(this.own(), issuer.pem())?;
        for name in [OURS, THEIRS] {
            let mut params = CertificateParams::new(vec![HOST.to_owned()])?;
            params.distinguished_name.push(DnType::CommonName, name);
            let key = KeyPair::generate()?;
            let (certificate, key) = (params.signed_by(&key, &issuer)?.pem(), key.serialize_pem());
            std::fs::write(this.certificate(name), &certificate)?;
            std::fs::write(this.key(name), &key)?;
            // omniORB reads certificate and key from one file.
            std::fs::write(this.both(name), certificate + &key)?;
        }
        Ok(this)
    }

    fn own(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    fn certificate(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.pem"))
    }

    fn key(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.key"))
    }

    fn both(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.both"))
    }
}

/// TLS settings of the two sides: their credentials, and the authentication that each requires.
#[derive(Debug)]
pub(crate) struct Tls {
    /// Lowest TLS version that Punctual's side accepts.
    minimum: TlsVersion,
    /// `true` if clients must present a certificate.
    mutual: bool,
    /// `true` if clients have a certificate.
    clients_have_certificates: bool,
    /// Certificate authority that both sides trust.
    trusted: Authority,
    /// Issuer of the servers' certificates, if it is another authority.
    other: Option<Authority>,
    /// OpenSSL configuration file for settings that omniORB has no option for: the single TLS
    /// version that the peer supports.
    openssl: PathBuf,
}

impl Tls {
    /// Makes settings with one authority, which has issued all certificates; the peer supports the
    /// given TLS version only.
    ///
    /// # Errors
    /// The authority's files could not be made.
    pub(crate) fn new(version: TlsVersion, mutual: bool) -> Result<Self, Failure> {
        let trusted = Authority::new("trusted")?;
        let openssl = trusted.folder.path().join("openssl.cnf");
        write_openssl_options(&openssl, version)?;
        Ok(Self {
            minimum: version,
            mutual,
            clients_have_certificates: mutual,
            trusted,
            other: None,
            openssl,
        })
    }

    /// Sets the lowest TLS version that our side accepts.
    pub(crate) fn with_us_at(mut self, minimum: TlsVersion) -> Self {
        self.minimum = minimum;
        self
    }

    /// Changes the TLS settings so that clients have no certificates.
    pub(crate) fn with_nameless_clients(mut self) -> Self {
        self.clients_have_certificates = false;
        self
    }

    /// Gives servers certificates that an untrusted authority has issued.
    ///
    /// # Errors
    /// The authority's files could not be made.
    pub(crate) fn with_untrusted_servers(mut self) -> Result<Self, Failure> {
        self.other = Some(Authority::new("another")?);
        Ok(self)
    }

    /// Returns whether the side in this role has a certificate, without which it cannot be a
    /// server.
    pub(crate) fn has_certificate(&self, role: Role) -> bool {
        role == Role::Server || self.clients_have_certificates
    }

    fn issuer(&self, role: Role) -> &Authority {
        match (&self.other, role) {
            (Some(other), Role::Server) => other,
            _ => &self.trusted,
        }
    }

    /// Returns the TLS options of Punctual's side in the given role.
    pub(crate) fn options(&self, role: Role) -> TlsOptions {
        let issuer = self.issuer(role);
        let (certificate, key) = (issuer.certificate(OURS), issuer.key(OURS));
        let has_one = self.has_certificate(role);
        TlsOptions {
            certificate: has_one.then_some(certificate),
            key: has_one.then_some(key),
            trusted: vec![self.trusted.own()],
            client_certificate: match self.mutual {
                true => ClientCertificate::Required,
                false => ClientCertificate::None,
            },
            minimum: self.minimum,
            ..TlsOptions::default()
        }
    }

    /// Adds the options of the peer's side to its command.
    pub(crate) fn tell_peer(&self, command: &mut Command, role: Role) {
        // A server that does not verify asks for no certificate; a client always verifies.
        let verify = match (role, self.mutual) {
            (Role::Server, false) => "none",
            _ => "peer,fail",
        };
        command.arg("-ORBsslCAFile").arg(self.trusted.own());
        command.args(["-ORBsslVerifyMode", verify]);
        if self.has_certificate(role) {
            let file = self.issuer(role).both(THEIRS);
            command.arg("-ORBsslKeyFile").arg(file);
            // A side without a certificate reads no key; an unencrypted key needs no password.
            command.args(["-ORBsslKeyPassword", "none"]);
        }
        command.env("OPENSSL_CONF", &self.openssl);
    }
}

fn write_openssl_options(file: &Path, version: TlsVersion) -> std::io::Result<()> {
    let version = match version {
        TlsVersion::V1_2 => "TLSv1.2",
        TlsVersion::V1_3 => "TLSv1.3",
    };
    let text = format!(
        "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = contexts\n[contexts]\n\
         MinProtocol = {version}\nMaxProtocol = {version}\n"
    );
    std::fs::write(file, text)
}
