//! `punctual ior --check`: whether the endpoints of a reference take connections.

use punctual::Orb;
use punctual::protocol::{Address, ProfileEndpoint, Reached, Unreachable, endpoints_of};
use punctual_ior::{Ior, TaoPlace, tags};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// An endpoint, and whether it was reached.
#[derive(Debug, Serialize)]
pub(crate) struct Endpoint {
    /// As `protocol://place`.
    pub(crate) endpoint: String,
    pub(crate) reached: Answer,
    /// Why it was not reached, or what else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

/// Whether an endpoint was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Yes,
    No,
    /// Datagrams go out, and nobody answers one that is no request.
    Unknown,
}

/// The ORB whose protocols are tried; a configuration may bring TLS and links of its own.
pub(crate) fn orb(config: Option<&Path>) -> Result<Orb, String> {
    let mut builder = Orb::builder();
    if let Some(file) = config {
        builder = builder.file(file).map_err(|error| error.to_string())?;
    }
    builder.build().map_err(|error| error.to_string())
}

/// So many are tried at a time, each by a thread.
const AT_A_TIME: usize = 32;

/// Tries all endpoints that a reference names, each for `within` at most.
pub(crate) fn all(orb: &Orb, ior: &Ior, within: Duration) -> Vec<Endpoint> {
    let endpoints = named(orb, ior);
    let mut tried = Vec::with_capacity(endpoints.len());
    for some in endpoints.chunks(AT_A_TIME) {
        // Bare thread: it connects, serves nobody, and is over before the next ones begin.
        std::thread::scope(|scope| {
            let trying: Vec<_> = some
                .iter()
                .map(|one| scope.spawn(|| attempt(orb, one, within)))
                .collect();
            tried.extend(trying.into_iter().filter_map(|one| one.join().ok()));
        });
    }
    tried
}

/// The endpoints that the ORB would try, and those that TAO names beside, which are lanes of its own.
fn named(orb: &Orb, ior: &Ior) -> Vec<ProfileEndpoint> {
    let mut endpoints = endpoints_of(orb, ior);
    for profile in &ior.profiles {
        for (protocol, place) in tao_places(profile) {
            let address = match place {
                TaoPlace::Host(at) => Address::iiop(&at.host, at.port),
                TaoPlace::Path(path) => Address::new(protocol, &path),
            };
            let endpoint = ProfileEndpoint::new(protocol, address);
            if !endpoints.iter().any(|one| one.address == endpoint.address) {
                endpoints.push(endpoint);
            }
        }
    }
    endpoints
}

/// What TAO's component names in profiles of the links that it has in common with this ORB.
fn tao_places(profile: &punctual_ior::TaggedProfile) -> Vec<(&'static str, TaoPlace)> {
    use punctual_ior::Profile;
    let (protocol, components) = match profile.decode() {
        Ok(Profile::Iiop(iiop)) => ("iiop", iiop.components),
        Ok(Profile::Uiop(uiop)) => ("uiop", uiop.components),
        _ => return Vec::new(),
    };
    let endpoints = components
        .iter()
        .filter(|one| one.tag == tags::component::TAO_ENDPOINTS)
        .filter_map(|one| one.tao_endpoints(profile.tag).ok()?);
    endpoints
        .flatten()
        .map(|one| (protocol, one.place))
        .collect()
}

fn attempt(orb: &Orb, endpoint: &ProfileEndpoint, within: Duration) -> Endpoint {
    let (reached, detail) = match orb.reach(endpoint, within) {
        Ok(Reached::Connected) => (Answer::Yes, None),
        Ok(Reached::Unknown) => {
            let why = "nobody answers a datagram that is no request";
            (Answer::Unknown, Some(why.to_owned()))
        }
        Err(Unreachable::Protocol(_)) if is_tls(endpoint) => tcp_of(orb, endpoint, within),
        Err(error) => (Answer::No, Some(error.to_string())),
    };
    Endpoint {
        endpoint: format!("{}://{}", endpoint.protocol, endpoint.address.place()),
        reached,
        detail,
    }
}

fn is_tls(endpoint: &ProfileEndpoint) -> bool {
    endpoint.address.link() == "ssliop"
}

/// Without certificates there is no handshake, but the port can be tried.
fn tcp_of(orb: &Orb, endpoint: &ProfileEndpoint, within: Duration) -> (Answer, Option<String>) {
    let port = Address::new("iiop", endpoint.address.place());
    match orb.reach(&ProfileEndpoint::new("iiop", port), within) {
        Ok(_) => {
            let why = "by TCP; TLS is not tried without --config FILE that has a [tls] table";
            (Answer::Yes, Some(why.to_owned()))
        }
        Err(error) => (Answer::No, Some(error.to_string())),
    }
}
