//! Upcalls that take long while more requests wait on their connection, and connections that are quiet.
//!
//! A client may share a connection among its threads, and a servant may wait for another of that
//! client's requests. So a look now and then finds connections that stand still with something to
//! receive, and lets another thread receive on them. How long each has been quiet is noted for the time when one has
//! to make room. While no client is connected nobody looks.

use super::connections::Connections;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between looks at which connections are quiet, at least.
const QUIET_LOOK: Duration = Duration::from_millis(500);

/// Looks every `hand_over` for upcalls that take long, and now and then for quiet connections, which go after `idle`,
/// until the lane listens no more.
pub(super) fn watch(
    connections: &Connections,
    hand_over: Option<Duration>,
    idle: Option<Duration>,
) {
    let mut before = BTreeMap::new();
    let quiet_look = idle.map_or(QUIET_LOOK, |idle| (idle / 4).min(QUIET_LOOK));
    let mut looked = Instant::now();
    while let Some(open) = connections.after(hand_over.unwrap_or(quiet_look)) {
        if hand_over.is_some() {
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
        if looked.elapsed() >= quiet_look {
            connections.look(idle);
            looked = Instant::now();
        }
    }
}
