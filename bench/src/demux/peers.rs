//! Server and client process of the measurement.

use super::client::Batch;
use super::setup::Setup;
use crate::Result;
use crate::child::Process;
use crate::contender::Harness;
use crate::placement::Processors;
use crate::protocol::Answer;
use crate::running::Wrapper;
use std::process::Command;

/// Wrapper under which a server runs, and the variables of its environment.
pub(super) struct Instrumented {
    pub(super) wrapper: Wrapper,
    pub(super) environment: Vec<(&'static str, &'static str)>,
}

/// Server, and a client that has its references.
#[derive(Debug)]
pub(super) struct Peers {
    // Processes, in the order in which they are to end.
    client: Process,
    server: Process,
}

impl Peers {
    /// Starts both processes, and waits until the client has called each of its references once.
    pub(super) fn start(
        harness: &Harness,
        setup: &Setup,
        processors: Option<Processors>,
        instrumented: Option<&Instrumented>,
    ) -> Result<Self> {
        let mut server = command(harness, instrumented, "server", setup);
        if let Some(processors) = processors {
            server.arg("--pin").arg(processors.server.to_string());
        }
        let mut server = Process::spawn(&mut server)?;
        let address = server.until_ready()?;
        let mut client = command(harness, None, "client", setup);
        client.arg("--at").arg(address);
        if let Some(processors) = processors {
            client.arg("--pin").arg(processors.client.to_string());
        }
        let mut client = Process::spawn(&mut client)?;
        client.until_ready()?;
        Ok(Self { client, server })
    }

    /// Runs a batch; returns the nanoseconds of each call, or of one one-way; no times for an
    /// untimed batch.
    pub(super) fn run(&mut self, batch: Batch) -> Result<Vec<u64>> {
        match self.client.ask(batch)? {
            Answer::Samples(samples) => Ok(samples),
            Answer::Done => Ok(Vec::new()),
            Answer::Error(message) => Err(format!("`{batch}` failed: {message}").into()),
            other => Err(format!("`{batch}` was answered with {other:?}").into()),
        }
    }

    pub(super) fn stop(self) -> Result<()> {
        self.client.stop()?;
        self.server.stop()
    }
}

fn command(
    harness: &Harness,
    instrumented: Option<&Instrumented>,
    side: &str,
    setup: &Setup,
) -> Command {
    let program = harness.program.as_os_str();
    let wrapper = instrumented.map_or(&[][..], |it| &it.wrapper[..]);
    let mut words = wrapper
        .iter()
        .map(std::ffi::OsString::as_os_str)
        .chain([program]);
    let mut command = Command::new(words.next().unwrap_or(program));
    command.args(words);
    command.arg("demux-peer").arg(side).args(setup.arguments());
    if let Some(instrumented) = instrumented {
        command.envs(instrumented.environment.iter().copied());
    }
    command
}
