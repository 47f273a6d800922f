//! Watch over proxies: unconnected and unused ones are removed, and peers are asked whether they exist.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::channels::Channels;
use crate::limits::Limits;

/// Longest and shortest time between two rounds.
const ROUNDS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(10));

/// Begins the rounds, which go on as long as the channels exist and the service is not shut down.
pub(crate) fn begin(channels: &Arc<Channels>) {
    let channels = Arc::downgrade(channels);
    next(&channels, Instant::now());
}

fn next(channels: &Weak<Channels>, asked: Instant) {
    let Some(there) = channels.upgrade() else {
        return;
    };
    let channels = channels.clone();
    let time = time_between(&there.common.limits);
    there.common.timetable.after(time, move || {
        let Some(there) = channels.upgrade() else {
            return;
        };
        let asked = round(&there, asked);
        drop(there);
        next(&channels, asked);
    });
}

fn time_between(limits: &Limits) -> Duration {
    let (least, most) = ROUNDS;
    let shortest = [Some(limits.connect_within), limits.idle, limits.check];
    let shortest = shortest.into_iter().flatten().min();
    (shortest.unwrap_or(most) / 2).clamp(least, most)
}

/// Looks at all proxies; asks the peers if it is time. Returns when they were asked last.
fn round(channels: &Channels, asked: Instant) -> Instant {
    let now = Instant::now();
    let common = &channels.common;
    let is_due = |time: Duration| now.saturating_duration_since(asked) >= time;
    let asks = common.limits.check.is_some_and(is_due);
    for proxy in channels.proxies() {
        if proxy.core().is_abandoned(now) {
            proxy.end();
        } else if asks {
            let metrics = common.metrics.clone();
            common.workers.run(move || {
                if proxy.core().is_lost() {
                    tracing::info!(
                        "a connection is ended, as its peer does not exist or does not answer"
                    );
                    proxy.end();
                    metrics.lost_peers.add(1);
                }
            });
        }
    }
    if asks { now } else { asked }
}
