//! Descriptors by which a process wakes its own threads: an eventfd, and a one-shot timerfd.

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Flag that any thread sets ([`EventFd::notify`]); its descriptor is readable while it is set.
#[derive(Debug)]
pub struct EventFd {
    count: OwnedFd,
}

impl EventFd {
    /// Makes an event that is not set.
    ///
    /// # Errors
    /// Errors of `eventfd(2)`.
    pub fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self {
            count: eventfd(0, flags)?,
        })
    }

    /// Sets the event: its descriptor is readable from now on. Each notification is an edge of its
    /// own.
    pub fn notify(&self) {
        // Fails only when the counter is at its maximum, and then the event is set.
        let _ = rustix::io::write(&self.count, &1u64.to_ne_bytes());
    }

    /// Clears the event once it is set: waits until then.
    ///
    /// # Errors
    /// Errors of `poll(2)`.
    pub fn take(&self) -> io::Result<()> {
        loop {
            match poll(&mut [PollFd::new(&self.count, PollFlags::IN)], None) {
                Ok(_) => {
                    self.clear();
                    return Ok(());
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Clears the event, if it was set.
    pub fn clear(&self) {
        // Fails when it was not set.
        let _ = rustix::io::read(&self.count, &mut [0u8; 8]);
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.count.as_fd()
    }
}

/// Timer whose descriptor becomes readable once a time has passed.
#[derive(Debug)]
pub struct TimerFd {
    timer: OwnedFd,
}

impl TimerFd {
    /// Makes a timer that is not set.
    ///
    /// # Errors
    /// Errors of `timerfd_create(2)`.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self {
            timer: timerfd_create(TimerfdClockId::Monotonic, flags)?,
        })
    }

    /// Sets the timer to expire `after` from now, in place of an earlier time; not readable until
    /// then.
    ///
    /// # Errors
    /// Errors of `timerfd_settime(2)`, for a time too far off.
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

impl AsFd for TimerFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

/// Waits until one of two descriptors is readable or `timeout` has passed; returns for each whether
/// it is readable. A signal ends the wait with neither.
///
/// # Errors
/// Errors of `poll(2)`.
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
    use crate::epoll::{Epoll, EpollEvents, Interest};

    #[test]
    fn an_event_is_readable_until_it_is_cleared() {
        let (one, other) = (EventFd::new().unwrap(), EventFd::new().unwrap());
        let now = Some(Duration::ZERO);
        assert_eq!(either(&one, &other, now).unwrap(), (false, false));
        other.notify();
        other.notify();
        assert_eq!(either(&one, &other, None).unwrap(), (false, true));
        other.clear();
        other.clear();
        assert_eq!(either(&one, &other, now).unwrap(), (false, false));
    }

    #[test]
    fn each_notification_is_an_edge() {
        let (epoll, event) = (Epoll::new().unwrap(), EventFd::new().unwrap());
        epoll.add(&event, 1, Interest::Read).unwrap();
        let mut found = EpollEvents::new(4);
        for _ in 0..3 {
            event.notify();
            epoll.wait(&mut found, Some(Duration::ZERO)).unwrap();
            assert_eq!(found.iter().count(), 1);
            epoll.wait(&mut found, Some(Duration::ZERO)).unwrap();
            assert!(found.is_empty());
        }
    }

    #[test]
    fn a_timer_expires_once_and_again_when_it_is_set_anew() {
        let (epoll, timer) = (Epoll::new().unwrap(), TimerFd::new().unwrap());
        epoll.add(&timer, 1, Interest::Read).unwrap();
        let mut found = EpollEvents::new(4);
        for _ in 0..2 {
            timer.set(Duration::ZERO).unwrap();
            epoll.wait(&mut found, None).unwrap();
            assert_eq!(found.iter().count(), 1);
            epoll.wait(&mut found, Some(Duration::ZERO)).unwrap();
            assert!(found.is_empty());
        }
    }
}
