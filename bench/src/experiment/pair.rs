//! Server process, and a client process that is connected to it.

use crate::Result;
use crate::child::Process;
use crate::process::Observed;
use crate::protocol::Answer;
use std::fmt::Display;
use std::process::Command;

/// Server and client process that run during all turns of a stage.
#[derive(Debug)]
pub(crate) struct Pair {
    // In the order in which they are to end.
    client: Process,
    server: Process,
}

impl Pair {
    /// Starts the server, and the client that `client` returns for the server's address; waits
    /// until both are ready.
    ///
    /// # Errors
    /// A process does not start; the message has its output.
    pub(crate) fn start(
        server: &mut Command,
        client: impl FnOnce(&str) -> Command,
    ) -> Result<Self> {
        let server = Process::start(server).map_err(|error| format!("server: {error}"))?;
        let client = Process::start(&mut client(server.said()));
        let client = client.map_err(|error| format!("client: {error}"))?;
        Ok(Self { client, server })
    }

    /// Returns the note that the client sent when it was ready; usually an empty text.
    pub(crate) fn note(&self) -> &str {
        self.client.said()
    }

    /// Sends a command to the client and waits until it is done; returns its samples, if it has
    /// any.
    ///
    /// # Errors
    /// The client's error, or it is gone.
    pub(crate) fn ask(&mut self, command: impl Display) -> Result<Vec<u64>> {
        match self.client.ask(&command)? {
            Answer::Samples(samples) => Ok(samples),
            Answer::Done => Ok(Vec::new()),
            Answer::Error(message) => Err(format!("`{command}` failed: {message}").into()),
            other => Err(format!("`{command}` was answered with {other:?}").into()),
        }
    }

    /// Returns the client's and the server's process, to observe their resources from outside.
    pub(crate) fn observed(&self) -> (Observed, Observed) {
        (self.client.observed(), self.server.observed())
    }

    /// Ends both processes, the client first, and waits for them.
    ///
    /// # Errors
    /// One of the processes does not end, or ends with a failure.
    pub(crate) fn stop(self) -> Result<()> {
        self.client.stop()?;
        self.server.stop()
    }
}
