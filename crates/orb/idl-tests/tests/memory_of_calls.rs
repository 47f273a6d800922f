//! Test that an asynchronous call in flight takes at most 600 bytes of memory, with 100,000 calls
//! on one connection.
#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "../../punctual/tests/it/support/mod.rs"]
#[allow(unused_imports)]
mod support;

use punctual::{Interface, Orb, SystemException};
use punctual_idl_tests::clerks::asynchronous::Clerk;
use std::alloc::{GlobalAlloc, Layout, System};
use std::future::Future;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use support::watchdog;

const CALLS: i32 = 100_000;
const MOST: i64 = 600;

/// Memory allocator that counts the bytes in use.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static IN_USE: AtomicI64 = AtomicI64::new(0);

fn counts(bytes: usize, sign: i64) {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    IN_USE.fetch_add(sign * bytes, Ordering::Relaxed);
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        counts(layout.size(), 1);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        counts(layout.size(), -1);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        counts(layout.size(), -1);
        counts(size, 1);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

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
fn of_each<C>(mut call: impl FnMut(&Clerk) -> C) -> i64 {
    let client = Orb::builder().build().unwrap();
    let (clerk, server) = silent(&client);
    // The path to the object is known from then on.
    assert_eq!(clerk.add(1, 2).unwrap(), 3);
    // Memory for the first call serves all of them.
    let first = call(&clerk);
    let mut calls = Vec::with_capacity(usize::try_from(CALLS).unwrap());
    let before = IN_USE.load(Ordering::Relaxed);
    for _ in 0..CALLS {
        calls.push(call(&clerk));
    }
    let used = IN_USE.load(Ordering::Relaxed) - before;
    drop((first, calls));
    client.shutdown(false).unwrap();
    server.join().unwrap();
    // The list's element belongs to its call.
    used / i64::from(CALLS) + i64::try_from(size_of::<C>()).unwrap()
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
