//! Upcalls that take long while more requests wait on their connection.
//!
//! A client may share a connection among its threads, and a servant may wait for another of that
//! client's requests. So a look now and then finds connections that stand still with something to
//! receive, and lets another thread receive on them. While no client is connected nobody looks.

use super::connections::Connections;
use std::collections::BTreeMap;
use std::time::Duration;

/// Looks every `interval` until the lane listens no more.
pub(super) fn watch(connections: &Connections, interval: Duration) {
    let mut before = BTreeMap::new();
    while let Some(open) = connections.after(interval) {
        let mut now = BTreeMap::new();
        for (number, connection) in open {
            let Some(stands_at) = connection.stands_still_at() else {
                continue;
            };
            // Still where it stood at the last look.
            if before.get(&number) == Some(&stands_at) {
                connection.hand_over_if_needed(stands_at);
            }
            now.insert(number, stands_at);
        }
        before = now;
    }
}
