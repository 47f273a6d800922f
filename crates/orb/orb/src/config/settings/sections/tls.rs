//! `[tls]`: settings of TLS, the link `ssliop`.

use crate::config::settings::section::Section;
use crate::config::settings::setting::{Field, Setting};

/// Makes the [`Field`] of a TLS option; setting it enables TLS.
macro_rules! tls {
    ($name:ident) => {
        Field {
            path: concat!("tls.", stringify!($name)),
            slot: |draft| &mut draft.config.tls.get_or_insert_default().$name,
        }
    };
}

pub(super) const SECTION: Section = Section {
    name: "tls",
    doc: "TLS, the link ssliop: listen = [\"ssliop://:2810\"]. Files are relative to the folder of this file, and are \
          read again when they change. Without the table there is no such link.",
    open: Some(|draft| {
        draft.config.tls.get_or_insert_default();
    }),
    settings: &[
        Setting::new(
            "certificate",
            tls!(certificate),
            "Certificate of this side in PEM, followed by those that lead to an authority that the peer trusts. A \
             server needs one, a client where the server asks for it.",
        )
        .example("\"server.pem\""),
        Setting::new(
            "key",
            tls!(key),
            "Private key of that certificate in PEM: PKCS #8, PKCS #1 or SEC1, not encrypted.",
        )
        .example("\"server.key\""),
        Setting::new(
            "trusted",
            tls!(trusted),
            "Authorities that this side trusts, in PEM, any number in each file. A client needs one: the system's \
             list is not consulted.",
        )
        .example("[\"authority.pem\"]"),
        Setting::new(
            "crl",
            tls!(crl),
            "Lists of certificates that their authorities have revoked (CRL), in PEM, any number in each file. Where \
             there is one, each certificate of a peer's that leads to an authority has to be on no list, and its \
             issuer has to have one here; a list that is out of date still counts.",
        )
        .example("[\"revoked.pem\"]"),
        Setting::new(
            "client_certificate",
            tls!(client_certificate),
            "Certificates of clients: not asked for (none); asked for, and valid if there is one (wanted); demanded \
             (required). Default none.",
        )
        .example("\"required\""),
        Setting::new(
            "minimum_version",
            Field {
                path: "tls.minimum",
                slot: |draft| &mut draft.config.tls.get_or_insert_default().minimum,
            },
            "Lowest version that is accepted. Default 1.2.",
        )
        .example("\"1.2\""),
        Setting::new(
            "server_name",
            tls!(server_name),
            "Name, or IP address, that a server's certificate must be for. Default: the host in its address.",
        )
        .example("\"orb.example\""),
    ],
};
