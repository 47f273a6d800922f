//! IIOP profiles (CORBA 3.3 part 2, §9.7.2): TCP, and as components alternate addresses, TLS
//! (SSL_SEC_TRANS of SSLIOP) and omniORB's Unix sockets.

use super::{Place, PlacedProfile, ProfileCodec, Publication, newest};
use punctual_cdr::{ByteOrder, CdrError, GiopVersion};
use punctual_ior::tags;
use punctual_ior::{
    AssociationOptions, Component, Endpoint, IiopProfile, IorError, SslSecTrans, TaggedComponent,
    TaggedProfile,
};
use punctual_link::{Address, iiop, uiop};

/// The name of the TLS link, which is a crate of its own.
const SSLIOP: &str = "ssliop";

/// The codec of INTERNET_IOP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IiopCodec;

impl ProfileCodec for IiopCodec {
    fn tag(&self) -> u32 {
        tags::profile::INTERNET_IOP
    }

    fn carries(&self, protocol: &str) -> bool {
        protocol == iiop::NAME || protocol == SSLIOP
    }

    /// Places that are secured come first, then Unix sockets of this host, then TCP.
    fn decode(&self, data: &[u8]) -> Result<PlacedProfile, IorError> {
        let profile = IiopProfile::decode(data)?;
        let version = newest(profile.version)?;
        let mut places = Vec::new();
        for component in &profile.components {
            // A component that does not decode says nothing of use.
            match component.decode() {
                Ok(Component::SslSecTrans(ssl)) if ssl.port != 0 => {
                    let address = Address::iiop(&profile.host, ssl.port);
                    places.push(Place {
                        protocol: SSLIOP.into(),
                        address: Address::new(SSLIOP, address.place()),
                    });
                }
                Ok(Component::UnixTrans(socket)) if is_this_host(&socket.host) => {
                    places.push(Place {
                        protocol: uiop::NAME.into(),
                        address: Address::new(uiop::NAME, &socket.path),
                    });
                }
                _ => {}
            }
        }
        // A port of 0 says that the profile's own address is not for use (another transport's is).
        let plain = profile.endpoints().filter(|place| place.port != 0);
        places.extend(plain.map(|place| at(&place)));
        Ok(PlacedProfile {
            version,
            places,
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    /// One profile for all TCP places, those after the first as alternate addresses, and one for each TLS
    /// place, so that a client takes the one or the other by policy. In GIOP 1.0, which has no components,
    /// one for each TCP place.
    fn encode(
        &self,
        places: &[Place],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        let (secured, plain): (Vec<&Place>, Vec<&Place>) =
            places.iter().partition(|place| *place.protocol == *SSLIOP);
        let mut plain = plain.iter().filter_map(|place| endpoint(&place.address));
        let secured = secured.iter().filter_map(|place| endpoint(&place.address));
        let profile = |place: Endpoint, components| {
            IiopProfile {
                version: object.version.into(),
                host: place.host,
                port: place.port,
                object_key: object.object_key.to_vec(),
                components,
            }
            .to_tagged(ByteOrder::NATIVE)
        };
        if object.version == GiopVersion::V1_0 {
            return plain.map(|place| profile(place, Vec::new())).collect();
        }
        let mut profiles = Vec::new();
        if let Some(first) = plain.next() {
            let mut components = object.components.to_vec();
            for other in plain {
                components.push(TaggedComponent::alternate_iiop_address(&other)?);
            }
            profiles.push(profile(first, components)?);
        }
        // One that demands TLS names no port for TCP.
        for place in secured {
            let mut components = object.components.to_vec();
            components.push(TaggedComponent::ssl_sec_trans(&offered(place.port)));
            profiles.push(profile(Endpoint { port: 0, ..place }, components)?);
        }
        Ok(profiles)
    }
}

/// What a TLS endpoint offers and demands.
fn offered(port: u16) -> SslSecTrans {
    let demanded = AssociationOptions::INTEGRITY
        .and(AssociationOptions::CONFIDENTIALITY)
        .and(AssociationOptions::DETECT_REPLAY)
        .and(AssociationOptions::DETECT_MISORDERING);
    let trust = AssociationOptions::ESTABLISH_TRUST_IN_TARGET
        .and(AssociationOptions::ESTABLISH_TRUST_IN_CLIENT)
        .and(AssociationOptions::NO_DELEGATION);
    SslSecTrans {
        target_supports: demanded.and(trust),
        target_requires: demanded,
        port,
    }
}

/// Whether a Unix socket of a host of this name is on this one.
fn is_this_host(name: &str) -> bool {
    punctual_sys::host::name().is_some_and(|own| own == name)
}

fn at(place: &Endpoint) -> Place {
    Place {
        protocol: iiop::NAME.into(),
        address: Address::iiop(&place.host, place.port),
    }
}

/// An address as host and port.
pub(super) fn endpoint(address: &Address) -> Option<Endpoint> {
    let (host, port) = address.host_and_port()?;
    Some(Endpoint {
        host: host.to_owned(),
        port,
    })
}
