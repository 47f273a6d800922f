//! Tests of endpoint priorities in IIOP profiles, as written by Punctual and by TAO.

use super::{DecodedProfile, IiopCodec, ProfileCodec, ProfileEndpoint, Publication};
use crate::priority::Priority;
use punctual_cdr::{ByteOrder, GiopVersion};
use punctual_ior::{
    AssociationOptions, Endpoint, IiopProfile, SslSecTrans, TaggedComponent, TaoEndpoint, TaoPlace,
};
use punctual_link::Address;

fn endpoint(protocol: &str, place: &str) -> ProfileEndpoint {
    ProfileEndpoint::new(protocol, Address::new(protocol, place))
}

fn at(endpoint: ProfileEndpoint, priority: i16) -> ProfileEndpoint {
    endpoint.with_priority(Priority::new(priority).unwrap())
}

#[test]
fn endpoints_of_lanes_come_back_with_their_priorities() {
    let endpoints = [
        endpoint("iiop", "h:1"),
        at(endpoint("iiop", "h:2"), 7),
        at(endpoint("ssliop", "h:3"), 9),
        at(endpoint("ssliop", "h:4"), 0),
    ];
    let object = Publication {
        version: GiopVersion::V1_2,
        object_key: b"key",
        components: &[],
    };
    let profiles = IiopCodec.encode(&endpoints, &object).unwrap();
    // TLS of one priority is not offered beside TCP of another.
    assert_eq!(profiles.len(), 3);
    let decoded = profiles
        .iter()
        .flat_map(|one| IiopCodec.decode(&one.data).unwrap().endpoints);
    let decoded: Vec<_> = decoded
        .map(|one| (one.address, one.qualities.priority))
        .collect();
    let sent = endpoints.map(|one| (one.address, one.qualities.priority));
    assert_eq!(decoded, sent);
}

/// Creates a TAO profile with the address `h:1`, whose server demands TLS and has endpoints with
/// these priorities.
fn of_tao(endpoints: &[(&str, u16, i16)]) -> DecodedProfile {
    let endpoints: Vec<TaoEndpoint> = endpoints
        .iter()
        .map(|(host, port, priority)| TaoEndpoint {
            place: TaoPlace::Host(Endpoint {
                host: (*host).to_owned(),
                port: *port,
            }),
            priority: *priority,
        })
        .collect();
    let ssl = SslSecTrans {
        target_supports: AssociationOptions(0x66),
        target_requires: AssociationOptions(0x06),
        port: 0,
    };
    let profile = IiopProfile {
        version: GiopVersion::V1_2.into(),
        host: "h".to_owned(),
        port: 1,
        object_key: b"key".to_vec(),
        components: vec![
            TaggedComponent::of_tao_endpoints(&endpoints).unwrap(),
            TaggedComponent::ssl_sec_trans(&ssl),
        ],
    };
    let tagged = profile.to_tagged(ByteOrder::Big).unwrap();
    IiopCodec.decode(&tagged.data).unwrap()
}

#[test]
fn places_that_tao_names_in_its_component_alone_are_endpoints_too() {
    let decoded = of_tao(&[("h", 1, 3), ("other", 2, 5), ("other", 2, 6), ("x", 4, -1)]);
    let expected = [
        at(endpoint("iiop", "h:1"), 3),
        at(endpoint("iiop", "other:2"), 5),
        endpoint("iiop", "x:4"),
    ];
    assert_eq!(decoded.endpoints, expected);
    // The demands on all clients that use the profile apply to these endpoints.
    assert!(decoded.demands().is_some());
}

#[test]
fn of_many_places_with_priorities_some_are_read() {
    let hosts: Vec<String> = (0..10_000).map(|number| format!("h{number}")).collect();
    let many: Vec<_> = hosts.iter().map(|host| (&**host, 1, 1)).collect();
    assert_eq!(of_tao(&many).endpoints.len(), 257);
}
