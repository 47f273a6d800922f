//! Peers that break the shared-memory link's protocol in every way that it has rules for.
//!
//! A raw peer speaks the protocol by hand, from its description, so that it can lie.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::shmiop::{NAME, ShmOptions, Shmiop, Trust};
use punctual_link::{Acceptor, Address, Cause, Connection, Link, LinkError, Properties};
use punctual_sys::memory::{self, PeerMemory, Region, Words};
use punctual_sys::passing::{self, Found};
use punctual_sys::{futex, unix};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);
const SOON: Duration = Duration::from_millis(30);

const CONTROL: usize = 4096;
const RING: u32 = 4096;
const POOL: u32 = 8192;
const TOTAL: usize = CONTROL + (RING + POOL) as usize;
const HEAD: usize = 0;
const TAIL: usize = 32;
const READER_SLEEP: usize = 64;
const READER_BELL: usize = 96;
const WRITER_BELL: usize = 97;
const MARKS: usize = 256;
const INLINE: u32 = 1;
const LENT: u32 = 2;

fn limit() -> Deadline {
    Deadline::after(LIMIT)
}

fn link() -> Shmiop {
    Shmiop::new(ShmOptions {
        ring: RING,
        pool: POOL,
        lend_threshold: 64,
        largest_pool: 1 << 20,
        trust: Trust::Never,
        handshake: LIMIT,
        ..ShmOptions::default()
    })
}

fn listen(link: &Shmiop) -> Box<dyn Acceptor> {
    link.listen(&Address::new(NAME, ""), &Properties::NONE)
        .unwrap()
}

/// The words of a greeting behind its name.
fn greeting(words: [u32; 6]) -> Vec<u8> {
    let words = words.into_iter().flat_map(u32::to_ne_bytes);
    b"PNCTLSHM".iter().copied().chain(words).collect()
}

const HONEST: [u32; 6] = [1, 0, RING, POOL, 256, 16];

/// A peer's side of a connection, done by hand.
struct Raw {
    socket: OwnedFd,
    words: Words,
    ring: Region,
    pool: Region,
    theirs: PeerMemory,
}

impl Raw {
    /// Introduces itself as it should.
    fn connect(place: &str) -> Self {
        let (socket, _) = unix::connect(Path::new(place), Some(LIMIT)).unwrap();
        let (file, memory) = memory::create("raw", TOTAL).unwrap();
        let sent = passing::send_with(&socket, &greeting(HONEST), Some(file.as_fd()));
        assert_eq!(sent.unwrap(), 32);
        let (answer, descriptors) = answer(&socket);
        assert_eq!(answer, greeting(HONEST));
        let theirs = PeerMemory::map(&descriptors[0], TOTAL).unwrap();
        let (control, rest) = memory.split(CONTROL);
        let (ring, pool) = rest.split(RING as usize);
        Self {
            socket,
            words: control.into_words(),
            ring,
            pool,
            theirs,
        }
    }

    /// A connection of `link`, and a raw peer at its other end.
    fn pair(link: &Shmiop) -> (Self, Arc<dyn Connection>) {
        let acceptor = listen(link);
        let raw = Self::connect(acceptor.address().place());
        (raw, acceptor.accept().unwrap())
    }

    /// Writes a double word at a place in the ring.
    fn put(&mut self, at: usize, above: u32, below: u32) {
        let word = u64::from(above) << 32 | u64::from(below);
        self.ring.as_mut_slice()[at..at + 8].copy_from_slice(&word.to_ne_bytes());
    }

    fn set_head(&self, head: u32) {
        self.words[HEAD].store(head, Ordering::Release);
        self.words[READER_BELL].fetch_add(1, Ordering::Relaxed);
        futex::wake(&self.words[READER_BELL]);
    }

    /// Sends octets as it should, in one record at the ring's begin.
    fn send_first(&mut self, octets: &[u8]) {
        self.put(0, INLINE, u32::try_from(octets.len()).unwrap());
        self.ring.as_mut_slice()[8..8 + octets.len()].copy_from_slice(octets);
        self.set_head(u32::try_from(8 + octets.len().next_multiple_of(8)).unwrap());
    }
}

/// What the other side answers; nothing where it hangs up.
fn answer(socket: &OwnedFd) -> (Vec<u8>, Vec<OwnedFd>) {
    let (mut octets, mut descriptors) = (Vec::new(), Vec::new());
    while octets.len() < 32 {
        let _ = passing::wait(socket, Some(LIMIT));
        let mut some = [0; 32];
        match passing::receive_with(socket, &mut some, &mut descriptors) {
            Ok(0) | Err(_) => break,
            Ok(count) => octets.extend_from_slice(&some[..count]),
        }
    }
    (octets, descriptors)
}

fn has_hung_up(socket: &OwnedFd) -> bool {
    passing::wait(socket, Some(LIMIT)) == Found::End
}

fn receive(connection: &dyn Connection) -> Result<Block, LinkError> {
    let mut block = connection.lend(0);
    connection.receive(&mut block, 1, limit())?;
    Ok(block)
}

/// The connection says that the peer is bad, and is closed.
fn assert_bad(connection: &dyn Connection, raw: &Raw, why: &str) {
    let error = receive(connection).unwrap_err();
    let Cause::BadPeer(said) = error.cause else {
        panic!("{error}");
    };
    assert!(said.contains(why), "{said}");
    assert!(has_hung_up(&raw.socket));
    let after = receive(connection).unwrap_err();
    assert!(matches!(after.cause, Cause::Closed), "{after}");
}

fn memory_file(len: u64, seals: SealFlags) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("raw", flags).unwrap();
    ftruncate(&file, len).unwrap();
    fcntl_add_seals(&file, seals).unwrap();
    file
}

/// What is required.
fn seals() -> SealFlags {
    SealFlags::SHRINK | SealFlags::GROW | SealFlags::FUTURE_WRITE | SealFlags::SEAL
}

/// Greets with `octets` and descriptors, and is refused; after that others are accepted.
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

fn send_all(socket: &OwnedFd, octets: &[u8], descriptors: &[BorrowedFd<'_>]) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(64))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(descriptors)));
    }
    let sent = sendmsg(
        socket,
        &[IoSlice::new(octets)],
        &mut control,
        SendFlags::NOSIGNAL,
    );
    assert_eq!(sent.unwrap(), octets.len());
}

#[test]
fn a_raw_peer_that_keeps_the_rules_is_served() {
    let (mut raw, connection) = Raw::pair(&link());
    raw.send_first(b"hello");
    assert_eq!(&*receive(&*connection).unwrap(), b"hello");
    assert_eq!(raw.theirs.load_acquire(TAIL), 16);
    connection
        .send(&[IoSlice::new(b"welcome")], limit())
        .unwrap();
    let mut octets = [0; 7];
    raw.theirs.copy_to(CONTROL + 8, &mut octets).unwrap();
    assert_eq!(&octets, b"welcome");
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
    // The pipe ends only when nobody has a copy of its other end.
    drop(writer);
    assert_eq!(std::io::Read::read(&mut reader, &mut [0]).unwrap(), 0);
}

#[test]
fn a_descriptor_with_each_octet_of_a_greeting_is_refused() {
    let acceptor = listen(&link());
    let (socket, _) = unix::connect(Path::new(acceptor.address().place()), Some(LIMIT)).unwrap();
    let file = memory_file(TOTAL as u64, seals());
    for octet in greeting(HONEST) {
        // From some octet on nobody may listen any more.
        if passing::send_with(&socket, &[octet], Some(file.as_fd())).is_err() {
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
    for (at, word) in [(0, 2), (1, 7), (2, 0), (2, 5000), (3, 1), (4, 255), (5, 17)] {
        let mut words = HONEST;
        words[at] = word;
        assert_refused(&greeting(words), &[file.as_fd()]);
    }
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
    // The first had to go.
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

#[test]
fn a_head_that_cannot_be_is_a_bad_peer() {
    for head in [RING + 8, 12, u32::MAX - 7, 1 << 31] {
        let (raw, connection) = Raw::pair(&link());
        raw.set_head(head);
        assert_bad(&*connection, &raw, "cannot be");
    }
}

#[test]
fn a_head_that_goes_back_is_a_bad_peer() {
    let (mut raw, connection) = Raw::pair(&link());
    raw.send_first(&[1; 100]);
    let mut block = connection.lend(0);
    connection.receive(&mut block, 1, limit()).unwrap();
    assert_eq!(block.len(), 100);
    raw.set_head(8);
    assert_bad(&*connection, &raw, "cannot be");
}

#[test]
fn what_is_no_record_is_a_bad_peer() {
    for (kind, length) in [
        (0, 0),
        (0, 8),
        (3, 8),
        (u32::MAX, u32::MAX),
        (INLINE, 0),
        (INLINE, 9),
        (INLINE, u32::MAX),
        (INLINE, u32::MAX - 7),
    ] {
        let (mut raw, connection) = Raw::pair(&link());
        raw.put(0, kind, length);
        raw.set_head(16);
        assert_bad(&*connection, &raw, "no record");
    }
    let (mut raw, connection) = Raw::pair(&link());
    raw.put(0, LENT, 8);
    raw.set_head(8);
    assert_bad(&*connection, &raw, "no record");
}

#[test]
fn what_is_lent_of_no_slot_or_outside_of_the_pool_is_a_bad_peer() {
    for (slot, offset, length, why) in [
        (256, 0, 8, "slot"),
        (u32::MAX, 0, 8, "slot"),
        (0, POOL, 1, "does not lie"),
        (0, POOL - 8, 9, "does not lie"),
        (0, 0, POOL + 1, "does not lie"),
        (0, u32::MAX, u32::MAX, "does not lie"),
        (0, u32::MAX, 1, "does not lie"),
        (0, 0, 0, "does not lie"),
    ] {
        let (mut raw, connection) = Raw::pair(&link());
        raw.put(0, LENT, length);
        raw.put(8, slot, offset);
        raw.set_head(16);
        assert_bad(&*connection, &raw, why);
    }
}

#[test]
fn lending_one_slot_without_end_is_a_bad_peer() {
    let (mut raw, connection) = Raw::pair(&link());
    for at in 0..17 {
        raw.put(at * 16, LENT, POOL);
        raw.put(at * 16 + 8, 7, 0);
    }
    raw.set_head(17 * 16);
    let mut block = connection.lend(0);
    let error = loop {
        if let Err(error) = connection.receive(&mut block, usize::MAX, limit()) {
            break error;
        }
    };
    assert!(error.to_string().contains("lent again"), "{error}");
}

#[test]
fn lending_the_whole_pool_as_every_slot_is_a_bad_peer() {
    let (mut raw, connection) = Raw::pair(&link());
    for at in 0..32 {
        raw.put(at * 16, LENT, POOL);
        raw.put(at * 16 + 8, u32::try_from(at).unwrap(), 0);
    }
    raw.set_head(32 * 16);
    let mut block = connection.lend(0);
    let error = loop {
        if let Err(error) = connection.receive(&mut block, usize::MAX, limit()) {
            break error;
        }
    };
    assert!(error.to_string().contains("lent again"), "{error}");
    assert!(block.full_len() <= 16 * POOL as usize);
}

#[test]
fn lent_octets_that_change_afterwards_change_nothing() {
    let (mut raw, connection) = Raw::pair(&link());
    raw.pool.as_mut_slice()[..1000].fill(1);
    raw.put(0, LENT, 1000);
    raw.put(8, 3, 0);
    raw.set_head(16);
    let mut block = connection.lend(0);
    connection.receive(&mut block, 1000, limit()).unwrap();
    let segment = block.lent()[0].segment.clone();
    let before = segment.as_slice();
    assert_eq!(before, [1; 1000]);
    // Copied is given back, at once and once.
    assert_eq!(raw.theirs.load_acquire(MARKS + 3), 1);
    raw.pool.as_mut_slice().fill(2);
    assert_eq!(before, [1; 1000]);
    let mut copy = [0; 1000];
    segment.copy_to(&mut copy);
    assert_eq!(copy, [1; 1000]);
    drop((segment, block));
    assert_eq!(raw.theirs.load_acquire(MARKS + 3), 1);
}

#[test]
fn a_tail_that_cannot_be_is_a_bad_peer() {
    for tail in [8, u32::MAX, 1 << 31] {
        let (raw, connection) = Raw::pair(&link());
        raw.words[TAIL].store(tail, Ordering::Release);
        // More than fits makes the sender look how far the peer has read.
        let failed = connection
            .send(&[IoSlice::new(&[0; 3 * RING as usize])], limit())
            .unwrap_err();
        let text = failed.to_string();
        assert!(text.contains("it read what was not written"), "{text}");
        assert!(has_hung_up(&raw.socket));
    }
}

#[test]
fn a_tail_that_goes_to_and_fro_neither_overruns_the_ring_nor_hangs() {
    for _ in 0..50 {
        let (raw, connection) = Raw::pair(&link());
        let stop = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for tail in [0, RING / 2, 8, RING - 8, 0, RING] {
                        raw.words[TAIL].store(tail, Ordering::Release);
                        raw.words[WRITER_BELL].fetch_add(1, Ordering::Relaxed);
                        futex::wake(&raw.words[WRITER_BELL]);
                    }
                }
            });
            let octets = [3; 64 * RING as usize];
            let failed = connection.send(&[IoSlice::new(&octets)], limit());
            stop.store(true, Ordering::Relaxed);
            let failed = failed.unwrap_err();
            assert!(matches!(failed.error.cause, Cause::BadPeer(_)), "{failed}");
            assert!(failed.sent < octets.len());
        });
    }
}

#[test]
fn giving_back_what_was_not_lent_is_a_bad_peer() {
    let (raw, connection) = Raw::pair(&link());
    for mark in 0..256 {
        raw.words[MARKS + mark].store(5, Ordering::Release);
    }
    let lent = connection.lender().unwrap().lend(&[1; 100]).unwrap();
    connection
        .send(&[IoSlice::new(lent.as_slice())], limit())
        .unwrap();
    let failed = connection
        .send(&[IoSlice::new(lent.as_slice())], limit())
        .unwrap_err();
    assert!(failed.to_string().contains("gave back"), "{failed}");
    assert!(has_hung_up(&raw.socket));
}

#[test]
fn sleep_words_of_nonsense_and_a_socket_full_of_bells_do_not_hold_the_sender() {
    let (raw, connection) = Raw::pair(&link());
    for word in 0..2000u32 {
        raw.words[READER_SLEEP].store(word | 2, Ordering::Release);
        connection.send(&[IoSlice::new(b"x")], limit()).unwrap();
        // Read at once, so that the ring never fills; the bells are never heard.
        raw.words[TAIL].store(raw.theirs.load_acquire(HEAD), Ordering::Release);
    }
}

#[test]
fn bells_without_a_message_do_not_keep_a_deadline_from_passing() {
    let (raw, connection) = Raw::pair(&link());
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                passing::ring(&raw.socket);
                raw.words[READER_BELL].fetch_add(1, Ordering::Relaxed);
                futex::wake(&raw.words[READER_BELL]);
            }
        });
        // Beyond the first slice, so that the socket is waited on as well.
        let deadline = Deadline::after(Duration::from_millis(200));
        let error = connection.receive(&mut connection.lend(0), 1, deadline);
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(error.unwrap_err().cause, Cause::TimedOut));
    });
}

#[test]
fn descriptors_slipped_in_with_bells_are_closed() {
    let (raw, connection) = Raw::pair(&link());
    let (mut reader, writer) = std::io::pipe().unwrap();
    send_all(&raw.socket, b"bell", &[writer.as_fd(); 50]);
    drop(writer);
    // A sleep beyond the first slice is on the socket, and takes the bells.
    let deadline = Deadline::after(Duration::from_millis(150));
    let error = connection.receive(&mut connection.lend(0), 1, deadline);
    assert!(matches!(error.unwrap_err().cause, Cause::TimedOut));
    assert_eq!(std::io::Read::read(&mut reader, &mut [0]).unwrap(), 0);
}

/// A source of numbers that looks random and is the same each time.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn a_length_rewritten_after_it_was_checked_changes_nothing() {
    for round in 0..100 {
        let (mut raw, connection) = Raw::pair(&link());
        raw.ring.as_mut_slice().fill(0xaa);
        raw.put(0, INLINE, 64);
        raw.set_head(8 + 64);
        let stop = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                // Right, and then as wrong as can be, over and over while it is read.
                while !stop.load(Ordering::Relaxed) {
                    for length in [64, u32::MAX, 64, RING, 64, 0] {
                        raw.put(0, INLINE, length);
                    }
                }
            });
            let mut block = connection.lend(0);
            let outcome = connection.receive(&mut block, 64, limit());
            stop.store(true, Ordering::Relaxed);
            match outcome {
                // As a whole or not at all, whatever it says now.
                Ok(count) => assert_eq!((count, &*block), (64, &[0xaa; 64][..]), "{round}"),
                Err(error) => assert!(matches!(error.cause, Cause::BadPeer(_)), "{error}"),
            }
        });
    }
}

#[test]
fn a_peer_that_scribbles_over_all_its_memory_neither_hangs_nor_harms_anybody() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let (mut bad, mut good) = (0, 0);
    for _ in 0..100 {
        let (mut raw, connection) = Raw::pair(&link());
        let mut seed = next(&mut state);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let scribbler = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                // Mostly what could be right, so that it gets far.
                let at = usize::try_from(next(&mut seed)).unwrap() % 64 * 8;
                let kind = u32::try_from(next(&mut seed) % 3).unwrap();
                let length = u32::try_from(next(&mut seed) % 40).unwrap();
                raw.put(at, kind, length);
                let word = [HEAD, HEAD, TAIL, MARKS, READER_SLEEP][at / 8 % 5];
                let value = u32::try_from(next(&mut seed) % 64 * 8).unwrap();
                raw.words[word].store(value, Ordering::Release);
            }
            raw
        });
        let mut block = connection.lend(0);
        let outcome = (0..200).find_map(|_| {
            block.clear();
            let _ = connection.send(&[IoSlice::new(&[1; 80])], Deadline::after(SOON));
            let outcome = connection.receive(&mut block, 500, Deadline::after(SOON));
            for lent in block.lent() {
                assert_eq!(lent.segment.as_slice().len(), lent.segment.len());
            }
            outcome.err()
        });
        stop.store(true, Ordering::Relaxed);
        drop(scribbler.join().unwrap());
        match outcome.map(|error| error.cause) {
            Some(Cause::BadPeer(_) | Cause::Closed) => bad += 1,
            Some(Cause::TimedOut) | None => good += 1,
            Some(other) => panic!("{other}"),
        }
    }
    assert_eq!(bad + good, 100);
    assert!(bad > 0, "it was caught now and then");
}
