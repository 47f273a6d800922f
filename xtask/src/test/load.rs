//! Simulation of a busy machine: loops that take all the processor time they get, and tests that
//! run on one processor.

use crate::run::Result;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::num::NonZero;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Busy loops, twice as many as there are processors. They end on drop.
#[derive(Debug)]
pub(super) struct Load {
    over: Arc<AtomicBool>,
    loops: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts the loops on all processors, then pins this thread, and thereby the processes that it
    /// starts, to the first processor.
    pub(super) fn start() -> Result<Self> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let over = Arc::new(AtomicBool::new(false));
        let loops = (0..2 * processors)
            .map(|_| busy_loop(over.clone()))
            .collect::<Result<_>>()?;
        let failed = |error| format!("the tests cannot be kept to one processor: {error}");
        let all = sched_getaffinity(None).map_err(failed)?;
        let first = (0..CpuSet::MAX_CPU).find(|&one| all.is_set(one));
        let mut one = CpuSet::new();
        one.set(first.unwrap_or(0));
        sched_setaffinity(None, &one).map_err(failed)?;
        Ok(Self { over, loops })
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for one in self.loops.drain(..) {
            // A loop cannot panic.
            let _ = one.join();
        }
    }
}

fn busy_loop(over: Arc<AtomicBool>) -> Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name("busy".to_owned())
        .spawn(move || {
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        })
        .map_err(|error| format!("a busy loop could not be started: {error}"))
}

/// Sets the number of concurrent tests to that of the whole machine, though the test harness sees a
/// single processor.
pub(super) fn keep_test_threads(command: &mut Command, load: &Load) {
    let processors = load.loops.len() / 2;
    command.env("RUST_TEST_THREADS", processors.to_string());
}
