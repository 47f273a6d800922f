//! Certificates for servers and clients over TLS, in a folder that other processes can read.

use crate::authority;
use punctual::protocol::ssliop::TlsOptions;
use std::path::{Path, PathBuf};

const NAME: &str = "127.0.0.1";

/// Folder with the certificate of an authority, and one that the authority issued to 127.0.0.1.
pub(crate) struct Authority {
    _kept: authority::Authority,
    folder: PathBuf,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let kept = authority::Authority::new();
        // This writes the files.
        kept.options(NAME);
        let folder = kept.path("");
        Self {
            _kept: kept,
            folder,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns TLS options for either side, from the files in such a folder.
    pub(crate) fn options(folder: &Path) -> TlsOptions {
        TlsOptions {
            certificate: Some(folder.join(format!("{NAME}.pem"))),
            key: Some(folder.join(format!("{NAME}.key"))),
            trusted: vec![folder.join("authority.pem")],
            ..TlsOptions::default()
        }
    }
}
