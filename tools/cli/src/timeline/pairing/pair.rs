//! Request of two files, and what it says of their clocks.

use super::super::file::{Call, Served};
use super::super::offset::Bound;

/// Request of two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::timeline) struct Pair {
    /// Place in the client's [`File::calls`].
    pub(in crate::timeline) call: usize,
    /// Place in the server's [`File::served`].
    pub(in crate::timeline) served: usize,
    /// Bounds of the offset of the server's clock, by the client's.
    pub(in crate::timeline) bound: Bound,
}

/// Returns the bounds that a request sets to the offset of its server's clock, if it is one request.
pub(super) fn bound(call: &Call, served: &Served) -> Option<Bound> {
    let least = call.received.map(|received| served.end() - received);
    let most = served.read - call.sending;
    least.is_none_or(|least| least <= most).then_some(Bound {
        at: call.sending,
        least,
        most: Some(most),
    })
}
