//! What stands between a messaging protocol and a link that does not guarantee what it needs.

use crate::{Guarantees, Link};
use std::fmt::Debug;
use std::sync::Arc;

/// Supplies guarantees that a link lacks, e.g. order and retransmission over datagrams.
///
/// An adapter makes a link of a link: what it sends over the one below is its own affair, and both
/// ends need the same adapter.
pub trait LinkAdapter: Send + Sync + Debug {
    /// Its name in endpoint options and addresses, e.g. `reliable` in `giop+reliable+diop`.
    fn name(&self) -> &str;

    /// What a link with guarantees `below` guarantees once adapted.
    fn supplies(&self, below: Guarantees) -> Guarantees;

    /// The adapted link. Its name, which its addresses bear, is this adapter's, a `+`, and the name
    /// of the link below.
    fn over(&self, link: Arc<dyn Link>) -> Arc<dyn Link>;
}
