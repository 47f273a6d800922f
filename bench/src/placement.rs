//! Placements: the processors on which the two sides of a call run.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;

/// Processors of client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Both pinned to one processor: shows the cost of the software alone, as no other processor
    /// must be woken up.
    Same,
    /// Each pinned to a processor of its own: includes the time to wake up the other processor.
    Cross,
    /// No pinning: the scheduler chooses the processors.
    Unpinned,
}

/// Processors on which client and server run in a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processors {
    /// Processor of the client.
    pub client: usize,
    /// Processor of the server.
    pub server: usize,
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Same => "same",
            Self::Cross => "cross",
            Self::Unpinned => "unpinned",
        })
    }
}

impl Placement {
    /// Chooses processors from those that this process may run on; `None` if nothing is to be
    /// pinned.
    ///
    /// # Errors
    /// There are too few, or the kernel does not tell them.
    pub fn processors(self) -> io::Result<Option<Processors>> {
        match self {
            Self::Unpinned => Ok(None),
            _ => self.pinned().map(Some),
        }
    }

    /// Chooses among the processors that this process may run on.
    ///
    /// # Errors
    /// There are too few, the kernel does not tell them, or the processes are not to be pinned.
    pub fn pinned(self) -> io::Result<Processors> {
        self.choose(&punctual_sys::processor::allowed()?)
    }

    /// Chooses the last processor (for `cross` the last two), as the first one usually handles most
    /// of a machine's interrupts.
    fn choose(self, allowed: &[usize]) -> io::Result<Processors> {
        match (self, allowed) {
            (Self::Same, [.., last]) => Ok(Processors {
                client: *last,
                server: *last,
            }),
            (Self::Cross, [.., client, server]) => Ok(Processors {
                client: *client,
                server: *server,
            }),
            (Self::Unpinned, _) => Err(io::Error::other("each side needs a processor here")),
            _ => Err(io::Error::other(format!(
                "this process may run on {} processor(s) only",
                allowed.len()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_shares_a_processor_and_cross_does_not() {
        let same = Placement::Same.choose(&[0, 1, 5]).unwrap();
        assert_eq!((same.client, same.server), (5, 5));
        let cross = Placement::Cross.choose(&[0, 1, 5]).unwrap();
        assert_eq!((cross.client, cross.server), (1, 5));
    }

    #[test]
    fn cross_needs_two_processors() {
        assert!(Placement::Same.choose(&[3]).is_ok());
        assert!(Placement::Cross.choose(&[3]).is_err());
        assert!(Placement::Same.choose(&[]).is_err());
    }
}
