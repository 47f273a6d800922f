//! The end of a process whose start goes on when the signal comes that ends it.
//!
//! A start may wait for others: servers that have the events, or a Naming Service. No request has been answered until it is
//! over, so the process may end at any of its steps: stores are then as they are after a crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use punctual_exec::thread::ThreadSpec;

use crate::{Problem, log};

/// Time after the signal in which a start may end in order.
const PATIENCE: Duration = Duration::from_secs(1);

/// Interval at which the thread looks for the signal.
const LOOK: Duration = Duration::from_millis(50);

const ON_THREAD: &str = "the system starts no more threads";

/// Ends the process, with status 0, if a signal comes before this is dropped, and it is not dropped soon after.
#[derive(Debug)]
pub(super) struct Starting {
    is_over: Arc<AtomicBool>,
}

impl Starting {
    /// Begins to look whether the signal has come. Without a flag for it, the process does not end.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn begin(signal: Option<Arc<AtomicBool>>) -> Result<Self, Problem> {
        let is_over = Arc::new(AtomicBool::new(false));
        let this = Self {
            is_over: is_over.clone(),
        };
        if let Some(signal) = signal {
            ThreadSpec::named("start")
                .start(move || watch(&signal, &is_over))
                .map_err(|error| Problem::new(error, ON_THREAD))?;
        }
        Ok(this)
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        // Relaxed, as all accesses to the two flags: they order nothing else.
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn watch(signal: &AtomicBool, is_over: &AtomicBool) {
    while !signal.load(Ordering::Relaxed) {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(LOOK);
    }
    std::thread::sleep(PATIENCE);
    if !is_over.load(Ordering::Relaxed) {
        log::say("ended by a signal before it served");
        std::process::exit(0);
    }
}
