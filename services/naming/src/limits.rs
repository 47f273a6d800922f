//! How much a naming service may have.

use std::time::Duration;

/// How much a naming service may have, and keep for its clients. A name that is too long or too deep raises
/// InvalidName (CosNaming 1.3, §2.3.2 lets an implementation restrict names); what would be more than the rest allows
/// raises NO_RESOURCES, and nothing of it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Components of a name that an operation is given. Default: 128.
    pub name_components: usize,
    /// Bytes of a component's id and kind together, in UTF-8. Default: 1,024.
    pub component_bytes: usize,
    /// Bytes of a bound object's reference, and of the address that a URL is made of. Default: 16 KiB.
    pub reference_bytes: usize,
    /// Contexts, the root among them. Default: 1,000,000.
    pub contexts: usize,
    /// Bindings in all contexts. Default: 10,000,000.
    pub bindings: usize,
    /// Members of a group. Default: 1,000.
    pub members: usize,
    /// Bindings in one reply of `list`, `next_n`: clients that ask for more get these. Default: 1,000.
    pub listed: usize,
    /// Binding iterators. One more takes the place of the one that was not used for longest. Default: 1,000.
    pub iterators: usize,
    /// How long an iterator lives that nobody uses. Default: 10 minutes.
    pub iterator_idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            name_components: 128,
            component_bytes: 1024,
            reference_bytes: 16 << 10,
            contexts: 1_000_000,
            bindings: 10_000_000,
            members: 1_000,
            listed: 1_000,
            iterators: 1_000,
            iterator_idle: Duration::from_secs(600),
        }
    }
}
