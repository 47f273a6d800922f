//! Datagrams, whose sender addresses can be forged.

use crate::hostile::peer::request;
use crate::support::{Echo, EchoImpl, watchdog};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_datagram_that_asks_for_an_answer_gets_none() {
    let _watchdog = watchdog(crate::hostile::LIMIT);
    let server = Orb::builder()
        .listen(ListenEndpoint::new("giop_oneway+diop", "127.0.0.1:0"))
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let reference: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let key = reference.as_object().object_key().unwrap();
    let place = server.endpoints()[0].place.clone();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(&place).unwrap();
    // The first one makes it a known connection; those behind it may take the fast path.
    let asking = request(&key, "ping", |_| {});
    for count in 1..=5 {
        socket.send(&asking).unwrap();
        while reference.pings().unwrap() < count {
            crate::support::pause();
        }
    }
    let timeout = Some(Duration::from_millis(200));
    socket.set_read_timeout(timeout).unwrap();
    let mut answer = [0; 64];
    assert!(socket.recv(&mut answer).is_err(), "{answer:?}");
    server.shutdown(true).unwrap();
}
