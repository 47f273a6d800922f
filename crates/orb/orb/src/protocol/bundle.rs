//! Protocols that are added together or not at all.

use crate::messaging::Messaging;
use crate::profile::ProfileCodec;
use punctual_link::{Link, LinkAdapter};
use std::sync::Arc;

/// Links, messaging protocols, adapters and profile codecs that belong together, and the pairs of
/// them that must be compatible.
#[derive(Clone, Debug, Default)]
pub struct ProtocolBundle {
    pub(super) links: Vec<Arc<dyn Link>>,
    pub(super) messaging: Vec<Arc<dyn Messaging>>,
    pub(super) adapters: Vec<Arc<dyn LinkAdapter>>,
    pub(super) codecs: Vec<Arc<dyn ProfileCodec>>,
    pub(super) pairs: Vec<String>,
}

impl ProtocolBundle {
    /// Creates an empty bundle of protocol parts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a link to the bundle of protocol parts.
    #[must_use]
    pub fn link(mut self, link: Arc<dyn Link>) -> Self {
        self.links.push(link);
        self
    }

    /// Adds a messaging protocol to the bundle of protocol parts.
    #[must_use]
    pub fn messaging(mut self, messaging: Arc<dyn Messaging>) -> Self {
        self.messaging.push(messaging);
        self
    }

    /// Adds a link adapter to the bundle of protocol parts.
    #[must_use]
    pub fn adapter(mut self, adapter: Arc<dyn LinkAdapter>) -> Self {
        self.adapters.push(adapter);
        self
    }

    /// Adds a profile codec. It comes before the existing ones, so that a codec for a known tag
    /// replaces the existing one.
    #[must_use]
    pub fn profile_codec(mut self, codec: Arc<dyn ProfileCodec>) -> Self {
        self.codecs.push(codec);
        self
    }

    /// Adds a pair that must be compatible for the bundle to be added, e.g. `giop_lite+mylink`.
    #[must_use]
    pub fn pair(mut self, protocol: &str) -> Self {
        self.pairs.push(protocol.to_owned());
        self
    }
}
