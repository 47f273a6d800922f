//! Server and client processes of an experiment: this program runs as one of them when an argument
//! says, as JSON, which side of which experiment it is.

use super::Pair;
use crate::Result;
use crate::contender::Harness;
#[cfg(feature = "events")]
use crate::events;
use crate::peer::{or_told, run_at};
use crate::placement::Processors;
use crate::{ami, cubit, demux, oneway, rt, scale};
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::str::FromStr;

/// Server or client process of an experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Side {
    /// Processor to which the process is pinned.
    pin: Option<usize>,
    /// Address of the server, if this side is the client.
    at: Option<String>,
    setup: Setup,
}

/// Setup of the server and the client, for each experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Setup {
    Ami(ami::Setup),
    Cubit(cubit::Setup),
    Demux(demux::Setup),
    #[cfg(feature = "events")]
    Events(events::Setup),
    Oneway(oneway::Setup),
    Rt(rt::Setup),
    /// Client only: its servers are those of contenders.
    Scale(scale::Setup),
}

impl FromStr for Side {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

impl Side {
    /// Returns the command that runs this side in a process of its own.
    fn command(&self, harness: &Harness) -> Command {
        let mut command = Command::new(&harness.program);
        // A side consists of numbers and texts, which always have a form in JSON.
        let text = serde_json::to_string(self).unwrap_or_default();
        command.args(["side", &text]);
        command
    }

    /// Runs the side until its input ends. Its failures are reported to the harness.
    ///
    /// # Errors
    /// The harness is gone.
    pub fn run(&self) -> Result<()> {
        or_told(
            run_at(self.pin).and_then(|()| match (&self.setup, self.at.as_deref()) {
                (Setup::Ami(setup), None) => ami::serve(setup),
                (Setup::Ami(setup), Some(at)) => ami::call(setup, at),
                (Setup::Cubit(setup), None) => cubit::serve(setup),
                (Setup::Cubit(setup), Some(at)) => cubit::call(setup, at),
                (Setup::Demux(setup), None) => demux::serve(setup),
                (Setup::Demux(setup), Some(at)) => demux::call(setup, at),
                #[cfg(feature = "events")]
                (Setup::Events(setup), None) => events::serve(setup),
                #[cfg(feature = "events")]
                (Setup::Events(setup), Some(at)) => events::call(setup, at),
                (Setup::Oneway(setup), None) => oneway::serve(setup),
                (Setup::Oneway(setup), Some(at)) => oneway::call(setup, at),
                (Setup::Rt(setup), None) => rt::serve(setup),
                (Setup::Rt(setup), Some(at)) => rt::call(setup, at),
                (Setup::Scale(_), None) => Err("the servers of `scale` are contenders".into()),
                (Setup::Scale(setup), Some(at)) => scale::call(setup, at),
            }),
        )
    }
}

/// Returns the command that starts a server.
pub(crate) fn server(harness: &Harness, setup: &Setup, pin: Option<usize>) -> Command {
    let side = Side {
        pin,
        at: None,
        setup: setup.clone(),
    };
    side.command(harness)
}

/// Returns the command that starts a client of the server at this address.
pub(crate) fn client(harness: &Harness, setup: &Setup, pin: Option<usize>, at: &str) -> Command {
    let side = Side {
        pin,
        at: Some(at.to_owned()),
        setup: setup.clone(),
    };
    side.command(harness)
}

/// Starts both sides.
///
/// # Errors
/// A side does not start; the message has its output.
pub(crate) fn start(harness: &Harness, setup: &Setup, at: Option<Processors>) -> Result<Pair> {
    let mut server = server(harness, setup, at.map(|at| at.server));
    let pin = at.map(|at| at.client);
    Pair::start(&mut server, |address| client(harness, setup, pin, address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demux::Strategy;

    #[test]
    fn one_argument_says_which_side_runs() {
        let setup = Setup::Demux(demux::Setup {
            objects: 3,
            depth: 2,
            operations: vec![1, 10],
            one_way: true,
            strategies: vec![Strategy::DeLayered],
        });
        let harness = Harness::this().unwrap();
        let command = client(&harness, &setup, Some(1), "IOR:0 IOR:1");
        let arguments: Vec<_> = command.get_args().filter_map(|one| one.to_str()).collect();
        let ["side", told] = arguments[..] else {
            panic!("{arguments:?}");
        };
        let side: Side = told.parse().unwrap();
        assert_eq!(
            (side.pin, side.at.as_deref()),
            (Some(1), Some("IOR:0 IOR:1"))
        );
        let Setup::Demux(read) = side.setup else {
            panic!("{told}");
        };
        assert_eq!((read.objects, read.operations), (3, vec![1, 10]));
    }
}
