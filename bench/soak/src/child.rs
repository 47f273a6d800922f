//! Child process of the soak, as its controller sees it.

use crate::speech::{Said, Served};
use crate::work::Count;
use punctual_bench::process::{Memory, Observed};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time limit for a child process to answer a command.
const ANSWER: Duration = Duration::from_secs(90);

/// Child process; killed if it is dropped without [`Process::stop`].
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    stdin: ChildStdin,
    said: Receiver<Said>,
    done: Arc<Mutex<Done>>,
}

/// Latest report of a child process on the work that it has done, and its heap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) counts: BTreeMap<String, Count>,
    pub(crate) faults: Vec<String>,
    /// Bytes in small blocks of the heap.
    pub(crate) small_blocks: u64,
}

/// Resources that a process uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Usage {
    /// Memory that the process uses.
    pub(crate) memory: Memory,
    /// Bytes in small blocks of the heap, as the process reported them within the last second.
    pub(crate) small_blocks: u64,
    /// Number of threads of the process.
    pub(crate) threads: usize,
    /// Number of open file descriptors of the process.
    pub(crate) descriptors: usize,
}

impl Process {
    /// Starts a child process by a command that runs this program in one of its roles.
    ///
    /// # Errors
    /// The process could not be started.
    pub(crate) fn start(name: &str, mut command: Command) -> Result<Self, String> {
        let started = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // An interrupt at the terminal reaches only the controller, which then stops the
            // others.
            .process_group(0)
            .spawn();
        let mut child = started.map_err(|error| format!("{name} did not start: {error}"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("{name} has no pipes"));
        };
        let (say, said) = channel();
        let done = Arc::default();
        let heard = Arc::clone(&done);
        std::thread::spawn(move || hear(stdout, &say, &heard));
        Ok(Self {
            name: name.to_owned(),
            child,
            stdin,
            said,
            done,
        })
    }

    /// Writes a command to the process.
    ///
    /// # Errors
    /// The process has ended.
    pub(crate) fn tell(&mut self, what: &str) -> Result<(), String> {
        writeln!(self.stdin, "{what}").map_err(|error| format!("{} is gone: {error}", self.name))
    }

    /// Returns the next message of the process other than reports of its work.
    ///
    /// # Errors
    /// The process has ended, is silent, or cannot do its work.
    pub(crate) fn says(&mut self) -> Result<Said, String> {
        match self.said.recv_timeout(ANSWER) {
            Ok(said) => Ok(said),
            Err(RecvTimeoutError::Timeout) => Err(format!("{} does not answer", self.name)),
            Err(RecvTimeoutError::Disconnected) => Err(format!("{} has ended", self.name)),
        }
    }

    /// Waits until the process reports that it serves; returns the servers that it runs.
    ///
    /// # Errors
    /// The process sends another message instead.
    pub(crate) fn until_ready(&mut self) -> Result<Vec<Served>, String> {
        match self.says()? {
            Said::Ready(served) => Ok(served),
            other => Err(format!("{} began with {other:?}", self.name)),
        }
    }

    /// Sends a command, and waits until it is done.
    ///
    /// # Errors
    /// The process sends another message instead.
    pub(crate) fn told(&mut self, what: &str) -> Result<(), String> {
        self.tell(what)?;
        self.obeyed(what)
    }

    /// Waits until the process has carried out the command.
    ///
    /// # Errors
    /// The process sends another message instead.
    pub(crate) fn obeyed(&mut self, what: &str) -> Result<(), String> {
        match self.says()? {
            Said::Paused if what == "pause" => Ok(()),
            Said::Obeyed(done) if done == what => Ok(()),
            other => Err(format!("{} was told {what} and says {other:?}", self.name)),
        }
    }

    /// Returns the child process's latest report on the work it has done.
    pub(crate) fn done(&self) -> Done {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.clone()
    }

    /// Returns the resources in use now.
    ///
    /// # Errors
    /// The process has ended.
    pub(crate) fn usage(&self) -> Result<Usage, String> {
        let process = self.child.id();
        let observed = Observed::of(process);
        let gone = |error: &dyn std::fmt::Display| format!("{} is gone: {error}", self.name);
        let descriptors = std::fs::read_dir(format!("/proc/{process}/fd"));
        Ok(Usage {
            memory: observed.memory().map_err(|error| gone(&error))?,
            small_blocks: self.done().small_blocks,
            threads: observed.threads().map_err(|error| gone(&error))?,
            descriptors: descriptors.map_err(|error| gone(&error))?.count(),
        })
    }

    /// Kills the process by SIGKILL, whatever it is doing.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// Tells the process to end, waits until it has, and returns all work that it has done.
    ///
    /// # Errors
    /// The process does not end, or ends with a failure.
    pub(crate) fn stop(mut self) -> Result<Done, String> {
        self.tell("stop")?;
        // Its output ends when the process does.
        loop {
            match self.said.recv_timeout(ANSWER) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("{} does not end", self.name));
                }
            }
        }
        let status = self.child.wait().map_err(|error| error.to_string())?;
        match status.success() {
            true => Ok(self.done()),
            false => Err(format!("{} ended with {status}", self.name)),
        }
    }

    fn end(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn hear(stdout: ChildStdout, say: &Sender<Said>, heard: &Mutex<Done>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Said::Done {
                counts,
                faults,
                small_blocks,
            }) => {
                *heard.lock().unwrap_or_else(PoisonError::into_inner) = Done {
                    counts,
                    faults,
                    small_blocks,
                };
            }
            Ok(said) => {
                if say.send(said).is_err() {
                    return;
                }
            }
            Err(_) => eprintln!("{line}"),
        }
    }
}
