//! Server process and client process of one contender, as the harness sees them.

use super::batch::{Batch, Outcome};
use super::omniorb;
use super::setup::{Contender, Setup};
use crate::Result;
use crate::child::Process;
use crate::contender::Harness;
use crate::placement::Processors;
use crate::protocol::Answer;
use std::process::Command;

/// Processes of a pair, which live through all batches of a placement.
#[derive(Debug)]
pub(super) struct Pair {
    // Processes, in the order in which they are to end.
    client: Process,
    server: Process,
    contender: Contender,
}

impl Pair {
    /// Starts both processes, and makes them connect.
    ///
    /// # Errors
    /// A process does not start; the message has its output.
    pub(super) fn start(harness: &Harness, setup: &Setup, at: Processors) -> Result<Self> {
        let contender = setup.contender;
        let [mut server, mut client] =
            sides(harness, setup, at).map_err(|reason| format!("{contender}: {reason}"))?;
        let mut server = Process::spawn(&mut server)?;
        let address = server.until_ready();
        let address = address.map_err(|error| format!("{contender}: server: {error}"))?;
        let mut client = Process::spawn(client.args(["--at", &address]))?;
        let ready = client.until_ready();
        ready.map_err(|error| format!("{contender}: client: {error}"))?;
        Ok(Self {
            client,
            server,
            contender,
        })
    }

    /// Makes the client run a batch.
    ///
    /// # Errors
    /// A call fails, or the processes are gone.
    pub(super) fn perform(&mut self, batch: &Batch) -> Result<Outcome> {
        let answer = self.client.ask(batch);
        let answer = answer.map_err(|error| format!("{}: {error}", self.contender))?;
        match answer {
            Answer::Samples(numbers) => Outcome::of(&numbers),
            Answer::Error(error) => Err(format!("{}: {error}", self.contender).into()),
            other => Err(format!("{}: it answered {other:?}", self.contender).into()),
        }
    }

    /// Ends both processes.
    ///
    /// # Errors
    /// A process ends with a failure.
    pub(super) fn stop(self) -> Result<()> {
        self.client.stop()?;
        self.server.stop()
    }
}

/// Returns the commands that start a server, and a client without the server's address.
fn sides(harness: &Harness, setup: &Setup, at: Processors) -> Result<[Command; 2]> {
    let side = |mut command: Command, name: &str, processor: usize, words: &[String]| {
        command.args([name, "--pin", &processor.to_string()]);
        command.args(words);
        command
    };
    Ok(match setup.contender {
        Contender::OmniOrb | Contender::OmniOrbFifo => {
            let its = omniorb::Sides::of(harness, setup)?;
            let program = || Command::new(&its.program);
            [
                side(program(), "server", at.server, &its.server),
                side(program(), "client", at.client, &its.client),
            ]
        }
        _ => {
            let program = || {
                let mut command = Command::new(&harness.program);
                command.arg("rt-peer");
                command
            };
            [
                side(program(), "server", at.server, &setup.words()),
                side(program(), "client", at.client, &setup.words()),
            ]
        }
    })
}
