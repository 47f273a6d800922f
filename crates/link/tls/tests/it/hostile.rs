//! Tests of peers that are hostile, or speak something else.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual_exec::Deadline;
use punctual_link::{Acceptor, Cause, Connection, Link, Properties};
use punctual_tls::{Ssliop, TlsOptions, TlsVersion};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::collections::VecDeque;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use support::{Authority, LIMIT, authority, connect, limit, listen, receive, refusal, talk};

/// Connects a plain TCP socket, without TLS, to the acceptor under test.
fn raw(acceptor: &dyn Acceptor) -> TcpStream {
    let stream = TcpStream::connect(acceptor.address().place()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream
}

/// Makes a TLS client and its socket with the TLS library alone, so that a test controls what is
/// sent. Nothing has been sent yet.
fn beginner(authority: &Authority, place: &str) -> (ClientConnection, TcpStream) {
    let mut trusted = RootCertStore::empty();
    let pem = std::fs::read(authority.file("ca.pem")).unwrap();
    trusted
        .add(CertificateDer::from_pem_slice(&pem).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let tls = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(place).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    (tls, stream)
}

/// Makes a TLS client with the TLS library alone, and performs its handshake.
fn client(authority: &Authority, acceptor: &dyn Acceptor) -> (ClientConnection, TcpStream) {
    let (mut tls, mut stream) = beginner(authority, acceptor.address().place());
    while tls.is_handshaking() {
        tls.complete_io(&mut stream).unwrap();
    }
    (tls, stream)
}

fn still_serves(authority: &Authority, acceptor: &dyn Acceptor) {
    let client = connect(authority.trusting(), acceptor).unwrap();
    talk(&*client, &*acceptor.accept().unwrap());
}

#[test]
fn plain_giop_is_refused_and_said_to_be_no_tls() {
    let authority = authority();
    let (link, acceptor) = listen(authority.with("server"));
    let mut stream = raw(&*acceptor);
    stream
        .write_all(b"GIOP\x01\x02\x01\x00\x00\x00\x00\x00")
        .unwrap();
    let mut answer = Vec::new();
    // An alert, and the end.
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(answer.first(), Some(&21), "{answer:02x?}");
    let reason = refusal(&link);
    assert!(reason.contains("does not speak TLS"), "{reason}");
    still_serves(&authority, &*acceptor);
}

#[test]
fn a_hello_of_tls_1_0_is_refused() {
    let authority = authority();
    let (link, acceptor) = listen(authority.with("server"));
    let mut hello = vec![0x03, 0x01];
    hello.extend([7; 32]);
    // No session, one cipher suite, no compression.
    hello.extend([0, 0, 2, 0x00, 0x2f, 1, 0]);
    let length = u8::try_from(hello.len()).unwrap();
    let mut stream = raw(&*acceptor);
    stream
        .write_all(&[22, 3, 1, 0, length + 4, 1, 0, 0, length])
        .unwrap();
    stream.write_all(&hello).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(answer.first(), Some(&21), "an alert: {answer:02x?}");
    let reason = refusal(&link);
    assert!(reason.contains("incompatible"), "{reason}");
    still_serves(&authority, &*acceptor);
}

#[test]
fn a_minimum_of_1_3_refuses_who_has_only_1_2() {
    let authority = authority();
    let (link, acceptor) = listen(TlsOptions {
        minimum: TlsVersion::V1_3,
        ..authority.with("server")
    });
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut tls = ClientConnection::new(Arc::new(config), name).unwrap();
    assert!(tls.complete_io(&mut raw(&*acceptor)).is_err());
    let reason = refusal(&link);
    assert!(reason.contains("incompatible"), "{reason}");
}

/// Connects a client that sends nothing, and one that sends the beginning of a message.
fn silent_and_half_finished(acceptor: &dyn Acceptor) -> [TcpStream; 2] {
    let silent = raw(acceptor);
    let mut half = raw(acceptor);
    // The server may have ended the connection already.
    let _ = half.write_all(&[22, 3, 1, 2, 0, 1, 0]);
    [silent, half]
}

#[test]
fn silent_and_half_finished_handshakes_delay_nobody() {
    let authority = authority();
    let (_link, acceptor) = listen(TlsOptions {
        handshake_timeout: LIMIT,
        ..authority.with("server")
    });
    let held = silent_and_half_finished(&*acceptor);
    still_serves(&authority, &*acceptor);
    drop(held);
}

#[test]
fn silent_and_half_finished_handshakes_end_at_their_deadline() {
    let authority = authority();
    let (link, acceptor) = listen(TlsOptions {
        handshake_timeout: Duration::from_millis(50),
        ..authority.with("server")
    });
    for mut stream in silent_and_half_finished(&*acceptor) {
        let mut nothing = Vec::new();
        // The end, or a reset: the data sent was never read.
        let _ = stream.read_to_end(&mut nothing);
        assert!(nothing.is_empty());
    }
    let deadline = limit();
    while link.refused() < 2 {
        assert!(!deadline.has_passed(), "{:?}", link.refusals());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    for refusal in link.refusals() {
        assert!(refusal.reason.contains("took too long"), "{refusal:?}");
    }
}

#[test]
fn of_too_many_handshakes_the_oldest_is_let_go() {
    let authority = authority();
    let (link, acceptor) = listen(TlsOptions {
        handshakes: 3,
        ..authority.with("server")
    });
    let held: Vec<_> = (0..5).map(|_| raw(&*acceptor)).collect();
    still_serves(&authority, &*acceptor);
    let deadline = limit();
    while link.refused() < 3 {
        assert!(!deadline.has_passed(), "{:?}", link.refusals());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let reason = &link.refusals()[0];
    assert!(reason.reason.contains("too many"), "{reason:?}");
    drop(held);
}

#[test]
fn clients_get_in_while_more_silent_ones_are_held_than_handshakes_may_be_under_way() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let held: Vec<_> = (0..300).map(|_| raw(&*acceptor)).collect();
    for _ in 0..50 {
        still_serves(&authority, &*acceptor);
    }
    drop(held);
}

#[test]
fn silent_newcomers_end_no_handshake_that_has_begun() {
    let authority = authority();
    let (link, acceptor) = listen(TlsOptions {
        handshakes: 4,
        ..authority.with("server")
    });
    let (mut tls, mut stream) = beginner(&authority, acceptor.address().place());
    tls.write_tls(&mut stream).unwrap();
    // The answer has begun to arrive, so the hello is there.
    stream.peek(&mut [0]).unwrap();
    let held: Vec<_> = (0..20).map(|_| raw(&*acceptor)).collect();
    let deadline = limit();
    while link.refused() < 17 {
        assert!(!deadline.has_passed(), "{:?}", link.refusals());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    while tls.is_handshaking() {
        tls.complete_io(&mut stream).unwrap();
    }
    let server = accepted(&*acceptor);
    tls.writer().write_all(b"hello").unwrap();
    tls.complete_io(&mut stream).unwrap();
    assert_eq!(receive(&*server, 5), b"hello");
    drop(held);
}

/// Connects a client that delays each flight of the handshake by `round_trip`; returns whether it was
/// accepted.
fn from_afar(authority: &Authority, place: &str, round_trip: Duration) -> bool {
    let (mut tls, mut stream) = beginner(authority, place);
    while tls.is_handshaking() {
        while tls.wants_write() {
            if tls.write_tls(&mut stream).is_err() {
                return false;
            }
        }
        std::thread::sleep(round_trip);
        if tls.complete_io(&mut stream).is_err() {
            return false;
        }
    }
    // The server's last handshake message, or the end.
    std::thread::sleep(round_trip);
    tls.read_tls(&mut stream).is_ok_and(|read| read > 0) && tls.process_new_packets().is_ok()
}

#[test]
#[ignore = "a measurement, of half a minute"]
fn how_many_clients_get_in_during_a_flood_of_silent_ones() {
    let authority = authority();
    let (link, acceptor) = listen(authority.with("server"));
    let place = acceptor.address().place().to_owned();
    let acceptor = &*acceptor;
    for trip in [0, 50, 150, 300].map(Duration::from_millis) {
        let over = AtomicBool::new(false);
        let (mut good, mut tries) = (0, 0);
        let before = link.refused();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let flood = || {
                let mut held = VecDeque::new();
                while !over.load(Ordering::Relaxed) {
                    held.extend(TcpStream::connect(&place));
                    if held.len() > 150 {
                        held.pop_front();
                    }
                }
            };
            let accepts = || {
                while !over.load(Ordering::Relaxed) {
                    let _ = acceptor.accept();
                }
            };
            scope.spawn(flood);
            scope.spawn(flood);
            scope.spawn(accepts);
            while begun.elapsed() < Duration::from_secs(6) {
                tries += 1;
                good += usize::from(from_afar(&authority, &place, trip));
            }
            over.store(true, Ordering::Relaxed);
            while !from_afar(&authority, &place, Duration::ZERO) {}
        });
        let rate = (link.refused() - before) as f64 / begun.elapsed().as_secs_f64();
        println!(
            "{trip:?} both ways: {good} of {tries} got in, {rate:.0} silent ones let go a second"
        );
    }
}

#[test]
fn a_server_that_never_answers_times_the_client_out() {
    let authority = authority();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address =
        punctual_link::Address::new("ssliop", &listener.local_addr().unwrap().to_string());
    let link = Ssliop::new(TlsOptions {
        handshake_timeout: Duration::from_millis(30),
        ..authority.trusting()
    })
    .unwrap();
    let error = link
        .connect(&address, &Properties::NONE, limit())
        .unwrap_err();
    assert!(matches!(error.cause, Cause::TimedOut), "{error}");
}

#[test]
fn a_peer_that_sends_an_octet_at_a_time_does_not_stretch_the_deadline() {
    let authority = authority();
    // A handshake message of 16 KiB, as a server's and as a client's.
    let drip = |mut stream: TcpStream| {
        let _ = stream.write_all(&[22, 3, 3, 0x3f, 0xff, 1, 0, 0x3f, 0xfb]);
        while stream.write_all(&[3]).is_ok() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || drip(listener.accept().unwrap().0));
    let impatient = Duration::from_millis(60);
    let link = Ssliop::new(TlsOptions {
        handshake_timeout: impatient,
        ..authority.trusting()
    })
    .unwrap();
    let address = punctual_link::Address::new("ssliop", &place);
    let error = link
        .connect(&address, &Properties::NONE, limit())
        .unwrap_err();
    assert!(matches!(error.cause, Cause::TimedOut), "{error}");
    server.join().unwrap();

    let (link, acceptor) = listen(TlsOptions {
        handshake_timeout: impatient,
        ..authority.with("server")
    });
    drip(raw(&*acceptor));
    let reason = refusal(&link);
    assert!(reason.contains("took too long"), "{reason}");
}

#[test]
fn a_server_that_speaks_no_tls_is_named_as_such() {
    let authority = authority();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address =
        punctual_link::Address::new("ssliop", &listener.local_addr().unwrap().to_string());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream
            .write_all(b"GIOP\x01\x02\x01\x06\x00\x00\x00\x00")
            .unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    });
    let link = Ssliop::new(authority.trusting()).unwrap();
    let error = link
        .connect(&address, &Properties::NONE, limit())
        .unwrap_err();
    assert!(error.to_string().contains("does not speak TLS"), "{error}");
    server.join().unwrap();
}

fn accepted(acceptor: &dyn Acceptor) -> Arc<dyn Connection> {
    acceptor.accept().unwrap()
}

/// Returns whether the cause of an error is the end of a TLS stream without a `close_notify`.
fn is_cut_off(cause: &Cause) -> bool {
    matches!(cause, Cause::Os(error) if error.kind() == ErrorKind::UnexpectedEof)
}

#[test]
fn a_stream_that_was_cut_off_is_no_good_end() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let (mut tls, mut stream) = client(&authority, &*acceptor);
    let server = accepted(&*acceptor);
    tls.writer().write_all(b"half a mess").unwrap();
    tls.complete_io(&mut stream).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(receive(&*server, 11), b"half a mess");
    let error = server.receive(&mut server.lend(0), 1, limit()).unwrap_err();
    assert!(is_cut_off(&error.cause), "{error}");
    assert!(error.to_string().contains("cut off"), "{error}");
}

#[test]
fn octets_changed_on_the_way_are_noticed_and_what_came_before_is_good() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let (mut tls, mut stream) = client(&authority, &*acceptor);
    let server = accepted(&*acceptor);
    let mut cipher = Vec::new();
    tls.writer().write_all(b"good").unwrap();
    tls.write_tls(&mut cipher).unwrap();
    let first = cipher.len();
    tls.writer().write_all(b"evil").unwrap();
    tls.write_tls(&mut cipher).unwrap();
    *cipher.last_mut().unwrap() ^= 1;
    stream.write_all(&cipher[..first]).unwrap();
    assert_eq!(receive(&*server, 4), b"good");
    stream.write_all(&cipher[first..]).unwrap();
    let error = server.receive(&mut server.lend(0), 1, limit()).unwrap_err();
    assert!(error.to_string().contains("decrypt"), "{error}");
    // No further data is waited for.
    let error = server
        .receive(&mut server.lend(0), 1, Deadline::NEVER)
        .unwrap_err();
    assert!(error.to_string().contains("decrypt"), "{error}");
}

#[test]
fn who_shakes_hands_and_is_never_accepted_fills_a_queue_and_no_memory() {
    let authority = authority();
    let (_link, acceptor) = listen(TlsOptions {
        backlog: 2,
        ..authority.with("server")
    });
    let mut clients: Vec<_> = (0..2)
        .map(|_| connect(authority.trusting(), &*acceptor).unwrap())
        .collect();
    let impatient = Ssliop::new(authority.trusting()).unwrap();
    // One whose handshake begins before the queue is full is accepted, however busy the server is:
    // a few at most.
    let refused = (0..8).find_map(|_| {
        let soon = Deadline::after(Duration::from_millis(100));
        let connected = impatient.connect(acceptor.address(), &Properties::NONE, soon);
        connected.map(|client| clients.push(client)).err()
    });
    assert!(matches!(refused.unwrap().cause, Cause::TimedOut));
    for client in clients {
        talk(&*client, &*accepted(&*acceptor));
    }
    still_serves(&authority, &*acceptor);
}

#[test]
fn new_keys_in_mid_stream_are_no_matter() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let (mut tls, mut stream) = client(&authority, &*acceptor);
    let server = accepted(&*acceptor);
    for round in 0..20u8 {
        tls.refresh_traffic_keys().unwrap();
        tls.writer().write_all(&[round; 100]).unwrap();
        tls.complete_io(&mut stream).unwrap();
        assert_eq!(receive(&*server, 100), [round; 100]);
        support::send(&*server, &[round; 50]);
        let mut back = [0; 50];
        let mut read = 0;
        while read < 50 {
            match tls.reader().read(&mut back[read..]) {
                Ok(count) => read += count,
                Err(_) => {
                    tls.read_tls(&mut stream).unwrap();
                    tls.process_new_packets().unwrap();
                }
            }
        }
        assert_eq!(back, [round; 50]);
    }
}

#[test]
fn what_follows_a_goodbye_does_not_count() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let (mut tls, mut stream) = client(&authority, &*acceptor);
    let server = accepted(&*acceptor);
    tls.writer().write_all(b"last").unwrap();
    tls.send_close_notify();
    let mut cipher = Vec::new();
    while tls.wants_write() {
        tls.write_tls(&mut cipher).unwrap();
    }
    cipher.extend_from_slice(b"\x17\x03\x03\x00\x05and more");
    stream.write_all(&cipher).unwrap();
    assert_eq!(receive(&*server, 4), b"last");
    let error = server.receive(&mut server.lend(0), 1, limit()).unwrap_err();
    assert!(matches!(error.cause, Cause::Closed), "{error}");
}

#[test]
fn nothing_follows_a_send_that_failed_on_its_way() {
    let authority = authority();
    let (_link, acceptor) = listen(authority.with("server"));
    let client = connect(authority.trusting(), &*acceptor).unwrap();
    let server = accepted(&*acceptor);
    let octets = vec![b'x'; 64 << 20];
    let soon = Deadline::after(Duration::from_millis(30));
    let failed = client.send(&[IoSlice::new(&octets)], soon).unwrap_err();
    assert!(matches!(failed.error.cause, Cause::TimedOut), "{failed}");
    let again = client.send(&[IoSlice::new(b"y")], limit()).unwrap_err();
    assert_eq!(again.sent, 0);
    client.close();
    // Data that was sent arrives, then a cut and no goodbye.
    let mut block = server.lend(0);
    let error = loop {
        if let Err(error) = server.receive(&mut block, usize::MAX, limit()) {
            break error;
        }
    };
    assert!(is_cut_off(&error.cause), "{error}");
    assert!(block.len() <= failed.sent);
    assert!(block.iter().all(|octet| *octet == b'x'));
}
