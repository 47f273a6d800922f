//! Paths of an adapter's requests.

use crate::policy::{Policies, ThreadPolicy};

/// Path of an adapter's requests, which is decided when the adapter is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestPath {
    /// They need nothing but the map and an active manager.
    Plain,
    /// So do they, and something surrounds their upcalls.
    Surrounded,
    /// They are counted at the adapter: other things may serve them, or only some threads.
    Counted,
    /// So they are, and objects or operations are found by a strategy for comparison.
    #[cfg(feature = "comparison")]
    Compared,
}

impl RequestPath {
    pub(super) fn of(policies: &Policies, is_surrounded: bool) -> Self {
        match policies.thread {
            #[cfg(feature = "comparison")]
            _ if policies.are_compared() => Self::Compared,
            ThreadPolicy::OrbControl if policies.retains() => match is_surrounded {
                false => Self::Plain,
                true => Self::Surrounded,
            },
            _ => Self::Counted,
        }
    }
}
