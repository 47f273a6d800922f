//! Running contender: two processes that speak the protocol.

use crate::case::Case;
use crate::child::Process;
use crate::contender::Contender;
use crate::outsider;
use crate::placement::Processors;
use crate::process::Observed;
use crate::protocol::{Answer, Command, References};
use crate::{Error, Result};
use std::ffi::OsString;
use std::fmt::Display;
use std::time::Duration;

/// Program and its arguments under which another is run, for instruments; the other's command
/// follows.
pub type Wrapper = Vec<OsString>;

/// Settings for starting the two processes.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Processors to pin them to.
    pub processors: Option<Processors>,
    /// Wrapper of the client.
    pub client: Wrapper,
    /// Wrapper of the server.
    pub server: Wrapper,
    /// Environment variables of both processes.
    pub environment: Vec<(&'static str, &'static str)>,
    /// Options of the client's own, before those of the ORB.
    pub client_options: Vec<OsString>,
    /// Number of connections that the server must be able to hold, if more than usual.
    pub connections: Option<usize>,
    /// Set if the processes run under a counting instrument: Punctual's threads then do not spin
    /// before they block, as the number of spins depends on timing.
    pub is_counted: bool,
}

/// Returns the order of a round's turns: the first of `number` rotates from round to round.
pub(crate) fn in_turn(round: usize, number: usize) -> impl Iterator<Item = usize> {
    (0..number).map(move |turn| (round + turn) % number)
}

/// Server, and a client that is connected to it.
#[derive(Debug)]
pub struct Running {
    // Processes, in the order in which they are to end.
    client: Process,
    server: Serving,
}

/// Running server.
#[derive(Debug)]
pub struct Serving {
    process: Process,
    address: String,
}

impl Serving {
    /// Returns its address: a reference, or what a client of its kind understands.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the process, as observed from outside.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.process.observed()
    }

    /// Ends the process and waits for its end.
    ///
    /// # Errors
    /// The process does not end as it should.
    pub fn stop(self) -> Result<()> {
        self.process.stop()
    }
}

impl Contender {
    /// Starts both processes and waits until the client is connected.
    ///
    /// # Errors
    /// A process does not start; the message has its output.
    pub fn start(&self, launch: &Launch) -> Result<Running> {
        let server = self.serve(launch)?;
        let pin = launch.processors.map(|both| both.client);
        let mut client = self.command(&launch.client, launch, "client", pin);
        client.arg("--at").arg(&server.address);
        client.args(&launch.client_options).args(&self.client);
        let mut client = Process::spawn(&mut client).map_err(|error| self.failed(&error))?;
        client
            .until_ready()
            .map_err(|error| self.failed(&format!("client: {error}")))?;
        Ok(Running { client, server })
    }

    /// Starts the server only.
    ///
    /// # Errors
    /// The server does not start; the message has its output.
    pub fn serve(&self, launch: &Launch) -> Result<Serving> {
        let pin = launch.processors.map(|both| both.server);
        let mut server = self.command(&launch.server, launch, "server", pin);
        if let Some(connections) = launch.connections {
            server.arg("--connections").arg(connections.to_string());
        }
        server.args(&self.server);
        let mut process = Process::spawn(&mut server).map_err(|error| self.failed(&error))?;
        let address = process
            .until_ready()
            .map_err(|error| self.failed(&format!("server: {error}")))?;
        Ok(Serving { process, address })
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
        // Programs of this crate have arguments before their side; of the others only the outsider
        // knows this option.
        let is_ours = !self.arguments.is_empty() || self.name == outsider::NAME;
        if launch.is_counted && is_ours {
            command.arg("--no-spin");
        }
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
    /// The client's error.
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

    /// Makes void calls by several threads of the client, and returns the time that all of them
    /// took.
    ///
    /// # Errors
    /// The client's error.
    pub fn flood(&mut self, threads: u32, calls: u32, references: References) -> Result<Duration> {
        let command = Command::Flood {
            threads,
            calls,
            references,
        };
        match self.client.ask(command)? {
            Answer::Samples(samples) if samples.len() == 1 => Ok(Duration::from_nanos(samples[0])),
            other => Err(unexpected(command, &other)),
        }
    }

    /// Returns the processes of client and server, as observed from outside.
    #[must_use]
    pub fn observed(&self) -> (Observed, Observed) {
        (self.client.observed(), self.server.observed())
    }

    /// Makes calls without timing them.
    ///
    /// # Errors
    /// The client's error.
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
    /// A process does not end as it should.
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
