//! Processes of hosts, as the command sees them.

use super::host::HostCounts;
use super::world::World;
use crate::demo::owned::Owned;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// Host whose process ends when this is dropped.
pub(super) struct HostProcess {
    number: u32,
    input: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    _process: Owned,
}

impl HostProcess {
    /// Starts the process of a host, and waits until its link is there.
    ///
    /// # Errors
    /// It cannot be started, or ends at once.
    pub(super) fn start(world: &World, number: u32) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("host {number}: {error}");
        let this = std::env::current_exe().map_err(failed)?;
        let mut process = Command::new(this)
            .args(["demo", "simulation", "--host", &number.to_string()])
            .args(world.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let process = Owned(process);
        let (input, output) = pipes.ok_or_else(|| format!("host {number} has no pipes"))?;
        let mut this = Self {
            number,
            input,
            answers: BufReader::new(output).lines(),
            _process: process,
        };
        this.answer()?;
        Ok(this)
    }

    /// Requests something, and returns the counts after it.
    ///
    /// # Errors
    /// The process has ended.
    pub(super) fn ask(&mut self, request: &str) -> Result<HostCounts, String> {
        // One that has ended has said why; its answer is missing.
        let _ = writeln!(self.input, "{request}");
        self.answer()
    }

    fn answer(&mut self) -> Result<HostCounts, String> {
        let ended = || format!("host {} has ended", self.number);
        let line = self.answers.next().and_then(Result::ok).ok_or_else(ended)?;
        serde_json::from_str(&line).map_err(|error| format!("host {}: {error}", self.number))
    }
}
