//! Phases of a deferred request.

use punctual_orb::DeferredRequest;

/// Phase of a deferred request.
#[derive(Debug, Default)]
pub(super) enum Phase {
    #[default]
    NotSent,
    Sent(Box<DeferredRequest>),
    Retrieved,
}
