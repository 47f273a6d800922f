//! Handshake of two processes over the socket, by which each maps the other's memory.
//!
//! The connecting side sends its greeting, with its memory's descriptor beside it; the other checks
//! all of it, and answers with its own, or with the reason of its refusal. Neither waits for more
//! than that.
//!
//! ```text
//! 0   8   "PNCTLSHM"
//! 8   4   version: 1
//! 12  4   0, or why the other is refused
//! 16  4   size of the ring
//! 20  4   size of the pool
//! 24  4   slots of the pool: 256
//! 28  4   how often each may be out: 16
//! ```

use super::address::Addresses;
use super::connection::{Parts, ShmConnection};
use super::copies::CopyCounters;
use super::layout::{REFERENCES, SLOTS, Sizes};
use super::options::{ShmOptions, Trust};
use super::writer;
use crate::Cause;
use punctual_sys::credentials::Credentials;
use punctual_sys::memory::{self, PeerMemory, Refused, Region, Trusted};
use punctual_sys::passing;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

const MAGIC: [u8; 8] = *b"PNCTLSHM";
const VERSION: u32 = 1;
/// Size of the greeting that each side sends, in bytes.
const LEN: usize = 32;

const WELCOME: u32 = 0;
const NOT_ALLOWED: u32 = 1;
const BAD_GREETING: u32 = 2;

/// Handshake under way: the socket, and the received part of the peer's greeting.
#[derive(Debug)]
pub(super) struct Handshake {
    socket: OwnedFd,
    credentials: Credentials,
    octets: [u8; LEN],
    received: usize,
    descriptors: Vec<OwnedFd>,
}

/// Shared memory of this side, which the peer is to map.
#[derive(Debug)]
pub(super) struct Own {
    file: OwnedFd,
    memory: Region,
    sizes: Sizes,
}

/// Shared memory of the peer, as mapped by this side.
#[derive(Debug)]
pub(super) struct PeerMapping {
    memory: PeerMemory,
    sizes: Sizes,
}

impl Handshake {
    /// Begins the handshake with the peer at the other end of `socket`.
    ///
    /// # Errors
    /// [`Cause::BadPeer`] when its user is not allowed, which is reported to it; the operating
    /// system's.
    pub(super) fn new(socket: OwnedFd, options: &ShmOptions) -> Result<Self, Cause> {
        let credentials = Credentials::of_peer(&socket).map_err(Cause::Os)?;
        if !options.allow.admits(&credentials) {
            refuse(&socket, NOT_ALLOWED);
            return Err(Cause::BadPeer("its user is not allowed here"));
        }
        Ok(Self {
            socket,
            credentials,
            octets: [0; LEN],
            received: 0,
            descriptors: Vec::new(),
        })
    }

    pub(super) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Sends the greeting, with the descriptor of this side's memory. Does not block.
    pub(super) fn send(&self, own: &Own) -> Result<(), Cause> {
        let greeting = encode(WELCOME, own.sizes);
        match passing::send_with(&self.socket, &greeting, Some(own.file.as_fd())) {
            Ok(LEN) => Ok(()),
            // A fresh socket has room for a greeting; one without room is useless.
            Ok(_) => Err(Cause::Closed),
            Err(error) => Err(failed(error)),
        }
    }

    /// Receives the peer's greeting as far as it has arrived, and maps its memory once that is
    /// whole; returns `None` until then. Does not block. A peer with a bad greeting is sent the
    /// reason.
    pub(super) fn receive(&mut self, options: &ShmOptions) -> Result<Option<PeerMapping>, Cause> {
        let rest = self.octets.get_mut(self.received..).unwrap_or_default();
        match passing::receive_with(&self.socket, rest, &mut self.descriptors) {
            Ok(0) => return Err(Cause::Closed),
            Ok(count) => self.received += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(self.refuse("it sent more than one descriptor"));
            }
            Err(error) => return Err(failed(error)),
        }
        if self.descriptors.len() > 1 {
            return Err(self.refuse("it sent more than one descriptor"));
        }
        if self.received < LEN {
            return Ok(None);
        }
        let theirs = self.map(options);
        if matches!(theirs, Err(Cause::BadPeer(_))) {
            refuse(&self.socket, BAD_GREETING);
        }
        theirs.map(Some)
    }

    fn refuse(&self, why: &'static str) -> Cause {
        refuse(&self.socket, BAD_GREETING);
        Cause::BadPeer(why)
    }

    fn map(&mut self, options: &ShmOptions) -> Result<PeerMapping, Cause> {
        let sizes = decode(&self.octets)?;
        if !sizes.are_sound(options.largest_pool) {
            return Err(Cause::BadPeer("its memory has sizes that are not accepted"));
        }
        let Some(file) = self.descriptors.pop() else {
            return Err(Cause::BadPeer("it sent no descriptor"));
        };
        let memory = PeerMemory::map(&file, sizes.total()).map_err(|refused| match refused {
            Refused::NotMemory => Cause::BadPeer("the descriptor it sent is not a memory file"),
            Refused::NotSealed => Cause::BadPeer("its memory is not sealed"),
            Refused::WrongSize => Cause::BadPeer("its memory differs from the announced size"),
            Refused::Os(error) => Cause::Os(error),
        })?;
        Ok(PeerMapping { memory, sizes })
    }

    /// Makes the connection, once each side has mapped the other's memory.
    pub(super) fn connect(
        self,
        own: Own,
        theirs: PeerMapping,
        options: &ShmOptions,
        counters: &Arc<CopyCounters>,
        addresses: Addresses,
    ) -> ShmConnection {
        let trusted = match options.trust {
            Trust::Never => None,
            Trust::SameUser => self.credentials.same_user().map(Trusted::by_choice),
        };
        let (control, ring, pool) = writer::parts(own.memory, own.sizes);
        ShmConnection::new(Parts {
            control,
            ring,
            pool,
            theirs: theirs.memory,
            their_sizes: theirs.sizes,
            socket: self.socket,
            trusted,
            copies: counters.open(),
            addresses,
            options,
        })
    }
}

impl Own {
    /// Allocates the shared memory of this side.
    pub(super) fn new(options: &ShmOptions) -> Result<Self, Cause> {
        let sizes = options.sizes();
        let (file, memory) = memory::create("punctual-shmiop", sizes.total()).map_err(Cause::Os)?;
        Ok(Self {
            file,
            memory,
            sizes,
        })
    }
}

/// Converts an error: a peer that has gone is not an operating system failure.
fn failed(error: io::Error) -> Cause {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Cause::Closed,
        _ => Cause::Os(error),
    }
}

/// Sends a peer the reason of its refusal, which it may miss.
fn refuse(socket: &OwnedFd, reason: u32) {
    let none = Sizes { ring: 0, pool: 0 };
    let _ = passing::send_with(socket, &encode(reason, none), None);
}

fn encode(status: u32, sizes: Sizes) -> [u8; LEN] {
    let mut octets = [0; LEN];
    let slots = u32::try_from(SLOTS).unwrap_or_default();
    let words = [VERSION, status, sizes.ring, sizes.pool, slots, REFERENCES];
    let all = words.into_iter().flat_map(u32::to_ne_bytes);
    for (to, octet) in octets.iter_mut().zip(MAGIC.into_iter().chain(all)) {
        *to = octet;
    }
    octets
}

fn decode(octets: &[u8; LEN]) -> Result<Sizes, Cause> {
    let (magic, words) = octets.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(Cause::BadPeer("it does not speak shmiop"));
    }
    let mut words = words
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_ne_bytes(*word));
    let mut next = || words.next().unwrap_or_default();
    if next() != VERSION {
        return Err(Cause::BadPeer("it speaks another version"));
    }
    match next() {
        WELCOME => {}
        NOT_ALLOWED => return Err(Cause::BadPeer("it does not allow this user")),
        _ => return Err(Cause::BadPeer("it refused the greeting")),
    }
    let sizes = Sizes {
        ring: next(),
        pool: next(),
    };
    if next() as usize != SLOTS || next() != REFERENCES {
        return Err(Cause::BadPeer(
            "it announced another number of slots or references for its pool",
        ));
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_understood_and_a_refusal_says_why() {
        let sizes = Sizes {
            ring: 4096,
            pool: 8192,
        };
        assert_eq!(decode(&encode(WELCOME, sizes)).unwrap(), sizes);
        let refused = decode(&encode(NOT_ALLOWED, sizes)).unwrap_err();
        assert!(refused.to_string().contains("does not allow this user"));
    }

    #[test]
    fn a_change_to_any_word_but_the_sizes_is_refused() {
        let sizes = Sizes {
            ring: 4096,
            pool: 8192,
        };
        for at in (0..16).chain(24..LEN) {
            let mut octets = encode(WELCOME, sizes);
            octets[at] ^= 0x55;
            assert!(matches!(decode(&octets), Err(Cause::BadPeer(_))), "{at}");
        }
    }
}
