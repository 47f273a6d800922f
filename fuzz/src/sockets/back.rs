//! Calls in both directions of a connection: a server that calls its client through the connection
//! that the client has opened, and a client that serves its server's requests on that connection.

use super::{Answer, Client, POOL, SHORT, check_outcome, check_sent, connect, read_to_end};
use crate::generated::all_types::Every;
use crate::server;
use punctual::stub::{ServerCall, Unmarshal};
use punctual::{Interface, ObjectRef, Orb};
use punctual_cdr::Limits;
use punctual_giop::{Examined, examine};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls the object that a request's argument refers to.
pub(super) fn calls_back(call: &mut ServerCall<'_>) {
    if let Ok(object) = ObjectRef::unmarshal(call.arguments()) {
        check_outcome(Every::from_object(object).with_timeout(SHORT).ping());
    }
}

/// Servant function that sleeps before the reply, so that other requests are queued.
pub(super) fn takes_its_time(_: &mut ServerCall<'_>) {
    std::thread::sleep(SHORT);
}

/// Sends octets to a server whose ORB is shut down while it serves them.
pub(super) fn ends(octets: &[u8]) {
    let (how, octets) = crate::choice(octets);
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = &format!("ends-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let builder = Orb::builder()
        .configure(|config| {
            config.limits.message = 1 << 16;
            config.timeouts.answer = Some(SHORT);
        })
        .initializer(server::watches());
    let server = match usize::from(how >> 1) % 3 {
        // Requests are queued for one thread.
        2 => super::more::with_pool(builder, name),
        number => {
            let concurrency = ["reactive", "thread_per_connection"][number];
            let builder = builder.listen(super::endpoint("uiop", concurrency, name));
            let orb = builder.build().expect("the configuration is sound");
            server::with_objects_and(orb, &[("s", takes_its_time)])
        }
    };
    let stream = UnixStream::connect(super::path(name));
    let mut stream = stream.expect("the server listens");
    let _ = stream.write_all(octets);
    let shut_down = server.orb.shutdown(how & 1 == 0);
    assert!(shut_down.is_ok() || shut_down.is_err_and(|error| !error.to_string().is_empty()));
    // More octets, to a server that no longer reads.
    let _ = stream.write_all(octets);
    let _ = stream.shutdown(Shutdown::Write);
    server::are_messages(&read_to_end(&mut stream));
}

/// Sends the number of octets that the first two octets say, and the others once the server has
/// answered, or after a pause without an answer.
pub(super) fn in_turn(which: usize, octets: &[u8]) {
    let Some(([a, b], octets)) = octets.split_first_chunk() else {
        return;
    };
    let first = usize::from(u16::from_be_bytes([*a, *b])).min(octets.len());
    let which = which % (POOL + 1);
    let sent = two_parts(connect(which), octets, first);
    check_sent(which, &sent);
}

/// Sends the first `first` octets, and the others once an answer has arrived, or after a pause
/// without one; returns the received octets.
pub(super) fn two_parts(mut stream: UnixStream, octets: &[u8], first: usize) -> Vec<u8> {
    let _ = stream.write_all(&octets[..first]);
    let _ = stream.set_read_timeout(Some(SHORT));
    let mut sent = vec![0; 4096];
    let count = stream.read(&mut sent).unwrap_or_default();
    sent.truncate(count);
    let _ = stream.write_all(&octets[first..]);
    let _ = stream.shutdown(Shutdown::Write);
    sent.extend(read_to_end(&mut stream));
    sent
}

/// Makes a call to a server that calls the client back, both before and after its answer.
pub(super) fn called_back(which: usize, octets: &[u8]) {
    let client = Client::get();
    let every = &client.called_back[which % client.called_back.len()];
    let _alone = client.has_peer(Answer {
        octets: octets.to_vec(),
        reads: 1,
        stays: true,
    });
    check_outcome(every.with_timeout(4 * SHORT).ping());
}

/// Makes a call to a server that calls the client back by more requests than may be queued: after
/// the input, the server sends the part that follows the first message repeatedly.
pub(super) fn called_back_often(octets: &[u8]) {
    const OFTEN: usize = 1100;
    let first = match examine(octets, &Limits::default()) {
        Ok(Examined::Complete(header)) => header.message_len(),
        _ => 0,
    };
    let (first, again) = octets.split_at(first.min(octets.len()));
    // No more than fits into a socket's buffer.
    let again = again.repeat(OFTEN.min((1 << 17) / again.len().max(1)));
    called_back(0, &[first, &again].concat());
}
