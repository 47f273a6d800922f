//! Ends a process that takes too long: a real-time load that does not end would keep everybody else from the processor.

use crate::Result;
use punctual_exec::ThreadSpec;
use rustix::process::{Signal, getpid, kill_process};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A thread that ends the process when a time has passed, unless it is told in time not to. It sleeps meanwhile.
#[derive(Debug)]
pub(super) struct Watchdog(Sender<Option<Duration>>);

impl Watchdog {
    /// Starts it; it should be the most urgent thread.
    ///
    /// # Errors
    /// When the machine does not grant the thread.
    pub(super) fn start(thread: ThreadSpec) -> Result<Self> {
        let (tell, told) = channel();
        thread.start(move || watch(&told))?;
        Ok(Self(tell))
    }

    /// The process ends when this time has passed.
    pub(super) fn arm(&self, limit: Duration) {
        // It lives as long as this.
        let _ = self.0.send(Some(limit));
    }

    /// It does not, after all.
    pub(super) fn disarm(&self) {
        let _ = self.0.send(None);
    }
}

/// Until the other end is gone.
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
                // Nothing of an orderly end could be sure to run.
                let _ = kill_process(getpid(), Signal::KILL);
            }
        }
    }
}
