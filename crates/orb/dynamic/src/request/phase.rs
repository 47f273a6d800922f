//! Phases of a deferred request: not sent, sent, response retrieved.

use punctual_orb::DeferredRequest;

/// Phase of a deferred request.
#[derive(Debug, Default)]
pub(super) enum Phase {
    #[default]
    NotSent,
    Sent(Box<DeferredRequest>),
    Retrieved,
}
