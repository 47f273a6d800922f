//! Conformance of the loaded link, and its use beside the one that is linked statically.

use crate::library;
use punctual_example_protocol::Checked;
use punctual_exec::Deadline;
use punctual_link::{Address, Cause, Link, Properties};
use std::io::{IoSlice, Write};
use std::net::TcpStream;
use std::sync::Arc;

fn loaded() -> Arc<dyn Link> {
    punctual_plugin::load(library::path()).unwrap()
}

fn anywhere() -> Address {
    Address::new("checked", "127.0.0.1:0")
}

punctual_link_conformance::conformance!(stream: *loaded(), anywhere());

#[test]
fn it_says_of_itself_what_the_static_link_says() {
    let link = loaded();
    assert_eq!(link.name(), Checked.name());
    assert_eq!(link.guarantees(), Checked.guarantees());
}

#[test]
fn the_static_link_and_the_loaded_one_understand_each_other() {
    let link = loaded();
    let acceptor = link.listen(&anywhere(), &Properties::NONE).unwrap();
    let client = Checked
        .connect(acceptor.address(), &Properties::NONE, Deadline::NEVER)
        .unwrap();
    let server = acceptor.accept().unwrap();
    client
        .send(&[IoSlice::new(b"hello")], Deadline::NEVER)
        .unwrap();
    let mut block = server.lend(0);
    server.receive(&mut block, 5, Deadline::NEVER).unwrap();
    assert_eq!(&*block, b"hello");
}

#[test]
fn what_a_peer_did_wrong_is_told_across_the_boundary() {
    let link = loaded();
    let acceptor = link.listen(&anywhere(), &Properties::NONE).unwrap();
    let mut peer = TcpStream::connect(acceptor.address().place()).unwrap();
    let server = acceptor.accept().unwrap();
    peer.write_all(&[0; 8]).unwrap();
    let error = server
        .receive(&mut server.lend(0), 1, Deadline::NEVER)
        .unwrap_err();
    assert!(
        matches!(error.cause, Cause::BadPeer("an empty frame")),
        "{error}"
    );
}

#[test]
fn a_property_that_the_link_does_not_know_is_refused_by_it() {
    let link = loaded();
    let error = link
        .listen(
            &anywhere(),
            &Properties::from_iter([("keep_alive", "true")]),
        )
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "listening: invalid property `keep_alive=true`: expected no_delay"
    );
}
