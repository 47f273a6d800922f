//! Cases of datagram links: data sent together arrives together or not at all.

use super::{
    SOON, connect, greet, limit, listen, pair, pattern, receive_exactly, send, wait_until,
};
use crate::{Faults, Lossy};
use punctual_exec::Deadline;
use punctual_link::{Address, Cause, Connection, Link, Pending, Phase, Properties};
use std::io::IoSlice;

/// Sends `octets` until they are received, since a datagram may be lost; datagrams sent earlier are
/// skipped.
fn deliver(from: &dyn Connection, to: &dyn Connection, octets: &[u8]) {
    let deadline = limit();
    loop {
        send(from, octets);
        let mut block = to.lend(0);
        while to.receive(&mut block, 1, Deadline::after(SOON)).is_ok() {
            if &*block == octets {
                return;
            }
            block.clear();
        }
        assert!(!deadline.has_passed(), "it never arrived");
    }
}

/// Checks that small and large datagrams arrive whole in both directions, appended to the contents
/// of the block.
pub fn each_send_arrives_whole_and_alone(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    for (from, to) in [(&client, &server), (&server, &client)] {
        let sizes = [1, 100, 1500, 9000, 30_000];
        for size in sizes {
            send(&**from, &pattern(size));
        }
        let mut block = to.lend(0);
        block.extend_from_slice(b"held");
        for size in sizes {
            // Neither a small nor a large `need` affects a datagram.
            let need = if size < 200 { 1 << 20 } else { 1 };
            assert_eq!(to.receive(&mut block, need, limit()).unwrap(), size);
            assert_eq!(block.get(block.len() - size..).unwrap(), pattern(size));
        }
        assert_eq!(block.get(..4).unwrap(), b"held");
        assert_eq!(block.len(), 4 + sizes.iter().sum::<usize>());
    }
}

/// Checks that a datagram of the maximum size arrives, and that for a larger one the error states
/// the limit and nothing is sent.
pub fn the_largest_datagram_arrives_and_a_larger_one_is_refused(
    link: &dyn Link,
    address: &Address,
) {
    let (client, server, _acceptor) = pair(link, address);
    let largest = link.guarantees().largest.unwrap();
    let whole = pattern(largest + 1);
    for (from, to) in [(&client, &server), (&server, &client)] {
        let (half, rest) = whole.split_at(largest / 2);
        let parts = [IoSlice::new(half), IoSlice::new(rest)];
        let refused = from.send(&parts, limit()).unwrap_err();
        assert!(matches!(refused.error.cause, Cause::TooLarge(limit) if limit == largest));
        assert_eq!((refused.sent, refused.error.phase), (0, Phase::Send));
        deliver(&**from, &**to, whole.get(..largest).unwrap());
    }
}

/// Checks that the remaining datagrams arrive intact when a third of them are lost.
pub fn datagrams_that_are_lost_do_not_stop_the_next(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    let faults = Faults {
        lose: 333,
        seed: 7,
        ..Faults::default()
    };
    let lossy = Lossy::connection(client.clone(), faults);
    for number in 0..100u8 {
        send(&*lossy, &[number; 20]);
    }
    let mut arrived = 0;
    let mut block = server.lend(0);
    while server.receive(&mut block, 1, Deadline::after(SOON)).is_ok() {
        arrived += 1;
        let first = block.first().copied().unwrap();
        assert_eq!(&*block, [first; 20]);
        block.clear();
    }
    assert!(arrived > 0 && arrived < 100, "{arrived} of 100 arrived");
    deliver(&*lossy, &*server, b"afterwards");
}

/// Checks that surplus datagrams are lost; those sent once the reader reads again arrive.
pub fn a_reader_that_never_reads_does_not_stop_the_sender(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    for _ in 0..5000 {
        send(&*client, &pattern(1000));
    }
    deliver(&*client, &*server, b"are you back?");
}

/// Checks three peers at one acceptor, each received on its own connection.
pub fn each_unknown_peer_gets_a_connection_of_its_own(link: &dyn Link, address: &Address) {
    let acceptor = listen(link, address);
    let ends: Vec<_> = (0..3)
        .map(|_| {
            let client = connect(link, &*acceptor);
            let server = greet(&*client, &*acceptor);
            assert_eq!(server.peer(), client.local());
            (client, server)
        })
        .collect();
    for (number, (client, server)) in (0..3u8).zip(&ends) {
        send(&**client, &[number; 5]);
        assert_eq!(receive_exactly(&**server, 5), [number; 5]);
        send(&**server, &[number; 6]);
        assert_eq!(receive_exactly(&**client, 6), [number; 6]);
    }
}

/// Checks that an acceptor at its limit of peers ends the connection of the peer that has been
/// silent longest, and that the others continue. The limit is a datagram link's property `peers`.
pub fn peers_are_bounded_and_the_quietest_is_let_go(link: &dyn Link, address: &Address) {
    let bounded = Properties::from_iter([("peers", "2")]);
    let acceptor = link.listen(address, &bounded).unwrap();
    let first = connect(link, &*acceptor);
    let at_first = greet(&*first, &*acceptor);
    let second = connect(link, &*acceptor);
    let at_second = greet(&*second, &*acceptor);
    send(&*first, b"again");
    assert_eq!(receive_exactly(&*at_first, 5), b"again");
    let third = connect(link, &*acceptor);
    let at_third = greet(&*third, &*acceptor);
    let ended = at_second
        .receive(&mut at_second.lend(0), 1, limit())
        .unwrap_err();
    assert!(matches!(ended.cause, Cause::Closed), "{ended}");
    for (client, server) in [(&first, &at_first), (&third, &at_third)] {
        send(&**client, b"here");
        assert_eq!(receive_exactly(&**server, 4), b"here");
    }
}

/// Checks that a block keeps its contents when receiving times out, and that receiving then
/// continues with the next datagram.
pub fn a_block_keeps_what_it_held_when_receiving_a_datagram_times_out(
    link: &dyn Link,
    address: &Address,
) {
    let (client, server, _acceptor) = pair(link, address);
    for (from, to) in [(&client, &server), (&server, &client)] {
        let mut block = to.lend(0);
        block.extend_from_slice(b"held");
        let error = to
            .receive(&mut block, 8, Deadline::after(SOON))
            .unwrap_err();
        assert!(matches!(error.cause, Cause::TimedOut), "{error}");
        assert_eq!((&*block, error.phase), (&b"held"[..], Phase::Receive));
        send(&**from, b"more");
        to.receive(&mut block, 8, Deadline::NEVER).unwrap();
        assert_eq!(&*block, b"heldmore");
    }
}

/// Checks that closing a connection at either end ends a receive without a deadline on another
/// thread.
pub fn closing_wakes_whoever_receives_a_datagram(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    for end in [server, client] {
        let receiving = end.clone();
        let thread = std::thread::spawn(move || {
            let mut block = receiving.lend(0);
            receiving.receive(&mut block, 1, Deadline::NEVER)
        });
        end.close();
        let ended = thread.join().unwrap().unwrap_err();
        assert!(matches!(ended.cause, Cause::Closed), "{ended}");
        assert_eq!(end.pending(), Pending::End);
        assert!(end.send(&[IoSlice::new(b"x")], limit()).is_err());
    }
}

/// Checks that `pending` reports whether a datagram waits, at either end.
pub fn pending_tells_quiet_from_a_datagram(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    for (from, to) in [(&client, &server), (&server, &client)] {
        assert_eq!(to.pending(), Pending::Nothing);
        send(&**from, b"x");
        wait_until(|| to.pending() == Pending::Data);
        assert_eq!(receive_exactly(&**to, 1), b"x");
        assert_eq!(to.pending(), Pending::Nothing);
    }
}

/// Checks that sending to an address without a listener ends in an error, whether or not the
/// network reports the closed port.
pub fn nobody_listening_ends_in_an_error(link: &dyn Link, address: &Address) {
    let gone = listen(link, address).address().clone();
    let Ok(client) = link.connect(&gone, &Properties::NONE, limit()) else {
        return;
    };
    let deadline = Deadline::after(SOON);
    let sent = client.send(&[IoSlice::new(b"anyone?")], deadline);
    assert!(sent.is_err() || client.receive(&mut client.lend(0), 1, deadline).is_err());
}
