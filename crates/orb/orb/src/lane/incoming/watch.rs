//! Watcher of upcalls that take long while more requests wait on their connection, and of quiet
//! connections.
//!
//! A client may share a connection among its threads, and a servant may wait for another of that
//! client's requests. So the watcher checks at intervals for connections that make no progress
//! although data has arrived, and makes another thread receive on them. It also records how long
//! each connection has been idle, so that idle ones can be closed when room is needed. It sleeps
//! while no client is connected.

use super::connections::Connections;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Shortest time between two updates of the connections' idle times.
const QUIET_LOOK: Duration = Duration::from_millis(500);

/// Checks every `hand_over` for upcalls that take long, and less often for idle connections, which
/// are closed after `idle`. Returns when the lane stops listening.
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
                let Some(stands_at) = connection.stalled_at() else {
                    continue;
                };
                // No message since the last look.
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
