//! The ways by which the processes of the soak reach each other.

use punctual::config::{Concurrency, PoolSize};
use punctual::policy::{Otherwise, Security};
use punctual::protocol::ssliop::TlsOptions;
use punctual::{Interface, ListenEndpoint, Orb, OrbBuilder, Policy, SetOverride};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::Path;
use std::time::Duration;

/// No call takes longer, or something is wrong.
pub(crate) const CALL: Duration = Duration::from_secs(30);

/// What a server listens by that has a thread for each connection.
pub(crate) const THREADED: [&str; 8] = [
    "iiop",
    "uiop",
    "shmiop",
    "ssliop",
    "reliable+diop",
    "giop_lite+uiop",
    "giop_oneway+diop",
    "frames+uiop",
];

/// Those with a pool.
pub(crate) const POOLED: [&str; 3] = ["iiop", "uiop", "ssliop"];

/// Those with one thread for all.
pub(crate) const REACTIVE: [&str; 2] = ["iiop", "giop_lite+iiop"];

/// Those that carry one-ways only.
pub(crate) const ONE_WAY: [&str; 2] = ["giop_oneway+diop", "frames+uiop"];

/// Where each server has its endpoints.
pub(crate) fn strategies() -> [(&'static str, Concurrency, &'static [&'static str]); 3] {
    // As many threads as it may have: what a pool starts stays.
    let pool = PoolSize {
        threads: 4,
        most: 4,
        reserve: true,
    };
    [
        ("threads", Concurrency::ThreadPerConnection, &THREADED),
        ("pool", Concurrency::LeaderFollowers(pool), &POOLED),
        ("reactor", Concurrency::Reactive, &REACTIVE),
    ]
}

/// An endpoint at a place of the kernel's or the link's choice; its files are in `folder`.
pub(crate) fn endpoint(protocol: &str, folder: &Path, name: &str) -> ListenEndpoint {
    let is_file = protocol.ends_with("uiop") || protocol.ends_with("shmiop");
    let file = folder.join(format!("{name}-{}", protocol.replace('+', "-")));
    let place = match is_file {
        true => file.display().to_string(),
        false => "127.0.0.1:0".to_owned(),
    };
    ListenEndpoint::new(protocol, &place)
}

/// An ORB that has all links; where several ways lead to an object, who calls says which.
pub(crate) fn orb(folder: &Path) -> OrbBuilder {
    Orb::builder().configure(|config| {
        config.tls = Some(TlsOptions {
            certificate: Some(folder.join("soak.pem")),
            key: Some(folder.join("soak.key")),
            trusted: vec![folder.join("authority.pem")],
            ..TlsOptions::default()
        });
        config.security = Security::Off;
        // Peers that are killed, or silent, are let go soon, so that there is always as much of them. Datagrams have no
        // end that could be noticed: a peer is there until it was silent for so long, and lets itself be heard before.
        config.reliable.keep_alive = Duration::from_millis(500);
        config.diop.idle = Duration::from_secs(5);
        let soon = Some(Duration::from_secs(5));
        config.timeouts.first_message = soon;
        config.timeouts.message = soon;
    })
}

/// The object as it is called by one protocol alone, within a time.
///
/// # Errors
/// What is wrong with the protocol.
pub(crate) fn by<I: Interface>(object: &I, protocol: &str) -> Result<I, String> {
    let only = Policy::protocols(&[protocol], Otherwise::Raise);
    let object = object.as_object();
    let object = object.set_policy_overrides(&[only], SetOverride::Add);
    let object = object.map_err(|exception| exception.to_string())?;
    Ok(I::from_object(object.with_timeout(CALL)))
}

/// The object of a text.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn named<I: Interface>(orb: &Orb, text: &str) -> Result<I, String> {
    let object = orb.string_to_object(text);
    object
        .map(I::from_object)
        .map_err(|exception| exception.to_string())
}

/// Makes an authority, and a certificate by it for all sides.
///
/// # Errors
/// Why a file was not written.
pub(crate) fn write_certificates(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let names = ["127.0.0.1", "127.0.0.2"].map(str::to_owned);
    let params = CertificateParams::new(names)?;
    let certificate = params.signed_by(&key, &authority)?;
    std::fs::write(folder.join("authority.pem"), authority.pem())?;
    std::fs::write(folder.join("soak.pem"), certificate.pem())?;
    std::fs::write(folder.join("soak.key"), key.serialize_pem())?;
    Ok(())
}

/// Whether a protocol has one-ways only.
pub(crate) fn is_one_way(protocol: &str) -> bool {
    ONE_WAY.contains(&protocol)
}
