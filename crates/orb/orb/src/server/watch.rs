//! Upcalls that take long while more requests wait on their connection.
//!
//! A client may share a connection among its threads, and a servant may wait for another of that
//! client's requests. So a look now and then finds connections that stand still with something to
//! receive, and lets another thread receive on them. While no client is connected nobody looks.

use super::receive::hand_over;
use crate::orb::Orb;
use std::collections::BTreeMap;
use std::time::Duration;

/// Looks every `interval` until the ORB listens no more.
pub(super) fn watch(orb: &Orb, interval: Duration) {
    let listening = &orb.lane().listening;
    let mut before = BTreeMap::new();
    while let Some(connections) = listening.wait_for_connections(interval) {
        let mut now = BTreeMap::new();
        for (number, connection) in connections {
            let Some(received) = connection.stands_still_at() else {
                continue;
            };
            // Still where it stood at the last look.
            if before.get(&number) == Some(&received) {
                // Replies that have waited for the upcall's own wait no longer.
                connection.send_pending();
                if connection.has_more() {
                    hand_over(&connection, received);
                }
            }
            now.insert(number, received);
        }
        before = now;
    }
}
