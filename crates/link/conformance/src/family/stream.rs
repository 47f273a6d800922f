//! Cases of reliable streams.

pub use super::now::{
    a_change_told_once_is_enough_for_whoever_takes_all, a_link_that_needs_a_thread_says_so,
    polling_for_more_neither_loses_nor_repeats_data, room_is_told_to_whoever_could_not_send_all,
    what_goes_without_blocking_goes_on_where_it_stopped,
    what_went_in_part_without_blocking_is_finished_by_blocking,
    without_blocking_there_is_nothing_then_what_came_then_the_end,
};
use super::{
    LIMIT, SOON, connect, limit, listen, pair, pattern, receive_exactly, send, wait_until,
};
use punctual_exec::Deadline;
use punctual_link::{Address, Cause, Link, Pending, Phase, Properties};
use std::io::IoSlice;

/// Checks that ten messages arrive in the order in which they were sent.
pub fn what_is_sent_arrives_in_order(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    for number in 0..10u8 {
        client
            .send(&[IoSlice::new(&[number; 100])], limit())
            .unwrap();
    }
    let expected: Vec<u8> = (0..10u8).flat_map(|number| [number; 100]).collect();
    assert_eq!(receive_exactly(&*server, 1000), expected);
}

/// Checks that the buffers of one send, some of them empty, arrive as one run of bytes.
pub fn parts_are_sent_as_one(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    let parts: Vec<IoSlice<'_>> = [&b"one"[..], b"", b"two", b"", b"three"]
        .map(IoSlice::new)
        .into();
    client.send(&parts, limit()).unwrap();
    assert_eq!(receive_exactly(&*server, 11), b"onetwothree");
}

/// Checks that eight MiB arrive, sent as one buffer and as many.
pub fn a_message_far_larger_than_any_buffer_arrives(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    let octets = pattern(8 << 20);
    let sent = octets.clone();
    let sender = std::thread::spawn(move || {
        client.send(&[IoSlice::new(&sent)], limit()).unwrap();
        let parts: Vec<IoSlice<'_>> = sent.chunks(1 << 19).map(IoSlice::new).collect();
        client.send(&parts, limit()).unwrap();
        client
    });
    let received = receive_exactly(&*server, octets.len() * 2);
    assert_eq!(received.len(), octets.len() * 2);
    assert!(received.chunks(octets.len()).all(|half| half == octets));
    drop(sender.join().unwrap());
}

/// Checks that a receive for 1 GiB, of which only ten bytes arrive, allocates less than 1 MiB.
pub fn memory_grows_with_what_arrives_and_not_with_the_claim(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    client
        .send(&[IoSlice::new(b"ten octets")], limit())
        .unwrap();
    let mut block = server.lend(0);
    server.receive(&mut block, 1 << 30, limit()).unwrap();
    assert!(
        block.capacity() < 1 << 20,
        "{} octets for ten",
        block.capacity()
    );
}

/// Checks that a block keeps its contents when receiving times out in mid-message, and that
/// receiving then continues.
pub fn a_block_keeps_what_it_held_when_receiving_times_out(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    client.send(&[IoSlice::new(b"half")], limit()).unwrap();
    let mut block = server.lend(0);
    server.receive(&mut block, 8, limit()).unwrap();
    let error = server
        .receive(&mut block, 8, Deadline::after(SOON))
        .unwrap_err();
    assert!(matches!(error.cause, Cause::TimedOut), "{error}");
    assert_eq!(error.phase, Phase::Receive);
    assert_eq!(&*block, b"half");
    client.send(&[IoSlice::new(b"rest")], limit()).unwrap();
    server.receive(&mut block, 8, Deadline::NEVER).unwrap();
    assert_eq!(&*block, b"halfrest");
}

/// Checks that the peer's last data is received before the end of the stream is reported.
pub fn receiving_reports_the_peers_end(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    client
        .send(&[IoSlice::new(b"last words")], limit())
        .unwrap();
    client.close();
    assert_eq!(receive_exactly(&*server, 10), b"last words");
    let error = server.receive(&mut server.lend(0), 1, limit()).unwrap_err();
    assert!(matches!(error.cause, Cause::Closed), "{error}");
}

/// Checks that closing from another thread ends a receive that has no deadline.
pub fn closing_wakes_whoever_receives(link: &dyn Link, address: &Address) {
    let (_client, server, _acceptor) = pair(link, address);
    let receiving = server.clone();
    let thread = std::thread::spawn(move || {
        let mut block = receiving.lend(0);
        receiving.receive(&mut block, 1, Deadline::NEVER)
    });
    server.close();
    assert!(thread.join().unwrap().is_err());
}

/// Checks that a send to a peer that does not read ends at its deadline, and that the error states
/// how many bytes were handed over.
pub fn a_reader_that_never_reads_times_the_sender_out(link: &dyn Link, address: &Address) {
    let (client, _server, _acceptor) = pair(link, address);
    let octets = pattern(64 << 20);
    let failed = client
        .send(&[IoSlice::new(&octets)], Deadline::after(SOON))
        .unwrap_err();
    assert!(matches!(failed.error.cause, Cause::TimedOut), "{failed}");
    assert_eq!(failed.error.phase, Phase::Send);
    assert!(failed.sent > 0 && failed.sent < octets.len());
}

/// Checks that `pending` distinguishes no data, data, and the end.
pub fn pending_tells_quiet_from_data_from_the_end(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    assert_eq!(server.pending(), Pending::Nothing);
    client.send(&[IoSlice::new(b"x")], limit()).unwrap();
    wait_until(|| server.pending() == Pending::Data);
    assert_eq!(receive_exactly(&*server, 1), b"x");
    client.close();
    wait_until(|| server.pending() == Pending::End);
}

/// Checks that connecting to an address without a listener fails with the operating system's error.
pub fn nobody_listening_is_refused_with_a_reason(link: &dyn Link, address: &Address) {
    let gone = {
        let acceptor = link.listen(address, &Properties::NONE).unwrap();
        acceptor.address().clone()
    };
    let error = link.connect(&gone, &Properties::NONE, limit()).unwrap_err();
    assert_eq!(error.phase, Phase::Connect);
    assert!(matches!(error.cause, Cause::Os(_)), "{error}");
}

/// Checks that single bytes, each sent after the one before was received, arrive one at a time.
pub fn a_slow_trickle_is_seen_in_pieces(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    let mut block = server.lend(0);
    for number in 0..10u8 {
        send(&*client, &[number]);
        assert_eq!(server.receive(&mut block, 10, limit()).unwrap(), 1);
    }
    assert_eq!(&*block, (0..10u8).collect::<Vec<u8>>());
}

/// Checks that data which a peer sent before it closed is received, although this side continues to
/// send; sending then fails, too.
pub fn what_came_before_the_end_is_received_though_this_side_sends_on(
    link: &dyn Link,
    address: &Address,
) {
    let (client, server, _acceptor) = pair(link, address);
    send(&*client, b"farewell");
    client.close();
    let error = client.send(&[IoSlice::new(b"more")], limit()).unwrap_err();
    assert_eq!(error.sent, 0);
    assert_eq!(receive_exactly(&*server, 8), b"farewell");
    // When a send reports the end varies; it never hangs or kills the process.
    let deadline = Deadline::after(LIMIT);
    while server.send(&[IoSlice::new(b"anyone?")], deadline).is_ok() {
        assert!(
            !deadline.has_passed(),
            "sending did not stop although no one listens"
        );
        std::thread::yield_now();
    }
    assert!(server.receive(&mut server.lend(0), 1, limit()).is_err());
}

/// Checks that dropping a connection without closing it ends the connection for the peer.
pub fn dropping_a_connection_ends_it_for_the_peer(link: &dyn Link, address: &Address) {
    let (client, server, acceptor) = pair(link, address);
    drop(client);
    assert!(server.receive(&mut server.lend(0), 1, limit()).is_err());
    let client = connect(link, &*acceptor);
    drop(acceptor.accept().unwrap());
    assert!(client.receive(&mut client.lend(0), 1, limit()).is_err());
}

/// Checks that closing from another thread ends a send that has no deadline, to a peer that does
/// not read.
pub fn closing_wakes_whoever_sends(link: &dyn Link, address: &Address) {
    let (client, _server, _acceptor) = pair(link, address);
    let sending = client.clone();
    let thread = std::thread::spawn(move || {
        let octets = pattern(64 << 20);
        sending.send(&[IoSlice::new(&octets)], Deadline::NEVER)
    });
    client.close();
    let failed = thread.join().unwrap().unwrap_err();
    assert!(failed.sent < 64 << 20);
}

/// Checks that both ends can send and receive at the same time, each with one thread for each
/// direction.
pub fn both_directions_are_used_at_once(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    let octets = pattern(3 << 20);
    std::thread::scope(|threads| {
        for end in [&client, &server] {
            threads.spawn(|| send(&**end, &octets));
            threads.spawn(|| assert!(receive_exactly(&**end, octets.len()) == octets));
        }
    });
}

/// Checks that fifty open connections each get the answer to their own data.
pub fn many_connections_at_once_are_kept_apart(link: &dyn Link, address: &Address) {
    let acceptor = listen(link, address);
    let clients: Vec<_> = (0..50u8)
        .map(|number| {
            let client = connect(link, &*acceptor);
            send(&*client, &[number; 9]);
            client
        })
        .collect();
    let servers: Vec<_> = clients.iter().map(|_| acceptor.accept().unwrap()).collect();
    for server in &servers {
        send(&**server, &receive_exactly(&**server, 9));
    }
    for (number, client) in (0..50u8).zip(&clients) {
        assert_eq!(receive_exactly(&**client, 9), [number; 9]);
    }
}

/// Checks that connecting to an acceptor that was closed, but not dropped, fails.
pub fn an_acceptor_that_is_closed_refuses_who_connects(link: &dyn Link, address: &Address) {
    let acceptor = listen(link, address);
    acceptor.close();
    let refused = link.connect(acceptor.address(), &Properties::NONE, limit());
    assert!(refused.is_err());
}
