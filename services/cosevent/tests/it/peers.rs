//! Suppliers and consumers of the tests.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};
use punctual::{Any, SystemException};
use punctual_cosevent::cos_event_comm::{
    Disconnected, PullConsumerServant, PullSupplierPullError, PullSupplierServant,
    PullSupplierTryPullError, PushConsumerPushError, PushConsumerServant, PushSupplierServant,
};

use crate::support::{number, until};

/// Consumer that is pushed to, and keeps what it receives. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Sink(Arc<SinkState>);

#[derive(Default)]
struct SinkState {
    received: Mutex<Vec<Any>>,
    is_blocked: Mutex<bool>,
    unblocked: Condvar,
    /// Number of calls of `push` that have begun.
    begun: AtomicUsize,
    disconnects: AtomicUsize,
    refuses: Mutex<Option<PushConsumerPushError>>,
}

impl Sink {
    /// Returns the numbers that have been received.
    pub(crate) fn numbers(&self) -> Vec<i32> {
        self.0.received.lock().iter().map(number).collect()
    }

    pub(crate) fn received(&self) -> Vec<Any> {
        self.0.received.lock().clone()
    }

    /// Waits until so many have been received, and returns them.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<i32> {
        until(|| self.0.received.lock().len() >= count);
        self.numbers()
    }

    /// Lets each `push` wait until the sink is unblocked.
    pub(crate) fn block(&self, is_blocked: bool) {
        *self.0.is_blocked.lock() = is_blocked;
        self.0.unblocked.notify_all();
    }

    pub(crate) fn begun(&self) -> usize {
        self.0.begun.load(Ordering::SeqCst)
    }

    pub(crate) fn disconnects(&self) -> usize {
        self.0.disconnects.load(Ordering::SeqCst)
    }

    /// Makes each `push` raise an exception.
    pub(crate) fn refuse(&self, with: PushConsumerPushError) {
        *self.0.refuses.lock() = Some(with);
    }
}

impl PushConsumerServant for Sink {
    fn push(&self, data: &Any) -> Result<(), PushConsumerPushError> {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
        let mut is_blocked = self.0.is_blocked.lock();
        while *is_blocked {
            self.0.unblocked.wait(&mut is_blocked);
        }
        drop(is_blocked);
        if let Some(refusal) = self.0.refuses.lock().clone() {
            return Err(refusal);
        }
        self.0.received.lock().push(data.clone());
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.0.disconnects.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// Supplier that is pulled from. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Source(Arc<SourceState>);

#[derive(Default)]
struct SourceState {
    events: Mutex<VecDeque<Any>>,
    asked: AtomicUsize,
    waits: AtomicUsize,
    disconnects: AtomicUsize,
    is_ended: Mutex<bool>,
    is_blocked: Mutex<bool>,
    unblocked: Condvar,
}

impl Source {
    pub(crate) fn supply(&self, event: Any) {
        self.0.events.lock().push_back(event);
    }

    pub(crate) fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn disconnects(&self) -> usize {
        self.0.disconnects.load(Ordering::SeqCst)
    }

    /// Returns the number of calls of `pull`.
    pub(crate) fn waits(&self) -> usize {
        self.0.waits.load(Ordering::SeqCst)
    }

    /// Makes `pull` and `try_pull` raise Disconnected from now on.
    pub(crate) fn end(&self) {
        *self.0.is_ended.lock() = true;
    }

    /// Lets each `try_pull` wait until the source is unblocked.
    pub(crate) fn block(&self, is_blocked: bool) {
        *self.0.is_blocked.lock() = is_blocked;
        self.0.unblocked.notify_all();
    }
}

impl PullSupplierServant for Source {
    /// Waits for an event, or for the end.
    fn pull(&self) -> Result<Any, PullSupplierPullError> {
        self.0.waits.fetch_add(1, Ordering::SeqCst);
        loop {
            if *self.0.is_ended.lock() {
                return Err(Disconnected.into());
            }
            if let Some(event) = self.0.events.lock().pop_front() {
                return Ok(event);
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn try_pull(&self) -> Result<(Any, bool), PullSupplierTryPullError> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        let mut is_blocked = self.0.is_blocked.lock();
        while *is_blocked {
            self.0.unblocked.wait(&mut is_blocked);
        }
        drop(is_blocked);
        if *self.0.is_ended.lock() {
            return Err(Disconnected.into());
        }
        let event = self.0.events.lock().pop_front();
        let has_event = event.is_some();
        Ok((event.unwrap_or_default(), has_event))
    }

    fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        self.0.disconnects.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// Supplier that pushes, or consumer that pulls: it only counts how often it is disconnected. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct End(Arc<AtomicUsize>);

impl End {
    pub(crate) fn disconnects(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl PushSupplierServant for End {
    fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl PullConsumerServant for End {
    fn disconnect_pull_consumer(&self) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}
