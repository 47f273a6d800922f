//! Lines between the command and its boards, as JSON. A board ends when its input ends.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Argument of a board's process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Duty {
    /// Name of the board in the model.
    pub(super) board: String,
    /// Folder of the boards' sockets.
    pub(super) folder: PathBuf,
    /// Share of the planned processor time that a job uses, in percent.
    pub(super) load: u8,
    /// Run without real-time priorities.
    pub(super) best_effort: bool,
    /// Record the first jobs of each operation.
    pub(super) records: bool,
    /// Processor of this machine that stands for the board's.
    pub(super) processor: usize,
}

/// Request to a board.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Serve the channel, and link it to those of the other boards; answered by `Ready`.
    Link,
    /// Release interrupts from this time of `CLOCK_MONOTONIC` on, in nanoseconds; answered by `Done`.
    Start(u64),
    /// Release no more; answered by `Done`.
    Stop,
    /// Count; answered by `Counts`.
    Count,
    /// Return the recorded jobs; answered by `Jobs`.
    Jobs,
}

/// Answer of a board.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The channel is linked.
    Ready {
        /// The kernel schedules by the plan's priorities.
        is_real_time: bool,
    },
    /// The request has been executed.
    Done,
    /// Counts of the board's operations.
    Counts(Vec<Ran>),
    /// Recorded jobs of the board's operations.
    Jobs(Vec<Recorded>),
    /// The board cannot go on.
    Failed(String),
}

/// Counts of an operation. Times are in nanoseconds, from the release of the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ran {
    /// Name of the operation.
    pub(super) operation: String,
    /// Jobs that have ended.
    pub(super) jobs: u64,
    /// Jobs that ended after their deadline, and releases that were passed over as one lasted too long.
    pub(super) missed: u64,
    /// Deadline timeouts: a conjunction received nothing for two periods.
    pub(super) timeouts: u64,
    /// Response time that half of the jobs did not exceed.
    pub(super) p50: u64,
    /// Response time that 99 of 100 jobs did not exceed.
    pub(super) p99: u64,
    /// Longest response time.
    pub(super) max: u64,
}

/// Recorded jobs of an operation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Recorded {
    /// Name of the operation.
    pub(super) operation: String,
    pub(super) jobs: Vec<RecordedJob>,
}

/// Times of a job, of `CLOCK_MONOTONIC` in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct RecordedJob {
    /// Release of the chain.
    pub(super) released: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl Duty {
    /// Returns the path of a board's socket.
    pub(super) fn socket(&self, board: &str) -> PathBuf {
        socket(&self.folder, board)
    }
}

fn socket(folder: &Path, board: &str) -> PathBuf {
    folder.join(format!("{board}.sock"))
}
