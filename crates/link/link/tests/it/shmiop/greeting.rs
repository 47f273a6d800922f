//! Tests of peers with a bad greeting.

use crate::shmiop::raw::*;
use crate::shmiop::support::{LIMIT, SOON, limit, listen};
use punctual_exec::Deadline;
use punctual_link::shmiop::NAME;
use punctual_link::{Address, Cause, Link, Properties};
use punctual_sys::passing::{self};
use punctual_sys::unix;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

fn memory_file(len: u64, seals: SealFlags) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("raw", flags).unwrap();
    ftruncate(&file, len).unwrap();
    fcntl_add_seals(&file, seals).unwrap();
    file
}

/// Returns the seals that a memory file must have.
fn seals() -> SealFlags {
    SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL
}

/// Checks that a greeting of `octets` and descriptors is refused, and others are accepted
/// afterwards.
fn assert_refused(octets: &[u8], descriptors: &[BorrowedFd<'_>]) {
    let acceptor = listen(&link());
    let (socket, _) = unix::connect(Path::new(acceptor.address().place()), Some(LIMIT)).unwrap();
    send_all(&socket, octets, descriptors);
    let (answer, passed) = answer(&socket);
    assert_eq!(answer[12..16], 2u32.to_ne_bytes(), "refused in words");
    assert!(passed.is_empty(), "without memory");
    assert!(has_hung_up(&socket));
    drop(Raw::connect(acceptor.address().place()));
    acceptor.accept().unwrap();
}

#[test]
fn memory_that_is_not_sealed_is_refused() {
    let unsealed = SealFlags::empty();
    for seals in [
        unsealed,
        seals() - SealFlags::SHRINK,
        seals() - SealFlags::GROW,
        seals() - SealFlags::FUTURE_WRITE,
        seals() - SealFlags::SEAL,
    ] {
        let file = memory_file(TOTAL as u64, seals);
        assert_refused(&greeting(HONEST), &[file.as_fd()]);
    }
}

#[test]
fn memory_of_another_size_than_announced_is_refused() {
    for len in [0, TOTAL as u64 - 4096, TOTAL as u64 + 4096] {
        assert_refused(&greeting(HONEST), &[memory_file(len, seals()).as_fd()]);
    }
}

#[test]
fn memory_once_accepted_cannot_be_truncated() {
    let acceptor = listen(&link());
    let (socket, _) = unix::connect(Path::new(acceptor.address().place()), Some(LIMIT)).unwrap();
    let file = memory_file(TOTAL as u64, seals());
    send_all(&socket, &greeting(HONEST), &[file.as_fd()]);
    let connection = acceptor.accept().unwrap();
    assert!(ftruncate(&file, 0).is_err());
    let punch = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    assert!(rustix::fs::fallocate(&file, punch, 0, 4096).is_err());
    let quiet = connection.receive(&mut connection.lend(0), 1, Deadline::after(SOON));
    assert!(matches!(quiet.unwrap_err().cause, Cause::TimedOut));
}

#[test]
fn what_is_no_memory_is_refused() {
    let (reader, _writer) = std::io::pipe().unwrap();
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let program = std::fs::File::open("/proc/self/exe").unwrap();
    for file in [reader.as_fd(), zero.as_fd(), program.as_fd()] {
        assert_refused(&greeting(HONEST), &[file]);
    }
}

#[test]
fn a_greeting_without_a_descriptor_or_with_many_is_refused_and_they_are_closed() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let file = memory_file(TOTAL as u64, seals());
    assert_refused(&greeting(HONEST), &[]);
    assert_refused(&greeting(HONEST), &[file.as_fd(), writer.as_fd()]);
    assert_refused(&greeting(HONEST), &[writer.as_fd(); 64]);
    // The pipe ends only when no copy of its other end is open.
    drop(writer);
    assert_eq!(std::io::Read::read(&mut reader, &mut [0]).unwrap(), 0);
}

#[test]
fn a_descriptor_with_each_octet_of_a_greeting_is_refused() {
    let acceptor = listen(&link());
    let (socket, _) = unix::connect(Path::new(acceptor.address().place()), Some(LIMIT)).unwrap();
    let file = memory_file(TOTAL as u64, seals());
    for octet in greeting(HONEST) {
        // From some byte on the peer may have stopped listening.
        if passing::send_with(&socket, &[octet], &[file.as_fd()]).is_err() {
            break;
        }
    }
    let (answer, passed) = answer(&socket);
    assert_eq!(answer[12..16], 2u32.to_ne_bytes());
    assert!(passed.is_empty() && has_hung_up(&socket));
}

#[test]
fn a_greeting_that_says_anything_else_is_refused() {
    let file = memory_file(TOTAL as u64, seals());
    assert_refused(b"GET / HTTP/1.1\r\nHost: localhost\r\n", &[file.as_fd()]);
    for (at, word) in [(0, 3), (1, 7), (2, 0), (2, 5000), (3, 1), (4, 255), (5, 17)] {
        let mut words = HONEST;
        words[at] = word;
        assert_refused(&greeting(words), &[file.as_fd()]);
    }
}

#[test]
fn a_common_pool_is_accepted_with_its_memory_and_its_lifeline_alone() {
    let own = memory_file(TOTAL as u64, seals());
    let common = RawCommon::new();
    let unsealed = memory_file(u64::from(POOL), SealFlags::empty());
    let [own, memory, held, unsealed] =
        [&own, &common.file, &common.held, &unsealed].map(OwnedFd::as_fd);
    let honest = greeting(HONEST_COMMON);
    assert_refused(&honest, &[own]);
    assert_refused(&honest, &[own, memory]);
    assert_refused(&honest, &[own, memory, held, held]);
    assert_refused(&honest, &[own, unsealed, held]);
    assert_refused(&honest, &[own, held, memory]);
    assert_refused(&honest, &[own, memory, memory]);
    assert_refused(&honest, &[own, own, held]);
    assert_refused(&greeting(HONEST), &[own, memory, held]);
    for size in [0, 1, POOL + 4096, (1 << 20) + 4096, u32::MAX] {
        let mut words = HONEST_COMMON;
        words[6] = size;
        assert_refused(&greeting(words), &[own, memory, held]);
    }
}

#[test]
fn a_greeting_with_a_common_pool_may_come_in_parts() {
    let acceptor = listen(&link());
    let (socket, _) = unix::connect(Path::new(acceptor.address().place()), Some(LIMIT)).unwrap();
    let own = memory_file(TOTAL as u64, seals());
    let common = RawCommon::new();
    let all = [own.as_fd(), common.file.as_fd(), common.held.as_fd()];
    let octets = greeting(HONEST_COMMON);
    send_all(&socket, &octets[..10], &all);
    for part in [10..32, 32..35, 35..36] {
        send_all(&socket, &octets[part], &[]);
    }
    acceptor.accept().unwrap();
    assert_eq!(answer(&socket).0, greeting(HONEST));
}

#[test]
fn memory_larger_than_is_accepted_is_refused() {
    let pool = (1 << 20) + 4096;
    let file = memory_file((CONTROL + RING as usize + pool) as u64, seals());
    let mut words = HONEST;
    words[3] = u32::try_from(pool).unwrap();
    assert_refused(&greeting(words), &[file.as_fd()]);
}

#[test]
fn half_a_greeting_keeps_nobody_else_waiting_and_ends() {
    let link = link();
    let properties = Properties::from_iter([("handshake_ms", "40")]);
    let acceptor = link.listen(&Address::new(NAME, ""), &properties).unwrap();
    let place = acceptor.address().place();
    let (half, _) = unix::connect(Path::new(place), Some(LIMIT)).unwrap();
    let file = memory_file(TOTAL as u64, seals());
    send_all(&half, &greeting(HONEST)[..17], &[file.as_fd()]);
    let (silent, _) = unix::connect(Path::new(place), Some(LIMIT)).unwrap();
    let raw = Raw::connect(place);
    acceptor.accept().unwrap();
    assert!(has_hung_up(&half) && has_hung_up(&silent));
    drop(raw);
}

#[test]
fn a_crowd_of_silent_peers_keeps_nobody_out() {
    let acceptor = listen(&link());
    let place = acceptor.address().place();
    let crowd: Vec<_> = (0..150)
        .map(|_| unix::connect(Path::new(place), Some(LIMIT)).unwrap())
        .collect();
    drop(Raw::connect(place));
    acceptor.accept().unwrap();
    // The first had to be dropped.
    assert!(has_hung_up(&crowd[0].0));
}

#[test]
fn a_server_that_does_not_answer_times_the_client_out() {
    let place = std::env::temp_dir().join(format!("shmiop-silent-{}", std::process::id()));
    let _listener = unix::listen(&place, 4).unwrap();
    let address = Address::new(NAME, place.to_str().unwrap());
    let outcome = link().connect(&address, &Properties::NONE, Deadline::after(SOON));
    std::fs::remove_file(&place).unwrap();
    let error = outcome.unwrap_err();
    assert!(matches!(error.cause, Cause::TimedOut), "{error}");
}

#[test]
fn a_server_that_answers_nonsense_is_a_bad_peer() {
    let place = std::env::temp_dir().join(format!("shmiop-nonsense-{}", std::process::id()));
    let listener = unix::listen(&place, 4).unwrap();
    let address = Address::new(NAME, place.to_str().unwrap());
    let server = std::thread::spawn(move || {
        let (socket, _) = unix::accept(&listener).unwrap();
        send_all(&socket, &[0x55; 64], &[]);
        answer(&socket)
    });
    let outcome = link().connect(&address, &Properties::NONE, limit());
    std::fs::remove_file(&place).unwrap();
    let error = outcome.unwrap_err();
    assert!(matches!(error.cause, Cause::BadPeer(_)), "{error}");
    server.join().unwrap();
}
