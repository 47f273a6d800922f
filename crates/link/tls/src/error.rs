//! Errors of the files that TLS is set up from.

use std::io;
use std::path::{Path, PathBuf};

/// Error of a file that TLS cannot be set up from. It reveals nothing of the content.
#[derive(thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct TlsError {
    /// Field of [`TlsOptions`](crate::TlsOptions) that names the file: `certificate`, `key`, `trusted` or `crl`. The keys
    /// of configurations have the same names.
    pub option: &'static str,
    /// Path of the file that has the problem.
    pub file: PathBuf,
    /// Problem that was found in the file.
    #[source]
    pub problem: Problem,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for TlsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Problem of a configured certificate, key or revocation-list file.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Error that the operating system reported on reading the file.
    #[error("{0}")]
    Unreadable(#[source] io::Error),
    /// The file is not PEM.
    #[error("not a PEM file: {0}")]
    NotPem(String),
    /// The file has no certificate.
    #[error("it contains no certificate")]
    NoCertificate,
    /// The file has no revocation list.
    #[error("it contains no revocation list")]
    NoRevocationList,
    /// A revocation list in the file is malformed.
    #[error("a revocation list in it is malformed: {0}")]
    BadRevocationList(String),
    /// The file has no private key, or an encrypted one.
    #[error("it contains no unencrypted private key")]
    NoKey,
    /// A certificate in the file is malformed.
    #[error("a certificate in it is malformed: {0}")]
    BadCertificate(String),
    /// A private key in the file cannot be used.
    #[error("the key in it cannot be used: {0}")]
    BadKey(String),
    /// The private key does not belong to the configured certificate.
    #[error("the key in it does not belong to the certificate in {}", .0.display())]
    OtherKey(PathBuf),
    /// The certificate in the file has expired.
    #[error("its certificate expired at {0}")]
    Expired(String),
    /// The certificate is not valid yet.
    #[error("its certificate is not valid before {0}")]
    NotYetValid(String),
    /// A certificate is configured without a key.
    #[error("a certificate needs a key, and none is configured")]
    WithoutKey,
    /// A key is configured without a certificate.
    #[error("a key needs a certificate, and none is configured")]
    WithoutCertificate,
    /// Clients are asked for certificates, and no authority is trusted to issue them.
    #[error("clients are asked for certificates, but no trusted authority is configured")]
    NobodyTrusted,
    /// The configuration is inconsistent, for a reason of the TLS library's.
    #[error("{0}")]
    Unfit(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Path of a file, with the name of the option that configures it.
#[derive(Clone, Copy)]
pub(crate) struct OptionFile<'o> {
    pub(crate) option: &'static str,
    pub(crate) path: &'o Path,
}

impl<'o> OptionFile<'o> {
    pub(crate) fn new(option: &'static str, path: &'o Path) -> Self {
        Self { option, path }
    }

    /// Makes an error that reports a problem of the file.
    pub(crate) fn error(self, problem: Problem) -> TlsError {
        TlsError {
            option: self.option,
            file: self.path.to_owned(),
            problem,
        }
    }
}
