//! Handshake of two processes over the socket, by which each maps the other's memory.
//!
//! The connecting side sends its greeting, with its memory's descriptor beside it; the other checks
//! all of it, and answers with its own, or with the reason of its refusal. Neither waits for more
//! than that.
//!
//! ```text
//! 0   8   "PNCTLSHM"
//! 8   4   version: 1, or 2 of a side that lends from a common pool
//! 12  4   0, or why the other is refused
//! 16  4   size of the ring
//! 20  4   size of the pool
//! 24  4   slots of the pool, and of the common pool: 256
//! 28  4   how often each may be out: 16
//! 32  4   size of the common pool (version 2)
//! ```
//!
//! With version 2, two more descriptors follow that of the side's memory: the common pool's memory,
//! and the end of a lifeline ([`punctual_sys::lifeline`]), which the other keeps for as long as it
//! may read there.

use super::address::Addresses;
use super::common::{LinkState, Offer};
use super::connection::{Parts, ShmConnection};
use super::incoming::PeerCommon;
use super::layout::{REFERENCES, SLOTS, Sizes, is_sound_pool};
use super::options::{ShmOptions, Trust};
use super::writer;
use crate::Cause;
use punctual_sys::credentials::Credentials;
use punctual_sys::lifeline;
use punctual_sys::memory::{self, PeerMemory, Refused, Region, Trusted};
use punctual_sys::passing::{self, MOST_DESCRIPTORS};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const MAGIC: [u8; 8] = *b"PNCTLSHM";
/// Version of the greeting of a side without a common pool.
const PLAIN: u32 = 1;
/// Version of the greeting of a side with a common pool.
const WITH_COMMON: u32 = 2;
/// Size of the greeting of version 1, in bytes.
const LEN: usize = 32;
/// Size of the greeting of version 2, in bytes.
const LONGEST: usize = 36;

const WELCOME: u32 = 0;
const NOT_ALLOWED: u32 = 1;
const BAD_GREETING: u32 = 2;

/// Handshake under way: the socket, and the received part of the peer's greeting.
#[derive(Debug)]
pub(super) struct Handshake {
    socket: OwnedFd,
    credentials: Credentials,
    octets: [u8; LONGEST],
    received: usize,
    descriptors: Vec<OwnedFd>,
}

/// Shared memory of this side, which the peer is to map.
#[derive(Debug)]
pub(super) struct Own {
    file: OwnedFd,
    memory: Region,
    sizes: Sizes,
    /// Common pool of the link, if the peer is to map it.
    common: Option<Offer>,
}

/// Shared memory of the peer, as mapped by this side.
#[derive(Debug)]
pub(super) struct PeerMapping {
    memory: PeerMemory,
    sizes: Sizes,
    common: Option<PeerCommon>,
}

/// Content of a greeting that is no refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Greeting {
    sizes: Sizes,
    /// Size of the common pool; `None` in version 1.
    common: Option<u32>,
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
            octets: [0; LONGEST],
            received: 0,
            descriptors: Vec::new(),
        })
    }

    pub(super) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Sends the greeting, with the descriptors of this side's memories. Does not block.
    pub(super) fn send(&self, own: &Own) -> Result<(), Cause> {
        let greeting = Greeting {
            sizes: own.sizes,
            common: own.common.as_ref().map(|offer| offer.common.size()),
        };
        let greeting = encode(WELCOME, greeting);
        let of_common = own.common.iter().flat_map(Offer::descriptors);
        let descriptors: Vec<BorrowedFd<'_>> =
            std::iter::once(own.file.as_fd()).chain(of_common).collect();
        match passing::send_with(&self.socket, &greeting, &descriptors) {
            Ok(sent) if sent == greeting.len() => Ok(()),
            // A fresh socket has room for a greeting; one without room is useless.
            Ok(_) => Err(Cause::Closed),
            Err(error) => Err(failed(error)),
        }
    }

    /// Receives the peer's greeting as far as it has arrived, and maps its memory once that is
    /// whole; returns `None` until then. Does not block. A peer with a bad greeting is sent the
    /// reason.
    pub(super) fn receive(&mut self, options: &ShmOptions) -> Result<Option<PeerMapping>, Cause> {
        // What follows the greeting is not part of it: notifications.
        let length = self.length();
        let rest = self.octets.get_mut(self.received..length);
        let rest = rest.unwrap_or_default();
        match passing::receive_with(&self.socket, rest, &mut self.descriptors) {
            Ok(0) => return Err(Cause::Closed),
            Ok(count) => self.received += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(self.refuse("it sent more descriptors than its greeting has"));
            }
            Err(error) => return Err(failed(error)),
        }
        if self.descriptors.len() > MOST_DESCRIPTORS {
            return Err(self.refuse("it sent more descriptors than its greeting has"));
        }
        if self.received < self.length() {
            return Ok(None);
        }
        let theirs = self.map(options);
        if matches!(theirs, Err(Cause::BadPeer(_))) {
            refuse(&self.socket, BAD_GREETING);
        }
        theirs.map(Some)
    }

    /// Returns the length of the peer's greeting, as far as that is known.
    fn length(&self) -> usize {
        let (version, _) = words(&self.octets);
        match version == WITH_COMMON && self.received >= LEN {
            true => LONGEST,
            false => LEN,
        }
    }

    fn refuse(&self, why: &'static str) -> Cause {
        refuse(&self.socket, BAD_GREETING);
        Cause::BadPeer(why)
    }

    fn map(&mut self, options: &ShmOptions) -> Result<PeerMapping, Cause> {
        let Greeting { sizes, common } = decode(&self.octets)?;
        let is_sound = |size| size > 0 && is_sound_pool(size, options.largest_pool);
        if !sizes.are_sound(options.largest_pool) || !common.is_none_or(is_sound) {
            return Err(Cause::BadPeer("its memory has sizes that are not accepted"));
        }
        let mut descriptors = std::mem::take(&mut self.descriptors).into_iter();
        let (file, of_common) = (descriptors.next(), descriptors.next());
        let (lifeline, more) = (descriptors.next(), descriptors.next());
        let Some(file) = file else {
            return Err(Cause::BadPeer("it sent no descriptor"));
        };
        let common = match (common, of_common, lifeline, more) {
            (None, None, None, None) => None,
            (Some(size), Some(file), Some(lifeline), None) => {
                Some(map_common(&file, size, lifeline)?)
            }
            (None, ..) | (_, _, _, Some(_)) => {
                return Err(Cause::BadPeer(
                    "it sent more descriptors than its greeting has",
                ));
            }
            _ => return Err(Cause::BadPeer("it sent no descriptors of its common pool")),
        };
        let memory = map(&file, sizes.total())?;
        Ok(PeerMapping {
            memory,
            sizes,
            common,
        })
    }

    /// Makes the connection, once each side has mapped the other's memory.
    pub(super) fn connect(
        self,
        own: Own,
        theirs: PeerMapping,
        options: &ShmOptions,
        state: &LinkState,
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
            common: own.common,
            their_common: theirs.common,
            socket: self.socket,
            trusted,
            copies: state.counters.open(),
            addresses,
            options,
        })
    }
}

impl Own {
    /// Allocates the shared memory of this side, and the link's common pool if the options have one
    /// and it does not exist yet.
    pub(super) fn new(options: &ShmOptions, state: &LinkState) -> Result<Self, Cause> {
        let sizes = options.sizes();
        let common = state.common_pool(options.common_size())?;
        let common = common.map(Offer::new).transpose()?;
        let (file, memory) = memory::create("punctual-shmiop", sizes.total()).map_err(Cause::Os)?;
        Ok(Self {
            file,
            memory,
            sizes,
            common,
        })
    }
}

fn map(file: &OwnedFd, size: usize) -> Result<PeerMemory, Cause> {
    PeerMemory::map(file, size).map_err(|refused| match refused {
        Refused::NotMemory => Cause::BadPeer("the descriptor it sent is not a memory file"),
        Refused::NotSealed => Cause::BadPeer("its memory is not sealed"),
        Refused::WrongSize => Cause::BadPeer("its memory differs from the announced size"),
        Refused::Os(error) => Cause::Os(error),
    })
}

fn map_common(file: &OwnedFd, size: u32, lifeline: OwnedFd) -> Result<PeerCommon, Cause> {
    if !lifeline::is_pipe(lifeline.as_fd()) {
        return Err(Cause::BadPeer("the lifeline it sent is not a pipe"));
    }
    Ok(PeerCommon {
        memory: map(file, size as usize)?,
        _lifeline: lifeline,
    })
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
    let none = Greeting {
        sizes: Sizes { ring: 0, pool: 0 },
        common: None,
    };
    let _ = passing::send_with(socket, &encode(reason, none), &[]);
}

fn encode(status: u32, Greeting { sizes, common }: Greeting) -> Vec<u8> {
    let version = common.map_or(PLAIN, |_| WITH_COMMON);
    let slots = u32::try_from(SLOTS).unwrap_or_default();
    let words = [version, status, sizes.ring, sizes.pool, slots, REFERENCES];
    let all = words.into_iter().chain(common).flat_map(u32::to_ne_bytes);
    MAGIC.into_iter().chain(all).collect()
}

/// Returns the version, and the words that follow it.
fn words(octets: &[u8; LONGEST]) -> (u32, impl Iterator<Item = u32>) {
    let (_, words) = octets.split_at(MAGIC.len());
    let words = words.as_chunks::<4>().0.iter();
    let mut words = words.map(|word| u32::from_ne_bytes(*word));
    (words.next().unwrap_or_default(), words)
}

fn decode(octets: &[u8; LONGEST]) -> Result<Greeting, Cause> {
    if !octets.starts_with(&MAGIC) {
        return Err(Cause::BadPeer("it does not speak shmiop"));
    }
    let (version, mut words) = words(octets);
    let mut next = || words.next().unwrap_or_default();
    if version != PLAIN && version != WITH_COMMON {
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
    let common = (version == WITH_COMMON).then(next);
    Ok(Greeting { sizes, common })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes {
        ring: 4096,
        pool: 8192,
    };
    const BOTH: [Greeting; 2] = [
        Greeting {
            sizes: SIZES,
            common: None,
        },
        Greeting {
            sizes: SIZES,
            common: Some(12288),
        },
    ];

    /// Returns a greeting as it is received.
    fn received(status: u32, greeting: Greeting) -> [u8; LONGEST] {
        let mut octets = encode(status, greeting);
        octets.resize(LONGEST, 0);
        octets.try_into().unwrap()
    }

    #[test]
    fn a_greeting_is_understood_and_a_refusal_says_why() {
        for greeting in BOTH {
            assert_eq!(decode(&received(WELCOME, greeting)).unwrap(), greeting);
            let refused = decode(&received(NOT_ALLOWED, greeting)).unwrap_err();
            assert!(refused.to_string().contains("does not allow this user"));
        }
    }

    #[test]
    fn a_change_to_any_word_but_the_sizes_is_refused() {
        for greeting in BOTH {
            for at in (0..16).chain(24..LEN) {
                let mut octets = received(WELCOME, greeting);
                octets[at] ^= 0x55;
                assert!(matches!(decode(&octets), Err(Cause::BadPeer(_))), "{at}");
            }
        }
    }

    #[test]
    fn a_side_without_a_common_pool_greets_as_ever() {
        let greeting = encode(WELCOME, BOTH[0]);
        assert_eq!((greeting.len(), greeting[8]), (LEN, 1));
        assert_eq!(encode(WELCOME, BOTH[1]).len(), LONGEST);
    }
}
