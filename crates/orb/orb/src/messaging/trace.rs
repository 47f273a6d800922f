//! `-ORBTrace giop`: each message, decoded, on standard error.

use crate::config::Trace;
use punctual_giop::trace::{TraceOptions, describe};
use punctual_link::Address;
use std::io::Write;

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Sent,
    Received,
}

/// Prints messages, if it was asked to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracer {
    trace: Trace,
}

impl Tracer {
    pub(crate) fn new(trace: Trace) -> Self {
        Self { trace }
    }

    /// One branch when off.
    #[inline]
    pub(crate) fn show(&self, direction: Direction, peer: &Address, message: &[u8]) {
        if self.trace.giop {
            self.print(direction, peer, message);
        }
    }

    #[cold]
    fn print(&self, direction: Direction, peer: &Address, message: &[u8]) {
        let options = TraceOptions {
            hex: self.trace.hex,
            payload: self.trace.payload,
        };
        let way = match direction {
            Direction::Sent => "-> to",
            Direction::Received => "<- from",
        };
        let text = format!("giop {way} {peer}\n{}\n", describe(message, options));
        // One write, so that the lines of two threads do not mix; a closed stderr traces nothing.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}
