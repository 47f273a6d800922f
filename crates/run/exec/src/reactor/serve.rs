//! Loop that waits for events and serves them, and does the additional work.

use super::nesting::{Nesting, Running};
use super::owner::Readiness;
use super::state::{QUEUE, Reactor, ReadyEvent, Role, STOP, TIMER, WAKEUP};
use super::table::{Entry, Token};
use super::work::Work;
use punctual_sys::epoll::{EpollEvent, EpollEvents};
use punctual_sys::event::either;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Number of times in a row that a constantly active registration is served before it goes after
/// the others.
const FAIR: u32 = 16;
/// Upper bound of events served before a piece of work is done.
const EVENTS: usize = 256;
/// Upper bound of events that a thread takes at once, while no other thread waits for events.
const TOGETHER: usize = 32;

impl Reactor {
    /// Serves events until the reactor is stopped. Any number of threads may call it. A thread takes one change at
    /// a time while others wait as well; if it is the only one that waits, it takes all that have occurred, serves
    /// the first, and leaves the others in the queue, where every thread looks before it waits.
    pub fn run(self: &Arc<Self>) {
        let (mut one, mut many) = (EpollEvents::new(1), EpollEvents::new(TOGETHER));
        let works = self.work.get().is_some();
        let _running = Running::new();
        let mut queued_in_a_row = 0;
        while !self.is_stopped() {
            // Without work there is nothing to look for events before.
            if works && self.has_work() && self.works(&mut one) {
                self.leadership.go_on();
                continue;
            }
            if queued_in_a_row < TOGETHER && self.serve_queued(Role::Worker) {
                queued_in_a_row += 1;
                self.leadership.go_on();
                continue;
            }
            queued_in_a_row = 0;
            let is_alone = self.leadership.join() == 0;
            let found = if is_alone { &mut many } else { &mut one };
            // What was added before this thread waits has woken no thread.
            match self.has_queued() || works && self.has_work() {
                true => self.look(found),
                false => self.wait(found),
            }
            self.resign();
            self.serve(found, Role::Worker);
        }
    }

    /// Serves the events at hand and does a piece of work; returns whether there was anything to
    /// do.
    fn works(self: &Arc<Self>, found: &mut EpollEvents) -> bool {
        let mut has_served = false;
        let mut is_queues_turn = false;
        for _ in 0..EVENTS {
            if !self.serve_at_hand(found, &mut is_queues_turn, Role::Worker) {
                break;
            }
            has_served = true;
        }
        found.clear();
        self.do_next() || has_served
    }

    /// Serves events and work until none is left, on a thread of another reactor; never waits.
    pub fn run_pending(self: &Arc<Self>) {
        let mut found = EpollEvents::new(1);
        while !self.is_stopped() && self.works(&mut found) {}
    }

    /// Serves the events at hand without waiting; returns their number.
    pub fn run_ready(self: &Arc<Self>) -> usize {
        let mut found = EpollEvents::new(1);
        let (mut served, mut is_queues_turn) = (0, false);
        while !self.is_stopped()
            && self.serve_at_hand(&mut found, &mut is_queues_turn, Role::Worker)
        {
            served += 1;
        }
        served
    }

    /// Returns whether a thread that serves the reactor now would find something to serve. One system
    /// call.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let polled = || either(&self.epoll, &self.queued, Some(Duration::ZERO));
        self.has_queued() || self.has_work() || polled().is_ok_and(|(event, _)| event)
    }

    /// Serves a queued registration or an event at hand, which come first by turns; returns whether there was one.
    pub(crate) fn serve_at_hand(
        self: &Arc<Self>,
        found: &mut EpollEvents,
        is_queues_turn: &mut bool,
        role: Role,
    ) -> bool {
        *is_queues_turn = !*is_queues_turn;
        if *is_queues_turn && self.serve_queued(role) {
            return true;
        }
        self.look(found);
        if found.is_empty() {
            return self.serve_queued(role);
        }
        self.serve(found, role);
        true
    }

    fn wait(&self, found: &mut EpollEvents) {
        if let Some(spin) = &self.spin
            // Acquire pairs with the Release below: one thread at a time has the budget.
            && !self.spinning.swap(true, Ordering::Acquire)
        {
            let looked = spin.spin_on(|| {
                self.look(found);
                (!found.is_empty()).then_some(())
            });
            self.spinning.store(false, Ordering::Release);
            if looked.is_some() {
                return;
            }
        }
        // Fails only for an invalid set or invalid memory.
        let _ = self.epoll.wait(found, None);
    }

    /// Polls for events that have already occurred, without waiting.
    pub(crate) fn look(&self, found: &mut EpollEvents) {
        let _ = self.epoll.wait(found, Some(Duration::ZERO));
    }

    /// Waits until something happens, that of `Reactor::add_wakeup` included, or `timeout` has passed,
    /// rounded up to whole milliseconds. Returns whether that event was found.
    pub(crate) fn wait_by_set(
        &self,
        found: &mut EpollEvents,
        timeout: Option<Duration>,
    ) -> io::Result<bool> {
        self.epoll.wait(found, timeout)?;
        Ok(found.iter().any(|event| event.token == WAKEUP))
    }

    /// Ends the calling thread's wait, and has another thread take over if there is one.
    pub(crate) fn resign(&self) {
        if !self.leadership.resign() {
            self.all_are_busy();
        }
    }

    /// Acts for the moment when no thread waits for events any more.
    pub(crate) fn all_are_busy(&self) {
        if let Some(act) = self.all_busy.get() {
            act();
        }
    }

    /// Serves the first of the given events, which were found by polling, and queues the others: this one may take
    /// long. Returns whether there was one to serve.
    pub(crate) fn serve(self: &Arc<Self>, found: &EpollEvents, role: Role) -> bool {
        let (mut first, mut is_queued) = (None, false);
        for happening in found.iter() {
            match happening.token {
                QUEUE => is_queued = true,
                TIMER => self
                    .timers
                    .overdue(&self.table, |token| self.post(token, Readiness::DEADLINE)),
                STOP | WAKEUP => {}
                word => {
                    let change = (Token::from_word(word), readiness(happening));
                    match first {
                        None => first = Some(change),
                        Some(_) => is_queued |= self.enqueue(change.0, change.1),
                    }
                }
            }
        }
        match first {
            None if is_queued => self.serve_queued(role),
            None => false,
            Some((token, happened)) => {
                if is_queued {
                    self.announce();
                }
                self.serve_change(token, happened, role);
                true
            }
        }
    }

    fn serve_change(self: &Arc<Self>, token: Token, happened: Readiness, role: Role) {
        if let Some(entry) = self.table.entry(token)
            && let Some(all) = entry.owner.offer(token.generation, happened)
        {
            self.serve_owned(token, all, role);
        }
    }

    /// Takes one registration from the reactor's queue, and serves it; returns whether there was one.
    pub(crate) fn serve_queued(self: &Arc<Self>, role: Role) -> bool {
        while let Some(token) = self.queue.pop() {
            if let Some(entry) = self.table.entry(token)
                && let Some(all) = entry.owner.unqueue(token.generation)
            {
                // Two queued registrations, or one and a piece of work, may have been announced as
                // one, and this one may take long.
                if self.has_queued() || self.has_work() {
                    self.announce();
                }
                self.serve_owned(token, all, role);
                return true;
            }
        }
        false
    }

    /// Serves a registration that the calling thread currently owns.
    fn serve_owned(self: &Arc<Self>, token: Token, mut readiness: Readiness, role: Role) {
        let Some(entry) = self.table.entry(token) else {
            return;
        };
        for _ in 0..FAIR {
            if readiness.has(Readiness::RETIRED) {
                return self.clear(token);
            }
            if !self.call(token, readiness, role) {
                return;
            }
            match entry.owner.release(token.generation) {
                None => return,
                Some(more) => readiness = more,
            }
        }
        if readiness.has(Readiness::RETIRED) {
            return self.clear(token);
        }
        self.hand_over(token, readiness);
    }

    /// Calls the handler; returns whether the calling thread still owns the registration.
    fn call(self: &Arc<Self>, token: Token, readiness: Readiness, role: Role) -> bool {
        let handler = self.table.entry(token).and_then(Entry::handler);
        let Some(handler) = handler else {
            return true;
        };
        let mut event = ReadyEvent {
            reactor: self,
            token,
            readiness,
            role,
            owns: true,
        };
        let _nesting = Nesting::new();
        let called = catch_unwind(AssertUnwindSafe(|| handler.ready(&mut event)));
        if called.is_err() {
            // Its state is unknown, so it must not be used again.
            self.deregister(token);
        }
        event.owns
    }
}

/// Returns what an event of a descriptor means for its registration.
fn readiness(happening: EpollEvent) -> Readiness {
    let all = [
        (happening.readable, Readiness::READ),
        (happening.writable, Readiness::WRITE),
        (happening.ended, Readiness::END),
    ];
    let has = all.into_iter().filter(|(has, _)| *has);
    has.fold(Readiness::NONE, |all, (_, what)| all.and(what))
}

impl Reactor {
    /// Gives the reactor's threads this work. Only the first call has an effect.
    pub fn set_work(&self, work: Arc<dyn Work>) {
        let _ = self.work.set(work);
    }

    /// Wakes a waiting thread, if there is one, after work has been added.
    pub fn notify_work(&self) {
        if self.leadership.must_be_told() {
            self.queued.notify();
        }
    }

    /// Returns whether additional work waits for the reactor's threads.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.work.get().is_some_and(|work| work.is_waiting())
    }

    /// Does the next piece of work if there is one; returns whether there was.
    pub(crate) fn do_next(&self) -> bool {
        let Some(work) = self.work.get().filter(|work| work.is_waiting()) else {
            return false;
        };
        let _nesting = Nesting::new();
        // The panicked piece is dropped.
        catch_unwind(AssertUnwindSafe(|| work.do_next())).unwrap_or(true)
    }
}
