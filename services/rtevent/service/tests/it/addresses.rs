//! Addresses of events by UDP, as peers ask for them.

use crate::support::{Served, header};
use punctual::{Interface, SystemExceptionKind as Kind};
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::federation::Link;
use punctual_rtevent_service::rtec_udp_admin::{AddrServer, UdpAddr, UdpAddress};

fn server(served: &Served) -> AddrServer {
    served.there(&served.service.address_server().unwrap())
}

fn sending(links: &[&str]) -> Served {
    Served::new(ServiceOptions {
        sends: links
            .iter()
            .map(|link| link.parse::<Link>().unwrap())
            .collect(),
        ..ServiceOptions::default()
    })
}

#[test]
fn an_event_has_the_address_of_the_link_that_carries_its_type() {
    let served = sending(&[
        "udp://239.255.78.1:10001?types=16,17&interface=127.0.0.1",
        "udp://239.255.78.2:10002?types=18&interface=127.0.0.1",
    ]);
    let server = server(&served);
    let expected = UdpAddr {
        ipaddr: 0xefff_4e01,
        port: 10_001,
    };
    assert_eq!(server.get_addr(&header(17, 3)).unwrap(), expected);
    let expected = UdpAddr {
        ipaddr: 0xefff_4e02,
        port: 10_002,
    };
    let address = server.get_address(&header(18, 0)).unwrap();
    assert_eq!(address, UdpAddress::V4Addr(expected));
    assert!(
        server
            .as_object()
            .is_a("IDL:RtecUDPAdmin/AddrServer:1.0")
            .unwrap()
    );
}

#[test]
fn a_type_that_no_link_carries_has_no_address() {
    let served = sending(&["udp://239.255.78.1:10001?types=16&interface=127.0.0.1"]);
    let exception = server(&served).get_addr(&header(17, 3)).unwrap_err();
    assert_eq!(exception.kind(), Kind::BadParam);
    let none = sending(&[]);
    assert!(server(&none).get_addr(&header(16, 3)).is_err());
}
