//! Sleeping on a word of memory, and waking the threads that sleep there.
//!
//! A word that only this process sees is waited on with `FUTEX_PRIVATE_FLAG`, which spares the
//! kernel a look-up of the memory's owner. A word in memory shared with another process must be
//! waited on, and woken, without that flag ([`wait_shared`], [`wake_shared`]): a private and a
//! shared wait on one word do not meet.

use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps until a thread of this process wakes the word's waiters, `timeout` has passed, or a
/// signal came; returns at once if the word is not `expected`.
///
/// May return spuriously, so the caller re-checks its condition.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    wait_with(Flags::PRIVATE, word, expected, timeout);
}

/// Wakes all threads of this process that wait on the word. Enters the kernel.
pub fn wake(word: &AtomicU32) {
    wake_with(Flags::PRIVATE, word);
}

/// Sleeps as [`wait`] does, on a word in shared memory: a thread of any process wakes it by
/// [`wake_shared`].
pub fn wait_shared(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    wait_with(Flags::empty(), word, expected, timeout);
}

/// Wakes all threads of any process that wait on the word by [`wait_shared`]. Enters the kernel.
pub fn wake_shared(word: &AtomicU32) {
    wake_with(Flags::empty(), word);
}

fn wait_with(flags: Flags, word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    // A time-out beyond the clock counts as no time-out.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    // An error means that the word has changed, or gives the reason of a return; the caller
    // re-checks either way.
    let _ = futex::wait(word, flags, expected, timeout.as_ref());
}

fn wake_with(flags: Flags, word: &AtomicU32) {
    const ALL: u32 = i32::MAX as u32;
    // Fails only for a bad address.
    let _ = futex::wake(word, flags, ALL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    type Wait = fn(&AtomicU32, u32, Option<Duration>);
    type Wake = fn(&AtomicU32);
    const PAIRS: [(Wait, Wake); 2] = [(wait, wake), (wait_shared, wake_shared)];

    #[test]
    fn who_waits_is_woken_and_a_changed_word_is_not_waited_on() {
        for (wait, wake) in PAIRS {
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
    }

    #[test]
    fn a_timeout_ends_the_wait() {
        for (wait, _) in PAIRS {
            wait(&AtomicU32::new(0), 0, Some(Duration::from_millis(1)));
        }
    }
}
