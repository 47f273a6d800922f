//! Supplier of the events for which consumers compute.

use crate::Result;
use punctual_exec::ThreadSpec;
use punctual_exec::thread::JoinHandle;
use punctual_rtevent::{Event, SupplierHandle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Flag that ends a load once it is dropped: a load must end however the measurement does.
#[derive(Debug, Default)]
pub(super) struct Over(Arc<AtomicBool>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Over {
    /// Starts a thread that pushes an event each `pace` until this is dropped.
    ///
    /// # Errors
    /// The machine does not grant the thread.
    pub(super) fn load(
        &self,
        thread: ThreadSpec,
        supplier: SupplierHandle<u64>,
        event: Event<u64>,
        pace: Duration,
    ) -> Result<JoinHandle<()>> {
        let is_over = self.0.clone();
        Ok(thread.start(move || {
            let mut due = Instant::now();
            // Relaxed: the flag publishes no other data.
            while !is_over.load(Ordering::Relaxed) {
                if supplier.push(std::slice::from_ref(&event)).is_err() {
                    return;
                }
                due = wait_for_next(due, pace);
            }
        })?)
    }
}

/// Sleeps until the time after `due`, and returns it. What is late by more than `pace` begins anew,
/// without making up for it.
pub(super) fn wait_for_next(due: Instant, pace: Duration) -> Instant {
    let (next, now) = (due + pace, Instant::now());
    match next.checked_duration_since(now) {
        Some(pause) => {
            std::thread::sleep(pause);
            next
        }
        None => now,
    }
}
