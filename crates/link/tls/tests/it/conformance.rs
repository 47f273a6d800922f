//! Tests that TLS passes the suite of reliable streams.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual_tls::{ClientCertificate, Ssliop, TlsOptions, TlsVersion};
use std::sync::OnceLock;
use support::{Authority, authority, here};

fn options() -> TlsOptions {
    static AUTHORITY: OnceLock<Authority> = OnceLock::new();
    let authority = AUTHORITY.get_or_init(authority);
    TlsOptions {
        trusted: authority.trusting().trusted,
        ..authority.with("server")
    }
}

mod tls_1_3 {
    use super::{ClientCertificate, Ssliop, TlsOptions, TlsVersion, here, options};

    /// Makes an SSLIOP link in which both client and server authenticate themselves.
    fn link() -> Ssliop {
        Ssliop::new(TlsOptions {
            minimum: TlsVersion::V1_3,
            client_certificate: ClientCertificate::Required,
            ..options()
        })
        .unwrap()
    }

    punctual_link_conformance::conformance!(stream: link(), here());
}

mod anonymous_clients {
    use super::{Ssliop, here, options};

    fn link() -> Ssliop {
        Ssliop::new(options()).unwrap()
    }

    punctual_link_conformance::conformance!(stream: link(), here());
}
