//! Watch over proxies: unconnected and unused ones are removed, and peers are asked whether they exist.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::{Patience, Timetable, Workers};

/// Longest and shortest time between two rounds.
const ROUNDS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(10));

/// Owner of proxies that are watched.
pub trait Watch: Send + Sync + 'static {
    /// Returns the times after which proxies are removed, and peers asked.
    fn patience(&self) -> Patience;

    /// Returns the timetable of the rounds.
    fn timetable(&self) -> &Timetable;

    /// Returns the threads that ask peers.
    fn askers(&self) -> &Workers;

    /// Returns all proxies at present.
    fn watched(&self) -> Vec<Arc<dyn Watched>>;

    /// Counts a connection that was ended as its peer did not exist or did not answer.
    fn lost(&self);
}

/// Proxy that is watched.
pub trait Watched: Send + Sync {
    /// Returns whether the proxy has been unconnected, or unused without a peer, for too long.
    fn is_abandoned(&self, now: Instant) -> bool;

    /// Asks the peer whether it exists. Returns whether the connection is to end. Blocks.
    fn is_lost(&self) -> bool;

    /// Ends the connection, and removes the proxy.
    fn end(&self);
}

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

/// Begins the rounds, which go on as long as the owner exists and its timetable has not ended.
pub fn begin<W: Watch>(owner: &Arc<W>) {
    let questions = Questions {
        asked: Instant::now(),
        open: Arc::default(),
    };
    next(&Arc::downgrade(owner), questions);
}

fn next<W: Watch>(owner: &Weak<W>, mut questions: Questions) {
    let Some(there) = owner.upgrade() else {
        return;
    };
    let owner = owner.clone();
    let time = time_between(&there.patience());
    there.timetable().after(time, move || {
        let Some(there) = owner.upgrade() else {
            return;
        };
        round(&there, &mut questions);
        drop(there);
        next(&owner, questions);
    });
}

fn time_between(patience: &Patience) -> Duration {
    let (least, most) = ROUNDS;
    let shortest = [Some(patience.connect_within), patience.idle, patience.check];
    let shortest = shortest.into_iter().flatten().min();
    (shortest.unwrap_or(most) / 2).clamp(least, most)
}

/// Looks at all proxies; asks the peers if it is time.
fn round<W: Watch>(owner: &Arc<W>, questions: &mut Questions) {
    let now = Instant::now();
    let is_due = |interval| questions.are_due(now, interval);
    let asks = owner.patience().check.is_some_and(is_due);
    if asks {
        questions.asked = now;
    }
    let workers = owner.askers();
    for proxy in owner.watched() {
        if proxy.is_abandoned(now) {
            proxy.end();
        } else if asks {
            let (owner, open) = (Arc::downgrade(owner), questions.open.clone());
            let ask = move || {
                let _open = open;
                ask(&owner, &*proxy);
            };
            workers.run(ask);
        }
    }
}

/// Ends the connection of a proxy whose peer does not exist or does not answer. Blocks.
fn ask<W: Watch>(owner: &Weak<W>, proxy: &dyn Watched) {
    if proxy.is_lost() {
        tracing::info!("a connection is ended, as its peer does not exist or does not answer");
        proxy.end();
        if let Some(owner) = owner.upgrade() {
            owner.lost();
        }
    }
}
