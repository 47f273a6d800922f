//! Adapters between a messaging protocol and a link that lacks the guarantees it needs.

use crate::{Guarantees, Link};
use std::fmt::Debug;
use std::sync::Arc;

/// Adapter that supplies guarantees a link lacks, e.g. order and retransmission over datagrams.
///
/// An adapter makes a link of a link: it uses the one below in its own way, and both ends need the
/// same adapter.
pub trait LinkAdapter: Send + Sync + Debug {
    /// Returns the name in endpoint options and addresses, e.g. `reliable` in `giop+reliable+diop`.
    fn name(&self) -> &str;

    /// Returns the guarantees of an adapted link whose own guarantees are `below`.
    fn supplies(&self, below: Guarantees) -> Guarantees;

    /// Returns the adapted link. Its name, which its addresses bear, is this adapter's, a `+`, and
    /// the name of the link below.
    fn over(&self, link: Arc<dyn Link>) -> Arc<dyn Link>;
}
