//! `punctual ior --check`: test of a reference's endpoints by connecting.

use punctual::Orb;
use punctual::protocol::{Address, ProfileEndpoint, Reached, Unreachable, endpoints_of};
use punctual_ior::{Ior, TaoPlace, tags};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// An endpoint, and the result of connecting.
#[derive(Debug, Serialize)]
pub(crate) struct Endpoint {
    /// Endpoint as `protocol://place`.
    pub(crate) endpoint: String,
    pub(crate) reached: Answer,
    /// Reason for which the endpoint was not reached, or another detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

/// Result of connecting to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Yes,
    No,
    /// Datagrams were sent, but a server answers only requests.
    Unknown,
}

/// Returns the ORB whose protocols are tried; a configuration may add TLS and links of its own.
pub(crate) fn orb(config: Option<&Path>) -> Result<Orb, String> {
    let mut builder = Orb::builder();
    if let Some(file) = config {
        builder = builder.file(file).map_err(|error| error.to_string())?;
    }
    builder.build().map_err(|error| error.to_string())
}

/// Number of endpoints that are tried at a time, each by a thread.
const AT_A_TIME: usize = 32;

/// Tries all endpoints that a reference names, each for at most `within`.
pub(crate) fn all(orb: &Orb, ior: &Ior, within: Duration) -> Vec<Endpoint> {
    let endpoints = named(orb, ior);
    let mut tried = Vec::with_capacity(endpoints.len());
    for some in endpoints.chunks(AT_A_TIME) {
        // Bare thread: it connects, and ends before the next ones begin.
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

/// Returns the endpoints that the ORB would try, and additional ones that TAO names, which are its
/// lanes.
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

/// Returns the places that TAO's component names, in profiles of the links that it shares with this
/// ORB.
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
            let why = "peers do not answer a datagram that is not a request";
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

/// Tries the TCP port only: without certificates there is no TLS handshake.
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
