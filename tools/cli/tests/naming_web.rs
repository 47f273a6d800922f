//! `punctual naming serve --web`, `punctual events serve --web`: services and their web pages. Built with the
//! feature `web`.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "it/support/mod.rs"]
mod support;

use std::io::{Read, Write};
use std::net::TcpStream;

use punctual::{Interface, Orb};
use punctual_naming::cos_naming::{NameComponent, NamingContext};
use support::{Process, serve};

#[test]
fn the_page_is_served_beside_the_names_and_ends_with_them() {
    let started = serve(&["--memory", "--web", "127.0.0.1:0", "--allow", "=10.0.0.0/8"]).spawn();
    let mut server = Process(started.unwrap());
    let page = server.says("web page at http://");
    let page = page.trim_end_matches('/');
    let orb = Orb::builder().build().unwrap();
    let root = orb.string_to_object(&server.reference()).unwrap();
    let root = NamingContext::from_object(root);
    let name = NameComponent {
        id: "pump".to_owned(),
        kind: String::new(),
    };
    // Neither this client nor a browser on this machine was granted anything.
    assert!(root.bind(&[name], Some(root.as_object())).is_err());
    let mut peer = TcpStream::connect(page).unwrap();
    let request = format!("GET /naming HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\r\n");
    peer.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    peer.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert!(reply.contains("You come from 127.0.0.1"), "{reply}");
    // An open page does not delay the end.
    let mut live = TcpStream::connect(page).unwrap();
    live.write_all(format!("GET /naming/live HTTP/1.1\r\nHost: {page}\r\n\r\n").as_bytes())
        .unwrap();
    live.read_exact(&mut [0; 12]).unwrap();
    server.signal("-TERM");
    assert!(server.0.wait().unwrap().success());
}

#[test]
fn an_address_for_other_machines_wants_to_be_said() {
    let refused = serve(&["--memory", "--web", "0.0.0.0:0"]).output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("may be reached from other machines") && said.contains("--web-remote"),
        "{said}"
    );
}

#[test]
fn the_page_of_an_event_channel_is_served_beside_it() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["events", "serve", "--listen", "iiop://127.0.0.1:0"]);
    command.args(["--web", "127.0.0.1:0"]);
    let piped = std::process::Stdio::piped;
    let mut server = Process(command.stdout(piped()).stderr(piped()).spawn().unwrap());
    let page = server.says("web page at http://");
    let page = page.trim_end_matches('/');
    let mut peer = TcpStream::connect(page).unwrap();
    let request = format!("GET /events HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\r\n");
    peer.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    peer.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert!(reply.contains("No consumer is connected"), "{reply}");
    server.signal("-TERM");
    assert!(server.0.wait().unwrap().success());
}

#[test]
fn names_and_groups_of_one_process_have_a_page_each() {
    let started = serve(&["--memory", "--groups", "--web", "127.0.0.1:0"]).spawn();
    let mut server = Process(started.unwrap());
    let page = server.says("web page at http://");
    let page = page.trim_end_matches('/');
    for path in ["naming", "groups"] {
        let mut peer = TcpStream::connect(page).unwrap();
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\r\n");
        peer.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        peer.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{path}: {reply}");
        // Each leads to the other.
        let links = ["href=\"/naming\"", "href=\"/groups\""];
        assert!(links.iter().all(|link| reply.contains(link)), "{reply}");
    }
    server.signal("-TERM");
    assert!(server.0.wait().unwrap().success());
}
