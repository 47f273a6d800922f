//! Sleeping on a word of memory, and waking who sleeps there.
//!
//! A word that only this process sees is waited on with `FUTEX_PRIVATE_FLAG`, which spares the kernel the
//! look at whose memory it is. One in memory shared with another process must be waited on, and woken,
//! without ([`wait_shared`], [`wake_shared`]): a private and a shared wait on one word do not meet.

use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps until a thread of this process wakes the word's waiters, `timeout` has passed, or a signal came;
/// at once if the word is not `expected`.
///
/// It returns for more reasons than the one waited for, so the caller looks again.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    wait_with(Flags::PRIVATE, word, expected, timeout);
}

/// Wakes all threads of this process that wait on the word. Enters the kernel.
pub fn wake(word: &AtomicU32) {
    wake_with(Flags::PRIVATE, word);
}

/// As [`wait`], on a word in memory that is shared: a thread of any process wakes it, by [`wake_shared`].
pub fn wait_shared(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    wait_with(Flags::empty(), word, expected, timeout);
}

/// Wakes all who wait on the word by [`wait_shared`], in whatever process. Enters the kernel.
pub fn wake_shared(word: &AtomicU32) {
    wake_with(Flags::empty(), word);
}

fn wait_with(flags: Flags, word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    // A time-out beyond the clock is none.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    // Its errors say that the word has changed, or which of the other reasons it was.
    let _ = futex::wait(word, flags, expected, timeout.as_ref());
}

fn wake_with(flags: Flags, word: &AtomicU32) {
    const ALL: u32 = i32::MAX as u32;
    // Fails for a bad address only.
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
