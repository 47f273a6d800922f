//! Peer that speaks the protocol by hand, from its description, so that it can break it.

use crate::shmiop::support::{LIMIT, limit, listen};
use punctual_cdr::Block;
use punctual_link::shmiop::{ShmOptions, Shmiop, Trust};
use punctual_link::{Cause, Connection, LinkError};
use punctual_sys::lifeline::Lifeline;
use punctual_sys::memory::{self, PeerMemory, Region, Words};
use punctual_sys::passing::{self, Found};
use punctual_sys::{futex, unix};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(crate) const CONTROL: usize = 4096;
pub(crate) const RING: u32 = 4096;
pub(crate) const POOL: u32 = 8192;
pub(crate) const TOTAL: usize = CONTROL + (RING + POOL) as usize;
pub(crate) const HEAD: usize = 0;
pub(crate) const TAIL: usize = 32;
pub(crate) const READER_SLEEP: usize = 64;
pub(crate) const READER_DOORBELL: usize = 96;
pub(crate) const WRITER_DOORBELL: usize = 97;
pub(crate) const MARKS: usize = 256;
pub(crate) const COMMON_MARKS: usize = 512;
pub(crate) const INLINE: u32 = 1;
pub(crate) const LENT: u32 = 2;
pub(crate) const COMMON: u32 = 3;

pub(crate) fn link() -> Shmiop {
    Shmiop::new(raw_options())
}

/// Returns link options that match the greeting of a raw test peer.
pub(crate) fn raw_options() -> ShmOptions {
    ShmOptions {
        ring: RING,
        pool: POOL,
        lend_threshold: 64,
        largest_pool: 1 << 20,
        trust: Trust::Never,
        handshake: LIMIT,
        ..ShmOptions::default()
    }
}

/// Returns a greeting with these words after its magic.
pub(crate) fn greeting(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let words = words.into_iter().flat_map(u32::to_ne_bytes);
    b"PNCTLSHM".iter().copied().chain(words).collect()
}

pub(crate) const HONEST: [u32; 6] = [1, 0, RING, POOL, 256, 16];
/// Words of a greeting with a common pool of as many bytes as the pool.
pub(crate) const HONEST_COMMON: [u32; 7] = [2, 0, RING, POOL, 256, 16, POOL];

/// Peer's side of a connection, implemented by the test itself.
pub(crate) struct Raw {
    pub(crate) socket: OwnedFd,
    pub(crate) words: Words,
    pub(crate) ring: Region,
    pub(crate) pool: Region,
    pub(crate) theirs: PeerMemory,
    /// Descriptors that the other side passed behind that of its memory.
    pub(crate) passed: Vec<OwnedFd>,
    file: OwnedFd,
}

/// Common pool of a peer that the test itself implements.
pub(crate) struct RawCommon {
    pub(crate) file: OwnedFd,
    pub(crate) memory: Region,
    pub(crate) lifeline: Lifeline,
    pub(crate) held: OwnedFd,
}

impl RawCommon {
    pub(crate) fn new() -> Self {
        let (file, memory) = memory::create("raw", POOL as usize).unwrap();
        let (lifeline, held) = Lifeline::new().unwrap();
        Self {
            file,
            memory,
            lifeline,
            held,
        }
    }
}

impl Raw {
    /// Connects a raw test peer with a valid greeting.
    pub(crate) fn connect(place: &str) -> Self {
        Self::greet(place, greeting(HONEST), &[], greeting(HONEST))
    }

    /// Connects a raw test peer with a greeting and further descriptors, and expects an answer.
    pub(crate) fn greet(
        place: &str,
        greeting: Vec<u8>,
        more: &[BorrowedFd<'_>],
        expected: Vec<u8>,
    ) -> Self {
        let (socket, _) = unix::connect(Path::new(place), Some(LIMIT)).unwrap();
        let (file, memory) = memory::create("raw", TOTAL).unwrap();
        let descriptors = [&[file.as_fd()], more].concat();
        let sent = passing::send_with(&socket, &greeting, &descriptors);
        assert_eq!(sent.unwrap(), greeting.len());
        let (answer, mut passed) = answer_of(&socket, expected.len());
        assert_eq!(answer, expected);
        let theirs = PeerMemory::map(passed.remove(0), TOTAL).unwrap();
        let (control, rest) = memory.split(CONTROL);
        let (ring, pool) = rest.split(RING as usize);
        Self {
            socket,
            words: control.into_words(),
            ring,
            pool,
            theirs,
            passed,
            file,
        }
    }

    /// Makes a connection of `link`, and at its other end a raw peer that lends from a common pool.
    pub(crate) fn pair_with_common(link: &Shmiop) -> (Self, Arc<dyn Connection>, RawCommon) {
        let acceptor = listen(link);
        let common = RawCommon::new();
        let more = [common.file.as_fd(), common.held.as_fd()];
        let place = acceptor.address().place();
        let raw = Self::greet(place, greeting(HONEST_COMMON), &more, greeting(HONEST));
        (raw, acceptor.accept().unwrap(), common)
    }

    /// Makes a connection of `link`, which has a common pool, and a raw peer at its other end.
    pub(crate) fn pair_to_common(link: &Shmiop) -> (Self, Arc<dyn Connection>) {
        let acceptor = listen(link);
        let place = acceptor.address().place();
        let raw = Self::greet(place, greeting(HONEST), &[], greeting(HONEST_COMMON));
        (raw, acceptor.accept().unwrap())
    }

    /// Makes a connection of `link`, and a raw peer at its other end.
    pub(crate) fn pair(link: &Shmiop) -> (Self, Arc<dyn Connection>) {
        let acceptor = listen(link);
        let raw = Self::connect(acceptor.address().place());
        (raw, acceptor.accept().unwrap())
    }

    /// Returns how much of the peer's memory the machine has allocated, in bytes.
    pub(crate) fn taken(&self) -> i64 {
        rustix::fs::fstat(&self.file).unwrap().st_blocks * 512
    }

    /// Writes a double word at an offset in the ring.
    pub(crate) fn put(&mut self, at: usize, above: u32, below: u32) {
        let word = u64::from(above) << 32 | u64::from(below);
        self.ring.as_mut_slice()[at..at + 8].copy_from_slice(&word.to_ne_bytes());
    }

    pub(crate) fn set_head(&self, head: u32) {
        self.words[HEAD].store(head, Ordering::Release);
        self.words[READER_DOORBELL].fetch_add(1, Ordering::Relaxed);
        futex::wake_shared(&self.words[READER_DOORBELL]);
    }

    /// Sends bytes correctly, in one record at the start of the ring.
    pub(crate) fn send_first(&mut self, octets: &[u8]) {
        self.put(0, INLINE, u32::try_from(octets.len()).unwrap());
        self.ring.as_mut_slice()[8..8 + octets.len()].copy_from_slice(octets);
        self.set_head(u32::try_from(8 + octets.len().next_multiple_of(8)).unwrap());
    }
}

/// Returns the other side's answer; empty if it closes the socket.
pub(crate) fn answer(socket: &OwnedFd) -> (Vec<u8>, Vec<OwnedFd>) {
    answer_of(socket, 32)
}

/// Returns the other side's answer of `len` bytes; less if it closes the socket.
pub(crate) fn answer_of(socket: &OwnedFd, len: usize) -> (Vec<u8>, Vec<OwnedFd>) {
    let (mut octets, mut descriptors) = (Vec::new(), Vec::new());
    while octets.len() < len {
        let _ = passing::wait(socket, Some(LIMIT));
        let mut some = vec![0; len - octets.len()];
        match passing::receive_with(socket, &mut some, &mut descriptors) {
            Ok(0) | Err(_) => break,
            Ok(count) => octets.extend_from_slice(&some[..count]),
        }
    }
    (octets, descriptors)
}

pub(crate) fn has_hung_up(socket: &OwnedFd) -> bool {
    passing::wait(socket, Some(LIMIT)) == Found::End
}

pub(crate) fn receive(connection: &dyn Connection) -> Result<Block, LinkError> {
    let mut block = connection.lend(0);
    connection.receive(&mut block, 1, limit())?;
    Ok(block)
}

/// Receives into the block until that fails; returns the error.
pub(crate) fn failure(connection: &dyn Connection, block: &mut Block) -> LinkError {
    loop {
        if let Err(error) = connection.receive(block, usize::MAX, limit()) {
            return error;
        }
    }
}

/// Checks that the connection reports a bad peer, and is closed.
pub(crate) fn assert_bad(connection: &dyn Connection, raw: &Raw, why: &str) {
    let error = receive(connection).unwrap_err();
    let Cause::BadPeer(said) = error.cause else {
        panic!("{error}");
    };
    assert!(said.contains(why), "{said}");
    assert!(has_hung_up(&raw.socket));
    let after = receive(connection).unwrap_err();
    assert!(matches!(after.cause, Cause::Closed), "{after}");
}

pub(crate) fn send_all(socket: &OwnedFd, octets: &[u8], descriptors: &[BorrowedFd<'_>]) {
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
