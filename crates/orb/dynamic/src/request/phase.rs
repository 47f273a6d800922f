//! How far a deferred request has come.

use punctual_orb::DeferredRequest;

/// How far a deferred request has come.
#[derive(Debug, Default)]
pub(super) enum Phase {
    #[default]
    NotSent,
    Sent(DeferredRequest),
    Retrieved,
}
