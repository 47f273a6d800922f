//! A naming server and commands on it.

#![allow(dead_code, reason = "no test uses all of it")]

use std::fs::DirEntry;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) const SYSTEM_EXCEPTION: i32 = 3;
pub(crate) const USER_EXCEPTION: i32 = 4;

pub(crate) fn punctual(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Process that is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Stops the process. The signal alone returns while threads may still run on other processors.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
        let tasks = format!("/proc/{}/task", self.0.id());
        let runs = |task: std::io::Result<DirEntry>| {
            let stat = std::fs::read_to_string(task.unwrap().path().join("stat"));
            // A thread that has ended meanwhile runs no more. The state follows the name, which is in parentheses.
            stat.is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with('T'))
        };
        while std::fs::read_dir(&tasks).unwrap().any(runs) {
            pause();
        }
    }

    /// Returns the reference of the root context, which a server prints first.
    pub(crate) fn reference(&mut self) -> String {
        let mut reference = String::new();
        let mut output = BufReader::new(self.0.stdout.take().unwrap());
        output.read_line(&mut reference).unwrap();
        reference.trim().to_owned()
    }

    /// Waits for a line of the server's output with this beginning, and returns the rest of the
    /// line.
    pub(crate) fn says(&mut self, beginning: &str) -> String {
        let mut lines = BufReader::new(self.0.stderr.take().unwrap()).lines();
        let rest = lines.find_map(|line| Some(line.unwrap().strip_prefix(beginning)?.to_owned()));
        // Drains the remaining output.
        std::thread::spawn(move || lines.for_each(drop));
        rest.unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the command `punctual naming serve` at a port of this machine; its output is piped.
pub(crate) fn serve(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["naming", "serve", "--listen", "iiop://127.0.0.1:0"]);
    command.args(options).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Naming server process, which is ended when this is dropped.
pub(crate) struct Serving {
    _process: Process,
    pub(crate) reference: String,
}

impl Serving {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let started = serve(arguments).stderr(Stdio::null()).spawn();
        let mut process = Process(started.unwrap());
        let reference = process.reference();
        Serving {
            _process: process,
            reference,
        }
    }

    pub(crate) fn in_memory() -> Self {
        Self::new(&["--memory"])
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Output {
        let (command, rest) = arguments.split_first().unwrap();
        let mut all = vec!["naming", command, "--service", &self.reference];
        all.extend(rest);
        punctual(&all)
    }

    pub(crate) fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        text(output.stdout)
    }

    /// Runs a command that must fail with this status, and returns its error output.
    pub(crate) fn fails(&self, arguments: &[&str], status: i32) -> String {
        let output = self.call(arguments);
        let said = text(output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        said
    }

    /// Returns the scheme, such as `corbaloc:`, followed by the server's address.
    pub(crate) fn url(&self, scheme: &str) -> String {
        let facts = text(punctual(&["ior", "--json", &self.reference]).stdout);
        let facts: Value = serde_json::from_str(&facts).unwrap();
        let port = &facts["profiles"][0]["port"];
        format!("{scheme}:iiop:1.2@127.0.0.1:{port}")
    }
}

pub(crate) const SOME: &str = "corbaloc::127.0.0.1:1/some";

/// Copies a program by a process of its own. If this process wrote the copy, a process that another
/// test starts meanwhile would inherit the open file until it executes its own program, and a file
/// open for writing cannot be executed (ETXTBSY).
pub(crate) fn copy_program(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

/// Waits a millisecond before a condition is checked again: yielding would burn the processor that
/// others need.
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(1));
}

/// Waits until something holds, for at most five minutes: a test that waits longer fails instead of running on.
#[track_caller]
pub(crate) fn until(holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(300);
    while !holds() {
        assert!(Instant::now() < end, "it does not hold after five minutes");
        pause();
    }
}
