//! Certificate authority, and the certificates that it signs.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use punctual::protocol::ssliop::TlsOptions;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::PathBuf;
use tempfile::TempDir;

/// Certificate authority, and the folder of the certificates that it signs.
pub struct Authority {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("authority.pem"), issuer.pem()).unwrap();
        Self { folder, issuer }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Issues a certificate for this name; returns the TLS options of its holder.
    pub fn options(&self, name: &str) -> TlsOptions {
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let (pem, secret) = (format!("{name}.pem"), format!("{name}.key"));
        std::fs::write(self.path(&pem), certificate.pem()).unwrap();
        std::fs::write(self.path(&secret), key.serialize_pem()).unwrap();
        TlsOptions {
            certificate: Some(self.path(&pem)),
            key: Some(self.path(&secret)),
            trusted: vec![self.path("authority.pem")],
            ..TlsOptions::default()
        }
    }
}
