//! Edge-triggered waiting for many descriptors at once: each change is reported to one waiting
//! thread.
//!
//! Threads share one [`Epoll`] and each waits in [`Epoll::wait`]; the kernel chooses the thread
//! that a change wakes, the one that came last first. A change is reported once: the thread that
//! receives it takes all there is, or rearms it with [`Epoll::set`], which reports at once what
//! holds then.

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Conditions for which epoll watches a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Only errors of the descriptor are reported.
    Nothing,
    /// Data that can be read, and the end of the stream, are reported.
    Read,
    /// Data to read, the end, or room to write.
    ReadAndWrite,
}

/// Event that epoll reports for one descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpollEvent {
    /// Token with which the descriptor was added to the set.
    pub token: u64,
    /// True if the descriptor has something to read.
    pub readable: bool,
    /// Set if there is room to write. Reported only on request.
    pub writable: bool,
    /// Set if the peer has finished, or the connection has failed: reading continues until it
    /// reports so, however little the last read returned.
    pub ended: bool,
}

/// Buffer that [`Epoll::wait`] fills with the events that occurred.
pub struct EpollEvents {
    list: Vec<Event>,
}

/// Set of descriptors whose events one epoll instance awaits.
#[derive(Debug)]
pub struct Epoll {
    set: OwnedFd,
}

impl Epoll {
    /// Makes an empty set.
    ///
    /// # Errors
    /// Errors of `epoll_create1(2)`.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            set: epoll::create(CreateFlags::CLOEXEC)?,
        })
    }

    /// Adds a descriptor. A condition that holds already is reported, too. The descriptor leaves
    /// the set when the last descriptor of its file is closed, or by [`Epoll::remove`].
    ///
    /// # Errors
    /// Errors of `epoll_ctl(2)`.
    pub fn add(&self, descriptor: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let data = EventData::new_u64(token);
        Ok(epoll::add(&self.set, descriptor, data, flags(interest))?)
    }

    /// Adds a descriptor that is reported to every waiting thread while there is something to read.
    ///
    /// # Errors
    /// Errors of `epoll_ctl(2)`.
    pub fn add_for_all(&self, descriptor: impl AsFd, token: u64) -> io::Result<()> {
        let data = EventData::new_u64(token);
        Ok(epoll::add(&self.set, descriptor, data, EventFlags::IN)?)
    }

    /// Changes the awaited conditions, and reports what holds already, even if it was reported
    /// before.
    ///
    /// # Errors
    /// Errors of `epoll_ctl(2)`: `NotFound` for a descriptor that is not in the set.
    pub fn set(&self, descriptor: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let data = EventData::new_u64(token);
        Ok(epoll::modify(&self.set, descriptor, data, flags(interest))?)
    }

    /// Removes a descriptor. An event that was about to be reported may still arrive.
    ///
    /// # Errors
    /// Errors of `epoll_ctl(2)`: `NotFound` for a descriptor that is not in the set.
    pub fn remove(&self, descriptor: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.set, descriptor)?)
    }

    /// Waits until something happens or `timeout`, rounded up to whole milliseconds, has passed;
    /// zero polls without waiting. A signal ends the wait without events.
    ///
    /// # Errors
    /// Errors of `epoll_wait(2)`.
    pub fn wait(&self, found: &mut EpollEvents, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.and_then(|timeout| {
            let whole = timeout.as_micros().div_ceil(1000);
            let whole = Duration::from_millis(u64::try_from(whole).ok()?);
            Timespec::try_from(whole).ok()
        });
        found.list.clear();
        match epoll::wait(&self.set, spare_capacity(&mut found.list), timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Epoll {
    /// Returns the descriptor of the set, readable while an event waits to be reported.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.set.as_fd()
    }
}

impl EpollEvents {
    /// Makes a buffer for `most` events: other threads cannot get at events that this thread has
    /// taken.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            list: Vec::with_capacity(most.max(1)),
        }
    }

    /// Returns the events in the buffer.
    pub fn iter(&self) -> impl Iterator<Item = EpollEvent> {
        self.list.iter().map(|event| {
            let flags = event.flags;
            EpollEvent {
                token: event.data.u64(),
                readable: flags.contains(EventFlags::IN),
                writable: flags.contains(EventFlags::OUT),
                ended: flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR),
            }
        })
    }

    /// Removes all events from the buffer.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Returns whether the buffer contains no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl fmt::Debug for EpollEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

fn flags(interest: Interest) -> EventFlags {
    let read = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    match interest {
        Interest::Nothing => EventFlags::ET,
        Interest::Read => read,
        Interest::ReadAndWrite => read | EventFlags::OUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

    fn found(epoll: &Epoll) -> Vec<EpollEvent> {
        let mut found = EpollEvents::new(8);
        epoll.wait(&mut found, AT_ONCE).unwrap();
        found.iter().collect()
    }

    #[test]
    fn a_change_is_told_once_and_again_when_asked() {
        let epoll = Epoll::new().unwrap();
        let (mut here, there) = UnixStream::pair().unwrap();
        epoll.add(&there, 7, Interest::Read).unwrap();
        assert_eq!(found(&epoll), []);
        here.write_all(b"one").unwrap();
        let told = EpollEvent {
            token: 7,
            readable: true,
            writable: false,
            ended: false,
        };
        assert_eq!(found(&epoll), [told]);
        assert_eq!(found(&epoll), []);
        epoll.set(&there, 8, Interest::Read).unwrap();
        assert_eq!(found(&epoll), [EpollEvent { token: 8, ..told }]);
        here.write_all(b"two").unwrap();
        assert_eq!(found(&epoll).len(), 1);
        epoll.remove(&there).unwrap();
        here.write_all(b"three").unwrap();
        assert_eq!(found(&epoll), []);
        assert!(epoll.set(&there, 8, Interest::Read).is_err());
    }

    #[test]
    fn the_end_is_told_apart_from_what_came_before_it() {
        let epoll = Epoll::new().unwrap();
        let (mut here, there) = UnixStream::pair().unwrap();
        epoll.add(&there, 1, Interest::Read).unwrap();
        here.write_all(b"last words").unwrap();
        drop(here);
        let told = found(&epoll);
        assert!(told.iter().all(|one| one.readable && one.ended), "{told:?}");
        assert_eq!(told.len(), 1);
    }

    #[test]
    fn room_is_told_when_there_is_some_again() {
        let epoll = Epoll::new().unwrap();
        let (mut here, mut there) = UnixStream::pair().unwrap();
        here.set_nonblocking(true).unwrap();
        while here.write(&[0; 4096]).is_ok() {}
        epoll.add(&here, 1, Interest::ReadAndWrite).unwrap();
        assert_eq!(found(&epoll), []);
        there.set_nonblocking(true).unwrap();
        while there.read(&mut [0; 65536]).is_ok() {}
        let told = found(&epoll);
        assert!(told.iter().any(|one| one.writable), "{told:?}");
    }
}
