//! Test that an asynchronous call in flight takes at most 600 bytes of memory, with 100,000 calls
//! on one connection.
#![allow(clippy::unwrap_used)]

#[path = "../../punctual/tests/it/support/mod.rs"]
#[allow(unused_imports)]
mod support;

use punctual::{Interface, Orb, SystemException};
use punctual_heap::in_use;
use punctual_idl_tests::clerks::asynchronous::Clerk;
use std::future::Future;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use support::watchdog;

const CALLS: isize = 100_000;
const MOST: isize = 600;

/// Makes a server that answers only the first request.
fn silent(client: &Orb) -> (Clerk, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let mut ignored = [0; 64 << 10];
        let mut first = [0; 16];
        peer.read_exact(&mut first).unwrap();
        let [.., l0, l1, l2, l3, i0, i1, i2, i3] = first;
        let rest = u32::from_ne_bytes([l0, l1, l2, l3]) as usize - 4;
        peer.read_exact(ignored.get_mut(..rest).unwrap()).unwrap();
        let order = u8::from(cfg!(target_endian = "little"));
        let mut reply = vec![b'G', b'I', b'O', b'P', 1, 2, order, 1];
        for number in [16, u32::from_ne_bytes([i0, i1, i2, i3]), 0, 0, 3] {
            reply.extend_from_slice(&number.to_ne_bytes());
        }
        peer.write_all(&reply).unwrap();
        while peer.read(&mut ignored).is_ok_and(|count| count > 0) {}
    });
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/clerk");
    let object = client.string_to_object(&text).unwrap();
    (Clerk::from_object(object), server)
}

/// Makes many calls with `call`, and returns the number of allocated bytes for each while all are
/// in flight.
fn of_each<C>(mut call: impl FnMut(&Clerk) -> C) -> isize {
    let client = Orb::builder().build().unwrap();
    let (clerk, server) = silent(&client);
    // The path to the object is known from then on.
    assert_eq!(clerk.add(1, 2).unwrap(), 3);
    // Memory for the first call serves all of them.
    let first = call(&clerk);
    let mut calls = Vec::with_capacity(usize::try_from(CALLS).unwrap());
    let before = in_use();
    for _ in 0..CALLS {
        calls.push(call(&clerk));
    }
    let used = in_use() - before;
    drop((first, calls));
    client.shutdown(false).unwrap();
    server.join().unwrap();
    // The list's element belongs to its call.
    used / CALLS + isize::try_from(size_of::<C>()).unwrap()
}

#[test]
fn a_call_in_flight_takes_600_bytes_at_most_polled_or_with_a_handler() {
    let _watchdog = watchdog(Duration::from_secs(240));
    let polled = of_each(|clerk| clerk.sendp_add(1, 2));
    let awaited = of_each(|clerk| {
        let mut call = Box::pin(clerk.add_async(1, 2));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(call.as_mut().poll(&mut context).is_pending());
        call
    });
    let handled = of_each(|clerk| clerk.sendc_add(|_: Result<i32, SystemException>| (), 1, 2));
    println!("bytes for each call: polled {polled}, awaited {awaited}, handled {handled}");
    for (way, bytes) in [
        ("polled", polled),
        ("awaited", awaited),
        ("handled", handled),
    ] {
        assert!(bytes <= MOST, "a call that is {way} takes {bytes} bytes");
    }
}
