//! Tests of Real-time CORBA's parts of references: TAO's endpoints, and policies as it encodes
//! them.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::hex;

use hex::hex;
use punctual_ior::{
    ClientProtocol, Endpoint, PolicyMeaning, PolicyValue, PriorityModel, TaggedComponent,
    TaoEndpoint, TaoPlace, TransportProperties, tags,
};

fn endpoints(text: &str) -> TaggedComponent {
    TaggedComponent {
        tag: tags::component::TAO_ENDPOINTS,
        data: hex(text),
    }
}

fn policy(kind: u32, text: &str) -> PolicyMeaning {
    let data = hex(text);
    PolicyValue { kind, data }.decode().unwrap()
}

#[test]
fn taos_endpoints_have_hosts_ports_and_priorities() {
    let component = endpoints(
        "01 000000 02000000 \
         02000000 6800 8813 0000 0000 \
         02000000 6900 50c3 ff7f",
    );
    let at = |host: &str, port, priority| TaoEndpoint {
        place: TaoPlace::Host(Endpoint {
            host: host.into(),
            port,
        }),
        priority,
    };
    // Ports above 32,767 are encoded as negative numbers.
    let expected = vec![at("h", 5000, 0), at("i", 50000, 32767)];
    for profile in [
        tags::profile::INTERNET_IOP,
        tags::profile::TAO_SHMIOP,
        tags::profile::TAO_DIOP,
    ] {
        assert_eq!(component.tao_endpoints(profile), Ok(Some(expected.clone())));
    }
}

#[test]
fn taos_endpoints_have_paths_in_profiles_of_local_sockets() {
    let component = endpoints("00 000000 00000001 00000003 2f7800 00 0007");
    let expected = TaoEndpoint {
        place: TaoPlace::Path("/x".into()),
        priority: 7,
    };
    let found = component.tao_endpoints(tags::profile::TAO_UIOP);
    assert_eq!(found, Ok(Some(vec![expected])));
}

#[test]
fn endpoints_of_another_form_are_none_and_broken_ones_an_error() {
    let component = endpoints("01 000000 01000000 02000000 6800 8813 0000");
    assert_eq!(component.tao_endpoints(tags::profile::TAO_SCIOP), Ok(None));
    let other = TaggedComponent {
        tag: tags::component::ORB_TYPE,
        ..component.clone()
    };
    assert_eq!(other.tao_endpoints(tags::profile::INTERNET_IOP), Ok(None));
    let mut cut = component;
    cut.data.pop();
    assert!(cut.tao_endpoints(tags::profile::INTERNET_IOP).is_err());
    // More than there is room for.
    let many = endpoints("01 000000 ffffffff 02000000 6800 8813 0000");
    assert!(many.tao_endpoints(tags::profile::INTERNET_IOP).is_err());
}

#[test]
fn a_priority_model_says_who_chooses_and_the_servers_priority() {
    let declared = PolicyMeaning::PriorityModel {
        model: PriorityModel::ServerDeclared,
        server_priority: 100,
    };
    assert_eq!(policy(40, "01 000000 01000000 6400"), declared);
    let propagated = PolicyMeaning::PriorityModel {
        model: PriorityModel::ClientPropagated,
        server_priority: 0,
    };
    assert_eq!(policy(40, "00 000000 00000000 0000"), propagated);
    let unknown = PolicyValue {
        kind: 40,
        data: hex("01 000000 02000000 6400"),
    };
    assert!(unknown.decode().is_err());
}

#[test]
fn priority_bands_have_two_ends_each() {
    assert_eq!(
        policy(45, "01 000000 02000000 0000 6300 6400 ff7f"),
        PolicyMeaning::PriorityBands(vec![(0, 99), (100, 32767)])
    );
}

#[test]
fn protocols_come_with_the_properties_that_their_transports_have() {
    let mut tcp = TransportProperties::default();
    tcp.send_buffer = Some(65536);
    tcp.receive_buffer = Some(131_072);
    tcp.keep_alive = Some(true);
    tcp.dont_route = Some(false);
    tcp.no_delay = Some(true);
    let mut socket = TransportProperties::default();
    socket.send_buffer = Some(1);
    socket.receive_buffer = Some(2);
    let protocol = |profile, properties| ClientProtocol {
        profile,
        properties,
    };
    let expected = vec![
        protocol(tags::profile::INTERNET_IOP, tcp),
        protocol(tags::profile::TAO_UIOP, socket),
        protocol(tags::profile::TAO_DIOP, TransportProperties::default()),
    ];
    let text = "01 000000 03000000 \
                00000000 00000100 00000200 01 00 01 00 \
                004f4154 01000000 02000000 \
                044f4154";
    assert_eq!(policy(43, text), PolicyMeaning::ClientProtocols(expected));
}

#[test]
fn a_protocol_that_is_not_known_hides_what_follows() {
    let value = PolicyValue {
        kind: 43,
        data: hex("01 000000 02000000 63000000 00000000 00000000"),
    };
    assert!(value.decode().is_err());
}

#[test]
fn other_policies_are_not_looked_into() {
    assert_eq!(policy(23, "01"), PolicyMeaning::Other);
    assert_eq!(tags::policy_name(23), Some("REBIND"));
    assert_eq!(tags::policy_name(0xdead), None);
    assert_eq!(
        tags::orb_type_name(tags::orb_type::PUNCTUAL),
        Some("Punctual")
    );
}
