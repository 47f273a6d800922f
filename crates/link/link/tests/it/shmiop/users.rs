//! Tests with peers of other users.

use crate::shmiop::process::{Open, Process};
use crate::shmiop::support::*;
use punctual_link::shmiop::{Allow, NAME, ShmOptions, Shmiop};
use punctual_link::{Address, Cause, Link, Properties};

#[test]
fn a_client_whose_user_is_not_allowed_is_told_so() {
    let open = Open::new("refused");
    let server = open.listen(&Shmiop::default());
    // The file's mode would exclude it first.
    open.to_all(server.address().place());
    let Some(client) = Process::as_nobody("connect", &open, server.address().place()) else {
        return;
    };
    let said = client.says();
    assert!(said.contains("does not allow this user"), "{said}");
}

#[test]
fn a_server_whose_user_is_not_allowed_is_not_spoken_to() {
    let open = Open::new("squatted");
    let place = open.0.join("socket").to_str().unwrap().to_owned();
    let Some(mut server) = Process::as_nobody("listen", &open, &place) else {
        return;
    };
    server.assert_said("said: listening");
    let connect = |allow: &str| {
        let properties = Properties::from_iter([("allow", allow)]);
        Shmiop::default().connect(&Address::new(NAME, &place), &properties, limit())
    };
    let error = connect("same_user").unwrap_err();
    assert!(matches!(error.cause, Cause::BadPeer(_)), "{error}");
    assert!(connect("1+65534").is_ok());
    server.kill();
}

#[test]
fn another_user_that_is_allowed_is_served_but_not_trusted() {
    let server = link(ShmOptions {
        allow: Allow::Anyone,
        ..ShmOptions::default()
    });
    let open = Open::new("served");
    let acceptor = open.listen(&server);
    let Some(mut client) = Process::as_nobody("send", &open, acceptor.address().place()) else {
        return;
    };
    let other = acceptor.accept().unwrap();
    let block = receive(&*other, MIB);
    assert_eq!(contents(&block), pattern(MIB, 0));
    let copied = server.copied();
    assert_eq!(copied.out_of_pool, u64::try_from(MIB).unwrap());
    client.kill();
}
