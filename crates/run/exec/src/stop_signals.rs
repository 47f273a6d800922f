//! Signals that ask the process to end: SIGTERM and SIGINT.

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals that ask a process to end, SIGTERM and SIGINT, noted from [`StopSignals::install`] on.
///
/// The first one does not end the process; it ends [`StopSignals::wait`]. The next one ends the
/// process at once, for the user whose program does not end soon enough.
#[derive(Debug)]
pub struct StopSignals {
    /// Stream to which the signal handlers write one byte for each signal.
    notified: UnixStream,
    /// True if the next stop signal ends the process at once.
    is_last: Arc<AtomicBool>,
    writing: Vec<SigId>,
}

impl StopSignals {
    /// Installs the handlers of both signals. To be called early in `main`, so that a signal at
    /// any time later is noted; one that comes before ends the process, as without handlers.
    ///
    /// # Errors
    /// The process may have no further descriptors, or the system refuses the handlers.
    pub fn install() -> io::Result<Self> {
        let (notified, handler) = UnixStream::pair()?;
        let mut signals = Self {
            notified,
            is_last: Arc::default(),
            writing: Vec::new(),
        };
        for signal in [SIGTERM, SIGINT] {
            // In this order: the first signal sets the flag that the next one finds.
            flag::register_conditional_default(signal, signals.is_last.clone())?;
            flag::register(signal, signals.is_last.clone())?;
            let writing = low_level::pipe::register(signal, handler.try_clone()?)?;
            signals.writing.push(writing);
        }
        Ok(signals)
    }

    /// Waits for a signal, or until [`StopSignals::cancel`] is called; returns whether a signal
    /// has come. Blocks.
    ///
    /// # Errors
    /// The system fails to read.
    pub fn wait(&self) -> io::Result<bool> {
        loop {
            match (&self.notified).read(&mut [0]) {
                Ok(count) => return Ok(count > 0),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends [`StopSignals::wait`], on whichever thread it waits, now or later.
    pub fn cancel(&self) {
        // It fails only where the stream is shut down already.
        let _ = self.notified.shutdown(Shutdown::Both);
    }
}

/// No thread waits any more: the next signal ends the process.
impl Drop for StopSignals {
    fn drop(&mut self) {
        self.is_last.store(true, Ordering::SeqCst);
        for writing in self.writing.drain(..) {
            low_level::unregister(writing);
        }
    }
}
