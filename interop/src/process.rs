//! Child processes that end with their owner, and waits with a time limit.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit of a build.
const BUILD: Duration = Duration::from_secs(1_200);

/// Time limit of the command `punctual`.
const LIMIT: Duration = Duration::from_secs(60);

/// Child process that is killed when this handle is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    name: String,
    child: Child,
    /// Standard input of the process, kept open because some programs end when it is closed.
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Running {
    /// Starts a program whose standard output is read line by line.
    ///
    /// # Errors
    /// The program could not be started.
    pub(crate) fn start(name: &str, command: &mut Command) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start {name}: {error}"))?;
        let stdin = child.stdin.take();
        let output = child.stdout.take().ok_or("no standard output")?;
        let lines = lines_of(name, output)?;
        Ok(Self {
            name: name.to_owned(),
            child,
            stdin,
            lines,
        })
    }

    /// Returns the process's next line of output; `None` at the end of its output.
    ///
    /// # Errors
    /// No line came within `limit`.
    pub(crate) fn line(&self, limit: Duration) -> Result<Option<String>, String> {
        match self.lines.recv_timeout(limit) {
            Ok(line) => Ok(Some(line)),
            Err(mpsc::RecvTimeoutError::Disconnected) => Ok(None),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                Err(format!("{} has printed nothing for {limit:?}", self.name))
            }
        }
    }

    /// Writes a line to the process's input.
    ///
    /// # Errors
    /// The process no longer reads.
    pub(crate) fn say(&mut self, line: &str) -> Result<(), String> {
        let written = self.stdin.as_mut().map(|stdin| writeln!(stdin, "{line}"));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(format!("{} does not read its input", self.name)),
        }
    }

    /// Closes the process's input, and waits until it ends by itself.
    ///
    /// # Errors
    /// The process has not ended after `limit`.
    pub(crate) fn end(mut self, limit: Duration) -> Result<(), String> {
        drop(self.stdin.take());
        match self.wait(limit) {
            true => Ok(()),
            false => Err(format!("{} has not ended within {limit:?}", self.name)),
        }
    }

    /// Returns the process id of the running program.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process ends by itself, for `limit` at most; returns whether it has.
    pub(crate) fn wait(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return true;
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(name: &str, output: ChildStdout) -> Result<Receiver<String>, String> {
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            // Output that is no UTF-8 is still a line.
            let line = String::from_utf8_lossy(&line);
            if sender.send(line.trim_end_matches('\r').to_owned()).is_err() {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name(format!("output of {name}"));
    thread
        .spawn(read)
        .map_err(|error| format!("cannot start a thread: {error}"))?;
    Ok(receiver)
}

/// Runs a program to its end, for `limit` at most.
///
/// # Errors
/// The program cannot be started, or has not ended in time.
pub(crate) fn run(name: &str, command: &mut Command, limit: Duration) -> Result<Output, String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start {name}: {error}"))?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let deadline = Instant::now() + limit;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{name} has not ended within {limit:?}"));
            }
            Err(error) => return Err(format!("cannot wait for {name}: {error}")),
        }
    };
    let (stdout, stderr) = (
        stdout.recv().unwrap_or_default(),
        stderr.recv().unwrap_or_default(),
    );
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

/// Runs a program as [`run`] does; its failure is an error.
///
/// # Errors
/// Those of [`run`], and the output of a program that fails.
pub(crate) fn succeed(
    name: &str,
    command: &mut Command,
    limit: Duration,
) -> Result<String, String> {
    let output = run(name, command, limit)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name}: {}\n{said}", output.status))
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        let mut octets = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error counts as the output.
            let _ = pipe.read_to_end(&mut octets);
        }
        let _ = sender.send(octets);
    };
    // Without the thread nothing is read: the receiver sees the sender gone.
    let _ = thread::Builder::new().name("output".to_owned()).spawn(read);
    receiver
}

/// Runs the `punctual` command with these arguments, built on demand; returns its output.
///
/// # Errors
/// The output of a build or a command that fails.
pub(crate) fn punctual(arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(built_punctual()?);
    let name = format!("punctual {}", arguments.first().unwrap_or(&""));
    succeed(&name, command.args(arguments), LIMIT)
}

/// Builds the `punctual` command, once, and returns where it is: beside this program.
///
/// # Errors
/// The output of a build that fails.
pub(crate) fn built_punctual() -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(build_punctual).clone()
}

fn build_punctual() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // By its name alone it is built with the same crates and features as this program.
    command.args(["build", "--quiet", "--bin", "punctual"]);
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    succeed("cargo build", &mut command, BUILD)?;
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(this.with_file_name("punctual"))
}

/// Returns whether a program is found in the folders of `PATH`.
pub(crate) fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
