//! Scheduling of a thread by the kernel: policy and priority (`sched(7)`).
//!
//! Priorities here are *native*: the operating system's, which Real-time CORBA's are mapped to. A
//! higher one is more urgent. To take a real-time policy a process needs `CAP_SYS_NICE`, or a limit
//! (`RLIMIT_RTPRIO`) that allows the priority.

#[allow(unsafe_code)]
mod calls;
mod reservation;

pub use reservation::{InvalidReservation, Reservation};

use calls::Attributes;
use rustix::thread::Pid;
use std::fmt;
use std::io;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Scheduling policy of a thread, with its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduling {
    /// `SCHED_OTHER`: time is shared. Its priority is always 0; the thread keeps its nice value.
    #[default]
    Other,
    /// `SCHED_BATCH`: as `Other`, for computations that no one waits for.
    Batch,
    /// `SCHED_IDLE`: the thread runs only when no other thread wants the processor.
    Idle,
    /// `SCHED_FIFO`: runs until it blocks, yields, or a more urgent thread wants to run.
    Fifo {
        /// Native priority, one of [`native_priorities`].
        priority: i32,
    },
    /// `SCHED_RR`: as `Fifo`, and takes turns with threads of the same priority.
    RoundRobin {
        /// Native priority, one of [`native_priorities`].
        priority: i32,
    },
    /// `SCHED_DEADLINE`: ahead of all others, as long as the thread keeps to its reservation. Such
    /// a thread may run on every processor; threads that it starts are ordinary ones
    /// (`SCHED_RESET_ON_FORK`, without which it could start none).
    Deadline(Reservation),
}

/// Scheduling policy without its priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Scheduling policy `SCHED_OTHER`, the default of Linux.
    Other,
    /// Real-time scheduling policy `SCHED_FIFO`.
    Fifo,
    /// Real-time scheduling policy `SCHED_RR`.
    RoundRobin,
}

/// Kernel's id of a thread. It may name another thread once this one has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NativeThread(Pid);

impl NativeThread {
    /// Returns a handle of the calling thread. Makes one system call.
    #[must_use]
    pub fn current() -> Self {
        Self(rustix::thread::gettid())
    }

    /// Returns the kernel's thread id, as shown by `top` and `/proc`.
    #[must_use]
    pub fn id(self) -> i32 {
        self.0.as_raw_nonzero().get()
    }
}

impl fmt::Display for NativeThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id())
    }
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => f.write_str("SCHED_OTHER"),
            Self::Batch => f.write_str("SCHED_BATCH"),
            Self::Idle => f.write_str("SCHED_IDLE"),
            Self::Fifo { priority } => write!(f, "SCHED_FIFO at native priority {priority}"),
            Self::RoundRobin { priority } => write!(f, "SCHED_RR at native priority {priority}"),
            Self::Deadline(reserved) => write!(f, "SCHED_DEADLINE with {reserved}"),
        }
    }
}

impl Scheduling {
    /// Returns whether threads with this policy run ahead of every ordinary one.
    #[must_use]
    pub fn is_real_time(self) -> bool {
        matches!(
            self,
            Self::Fifo { .. } | Self::RoundRobin { .. } | Self::Deadline(_)
        )
    }

    /// Returns the native priority; 0 for a policy without one.
    #[must_use]
    pub fn priority(self) -> i32 {
        match self {
            Self::Fifo { priority } | Self::RoundRobin { priority } => priority,
            Self::Other | Self::Batch | Self::Idle | Self::Deadline(_) => 0,
        }
    }
}

/// Returns the native priorities of a policy on this machine: 1 to 99 for the real-time ones, 0 for
/// `SCHED_OTHER` (`sched_get_priority_min(2)`).
///
/// # Errors
/// The operating system's errors.
pub fn native_priorities(policy: Policy) -> io::Result<RangeInclusive<i32>> {
    let policy = match policy {
        Policy::Other => libc::SCHED_OTHER,
        Policy::Fifo => libc::SCHED_FIFO,
        Policy::RoundRobin => libc::SCHED_RR,
    };
    Ok(calls::min_priority(policy)?..=calls::max_priority(policy)?)
}

/// Returns the scheduling of the calling thread. One system call, two where its policy has
/// parameters.
///
/// # Errors
/// `Unsupported` for a policy that is not known here, else the operating system's errors.
pub fn own() -> io::Result<Scheduling> {
    of_id(CALLING)
}

/// Returns the scheduling of a thread.
///
/// # Errors
/// `ESRCH` when it has ended; `Unsupported` for a policy that is not known here.
pub fn of(thread: NativeThread) -> io::Result<Scheduling> {
    of_id(thread.id())
}

/// Sets the scheduling of the calling thread and of every thread that it starts from now on;
/// `SCHED_DEADLINE` is not inherited. One system call.
///
/// # Errors
/// `PermissionDenied` without the privilege; `InvalidInput` for a priority that the policy lacks,
/// or an invalid reservation; `ResourceBusy` (`EBUSY`) for a reservation that the processors cannot
/// keep.
pub fn set_own(scheduling: Scheduling) -> io::Result<()> {
    set_id(CALLING, scheduling)
}

/// Sets the scheduling of a thread of this process. One system call.
///
/// # Errors
/// As [`set_own`]; `ESRCH` when the thread has ended.
pub fn set(thread: NativeThread, scheduling: Scheduling) -> io::Result<()> {
    set_id(thread.id(), scheduling)
}

/// Id that stands for the calling thread in the system calls.
const CALLING: i32 = 0;

fn of_id(thread: i32) -> io::Result<Scheduling> {
    // The flag that the kernel adds to a policy, for threads started later.
    let policy = calls::policy(thread)? & !libc::SCHED_RESET_ON_FORK;
    Ok(match policy {
        libc::SCHED_OTHER => Scheduling::Other,
        libc::SCHED_BATCH => Scheduling::Batch,
        libc::SCHED_IDLE => Scheduling::Idle,
        libc::SCHED_FIFO => Scheduling::Fifo {
            priority: calls::attributes(thread)?.priority.cast_signed(),
        },
        libc::SCHED_RR => Scheduling::RoundRobin {
            priority: calls::attributes(thread)?.priority.cast_signed(),
        },
        libc::SCHED_DEADLINE => {
            let attributes = calls::attributes(thread)?;
            Scheduling::Deadline(Reservation {
                runtime: Duration::from_nanos(attributes.runtime),
                deadline: Duration::from_nanos(attributes.deadline),
                period: Duration::from_nanos(attributes.period),
            })
        }
        _ => return Err(io::ErrorKind::Unsupported.into()),
    })
}

fn set_id(thread: i32, scheduling: Scheduling) -> io::Result<()> {
    let policy = match scheduling {
        Scheduling::Other => libc::SCHED_OTHER,
        Scheduling::Batch => libc::SCHED_BATCH,
        Scheduling::Idle => libc::SCHED_IDLE,
        Scheduling::Fifo { .. } => libc::SCHED_FIFO,
        Scheduling::RoundRobin { .. } => libc::SCHED_RR,
        Scheduling::Deadline(reserved) => return reserve(thread, reserved),
    };
    calls::set_policy(thread, policy, scheduling.priority())
}

/// Value of the kernel's flag `SCHED_FLAG_RESET_ON_FORK`.
const RESET_ON_FORK: u64 = 1;

fn reserve(thread: i32, reserved: Reservation) -> io::Result<()> {
    let nanos = |time: Duration| u64::try_from(time.as_nanos());
    let invalid = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let attributes = Attributes {
        policy: libc::SCHED_DEADLINE.cast_unsigned(),
        flags: RESET_ON_FORK,
        runtime: nanos(reserved.runtime).map_err(invalid)?,
        deadline: nanos(reserved.deadline).map_err(invalid)?,
        period: nanos(reserved.period).map_err(invalid)?,
        ..Attributes::default()
    };
    calls::set_attributes(thread, &attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `test` on a thread of its own, whose scheduling dies with it.
    fn on_a_thread(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().unwrap();
    }

    /// Sets the scheduling; returns `false` if this process lacks the privilege.
    fn granted(scheduling: Scheduling) -> bool {
        match set_own(scheduling) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                eprintln!("skipped: this process may not use {scheduling}");
                false
            }
            Err(error) => panic!("{scheduling}: {error}"),
        }
    }

    #[test]
    fn what_was_set_is_how_the_thread_is_scheduled() {
        on_a_thread(|| {
            assert_eq!(own().unwrap(), Scheduling::Other);
            for scheduling in [
                Scheduling::Batch,
                Scheduling::Other,
                Scheduling::Fifo { priority: 1 },
                Scheduling::Fifo { priority: 7 },
                Scheduling::RoundRobin { priority: 3 },
                Scheduling::Other,
                Scheduling::Idle,
            ] {
                if granted(scheduling) {
                    assert_eq!(own().unwrap(), scheduling);
                    let real_time = crate::processor::is_real_time().unwrap();
                    assert_eq!(real_time, scheduling.is_real_time());
                }
            }
        });
    }

    #[test]
    fn another_thread_is_named_by_its_number() {
        let (tell, told) = std::sync::mpsc::channel();
        let (end, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(NativeThread::current()).unwrap();
            wait.recv().unwrap();
            own().unwrap()
        });
        let native = told.recv().unwrap();
        assert_ne!(native, NativeThread::current());
        set(native, Scheduling::Batch).unwrap();
        assert_eq!(of(native).unwrap(), Scheduling::Batch);
        end.send(()).unwrap();
        assert_eq!(thread.join().unwrap(), Scheduling::Batch);
        assert_eq!(own().unwrap(), Scheduling::Other);
    }

    #[test]
    fn a_reservation_is_kept_as_it_was_made() {
        on_a_thread(|| {
            let reserved = Reservation {
                runtime: Duration::from_micros(100),
                deadline: Duration::from_millis(10),
                period: Duration::from_millis(20),
            };
            if granted(Scheduling::Deadline(reserved)) {
                assert_eq!(own().unwrap(), Scheduling::Deadline(reserved));
                // It may start threads, which are ordinary ones.
                let started = std::thread::spawn(|| own().unwrap());
                assert_eq!(started.join().unwrap(), Scheduling::Other);
                set_own(Scheduling::Other).unwrap();
                assert_eq!(own().unwrap(), Scheduling::Other);
            }
        });
    }

    #[test]
    fn what_the_policy_has_not_is_refused() {
        on_a_thread(|| {
            for refused in [
                Scheduling::Fifo { priority: 0 },
                Scheduling::Fifo { priority: 100 },
                Scheduling::RoundRobin { priority: -1 },
            ] {
                let error = set_own(refused).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{refused}");
            }
            let backwards = Reservation {
                runtime: Duration::from_millis(2),
                deadline: Duration::from_millis(1),
                period: Duration::from_millis(1),
            };
            assert!(set_own(Scheduling::Deadline(backwards)).is_err());
            assert_eq!(own().unwrap(), Scheduling::Other);
        });
    }

    #[test]
    fn real_time_policies_have_priorities_and_the_ordinary_one_has_none() {
        assert_eq!(native_priorities(Policy::Other).unwrap(), 0..=0);
        for policy in [Policy::Fifo, Policy::RoundRobin] {
            assert_eq!(native_priorities(policy).unwrap(), 1..=99);
        }
    }
}
