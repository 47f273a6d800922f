//! Logging of connections that a thread drops at its end.
//!
//! A thread remembers the connection that it called by last, so that its end may be the end of that
//! connection. A subscriber to the log may use thread-local memory, which is gone by then: the
//! standard one panics, and a panic there ends the process. So another thread does the logging.

use punctual_exec::ThreadSpec;
use std::cell::Cell;

thread_local! {
    /// True if the thread is dropping the connection that it remembered. It has no destructor, and
    /// so exists to the end.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// Drops a value that the calling thread, which is ending, has remembered.
pub(crate) fn at_thread_end<T>(remembered: T) {
    let before = ENDS.replace(true);
    drop(remembered);
    ENDS.set(before);
}

/// Logs in the calling thread, or in another one if the calling thread is ending.
pub(super) fn log(say: impl FnOnce() + Send + 'static) {
    if !ENDS.get() {
        return say();
    }
    // If no thread can be started, nothing is logged.
    let _ = ThreadSpec::named("punctual-log").start(say);
}
