//! What can be wrong with a `corbaloc:` URL.

use thiserror::Error;

/// The part of a URL that is at fault; the ORB chooses a minor code by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorbalocPart {
    /// What stands before the first colon.
    Scheme,
    /// The list of addresses.
    Address,
    /// The key.
    SchemeSpecific,
}

/// What stands between the last address and the object key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMark {
    /// A slash.
    Slash,
    /// A bar, as the address is a path, which holds slashes.
    Bar,
}

impl KeyMark {
    fn as_words(self) -> &'static str {
        match self {
            Self::Slash => "slash, as in corbaloc::host:2809/Key",
            Self::Bar => "bar where the address is a path, as in corbaloc:uiop:/run/server|Key",
        }
    }
}

/// Why a text is not a `corbaloc:` URL that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CorbalocError {
    /// The text does not begin with `corbaloc:`.
    #[error("the URL does not begin with 'corbaloc:'")]
    NotCorbaloc,
    /// An address names no protocol: its colon is missing.
    #[error("an address at offset {position} has no protocol and no colon")]
    NoProtocol {
        /// Offset in the URL, in octets.
        position: usize,
    },
    /// A protocol that is not supported.
    #[error("the protocol '{protocol}' is not supported{}", if *.known { " yet" } else { "" })]
    UnsupportedProtocol {
        /// Its name.
        protocol: String,
        /// Whether it is a protocol that other ORBs have.
        known: bool,
    },
    /// What stands before `@` is no version, or none that is known and fits the protocol.
    #[error("'{text}' is not a version that is known")]
    BadVersion {
        /// The text.
        text: String,
    },
    /// A host that cannot be one.
    #[error("'{text}' is not a host")]
    BadHost {
        /// The text.
        text: String,
    },
    /// A port that is no number from 1 to 65535.
    #[error("'{text}' is not a port")]
    BadPort {
        /// The text.
        text: String,
    },
    /// A place that cannot be one: not an absolute path where the protocol wants one, or with
    /// characters that have to be escaped.
    #[error("'{text}' is not a place, which is {expected}")]
    BadPlace {
        /// The text.
        text: String,
        /// What the protocol wants.
        expected: &'static str,
    },
    /// `rir` together with another address, or with something behind its colon.
    #[error("'rir:' stands alone")]
    RirNotAlone,
    /// More addresses than references are of use with. Each becomes a profile with the key in it, so that a long key
    /// leaves fewer.
    #[error("the URL has more than {most} addresses; the longer the key, the fewer there may be")]
    TooManyAddresses {
        /// How many there may be, with this key.
        most: usize,
    },
    /// No object key: the standard's grammar lets it be empty, but no object has an empty one.
    #[error("there is no object key; it stands behind a {}", .behind.as_words())]
    NoKey {
        /// What would stand before it.
        behind: KeyMark,
    },
    /// A percent sign without two hexadecimal digits.
    #[error("the escape at offset {position} is not '%' and two hexadecimal digits")]
    BadEscape {
        /// Offset in the URL, in octets.
        position: usize,
    },
    /// A character in the key that has to be escaped.
    #[error("the character at offset {position} has to be escaped")]
    BadKeyCharacter {
        /// Offset in the URL, in octets.
        position: usize,
    },
}

impl CorbalocError {
    /// The part that is at fault.
    #[must_use]
    pub const fn part(&self) -> CorbalocPart {
        match self {
            Self::NotCorbaloc => CorbalocPart::Scheme,
            Self::NoKey { .. } | Self::BadEscape { .. } | Self::BadKeyCharacter { .. } => {
                CorbalocPart::SchemeSpecific
            }
            _ => CorbalocPart::Address,
        }
    }
}
