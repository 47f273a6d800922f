//! IIOP profiles (CORBA 3.3 part 2, §9.7.2): TCP and, in components, alternate addresses, TLS
//! (SSL_SEC_TRANS of SSLIOP) and omniORB's Unix sockets.
//!
//! omniORB's clients read only the first IIOP profile of a reference, and find Unix sockets only in
//! its components. So an endpoint of [`uiop`], which has a profile of its own for TAO and Punctual,
//! is repeated there.

use super::demands::securities;
use super::endpoint::host_and_port;
use super::{
    DecodedProfile, ORB_TYPE, ProfileCodec, ProfileEndpoint, Publication, SecurityRequirement,
    newest, priorities,
};
use crate::priority::Priority;
use punctual_cdr::{ByteOrder, CdrError, GiopVersion};
use punctual_ior::tags;
use punctual_ior::{
    Component, CompoundMechanism, Endpoint, IiopProfile, IorError, SslSecTrans, TaggedComponent,
    TaggedProfile, TaoPlace, UnixTrans,
};
use punctual_link::{Address, iiop, uiop};

use std::collections::{HashMap, HashSet};

/// Name of the TLS link, which is implemented in a separate crate.
const SSLIOP: &str = "ssliop";

/// Codec of profiles with the tag TAG_INTERNET_IOP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IiopCodec;

impl ProfileCodec for IiopCodec {
    fn tag(&self) -> u32 {
        tags::profile::INTERNET_IOP
    }

    fn carries(&self, protocol: &str) -> bool {
        protocol == iiop::NAME || protocol == SSLIOP
    }

    /// Decodes the encrypted endpoints first, then Unix sockets of this host, then TCP. Unix
    /// sockets in references of Punctual are skipped, as they also have UIOP profiles, whose
    /// position the server chose.
    fn decode(&self, data: &[u8]) -> Result<DecodedProfile, IorError> {
        let profile = IiopProfile::decode(data)?;
        let version = newest(profile.version)?;
        // Most references have one endpoint.
        let mut endpoints = Vec::with_capacity(1);
        let has_uiop = is_ours(&profile.components);
        for component in &profile.components {
            // A component that does not decode is ignored.
            match component.decode() {
                Ok(Component::SslSecTrans(ssl)) if ssl.port != 0 => {
                    let at = Address::iiop(&profile.host, ssl.port);
                    let address = Address::new(SSLIOP, at.place());
                    let secured = ProfileEndpoint::new(SSLIOP, address);
                    endpoints.push(secured.with_security((&ssl).into()));
                }
                Ok(Component::CsiMechanisms(mechanisms)) => {
                    endpoints.extend(of_mechanisms(&mechanisms));
                }
                Ok(Component::UnixTrans(socket)) if !has_uiop && is_this_host(&socket.host) => {
                    let address = Address::new(uiop::NAME, &socket.path);
                    endpoints.push(ProfileEndpoint::new(uiop::NAME, address));
                }
                _ => {}
            }
        }
        // Port 0 says that the profile's own address is not for use (that of another transport is).
        let plain = profile.endpoints().filter(|one| one.port != 0);
        let at = |one: Endpoint| Address::iiop(&one.host, one.port);
        endpoints.extend(plain.map(|one| ProfileEndpoint::new(iiop::NAME, at(one))));
        prioritise(&mut endpoints, &profile);
        Ok(DecodedProfile {
            version,
            endpoints,
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    /// Writes one profile for all TCP endpoints, those after the first as alternate addresses. It
    /// also offers TLS if there is a TLS endpoint on its host: omniORB, JacORB and TAO look for it
    /// there. Every other TLS endpoint has a profile of its own, without a TCP port, which demands
    /// TLS. The first profile contains the Unix sockets; if there are only those, they have a
    /// profile of their own, without a port, as in omniORB. In GIOP 1.0, which has no components,
    /// there is one profile for each TCP endpoint.
    fn encode(
        &self,
        endpoints: &[ProfileEndpoint],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        let of =
            |protocol: &'static str| endpoints.iter().filter(move |p| *p.protocol == *protocol);
        let mut plain = of(iiop::NAME).filter_map(|one| host_and_port(&one.address));
        let priorities = priorities::component(of(iiop::NAME), priorities::at_host)?;
        let profile = |at: Endpoint, components| {
            IiopProfile {
                version: object.version.into(),
                host: at.host,
                port: at.port,
                object_key: object.object_key.to_vec(),
                components,
            }
            .to_tagged(ByteOrder::NATIVE)
        };
        if object.version == GiopVersion::V1_0 {
            let mut profiles = Vec::with_capacity(1);
            for at in plain {
                profiles.push(profile(at, Vec::new())?);
            }
            return Ok(profiles);
        }
        let mut profiles: Vec<(Endpoint, Vec<TaggedComponent>)> = Vec::with_capacity(1);
        if let Some(first) = plain.next() {
            let others = plain.map(|other| TaggedComponent::alternate_iiop_address(&other));
            let mut components = others.collect::<Result<Vec<_>, _>>()?;
            components.extend(priorities);
            profiles.push((first, components));
        }
        let mut beside = profiles.first().map(|(at, _)| at.host.clone());
        for one in of(SSLIOP) {
            let Some(at) = host_and_port(&one.address) else {
                continue;
            };
            let security = one
                .qualities
                .security
                .unwrap_or(SecurityRequirement::OF_TLS);
            let component = |security: SecurityRequirement| {
                TaggedComponent::ssl_sec_trans(&SslSecTrans {
                    target_supports: security.supports,
                    target_requires: security.requires,
                    port: at.port,
                })
            };
            match profiles.first_mut() {
                // A component has no host, and clients use that of the first profile.
                Some((_, first))
                    if one.qualities.priority.is_none()
                        && beside.take_if(|host| *host == at.host).is_some() =>
                {
                    first.push(component(security.beside_clear()));
                }
                _ => {
                    let component = component(security);
                    let at = Endpoint { port: 0, ..at };
                    let place = |_: &Address| Some(TaoPlace::Host(at.clone()));
                    let priority = priorities::component([one], place)?;
                    let components = std::iter::once(component).chain(priority);
                    profiles.push((at.clone(), components.collect()));
                }
            }
        }
        name_sockets(&mut profiles, of(uiop::NAME))?;
        let complete = |(at, more): (_, Vec<_>)| profile(at, [object.components, &more].concat());
        profiles.into_iter().map(complete).collect()
    }
}

/// Assigns the priorities in the profile's component to endpoints, and adds the endpoints that are
/// only in that component, as TAO's may be. In the component, the profile's own address with port 0
/// stands for the encrypted endpoints.
fn prioritise(endpoints: &mut Vec<ProfileEndpoint>, profile: &IiopProfile) {
    let said = priorities::said(&profile.components, tags::profile::INTERNET_IOP);
    if said.is_empty() {
        return;
    }
    let is_secured = |place: &TaoPlace| matches!(place, TaoPlace::Host(at) if at.port == 0);
    let secured = said.iter().find(|(place, _)| is_secured(place));
    let secured = secured.and_then(|(_, priority)| *priority);
    let mut left: HashMap<&TaoPlace, Option<Priority>> = said
        .iter()
        .map(|(place, priority)| (place, *priority))
        .collect();
    let mut known = HashSet::new();
    for one in endpoints.iter_mut() {
        match &*one.protocol {
            SSLIOP => one.qualities.priority = secured,
            iiop::NAME => {
                let place = priorities::at_host(&one.address);
                if let Some((place, priority)) = place.and_then(|place| left.get_key_value(&place))
                {
                    one.qualities.priority = *priority;
                    known.insert(*place);
                }
            }
            _ => {}
        }
    }
    left.retain(|place, _| !known.contains(place) && !is_secured(place));
    for (place, priority) in &said {
        // An address that is listed twice is added once.
        if let TaoPlace::Host(at) = place
            && left.remove(place).is_some()
        {
            let address = Address::iiop(&at.host, at.port);
            let mut other = ProfileEndpoint::new(iiop::NAME, address);
            other.qualities.priority = *priority;
            endpoints.push(other);
        }
    }
}

/// Adds Unix sockets to the first profile, or adds a profile for them.
fn name_sockets<'p>(
    profiles: &mut Vec<(Endpoint, Vec<TaggedComponent>)>,
    sockets: impl Iterator<Item = &'p ProfileEndpoint>,
) -> Result<(), CdrError> {
    // Without a host name, clients could not tell that a path is on their own host.
    let Some(host) = punctual_sys::host::name() else {
        return Ok(());
    };
    let component = |one: &ProfileEndpoint| {
        TaggedComponent::unix_trans(&UnixTrans {
            host: host.clone(),
            path: one.address.place().to_owned(),
        })
    };
    let components = sockets.map(component).collect::<Result<Vec<_>, _>>()?;
    if components.is_empty() {
        return Ok(());
    }
    match profiles.first_mut() {
        Some((_, first)) => first.extend(components),
        None => profiles.push((Endpoint { host, port: 0 }, components)),
    }
    Ok(())
}

/// Returns the TLS endpoints of a list of mechanisms.
fn of_mechanisms(mechanisms: &[CompoundMechanism]) -> impl Iterator<Item = ProfileEndpoint> {
    securities(mechanisms).flat_map(|(security, tls)| {
        let addresses = tls.addresses.iter().filter(|at| at.port != 0);
        addresses.map(move |at| {
            let at = Address::iiop(&at.host, at.port);
            let address = Address::new(SSLIOP, at.place());
            ProfileEndpoint::new(SSLIOP, address).with_security(security)
        })
    })
}

/// Returns whether components show that Punctual created the profile.
fn is_ours(components: &[TaggedComponent]) -> bool {
    let kind = |one: &TaggedComponent| matches!(one.decode(), Ok(Component::OrbType(ORB_TYPE)));
    components.iter().any(kind)
}

/// Returns whether a host name is that of this host, so that Unix sockets named with it are on this
/// host.
fn is_this_host(name: &str) -> bool {
    punctual_sys::host::name().is_some_and(|own| own == name)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use punctual_ior::AssociationOptions;

    const OMNIORB: u32 = 0x4154_5400;

    fn endpoint(protocol: &str, place: &str) -> ProfileEndpoint {
        ProfileEndpoint::new(protocol, Address::new(protocol, place))
    }

    fn encoded(
        version: GiopVersion,
        orb: u32,
        endpoints: &[ProfileEndpoint],
    ) -> Vec<TaggedProfile> {
        let object = Publication {
            version,
            object_key: b"key",
            components: &[TaggedComponent::orb_type(orb)],
        };
        IiopCodec.encode(endpoints, &object).unwrap()
    }

    fn sockets(profile: &IiopProfile) -> Vec<String> {
        let decoded = profile.components.iter().map(|one| one.decode().unwrap());
        decoded
            .filter_map(|component| match component {
                Component::UnixTrans(socket) => {
                    assert!(is_this_host(&socket.host));
                    Some(socket.path)
                }
                _ => None,
            })
            .collect()
    }

    #[test]
    fn unix_sockets_are_components_of_the_first_profile() {
        let endpoints = [
            endpoint("uiop", "/a"),
            endpoint("ssliop", "other:3"),
            endpoint("iiop", "h:1"),
            endpoint("uiop", "/b"),
            endpoint("iiop", "h:2"),
        ];
        let profiles = encoded(GiopVersion::V1_1, ORB_TYPE, &endpoints);
        let [first, second] = profiles.as_slice() else {
            panic!("{profiles:?}")
        };
        let first = IiopProfile::decode(&first.data).unwrap();
        assert_eq!((first.host.as_str(), first.port), ("h", 1));
        assert_eq!(sockets(&first), ["/a", "/b"]);
        assert_eq!(first.endpoints().count(), 2);
        let second = IiopProfile::decode(&second.data).unwrap();
        assert_eq!((second.port, sockets(&second)), (0, vec![]));
    }

    #[test]
    fn tls_on_the_host_of_the_tcp_port_is_offered_beside_it_and_elsewhere_demanded() {
        let security = |profile: &TaggedProfile| {
            let decoded = IiopCodec.decode(&profile.data).unwrap();
            let mut secured = decoded.endpoints.into_iter();
            secured.find_map(|one| Some((one.address, one.qualities.security?)))
        };
        let endpoints = [
            endpoint("ssliop", "h:3"),
            endpoint("iiop", "h:1"),
            endpoint("ssliop", "other:3"),
        ];
        let profiles = encoded(GiopVersion::V1_2, ORB_TYPE, &endpoints);
        let [first, second] = profiles.as_slice() else {
            panic!("{profiles:?}")
        };
        let (address, offered) = security(first).unwrap();
        assert_eq!(address, Address::new("ssliop", "h:3"));
        assert!(!offered.demands_protection());
        assert!(
            offered
                .supports
                .contain(AssociationOptions::CONFIDENTIALITY)
        );
        let (address, demanded) = security(second).unwrap();
        assert_eq!(address, Address::new("ssliop", "other:3"));
        assert!(demanded.demands_protection());
        assert_eq!(IiopProfile::decode(&second.data).unwrap().port, 0);
    }

    #[test]
    fn a_unix_socket_alone_has_a_profile_that_leads_nobody_to_a_port() {
        let profiles = encoded(GiopVersion::V1_2, ORB_TYPE, &[endpoint("uiop", "/a")]);
        let [only] = profiles.as_slice() else {
            panic!("{profiles:?}")
        };
        let profile = IiopProfile::decode(&only.data).unwrap();
        assert!(is_this_host(&profile.host));
        assert_eq!((profile.port, sockets(&profile)), (0, vec!["/a".into()]));
    }

    #[test]
    fn giop_1_0_has_no_components_to_name_a_unix_socket_in() {
        let endpoints = [endpoint("uiop", "/a"), endpoint("iiop", "h:1")];
        let profiles = encoded(GiopVersion::V1_0, ORB_TYPE, &endpoints);
        let [only] = profiles.as_slice() else {
            panic!("{profiles:?}")
        };
        assert_eq!(IiopProfile::decode(&only.data).unwrap().components, []);
        assert_eq!(encoded(GiopVersion::V1_0, ORB_TYPE, &endpoints[..1]), []);
    }

    #[test]
    fn a_unix_socket_of_omniorbs_on_this_host_comes_before_its_tcp_port() {
        let endpoints = [endpoint("iiop", "h:1"), endpoint("uiop", "/a")];
        let profiles = encoded(GiopVersion::V1_2, OMNIORB, &endpoints);
        let decoded = IiopCodec.decode(&profiles[0].data).unwrap();
        assert_eq!(
            decoded.endpoints,
            [endpoints[1].clone(), endpoints[0].clone()]
        );
    }

    #[test]
    fn unix_sockets_of_our_own_are_left_to_their_profiles() {
        let endpoints = [endpoint("iiop", "h:1"), endpoint("uiop", "/a")];
        let profiles = encoded(GiopVersion::V1_2, ORB_TYPE, &endpoints);
        let decoded = IiopCodec.decode(&profiles[0].data).unwrap();
        assert_eq!(decoded.endpoints, endpoints[..1]);
        let profiles = encoded(GiopVersion::V1_2, ORB_TYPE, &endpoints[1..]);
        assert_eq!(IiopCodec.decode(&profiles[0].data).unwrap().endpoints, []);
    }

    #[test]
    fn a_unix_socket_of_another_host_is_not_looked_for_here() {
        let elsewhere = TaggedComponent::unix_trans(&UnixTrans {
            host: "another.example".to_owned(),
            path: "/a".to_owned(),
        });
        let object = Publication {
            version: GiopVersion::V1_2,
            object_key: b"key",
            components: &[elsewhere.unwrap()],
        };
        let endpoints = [endpoint("iiop", "h:1")];
        let profiles = IiopCodec.encode(&endpoints, &object).unwrap();
        let decoded = IiopCodec.decode(&profiles[0].data).unwrap();
        assert_eq!(decoded.endpoints, endpoints);
    }

    #[test]
    fn what_a_tls_port_supports_and_requires_is_read_and_passed_on() {
        let security = SecurityRequirement {
            supports: AssociationOptions(0x66),
            requires: AssociationOptions(0x42),
        };
        let secured = endpoint("ssliop", "h:3").with_security(security);
        let profiles = encoded(GiopVersion::V1_2, ORB_TYPE, std::slice::from_ref(&secured));
        let decoded = IiopCodec.decode(&profiles[0].data).unwrap();
        assert_eq!(decoded.endpoints, [secured]);
        // An endpoint without known protection has Punctual's defaults.
        let profiles = encoded(GiopVersion::V1_2, ORB_TYPE, &[endpoint("ssliop", "h:3")]);
        let decoded = IiopCodec.decode(&profiles[0].data).unwrap();
        assert_eq!(
            decoded.endpoints[0].qualities.security,
            Some(SecurityRequirement::OF_TLS)
        );
    }

    #[test]
    fn a_profile_of_others_with_tls_and_alternate_addresses_is_read_into_one_list() {
        let ssl = SslSecTrans {
            target_supports: AssociationOptions(0x7e),
            target_requires: AssociationOptions(0x06),
            port: 9,
        };
        let other = Endpoint {
            host: "other".to_owned(),
            port: 2,
        };
        let profile = IiopProfile {
            version: GiopVersion::V1_2.into(),
            host: "h".to_owned(),
            port: 1,
            object_key: b"key".to_vec(),
            components: vec![
                TaggedComponent::alternate_iiop_address(&other).unwrap(),
                TaggedComponent::ssl_sec_trans(&ssl),
            ],
        };
        let tagged = profile.to_tagged(ByteOrder::NATIVE).unwrap();
        let decoded = IiopCodec.decode(&tagged.data).unwrap();
        let secured = endpoint("ssliop", "h:9").with_security((&ssl).into());
        let plain = [endpoint("iiop", "h:1"), endpoint("iiop", "other:2")];
        assert_eq!(decoded.endpoints[0], secured);
        assert_eq!(decoded.endpoints[1..], plain);
    }

    /// Creates a profile with a TCP port, whose server supports CSIv2 mechanisms: TLS at another
    /// host and, if asked for, none.
    pub(in crate::profile) fn with_mechanisms(
        port: u16,
        needs_no_protection: bool,
    ) -> DecodedProfile {
        use punctual_cdr::{Coding, Encoder, Marshal};
        use punctual_ior::IiopVersion;
        let tls = Encoder::encapsulated(ByteOrder::Big, Coding::default(), |out| {
            out.put_u16(0x66);
            out.put_u16(0x06);
            let at = Endpoint {
                host: "secure".to_owned(),
                port,
            };
            vec![at].marshal(out)
        });
        let tls = TaggedComponent {
            tag: tags::component::TLS_SEC_TRANS,
            data: tls.unwrap(),
        };
        let none = TaggedComponent {
            tag: tags::component::NULL_TAG,
            data: Vec::new(),
        };
        let transports = if needs_no_protection {
            vec![tls, none]
        } else {
            vec![tls]
        };
        let list = Encoder::encapsulated(ByteOrder::Big, Coding::default(), |out| {
            out.put_bool(false);
            out.put_u32(u32::try_from(transports.len()).unwrap());
            for transport in &transports {
                let needs_no_protection = transport.tag == tags::component::NULL_TAG;
                out.put_u16(if needs_no_protection { 0 } else { 0x06 });
                transport.marshal(out)?;
                // No layer above demands anything.
                out.align(2);
                out.put_u32(0);
                (0..2).for_each(|_| out.put_u32(0));
                out.put_u32(0);
                (0..3).for_each(|_| out.put_u32(0));
            }
            Ok(())
        });
        let profile = IiopProfile {
            version: IiopVersion { major: 1, minor: 2 },
            host: "h".to_owned(),
            port: 2809,
            object_key: b"key".to_vec(),
            components: vec![TaggedComponent {
                tag: tags::component::CSI_SEC_MECH_LIST,
                data: list.unwrap(),
            }],
        };
        IiopCodec
            .decode(&profile.encode(ByteOrder::Big).unwrap())
            .unwrap()
    }

    #[test]
    fn tls_of_csiv2_comes_first_and_is_demanded_where_no_other_mechanism_is_enough() {
        for needs_no_protection in [false, true] {
            let decoded = with_mechanisms(684, needs_no_protection);
            let [secured, clear] = decoded.endpoints.as_slice() else {
                panic!("{:?}", decoded.endpoints);
            };
            assert_eq!(secured.address.to_string(), "ssliop://secure:684");
            assert_eq!(clear.address.to_string(), "iiop://h:2809");
            let security = secured.qualities.security.unwrap();
            assert_eq!(security.demands_protection(), !needs_no_protection);
        }
    }
}
