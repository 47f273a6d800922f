//! Cases of streams that a reactor can serve: sending and receiving without blocking, and a
//! descriptor whose changes report when they are possible. A link that does not claim this passes
//! trivially, except the last case.

use super::{limit, pair, pattern, receive_exactly, send, wait_until};
use punctual_link::{Address, Cause, Connection, Link, LinkError, Taken, Waitable};
use punctual_sys::epoll::{Epoll, EpollEvent, EpollEvents, Interest};
use std::io::{ErrorKind, IoSlice};
use std::sync::Arc;

/// Makes both ends of a connection; `None` if a reactor cannot serve it.
fn ends(link: &dyn Link, address: &Address) -> Option<(Arc<dyn Connection>, Arc<dyn Connection>)> {
    let (client, server, _) = pair(link, address);
    let serves = client.serves_without_blocking() && server.serves_without_blocking();
    if !serves {
        eprintln!(
            "passed by: {} needs a thread for each connection",
            link.name()
        );
    }
    serves.then_some((client, server))
}

fn watch(connection: &dyn Connection, interest: Interest) -> Epoll {
    let epoll = Epoll::new().unwrap();
    match connection.waitable() {
        Waitable::Descriptor(descriptor) => epoll.add(descriptor, 0, interest).unwrap(),
        other => panic!("no descriptor: {other:?}"),
    }
    epoll
}

/// Sends until the link accepts no more bytes; returns the number of bytes sent.
fn send_what_goes(connection: &dyn Connection, octets: &[u8]) -> usize {
    let mut sent = 0;
    while let Some(rest) = octets.get(sent..).filter(|rest| !rest.is_empty()) {
        match connection.send_now(&[IoSlice::new(rest)]).unwrap() {
            0 => break,
            count => sent += count,
        }
    }
    sent
}

/// Checks that non-blocking receiving reports first that there is no data, then the data, then the
/// end, and the end again at each later call.
pub fn without_blocking_there_is_nothing_then_what_came_then_the_end(
    link: &dyn Link,
    address: &Address,
) {
    let Some((client, server)) = ends(link, address) else {
        return;
    };
    let mut block = server.lend(0);
    assert_eq!(server.receive_now(&mut block, 4).unwrap(), None);
    send(&*client, b"last words");
    client.close();
    let ended = loop {
        match server.receive_now(&mut block, 1 << 30) {
            Ok(Some(Taken { octets, .. })) => assert!(octets > 0),
            Ok(None) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert_eq!(&*block, b"last words");
    assert!(block.capacity() < 1 << 20);
    assert!(matches!(ended.cause, Cause::Closed), "{ended}");
    assert!(server.receive_now(&mut block, 11).is_err());
    wait_until(|| server.send_now(&[IoSlice::new(b"anyone?")]).is_err());
}

/// Checks that four MiB in many parts arrive by non-blocking sends, with a reader that begins only
/// when the link accepts no more.
pub fn what_goes_without_blocking_goes_on_where_it_stopped(link: &dyn Link, address: &Address) {
    let Some((client, server)) = ends(link, address) else {
        return;
    };
    let octets = pattern(4 << 20);
    let mut sent = 0;
    let parts: Vec<IoSlice<'_>> = octets.chunks(10_000).map(IoSlice::new).collect();
    sent += client.send_now(&parts).unwrap();
    assert!(sent > 0 && sent < octets.len(), "{sent} octets went");
    sent += send_what_goes(&*client, &octets[sent..]);
    assert!(sent < octets.len());
    assert_eq!(client.send_now(&[]).unwrap(), 0);
    let reader = std::thread::spawn(move || receive_exactly(&*server, 4 << 20));
    wait_until(|| {
        sent += send_what_goes(&*client, &octets[sent..]);
        sent == octets.len()
    });
    assert!(reader.join().unwrap() == octets);
}

/// Checks that a blocking send can finish a message that was sent in part without blocking; no byte
/// is sent twice or left out.
pub fn what_went_in_part_without_blocking_is_finished_by_blocking(
    link: &dyn Link,
    address: &Address,
) {
    let Some((client, server)) = ends(link, address) else {
        return;
    };
    let octets = pattern(4 << 20);
    let sent = send_what_goes(&*client, &octets);
    assert!(sent < octets.len());
    let reader = std::thread::spawn(move || receive_exactly(&*server, 4 << 20));
    let rest: Vec<IoSlice<'_>> = octets[sent..].chunks(100_000).map(IoSlice::new).collect();
    client.send(&rest, limit()).unwrap();
    assert!(reader.join().unwrap() == octets);
}

/// Checks messages of many sizes and then the end, with a reader that is notified of each change
/// once, and that stops receiving when all has been reported to it.
pub fn a_change_told_once_is_enough_for_whoever_takes_all(link: &dyn Link, address: &Address) {
    let Some((client, server)) = ends(link, address) else {
        return;
    };
    let sizes = || (0..400usize).map(|number| 1 + number * 7919 % 40_000);
    let total: usize = sizes().sum();
    let sender = std::thread::spawn(move || {
        for size in sizes() {
            send(&*client, &pattern(size));
        }
        client.close();
    });
    let mut block = server.lend(0);
    let epoll = watch(&*server, Interest::Read);
    let mut found = EpollEvents::new(1);
    // A new watcher receives first: data may have arrived with the connection.
    let mut ended = take_all(&*server, &mut block, false);
    while ended.is_none() {
        epoll.wait(&mut found, None).unwrap();
        for EpollEvent { ended: end, .. } in found.iter() {
            ended = take_all(&*server, &mut block, end);
        }
    }
    let ended = ended.unwrap();
    assert!(matches!(ended.cause, Cause::Closed), "{ended}");
    sender.join().unwrap();
    let expected: Vec<u8> = sizes().flat_map(pattern).collect();
    assert_eq!(block.len(), total);
    assert!(&*block == expected.as_slice());
}

/// Receives until there is no more data; returns the error that reports the end, if it was reached.
fn take_all(
    connection: &dyn Connection,
    block: &mut punctual_cdr::Block,
    to_the_end: bool,
) -> Option<LinkError> {
    loop {
        let need = block.len() + 1000;
        match connection.receive_now(block, need) {
            Ok(None) => return None,
            Ok(Some(taken)) if taken.all && !to_the_end => return None,
            Ok(Some(_)) => {}
            Err(error) => return Some(error),
        }
    }
}

/// Checks that a reader which polls for more data, and receives without blocking where polling finds none, gets all data
/// once and then the end. A link that does not poll never finds any.
pub fn polling_for_more_neither_loses_nor_repeats_data(link: &dyn Link, address: &Address) {
    let Some((client, server)) = ends(link, address) else {
        return;
    };
    let sizes = || (0..200usize).map(|number| 1 + number * 7919 % 40_000);
    let sender = std::thread::spawn(move || {
        for size in sizes() {
            send(&*client, &pattern(size));
        }
        client.close();
    });
    let mut block = server.lend(0);
    let ended = loop {
        let (before, need) = (block.len(), block.len() + 1000);
        let received = match server.receive_soon(&mut block, need) {
            Ok(None) => server.receive_now(&mut block, need),
            polled => polled,
        };
        match received {
            Ok(Some(taken)) => assert_eq!(block.len(), before + taken.octets),
            Ok(None) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert!(matches!(ended.cause, Cause::Closed), "{ended}");
    sender.join().unwrap();
    let expected: Vec<u8> = sizes().flat_map(pattern).collect();
    assert!(&*block == expected.as_slice());
}

/// Checks that the descriptor reports a change to a sender without room once the reader has
/// received.
pub fn room_is_told_to_whoever_could_not_send_all(link: &dyn Link, address: &Address) {
    let Some((client, server)) = ends(link, address) else {
        return;
    };
    let octets = pattern(16 << 20);
    let mut sent = send_what_goes(&*client, &octets);
    let epoll = watch(&*client, Interest::ReadAndWrite);
    let reader = std::thread::spawn(move || receive_exactly(&*server, 16 << 20));
    let mut found = EpollEvents::new(1);
    while sent < octets.len() {
        epoll.wait(&mut found, None).unwrap();
        if found.iter().any(|one| one.writable) {
            sent += send_what_goes(&*client, &octets[sent..]);
        }
    }
    assert!(reader.join().unwrap() == octets);
}

/// Checks that a link that a reactor cannot serve refuses non-blocking calls with an error.
pub fn a_link_that_needs_a_thread_says_so(link: &dyn Link, address: &Address) {
    let (client, server, _acceptor) = pair(link, address);
    for end in [client, server] {
        assert_eq!(
            end.serves_without_blocking(),
            link.serves_without_blocking()
        );
        if end.serves_without_blocking() {
            assert!(matches!(end.waitable(), Waitable::Descriptor(_)));
            continue;
        }
        let received = end.receive_now(&mut end.lend(0), 1).unwrap_err();
        let sent = end.send_now(&[IoSlice::new(b"x")]).unwrap_err();
        assert_eq!(sent.sent, 0);
        for error in [received, sent.error] {
            match error.cause {
                Cause::Os(why) => assert_eq!(why.kind(), ErrorKind::Unsupported),
                other => panic!("{other}"),
            }
        }
    }
}
