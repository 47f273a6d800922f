//! What is wrong with the files that TLS is set up from.

use std::io;
use std::path::{Path, PathBuf};

/// A file that TLS cannot be set up from. Nothing of its content is told.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct TlsError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: Problem,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The operating system's reason.
    #[error("{0}")]
    Unreadable(#[source] io::Error),
    /// It is not PEM.
    #[error("it is no PEM file: {0}")]
    NotPem(String),
    /// There is no certificate in it.
    #[error("there is no certificate in it")]
    NoCertificate,
    /// There is no revocation list in it.
    #[error("there is no revocation list in it")]
    NoRevocationList,
    /// A revocation list that is none.
    #[error("a revocation list in it is malformed: {0}")]
    BadRevocationList(String),
    /// There is no private key in it, or it is encrypted.
    #[error("there is no private key in it that is not encrypted")]
    NoKey,
    /// A certificate that is none.
    #[error("a certificate in it is malformed: {0}")]
    BadCertificate(String),
    /// A key that cannot be used.
    #[error("the key in it cannot be used: {0}")]
    BadKey(String),
    /// The key is that of another certificate.
    #[error("the key in it does not belong to the certificate in {}", .0.display())]
    OtherKey(PathBuf),
    /// The certificate is no longer valid.
    #[error("its certificate expired at {0}")]
    Expired(String),
    /// The certificate is not valid yet.
    #[error("its certificate is not valid before {0}")]
    NotYetValid(String),
    /// A certificate without a key.
    #[error("a certificate needs a key, and none is configured")]
    WithoutKey,
    /// A key without a certificate.
    #[error("a key needs a certificate, and none is configured")]
    WithoutCertificate,
    /// Clients are asked for certificates, and no authority is trusted to have made them.
    #[error("clients are asked for certificates, and no authority is trusted to have made them")]
    NobodyTrusted,
    /// What is configured does not fit together, for a reason of the TLS library's.
    #[error("{0}")]
    Unfit(String),
}

impl TlsError {
    pub(crate) fn new(file: &Path, problem: Problem) -> Self {
        Self {
            file: file.to_owned(),
            problem,
        }
    }
}
