//! Machines on which the suite runs.

use super::delays::Delays;
use super::load::Load;

/// Machine on which tests run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Machine<'l> {
    /// As it is.
    Quiet,
    /// With busy loops.
    Busy(&'l Load),
    /// With delayed system calls.
    Delayed(Delays),
}
