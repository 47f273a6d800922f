//! Buffer of the requests that were read while all threads of a pool were in upcalls: served by
//! urgency, and those of equal urgency in the order that their clients' policies demand.

use crate::policy::{QueuePlace, QueuePlaces, QueueRank};
use crate::urgency::Urgency;
use punctual_exec::LockProtocol;
use punctual_exec::lane_lock::LaneLock;
use punctual_exec::reactor::Reactor;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, Weak};

/// Limits of the requests that a lane of a pool may buffer (RTCORBA::RTORB::create_threadpool: max_buffered_requests and
/// max_request_buffer_size). `None` sets no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferLimits {
    /// Maximum number of buffered requests; `None` for no limit.
    pub requests: Option<usize>,
    /// Maximum total length of the requests' messages, in bytes.
    pub octets: Option<usize>,
}

/// Request that waits in a lane's buffer for a thread.
pub(crate) trait Buffered: Send + fmt::Debug {
    /// Serves the buffered request on the calling thread.
    fn serve(self: Box<Self>);

    /// Refuses the request with an exception, as there is no room for it.
    fn refuse(self: Box<Self>);
}

/// Buffer of the requests that wait for a thread of one lane.
#[derive(Debug)]
pub(crate) struct RequestBuffer {
    limits: BufferLimits,
    /// Reactor whose threads serve the buffered requests.
    reactor: OnceLock<Weak<Reactor>>,
    held: LaneLock<Held>,
    /// Number of buffered requests, written under the buffer's lock.
    len: AtomicUsize,
}

#[derive(Debug, Default)]
struct Held {
    requests: BinaryHeap<Entry>,
    octets: usize,
    places: QueuePlaces,
}

/// Request in the queue; the greatest entry is served first.
#[derive(Debug)]
struct Entry {
    order: (Urgency, QueuePlace),
    octets: usize,
    request: Box<dyn Buffered>,
}

impl RequestBuffer {
    pub(crate) fn new(limits: BufferLimits, locks: LockProtocol) -> Self {
        Self {
            limits,
            reactor: OnceLock::new(),
            held: LaneLock::new(locks, Held::default()),
            len: AtomicUsize::new(0),
        }
    }

    /// Sets the reactor whose threads serve the buffered requests.
    pub(in crate::lane) fn set_reactor(&self, reactor: Weak<Reactor>) {
        let _ = self.reactor.set(reactor);
    }

    pub(crate) fn len(&self) -> usize {
        // Sequentially consistent with `Reactor::notify_work`.
        self.len.load(Ordering::SeqCst)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Buffers a request of `octets` bytes.
    ///
    /// # Errors
    /// The request, if there is no room for it.
    pub(crate) fn put(
        &self,
        (urgency, rank): (Urgency, QueueRank),
        octets: usize,
        request: Box<dyn Buffered>,
    ) -> Result<(), Box<dyn Buffered>> {
        // The lock is lost if a thread has ended that held it: then nothing is buffered any more.
        let Ok(mut held) = self.held.lock() else {
            return Err(request);
        };
        let most = |limit: Option<usize>| limit.unwrap_or(usize::MAX);
        let has_room = held.requests.len() < most(self.limits.requests)
            && held.octets.saturating_add(octets) <= most(self.limits.octets);
        if !has_room {
            return Err(request);
        }
        held.octets += octets;
        let order = (urgency, held.places.next(rank));
        held.requests.push(Entry {
            order,
            octets,
            request,
        });
        self.len.store(held.requests.len(), Ordering::SeqCst);
        drop(held);
        self.notify_work();
        Ok(())
    }

    /// Serves the most urgent request, and returns `true` if there was one.
    pub(super) fn serve_next(&self) -> bool {
        let Ok(mut held) = self.held.lock() else {
            return false;
        };
        let next = held.requests.pop();
        held.octets -= next.as_ref().map_or(0, |entry| entry.octets);
        self.len.store(held.requests.len(), Ordering::SeqCst);
        drop(held);
        let Some(next) = next else {
            return false;
        };
        next.request.serve();
        true
    }

    fn notify_work(&self) {
        if let Some(reactor) = self.reactor.get().and_then(Weak::upgrade) {
            reactor.notify_work();
        }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::Priority;
    use std::sync::{Arc, Mutex};

    #[derive(Debug)]
    struct Noted(u32, Arc<Mutex<Vec<u32>>>);

    impl Buffered for Noted {
        fn serve(self: Box<Self>) {
            self.1.lock().unwrap().push(self.0);
        }

        fn refuse(self: Box<Self>) {}
    }

    fn put(
        buffer: &RequestBuffer,
        noted: &Arc<Mutex<Vec<u32>>>,
        priority: i16,
        number: u32,
    ) -> bool {
        let urgency = Urgency::of_priority(Priority::new(priority).ok());
        put_by(buffer, noted, (urgency, QueueRank::default()), number)
    }

    fn put_by(
        buffer: &RequestBuffer,
        noted: &Arc<Mutex<Vec<u32>>>,
        by: (Urgency, QueueRank),
        number: u32,
    ) -> bool {
        let request = Box::new(Noted(number, noted.clone()));
        buffer.put(by, 10, request).is_ok()
    }

    #[test]
    fn urgency_comes_before_the_place_in_the_queue_and_that_before_arrival() {
        let buffer = RequestBuffer::new(BufferLimits::default(), LockProtocol::Plain);
        let noted = Arc::default();
        let seven = Urgency::of_priority(Priority::new(7).ok());
        let (soon, late) = (seven.with_deadline(10), seven.with_deadline(20));
        let rank = QueueRank::by_priority;
        let put = [
            (late, rank(9)),
            (soon, rank(1)),
            (soon, rank(2)),
            (soon, rank(1)),
            (soon.with_laxity(5), rank(0)),
            (soon.with_importance(1), rank(0)),
        ];
        for (number, by) in (0..).zip(put) {
            assert!(put_by(&buffer, &noted, by, number));
        }
        while buffer.serve_next() {}
        assert_eq!(*noted.lock().unwrap(), [4, 5, 2, 1, 3, 0]);
    }

    #[test]
    fn the_most_urgent_is_served_first_and_of_those_the_first() {
        for locks in [LockProtocol::Plain, LockProtocol::InheritPriority] {
            let buffer = RequestBuffer::new(BufferLimits::default(), locks);
            let noted = Arc::default();
            for (number, priority) in (0..).zip([5, 7, -1, 7, 5, 9]) {
                assert!(put(&buffer, &noted, priority, number));
            }
            assert_eq!(buffer.len(), 6);
            while buffer.serve_next() {}
            assert_eq!(*noted.lock().unwrap(), [5, 1, 3, 0, 4, 2]);
            assert!(buffer.is_empty());
        }
    }

    #[test]
    fn neither_more_requests_nor_more_octets_are_kept_than_may_be() {
        let noted = Arc::default();
        let by_count = BufferLimits {
            requests: Some(2),
            octets: None,
        };
        let by_octets = BufferLimits {
            requests: None,
            octets: Some(29),
        };
        for limits in [by_count, by_octets] {
            let buffer = RequestBuffer::new(limits, LockProtocol::Plain);
            let kept: Vec<bool> = (0..3)
                .map(|number| put(&buffer, &noted, 1, number))
                .collect();
            assert_eq!(kept, [true, true, false], "{limits:?}");
            assert!(buffer.serve_next());
            assert!(put(&buffer, &noted, 1, 3), "{limits:?}");
        }
    }
}
