//! Errors of `corbaloc:` URLs.

use thiserror::Error;

/// Part of a URL that is at fault; the ORB chooses a minor code by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorbalocPart {
    /// Scheme of the URL: the text before the first colon.
    Scheme,
    /// Address list of a `corbaloc:` URL.
    Address,
    /// Object key of a `corbaloc:` URL.
    SchemeSpecific,
}

/// Separator between the last address and the object key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMark {
    /// `/`, which usually separates the object key from the addresses.
    Slash,
    /// `|`, which separates the object key from an address that is a path, as a path contains
    /// slashes.
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

fn not_supported(known: bool) -> &'static str {
    match known {
        true => " yet",
        false => {
            "; a link of the program's own is named behind its messaging protocol, as in corbaloc:giop+mylink:place/Key"
        }
    }
}

/// Reason why a text is not a usable `corbaloc:` URL.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CorbalocError {
    /// The URL does not begin with `corbaloc:`.
    #[error("the URL does not begin with 'corbaloc:'")]
    NotCorbaloc,
    /// An address names no protocol: its colon is missing.
    #[error("an address at offset {position} has no protocol and no colon")]
    NoProtocol {
        /// Offset of the address in the URL, in bytes.
        position: usize,
    },
    /// The protocol of an address is not supported.
    #[error("the protocol '{protocol}' is not supported{}", not_supported(*.known))]
    UnsupportedProtocol {
        /// Name of the unsupported protocol.
        protocol: String,
        /// `true` if the protocol is known to be supported by other ORBs.
        known: bool,
    },
    /// The text before `@` is not a version, or not one that is known and fits the protocol.
    #[error("'{text}' is not a version that is known")]
    BadVersion {
        /// Invalid text in place of the version.
        text: String,
    },
    /// The host of an address is invalid.
    #[error("'{text}' is not a host")]
    BadHost {
        /// Invalid text in place of the host.
        text: String,
    },
    /// The port is not a number from 1 to 65535.
    #[error("'{text}' is not a port")]
    BadPort {
        /// Invalid text in place of the port number.
        text: String,
    },
    /// The location of the endpoint is invalid: not an absolute path where the protocol requires
    /// one, or with characters that have to be escaped.
    #[error("'{text}' is not a valid place: expected {expected}")]
    BadPlace {
        /// Invalid text in place of the endpoint's location.
        text: String,
        /// Form of the location that the protocol requires.
        expected: &'static str,
    },
    /// `rir` stands together with another address, or with text after its colon.
    #[error("'rir:' must be the only address")]
    RirNotAlone,
    /// A multicast group stands together with another address.
    #[error("'miop:' must be the only address")]
    MiopNotAlone,
    /// The URL has too many addresses. Each becomes a profile with the key in it, so that a long
    /// key leaves room for fewer.
    #[error("the URL has more than {most} addresses, the limit for a key of this length")]
    TooManyAddresses {
        /// Maximum number of addresses for an object key of this length.
        most: usize,
    },
    /// The object key is missing: the standard's grammar lets it be empty, but no object has an
    /// empty one.
    #[error("the object key is missing behind the {}", .behind.as_words())]
    NoKey {
        /// Separator that would precede the missing object key.
        behind: KeyMark,
    },
    /// A percent sign is not followed by two hexadecimal digits.
    #[error("the escape at offset {position} is not '%' and two hexadecimal digits")]
    BadEscape {
        /// Offset of the malformed escape in the URL, in bytes.
        position: usize,
    },
    /// A character in the key has to be escaped.
    #[error("the character at offset {position} has to be escaped")]
    BadKeyCharacter {
        /// Offset of the invalid character in the URL, in bytes.
        position: usize,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for CorbalocError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl CorbalocError {
    /// Returns the part of the URL that is invalid.
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
