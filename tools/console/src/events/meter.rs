//! Counts of the events that pass while the page is looked at.

use parking_lot::Mutex;
use punctual_rtevent::{ConsumerHandle, Filter, Subscription, codes};
use punctual_rtevent_service::inspect::{Traffic, TrafficCounts};
use punctual_rtevent_service::punctual_events::ChannelCounts;
use punctual_rtevent_service::{Data, EventService};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shortest time over which rates are taken.
const SPAN: Duration = Duration::from_millis(900);

/// Time without a look after which events are no longer counted.
const UNSEEN: Duration = Duration::from_secs(30);

/// Counter of a channel's events, which is connected while the page is looked at.
pub(super) struct Meter {
    service: EventService,
    state: Mutex<Option<Counting>>,
}

/// Connection of the counter, and what it has counted.
struct Counting {
    connection: ConsumerHandle<Data>,
    traffic: Arc<Traffic>,
    latest: Passed,
    since: Instant,
    seen: Instant,
}

/// Events that have passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Passed {
    /// Since the page has been looked at.
    pub(super) total: TrafficCounts,
    /// In the latest span.
    pub(super) now: TrafficCounts,
    /// Length of that span; zero at the first look.
    pub(super) span: Duration,
}

impl Meter {
    pub(super) fn new(service: EventService) -> Self {
        Self {
            service,
            state: Mutex::default(),
        }
    }

    /// Returns what the channel has counted, and what has passed.
    pub(super) fn look(&self, most_consumers: usize) -> (ChannelCounts, Passed) {
        let mut state = self.state.lock();
        if state.is_none() {
            *state = Counting::start(&self.service);
        }
        let mut counts = self.service.counts(most_consumers.saturating_add(1));
        if let Some(counting) = &*state {
            // The counter itself is no consumer that readers ask for.
            let own = counting.connection.id().number();
            counts.consumers.retain(|one| one.number != own);
            counts.consumer_count = counts.consumer_count.saturating_sub(1);
        }
        counts.consumers.truncate(most_consumers);
        let passed = state.as_mut().map(Counting::look).unwrap_or_default();
        (counts, passed)
    }

    /// Disconnects the counter whenever the page has not been looked at for a while.
    pub(super) async fn rest_when_unseen(&self) {
        loop {
            tokio::time::sleep(UNSEEN / 3).await;
            self.rest();
        }
    }

    fn rest(&self) {
        let mut state = self.state.lock();
        if let Some(unseen) = state.take_if(|counting| counting.seen.elapsed() >= UNSEEN) {
            unseen.connection.disconnect();
        }
    }
}

impl Counting {
    /// Connects a counter, as a gateway, so that observers do not hear of it; `None` if the channel has ended.
    fn start(service: &EventService) -> Option<Self> {
        let traffic = Arc::new(Traffic::default());
        let mut all = Subscription::new(Filter::event(codes::ANY, 0));
        all.is_gateway = true;
        let connection = service.channel().connect_consumer(all, traffic.clone());
        Some(Self {
            connection: connection.ok()?,
            traffic,
            latest: Passed::default(),
            since: Instant::now(),
            seen: Instant::now(),
        })
    }

    fn look(&mut self) -> Passed {
        self.seen = Instant::now();
        if self.since.elapsed() >= SPAN {
            self.latest.now = self.traffic.take();
            self.latest.total.add(&self.latest.now);
            self.latest.span = self.since.elapsed();
            self.since = Instant::now();
        }
        self.latest.clone()
    }
}
