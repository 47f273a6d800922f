//! What takes the requests that come by a connection of a client's.

use crate::messaging::Message;
use std::fmt::Debug;
use std::sync::Arc;

/// Serves them.
pub(crate) trait ServesRequests: Send + Sync + Debug {
    /// Takes a request, without waiting for anybody. `false` where too many wait already.
    fn take(self: Arc<Self>, message: Message) -> bool;

    /// The connection has ended: what waits is not served, and nobody waits for answers.
    fn has_ended(&self);
}
