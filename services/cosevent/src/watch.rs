//! Watch over proxies: unconnected and unused ones are removed, and peers are asked whether they exist.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::channels::Channels;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::proxy::Proxy;

/// Longest and shortest time between two rounds.
const ROUNDS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(10));

/// Questions to peers: the time at which they were asked last, and a mark that each open question holds.
struct Questions {
    asked: Instant,
    open: Arc<()>,
}

impl Questions {
    /// Returns whether it is time to ask again: not before all questions have been answered.
    fn are_due(&self, now: Instant, interval: Duration) -> bool {
        let is_over = now.saturating_duration_since(self.asked) >= interval;
        is_over && Arc::strong_count(&self.open) == 1
    }
}

/// Begins the rounds, which go on as long as the channels exist and the service is not shut down.
pub(crate) fn begin(channels: &Arc<Channels>) {
    let questions = Questions {
        asked: Instant::now(),
        open: Arc::default(),
    };
    next(&Arc::downgrade(channels), questions);
}

fn next(channels: &Weak<Channels>, mut questions: Questions) {
    let Some(there) = channels.upgrade() else {
        return;
    };
    let channels = channels.clone();
    let time = time_between(&there.common.limits);
    there.common.timetable.after(time, move || {
        let Some(there) = channels.upgrade() else {
            return;
        };
        round(&there, &mut questions);
        drop(there);
        next(&channels, questions);
    });
}

fn time_between(limits: &Limits) -> Duration {
    let (least, most) = ROUNDS;
    let shortest = [Some(limits.connect_within), limits.idle, limits.check];
    let shortest = shortest.into_iter().flatten().min();
    (shortest.unwrap_or(most) / 2).clamp(least, most)
}

/// Looks at all proxies; asks the peers if it is time.
fn round(channels: &Channels, questions: &mut Questions) {
    let now = Instant::now();
    let common = &channels.common;
    let is_due = |interval| questions.are_due(now, interval);
    let asks = common.limits.check.is_some_and(is_due);
    if asks {
        questions.asked = now;
    }
    for proxy in channels.proxies() {
        if proxy.core().is_abandoned(now) {
            proxy.end();
        } else if asks {
            let (metrics, open) = (common.metrics.clone(), questions.open.clone());
            common.checks.run(move || {
                let _open = open;
                ask(&*proxy, &metrics);
            });
        }
    }
}

/// Ends the connection of a proxy whose peer does not exist or does not answer. Blocks.
fn ask(proxy: &dyn Proxy, metrics: &Metrics) {
    if proxy.core().is_lost() {
        tracing::info!("a connection is ended, as its peer does not exist or does not answer");
        proxy.end();
        metrics.lost_peers.add(1);
    }
}
