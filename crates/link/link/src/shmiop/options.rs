//! Options of the link, and the properties that set them for one endpoint.

use super::layout::{LARGEST_POOL, LARGEST_RING, PAGE, Sizes};
use crate::{Cause, LinkError, Phase, Properties};
use punctual_exec::{Look, Spin};
use punctual_sys::credentials::Credentials;
use punctual_sys::processor;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Options of the shared-memory link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShmOptions {
    /// Size of the ring that this side writes, in bytes: a power of two from 4 KiB to 64 MiB.
    /// Default 128 KiB. Larger messages pass through it in pieces. Property `ring`.
    pub ring: u32,
    /// Size of the pool that this side lends from, in bytes, rounded up to whole pages; at most 1
    /// GiB. Default 16 MiB, of which a connection takes from the machine only what it has used. 0
    /// lends nothing: everything is copied through the ring. Property `pool`.
    pub pool: u32,
    /// Size in bytes of the link's common pool, from which all connections with this option lend
    /// what goes to several peers: it is copied there once for all of them. Rounded up to whole
    /// pages; at most 1 GiB. Default 0, which is none. The first connection creates the pool, and
    /// others use it with the size that it has. At most a quarter of it may be out at one peer.
    ///
    /// Every peer of these connections can read all of the pool, so also what is sent to the others:
    /// use it only where all peers may know that. Property `common_pool`.
    pub common_pool: u32,
    /// Size of the largest pool that a peer may have, in bytes, and of the largest common pool: a
    /// connection to a peer with a larger one is refused. Default 64 MiB. Viewing a peer's
    /// memory in place ([`Trust::SameUser`]) makes the machine back it, at the cost of this
    /// process's control group, so this bounds the memory that a connection can consume, twice if the
    /// peer has a common pool. Copies are made only of pages that the peer has written itself. Property `largest_pool`.
    pub largest_pool: u32,
    /// Size in bytes from which runs are lent. Default 16 KiB; shorter ones cost less copied
    /// through the ring. Property `lend_threshold`.
    pub lend_threshold: usize,
    /// Upper bound of the time that a thread spins before it sleeps: it spins less long while that
    /// keeps failing. `None`, the default, is 50 µs where this process may run on more than one
    /// processor, else nothing. Property `spin_us`.
    pub spin: Option<Duration>,
    /// `true` if connections are waited for by a descriptor, for a reactor, instead of by a thread
    /// in [`crate::Connection::receive`]. Default off. Only a receive that finds no data, at once
    /// or at its deadline, arms the descriptor: so receive until then before waiting for it.
    /// Property `descriptor`.
    pub descriptor: bool,
    /// Treatment of bytes and numbers that a peer lends: viewed in its memory, or copied. Default
    /// [`Trust::Never`]. Property `trust`.
    pub trust: Trust,
    /// Users allowed at the other end of a connection. Property `allow`.
    pub allow: Allow,
    /// Upper bound of a handshake's duration. Default 5 s. Property `handshake_ms`.
    pub handshake: Duration,
    /// Initial size of a lent block, in bytes. Default 4,096: larger messages make it grow.
    pub block: usize,
    /// Size in bytes beyond which blocks are kept only while messages need such, two a thread and
    /// 32 MiB in the process at most; with 0 none is kept. Default 256 KiB.
    pub block_kept: usize,
}

/// Treatment of a sequence of octets or numbers that a peer lends: viewed in place, or copied
/// before it is read. Strings, names, characters, booleans, enumerators, encapsulations, and all
/// other data that is checked before it is used, are copied in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Received sequences of numbers are always copied: later changes by the peer have no effect. Each
    /// sequence is copied once, straight into the application's vector if it is read into one.
    #[default]
    Never,
    /// A view is the peer's memory itself if the peer runs as this process's effective user.
    ///
    /// To choose this is to vouch for every process of that user that can reach the socket: it must
    /// not change lent memory until that was returned, as every peer of this implementation does.
    /// The kernel does not enforce that. A servant whose arguments change concurrently may compute
    /// anything, and to Rust, which relies on the target of `&[u8]` staying unchanged, the
    /// behaviour is undefined. The same user does not imply that right anyway: with Yama, for
    /// processes that are not dumpable, or in containers, a process cannot write to another's
    /// memory though both have the same user.
    SameUser,
}

/// Effective users that are allowed at the other end of a shared-memory connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Allow {
    /// Only the user of this process.
    #[default]
    SameUser,
    /// User of this process and the users with the listed ids.
    Users(Arc<[u32]>),
    /// All users that can reach the acceptor's socket.
    Anyone,
}

impl Allow {
    /// Returns whether a peer with these credentials is allowed.
    pub(super) fn admits(&self, peer: &Credentials) -> bool {
        let listed = match self {
            Self::SameUser => false,
            Self::Users(users) => users.contains(&peer.user()),
            Self::Anyone => true,
        };
        listed || peer.same_user().is_some()
    }
}

impl FromStr for Trust {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "never" => Ok(Self::Never),
            "same_user" => Ok(Self::SameUser),
            _ => Err(()),
        }
    }
}

impl FromStr for Allow {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "same_user" => Ok(Self::SameUser),
            "anyone" => Ok(Self::Anyone),
            _ => {
                let users: Result<Vec<u32>, _> = text.split('+').map(str::parse).collect();
                users.map(|users| Self::Users(users.into())).map_err(drop)
            }
        }
    }
}

impl Default for ShmOptions {
    fn default() -> Self {
        Self {
            ring: 128 * 1024,
            pool: 16 * 1024 * 1024,
            common_pool: 0,
            largest_pool: 64 * 1024 * 1024,
            lend_threshold: 16 * 1024,
            spin: None,
            descriptor: false,
            trust: Trust::default(),
            allow: Allow::default(),
            handshake: Duration::from_secs(5),
            block: 4096,
            block_kept: 256 * 1024,
        }
    }
}

/// Properties that an endpoint or a policy may set.
const KNOWN: [&str; 10] = [
    "ring",
    "pool",
    "common_pool",
    "largest_pool",
    "lend_threshold",
    "spin_us",
    "descriptor",
    "trust",
    "allow",
    "handshake_ms",
];

impl ShmOptions {
    /// Returns the options of the link overridden by an endpoint's or a policy's properties, with
    /// valid sizes.
    pub(super) fn with(&self, properties: &Properties, phase: Phase) -> Result<Self, LinkError> {
        let mut options = self.clone();
        properties.only(
            &KNOWN,
            "ring, pool, common_pool, largest_pool, lend_threshold, spin_us, descriptor, trust, allow or handshake_ms",
            phase,
        )?;
        let octets = |key| properties.parse::<u32>(key, "a number of octets", phase);
        options.ring = octets("ring")?.unwrap_or(options.ring);
        options.pool = octets("pool")?.unwrap_or(options.pool);
        options.common_pool = octets("common_pool")?.unwrap_or(options.common_pool);
        options.largest_pool = octets("largest_pool")?.unwrap_or(options.largest_pool);
        options.lend_threshold = properties
            .parse("lend_threshold", "a number of octets", phase)?
            .unwrap_or(options.lend_threshold);
        let microseconds = properties.parse("spin_us", "a number of microseconds", phase)?;
        options.spin = microseconds.map(Duration::from_micros).or(options.spin);
        let milliseconds = properties.parse("handshake_ms", "a number of milliseconds", phase)?;
        options.handshake = milliseconds.map_or(options.handshake, Duration::from_millis);
        options.descriptor = properties
            .parse("descriptor", "true or false", phase)?
            .unwrap_or(options.descriptor);
        options.trust = properties
            .parse("trust", "never or same_user", phase)?
            .unwrap_or(options.trust);
        options.allow = properties
            .parse("allow", "same_user, anyone, or users joined by +", phase)?
            .unwrap_or(options.allow);
        options.check(phase)?;
        Ok(options)
    }

    /// Returns the sizes of the ring and the pool in this side's shared memory.
    pub(super) fn sizes(&self) -> Sizes {
        Sizes {
            ring: self.ring,
            pool: self.pool.next_multiple_of(PAGE),
        }
    }

    /// Returns the size of the common pool.
    pub(super) fn common_size(&self) -> u32 {
        self.common_pool.next_multiple_of(PAGE)
    }

    /// Returns the settings for spinning before a thread sleeps.
    pub(super) fn looks(&self) -> Spin {
        // An explicit setting implies enough processors; sharing one with the peer is detected.
        let asked = self.spin.is_some();
        Spin::new(self.longest_spin(), Look::Memory).always(asked)
    }

    fn longest_spin(&self) -> Duration {
        const DEFAULT: Duration = Duration::from_micros(50);
        self.spin
            .unwrap_or_else(|| match processor::own_count() > 1 {
                true => DEFAULT,
                // With one processor, the peer can't run while this thread spins.
                false => Duration::ZERO,
            })
    }

    fn check(&self, phase: Phase) -> Result<(), LinkError> {
        let refuse = |property: String, expected| LinkError {
            phase,
            cause: Cause::BadProperty {
                property: property.into(),
                expected,
            },
        };
        if !self.ring.is_power_of_two() || !(PAGE..=LARGEST_RING).contains(&self.ring) {
            let expected = "a power of two from 4096 to 67108864";
            return Err(refuse(format!("ring={}", self.ring), expected));
        }
        for (name, size) in [("pool", self.pool), ("common_pool", self.common_pool)] {
            if size > LARGEST_POOL {
                return Err(refuse(format!("{name}={size}"), "at most 1073741824"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(key: &str, value: &str) -> Result<ShmOptions, LinkError> {
        let properties = Properties::from_iter([(key, value)]);
        ShmOptions::default().with(&properties, Phase::Connect)
    }

    #[test]
    fn properties_are_laid_over_the_options() {
        assert_eq!(with("ring", "8192").unwrap().ring, 8192);
        assert_eq!(with("pool", "1").unwrap().sizes().pool, PAGE);
        assert_eq!(with("common_pool", "5000").unwrap().common_size(), 2 * PAGE);
        assert_eq!(with("largest_pool", "0").unwrap().largest_pool, 0);
        assert_eq!(with("lend_threshold", "9").unwrap().lend_threshold, 9);
        let spin = with("spin_us", "7").unwrap().longest_spin();
        assert_eq!(spin, Duration::from_micros(7));
        assert!(with("descriptor", "true").unwrap().descriptor);
        let trust = with("trust", "same_user").unwrap().trust;
        assert_eq!(trust, Trust::SameUser);
        assert_eq!(with("allow", "anyone").unwrap().allow, Allow::Anyone);
        let users = Allow::Users([5, 7].into());
        assert_eq!(with("allow", "5+7").unwrap().allow, users);
        let patience = with("handshake_ms", "20").unwrap().handshake;
        assert_eq!(patience, Duration::from_millis(20));
        let nothing = ShmOptions::default().with(&Properties::NONE, Phase::Connect);
        assert_eq!(nothing.unwrap(), ShmOptions::default());
    }

    #[test]
    fn memory_of_a_peer_is_seen_by_explicit_choice_only() {
        assert_eq!(ShmOptions::default().trust, Trust::Never);
        assert_eq!(with("ring", "8192").unwrap().trust, Trust::Never);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (key, value) in [
            ("ring", "5000"),
            ("ring", "2048"),
            ("ring", "134217728"),
            ("pool", "1073741825"),
            ("common_pool", "1073741825"),
            ("spin_us", "-1"),
            ("trust", "always"),
            ("allow", "somebody"),
            ("no_delay", "true"),
        ] {
            let error = with(key, value).unwrap_err().to_string();
            assert!(error.contains(&format!("`{key}={value}`")), "{error}");
        }
    }
}
