//! Generator of trace and span ids: practically unique, from the standard library's random hash
//! keys and a counter.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns an id that is never 0, which would mean "none" (W3C Trace Context, §3.2.2.3 and
/// §3.2.2.4).
pub(super) fn number() -> u64 {
    static KEYS: OnceLock<RandomState> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let keys = KEYS.get_or_init(RandomState::new);
    loop {
        // Relaxed: the number orders nothing else.
        let number = keys.hash_one(COUNT.fetch_add(1, Ordering::Relaxed));
        if number != 0 {
            return number;
        }
    }
}
