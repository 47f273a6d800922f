//! Links and protocols by which the processes of the soak reach each other.

use punctual::config::{Concurrency, PoolSize};
use punctual::policy::{Otherwise, Security};
use punctual::protocol::ssliop::TlsOptions;
use punctual::{Interface, ListenEndpoint, Orb, OrbBuilder, Policy, SetOverride};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::Path;
use std::time::Duration;

/// Time limit of each call in the soak test.
pub(crate) const CALL: Duration = Duration::from_secs(30);

/// Protocols of a server with a thread for each connection.
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

/// Protocols of a server with a thread pool.
pub(crate) const POOLED: [&str; 3] = ["iiop", "uiop", "ssliop"];

/// Protocols of a server with one thread for all connections.
pub(crate) const REACTIVE: [&str; 2] = ["iiop", "giop_lite+iiop"];

/// Protocols that carry only one-way requests.
pub(crate) const ONE_WAY: [&str; 2] = ["giop_oneway+diop", "frames+uiop"];

/// Returns the name, strategy and protocols of each server.
pub(crate) fn strategies() -> [(&'static str, Concurrency, &'static [&'static str]); 3] {
    // The pool starts with its maximum of threads: threads that it adds would stay.
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

/// Returns an endpoint at an address chosen by the kernel or the link; its files are in `folder`.
pub(crate) fn endpoint(protocol: &str, folder: &Path, name: &str) -> ListenEndpoint {
    let is_file = protocol.ends_with("uiop") || protocol.ends_with("shmiop");
    let file = folder.join(format!("{name}-{}", protocol.replace('+', "-")));
    let place = match is_file {
        true => file.display().to_string(),
        false => "127.0.0.1:0".to_owned(),
    };
    ListenEndpoint::new(protocol, &place)
}

/// Returns a builder of an ORB with all links. Endpoints of an object are tried in their order,
/// without preference for protected ones; callers select one by its protocol.
pub(crate) fn orb(folder: &Path) -> OrbBuilder {
    Orb::builder().configure(|config| {
        config.tls = Some(TlsOptions {
            certificate: Some(folder.join("soak.pem")),
            key: Some(folder.join("soak.key")),
            trusted: vec![folder.join("authority.pem")],
            ..TlsOptions::default()
        });
        config.security = Security::Off;
        // Killed or silent peers are dropped soon, so that their number stays the same. Datagrams
        // show no end of a peer: it counts as alive until it has been silent for so long, and sends
        // keep-alives before that.
        config.reliable.keep_alive = Duration::from_millis(500);
        config.diop.idle = Duration::from_secs(5);
        let soon = Some(Duration::from_secs(5));
        config.timeouts.first_message = soon;
        config.timeouts.message = soon;
    })
}

/// Returns the object restricted to one protocol, with a time limit for its calls.
///
/// # Errors
/// The policy that selects the protocol is refused.
pub(crate) fn by<I: Interface>(object: &I, protocol: &str) -> Result<I, String> {
    let only = Policy::protocols(&[protocol], Otherwise::Raise);
    let object = object.as_object();
    let object = object.set_policy_overrides(&[only], SetOverride::Add);
    let object = object.map_err(|exception| exception.to_string())?;
    Ok(I::from_object(object.with_timeout(CALL)))
}

/// Returns the object that a text refers to.
///
/// # Errors
/// The text is no valid reference.
pub(crate) fn named<I: Interface>(orb: &Orb, text: &str) -> Result<I, String> {
    let object = orb.string_to_object(text);
    object
        .map(I::from_object)
        .map_err(|exception| exception.to_string())
}

/// Makes an authority, and a certificate by it for all sides.
///
/// # Errors
/// A file could not be written.
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

/// Returns whether a protocol carries one-way requests only.
pub(crate) fn is_one_way(protocol: &str) -> bool {
    ONE_WAY.contains(&protocol)
}
