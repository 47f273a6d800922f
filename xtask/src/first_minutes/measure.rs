//! Measurement of a command: wall-clock time, and processor time.

use crate::run::{Result, succeed};
use serde::Serialize;
use std::fs;
use std::process::Command;
use std::time::Instant;

/// Wall-clock time and processor time of a command, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Cost {
    pub(super) wall: f64,
    /// Processor time of all ended child processes on all processors, in user mode and in the
    /// kernel.
    pub(super) processor: f64,
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            wall: self.wall + other.wall,
            processor: self.processor + other.processor,
        }
    }
}

/// Runs a command to its end, and returns its cost. Its output goes to standard error.
pub(super) fn measured(command: &mut Command) -> Result<Cost> {
    let (began, before) = (Instant::now(), children_now()?);
    succeed(command.stdout(std::io::stderr()))?;
    Ok(Cost {
        wall: began.elapsed().as_secs_f64(),
        processor: children_now()? - before,
    })
}

/// Returns the processor time in seconds of the child processes that have ended and been waited
/// for, including their own children.
fn children_now() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    children(&stat).ok_or_else(|| format!("/proc/self/stat is not understood: {stat}"))
}

/// Returns the processor time in seconds, the sum of `cutime` and `cstime` in the text of
/// `/proc/self/stat` (`proc_pid_stat(5)`, fields 16 and 17), which are in 1/100 s on every Linux.
fn children(stat: &str) -> Option<f64> {
    // The second field is a name in parentheses, which may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some(f64::from(ticks()? + ticks()?) / 100.0)
}

/// Load and number of processors of the machine on which commands are timed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Machine {
    pub(super) processors: usize,
    /// Average number of running and runnable processes during the last minute.
    pub(super) load: f64,
}

impl Machine {
    pub(super) fn now() -> Result<Self> {
        let load = fs::read_to_string("/proc/loadavg").map_err(|error| error.to_string())?;
        let first = load.split(' ').next().and_then(|load| load.parse().ok());
        Ok(Self {
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            load: first.ok_or_else(|| format!("/proc/loadavg is not understood: {load}"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_children_is_read_whatever_the_process_is_called() {
        let stat = "71 (a) 1 2) S 1 71 71 0 -1 4194560 1 2 3 4 5 6 250 125 20 0 1 0 9";
        assert_eq!(children(stat), Some(3.75));
        assert_eq!(children("71 (a) S 1"), None);
    }

    #[test]
    fn a_command_that_works_costs_processor_time_and_one_that_fails_is_an_error() {
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let cost = measured(Command::new("sh").args(["-c", work])).unwrap();
        assert!(cost.processor > 0.0 && cost.wall > 0.0, "{cost:?}");
        let failed = measured(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(failed.contains("exit status: 3"), "{failed}");
    }

    #[test]
    fn the_machine_has_a_processor_at_least() {
        assert!(Machine::now().unwrap().processors > 0);
    }
}
