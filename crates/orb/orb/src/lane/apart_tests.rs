//! Tests that two lanes of one ORB share only state that calls do not change.

use crate::broker::Broker;
use crate::lane::{ConnectionTerms, Endpoint, Lane};
use crate::policy::{Mux, Wait};
use crate::priority::Priority;
use crate::profile::EndpointQualities;
use punctual_cdr::{CodeSets, GiopVersion};
use punctual_exec::{Deadline, LockProtocol};
use punctual_link::{Address, Properties};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

fn wanted(wait: Wait) -> ConnectionTerms {
    ConnectionTerms {
        properties: Properties::NONE,
        mux: Mux::Shared,
        wait,
        private_to: None,
        band: None,
        back: None,
    }
}

fn endpoint(
    broker: &Broker,
    listener: &TcpListener,
    qualities: EndpointQualities,
) -> Arc<Endpoint> {
    Arc::new(Endpoint {
        pair: Arc::new(broker.protocols.now().pair("iiop").unwrap()),
        address: Address::iiop("127.0.0.1", listener.local_addr().unwrap().port()),
        qualities,
        demands: None,
        version: GiopVersion::V1_2,
        code_sets: CodeSets::NATIVE,
        code_sets_of_latin: CodeSets::NATIVE,
        announces_code_sets: false,
        object_key: b"key".as_slice().into(),
        profile: 0,
    })
}

#[test]
fn endpoints_of_another_priority_at_one_address_have_connections_of_their_own() {
    let broker = Broker::for_tests(Vec::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let lane = Lane::new(broker.clone(), LockProtocol::Plain);
    let soon = Deadline::after(Duration::from_secs(30));
    let connection = |priority: Option<i16>| {
        let qualities = EndpointQualities {
            priority: priority.map(|number| Priority::new(number).unwrap()),
            ..EndpointQualities::default()
        };
        let endpoint = endpoint(&broker, &listener, qualities);
        let bound = lane.bind(&endpoint, wanted(Wait::Read), soon);
        bound.unwrap().connection
    };
    let (none, low, high) = (connection(None), connection(Some(1)), connection(Some(90)));
    assert!(!Arc::ptr_eq(&none, &low) && !Arc::ptr_eq(&low, &high));
    assert!(Arc::ptr_eq(&high, &connection(Some(90))));
}

#[test]
fn two_lanes_that_call_one_endpoint_have_connections_and_reactors_of_their_own() {
    let broker = Broker::for_tests(Vec::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = endpoint(&broker, &listener, EndpointQualities::default());
    let lanes = [(); 2].map(|()| Lane::new(broker.clone(), LockProtocol::Plain));
    let soon = Deadline::after(Duration::from_secs(30));
    for wait in [Wait::Read, Wait::Reactor] {
        let bound = |lane: &Lane| {
            let first = lane.bind(&endpoint, wanted(wait), soon).unwrap();
            let again = lane.bind(&endpoint, wanted(wait), soon).unwrap();
            assert!(Arc::ptr_eq(&first.connection, &again.connection));
            first.connection
        };
        let [one, other] = lanes.each_ref().map(bound);
        // Each connection has its own reply table, sending lock, inbox and link.
        assert!(!Arc::ptr_eq(&one, &other));
        assert!(!std::ptr::addr_eq(one.link(), other.link()));
        let reactors = [&one, &other].map(|connection| connection.reactor());
        match reactors {
            [Some(one), Some(other)] => assert!(!std::ptr::eq(one, other)),
            [None, None] => assert_eq!(wait, Wait::Read),
            _ => panic!("one lane has a reactor for its callers and the other has none"),
        }
    }
    // The lanes share the `Broker`, which calls read and never write.
    assert!(Arc::ptr_eq(lanes[0].broker(), lanes[1].broker()));
}
