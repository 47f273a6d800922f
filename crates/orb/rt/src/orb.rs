//! The RTORB: the Real-time CORBA part of an ORB.

use crate::ceiling::Ceiling;
use crate::config::{PriorityTransform, Propagated, RtConfig, scheduling_at};
use crate::distributable::Dynamic;
use crate::mapping::PriorityMapping;
use crate::mutex::RtMutex;
use crate::thread::{self, Native, SavedState};
use punctual_exec::SpawnError;
use punctual_exec::thread::ThreadSpec;
use punctual_orb::Priority;
use punctual_orb::{
    CompletionStatus, NativePolicy, Orb, RealTime, SystemException, SystemExceptionKind as Kind,
    minor,
};
use punctual_sys::memory_lock::{self, Extent};
use punctual_sys::scheduling::{self, Scheduling};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Real-time CORBA part of an ORB (RTCORBA::RTORB; Real-time CORBA 1.2, §5.2). Several ORBs may
/// share one.
#[derive(Debug)]
pub struct RtOrb {
    number: u32,
    config: RtConfig,
    mapping: Arc<dyn PriorityMapping>,
    /// Scheduling of the thread that created the RTORB, if it is known.
    usual: Option<Scheduling>,
    is_degraded: bool,
    native_changes: AtomicU64,
    dynamic: Option<Arc<Dynamic>>,
}

/// Reason why Real-time CORBA is not available in this process.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RtError {
    /// The machine does not grant the native priority of the highest CORBA priority.
    #[error(
        "this process may not run threads with {wanted} ({error}): give it CAP_SYS_NICE (`setcap cap_sys_nice+ep PROGRAM`) \
         or a limit RLIMIT_RTPRIO of at least {} (`ulimit -r`, `LimitRTPRIO=` of a systemd unit), or choose \
         `RealTime::BestEffort`; `punctual doctor` lists all that the machine grants",
        wanted.priority()
    )]
    NotGranted {
        /// Scheduling that was requested of the operating system.
        wanted: Scheduling,
        /// Error that the operating system returned.
        error: io::Error,
    },
    /// The process is not permitted to lock its memory.
    #[error(
        "this process may not lock its memory ({0}): give it CAP_IPC_LOCK (`setcap cap_ipc_lock+ep PROGRAM`) or a limit \
         RLIMIT_MEMLOCK (`ulimit -l unlimited`, `LimitMEMLOCK=infinity` of a systemd unit), or leave `lock_memory` out"
    )]
    MemoryNotLocked(io::Error),
    /// The operating system does not report its native priorities.
    #[error("cannot read the range of native priorities: {0}")]
    Unknown(io::Error),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for RtError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl RtOrb {
    /// Checks the settings against the machine: the native priority of the highest CORBA priority must be granted to a
    /// thread of this process.
    ///
    /// # Errors
    /// [`RtError`].
    pub fn new(config: RtConfig) -> Result<Arc<Self>, RtError> {
        let native =
            scheduling::native_priorities(config.policy.into()).map_err(RtError::Unknown)?;
        let mapping = config.mapping.to(native.clone());
        let highest = (Priority::MIN.get()..=Priority::MAX.get()).rev();
        let mut highest =
            highest.filter_map(|number| mapping.to_native(Priority::new(number).ok()?));
        // An application's mapping may have none at all: each use of one is refused then.
        let wanted = scheduling_at(config.policy, highest.next().unwrap_or(*native.start()));
        let is_degraded = match granted(wanted) {
            Ok(()) => false,
            Err(error) => {
                let error = RtError::NotGranted { wanted, error };
                if config.real_time == RealTime::Require {
                    return Err(error);
                }
                tracing::warn!("CORBA priorities do not reach the kernel: {error}");
                true
            }
        };
        let is_locked = match config.lock_memory {
            true => memory_lock::lock(Extent::AllOnceUsed),
            false => Ok(()),
        };
        if let Err(error) = is_locked {
            let error = RtError::MemoryNotLocked(error);
            if config.real_time == RealTime::Require {
                return Err(error);
            }
            tracing::warn!("real-time threads may wait for pages: {error}");
        }
        Ok(Arc::new(Self {
            // Relaxed: only uniqueness matters.
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            mapping,
            usual: scheduling::own().ok(),
            is_degraded,
            native_changes: AtomicU64::new(0),
            dynamic: config.dynamic_scheduling.clone().map(Dynamic::new),
            config,
        }))
    }

    /// Returns the RTORB that belongs to an ORB, if there is one.
    #[must_use]
    pub fn of(orb: &Orb) -> Option<Arc<Self>> {
        orb.extension()
    }

    /// Returns the number of segments that have ended or were updated only after their deadlines:
    /// those that threads began by this RTORB, and those of upcalls.
    #[must_use]
    pub fn segment_overruns(&self) -> u64 {
        self.dynamic
            .as_ref()
            .map_or(0, |dynamic| dynamic.overruns())
    }

    /// Creates a mutex whose owner inherits the priority of waiting threads
    /// (RTCORBA::RTORB::create_mutex).
    #[must_use]
    pub fn create_mutex(&self) -> RtMutex {
        RtMutex::new(None)
    }

    /// Creates a mutex with a priority ceiling, which is to be the priority of the most urgent
    /// thread that ever locks it: its owner runs at the ceiling's native priority as long as it
    /// holds the mutex. So a thread waits for at most one critical section of a less urgent one,
    /// however many mutexes it locks, and threads whose mutexes all have ceilings do not deadlock
    /// on one processor.
    ///
    /// # Errors
    /// DATA_CONVERSION 2 for a priority that the mapping does not have.
    pub fn create_mutex_with_ceiling(&self, ceiling: Priority) -> Result<RtMutex, SystemException> {
        let native = self.mapped(ceiling)?;
        Ok(RtMutex::new(Some(Ceiling {
            priority: ceiling,
            native,
        })))
    }

    /// Returns the mapping of CORBA priorities to native ones.
    #[must_use]
    pub fn priority_mapping(&self) -> &dyn PriorityMapping {
        &*self.mapping
    }

    /// Returns the limit on the priorities that clients may propagate.
    #[must_use]
    pub fn propagated(&self) -> Propagated {
        self.config.propagated
    }

    /// Returns whether all threads keep their native priority, because the machine does not grant
    /// the configured ones ([`RealTime::BestEffort`]).
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        self.is_degraded
    }

    /// Returns the number of times that a thread's native priority was changed, each by a system
    /// call. A thread that already has the right one does not count, nor do scheduling segments.
    #[must_use]
    pub fn native_changes(&self) -> u64 {
        self.native_changes.load(Ordering::Relaxed)
    }

    /// Returns the RTORB's settings.
    pub(crate) fn config(&self) -> &RtConfig {
        &self.config
    }

    /// Returns the RTORB's state of dynamic scheduling, if that is enabled.
    pub(crate) fn dynamic(&self) -> Option<&Arc<Dynamic>> {
        self.dynamic.as_ref()
    }

    /// Returns whether the kernel schedules threads by their CORBA priorities: not with
    /// [`NativePolicy::Other`], nor where the machine grants no native priorities.
    #[must_use]
    pub fn schedules_natively(&self) -> bool {
        self.asks_the_kernel()
    }

    pub(crate) fn asks_the_kernel(&self) -> bool {
        !self.is_degraded && self.config.policy != NativePolicy::Other
    }

    /// Returns the transform of priorities, if there is one.
    pub(crate) fn transform(&self) -> Option<&dyn PriorityTransform> {
        self.config.transform.as_deref()
    }

    /// Returns the kernel's scheduling parameters for a thread with this priority; `None` if the
    /// mapping has no native priority for it.
    pub(crate) fn native_of(&self, priority: Priority) -> Option<Scheduling> {
        let native = self.mapping.to_native(priority)?;
        Some(scheduling_at(self.config.policy, native))
    }

    /// Adds the attributes of a thread with this priority to `thread`, as far as the machine grants
    /// them; `None` if the mapping has no native priority for it.
    pub(crate) fn scheduled(&self, priority: Priority, thread: ThreadSpec) -> Option<ThreadSpec> {
        let native = self.native_of(priority)?;
        let mut thread = thread.prefault_stack(self.config.threads.prefault_stack);
        if let Some(processors) = self.config.threads.processors {
            thread = thread.processors(processors);
        }
        Some(match self.is_degraded {
            true => thread,
            false => thread.scheduling(native),
        })
    }

    /// Adds the attributes of a thread without a priority to `thread`: it is scheduled like the
    /// thread that created the RTORB, not like the one that starts it.
    pub(crate) fn unprioritised(&self, thread: ThreadSpec) -> ThreadSpec {
        match self.usual {
            Some(usual) if !self.is_degraded && !matches!(usual, Scheduling::Deadline(_)) => {
                thread.scheduling(usual)
            }
            _ => thread,
        }
    }

    /// Returns the RTORB's number, which is unique and never 0.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Makes the calling thread run at a priority. Returns its previous one.
    #[inline(always)]
    pub(crate) fn run_at(&self, priority: Priority) -> Result<SavedState, SystemException> {
        let wanted = match thread::mapped(self.number, priority) {
            Some(wanted) => wanted,
            None => self.mapped(priority)?,
        };
        let native = thread::native().map_err(|error| not_permitted(priority, &error))?;
        if wanted != native && wanted != Native::AS_IT_IS {
            self.change(wanted)
                .map_err(|error| not_permitted(priority, &error))?;
        }
        let corba = Priority::replace_of_thread(Some(priority));
        Ok(SavedState::new(native, corba))
    }

    /// Restores the calling thread's previous priority.
    #[inline(always)]
    pub(crate) fn run_again_at(&self, before: SavedState) {
        Priority::replace_of_thread(before.corba());
        if !thread::is_at(before.native()) {
            self.change_back(before.native());
        }
    }

    #[cold]
    fn change_back(&self, before: Native) {
        if let Err(error) = self.change(before) {
            tracing::error!("a thread keeps the priority of its last upcall: {error}");
        }
    }

    /// Makes the calling thread run at this priority's native priority whenever it is in no upcall.
    /// The thread gets no CORBA priority by this.
    #[cold]
    pub(crate) fn set_idle_priority(&self, priority: Priority) {
        let rest = || -> Result<(), SystemException> {
            let wanted = self.mapped(priority)?;
            let before = thread::now().map_err(|error| not_permitted(priority, &error))?;
            thread::record_idle_state(before);
            if wanted != before.native() && wanted != Native::AS_IT_IS {
                self.change(wanted)
                    .map_err(|error| not_permitted(priority, &error))?;
            }
            Ok(())
        };
        if let Err(error) = rest() {
            tracing::warn!("a thread does not wait at the priority of its connection: {error}");
        }
    }

    /// Restores the thread's scheduling from before [`RtOrb::set_idle_priority`], if that was
    /// called.
    #[cold]
    pub(crate) fn restore_idle_priority(&self) {
        if let Some(before) = thread::take_idle_state() {
            self.run_again_at(before);
        }
    }

    /// Returns the native scheduling of a thread with this priority.
    #[cold]
    fn mapped(&self, priority: Priority) -> Result<Native, SystemException> {
        let native = self.native_of(priority);
        let native = native.ok_or_else(|| no_native(priority))?;
        let native = match self.is_degraded {
            true => Native::AS_IT_IS,
            false => Native::of(native),
        };
        thread::record_mapping(self.number, priority, native);
        Ok(native)
    }

    #[cold]
    fn change(&self, wanted: Native) -> io::Result<()> {
        if thread::change(wanted)? {
            // Relaxed: a statistic only.
            self.native_changes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Number that the next RTORB of the process will get.
static NUMBERS: AtomicU32 = AtomicU32::new(1);

/// Checks that threads of this process may have this scheduling, by starting one that has it.
fn granted(wanted: Scheduling) -> io::Result<()> {
    let tried = ThreadSpec::named("punctual-rt-try")
        .scheduling(wanted)
        .start(|| ());
    match tried {
        Ok(thread) => thread
            .join()
            .map_err(|_| io::Error::other("the testing thread has panicked")),
        Err(SpawnError::Refused { error, .. }) => Err(error),
        Err(other) => Err(other.into()),
    }
}

/// Returns DATA_CONVERSION 2, for a priority without a native one (Real-time CORBA 1.2, §5.5.2).
#[cold]
pub(crate) fn no_native(priority: Priority) -> SystemException {
    SystemException::new(Kind::DataConversion, minor::omg(2), CompletionStatus::No)
        .with_detail(without_native(priority))
}

#[cold]
pub(crate) fn without_native(priority: Priority) -> String {
    format!("the priority mapping has no native priority for {priority}")
}

#[cold]
pub(crate) fn not_permitted(priority: Priority, error: &io::Error) -> SystemException {
    SystemException::new(Kind::NoPermission, 0, CompletionStatus::No).with_detail(format!(
        "the operating system does not let the thread run at CORBA priority {priority}: {error}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Mapping;

    #[test]
    fn a_priority_that_is_not_granted_is_shown_with_its_remedy_where_main_returns_it() {
        let refused = RtError::NotGranted {
            wanted: Scheduling::Fifo { priority: 99 },
            error: io::Error::from_raw_os_error(1),
        };
        let shown = format!("{refused:?}");
        assert!(shown.starts_with("this process may not run"), "{shown}");
        assert!(
            shown.contains("`LimitRTPRIO=` of a systemd unit"),
            "{shown}"
        );
        assert_eq!(shown, refused.to_string());
    }

    #[test]
    fn a_thread_rests_at_a_priority_until_it_is_told_otherwise() {
        let config = RtConfig {
            mapping: Mapping::Direct,
            ..RtConfig::default()
        };
        let rt = match RtOrb::new(config) {
            Ok(rt) => rt,
            Err(error) => return println!("skipped: {error}"),
        };
        let at = |priority| Priority::new(priority).unwrap();
        let fifo = |priority| Scheduling::Fifo { priority };
        let own = || scheduling::own().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let usual = own();
                rt.restore_idle_priority();
                assert_eq!(own(), usual);
                rt.set_idle_priority(at(20));
                assert_eq!((own(), Priority::of_thread()), (fifo(20), None));
                // An upcall of another priority, then the next band.
                let before = rt.run_at(at(30)).unwrap();
                assert_eq!(own(), fifo(30));
                rt.run_again_at(before);
                assert_eq!((own(), Priority::of_thread()), (fifo(20), None));
                rt.set_idle_priority(at(10));
                assert_eq!(own(), fifo(10));
                for _ in 0..2 {
                    rt.restore_idle_priority();
                    assert_eq!((own(), Priority::of_thread()), (usual, None));
                }
            });
        });
    }
}
