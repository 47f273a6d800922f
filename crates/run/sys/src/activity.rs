//! Activity of a thread of this process, as the kernel's scheduler sees it.

use std::fs;
use std::io;
use std::time::Duration;

/// Identifier of a thread (`gettid`).
pub use rustix::thread::Pid as ThreadId;

/// State of a thread at one moment, as the kernel reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    /// `true` if the thread runs or waits for a processor; `false` if it is blocked.
    pub is_runnable: bool,
    /// Processor time that the thread has used since its start.
    pub processor_time: Duration,
}

/// Returns the identifier of the calling thread (`gettid`).
#[must_use]
pub fn own_id() -> ThreadId {
    rustix::thread::gettid()
}

/// Returns the activity of a thread of this process. Reads two files of `/proc`.
///
/// # Errors
/// If the thread has ended, or the kernel does not tell (`/proc` is not mounted, or it was built without
/// `CONFIG_SCHED_INFO`).
pub fn of(thread: ThreadId) -> io::Result<Activity> {
    let folder = format!("/proc/self/task/{}", thread.as_raw_nonzero());
    let stat = fs::read_to_string(format!("{folder}/stat"))?;
    let schedule = fs::read_to_string(format!("{folder}/schedstat"))?;
    parse(&stat, &schedule).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Parses `stat`, whose third field is the state, and `schedstat`, whose first is the processor time in nanoseconds
/// (proc(5)).
fn parse(stat: &str, schedule: &str) -> Option<Activity> {
    // The second field is the name in parentheses, which may contain blanks and parentheses.
    let (_, behind_name) = stat.rsplit_once(") ")?;
    let nanos = schedule.split_whitespace().next()?.parse().ok()?;
    Some(Activity {
        is_runnable: behind_name.starts_with('R'),
        processor_time: Duration::from_nanos(nanos),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn states_are_read_behind_any_name() {
        let found = parse("7 (a) S (b)) R 1 7", "1500000 20 3\n").unwrap();
        assert!(found.is_runnable);
        assert_eq!(found.processor_time, Duration::from_micros(1500));
        assert!(!parse("7 (x) S 1 7", "0 0 0").unwrap().is_runnable);
        assert_eq!(parse("7 (x) S 1 7", ""), None);
    }

    #[test]
    fn a_blocked_thread_is_not_runnable_and_one_that_ended_is_unknown() {
        assert!(of(own_id()).unwrap().is_runnable);
        let (say, hear) = channel();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            say.send(own_id()).unwrap();
            let _ = ended.recv();
        });
        let blocked = hear.recv().unwrap();
        while of(blocked).unwrap().is_runnable {
            std::thread::yield_now();
        }
        drop(end);
        thread.join().unwrap();
        // The kernel may still know it for a moment.
        while of(blocked).is_ok() {
            std::thread::yield_now();
        }
    }
}
