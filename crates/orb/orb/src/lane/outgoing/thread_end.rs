//! What is logged of a connection that a thread lets go of at its end.
//!
//! A thread remembers the connection that it called by last, so that its end may be the end of that connection. What is left of the
//! thread is not enough then for a subscriber, which may keep memory for each thread that is gone already: the standard one panics,
//! and a panic there ends the process. So another thread does the logging.

use punctual_exec::ThreadSpec;
use std::cell::Cell;

thread_local! {
    /// Whether the thread is letting go of what it remembered. It has no destructor, and so is there to the end.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// Lets go of what the calling thread remembered, which ends.
pub(crate) fn at_thread_end<T>(remembered: T) {
    let before = ENDS.replace(true);
    drop(remembered);
    ENDS.set(before);
}

/// Logs, in the calling thread unless it is ending.
pub(super) fn log(say: impl FnOnce() + Send + 'static) {
    if !ENDS.get() {
        return say();
    }
    // Where there is no thread to be had, there is nobody to tell.
    let _ = ThreadSpec::named("punctual-log").start(say);
}
