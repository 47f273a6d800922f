//! Child process that speaks the [`protocol`](crate::protocol) over its standard input and output.

use crate::Result;
use crate::process::Observed;
use crate::protocol::Answer;
use rustix::process::{self, Signal};
use std::fmt::Display;
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Variable of the environment with the process id of the program that started this one, and without which this one has no use.
pub(crate) const PARENT: &str = "PUNCTUAL_BENCH_PARENT";

/// Has this process end with the one that started it, if that asked for it. To be called first of all. Processes that this one
/// starts have another parent, and end as it closes their input.
///
/// # Errors
/// The kernel refuses it.
pub fn end_with_parent() -> Result<()> {
    let parent = process::getppid().map(|pid| pid.as_raw_nonzero().to_string());
    if std::env::var(PARENT).ok() == parent && parent.is_some() {
        process::set_parent_process_death_signal(Some(Signal::TERM))?;
    }
    Ok(())
}

/// Child process that speaks the protocol; killed if it is dropped without [`Process::stop`].
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    ready: String,
}

impl Process {
    /// Starts a command with pipes to its input and from its output, and waits until it is ready.
    ///
    /// # Errors
    /// The process does not start, or sends another message instead.
    pub fn start(command: &mut std::process::Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                format!("{} did not start: {error}", command.get_program().display())
            })?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a child without pipes".into());
        };
        let mut process = Self {
            child,
            input: Some(input),
            output: BufReader::new(output),
            ready: String::new(),
        };
        match Answer::read_from(&mut process.output)? {
            Answer::Ready(said) => process.ready = said,
            Answer::Error(message) => return Err(message.into()),
            other => return Err(format!("it began with {other:?}").into()),
        }
        Ok(process)
    }

    /// Returns the text of the process's `ready` message: for a server its address (a reference, or
    /// what a client of its kind understands), for a client usually an empty text.
    #[must_use]
    pub fn said(&self) -> &str {
        &self.ready
    }

    /// Returns a view of the child process for measuring its resources from outside.
    #[must_use]
    pub fn observed(&self) -> Observed {
        Observed::of(self.child.id())
    }

    /// Sends a command and waits for its answer.
    ///
    /// # Errors
    /// The process has ended.
    pub fn ask(&mut self, command: impl Display) -> Result<Answer> {
        let input = self.input.as_mut().ok_or("its input is closed")?;
        writeln!(input, "{command}")?;
        Answer::read_from(&mut self.output)
    }

    /// Closes the process's input, at which it ends, and waits until it has.
    ///
    /// # Errors
    /// The process ends with a failure.
    pub fn stop(mut self) -> Result<()> {
        drop(self.input.take());
        let status = self.child.wait()?;
        if status.success() {
            return Ok(());
        }
        Err(format!("a process ended with {status}").into())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After `stop` the process has ended already, and both calls do nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
