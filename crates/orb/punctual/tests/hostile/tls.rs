//! Certificates for whoever speaks over TLS.

use punctual::protocol::ssliop::TlsOptions;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::Path;
use tempfile::TempDir;

const CERTIFICATE: &str = "own.pem";
const KEY: &str = "own.key";
const TRUSTED: &str = "authority.pem";

/// A folder with an authority's certificate, and one that it gave to 127.0.0.1.
pub(crate) struct Authority {
    folder: TempDir,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        write(TRUSTED, &issuer.pem());
        write(CERTIFICATE, &certificate.pem());
        write(KEY, &key.serialize_pem());
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Options of either side, from such a folder.
    pub(crate) fn options(folder: &Path) -> TlsOptions {
        TlsOptions {
            certificate: Some(folder.join(CERTIFICATE)),
            key: Some(folder.join(KEY)),
            trusted: vec![folder.join(TRUSTED)],
            ..TlsOptions::default()
        }
    }
}
