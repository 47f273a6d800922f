//! CORBA priorities, and what the calling thread runs at.

use std::cell::Cell;
use std::fmt;

/// A CORBA priority (RTCORBA::Priority; Real-time CORBA 1.2, §5.4): 0 to 32767, a higher one more urgent. What it means to
/// the operating system a priority mapping says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i16);

/// A number that is no CORBA priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no CORBA priority: these are 0 to 32767")]
pub struct PriorityOutOfRange(pub i32);

impl Priority {
    /// RTCORBA::minPriority.
    pub const MIN: Self = Self(0);
    /// RTCORBA::maxPriority.
    pub const MAX: Self = Self(i16::MAX);

    /// A priority.
    ///
    /// # Errors
    /// [`PriorityOutOfRange`] for a negative one.
    pub const fn new(priority: i16) -> Result<Self, PriorityOutOfRange> {
        match priority >= 0 {
            true => Ok(Self(priority)),
            false => Err(PriorityOutOfRange(priority as i32)),
        }
    }

    /// The CORBA priority that was set for the calling thread, by whoever schedules it.
    #[inline]
    #[must_use]
    pub fn of_thread() -> Option<Self> {
        OF_THREAD.with(|thread| thread.runs_at.get().priority())
    }

    /// Tells the calling thread's CORBA priority to the ORBs that it calls through; the one that it had. For who schedules it
    /// (`punctual_rt`'s `RtCurrent`). Not inlined: in another crate it would find the place by a call through a pointer.
    #[inline(never)]
    pub fn replace_of_thread(priority: Option<Self>) -> Option<Self> {
        OF_THREAD.with(|thread| {
            let before = thread.runs_at.get();
            thread
                .runs_at
                .set(RunsAt::new(before.scheduled(), priority));
            before.priority()
        })
    }

    /// The data of RTCorbaPriority that say it, in this machine's byte order: `encapsulation { short priority; }`.
    #[inline]
    #[must_use]
    pub const fn in_context(self) -> [u8; 4] {
        let [first, second] = self.0.to_ne_bytes();
        [cfg!(target_endian = "little") as u8, 0, first, second]
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> i16 {
        self.0
    }
}

impl TryFrom<i32> for Priority {
    type Error = PriorityOutOfRange;

    fn try_from(priority: i32) -> Result<Self, PriorityOutOfRange> {
        let number = i16::try_from(priority).map_err(|_| PriorityOutOfRange(priority))?;
        Self::new(number)
    }
}

impl From<Priority> for i32 {
    fn from(priority: Priority) -> Self {
        Self::from(priority.0)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a thread runs at, in one number: how it is scheduled, as who schedules it numbers that (0 while nobody has said), and
/// its CORBA priority. For who schedules threads (`punctual_rt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsAt(u64);

/// Set where there is a CORBA priority, which stands below.
const HAS_PRIORITY: u64 = 1 << 16;
const PRIORITY: u64 = 0x7fff;

impl RunsAt {
    /// At these.
    #[inline]
    #[must_use]
    pub const fn new(scheduled: u32, priority: Option<Priority>) -> Self {
        let priority = match priority {
            Some(priority) => HAS_PRIORITY | priority.0.cast_unsigned() as u64,
            None => 0,
        };
        Self((scheduled as u64) << 32 | priority)
    }

    /// As a number.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// What [`RunsAt::number`] told.
    #[inline]
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// How it is scheduled.
    #[inline]
    #[must_use]
    pub const fn scheduled(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The CORBA priority.
    #[inline]
    #[must_use]
    pub const fn priority(self) -> Option<Priority> {
        match self.0 & HAS_PRIORITY {
            0 => None,
            _ => Some(Priority((self.0 & PRIORITY) as i16)),
        }
    }

    /// What the calling thread runs at.
    #[inline(never)]
    #[must_use]
    pub fn of_thread() -> Self {
        OF_THREAD.with(|thread| thread.runs_at.get())
    }

    /// Notes what it runs at from now on; what it ran at before.
    #[inline(never)]
    pub fn replace_of_thread(self) -> Self {
        OF_THREAD.with(|thread| thread.runs_at.replace(self))
    }

    /// Notes that the calling thread runs as a request wants whose RTCorbaPriority has these data, by what the RTORB of this
    /// number makes of them: the next request like it, met by a thread that is scheduled as this one, need not be looked at.
    #[inline(never)]
    pub fn obeys(rt_orb: u32, data: [u8; 4]) {
        OF_THREAD.with(|thread| {
            thread.obeyed.set(asked(rt_orb, data));
            thread.as_obeyed.set(thread.runs_at.get());
        });
    }

    /// Has the calling thread run as such a request wants, if the last one that was noted had the same data for the same RTORB,
    /// and the thread is scheduled as it was then: what it ran at before, and the priority.
    #[inline]
    pub(crate) fn obey_again(rt_orb: u32, data: [u8; 4]) -> Option<(Self, Priority)> {
        OF_THREAD.with(|thread| {
            let (before, wanted) = (thread.runs_at.get(), thread.as_obeyed.get());
            let is_so = thread.obeyed.get() == asked(rt_orb, data)
                && before.scheduled() == wanted.scheduled();
            let priority = wanted.priority().filter(|_| is_so)?;
            thread.runs_at.set(wanted);
            Some((before, priority))
        })
    }

    /// Has the calling thread run again at this, if it is scheduled so.
    #[inline]
    pub(crate) fn restore(self) -> bool {
        OF_THREAD.with(|thread| {
            let is_scheduled_so = thread.runs_at.get().scheduled() == self.scheduled();
            if is_scheduled_so {
                thread.runs_at.set(self);
            }
            is_scheduled_so
        })
    }
}

/// What is known of the calling thread. Together, so that one look finds all.
struct OfThread {
    runs_at: Cell<RunsAt>,
    /// Which request it obeyed ([`asked`]), and how it ran then.
    obeyed: Cell<u64>,
    as_obeyed: Cell<RunsAt>,
}

thread_local! {
    static OF_THREAD: OfThread = const {
        OfThread {
            runs_at: Cell::new(RunsAt::new(0, None)),
            // No RTORB has the number 0.
            obeyed: Cell::new(0),
            as_obeyed: Cell::new(RunsAt::new(0, None)),
        }
    };
}

/// Data of RTCorbaPriority, and whose mapping says what they mean.
#[inline]
fn asked(rt_orb: u32, data: [u8; 4]) -> u64 {
    u64::from(rt_orb) << 32 | u64::from(u32::from_ne_bytes(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_those_of_corba() {
        assert_eq!(Priority::try_from(32_767), Ok(Priority::MAX));
        assert_eq!(Priority::new(7).map(Priority::get), Ok(7));
        for none in [-1, 32_768, i32::MIN, i32::MAX] {
            assert_eq!(Priority::try_from(none), Err(PriorityOutOfRange(none)));
        }
        assert!(Priority::MIN < Priority::MAX);
    }

    #[test]
    fn a_request_like_the_last_is_obeyed_again_by_a_thread_that_is_scheduled_as_then() {
        std::thread::spawn(|| {
            let (own, urgent) = (RunsAt::new(7, None), RunsAt::new(7, Some(Priority(9))));
            let data = [1, 0, 9, 0];
            assert_eq!(RunsAt::obey_again(3, data), None);
            urgent.replace_of_thread();
            RunsAt::obeys(3, data);
            assert_eq!(own.replace_of_thread(), urgent);
            assert_eq!(RunsAt::obey_again(4, data), None);
            assert_eq!(RunsAt::obey_again(3, [0, 0, 0, 9]), None);
            assert_eq!(RunsAt::obey_again(3, data), Some((own, Priority(9))));
            assert_eq!(Priority::of_thread(), Some(Priority(9)));
            assert!(own.restore());
            assert_eq!(RunsAt::of_thread(), own);
            // Scheduled otherwise meanwhile.
            RunsAt::new(8, None).replace_of_thread();
            assert_eq!(RunsAt::obey_again(3, data), None);
            assert!(!own.restore());
            assert_eq!(RunsAt::of_thread(), RunsAt::new(8, None));
        })
        .join()
        .unwrap();
    }
}
