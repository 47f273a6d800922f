//! Two lanes of one ORB share what none of their calls changes, and nothing else.

use crate::broker::Broker;
use crate::config::OrbConfig;
use crate::lane::{Endpoint, Lane, Wanted};
use crate::policy::{Mux, PolicyTypes, Wait};
use crate::protocol::{Protocols, builtin};
use punctual_cdr::{CodeSets, GiopVersion};
use punctual_exec::Deadline;
use punctual_link::{Address, Properties};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

fn wanted(wait: Wait) -> Wanted {
    Wanted {
        properties: Properties::NONE,
        mux: Mux::Shared,
        wait,
    }
}

#[test]
fn two_lanes_that_call_one_endpoint_have_connections_and_reactors_of_their_own() {
    let config = OrbConfig::default();
    let protocols = Protocols::default();
    protocols.add(&builtin(&config)).unwrap();
    let broker = Arc::new(Broker::new(
        config,
        protocols,
        PolicyTypes::default(),
        Vec::new(),
    ));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Arc::new(Endpoint {
        pair: Arc::new(broker.protocols.now().pair("iiop").unwrap()),
        address: Address::iiop("127.0.0.1", listener.local_addr().unwrap().port()),
        qualities: Default::default(),
        version: GiopVersion::V1_2,
        code_sets: CodeSets::NATIVE,
        object_key: b"key".as_slice().into(),
        profile: 0,
    });
    let lanes = [(); 2].map(|()| Lane::new(broker.clone()));
    let soon = Deadline::after(Duration::from_secs(30));
    for wait in [Wait::Read, Wait::Reactor] {
        let bound = |lane: &Lane| {
            let first = lane.bind(&endpoint, wanted(wait), soon).unwrap();
            let again = lane.bind(&endpoint, wanted(wait), soon).unwrap();
            assert!(Arc::ptr_eq(&first.connection, &again.connection));
            first.connection
        };
        let [one, other] = lanes.each_ref().map(bound);
        // Reply table, sending lock, inbox and link are a connection's.
        assert!(!Arc::ptr_eq(&one, &other));
        assert!(!std::ptr::addr_eq(one.link(), other.link()));
        let reactors = [&one, &other].map(|connection| connection.reactor());
        match reactors {
            [Some(one), Some(other)] => assert!(!std::ptr::eq(one, other)),
            [None, None] => assert_eq!(wait, Wait::Read),
            _ => panic!("one lane has a reactor for its callers and the other has none"),
        }
    }
    // What they do share is read by calls, never written: see `Broker`.
    assert!(Arc::ptr_eq(lanes[0].broker(), lanes[1].broker()));
}
