//! Sleeping on a word of memory, and waking who sleeps there, across processes.

use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps until somebody wakes the word's waiters, `timeout` has passed, or a signal came; at once if
/// the word is not `expected`.
///
/// It returns for more reasons than the one waited for, so the caller looks again.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    // A time-out beyond the clock is none.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    // Without the private flag, as the word may lie in memory shared with another process. Its
    // errors say that the word has changed, or which of the other reasons it was.
    let _ = futex::wait(word, Flags::empty(), expected, timeout.as_ref());
}

/// Wakes all who wait on the word, in whatever process. Enters the kernel.
pub fn wake(word: &AtomicU32) {
    const ALL: u32 = i32::MAX as u32;
    // Fails for a bad address only.
    let _ = futex::wake(word, Flags::empty(), ALL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    #[test]
    fn who_waits_is_woken_and_a_changed_word_is_not_waited_on() {
        let word = Arc::new(AtomicU32::new(0));
        let waited = word.clone();
        let sleeper = std::thread::spawn(move || {
            while waited.load(Ordering::Acquire) == 0 {
                wait(&waited, 0, None);
            }
        });
        word.store(1, Ordering::Release);
        wake(&word);
        sleeper.join().unwrap();
        wait(&word, 0, None);
    }

    #[test]
    fn a_timeout_ends_the_wait() {
        wait(&AtomicU32::new(0), 0, Some(Duration::from_millis(1)));
    }
}
