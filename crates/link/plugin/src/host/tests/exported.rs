//! Tests of a Rust link that is exported as a table and loaded from it.

use super::*;

unsafe extern "C" fn open(failure: *mut Failure, link: *mut *mut RawLink) -> c_int {
    // SAFETY: the host's own conditions.
    unsafe { export::open(failure, link, Iiop::default) }
}

static IIOP: Table = export::table(open);

punctual_link_conformance::conformance!(
    stream: *take_in(&IIOP).unwrap(),
    Address::new("iiop", "127.0.0.1:0")
);

#[test]
fn it_introduces_itself() {
    let link = take_in(&IIOP).unwrap();
    assert_eq!(link.name(), "iiop");
    assert_eq!(link.guarantees(), Iiop::default().guarantees());
}

#[test]
fn properties_arrive_and_so_does_what_is_wrong_with_them() {
    let link = take_in(&IIOP).unwrap();
    let place = Address::new("iiop", "127.0.0.1:0");
    let listen = |value| link.listen(&place, &Properties::from_iter([("no_delay", value)]));
    assert!(listen("true").is_ok());
    assert_eq!(
        listen("perhaps").unwrap_err().to_string(),
        "listening: invalid property `no_delay=perhaps`: expected true or false"
    );
}

#[test]
fn an_error_of_the_system_keeps_its_number() {
    let link = take_in(&IIOP).unwrap();
    let taken = link
        .listen(&Address::new("iiop", "127.0.0.1:0"), &Properties::NONE)
        .unwrap();
    let error = link.listen(taken.address(), &Properties::NONE).unwrap_err();
    assert_eq!(error.phase, Phase::Listen);
    let Cause::Os(error) = error.cause else {
        panic!("{error}");
    };
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
}

#[test]
fn an_address_of_another_link_does_not_reach_it() {
    let link = take_in(&IIOP).unwrap();
    let other = Address::new("uiop", "127.0.0.1:0");
    let error = link.listen(&other, &Properties::NONE).unwrap_err();
    assert!(matches!(error.cause, Cause::BadAddress(_)), "{error}");
}

#[test]
fn a_connection_outlives_its_link() {
    let link = take_in(&IIOP).unwrap();
    let acceptor = link
        .listen(&Address::new("iiop", "127.0.0.1:0"), &Properties::NONE)
        .unwrap();
    let client = link
        .connect(acceptor.address(), &Properties::NONE, Deadline::NEVER)
        .unwrap();
    drop(link);
    let server = acceptor.accept().unwrap();
    drop(acceptor);
    client
        .send(&[IoSlice::new(b"still")], Deadline::NEVER)
        .unwrap();
    let mut block = server.lend(0);
    while block.len() < 5 {
        server.receive(&mut block, 5, Deadline::NEVER).unwrap();
    }
    assert_eq!(&*block, b"still");
    assert!(matches!(server.waitable(), Waitable::Descriptor(_)));
}
