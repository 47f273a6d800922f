//! Cases for both streams and datagrams.

use super::{connect, greet, limit, listen, pair, receive_exactly, send};
pub use crate::descriptors::accepting_goes_on_when_descriptors_come_back;
use punctual_exec::Deadline;
use punctual_link::{Acceptor, Address, Cause, Framing, Link, Pending, Places, Properties};
use std::io::IoSlice;
use std::sync::Arc;

/// Checks that sending no buffers, or only empty ones, sends nothing.
pub fn an_empty_gather_sends_nothing(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    client.send(&[], limit()).unwrap();
    client.send(&[IoSlice::new(b"")], limit()).unwrap();
    let empty = [IoSlice::new(b""), IoSlice::new(b"")];
    client.send(&empty, Deadline::NEVER).unwrap();
    assert_eq!(server.pending(), Pending::Nothing);
    send(&*client, b"something");
    assert_eq!(receive_exactly(&*server, 9), b"something");
}

/// Checks that a returned block is lent again without a new allocation: the same memory.
pub fn blocks_come_back_and_are_lent_again(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    for end in [client, server] {
        let block = end.lend(100);
        assert!(block.is_empty() && block.capacity() >= 100);
        let memory = block.as_slice().as_ptr();
        drop(block);
        assert_eq!(end.lend(100).as_slice().as_ptr(), memory);
        assert!(end.lend(1 << 20).capacity() >= 1 << 20);
    }
}

/// Checks that each end reports the other end's local address as the address of its peer.
pub fn both_ends_know_each_other(link: &dyn Link, address: &Address) {
    let (client, server, acceptor) = pair(link, address);
    assert_eq!(client.peer(), acceptor.address());
    assert_eq!(server.peer(), client.local());
    assert_eq!(server.local(), client.peer());
    for address in [client.local(), server.local(), acceptor.address()] {
        assert_eq!(address.link(), link.name());
    }
}

/// Checks that what the link says of a connection's ends does not depend on the end that asks.
pub fn both_ends_agree_whether_they_are_on_one_host(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    let [of_client, of_server] =
        [client, server].map(|end| link.stays_on_this_host(end.local(), end.peer()));
    assert_eq!(of_client, of_server);
}

/// Checks that the host by which connections are counted does not depend on the peer's port, or whatever else a peer chooses
/// for each of its connections.
pub fn peers_of_one_host_are_counted_as_one(link: &dyn Link, address: &Address) {
    let (_first, server, acceptor) = pair(link, address);
    let second = connect(link, &*acceptor);
    let another = match link.guarantees().framing {
        Framing::Stream => acceptor.accept().unwrap(),
        Framing::Datagram => greet(&*second, &*acceptor),
    };
    assert_ne!(server.peer(), another.peer());
    assert_eq!(link.host_of(server.peer()), link.host_of(another.peer()));
}

/// Checks that a link with places of its own can listen beside an acceptor, as lanes do.
pub fn a_place_elsewhere_is_one_to_listen_at(link: &dyn Link, address: &Address) {
    if link.places() != Places::Own {
        return;
    }
    let acceptor = listen(link, address);
    let elsewhere = link.elsewhere(acceptor.address().place());
    let beside = listen(link, &Address::new(link.name(), &elsewhere));
    assert_ne!(beside.address(), acceptor.address());
}

/// Checks that closing an acceptor ends a waiting `accept` with an error, and that later calls
/// fail, too.
pub fn an_acceptor_that_is_closed_wakes_and_accepts_no_more(link: &dyn Link, address: &Address) {
    let acceptor: Arc<dyn Acceptor> = listen(link, address).into();
    let accepting = acceptor.clone();
    let thread = std::thread::spawn(move || accepting.accept().map(drop));
    acceptor.close();
    assert!(matches!(
        thread.join().unwrap().unwrap_err().cause,
        Cause::Closed
    ));
    assert!(matches!(
        acceptor.accept().unwrap_err().cause,
        Cause::Closed
    ));
}

/// Checks that a connection still carries data in both directions after its acceptor was closed and
/// dropped.
pub fn connections_outlive_their_acceptor(link: &dyn Link, address: &Address) {
    let (client, server, acceptor) = pair(link, address);
    acceptor.close();
    drop(acceptor);
    send(&*client, b"still here");
    assert_eq!(receive_exactly(&*server, 10), b"still here");
    send(&*server, b"so am I");
    assert_eq!(receive_exactly(&*client, 7), b"so am I");
}

/// Checks that listening at an address in use fails, and leaves the existing listener undisturbed.
pub fn an_address_in_use_is_refused(link: &dyn Link, address: &Address) {
    let (client, server, acceptor) = pair(link, address);
    let error = link
        .listen(acceptor.address(), &Properties::NONE)
        .unwrap_err();
    assert!(matches!(error.cause, Cause::Os(_)), "{error}");
    send(&*client, b"undisturbed");
    assert_eq!(receive_exactly(&*server, 11), b"undisturbed");
    let (another, _) = (connect(link, &*acceptor), acceptor);
    assert_ne!(another.local(), client.local());
}

/// Checks that connecting to, and listening at, a malformed address fails.
pub fn an_address_of_another_kind_is_refused(link: &dyn Link, _address: &Address) {
    let strange = Address::new(link.name(), "\u{1}nonsense");
    assert!(link.connect(&strange, &Properties::NONE, limit()).is_err());
    assert!(link.listen(&strange, &Properties::NONE).is_err());
}

/// Checks that an error names the unknown property, both when listening and when connecting.
pub fn an_unknown_property_is_refused(link: &dyn Link, address: &Address) {
    let acceptor = listen(link, address);
    let unknown = Properties::from_iter([("colour_of_the_cable", "blue")]);
    let errors = [
        link.listen(address, &unknown).unwrap_err(),
        link.connect(acceptor.address(), &unknown, limit())
            .unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error.cause, Cause::BadProperty { .. }), "{error}");
        assert!(error.to_string().contains("colour_of_the_cable=blue"));
    }
}
