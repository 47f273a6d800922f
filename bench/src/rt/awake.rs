//! Idle loops that keep processors from halting: a call that finds its processor halted takes
//! longer than one beside a load, and would make a poor baseline.

use crate::Result;
use crate::placement::Processors;
use punctual_exec::ThreadSpec;
use punctual_exec::thread::{self, JoinHandle, Scheduling};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Threads of `SCHED_IDLE`, one on each processor, which run when no other thread is runnable,
/// until this is dropped.
#[derive(Debug)]
pub(crate) struct Awake {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Awake {
    /// Starts the threads.
    ///
    /// # Errors
    /// The machine does not grant them.
    pub(crate) fn on(processors: Processors) -> Result<Self> {
        let mut numbers = vec![processors.client, processors.server];
        numbers.dedup();
        let mut awake = Self {
            is_over: Arc::default(),
            threads: Vec::new(),
        };
        for number in numbers {
            let is_over = awake.is_over.clone();
            let spec = ThreadSpec::named("rt-awake")
                .scheduling(Scheduling::Idle)
                .processors(thread::Processors::of(&[number])?);
            awake.threads.push(spec.start(move || spin(&is_over))?);
        }
        Ok(awake)
    }
}

fn spin(is_over: &AtomicBool) {
    // Relaxed: the flag publishes no other data.
    while !is_over.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The thread does not panic.
            let _ = thread.join();
        }
    }
}
