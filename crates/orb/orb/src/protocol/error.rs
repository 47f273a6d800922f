//! Names of protocol parts, and errors for protocols that cannot be used.

/// Names of the messaging protocols, link adapters and links that an ORB knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtocolCatalogue {
    /// Names of the messaging protocols.
    pub messaging: Vec<String>,
    /// Names of the link adapters, which add guarantees to a link, such as order and retransmission.
    pub adapters: Vec<String>,
    /// Names of the links, such as `iiop`.
    pub links: Vec<String>,
}

/// Reason why a protocol cannot be used or registered.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The protocol's link is not known.
    #[error("unknown link `{link}` in the protocol `{protocol}`; known links: {known}{hint}")]
    UnknownLink {
        /// Full name of the protocol, as given.
        protocol: String,
        /// Name of the unknown link in the protocol's name.
        link: String,
        /// Names of the known links.
        known: String,
        /// Instructions for making the link available; empty if none are known.
        hint: &'static str,
    },
    /// There is neither a messaging protocol nor an adapter with the given name.
    #[error(
        "`{part}` of the protocol `{protocol}` is neither a messaging protocol ({messaging}) nor an \
         adapter ({adapters})"
    )]
    UnknownPart {
        /// Full name of the protocol, as given.
        protocol: String,
        /// Unknown part of the protocol's name.
        part: String,
        /// Names of the known messaging protocols.
        messaging: String,
        /// Names of the known link adapters.
        adapters: String,
    },
    /// The link does not guarantee what the messaging protocol needs.
    #[error("`{messaging}` cannot run over the link `{link}`, which lacks {lacks}{hint}")]
    Unfit {
        /// Name of the messaging protocol that cannot run over the link.
        messaging: String,
        /// Name of the unsuitable link, including adapters.
        link: String,
        /// Missing guarantees of the link, in words.
        lacks: String,
        /// Text that suggests a suitable link, if one is known.
        hint: String,
    },
    /// An adapter is used over a link that does not need it.
    #[error("the adapter `{adapter}` was given to the link `{link}`, which takes none")]
    NothingToSupply {
        /// Name of the link adapter that is not needed.
        adapter: String,
        /// Name of the link, including the adapters below the rejected one.
        link: String,
    },
    /// A protocol name has more parts than the given maximum.
    #[error("a protocol has at most {0} parts")]
    TooManyParts(usize),
    /// The name of a protocol part is already in use, or is invalid.
    #[error("`{name}` cannot be registered: {reason}")]
    BadName {
        /// Name that cannot be registered.
        name: String,
        /// Reason why the name cannot be registered.
        reason: &'static str,
    },
    /// No protocol part with the name that was to be retired exists.
    #[error("unknown link, messaging protocol or adapter `{0}`")]
    NotThere(String),
    /// A part cannot be retired, because the configuration needs it.
    #[error("`{0}` is needed: {1}")]
    InUse(String, String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for ProtocolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
