//! Logging of connections that a thread drops at its end.
//!
//! A thread remembers the connection of its last call, so the connection may be closed when the
//! thread ends. At that time thread-local storage, which log subscribers may use, has already been
//! destroyed: the standard subscriber panics, and a panic at that point aborts the process. So
//! another thread does the logging.

use punctual_exec::ThreadSpec;
use std::cell::Cell;

thread_local! {
    /// True if the ending thread is dropping the connection that it remembered. The flag has no
    /// destructor and so stays valid to the end of the thread.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// Drops a value that the calling thread has remembered, when the thread ends.
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
