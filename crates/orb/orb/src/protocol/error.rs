//! Names of protocol parts, and errors for protocols that cannot be used.

/// Names of the registered parts of protocols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtocolCatalogue {
    /// Messaging protocols.
    pub messaging: Vec<String>,
    /// Names of the link adapters, which add guarantees to a link, such as order and retransmission.
    pub adapters: Vec<String>,
    /// Links.
    pub links: Vec<String>,
}

/// Reason why a protocol cannot be used.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// There is no link with the given name.
    #[error("unknown link `{link}` in the protocol `{protocol}`; known links: {known}{hint}")]
    UnknownLink {
        /// Name of the protocol, as given.
        protocol: String,
        /// The link's name in it.
        link: String,
        /// The existing links.
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
        /// Name of the protocol, as given.
        protocol: String,
        /// The unknown part.
        part: String,
        /// The existing messaging protocols.
        messaging: String,
        /// The existing adapters.
        adapters: String,
    },
    /// The link does not guarantee what the messaging protocol needs.
    #[error("`{messaging}` cannot run over the link `{link}`, which lacks {lacks}{hint}")]
    Unfit {
        /// The messaging protocol.
        messaging: String,
        /// The link, including adapters.
        link: String,
        /// The guarantees that it lacks, in words.
        lacks: String,
        /// Text that suggests a suitable link, if one is known.
        hint: String,
    },
    /// An adapter is used over a link that does not need it.
    #[error("the adapter `{adapter}` was given to the link `{link}`, which takes none")]
    NothingToSupply {
        /// The adapter.
        adapter: String,
        /// The link, including the adapters below.
        link: String,
    },
    /// A protocol name has more parts than the given maximum.
    #[error("a protocol has at most {0} parts")]
    TooManyParts(usize),
    /// The name of a protocol part is already in use, or is invalid.
    #[error("`{name}` cannot be registered: {reason}")]
    BadName {
        /// The name.
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
