//! Watchdog that ends a process that takes too long: a real-time load that does not end would keep
//! all other processes from the processor.

use crate::Result;
use punctual_exec::ThreadSpec;
use rustix::process::{Signal, getpid, kill_process};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Thread that ends the process when a time limit has passed, unless it is disarmed before. It
/// sleeps until then.
#[derive(Debug)]
pub(super) struct Watchdog(Sender<Option<Duration>>);

impl Watchdog {
    /// Starts the watchdog's thread, which should have the highest priority of all.
    ///
    /// # Errors
    /// The machine does not grant the thread.
    pub(super) fn start(thread: ThreadSpec) -> Result<Self> {
        let (tell, told) = channel();
        thread.start(move || watch(&told))?;
        Ok(Self(tell))
    }

    /// Sets the time limit, after which the process is ended.
    pub(super) fn arm(&self, limit: Duration) {
        // The thread lives as long as this sender.
        let _ = self.0.send(Some(limit));
    }

    /// Cancels the watchdog's time limit.
    pub(super) fn disarm(&self) {
        let _ = self.0.send(None);
    }
}

/// Waits for time limits and enforces them, until the channel is closed.
fn watch(told: &Receiver<Option<Duration>>) {
    let mut limit = None;
    loop {
        let next = match limit {
            None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(limit) => told.recv_timeout(limit),
        };
        match next {
            Ok(next) => limit = next,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                eprintln!("the watchdog ends a process of `rt` that takes too long");
                // No orderly end would be sure to run.
                let _ = kill_process(getpid(), Signal::KILL);
            }
        }
    }
}
