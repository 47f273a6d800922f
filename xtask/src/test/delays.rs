//! Simulation of threads that are late at any place: test programs under strace, which delays some of their system calls.
//!
//! Busy loops change the order of what threads do only at the ends of time slices. A delay after every so many system calls
//! of a thread reaches the orders between two messages, too.

use super::programs::Program;
use crate::run::Result;
use std::process::{Command, Stdio};

/// System calls that are delayed, some of each thread's.
const CALLS: &str =
    "sendto,sendmsg,write,writev,recvfrom,recvmsg,read,epoll_wait,ppoll,clone3,futex";

/// Delays of one round: other calls, and for other times, in each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    /// Number of the first call of a thread that is delayed.
    first: u32,
    /// Every so many calls is delayed from there on.
    step: u32,
    microseconds: u32,
}

impl Delays {
    /// Checks that there is strace.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn check() -> Result<()> {
        let version = Command::new("strace")
            .arg("--version")
            .stdout(Stdio::null())
            .status();
        match version {
            Ok(status) if status.success() => Ok(()),
            _ => Err("delays need strace: install it (`apt-get install strace`)".to_owned()),
        }
    }

    /// Returns the delays of a round; those of the same number are always the same.
    pub(super) fn of(round: u32) -> Self {
        Self {
            first: 1 + round * 3 % 7,
            step: 5 + round * 5 % 13,
            microseconds: 4_000 + round * 3 % 4 * 9_000,
        }
    }

    /// Returns the command that runs a test program with these delays.
    pub(super) fn command(self, program: &Program) -> Command {
        let Self {
            first,
            step,
            microseconds,
        } = self;
        let mut command = Command::new("strace");
        command
            .args(["--follow-forks", "--seccomp-bpf", "-qq", "--status=none"])
            .args(["--output", "/dev/null"])
            .arg(format!("--trace={CALLS}"))
            .arg(format!(
                "--inject={CALLS}:delay_exit={microseconds}:when={first}+{step}"
            ))
            .arg(&program.file);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_delays_other_calls() {
        let mut seen = Vec::new();
        for round in 1..=10 {
            let delays = format!("{:?}", Delays::of(round));
            assert_eq!(delays, format!("{:?}", Delays::of(round)));
            assert!(!seen.contains(&delays), "{delays}");
            seen.push(delays);
        }
    }
}
