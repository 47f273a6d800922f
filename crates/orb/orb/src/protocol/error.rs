//! What protocols are made of, and why one cannot be used.

/// What protocols are made of, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtocolCatalogue {
    /// Messaging protocols.
    pub messaging: Vec<String>,
    /// Adapters.
    pub adapters: Vec<String>,
    /// Links.
    pub links: Vec<String>,
}

/// Why a protocol cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// No link of that name.
    #[error("there is no link `{link}` for the protocol `{protocol}`; there are {known}{hint}")]
    UnknownLink {
        /// The protocol as it was named.
        protocol: String,
        /// The link's part of it.
        link: String,
        /// The links that there are.
        known: String,
        /// What would make it be there, if anything is known to.
        hint: &'static str,
    },
    /// Neither a messaging protocol nor an adapter of that name.
    #[error(
        "`{part}` of the protocol `{protocol}` is neither a messaging protocol ({messaging}) nor an \
         adapter ({adapters})"
    )]
    UnknownPart {
        /// The protocol as it was named.
        protocol: String,
        /// What is unknown.
        part: String,
        /// The messaging protocols that there are.
        messaging: String,
        /// The adapters that there are.
        adapters: String,
    },
    /// The link does not guarantee what the messaging protocol needs.
    #[error("`{messaging}` does not fit the link `{link}`, which lacks {lacks}{hint}")]
    Unfit {
        /// The messaging protocol.
        messaging: String,
        /// The link, adapters included.
        link: String,
        /// What it lacks, in words.
        lacks: String,
        /// What would fit, if anything is known to.
        hint: String,
    },
    /// An adapter over a link that it does nothing for.
    #[error("the adapter `{adapter}` has nothing to supply to the link `{link}`")]
    NothingToSupply {
        /// The adapter.
        adapter: String,
        /// The link, adapters below included.
        link: String,
    },
    /// A name of more parts than any protocol has.
    #[error("a protocol has at most {0} parts")]
    TooManyParts(usize),
    /// A name that is taken, or is none.
    #[error("`{name}` cannot be registered: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// A protocol to be retired that is not there.
    #[error("there is no link, messaging protocol or adapter `{0}`")]
    NotThere(String),
    /// A retirement that leaves something of the configuration without what it needs.
    #[error("`{0}` is needed: {1}")]
    InUse(String, String),
}
