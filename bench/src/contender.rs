//! Those who are compared: a server and a client each, in processes of their own.

use crate::case::Case;
use crate::omniorb;
use crate::placement::Processors;
use crate::protocol::{Answer, Command};
use crate::{Error, Result};
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// The contender whose times the others' are divided by.
pub const FLOOR: &str = "floor";

/// A program that is a server and a client, as [`crate::peer::Side`] says.
#[derive(Clone, Debug)]
pub struct Contender {
    /// What tables and plots call it.
    pub name: &'static str,
    /// What it is, with its version.
    pub description: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments ahead of the side's.
    pub arguments: Vec<OsString>,
}

/// A contender that cannot take part here.
#[derive(Debug)]
pub struct Absent {
    /// Its name.
    pub name: &'static str,
    /// Why.
    pub reason: Error,
}

/// A contender's name, and what makes it: of this crate's own program and a directory to compile
/// into.
type Entry = (&'static str, fn(&Path, &Path) -> Result<Contender>);

/// Every contender there is.
const KNOWN: &[Entry] = &[
    (FLOOR, |harness, _| {
        let what = "raw blocking TCP sockets, no ORB";
        Ok(Contender::of_harness(harness, FLOOR, what))
    }),
    ("punctual", |harness, _| {
        let what = concat!("Punctual ", env!("CARGO_PKG_VERSION"));
        Ok(Contender::of_harness(harness, "punctual", what))
    }),
    (omniorb::NAME, |_, directory| omniorb::contender(directory)),
];

/// The contenders that are wanted: those that can take part, and those that cannot. `harness` is
/// this crate's own program; what has to be compiled is compiled into `directory`.
pub fn known(
    harness: &Path,
    directory: &Path,
    wanted: impl Fn(&str) -> bool,
) -> (Vec<Contender>, Vec<Absent>) {
    let (mut here, mut absent) = (Vec::new(), Vec::new());
    for &(name, make) in KNOWN.iter().filter(|(name, _)| wanted(name)) {
        match make(harness, directory) {
            Ok(contender) => here.push(contender),
            Err(reason) => absent.push(Absent { name, reason }),
        }
    }
    (here, absent)
}

/// What a program is run under, for instruments: a program and its arguments, ahead of the command.
pub type Wrapper = Vec<OsString>;

/// How the two processes are started.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Processors to pin them to.
    pub processors: Option<Processors>,
    /// What the client is run under.
    pub client: Wrapper,
    /// What the server is run under.
    pub server: Wrapper,
    /// Variables of both environments.
    pub environment: Vec<(&'static str, &'static str)>,
}

/// A server and a client that is connected to it.
#[derive(Debug)]
pub struct Running {
    // In the order in which they are to end.
    client: Process,
    server: Process,
}

impl Contender {
    /// One whose programs are in [`crate::peer`], by the same name.
    fn of_harness(harness: &Path, name: &'static str, description: &str) -> Self {
        Self {
            name,
            description: description.to_owned(),
            program: harness.to_owned(),
            arguments: vec!["peer".into(), name.into()],
        }
    }

    /// Starts both processes and waits until the client is connected.
    ///
    /// # Errors
    /// When one of them does not start, and what it says.
    pub fn start(&self, launch: &Launch) -> Result<Running> {
        let processors = launch.processors;
        let mut server = self.command(
            &launch.server,
            launch,
            "server",
            processors.map(|both| both.server),
        );
        let mut server = Process::spawn(&mut server).map_err(|error| self.failed(&error))?;
        let address = server
            .until_ready()
            .map_err(|error| self.failed(&format!("server: {error}")))?;
        let mut client = self.command(
            &launch.client,
            launch,
            "client",
            processors.map(|both| both.client),
        );
        client.arg("--at").arg(address);
        let mut client = Process::spawn(&mut client).map_err(|error| self.failed(&error))?;
        client
            .until_ready()
            .map_err(|error| self.failed(&format!("client: {error}")))?;
        Ok(Running { client, server })
    }

    fn command(
        &self,
        wrapper: &[OsString],
        launch: &Launch,
        side: &str,
        processor: Option<usize>,
    ) -> std::process::Command {
        let program = self.program.as_os_str();
        let mut words = wrapper
            .iter()
            .map(OsString::as_os_str)
            .chain([program])
            .chain(self.arguments.iter().map(OsString::as_os_str));
        let mut command = std::process::Command::new(words.next().unwrap_or(program));
        command.args(words).arg(side);
        command.envs(launch.environment.iter().copied());
        if let Some(processor) = processor {
            command.arg("--pin").arg(processor.to_string());
        }
        command
    }

    fn failed(&self, error: &dyn Display) -> Error {
        format!("{}: {error}", self.name).into()
    }
}

impl Running {
    /// Makes calls and returns each one's nanoseconds; of one-ways, the mean of all.
    ///
    /// # Errors
    /// What the client says.
    pub fn run(&mut self, case: Case, warm_up: u32, calls: u32) -> Result<Vec<u64>> {
        let command = Command::Run {
            case,
            warm_up,
            calls,
        };
        match self.client.ask(command)? {
            Answer::Samples(samples) => Ok(samples),
            other => Err(unexpected(command, &other)),
        }
    }

    /// Makes calls without timing them.
    ///
    /// # Errors
    /// What the client says.
    pub fn call(&mut self, case: Case, calls: u32) -> Result<()> {
        let command = Command::Calls { case, calls };
        match self.client.ask(command)? {
            Answer::Done => Ok(()),
            other => Err(unexpected(command, &other)),
        }
    }

    /// Ends both processes, the client first, and waits for them.
    ///
    /// # Errors
    /// When one of them did not end as it should.
    pub fn stop(self) -> Result<()> {
        self.client.stop()?;
        self.server.stop()
    }
}

fn unexpected(command: Command, answer: &Answer) -> Error {
    match answer {
        Answer::Error(message) => format!("`{command}` failed: {message}").into(),
        other => format!("`{command}` was answered with {other:?}").into(),
    }
}

/// A child that talks the protocol; killed when it is dropped without [`Process::stop`].
#[derive(Debug)]
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn spawn(command: &mut std::process::Command) -> Result<Self> {
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
        Ok(Self {
            child,
            input: Some(input),
            output: BufReader::new(output),
        })
    }

    fn until_ready(&mut self) -> Result<String> {
        match Answer::read_from(&mut self.output)? {
            Answer::Ready(address) => Ok(address),
            Answer::Error(message) => Err(message.into()),
            other => Err(format!("it began with {other:?}").into()),
        }
    }

    fn ask(&mut self, command: Command) -> Result<Answer> {
        let input = self.input.as_mut().ok_or("its input is closed")?;
        writeln!(input, "{command}")?;
        Answer::read_from(&mut self.output)
    }

    fn stop(mut self) -> Result<()> {
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
        // After `stop` it is gone already, and both do nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
