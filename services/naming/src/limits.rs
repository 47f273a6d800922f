//! Limits of a naming service.

use std::time::Duration;

/// Limits of a naming service. A name that is too long or too deep raises InvalidName (CosNaming
/// 1.3, §2.3.2 lets an implementation restrict names); an operation that would exceed another limit
/// raises NO_RESOURCES, and has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of components of a name in an operation. Default: 128.
    pub name_components: usize,
    /// Maximum length of a component's id and kind together, in bytes of UTF-8. Default: 1,024.
    pub component_bytes: usize,
    /// Maximum length of a bound object's reference, and of the address in a URL, in bytes.
    /// Default: 16 KiB.
    pub reference_bytes: usize,
    /// Maximum number of contexts, including the root. Default: 1,000,000.
    pub contexts: usize,
    /// Maximum number of contexts nested in one another by creation, below the root: an access
    /// check may visit each of them. Default: 1,000.
    pub depth: usize,
    /// Maximum number of bindings in all contexts. Default: 10,000,000.
    pub bindings: usize,
    /// Maximum number of bytes that all bindings and contexts take in memory: keys, references, and
    /// about 200 for each. Default: a quarter of the memory of the machine or the control group.
    pub bytes: usize,
    /// Maximum number of members of a group. Default: 1,000.
    pub members: usize,
    /// Maximum number of bindings in one reply of `list` or `next_n`, even if the client asks for
    /// more. Default: 1,000.
    pub listed: usize,
    /// Maximum number of binding iterators. A further one replaces the least recently used one.
    /// Default: 1,000.
    pub iterators: usize,
    /// Time after which an unused iterator is destroyed. Default: 10 minutes.
    pub iterator_idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            name_components: 128,
            component_bytes: 1024,
            reference_bytes: 16 << 10,
            contexts: 1_000_000,
            depth: 1_000,
            bindings: 10_000_000,
            bytes: quarter_of_memory(),
            members: 1_000,
            listed: 1_000,
            iterators: 1_000,
            iterator_idle: Duration::from_secs(600),
        }
    }
}

/// Returns a quarter of the machine's memory in bytes. If the size is not known, 256 MiB are assumed.
fn quarter_of_memory() -> usize {
    const SMALL: u64 = 256 << 20;
    let memory = punctual_host::memory().unwrap_or(SMALL);
    usize::try_from(memory / 4).unwrap_or(usize::MAX)
}
