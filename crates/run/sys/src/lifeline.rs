//! Pipe that tells for how long another process uses what it was given: the process keeps the end
//! that it gets, and the kernel closes it when the process dies.
//!
//! Nothing is ever written to the pipe.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::time::Timespec;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// End of a pipe that stays with the process which gives something to another.
#[derive(Debug)]
pub struct Lifeline(OwnedFd);

impl Lifeline {
    /// Makes a lifeline, and the end that the other process is to hold: the maker passes it on and
    /// closes its own copy.
    ///
    /// # Errors
    /// Errors of `pipe2(2)`.
    pub fn new() -> io::Result<(Self, OwnedFd)> {
        let (held, kept) = io::pipe()?;
        Ok((Self(kept.into()), held.into()))
    }

    /// Returns whether no process holds the other end any more. One system call, which does not
    /// block.
    #[must_use]
    pub fn is_released(&self) -> bool {
        let mut polled = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::empty())];
        loop {
            match poll(&mut polled, Some(&Timespec::default())) {
                Err(Errno::INTR) => {}
                // A pipe without readers is reported as an error to its writer.
                outcome => {
                    let found = outcome.is_ok_and(|found| found > 0);
                    return found && polled[0].revents().contains(PollFlags::ERR);
                }
            }
        }
    }
}

/// Returns whether a descriptor that a peer passed is a pipe, and so may be the end of a lifeline.
#[must_use]
pub fn is_pipe(descriptor: BorrowedFd<'_>) -> bool {
    fstat(descriptor).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifeline_is_released_once_no_copy_of_the_other_end_is_open() {
        let (lifeline, held) = Lifeline::new().unwrap();
        assert!(is_pipe(held.as_fd()));
        let copy = held.try_clone().unwrap();
        drop(held);
        assert!(!lifeline.is_released());
        drop(copy);
        // Another thread may just start a program, whose process has a copy until it runs.
        while !lifeline.is_released() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_is_no_pipe_is_told() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(!is_pipe(file.as_fd()));
    }
}
