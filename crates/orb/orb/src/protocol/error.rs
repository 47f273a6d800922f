//! Parts of protocols, and errors of protocols that cannot be used.

/// Names of the parts of protocols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtocolCatalogue {
    /// Messaging protocols.
    pub messaging: Vec<String>,
    /// Adapters.
    pub adapters: Vec<String>,
    /// Links.
    pub links: Vec<String>,
}

/// Reason why a protocol cannot be used.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// There is no link of that name.
    #[error("unknown link `{link}` in the protocol `{protocol}`; known links: {known}{hint}")]
    UnknownLink {
        /// The protocol as it was named.
        protocol: String,
        /// The link's part of it.
        link: String,
        /// The existing links.
        known: String,
        /// Way to make it available, if one is known.
        hint: &'static str,
    },
    /// There is neither a messaging protocol nor an adapter of that name.
    #[error(
        "`{part}` of the protocol `{protocol}` is neither a messaging protocol ({messaging}) nor an \
         adapter ({adapters})"
    )]
    UnknownPart {
        /// The protocol as it was named.
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
        /// The link, adapters included.
        link: String,
        /// The guarantees that it lacks, in words.
        lacks: String,
        /// A link that would fit, if one is known.
        hint: String,
    },
    /// An adapter is used over a link that needs none.
    #[error("the adapter `{adapter}` was given to the link `{link}`, which takes none")]
    NothingToSupply {
        /// The adapter.
        adapter: String,
        /// The link, adapters below included.
        link: String,
    },
    /// A name has more parts than any protocol.
    #[error("a protocol has at most {0} parts")]
    TooManyParts(usize),
    /// A name is taken, or not valid.
    #[error("`{name}` cannot be registered: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// A protocol to be retired does not exist.
    #[error("unknown link, messaging protocol or adapter `{0}`")]
    NotThere(String),
    /// A retirement would remove something that the configuration needs.
    #[error("`{0}` is needed: {1}")]
    InUse(String, String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for ProtocolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
