//! Limit on asynchronous calls in flight: back-pressure on clients that send faster than servers
//! reply.
//!
//! The value of the policy contains the counter: all calls under one [`CallsInFlight`] are counted
//! together. If the policy is set for an ORB, it limits the ORB's calls; for a thread, the thread's
//! calls; for a reference, the calls through the reference and its clones. A call is counted from
//! the sending of its request until its reply has been read, or the call is abandoned. A poller
//! reads its reply when the program waits for it, polls it or awaits it. So if a thread keeps as
//! many unread pollers as the limit allows, and then makes one more call that blocks at the limit,
//! that call blocks until its time-out.

use parking_lot::{Condvar, Mutex};
use punctual_exec::Deadline;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// Maximum number of asynchronous calls in flight, and the treatment of one more.
#[derive(Clone)]
pub struct CallsInFlight {
    bound: Arc<Bound>,
    at_bound: AtBound,
}

/// Treatment of a call above the limit on calls in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AtBound {
    /// The call blocks the calling thread until another call has ended, or until its own time-out;
    /// then it raises TIMEOUT. In a reply handler, on which the completion of other calls may
    /// depend, this is the same as [`AtBound::Raise`].
    #[default]
    Block,
    /// The call raises TRANSIENT with completion status COMPLETED_NO.
    Raise,
    /// The request is sent when another call has ended. The method returns at once. For that, the
    /// program has to poll, await or wait for a poller; a call with a reply handler is sent without
    /// that.
    Defer,
}

/// Counter of the asynchronous calls in flight, with the limit on their number.
struct Bound {
    limit: usize,
    state: Mutex<State>,
    /// Signalled when the number of calls in flight has fallen below the limit.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    taken: usize,
    /// Wakers of the calls that are held back, in order of arrival.
    waiting: BTreeMap<u64, Waker>,
    next: u64,
}

/// Permit for one call in flight, counted until it is dropped.
pub(crate) struct InFlightGuard(Arc<Bound>);

/// Call that waits because the limit on calls in flight is reached.
pub(crate) struct Held {
    bound: Arc<Bound>,
    /// Number of this call among the calls that wait for a permit.
    ticket: Option<u64>,
}

/// Reason why a call gets no permit for being in flight.
pub(crate) enum Full {
    Raises,
    TimedOut,
    Held(Held),
}

impl CallsInFlight {
    /// Creates a limit with a counter of its own. A limit of 0 is treated as 1.
    #[must_use]
    pub fn new(limit: usize, at_bound: AtBound) -> Self {
        let bound = Bound {
            limit: limit.max(1),
            state: Mutex::default(),
            changed: Condvar::new(),
        };
        Self {
            bound: Arc::new(bound),
            at_bound,
        }
    }

    /// Returns a value with this counter, but another treatment of calls above the limit.
    #[must_use]
    pub fn with(&self, at_bound: AtBound) -> Self {
        Self {
            bound: self.bound.clone(),
            at_bound,
        }
    }

    /// Returns the maximum number of calls in flight.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.bound.limit
    }

    /// Returns the number of calls in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.bound.state.lock().taken
    }

    /// Returns a permit for a call. Waits for one until `until`, if the limit blocks callers and
    /// `may_block` is true.
    pub(crate) fn enter(&self, until: Deadline, may_block: bool) -> Result<InFlightGuard, Full> {
        if let Some(place) = Bound::try_enter(&self.bound) {
            return Ok(place);
        }
        match self.at_bound {
            AtBound::Block if may_block => {
                Bound::enter_until(&self.bound, until).ok_or(Full::TimedOut)
            }
            AtBound::Block | AtBound::Raise => Err(Full::Raises),
            AtBound::Defer => Err(Full::Held(Held {
                bound: self.bound.clone(),
                ticket: None,
            })),
        }
    }
}

impl Bound {
    fn try_enter(this: &Arc<Self>) -> Option<InFlightGuard> {
        let mut state = this.state.lock();
        (state.taken < this.limit).then(|| {
            state.taken += 1;
            InFlightGuard(this.clone())
        })
    }

    fn enter_until(this: &Arc<Self>, until: Deadline) -> Option<InFlightGuard> {
        let mut state = this.state.lock();
        while state.taken >= this.limit {
            match until.remaining() {
                None => this.changed.wait(&mut state),
                Some(left) if left.is_zero() => return None,
                Some(left) => {
                    let _timed_out = this.changed.wait_for(&mut state, left);
                }
            }
        }
        state.taken += 1;
        Some(InFlightGuard(this.clone()))
    }

    /// Wakes the next call that is held back, as a permit is available.
    fn tell_next(&self) {
        let next = {
            let mut state = self.state.lock();
            let is_free = state.taken < self.limit;
            is_free.then(|| state.waiting.pop_first()).flatten()
        };
        self.changed.notify_one();
        if let Some((_, waker)) = next {
            waker.wake();
        }
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.state.lock().taken -= 1;
        self.0.tell_next();
    }
}

impl Held {
    /// Returns a permit, if one is available now; if not, `waker` is woken when one may be.
    pub(crate) fn poll(&mut self, waker: &Waker) -> Option<InFlightGuard> {
        let mut state = self.bound.state.lock();
        if state.taken < self.bound.limit {
            state.taken += 1;
            if let Some(ticket) = self.ticket.take() {
                state.waiting.remove(&ticket);
            }
            return Some(InFlightGuard(self.bound.clone()));
        }
        let ticket = match self.ticket {
            Some(ticket) => ticket,
            None => {
                state.next += 1;
                state.next
            }
        };
        self.ticket = Some(ticket);
        state.waiting.insert(ticket, waker.clone());
        None
    }

    /// Waits for a permit to make the call, at most until `until`.
    pub(crate) fn wait(&mut self, until: Deadline) -> Option<InFlightGuard> {
        let place = Bound::enter_until(&self.bound, until)?;
        if let Some(ticket) = self.ticket.take() {
            self.bound.state.lock().waiting.remove(&ticket);
        }
        Some(place)
    }
}

/// Passes a wake-up on to the next call that is held back, if this call does not use it.
impl Drop for Held {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else {
            return;
        };
        let was_told = self.bound.state.lock().waiting.remove(&ticket).is_none();
        if was_told {
            self.bound.tell_next();
        }
    }
}

/// Compares whether both have the same counter, and the same treatment of calls above the limit.
impl PartialEq for CallsInFlight {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bound, &other.bound) && self.at_bound == other.at_bound
    }
}

impl Eq for CallsInFlight {}

impl fmt::Debug for CallsInFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallsInFlight")
            .field("limit", &self.limit())
            .field("in_flight", &self.in_flight())
            .field("at_bound", &self.at_bound)
            .finish()
    }
}

impl fmt::Debug for InFlightGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InFlightGuard")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct CountingWaker(AtomicU32);

    impl Wake for CountingWaker {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn held(calls: &CallsInFlight) -> Held {
        match calls.enter(Deadline::NEVER, true) {
            Err(Full::Held(held)) => held,
            _ => panic!("not held"),
        }
    }

    #[test]
    fn a_place_that_one_does_not_take_is_offered_to_the_next() {
        let calls = CallsInFlight::new(1, AtBound::Defer);
        let Ok(place) = calls.enter(Deadline::NEVER, true) else {
            panic!("no place");
        };
        let (first, second) = (
            Arc::new(CountingWaker::default()),
            Arc::new(CountingWaker::default()),
        );
        let (mut one, mut two) = (held(&calls), held(&calls));
        assert!(one.poll(&first.clone().into()).is_none());
        assert!(two.poll(&second.clone().into()).is_none());
        drop(place);
        let told = |one: &CountingWaker| one.0.load(Ordering::Relaxed);
        assert_eq!((told(&first), told(&second)), (1, 0));
        drop(one);
        assert_eq!(told(&second), 1);
        let place = two.poll(&second.clone().into());
        assert!(place.is_some());
        assert_eq!(calls.in_flight(), 1);
        drop(place);
        assert_eq!(calls.in_flight(), 0);
    }

    #[test]
    fn one_more_raises_or_waits_as_it_was_chosen() {
        let calls = CallsInFlight::new(1, AtBound::Raise);
        let place = calls.enter(Deadline::NEVER, true);
        assert!(place.is_ok());
        assert!(matches!(
            calls.enter(Deadline::NEVER, true),
            Err(Full::Raises)
        ));
        let blocks = calls.with(AtBound::Block);
        let soon = Deadline::after(std::time::Duration::from_millis(5));
        assert!(matches!(blocks.enter(soon, true), Err(Full::TimedOut)));
        assert!(matches!(
            blocks.enter(Deadline::NEVER, false),
            Err(Full::Raises)
        ));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| blocks.enter(Deadline::NEVER, true).is_ok());
            drop(place);
            assert!(waits.join().unwrap());
        });
    }
}
