//! Start of a contender's processes, which speak the protocol.

use crate::Result;
use crate::child::Process;
use crate::contender::Contender;
use crate::counting::Instrument;
use crate::experiment::Pair;
use crate::outsider;
use crate::placement::Processors;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Settings for starting a contender's server and client.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Processors to which the two processes are pinned, if any.
    pub processors: Option<Processors>,
    /// Instrument under which the processes run, and the folder for its results. Punctual's threads
    /// then do not spin before they block, as the number of spins depends on timing.
    pub counted: Option<(Instrument, PathBuf)>,
    /// Additional options of the client, placed before those of the ORB.
    pub client_options: Vec<OsString>,
    /// Number of connections that the server must be able to hold, if more than the default.
    pub connections: Option<usize>,
}

impl Contender {
    /// Starts both processes and waits until the client is connected.
    ///
    /// # Errors
    /// A process does not start; the message has its output.
    pub(crate) fn start(&self, launch: &Launch) -> Result<Pair> {
        Pair::start(&mut self.server(launch), |address| {
            let mut client = self.side(launch, "client", launch.processors.map(|at| at.client));
            client.arg("--at").arg(address);
            client.args(&launch.client_options).args(&self.client);
            counted(launch, "client", client)
        })
    }

    /// Starts the server, not pinned, and a client that is not the contender's own: `client` returns it for the
    /// server's address.
    ///
    /// # Errors
    /// A process does not start; the message has its output.
    pub(crate) fn start_with(&self, client: impl FnOnce(&str) -> Command) -> Result<Pair> {
        Pair::start(&mut self.server(&Launch::default()), client)
    }

    /// Starts the server only.
    ///
    /// # Errors
    /// The server does not start; the message has its output.
    pub fn serve(&self, launch: &Launch) -> Result<Process> {
        let server = Process::start(&mut self.server(launch));
        Ok(server.map_err(|error| format!("{}: {error}", self.name))?)
    }

    fn server(&self, launch: &Launch) -> Command {
        let mut server = self.side(launch, "server", launch.processors.map(|at| at.server));
        if let Some(connections) = launch.connections {
            server.arg("--connections").arg(connections.to_string());
        }
        server.args(&self.server);
        counted(launch, "server", server)
    }

    fn side(&self, launch: &Launch, side: &str, processor: Option<usize>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(side);
        // Programs of this crate have arguments before their side; of the others only the outsider
        // knows this option.
        let is_ours = !self.arguments.is_empty() || self.name == outsider::NAME;
        if launch.counted.is_some() && is_ours {
            command.arg("--no-spin");
        }
        if let Some(processor) = processor {
            command.arg("--pin").arg(processor.to_string());
        }
        command
    }
}

/// Returns the command under the instrument, if there is one.
fn counted(launch: &Launch, side: &str, command: Command) -> Command {
    match &launch.counted {
        Some((instrument, folder)) => instrument.around(&command, &folder.join(side)),
        None => command,
    }
}
