//! Descriptors that a process rings for itself: a bell, and an alarm that rings at a time.

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Rung by any thread, heard by whoever waits for its descriptor to be readable.
#[derive(Debug)]
pub struct Bell {
    count: OwnedFd,
}

impl Bell {
    /// A bell that nobody has rung.
    ///
    /// # Errors
    /// What `eventfd(2)` says.
    pub fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self {
            count: eventfd(0, flags)?,
        })
    }

    /// Rings: readable from now on. Each ring is an edge of its own.
    pub fn ring(&self) {
        // Fails only when it has been rung 2^64 times without being silenced: rung it is.
        let _ = rustix::io::write(&self.count, &1u64.to_ne_bytes());
    }

    /// No longer rung, if it was.
    pub fn silence(&self) {
        // Fails when it was not.
        let _ = rustix::io::read(&self.count, &mut [0u8; 8]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.count.as_fd()
    }
}

/// Rings once, after a time.
#[derive(Debug)]
pub struct Alarm {
    timer: OwnedFd,
}

impl Alarm {
    /// An alarm that is not set.
    ///
    /// # Errors
    /// What `timerfd_create(2)` says.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self {
            timer: timerfd_create(TimerfdClockId::Monotonic, flags)?,
        })
    }

    /// Sets it to ring `after` from now, whatever it was set to; silent until then.
    ///
    /// # Errors
    /// What `timerfd_settime(2)` says, of a time too far off for one.
    pub fn set(&self, after: Duration) -> io::Result<()> {
        // Zero would unset it.
        let after = after.max(Duration::from_nanos(1));
        let value = Timespec::try_from(after).map_err(|_| io::ErrorKind::InvalidInput)?;
        let once = Itimerspec {
            it_interval: Timespec::default(),
            it_value: value,
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

/// Waits until one of two descriptors is readable, or `timeout` is over: whether each of them is. A
/// signal ends it with neither.
///
/// # Errors
/// What `poll(2)` says.
pub fn either(
    one: impl AsFd,
    other: impl AsFd,
    timeout: Option<Duration>,
) -> io::Result<(bool, bool)> {
    let mut both = [
        PollFd::new(&one, PollFlags::IN),
        PollFd::new(&other, PollFlags::IN),
    ];
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut both, timeout.as_ref()) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok((false, false)),
        Err(error) => return Err(error.into()),
    }
    let [one, other] = both.map(|found| !found.revents().is_empty());
    Ok((one, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epoll::{Epoll, Happenings, Interest};

    #[test]
    fn a_bell_is_heard_until_it_is_silenced() {
        let (one, other) = (Bell::new().unwrap(), Bell::new().unwrap());
        let now = Some(Duration::ZERO);
        assert_eq!(either(&one, &other, now).unwrap(), (false, false));
        other.ring();
        other.ring();
        assert_eq!(either(&one, &other, None).unwrap(), (false, true));
        other.silence();
        other.silence();
        assert_eq!(either(&one, &other, now).unwrap(), (false, false));
    }

    #[test]
    fn each_ring_is_an_edge() {
        let (epoll, bell) = (Epoll::new().unwrap(), Bell::new().unwrap());
        epoll.add(&bell, 1, Interest::Read).unwrap();
        let mut found = Happenings::new(4);
        for _ in 0..3 {
            bell.ring();
            epoll.wait(&mut found, Some(Duration::ZERO)).unwrap();
            assert_eq!(found.iter().count(), 1);
            epoll.wait(&mut found, Some(Duration::ZERO)).unwrap();
            assert!(found.is_empty());
        }
    }

    #[test]
    fn an_alarm_rings_once_and_again_when_it_is_set_anew() {
        let (epoll, alarm) = (Epoll::new().unwrap(), Alarm::new().unwrap());
        epoll.add(&alarm, 1, Interest::Read).unwrap();
        let mut found = Happenings::new(4);
        for _ in 0..2 {
            alarm.set(Duration::ZERO).unwrap();
            epoll.wait(&mut found, None).unwrap();
            assert_eq!(found.iter().count(), 1);
            epoll.wait(&mut found, Some(Duration::ZERO)).unwrap();
            assert!(found.is_empty());
        }
    }
}
